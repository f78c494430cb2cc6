//! Gemini CLI's tool `read_file`, which returns a preview as the result of another tool.

use std::fs;
use std::path::{Path, PathBuf};

/// The most lines, and the most UTF-16 units of a line, that `read_file` returns unchanged.
const MOST: usize = 2000;

/// A text that `read_file` returns unchanged, with longer lines broken; `None` if it has too many lines.
pub(super) fn readable(text: &str) -> Option<String> {
    let mut broken = String::with_capacity(text.len());
    let mut length = 0;
    for letter in text.chars() {
        length = if letter == '\n' { 0 } else { length + letter.len_utf16() };
        if length > MOST {
            broken.push('\n');
            length = letter.len_utf16();
        }
        broken.push(letter);
    }
    (broken.matches('\n').count() < MOST).then_some(broken)
}

/// Whether settings, policies or sub-agents restrict the tool. A result would be lost if the tool could not be called.
pub(super) fn may_be_missing(settings: &[PathBuf]) -> bool {
    let names = ["read_file", "ReadFile", "coreTools", "\"core\"", "toolName = \"*\""];
    let restricts = |text: &str| names.iter().any(|name| text.contains(name));
    let lacks = |text: &str| text.contains("tools") && !text.contains("read_file");
    let system = PathBuf::from("/etc/gemini-cli");
    settings.iter().chain([&system]).any(|directory| {
        let extensions = files(&directory.join("extensions"), "");
        let restricting = [directory.join("settings.json")]
            .into_iter()
            .chain(files(&directory.join("policies"), "toml"))
            .chain(extensions.iter().map(|extension| extension.join("gemini-extension.json")));
        let agents =
            [directory].into_iter().chain(&extensions).flat_map(|place| files(&place.join("agents"), "md"));
        restricting.into_iter().any(|file| fs::read_to_string(file).is_ok_and(|text| restricts(&text)))
            || agents.into_iter().any(|file| fs::read_to_string(file).is_ok_and(|text| lacks(&text)))
    })
}

/// The files of a directory whose names end so.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let found = fs::read_dir(directory).into_iter().flatten().flatten().map(|file| file.path());
    found.filter(|file| file.to_string_lossy().ends_with(extension)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_may_be_missing_where_something_restricts_it() {
        let check = |name: &str, text: &str, expected: bool| {
            let directory = tempfile::tempdir().expect("a directory");
            let file = directory.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
            fs::write(file, text).expect("a file");
            assert_eq!(may_be_missing(&[directory.path().to_owned()]), expected, "{name}: {text}");
        };
        check("settings.json", r#"{"tools": {"shell": {"enableInteractiveShell": false}}}"#, false);
        check("settings.json", r#"{"tools": {"exclude": ["read_file"]}}"#, true);
        check("settings.json", r#"{"tools": {"core": ["run_shell_command"]}}"#, true);
        check("settings.json", r#"{"excludeTools": ["ReadFileTool"]}"#, true);
        check("policies/a.toml", "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\n", false);
        check("policies/a.toml", "[[rule]]\ntoolName = \"*\"\ndecision = \"ask_user\"\n", true);
        check("agents/a.md", "---\nname: a\ntools:\n  - run_shell_command\n---\n", true);
        check("agents/a.md", "---\nname: a\ntools:\n  - read_file\n---\n", false);
        check("agents/a.md", "---\nname: a\n---\n", false);
        check("extensions/x/gemini-extension.json", r#"{"excludeTools": ["read_file"]}"#, true);
        check("extensions/x/agents/a.md", "---\ntools: [glob]\n---\n", true);
    }
}
