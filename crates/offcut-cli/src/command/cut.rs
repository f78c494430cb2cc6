//! `offcut cut`: shortens standard input.

use crate::arguments::{Cut, Format, GlobalOptions};
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::housekeeping;
use crate::process;
use crate::stream;

pub(crate) fn cut(global: &GlobalOptions, cut: &Cut) -> CommandResult {
    process::catch_file_size_signal();
    let setup = Setup::new(global)?;
    let truncator = setup.truncator(cut)?;
    let mut spool = truncator.spool(cut.context());
    let read = stream::read_all(std::io::stdin().lock(), |chunk| spool.observe(chunk));
    let shown = spool.finish();
    match global.format {
        Format::Text => super::print(shown.content())?,
        Format::Json => super::print_json(&shown.report())?,
    }
    super::warn_about_store(truncator.profile(), &shown);
    if shown.preview().is_some() {
        housekeeping::start_if_due(&setup);
    }
    // The input before the error was printed and stored; the exit code still reports the error.
    read.map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot read all of standard input"))
    })
}
