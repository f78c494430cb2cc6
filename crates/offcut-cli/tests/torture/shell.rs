//! Random command lines: `offcut shell` and `offcut run` print what the plain shell prints and end as it ends.

use crate::harness::{Sandbox, binary, isolate};
use crate::random::Random;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STATEMENTS: &[&str] = &[
    "echo a \"b  c\" 'd \"e' \\$HOME",
    "echo to stderr >&2",
    "true",
    "false",
    "(exit 3)",
    "printf '%s|' \"$A\" '$A' \"a'b\"",
    "printf 'no line feed'",
    "printf '\\000\\377\\033[31m'",
    "cat",
    "read -r line; echo \"got $line\"",
    "cd / && pwd",
    "echo $?",
    "f() { echo in f; return 4; }; f",
    "x=$(echo sub; exit 5); echo \"$x $?\"",
    "no-such-program",
    "cat no-such-file",
    "for i in 1 2 3; do echo $i; done",
    "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); echo $i; done",
    "echo $((7 * 6))",
    "case $A in b*) echo yes;; *) echo no;; esac",
    "cat <<'END'\n$A `x` \"y\"\nEND\n",
    "cat <<END\n$A\nEND\n",
    "set -e",
    "set -u; echo ${A}",
    "trap 'echo bye' EXIT",
    "sh -c 'trap \"echo term\" TERM; kill -TERM $$'",
    "sh -c 'kill -TERM $$'",
    "sleep 0.01 & wait $!",
    "exec 3>&1; echo three >&3",
    "exit 9",
    "umask 027; umask",
    "seq 1 30000",
    "seq 1 30000 | tail -n 2",
    "echo '日本語 é'",
    "export B=1; sh -c 'echo $B'",
    "test -t 1 || echo no terminal",
    "exec echo replaced",
    "echo ${A#b}",
    "[ -p /dev/stdin ] || echo not a pipe",
    "# a comment\n",
    "echo one\\\ntwo",
    "ulimit -n",
    "kill -l 9",
    "echo \"$0 $# $*\"",
    "(echo inner; exit 2) || echo outer $?",
    "! true",
    "set -- x 'y z'; echo $2",
    "unset A; echo ${A:-none}",
    "if false; then :; else echo else; fi",
];

pub(crate) fn missing(shell: &str) -> Option<String> {
    path_of(shell).is_none().then(|| format!("{shell} is not installed"))
}

fn path_of(shell: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin", "/usr/local/bin"]
        .iter()
        .map(|folder| Path::new(folder).join(shell))
        .find(|path| path.exists())
}

pub(crate) fn bash(random: &mut Random) -> u64 {
    compare("bash", random)
}

pub(crate) fn dash(random: &mut Random) -> u64 {
    compare("dash", random)
}

pub(crate) fn zsh(random: &mut Random) -> u64 {
    compare("zsh", random)
}

fn line(random: &mut Random, depth: usize) -> String {
    let statement = random.pick(STATEMENTS);
    if depth == 0 {
        return (*statement).to_owned();
    }
    let (first, second) = (line(random, depth - 1), line(random, depth - 1));
    match random.below(9) {
        0 => format!("{first}\n{second}"),
        1 => format!("{{ {first}\n}} && {second}"),
        2 => format!("{{ {first}\n}} || {second}"),
        3 => format!("( {first}\n) ; {second}"),
        // The right side prints after the left one has ended, so that the order of both is fixed.
        4 => format!("{{ {first}\n}} 2>&1 | sort | tail -n 3; {second}"),
        5 => format!("v=$( {first}\n); echo \"$v\"; {second}"),
        6 => format!("if {first}\nthen {second}\nfi"),
        7 => format!("{{ {first}\n}} > /dev/null 2>&1; {second}"),
        _ => first,
    }
}

/// The exit code, and both streams as one.
fn outcome(sandbox: &Sandbox, mut command: Command) -> (Option<i32>, Vec<u8>) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    command
        .env_clear()
        .env("HOME", sandbox.path())
        .env("PATH", "/usr/bin:/bin")
        .env("A", "b c")
        .current_dir(sandbox.path());
    command.stdin(std::fs::File::open(sandbox.path().join("input")).unwrap());
    command.stdout(Stdio::from(writer.try_clone().unwrap())).stderr(writer);
    isolate(&mut command);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output).unwrap();
    let status = child.wait().unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    // A shell reports a signal as 128 plus its number.
    (status.code().or(signal.map(|signal| 128 + signal)), output)
}

fn compare(shell: &str, random: &mut Random) -> u64 {
    let shell = path_of(shell).unwrap();
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("input"), "first\nsecond\n").unwrap();
    let depth = random.below(4);
    let mut line = line(random, depth);
    // Only as the last statement: in a pipeline, the rest would go on for a while.
    if random.once_in(10) {
        line += "\nkill -TERM $$";
    }
    let plain = |program: &[&str]| {
        let mut command = Command::new(program[0]);
        command.args(&program[1..]);
        outcome(&sandbox, command)
    };
    let expected = plain(&[shell.to_str().unwrap(), "-c", &line, "zero", "one"]);
    let chosen = ["/usr/bin/env", &format!("OFFCUT_SHELL={}", shell.display()), binary()].map(str::to_owned);
    let link = sandbox.path().join(format!("offcut-{}", shell.file_name().unwrap().to_str().unwrap()));
    std::os::unix::fs::symlink(binary(), &link).unwrap();
    let arguments: [Vec<&str>; 3] = [
        vec![&chosen[0], &chosen[1], &chosen[2], "shell", "-c", &line, "zero", "one"],
        vec![binary(), "run", "--", shell.to_str().unwrap(), "-c", &line, "zero", "one"],
        vec![link.to_str().unwrap(), "-c", &line, "zero", "one"],
    ];
    for arguments in &arguments {
        let (code, shown) = plain(arguments);
        let context = format!(
            "plain: {expected:?}\nshown: {:?}\n{}",
            String::from_utf8_lossy(&shown),
            shlex::try_join(arguments.iter().copied()).unwrap_or_default()
        );
        assert_eq!(code, expected.0, "another exit code: {context}");
        let lines = expected.1.split_inclusive(|&byte| byte == b'\n').count();
        if expected.1.len() <= 9500 && lines <= 1900 {
            assert!(shown == expected.1, "another output: {context}");
        } else {
            assert!(shown.len() <= 9500, "{} bytes are shown: {context}", shown.len());
            let stored = sandbox.run(&["cat", "last"], b"");
            assert!(stored.stdout == expected.1, "another output is stored: {context}");
        }
    }
    3
}
