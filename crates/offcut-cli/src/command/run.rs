//! `offcut run`: runs a command, bounds what it prints, and ends as it ended.

use crate::arguments::{Everywhere, Format, Run};
use crate::command::early::Early;
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::format::RunReport;
use crate::housekeeping;
use crate::process::{self, Fate, Inherited, Launch, Open, Outputs, Rest, Signals, Stream, Watched};
use offcut::report::OutputReport;
use offcut::{Context, Ending, Kept, Shown, Spool, Truncator};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// Our own failure, as `env`, `nohup` and `timeout` have it.
pub(crate) const USAGE: u8 = 125;

/// A command that was stopped because its time was up, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// A command to run, and what is to be done with what it prints.
pub(super) struct Errand<'a> {
    pub(super) launch: Launch<'a>,
    pub(super) setup: &'a Setup,
    pub(super) truncator: &'a Truncator,
    pub(super) context: Context,
    pub(super) format: Format,
    pub(super) timeout: Option<Duration>,
    pub(super) background_cap: u64,
    /// What the program is to whoever reads that it could not be run.
    pub(super) name: &'a str,
    /// Shows the beginning of what takes long while it lasts.
    pub(super) early: Option<Early>,
}

pub(crate) fn run(everywhere: &Everywhere, run: &Run, inherited: Inherited) -> u8 {
    ended(start(everywhere, run, inherited).map(|(code, _)| code))
}

/// The command's code, or ours with the reason told.
pub(super) fn ended(result: Result<u8, Failure>) -> u8 {
    match result {
        Ok(code) => code,
        Err(failure) => {
            if let Some(reason) = failure.reason() {
                say(&reason);
            }
            USAGE
        }
    }
}

fn start(everywhere: &Everywhere, run: &Run, inherited: Inherited) -> Result<(u8, Printed), Failure> {
    let setup = Setup::new(everywhere)?;
    let truncator = setup.truncator(&run.cut)?;
    let (program, arguments) = run.command_line(&setup);
    follow(&Errand {
        launch: Launch {
            program: &program,
            arguments: &arguments,
            environment: &[],
            mark: None,
            outputs: if run.split { Outputs::Split } else { Outputs::Merged },
            inherited,
        },
        setup: &setup,
        truncator: &truncator,
        context: run.cut.context(),
        format: everywhere.format,
        timeout: run.timeout,
        background_cap: run.background_cap.min(setup.cap()),
        name: if run.shell.is_some() { "your shell ($SHELL) " } else { "" },
        early: None,
    })
}

/// What was printed of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    Whole,
    Preview,
}

/// Runs the command, prints what fits, and returns the exit code.
pub(super) fn follow(errand: &Errand<'_>) -> Result<(u8, Printed), Failure> {
    let streams = match errand.launch.outputs {
        Outputs::Merged => 1,
        Outputs::Split => 2,
    };
    let mut spools: Vec<Spool<'_>> =
        (0..streams).map(|_| errand.truncator.spool(errand.context.clone())).collect();

    process::survive_large_files();
    let signals = Signals::catch().map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot install signal handlers"))
    })?;
    // Before the command's own beginning, so that it is time when we are woken.
    let started = Instant::now();
    let launched = match process::launch(&errand.launch) {
        Ok(launched) => launched,
        Err(error) => {
            let program = errand.launch.program;
            say(&format!("cannot run {}{}: {}", errand.name, program.display(), reason(program, &error)));
            return Ok((process::exit_code(&error), Printed::Whole));
        }
    };
    let mut early = errand.early.filter(|_| streams == 1);
    let wake = early.as_ref().map(Early::after);
    let watched = process::watch(launched, signals, errand.timeout, wake, |Stream(number), chunk| {
        spools[number].observe(chunk);
        if let Some(early) = &mut early {
            early.look(&mut spools[number], started.elapsed());
        }
    })?;

    let ending = Ending { exit_code: Some(i32::from(code(watched.fate))), remark: remark(&watched) };
    let mut open: Vec<Option<Open>> = (0..streams).map(|_| None).collect();
    let Watched { fate, duration, open: still_open } = watched;
    for left in still_open {
        let Stream(number) = left.stream;
        open[number] = Some(left);
    }
    let shown: Vec<Shown<'_>> = spools
        .into_iter()
        .zip(open)
        .map(|(spool, open)| match open {
            None => spool.finish_with(ending.clone()),
            Some(open) => {
                let (shown, file) = spool.pause(ending.clone());
                let rest = file.and_then(|file| rest(errand.setup, &shown, file, errand.background_cap));
                process::hand_over(open.reader, rest);
                shown
            }
        })
        .collect();

    let printed = match errand.format {
        Format::Text => print(&shown, early.unwrap_or_default()),
        Format::Json => super::print_json(&RunReport::new(
            shown.iter().map(OutputReport::new).collect(),
            fate,
            duration,
            i32::from(code(fate)),
        )),
    };
    // How the command ended is never lost because its output could not be shown.
    if let Some(reason) = printed.err().and_then(|failure| failure.reason()) {
        say(&reason);
    }
    shown.iter().for_each(super::tell_what_is_only_local);
    let is_cut = shown.iter().any(|shown| shown.preview().is_some());
    if is_cut {
        housekeeping::start_if_due(errand.setup);
    }
    if let (Fate::TimedOut, Some(timeout)) = (fate, errand.timeout) {
        say(&format!("command timed out after {timeout:?}"));
    }
    Ok((code(fate), if is_cut { Printed::Preview } else { Printed::Whole }))
}

impl Run {
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

/// Where a process that reads on puts what comes: the entry of what was shown.
fn rest(setup: &Setup, shown: &Shown<'_>, file: File, cap: u64) -> Option<Rest> {
    let Kept::Open(entry) = &shown.preview()?.kept else { return None };
    let directory = setup.files()?.to_owned();
    Some(Rest { file, directory, id: entry.id, cap })
}

fn code(fate: Fate) -> u8 {
    match fate {
        Fate::Exited(code) => u8::try_from(code & 0xFF).unwrap_or(u8::MAX),
        Fate::Killed { signal } => u8::try_from(128 + (signal & 0x7F)).unwrap_or(u8::MAX),
        Fate::TimedOut => TIMED_OUT,
    }
}

fn remark(watched: &Watched) -> String {
    let (code, seconds) = (code(watched.fate), watched.duration.as_secs_f64());
    match watched.fate {
        Fate::Exited(_) => format!("exit code {code} after {seconds:.1} s"),
        Fate::Killed { signal } => {
            format!("killed by signal {signal}, exit code {code} after {seconds:.1} s")
        }
        Fate::TimedOut => format!("timed out, exit code {code} after {seconds:.1} s"),
    }
}

/// Each output where the command's own would have gone.
fn print(shown: &[Shown<'_>], early: Early) -> Outcome {
    let mut result = Ok(());
    for (number, shown) in shown.iter().enumerate() {
        let printed = match number {
            0 => super::print(early.rest(shown)),
            _ => std::io::stderr().write_all(shown.content()).map_err(Failure::from),
        };
        result = result.and(printed);
    }
    result
}

/// A diagnostic. Nobody may be there to read it.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "offcut: {text}");
}

/// Why a program could not be started, where the system's word for it would mislead.
fn reason(program: &OsStr, error: &io::Error) -> String {
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
