//! Starting the command: its arguments, environment, directory and input are the caller's.

use crate::process::platform::{self, Inherited};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, PipeReader, PipeWriter};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Instant;

/// What to run.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: &'a [OsString],
    /// What is different from our own environment; without a value: not in it.
    pub(crate) environment: &'a [(OsString, Option<OsString>)],
    /// The variable that tells the command into which pipe it prints.
    pub(crate) mark: Option<&'a str>,
    pub(crate) outputs: Outputs,
    pub(crate) inherited: Inherited,
}

/// Where standard output and standard error go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outputs {
    /// Into one pipe, in the order in which they were written.
    Merged,
    /// Into one pipe each.
    Split,
}

/// Which processes get a signal that is meant for the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// The command has a group of its own: all of it.
    Own,
    /// It is in ours, on a terminal that sends its signals to both of us: only the command.
    Shared,
}

/// A command that runs.
pub(crate) struct Launched {
    pub(super) child: Child,
    pub(super) group: Group,
    pub(super) started: Instant,
    pub(super) outputs: Vec<PipeReader>,
}

/// Starts the command. The error is the system's: not found, not executable, or whatever it is.
pub(crate) fn launch(launch: &Launch<'_>) -> io::Result<Launched> {
    let group = if platform::in_foreground() { Group::Shared } else { Group::Own };
    let started = Instant::now();
    match spawn(launch.program, &[], launch, group) {
        // What `execvp` does with a text that names no interpreter.
        Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
            let script = find(launch.program).into_os_string();
            spawn(OsStr::new("/bin/sh"), &[script], launch, group)
        }
        result => result,
    }
    .map(|(child, outputs)| Launched { child, group, started, outputs })
}

fn spawn(
    program: &OsStr,
    first: &[OsString],
    launch: &Launch<'_>,
    group: Group,
) -> io::Result<(Child, Vec<PipeReader>)> {
    let mut command = Command::new(program);
    command.args(first).args(launch.arguments);
    launch.inherited.hand_down(&mut command);
    for (name, value) in launch.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if group == Group::Own {
        command.process_group(0);
        platform::die_with_us(&mut command);
    }
    let (reader, writer) = pipe()?;
    if let Some(name) = launch.mark {
        command.env(name, platform::identity(&reader).unwrap_or_default());
    }
    let outputs = match launch.outputs {
        Outputs::Merged => {
            command.stdout(writer.try_clone()?).stderr(writer);
            vec![reader]
        }
        Outputs::Split => {
            let (error_reader, error_writer) = pipe()?;
            command.stdout(writer).stderr(error_writer);
            vec![reader, error_reader]
        }
    };
    // Our copies of the writing ends go with `command`.
    Ok((command.spawn()?, outputs))
}

fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    platform::enlarge_pipe(&reader);
    Ok((reader, writer))
}

/// The file that a program name stands for: itself, or the first that can be executed on the path.
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

/// The exit code of a shell for a command that could not be started.
pub(crate) fn exit_code(error: &io::Error) -> u8 {
    match error.kind() {
        ErrorKind::NotFound => 127,
        _ => 126,
    }
}
