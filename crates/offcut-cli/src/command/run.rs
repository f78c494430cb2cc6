//! `offcut run`: runs a command, shortens its output and exits with its exit code.

use crate::agents::{self, Agent, ToolKind};
use crate::arguments::{Format, GlobalOptions, Run};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::format::RunReport;
use crate::housekeeping;
use crate::origin;
use crate::pass;
use crate::process::{
    self, CommandExit, ExitCause, InheritedState, LaterOutput, Launch, LaunchError, Observer, OpenOutput,
    Outputs, Signals, Stream,
};
use offcut::report::OutputReport;
use offcut::store::Origin;
use offcut::{CommandEnd, Context, Outcome, Saved, Spool, Truncator};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The exit code for errors of offcut itself, as used by `env`, `nohup` and `timeout`.
pub(crate) const USAGE: u8 = 125;

/// The exit code after a timeout, as used by `timeout`.
const TIMED_OUT: u8 = 124;

/// A command to run, and how to process its output.
pub(super) struct RunRequest<'a> {
    pub(super) launch: Launch<'a>,
    pub(super) setup: &'a Setup,
    pub(super) truncator: &'a Truncator,
    pub(super) context: Context,
    pub(super) format: Format,
    pub(super) timeout: Option<Duration>,
    pub(super) background_cap: u64,
    /// Describes the program in errors, for example `your shell `; empty for a command given by the user.
    pub(super) program_role: &'a str,
}

pub(crate) fn run(global: &GlobalOptions, run: &Run, inherited: InheritedState) -> u8 {
    exit_code(run_command(global, run, inherited).map(|(exit, _)| exit))
}

/// Ends as the command ended: returns its exit code, or dies of the same signal, by which a shell knows that a loop was
/// interrupted. If offcut failed, prints the error and returns the exit code for that.
pub(super) fn exit_code(result: Result<Exit, Failure>) -> u8 {
    match result {
        Ok(Exit::Code(code)) => code,
        Ok(Exit::Signal(signal)) => {
            process::die_of(signal);
            code(ExitCause::Killed { signal })
        }
        Err(failure) => {
            if let Some(reason) = failure.reason() {
                diagnostic::say(&reason);
            }
            USAGE
        }
    }
}

fn run_command(
    global: &GlobalOptions,
    run: &Run,
    inherited: InheritedState,
) -> Result<(Exit, Printed), Failure> {
    let agent = agents::caller();
    let setup = Setup::new(global)?.with_reader(agent, ToolKind::Shell);
    let truncator = setup.truncator(&run.cut)?;
    let (program, arguments) = run.command_line(&setup);
    let request = RunRequest {
        launch: Launch {
            program: &program,
            arguments: &arguments,
            environment: &[],
            pipe_variable: None,
            outputs: match run.split || inherited.has_closed_output() {
                true => Outputs::Split,
                false => Outputs::Merged,
            },
            inherited,
        },
        setup: &setup,
        truncator: &truncator,
        context: describe_call(run.cut.context(), Some(run.stored_command()), agent),
        format: global.format,
        timeout: run.timeout,
        background_cap: run.background_cap.min(setup.cap()),
        program_role: if run.shell.is_some() { "your shell ($SHELL) " } else { "" },
    };
    // The command alone does all that is wanted, unless offcut has to stop it or to report on it.
    if pass::is_set() && request.timeout.is_none() && request.format == Format::Text {
        let code = report_launch_error(&request, &request.launch.exec());
        return Ok((Exit::Code(code), Printed::Full));
    }
    run_and_print(&request)
}

/// How offcut ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Code(u8),
    /// By a signal that ended the command and by which people and agents stop commands.
    Signal(i32),
}

impl Exit {
    fn of(cause: ExitCause) -> Exit {
        match cause {
            ExitCause::Killed {
                signal: signal @ (libc::SIGINT | libc::SIGQUIT | libc::SIGTERM | libc::SIGHUP),
            } => Exit::Signal(signal),
            cause => Exit::Code(code(cause)),
        }
    }
}

/// How much of the output was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    Full,
    Preview,
}

