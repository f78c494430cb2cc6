//! `offcut cut`: shortens standard input, or files.

use crate::agents;
use crate::arguments::{CutInput, Format, GlobalOptions};
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::housekeeping;
use crate::process::{self, StatusLine};
use crate::stream;
use offcut::report::OutputReport;
use offcut::terminal::printable;
use offcut::{Context, Outcome, Truncator};
use serde::Serialize;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// The longest name of a file that is printed.
const MAX_NAME: usize = 4096;

pub(crate) fn cut(global: &GlobalOptions, input: &CutInput) -> CommandResult {
    process::catch_file_size_signal();
    let setup = Setup::new(global)?;
    let truncator = setup.truncator(&input.cut)?;
    let standard_input = [PathBuf::from("-")];
    let files = if input.files.is_empty() { &standard_input[..] } else { &input.files[..] };
    let (mut failures, mut is_cut, mut separator) = (Vec::new(), false, "");
    for file in files {
        let name = printable(&file.to_string_lossy(), MAX_NAME);
        let (shown, error) = match shorten(&truncator, file, input.cut.context()) {
            Ok((shown, read)) => (Some(shown), read.err()),
            Err(error) => (None, Some(error)),
        };
        if let Some(shown) = shown {
            match global.format {
                Format::Text if files.len() > 1 => {
                    super::print(format!("{separator}==> {name} <==\n").as_bytes())?;
                    super::print(shown.content())?;
                    separator = if shown.content().ends_with(b"\n") { "\n" } else { "\n\n" };
                }
                Format::Text => super::print(shown.content())?,
                Format::Json => {
                    let file = (!input.files.is_empty()).then_some(&*name);
                    super::print_json(&FileReport { file, output: shown.report() })?;
                }
            }
            super::warn_about_store(truncator.profile(), &shown);
            is_cut |= shown.preview().is_some();
        }
        if let Some(error) = error {
            let place = if is_stdin(file) { "all of standard input" } else { &name };
            // What came before the error was printed and stored; the exit code still reports the error.
            failures.push(Failure::Usage(anyhow::anyhow!("cannot read {place}: {error}")));
        }
    }
    if is_cut {
        housekeeping::start_if_due(&setup);
    }
    super::fail_with(failures)
}

/// The report of one input, with the name of the file if one was given.
#[derive(Serialize)]
struct FileReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    output: OutputReport<'a>,
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Shortens one input. The inner result says whether all of it could be read; the outer one, whether it could be opened.
fn shorten<'a>(
    truncator: &'a Truncator,
    file: &Path,
    context: Context,
) -> io::Result<(Outcome<'a>, io::Result<()>)> {
    let stdin = io::stdin();
    let mut status = match is_stdin(file) && stdin.is_terminal() {
        // What is typed is on the line where the status would be.
        true => StatusLine::none(),
        false => StatusLine::for_terminal(std::time::Instant::now()),
    };
    let (mut spool, read);
    if is_stdin(file) {
        spool = truncator.spool(context);
        read = stream::read_all(stdin.lock(), &mut status, |chunk| spool.observe(chunk));
    } else {
        let opened = File::open(file)?;
        spool =
            truncator.spool(super::run::describe_call(context, &file.to_string_lossy(), agents::caller()));
        read = stream::read_all(opened, &mut status, |chunk| spool.observe(chunk));
    }
    status.erase();
    if let Err(error) = &read {
        spool.fail(format_args!("cannot read all of the input: {error}"));
    }
    Ok((spool.finish(), read))
}
