//! `offcut cut`: bounds standard input.

use crate::arguments::{Cut, Everywhere, Format};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::housekeeping;
use crate::process;
use crate::stream;
use offcut::report::OutputReport;

pub(crate) fn cut(everywhere: &Everywhere, cut: &Cut) -> Outcome {
    process::survive_large_files();
    let setup = Setup::new(everywhere)?;
    let truncator = setup.truncator(cut)?;
    let mut spool = truncator.spool(cut.context());
    let read = stream::read_all(std::io::stdin().lock(), |chunk| spool.observe(chunk));
    let shown = spool.finish();
    match everywhere.format {
        Format::Text => super::print(shown.content())?,
        Format::Json => super::print_json(&OutputReport::new(&shown))?,
    }
    super::tell_what_was_not_kept(&shown);
    super::tell_what_is_only_local(&shown);
    if shown.preview().is_some() {
        housekeeping::start_if_due(&setup);
    }
    // What came before the failure was shown and kept; that the input ended early is still worth an error.
    read.map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot read all of standard input"))
    })
}
