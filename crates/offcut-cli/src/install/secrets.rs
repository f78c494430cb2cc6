//! Hides the values of secrets in settings that are printed.

use std::path::Path;

/// What replaces a value.
const HIDDEN: &str = "…";

/// Parts of the names of variables and settings whose values are secret.
const SECRET_NAMES: [&str; 6] = ["key", "token", "secret", "password", "credential", "auth"];

/// The text without the values of secrets: in a `.env` file, all values but those that `offcut init` writes; in other settings,
/// those whose name says so. The lines stay lines, so that differences are the same.
pub(super) fn hidden(path: &Path, text: &str) -> String {
    let is_env = path.file_name().is_some_and(|name| name == ".env");
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        if is_env && !content.contains("offcut") && !content.trim().is_empty() {
            // The rest of a value over several lines has no name.
            shown += content.split_once('=').map_or("", |(name, _)| name);
            shown += "=";
            shown += HIDDEN;
        } else if let Some(name) = secret_name(content) {
            shown += name;
            shown += " ";
            shown += HIDDEN;
        } else {
            shown += content;
        }
        shown += &line[content.len()..];
    }
    shown
}

/// The beginning of a line up to the sign before its value, if the name is that of a secret.
fn secret_name(line: &str) -> Option<&str> {
    let end = line.find([':', '='])? + 1;
    // `MAX_MCP_OUTPUT_TOKENS` counts tokens.
    let name = line[..end].to_lowercase().replace("tokens", "");
    SECRET_NAMES.iter().any(|part| name.contains(part)).then(|| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_hidden() {
        let check =
            |name: &str, text: &str, expected: &str| assert_eq!(hidden(Path::new(name), text), expected);
        check(
            "/home/.gemini/.env",
            "# mine\nA=1\nB=\"x\ny\"\r\n\nBASH_ENV=/h/offcut-bash-env.sh\nZ=9",
            "=…\nA=…\nB=…\n=…\r\n\nBASH_ENV=/h/offcut-bash-env.sh\nZ=…",
        );
        check(
            "settings.json",
            "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": \"sk-1\",\n    \"model\": \"m\"\n",
            "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": …\n    \"model\": \"m\"\n",
        );
        check("config.toml", "api_token=\"t\"\nmodel = \"m\"\n", "api_token= …\nmodel = \"m\"\n");
    }
}
