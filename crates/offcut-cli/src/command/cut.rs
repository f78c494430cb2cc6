//! `offcut cut`: shortens standard input, or files.

use crate::agents;
use crate::arguments::{CutInput, Format, GlobalOptions};
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::process::{self, StatusLine};
use crate::{housekeeping, pass, stream};
use offcut::report::OutputReport;
use offcut::terminal::printable;
use offcut::{Context, Truncator};
use serde::Serialize;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The longest name of a file that is printed.
const MAX_NAME: usize = 4096;

pub(crate) fn cut(global: &GlobalOptions, input: &CutInput) -> CommandResult {
    process::catch_file_size_signal();
    let standard_input = [PathBuf::from("-")];
    let files = if input.files.is_empty() { &standard_input[..] } else { &input.files[..] };
    let reads_stdin = files.iter().any(|file| is_stdin(file));
    let prepared = Setup::new(global).and_then(|setup| {
        let truncator = setup.truncator(&input.cut)?;
        Ok((setup, truncator))
    });
    let (setup, truncator) = prepared.map_err(|failure| match reads_stdin {
        true => super::unread_input::store_after(failure),
        false => failure,
    })?;
    let mut printer = Printer {
        truncator: &truncator,
        format: global.format,
        has_names: !input.files.is_empty(),
        has_headers: files.len() > 1 && global.format == Format::Text,
        separator: "",
        is_cut: false,
    };
    let mut failures = Vec::new();
    for file in files {
        let name = printable(&file.to_string_lossy(), MAX_NAME);
        let read = match Input::open(file) {
            Ok(opened) => printer.print(opened, &name, input.cut.context())?,
            Err(error) => Err(error),
        };
        if let Err(error) = read {
            let place = if is_stdin(file) { "all of standard input" } else { &name };
            // What came before the error was printed and stored; the exit code still reports the error.
            failures.push(Failure::Usage(anyhow::anyhow!("cannot read {place}: {error}")));
        }
    }
    if printer.is_cut {
        housekeeping::start_if_due(&setup);
    }
    super::fail_with(failures)
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

enum Input {
    Stdin,
    File(File),
}

impl Input {
    fn open(file: &Path) -> io::Result<Input> {
        if is_stdin(file) { Ok(Input::Stdin) } else { File::open(file).map(Input::File) }
    }

    fn read(self, status: &mut StatusLine, take: impl FnMut(&[u8]) -> ControlFlow<()>) -> io::Result<()> {
        match self {
            Input::Stdin => stream::read_all(io::stdin().lock(), status, take),
            Input::File(file) => stream::read_all(file, status, take),
        }
    }
}

/// Prints the inputs one after another.
struct Printer<'a> {
    truncator: &'a Truncator,
    format: Format,
    /// Whether files were named.
    has_names: bool,
    /// Whether each input has a line with its name before it.
    has_headers: bool,
    /// What comes before the next of these lines.
    separator: &'static str,
    is_cut: bool,
}

impl Printer<'_> {
    /// Prints one input. The inner result says whether all of it could be read.
    fn print(&mut self, input: Input, name: &str, context: Context) -> Result<io::Result<()>, Failure> {
        if self.has_headers {
            super::print(format!("{}==> {name} <==\n", self.separator).as_bytes())?;
        }
        if pass::is_set() && self.format == Format::Text {
            return self.pass(input);
        }
        let command = matches!(input, Input::File(_)).then(|| name.to_owned());
        let context = super::run::describe_call(context, command, agents::caller());
        let mut status = match input {
            // What is typed is on the line where the status would be.
            Input::Stdin if io::stdin().is_terminal() => StatusLine::none(),
            _ => StatusLine::for_terminal(Instant::now()),
        };
        let mut spool = self.truncator.spool(context);
        let read = input.read(&mut status, |chunk| {
            spool.observe(chunk);
            ControlFlow::Continue(())
        });
        status.erase();
        if let Err(error) = &read {
            spool.fail(format_args!("cannot read all of the input: {error}"));
        }
        let shown = spool.finish();
        match self.format {
            Format::Text => super::print(shown.content())?,
            Format::Json => {
                let file = self.has_names.then_some(name);
                super::print_json(&FileReport { file, output: shown.report() })?;
            }
        }
        self.end(shown.content().last());
        super::warn_about_store(self.truncator.profile(), &shown);
        self.is_cut |= shown.preview().is_some();
        Ok(read)
    }

    /// Prints one input as it comes.
    fn pass(&mut self, input: Input) -> Result<io::Result<()>, Failure> {
        let (mut printed, mut last) = (Ok(()), None);
        let read = input.read(&mut StatusLine::none(), |chunk| {
            last = chunk.last().copied();
            printed = super::print(chunk);
            // Nobody reads it any more: the writer ends as it would without offcut.
            if printed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.end(last.as_ref());
        printed.map(|()| read)
    }

    fn end(&mut self, last: Option<&u8>) {
        self.separator = if last.is_none_or(|&byte| byte == b'\n') { "\n" } else { "\n\n" };
    }
}

/// The report of one input, with the name of the file if files were named.
#[derive(Serialize)]
struct FileReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    output: OutputReport<'a>,
}
