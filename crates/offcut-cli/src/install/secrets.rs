//! Hides the values of settings in the changes that are printed: some are secrets, and others can read the terminal.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

/// A text without the values that the file had before. The names, and the values that `offcut init` adds, are shown.
pub(super) fn hidden(path: &Path, before: &str, text: &str) -> String {
    let known: HashSet<&str> = values(path, before).into_iter().map(|range| &before[range]).collect();
    let (mut shown, mut copied) = (String::with_capacity(text.len()), 0);
    for range in values(path, text).into_iter().filter(|range| known.contains(&text[range.clone()])) {
        shown += &text[copied..range.start];
        shown.push('…');
        copied = range.end;
    }
    shown + &text[copied..]
}

/// The places of all values: in JSON and TOML, the quoted texts that are not names; elsewhere (`.env`, `.npmrc`, `.bashrc`), the text
/// after each `=`.
fn values(path: &Path, text: &str) -> Vec<Range<usize>> {
    let has_variables = path.extension().is_none();
    let mut values = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        if has_variables {
            // The rest of a value over several lines has no name.
            let value = content.find('=').map_or(0, |sign| sign + 1);
            values.push(start + value..start + content.len());
        } else {
            values.extend(quoted(content).map(|range| start + range.start..start + range.end));
        }
        start += line.len();
    }
    values.retain(|range| !range.is_empty());
    values
}

/// The insides of the quoted texts in a line that no `:` or `=` follows.
fn quoted(line: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = line.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let open = at + line[at..].find(['"', '\''])?;
        let mut end = open + 1;
        while end < bytes.len() && bytes[end] != bytes[open] {
            // The quote after a backslash does not end a text in double quotes.
            end += if bytes[end] == b'\\' && bytes[open] == b'"' { 2 } else { 1 };
        }
        let end = end.min(bytes.len());
        at = (end + 1).min(bytes.len());
        Some((open + 1..end, line[at..].trim_start().starts_with([':', '='])))
    })
    .filter(|(_, is_name)| !is_name)
    .map(|(range, _)| range)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_file_had_are_hidden() {
        let check = |name: &str, before: &str, after: &str, expected: &str| {
            assert_eq!(hidden(Path::new(name), before, after), expected);
        };
        let env = "# mine\nA=1\nB=\"x\ny\"\r\n\nOFFCUT_TOKEN=offcut-1\nZ=9";
        check(
            "/home/.gemini/.env",
            env,
            &format!("{env}\nBASH_ENV=/h/offcut-bash-env.sh\n"),
            "…\nA=…\nB=…\n…\r\n\nOFFCUT_TOKEN=…\nZ=…\nBASH_ENV=/h/offcut-bash-env.sh\n",
        );
        check(
            "/home/.bashrc",
            "export TOKEN=secret\n",
            "export TOKEN=secret\nexport GOOSE_SHELL=/h/offcut-bash\n",
            "export TOKEN=…\nexport GOOSE_SHELL=/h/offcut-bash\n",
        );
        check(
            "settings.json",
            r#"{"env": {"API_KEY": "sk-\"1"}, "args": ["--key", "k"]}"#,
            r#"{"env": {"API_KEY": "sk-\"1", "SHELL": "/offcut-bash"}, "args": ["--key", "k"]}"#,
            r#"{"env": {"API_KEY": "…", "SHELL": "/offcut-bash"}, "args": ["…", "…"]}"#,
        );
        let npmrc = "//registry/:_authToken=t\n";
        check(".npmrc", npmrc, &format!("{npmrc}a=20\n"), "//registry/:_authToken=…\na=20\n");
        let toml = "http_headers = { Authorization = \"Bearer t\", X = 'u' } # it's\n";
        check("config.toml", toml, toml, "http_headers = { Authorization = \"…\", X = '…' } # it'…\n");
    }
}
