//! After offcut was removed or moved, every agent that it is installed in works as without it, and `offcut doctor` says what to
//! do.

use crate::harness::{Ran, Sandbox, binary, feed};
use crate::shell::LINES;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const AGENTS: [&str; 5] = ["claude", "opencode", "codex", "gemini", "pi"];
const FILES: &str = ".config/offcut/agents";

/// A home directory with a copy of the program that can be removed.
struct Home {
    sandbox: Sandbox,
    program: PathBuf,
}

impl Home {
    fn new() -> Home {
        let sandbox = Sandbox::new();
        let program = sandbox.copy_of_binary();
        Home { sandbox, program }
    }

    fn path(&self) -> &Path {
        self.sandbox.path()
    }

    fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(arguments).env_clear().env("HOME", self.path()).env("SHELL", "/bin/bash");
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("A", "b c").current_dir(self.path());
        command
    }

    fn run(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Ran {
        feed(self.command(program, arguments), b"first\nsecond\n")
    }

    fn init(&self, arguments: &[&str]) -> String {
        self.run(&self.program, &[&["init"], arguments].concat()).text()
    }

    fn shell(&self, name: &str) -> PathBuf {
        self.path().join(FILES).join(name)
    }

    fn remove_program(&self) {
        std::fs::remove_file(&self.program).unwrap();
    }
}

/// Output and exit code, without the path by which the shell was started.
fn result(ran: &Ran) -> (Option<i32>, String) {
    let text = String::from_utf8_lossy(&ran.stdout).into_owned() + &ran.stderr;
    (ran.code, text.replace("/usr/bin/bash", "bash").replace("/bin/bash", "bash"))
}

#[test]
fn shell_is_the_real_shell_with_and_without_the_program() {
    let home = Home::new();
    home.init(&["claude"]);
    let shell = home.shell("offcut-bash");
    let check = |arguments: &[&str]| {
        assert_eq!(
            result(&home.run(&shell, arguments)),
            result(&home.run("bash", arguments)),
            "{arguments:?}"
        );
    };
    let check_all = || {
        LINES.iter().for_each(|line| check(&["-c", line]));
        check(&["-lc", "shopt -q login_shell; echo $?"]);
        check(&["-eo", "pipefail", "-c", "false | true; echo never"]);
        check(&["-c", "echo \"$0|$1|$2|$3|\" $#", "zero", "", "two words", "--help"]);
        check(&["-s", "x"]);
        check(&["--help"]);
        check(&["-c"]);
    };
    check_all();
    assert!(home.run(&shell, &["-c", "seq 1 100000"]).stdout.len() <= 9500);
    home.remove_program();
    check_all();
    assert_eq!(home.run(&shell, &["-c", "seq 1 100000"]).stdout.len(), 588_895);
}

#[test]
fn shell_that_is_not_on_path_is_found_without_the_program() {
    let home = Home::new();
    home.init(&["claude"]);
    home.remove_program();
    for path in ["", "/nonexistent"] {
        let mut command =
            home.command(home.shell("offcut-bash"), &["-c", "echo \"${BASH_VERSION:+bash} $PATH\""]);
        command.env("PATH", path);
        assert_eq!(feed(command, b"").text(), format!("bash {path}\n"));
    }
    // bash takes a default PATH then.
    let mut command = home.command(home.shell("offcut-bash"), &["-c", "echo ${BASH_VERSION:+bash}"]);
    assert_eq!(
        feed(
            {
                command.env_remove("PATH");
                command
            },
            b""
        )
        .text(),
        "bash\n"
    );
}

