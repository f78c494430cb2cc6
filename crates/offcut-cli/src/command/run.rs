//! `offcut run`: runs a command, bounds what it prints, and ends as it ended.

use crate::arguments::{Everywhere, Format, Run};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::format::{CutResult, RunResult};
use crate::housekeeping;
use crate::process::{self, Fate, Inherited, Launch, Open, Outputs, Rest, Signals, Stream, Watched};
use offcut::{Ending, Kept, Shown, Spool};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;

/// Our own failure, as `env`, `nohup` and `timeout` have it.
pub(crate) const USAGE: u8 = 125;

/// A command that was stopped because its time was up, as `timeout` has it.
const TIMED_OUT: u8 = 124;

pub(crate) fn run(everywhere: &Everywhere, run: &Run, inherited: Inherited) -> u8 {
    match follow(everywhere, run, inherited) {
        Ok(code) => code,
        Err(failure) => {
            if let Some(reason) = failure.reason() {
                say(&reason);
            }
            USAGE
        }
    }
}

fn follow(everywhere: &Everywhere, run: &Run, inherited: Inherited) -> Result<u8, Failure> {
    let setup = Setup::new(everywhere)?;
    let truncator = setup.truncator(&run.cut)?;
    let outputs = if run.split { Outputs::Split } else { Outputs::Merged };
    let streams = match outputs {
        Outputs::Merged => 1,
        Outputs::Split => 2,
    };
    let mut spools: Vec<Spool<'_>> = (0..streams).map(|_| truncator.spool(run.cut.context())).collect();

    let (program, arguments) = run.command_line();
    process::survive_large_files();
    let signals = Signals::catch().map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("could not prepare to run the command"))
    })?;
    let launched =
        match process::launch(&Launch { program: &program, arguments: &arguments, outputs, inherited }) {
            Ok(launched) => launched,
            Err(error) => {
                let what = if run.shell.is_some() { "your shell ($SHELL) " } else { "" };
                say(&format!("could not run {what}{}: {error}", program.display()));
                return Ok(process::exit_code(&error));
            }
        };
    let watched = process::watch(launched, signals, run.timeout, |Stream(number), chunk| {
        spools[number].observe(chunk)
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
                let cap = run.background_cap.min(setup.cap());
                let rest = file.and_then(|file| rest(&setup, &shown, file, cap));
                process::hand_over(open.reader, rest);
                shown
            }
        })
        .collect();

    let printed = match everywhere.format {
        Format::Text => print(&shown),
        Format::Json => super::print_json(&RunResult::new(
            shown.iter().map(CutResult::new).collect(),
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
    if shown.iter().any(|shown| shown.preview().is_some()) {
        housekeeping::start_if_due(&setup);
    }
    if let (Fate::TimedOut, Some(timeout)) = (fate, run.timeout) {
        say(&format!("the command was stopped: its time of {timeout:?} was up"));
    }
    Ok(code(fate))
}

impl Run {
    fn command_line(&self) -> (OsString, Vec<OsString>) {
        match (&self.shell, self.command.split_first()) {
            (None, Some((program, arguments))) => (program.clone(), arguments.to_vec()),
            (line, _) => {
                let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
                let line = line.clone().unwrap_or_default();
                (shell.unwrap_or_else(|| "/bin/sh".into()), vec![OsStr::new("-c").to_owned(), line])
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
        Fate::TimedOut => format!("stopped because its time was up, exit code {code} after {seconds:.1} s"),
    }
}

/// Each output where the command's own would have gone.
fn print(shown: &[Shown<'_>]) -> Outcome {
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

/// A diagnostic. Nobody may be there to read it.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "offcut: {text}");
}
