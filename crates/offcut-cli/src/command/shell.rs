//! `offcut shell -c LINE`: a shell for agents, which bounds what the line prints.
//!
//! The arguments are the real shell's, passed on as they are: the line is never read or quoted by us. Whatever is not
//! a line for an agent (a script, a session at a terminal, a line inside a line) is the real shell's alone.

use crate::agent::{self, Agent};
use crate::arguments::{Everywhere, Format, Shell};
use crate::command::early::Early;
use crate::command::run::{self, Errand, Printed};
use crate::environment::{Setup, is_ours};
use crate::process::{Inherited, Launch, Outputs, identity};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Tells a shell inside the line into which pipe the line prints: what goes there is bounded already.
const MARK: &str = "OFFCUT_PIPE";

/// What something left behind may add to the entry, as for `run`.
const BACKGROUND_CAP: u64 = 1 << 30;

/// The shell that the name of this program stands for: `offcut-bash` is bash, `offcut-sh` the user's.
pub(crate) enum Name {
    Users,
    Is(OsString),
}

impl Name {
    /// What this program was called as, if that is a shell's name.
    pub(crate) fn of(program: &OsStr) -> Option<Name> {
        let name = Path::new(program).file_name()?.to_str()?;
        match name.strip_prefix("offcut-")? {
            "sh" => Some(Name::Users),
            name @ ("bash" | "zsh" | "fish" | "dash" | "ksh") => Some(Name::Is(name.into())),
            _ => None,
        }
    }
}

pub(crate) fn shell(everywhere: &Everywhere, shell: &Shell, name: &Name, inherited: Inherited) -> u8 {
    // A mistake in the configuration must not cost an agent its shell.
    let setup = Setup::for_agent(everywhere).ok();
    let users = || setup.as_ref().map_or_else(|| "/bin/sh".into(), Setup::shell);
    let program = match name {
        Name::Users => users(),
        Name::Is(name) => on_path(name).unwrap_or_else(users),
    };
    let environment = environment(&program);
    let is_for_agent = has_line(&shell.arguments) && !std::io::stdout().is_terminal() && !is_inside();
    let truncator = setup.as_ref().filter(|_| is_for_agent).and_then(|setup| {
        let cut = crate::arguments::Cut { tool: Some("bash".to_owned()), ..Default::default() };
        Some((setup, setup.truncator(&cut).ok()?))
    });
    let Some((setup, truncator)) = truncator else {
        return become_shell(&program, shell, &environment, inherited);
    };
    let agent = agent::caller();
    let ended = run::follow(&Errand {
        launch: Launch {
            program: &program,
            arguments: &shell.arguments,
            environment: &environment,
            mark: Some(MARK),
            outputs: outputs(),
            inherited,
        },
        setup,
        truncator: &truncator,
        context: agent::shell_call(agent),
        format: Format::Text,
        timeout: None,
        background_cap: BACKGROUND_CAP.min(setup.cap()),
        name: "your shell ",
        early: Some(Early::default()),
    });
    if let (Ok((_, Printed::Preview)), Some(Agent { linger, .. })) = (&ended, agent) {
        std::thread::sleep(*linger);
    }
    run::ended(ended.map(|(code, _)| code))
}

/// The real shell in our place.
fn become_shell(
    program: &OsStr,
    shell: &Shell,
    environment: &[(OsString, Option<OsString>)],
    inherited: Inherited,
) -> u8 {
    let mut command = Command::new(program);
    command.args(&shell.arguments);
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    inherited.hand_down(&mut command);
    let error = command.exec();
    let _ = writeln!(std::io::stderr(), "offcut: cannot run {}: {error}", program.display());
    crate::process::exit_code(&error)
}

/// Whoever asks for the user's shell inside the line must get a shell that does not bound what programs read.
fn environment(program: &OsStr) -> Vec<(OsString, Option<OsString>)> {
    let is_ours = std::env::var_os("SHELL").is_some_and(|shell| is_ours(&shell));
    is_ours.then(|| ("SHELL".into(), Some(program.to_owned()))).into_iter().collect()
}

/// Whether the arguments of a shell have a line to run, and not a script or nothing.
fn has_line(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix(['-', '+']) {
            Some("-command") => return true,
            Some("-rcfile" | "-init-file") => drop(arguments.next()),
            Some(long) if long.starts_with('-') && long != "-" => {}
            Some(letters)
                if argument.starts_with('-') && letters.contains('c') && !letters.starts_with('-') =>
            {
                return true;
            }
            // `-o pipefail`
            Some(letters) if letters.ends_with(['o', 'O']) => drop(arguments.next()),
            Some("" | "-") | None => return false,
            Some(_) => {}
        }
    }
    false
}

/// Whether what we print goes to a shell of ours, which bounds it.
fn is_inside() -> bool {
    let mark = std::env::var(MARK).unwrap_or_default();
    !mark.is_empty() && identity(std::io::stdout()).is_some_and(|here| here == mark)
}

/// One output if the agent reads both in the same way; apart if one of them goes somewhere else.
fn outputs() -> Outputs {
    let kind = |found: rustix::fs::Stat| rustix::fs::FileType::from_raw_mode(found.st_mode);
    let (output, error) = (rustix::fs::fstat(std::io::stdout()), rustix::fs::fstat(std::io::stderr()));
    let (Ok(output), Ok(error)) = (output, error) else { return Outputs::Split };
    let is_same = (output.st_dev, output.st_ino) == (error.st_dev, error.st_ino);
    let is_read = |found| matches!(kind(found), rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket);
    if is_same || (is_read(output) && is_read(error)) { Outputs::Merged } else { Outputs::Split }
}

/// The first program of that name that is not this one.
fn on_path(name: &OsStr) -> Option<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual)
        .map(|directory| directory.join(name))
        .find(|file| file.is_absolute() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
        .map(std::path::PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_from_a_script() {
        let check = |line: &str, expected: bool| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(has_line(&arguments), expected, "{line}");
        };
        for line in ["-c x", "-lc x", "-l -c x", "-c -l x", "-ec x", "-o pipefail -c x", "-eo pipefail -c x"]
        {
            check(line, true);
        }
        for line in ["--norc -c x", "--rcfile f -c x", "--login -c x", "--command x", "+e -c x", "-ic x"] {
            check(line, true);
        }
        for line in ["", "script -c x", "-l", "-i", "-- -c", "-", "-s", "-o pipefail script", "--rcfile -c"] {
            check(line, false);
        }
    }
}