/// dash drops variables whose names it cannot use, and bash reads `BASH_ENV` before it runs a script.
#[test]
fn environment_is_that_of_the_real_shell() {
    let home = Home::new();
    home.init(&["claude"]);
    std::fs::write(home.path().join("env.sh"), "echo read\n").unwrap();
    let environment = |program: &Path| {
        let mut command = home.command(program, &["-c", "env -0 | sort -z | tr '\\0' '|'; echo; f; echo $-"]);
        command.env("BASH_FUNC_f%%", "() { echo 'a function'; }").env("spring.name", "x").env("a-b", "y");
        command.env("SHELLOPTS", "braceexpand:hashall:interactive-comments").env("shell", "mine");
        command.env("BASH_ENV", home.path().join("env.sh")).env("IFS", ":").env("PS4", "> ");
        let ran = feed(command, b"");
        let text = ran.text();
        text.split('|')
            .filter(|variable| !variable.starts_with("_=") && !variable.starts_with("OFFCUT_PIPE="))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let expected = environment(Path::new("/bin/bash"));
    assert!(expected.contains("a function") && expected.contains("spring.name=x"), "{expected}");
    let shell = home.shell("offcut-bash");
    assert_eq!(environment(&shell), expected);
    home.remove_program();
    assert_eq!(environment(&shell), expected);
}

/// The commands of all hooks in the settings.
fn hooks(home: &Home) -> Vec<String> {
    let text = |file: &str| std::fs::read_to_string(home.path().join(file)).unwrap();
    let mut found = Vec::new();
    for file in [".claude/settings.json", ".gemini/settings.json"] {
        let settings: Value = serde_json::from_str(&text(file)).unwrap();
        for event in
            settings["hooks"].as_object().unwrap().values().flat_map(|event| event.as_array().unwrap())
        {
            found.extend(event["hooks"].as_array().unwrap().iter().map(|hook| hook["command"].clone()));
        }
    }
    let mut found: Vec<String> = found.iter().map(|command| command.as_str().unwrap().to_owned()).collect();
    let codex = text(".codex/config.toml");
    let values = codex.lines().filter_map(|line| line.strip_prefix("command = "));
    found.extend(values.map(|value| value.trim_matches(['"', '\'']).to_owned()));
    found
}

#[test]
fn hooks_answer_nothing_without_the_program() {
    for way in [&[][..], &["--rewrite"]] {
        let home = Home::new();
        home.init(&[&AGENTS[..], way].concat());
        home.remove_program();
        let commands = hooks(&home);
        assert_eq!(commands.len(), if way.is_empty() { 3 } else { 6 }, "{commands:?}");
        for command in commands {
            let ran = home.run("sh", &["-c", &command]);
            assert_eq!((ran.text().as_str(), ran.stderr.as_str()), ("", ""), "{command}");
        }
    }
}

#[test]
fn init_replaces_link_of_earlier_version_and_uninstall_removes_it() {
    let home = Home::new();
    let shell = home.shell("offcut-bash");
    std::fs::create_dir_all(shell.parent().unwrap()).unwrap();
    let size = std::fs::metadata(&home.program).unwrap().len();
    for target in [home.program.clone(), PathBuf::from("/nonexistent/offcut")] {
        let _ = std::fs::remove_file(&shell);
        symlink(&target, &shell).unwrap();
        home.init(&["claude"]);
        assert!(!shell.is_symlink() && shell.metadata().unwrap().permissions().mode() & 0o777 == 0o755);
        assert_eq!(std::fs::metadata(&home.program).unwrap().len(), size, "the program is unchanged");
        std::fs::remove_file(&shell).unwrap();
        symlink(&target, &shell).unwrap();
        home.init(&["claude", "--uninstall"]);
        assert!(!shell.is_symlink() && home.program.is_file());
        std::fs::create_dir_all(shell.parent().unwrap()).unwrap();
    }
    // A script that cannot be executed is written again.
    home.init(&["claude"]);
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(home.init(&["claude"]).contains("configured. Restart"));
    assert_eq!(home.run(&shell, &["-c", "echo hi"]).text(), "hi\n");
}

#[test]
fn doctor_reports_settings_that_name_a_missing_or_another_program() {
    for agent in AGENTS {
        for way in [&[][..], &["--rewrite"]] {
            let home = Home::new();
            let doctor = |program: &Path| {
                let ran = home.run(program, &["doctor"]);
                (ran.code, String::from_utf8(ran.stdout).unwrap())
            };
            home.init(&[&[agent], way].concat());
            let (code, text) = doctor(&home.program);
            assert!(code == Some(0) && text.contains("configured"), "{agent}: {text}");
            let command = [&["run: offcut init", agent], way].concat().join(" ");
            let expect = |reason: &str| {
                let (code, text) = doctor(Path::new(binary()));
                assert_eq!(code, Some(1), "{agent} {way:?}: {text}");
                let line = text.lines().find(|line| line.starts_with("!!") && line.contains(reason));
                assert!(
                    line.is_some_and(|line| line.ends_with(&command)),
                    "{agent} {way:?} {reason}: {text}"
                );
            };
            expect("bin/offcut, which is not this program");
            home.remove_program();
            expect("bin/offcut, which does not exist");
            home.run(binary(), &[&["init", agent], way].concat()).text();
            let (code, text) = doctor(Path::new(binary()));
            assert!(code == Some(0) && text.contains(" works"), "{agent}: {text}");
        }
    }
}

#[test]
fn doctor_reports_missing_files_of_offcut() {
    for agent in AGENTS {
        let home = Home::new();
        home.init(&[agent]);
        std::fs::remove_dir_all(home.path().join(FILES)).unwrap();
        let ran = home.run(&home.program, &["doctor"]);
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(
            ran.code == Some(1) && text.contains("which does not exist; run: offcut init"),
            "{agent}: {text}"
        );
    }
}

#[test]
fn doctor_checks_project_settings_too() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("project/.git")).unwrap();
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = home.command(program, arguments);
        feed(
            {
                command.current_dir(home.path().join("project"));
                command
            },
            b"",
        )
    };
    run(Path::new(binary()), &["init", "claude"]).text();
    run(&home.program, &["init", "claude", "--project"]).text();
    run(Path::new(binary()), &["init", "claude"]).text();
    let ran = run(Path::new(binary()), &["doctor"]);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.code == Some(1) && text.contains("run: offcut init claude --project"), "{text}");
}