/// Runs the command, prints its output or a preview, and returns the exit code.
pub(super) fn run_and_print(request: &RunRequest<'_>) -> Result<(Exit, Printed), Failure> {
    let streams = match request.launch.outputs {
        Outputs::Merged => 1,
        Outputs::Split => 2,
    };
    let mut spools: Vec<Spool<'_>> =
        (0..streams).map(|_| request.truncator.spool(request.context.clone())).collect();

    process::catch_file_size_signal();
    let signals = match Signals::catch(&request.launch.inherited) {
        Ok(signals) => signals,
        Err(error) => return Ok((Exit::Code(run_without_offcut(request, &error)), Printed::Full)),
    };
    let running = match process::launch(&request.launch) {
        Ok(running) => running,
        Err(LaunchError::OfCommand(error)) => {
            return Ok((Exit::Code(report_launch_error(request, &error)), Printed::Full));
        }
        Err(LaunchError::OfOffcut(error)) => {
            return Ok((Exit::Code(run_without_offcut(request, &error)), Printed::Full));
        }
    };
    let mut observed = ObservedOutput { spools: &mut spools, format: request.format };
    let exit = process::watch(running, signals, request.timeout, &mut observed)?;

    let ending = CommandEnd {
        exit_code: Some(i32::from(code(exit.cause))),
        signal: match exit.cause {
            ExitCause::Killed { signal } => Some(signal),
            ExitCause::Exited(_) | ExitCause::TimedOut => None,
        },
        duration: Some(exit.duration),
        status: describe(&exit),
    };
    let mut open: Vec<Option<OpenOutput>> = (0..streams).map(|_| None).collect();
    let CommandExit { cause, duration, open: still_open } = exit;
    for output in still_open {
        let Stream(number) = output.stream;
        open[number] = Some(output);
    }
    let shown: Vec<Outcome<'_>> = spools
        .into_iter()
        .zip(open)
        .map(|(spool, open)| match open {
            None => spool.finish_with(ending.clone()),
            Some(open) => {
                let (shown, file) = spool.pause(ending.clone());
                let entry =
                    file.and_then(|file| later_output(request.setup, &shown, file, request.background_cap));
                process::drain_in_background(open.reader, entry);
                shown
            }
        })
        .collect();

    let printed = match request.format {
        Format::Text => print(&shown),
        Format::Json => super::print_json(&RunReport::new(
            shown.iter().map(OutputReport::new).collect(),
            cause,
            duration,
            i32::from(code(cause)),
        )),
    };
    // The exit code of the command is returned even if its output cannot be printed.
    if let Some(reason) = printed.err().and_then(|failure| failure.reason()) {
        diagnostic::say(&reason);
    }
    shown.iter().for_each(|shown| super::warn_about_store(request.truncator.profile(), shown));
    let is_cut = shown.iter().any(|shown| shown.preview().is_some());
    if is_cut {
        housekeeping::start_if_due(request.setup);
    }
    if let (ExitCause::TimedOut, Some(timeout)) = (cause, request.timeout) {
        diagnostic::say(format!("command timed out after {timeout:?}"));
    }
    Ok((Exit::of(cause), if is_cut { Printed::Preview } else { Printed::Full }))
}

/// The output of a command, by stream.
struct ObservedOutput<'r, 's> {
    spools: &'r mut [Spool<'s>],
    format: Format,
}

impl Observer for ObservedOutput<'_, '_> {
    fn output(&mut self, Stream(number): Stream, chunk: &[u8]) {
        self.spools[number].observe(chunk);
    }

    fn fail(&mut self, Stream(number): Stream, error: &io::Error) {
        let reason = format!("cannot read all of the command's output: {error}");
        diagnostic::warn(&reason);
        self.spools[number].fail(reason);
    }

    fn tick(&mut self, elapsed: Duration) -> Vec<u8> {
        match (&mut *self.spools, self.format) {
            ([merged], Format::Text) => merged.tick(elapsed),
            // Two streams are shown one after the other, and JSON is one value.
            _ => Vec::new(),
        }
    }
}

