//! `offcut doctor`: reports what works, and what is broken.

use crate::harness::{Ran, feed};
use crate::init::Home;

fn doctor(home: &Home) -> Ran {
    let mut command = home.0.command();
    command.arg("doctor").env("SHELL", "/bin/bash").env("PATH", "/usr/bin:/bin");
    feed(command, b"")
}

#[test]
fn doctor_runs_shell_and_hook_of_configured_agent() {
    let home = Home::with(".codex/config.toml", "");
    home.init(&["codex"]).text();
    let text = doctor(&home).text();
    for message in
        ["shell works", "bash works", "hook works", "readable only by you", "claude         not installed"]
    {
        assert!(text.contains(message), "{message}: {text}");
    }
    home.0.run(&["hook", "codex", "after"], b"not what it should be");
    let store = home.0.store();
    std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = doctor(&home);
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.code, Some(1));
    assert!(text.contains("chmod 700") && text.contains("hook codex after: expected"), "{text}");
}
