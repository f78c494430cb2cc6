//! The programs that an installation names, in an agent's settings and in the files of offcut.

use super::{Change, Content, Edit, FileState, Presence, json, toml};
use serde_json::Value;
use std::path::PathBuf;

/// A program, or a file of offcut, that a setting or a file names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NamedFile {
    /// The name of the setting, or the path of the file.
    pub(crate) place: String,
    pub(crate) path: PathBuf,
    /// Whether the method of the change has this setting.
    pub(crate) presence: Presence,
}

impl Change {
    /// What the values name that `offcut init` wrote into this file, whichever version of it and for either method.
    pub(crate) fn named_files(&self) -> Vec<NamedFile> {
        let Ok(state) = FileState::of(&self.path) else { return Vec::new() };
        let text = state.text().unwrap_or_default();
        let file = |place: &str, path: Option<PathBuf>, presence: Presence| {
            Some(NamedFile { place: place.to_owned(), path: path?, presence })
        };
        let edited = |edits: &[Edit], find: fn(&str, &Edit) -> Option<String>| {
            edits
                .iter()
                .filter_map(|edit| file(&edit.name(), in_value(&find(text, edit)?), edit.presence))
                .collect()
        };
        match &self.content {
            Content::Json(edits) => edited(edits, json::find),
            Content::Toml(edits) => edited(edits, toml::find),
            Content::Line(line) => {
                let found = text.lines().find(|text| line.is_own(text));
                let (place, path) = match line.variable {
                    Some(name) => (name.into(), found.and_then(in_assignment)),
                    None => (self.path.to_string_lossy(), found.and_then(in_script)),
                };
                // Some variables have other values than paths.
                file(&place, path.filter(|path| path.is_absolute()), line.presence).into_iter().collect()
            }
            Content::OwnFile(_) | Content::OwnScript(_) => {
                let path = match &state {
                    FileState::Link(target) => Some(target.clone()),
                    _ => in_script(text).filter(|_| state.is_from_offcut()),
                };
                file(&self.path.to_string_lossy(), path, Presence::Present).into_iter().collect()
            }
        }
    }
}

/// The program in the command of a hook, or the path that is the whole value.
fn in_value(json: &str) -> Option<PathBuf> {
    match serde_json::from_str(json).ok()? {
        Value::String(text) if text.starts_with('/') => Some(text.into()),
        Value::String(text) => in_script(&text),
        Value::Object(hook) if hook.contains_key("command") => in_script(hook["command"].as_str()?),
        Value::Object(members) => {
            let hooks = members.get("hooks")?.as_array()?;
            hooks.iter().find_map(|hook| in_script(hook.get("command")?.as_str()?))
        }
        _ => None,
    }
}

/// The value in a line that sets a variable; in a script of a shell, it may be quoted.
fn in_assignment(line: &str) -> Option<PathBuf> {
    let value = line.split_once('=')?.1.trim();
    let unquoted = shlex::split(value).filter(|words| words.len() == 1).and_then(|mut words| words.pop());
    Some(unquoted.unwrap_or_else(|| value.to_owned()).into())
}

/// The program in a script: the word before `hook` or the name of a shell, the file after `.`, or the plugin's constant.
fn in_script(text: &str) -> Option<PathBuf> {
    text.lines().find_map(|line| {
        if let Some(program) = line.strip_prefix("const program = ") {
            return serde_json::from_str(program).ok();
        }
        let words = shlex::split(line)?;
        words.windows(2).find_map(|pair| match [pair[0].as_str(), pair[1].as_str()] {
            [program, "hook" | "offcut-bash" | "offcut-zsh"] => Some(program.into()),
            [".", file] => Some(file.trim_end_matches(';').into()),
            _ => None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_found_in_values_of_all_versions() {
        let check = |json: &str, expected: Option<&str>| {
            assert_eq!(in_value(json), expected.map(PathBuf::from), "{json}");
        };
        check(r#""/home/you/a b/offcut-bash""#, Some("/home/you/a b/offcut-bash"));
        check(r#"". '/it is/offcut-line.sh'""#, Some("/it is/offcut-line.sh"));
        check(r#"{"hooks":[{"command":"/old/offcut hook claude after"}]}"#, Some("/old/offcut"));
        check(r#"{"hooks":[{"command":"[ ! -x '/a b' ] || '/a b' hook claude after"}]}"#, Some("/a b"));
        check(r#"{"type":"command","command":"/old/offcut hook copilot after"}"#, Some("/old/offcut"));
        check(r#""allow""#, None);
        check("7", None);
        let script = "#!/bin/sh\n# it's\n[ ! -x /o ] || exec /o offcut-bash \"$@\"\n";
        assert_eq!(in_script(script), Some("/o".into()));
        assert_eq!(in_script("if [ -r '/a b' ]; then . '/a b'; fi"), Some("/a b".into()));
        assert_eq!(in_assignment("export GOOSE_SHELL='/a b/offcut-bash'"), Some("/a b/offcut-bash".into()));
        assert_eq!(
            in_assignment("BASH_ENV=/it's/offcut-bash-env.sh"),
            Some("/it's/offcut-bash-env.sh".into())
        );
        assert_eq!(in_script("// a\nconst program = \"/a \\\"b\"\n"), Some("/a \"b".into()));
    }
}