/// Replaces this process with the command: an error in offcut must not prevent it. Returns the exit code if the command
/// cannot be started either.
fn run_without_offcut(request: &RunRequest<'_>, error: &io::Error) -> u8 {
    let without_timeout = if request.timeout.is_some() { ", and --timeout does not apply" } else { "" };
    diagnostic::warn(format_args!("the output is neither shortened nor stored{without_timeout}: {error}"));
    report_launch_error(request, &request.launch.exec())
}

/// Reports why the command cannot be started, and returns the exit code for that.
fn report_launch_error(request: &RunRequest<'_>, error: &io::Error) -> u8 {
    let (role, program) = (request.program_role, request.launch.program);
    let reason = launch_error(program, error);
    diagnostic::say(format_args!("cannot run {role}{}: {reason}", program.display()));
    process::exit_code(error)
}

impl Run {
    /// The line for the shell, or the program and its arguments, quoted.
    fn stored_command(&self) -> String {
        if let Some(line) = &self.shell {
            return line.to_string_lossy().into_owned();
        }
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_else(|_| words.join(" "))
    }

    fn command_line(&self, setup: &Setup) -> (OsString, Vec<OsString>) {
        match (&self.shell, self.command.split_first()) {
            (None, Some((program, arguments))) => (program.clone(), arguments.to_vec()),
            (line, _) => {
                let line = line.clone().unwrap_or_default();
                (setup.shell(), vec![OsStr::new("-c").to_owned(), line])
            }
        }
    }
}

/// The context of a command that starts now.
pub(super) fn describe_call(context: Context, command: Option<String>, agent: Option<&Agent>) -> Context {
    let origin = Origin { command, ..context.origin };
    origin::describe(Context { started: Some(SystemTime::now()), origin, ..context }, agent)
}

/// The entry to which a background process's later output is added.
fn later_output(setup: &Setup, shown: &Outcome<'_>, file: File, cap: u64) -> Option<LaterOutput> {
    let Saved::Running(entry) = shown.preview()?.saved() else { return None };
    // A store that cannot be written to has its entry elsewhere.
    let directory =
        entry.path.as_deref().and_then(Path::parent).or_else(|| setup.local_directory())?.to_owned();
    Some(LaterOutput { file, directory, id: entry.id, cap })
}

fn code(cause: ExitCause) -> u8 {
    match cause {
        ExitCause::Exited(code) => u8::try_from(code & 0xFF).unwrap_or(u8::MAX),
        ExitCause::Killed { signal } => u8::try_from(128 + (signal & 0x7F)).unwrap_or(u8::MAX),
        ExitCause::TimedOut => TIMED_OUT,
    }
}

fn describe(exit: &CommandExit) -> String {
    let (code, seconds) = (code(exit.cause), exit.duration.as_secs_f64());
    match exit.cause {
        ExitCause::Exited(_) => format!("exit {code} after {seconds:.1} s"),
        ExitCause::Killed { signal } => {
            format!("killed by signal {signal} after {seconds:.1} s")
        }
        ExitCause::TimedOut => format!("timed out after {seconds:.1} s"),
    }
}

/// Prints each output on the stream that the command used.
fn print(shown: &[Outcome<'_>]) -> CommandResult {
    let mut result = Ok(());
    for (number, shown) in shown.iter().enumerate() {
        let printed = match number {
            0 => super::print(shown.content()),
            _ => std::io::stderr().write_all(shown.content()).map_err(Failure::from),
        };
        result = result.and(printed);
    }
    result
}

/// Explains why a program cannot be started, where the message of the system would be misleading.
fn launch_error(program: &OsStr, error: &io::Error) -> String {
    let path = Path::new(program);
    match error.kind() {
        io::ErrorKind::NotFound if program.is_empty() => "the command is empty".to_owned(),
        io::ErrorKind::NotFound if program.as_encoded_bytes().contains(&b'/') && path.exists() => {
            "the interpreter named in its first line was not found".to_owned()
        }
        io::ErrorKind::PermissionDenied if path.is_dir() => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}
