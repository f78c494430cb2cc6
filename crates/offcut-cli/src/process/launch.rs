//! Starts the command with the arguments, environment, directory and input of the caller.

use crate::process::platform::{self, InheritedState};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

/// The command to start.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
    /// Changes to the inherited environment; `None` removes a variable.
    pub(crate) environment: &'a [(OsString, Option<OsString>)],
    /// The variable that gets the identity of the output pipe.
    pub(crate) pipe_variable: Option<&'a str>,
    pub(crate) outputs: Outputs,
    pub(crate) inherited: InheritedState,
}

/// Where standard output and standard error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Into one pipe, in the order they were written.
    Merged,
    /// Into one pipe each.
    Split,
}

/// A started command.
pub(crate) struct RunningCommand {
    pub(super) child: Child,
    pub(super) started: Instant,
    pub(super) outputs: Vec<PipeReader>,
}

impl Launch<'_> {
    fn command(&self, program: &OsStr, first: &[OsString]) -> Command {
        let mut command = Command::new(program);
        command.args(first).args(self.arguments);
        self.inherited.restore_in(&mut command);
        for (name, value) in self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Replaces this process with the command, as if the caller had started it directly. Returns only if that fails.
    pub(crate) fn exec(&self) -> io::Error {
        self.command(self.program, &[]).exec()
    }
}

/// Why a command was not started.
pub(crate) enum LaunchError {
    /// It cannot be started.
    OfCommand(io::Error),
    /// offcut has no pipe for its output, or no process to start it in. That must not prevent the command.
    OfOffcut(io::Error),
}

impl LaunchError {
    /// The error of starting a process, which also reports that its program cannot be executed.
    fn of_spawn(error: io::Error) -> LaunchError {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM) => LaunchError::OfOffcut(error),
            _ => LaunchError::OfCommand(error),
        }
    }
}

/// Starts the command.
pub(crate) fn launch(launch: &Launch<'_>) -> Result<RunningCommand, LaunchError> {
    let started = Instant::now();
    match spawn(launch.program, &[], launch) {
        // As `execvp` does with a script that names no interpreter.
        Err(LaunchError::OfCommand(error)) if error.raw_os_error() == Some(libc::ENOEXEC) => {
            let script = find(launch.program).into_os_string();
            spawn(OsStr::new("/bin/sh"), &[script], launch)
        }
        result => result,
    }
    .map(|(child, outputs)| RunningCommand { child, started, outputs })
}

fn spawn(
    program: &OsStr,
    first: &[OsString],
    launch: &Launch<'_>,
) -> Result<(Child, Vec<PipeReader>), LaunchError> {
    let mut command = launch.command(program, first);
    platform::kill_when_parent_dies(&mut command);
    let (reader, writer) = pipe().map_err(LaunchError::OfOffcut)?;
    if let Some(name) = launch.pipe_variable {
        command.env(name, platform::pipe_identity(&reader).unwrap_or_default());
    }
    let outputs = match launch.outputs {
        Outputs::Merged => {
            command.stdout(writer.try_clone().map_err(LaunchError::OfOffcut)?).stderr(writer);
            vec![reader]
        }
        Outputs::Split => {
            let (error_reader, error_writer) = pipe().map_err(LaunchError::OfOffcut)?;
            command.stdout(writer).stderr(error_writer);
            vec![reader, error_reader]
        }
    };
    // Dropping `command` closes the writing ends on this side.
    Ok((command.spawn().map_err(LaunchError::of_spawn)?, outputs))
}

fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    platform::enlarge_pipe(&reader);
    Ok((reader, writer))
}

/// Finds the file of a program: the path itself, or the first executable of that name on PATH.
fn find(program: &OsStr) -> PathBuf {
    let name = Path::new(program);
    if name.components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return name.to_owned();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_executable = |file: &PathBuf| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path)
        .map(|directory| directory.join(name))
        .find(is_executable)
        .unwrap_or_else(|| name.to_owned())
}

/// The exit code that shells use for a command that cannot be started.
pub(crate) fn exit_code(error: &io::Error) -> u8 {
    match error.kind() {
        ErrorKind::NotFound => 127,
        _ => 126,
    }
}
