//! `offcut shell -c LINE`: a shell for agents, which shortens the output of the command line.
//!
//! All arguments are passed to the real shell; the command line is never parsed or quoted. For everything but an agent's
//! command line (a script, a session on a terminal, a shell inside a command line), this process becomes the real shell.

use crate::agents::{self, Agent, ToolKind};
use crate::arguments::{Format, GlobalOptions, Shell};
use crate::command::run::{self, Printed, RunRequest};
use crate::diagnostic;
use crate::environment::{Setup, is_offcut};
use crate::pass;
use crate::process::{InheritedState, Launch, Outputs, pipe_identity};
use offcut::Context;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;

/// The variable with the identity of the output pipe. Output of an inner shell to this pipe is shortened by the outer one.
const PIPE_VARIABLE: &str = "OFFCUT_PIPE";

/// The maximum stored output of background processes, as the default of `run`.
const BACKGROUND_CAP: u64 = 1 << 30;

/// The shell to run, by the name of a link or script: `offcut-bash` is bash, `offcut-sh` the shell of the user.
pub(crate) enum Name {
    Users,
    Named(OsString),
}

impl Name {
    /// Returns the shell if a path has such a name.
    pub(crate) fn of(path: &OsStr) -> Option<Name> {
        let name = Path::new(path).file_name()?.to_str()?;
        match name.strip_prefix("offcut-")? {
            "sh" => Some(Name::Users),
            name @ ("bash" | "zsh" | "fish" | "dash" | "ksh") => Some(Name::Named(name.into())),
            _ => None,
        }
    }
}

pub(crate) fn shell(global: &GlobalOptions, shell: &Shell, name: &Name, inherited: InheritedState) -> u8 {
    // An agent must have a shell even if the configuration is invalid.
    let is_passed = |line: &OsStr| pass::is_set() || pass::is_set_in(&line.to_string_lossy());
    let line = command_line(&shell.arguments)
        .filter(|line| !std::io::stdout().is_terminal() && !is_nested() && !is_passed(line));
    // What this process only hands over to the real shell needs no limits.
    let agent = agents::caller().filter(|_| line.is_some());
    let setup = Setup::for_agent(global, agent, ToolKind::Shell).ok();
    let users = || setup.as_ref().map_or_else(|| "/bin/sh".into(), Setup::shell);
    let program = match name {
        Name::Users => users(),
        Name::Named(name) => on_path(name).unwrap_or_else(users),
    };
    let environment = environment(&program);
    let for_agent = line.zip(setup.as_ref()).and_then(|(line, setup)| {
        let cut = crate::arguments::Cut { tool: Some("bash".to_owned()), ..Default::default() };
        Some((line, setup, setup.truncator(&cut).ok()?))
    });
    let launch = Launch {
        program: &program,
        arguments: &shell.arguments,
        environment: &environment,
        pipe_variable: Some(PIPE_VARIABLE),
        outputs: outputs(),
        inherited,
    };
    let Some((line, setup, truncator)) = for_agent else {
        let error = launch.exec();
        diagnostic::say(format_args!("cannot run {}: {error}", program.display()));
        return crate::process::exit_code(&error);
    };
    let result = run::run_and_print(&RunRequest {
        launch,
        setup,
        truncator: &truncator,
        context: run::describe_call(Context::tool("bash"), Some(line.to_string_lossy().into_owned()), agent),
        format: Format::Text,
        timeout: None,
        background_cap: BACKGROUND_CAP.min(setup.cap()),
        program_role: "your shell ",
    });
    if let (Ok((_, Printed::Preview)), Some(Agent { exit_delay, .. })) = (&result, agent) {
        std::thread::sleep(*exit_delay);
    }
    run::exit_code(result.map(|(exit, _)| exit))
}

/// Sets SHELL to the real shell: programs inside the command line must not read previews.
fn environment(program: &OsStr) -> Vec<(OsString, Option<OsString>)> {
    let is_link = std::env::var_os("SHELL").is_some_and(|shell| is_offcut(&shell));
    is_link.then(|| ("SHELL".into(), Some(program.to_owned()))).into_iter().collect()
}

/// The command line among the arguments of a shell (`-c LINE`). None for a script or a session.
fn command_line(arguments: &[OsString]) -> Option<&OsStr> {
    let mut has_line = false;
    let mut rest = arguments.iter().map(OsString::as_os_str);
    let line = loop {
        let Some(argument) = rest.next() else { break None };
        let text = argument.to_string_lossy();
        match text.strip_prefix(['-', '+']) {
            None => break Some(argument),
            Some("" | "-") => break rest.next(),
            Some("-command") => has_line = true,
            Some("-rcfile" | "-init-file") => drop(rest.next()),
            Some(long) if long.starts_with('-') => {}
            Some(letters) => {
                has_line |= text.starts_with('-') && letters.contains('c');
                // `-o pipefail`
                if letters.ends_with(['o', 'O']) {
                    rest.next();
                }
            }
        }
    };
    // A shell that gets `-c` without a line prints an error.
    has_line.then(|| line.unwrap_or_default())
}

/// Whether the output of this process goes to an outer `offcut shell`.
fn is_nested() -> bool {
    let outer = std::env::var(PIPE_VARIABLE).unwrap_or_default();
    !outer.is_empty() && pipe_identity(std::io::stdout()).is_some_and(|own| own == outer)
}

/// Merges the outputs if the agent reads both; splits them if one goes to a file or terminal.
fn outputs() -> Outputs {
    let kind = |found: rustix::fs::Stat| rustix::fs::FileType::from_raw_mode(found.st_mode);
    let (output, error) = (rustix::fs::fstat(std::io::stdout()), rustix::fs::fstat(std::io::stderr()));
    let (Ok(output), Ok(error)) = (output, error) else { return Outputs::Split };
    let is_same = (output.st_dev, output.st_ino) == (error.st_dev, error.st_ino);
    let is_pipe = |found| matches!(kind(found), rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket);
    if is_same || (is_pipe(output) && is_pipe(error)) { Outputs::Merged } else { Outputs::Split }
}

/// Finds a program on PATH or in the usual directories.
fn on_path(name: &OsStr) -> Option<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual_directories =
        ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path)
        .chain(usual_directories)
        .map(|directory| directory.join(name))
        .find(|file| file.is_absolute() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok())
        .map(std::path::PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_distinguishes_lines_from_scripts() {
        let check = |line: &str, expected: bool| {
            let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            assert_eq!(command_line(&arguments), expected.then_some(OsStr::new("x")), "{line}");
        };
        for line in ["-c x", "-lc x", "-l -c x", "-c -l x", "-ec x", "-o pipefail -c x", "-eo pipefail -c x"]
        {
            check(line, true);
        }
        for line in ["--norc -c x", "--rcfile f -c x", "--login -c x", "--command x", "+e -c x", "-ic x"] {
            check(line, true);
        }
        for line in ["-c -o pipefail x", "-co pipefail x y", "-c -- x", "-c - x", "-c x -l"] {
            check(line, true);
        }
        assert_eq!(command_line(&["-c".into()]), Some(OsStr::new("")));
        for line in ["", "script -c x", "-l", "-i", "-- -c", "-", "-s", "-o pipefail script", "--rcfile -c"] {
            check(line, false);
        }
    }
}
