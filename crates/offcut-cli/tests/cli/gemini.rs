//! `offcut init gemini`: what must not be lost in Gemini CLI's settings.

use crate::harness::{Ran, Sandbox, feed};
use serde_json::{Value, json};
use std::path::Path;

fn run(sandbox: &Sandbox, directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command();
    command.args(arguments).env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin").current_dir(directory);
    feed(command, b"")
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Gemini CLI reads only the nearest `.env` file, and may have its key in another one.
#[test]
fn init_creates_no_env_file_that_would_hide_another_one() {
    let sandbox = Sandbox::new();
    let (home, project) = (sandbox.path().to_owned(), sandbox.path().join("project"));
    write(&project.join(".git/HEAD"), "");
    let env = home.join(".gemini/.env");
    write(&home.join(".env"), "GEMINI_API_KEY=abc\n");
    let text = run(&sandbox, &home, &["init", "gemini"]).text();
    assert!(!env.exists() && text.contains("so the hook shortens command output"), "{text}");
    assert!(run(&sandbox, &home, &["doctor"]).text().contains("gemini"), "nothing is wrong");
    // A file that an earlier version created is removed again, unless the user has added something.
    write(&env, "BASH_ENV=/x/offcut-bash-env.sh\n");
    run(&sandbox, &home, &["init", "gemini"]).text();
    assert!(!env.exists());
    write(&env, "GEMINI_MODEL=x\nBASH_ENV=/x/offcut-bash-env.sh\n");
    run(&sandbox, &home, &["init", "gemini"]).text();
    let found = std::fs::read_to_string(&env).unwrap();
    assert!(found.starts_with("GEMINI_MODEL=x\nBASH_ENV=") && !found.contains("/x/"), "{found}");
    // In a project, the file of the user counts too.
    let text = run(&sandbox, &project, &["init", "gemini", "--project"]).text();
    assert!(
        !project.join(".gemini/.env").exists() && project.join(".gemini/settings.json").exists(),
        "{text}"
    );
    write(&project.join(".gemini/.env"), "A=b\n");
    run(&sandbox, &project, &["init", "gemini", "--project"]).text();
    assert!(std::fs::read_to_string(project.join(".gemini/.env")).unwrap().contains("offcut-bash-env"));
    run(&sandbox, &project, &["init", "gemini", "--project", "--uninstall"]).text();
    assert_eq!(std::fs::read_to_string(project.join(".gemini/.env")).unwrap(), "A=b\n");
}

#[test]
fn init_switches_the_interactive_shell_off_unless_the_user_has_set_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.path().join(".gemini/settings.json");
    let setting = || {
        let settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        settings["tools"]["shell"]["enableInteractiveShell"].clone()
    };
    let text = run(&sandbox, sandbox.path(), &["init", "gemini"]).text();
    assert!(setting() == json!(false) && text.contains("+      \"enableInteractiveShell\": false"), "{text}");
    assert!(text.contains("set tools.shell.enableInteractiveShell to true"), "{text}");
    write(&file, "{\"tools\": {\"shell\": {\"enableInteractiveShell\": true}}}");
    let text = run(&sandbox, sandbox.path(), &["init", "gemini"]).text();
    assert!(setting() == json!(true), "{text}");
    assert!(text.contains("enableInteractiveShell already has another value; left unchanged"), "{text}");
}
