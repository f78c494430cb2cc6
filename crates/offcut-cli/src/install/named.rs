//! The programs that an installation names, in an agent's settings and in the files of offcut.

use super::{Change, Content, Edit, FileState, Presence, is_variable, json, toml};
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
            Content::Variable { name, signature, presence, .. } => {
                let line = text.lines().find(|line| is_variable(line, name) && line.contains(signature));
                let value = line.and_then(|line| line.split_once('=')).map(|(_, value)| value.trim().into());
                // Some variables have other values than paths.
                file(name, value.filter(|path: &PathBuf| path.is_absolute()), *presence).into_iter().collect()
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
        Value::Object(members) => {
            let hooks = members.get("hooks")?.as_array()?;
            hooks.iter().find_map(|hook| in_script(hook.get("command")?.as_str()?))
        }
        _ => None,
    }
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
            [".", file] => Some(file.into()),
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
        check(r#""allow""#, None);
        check("7", None);
        let script = "#!/bin/sh\n# it's\n[ ! -x /o ] || exec /o offcut-bash \"$@\"\n";
        assert_eq!(in_script(script), Some("/o".into()));
        assert_eq!(in_script("// a\nconst program = \"/a \\\"b\"\n"), Some("/a \"b".into()));
    }
}
