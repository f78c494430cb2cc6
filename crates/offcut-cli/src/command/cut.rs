//! `offcut cut`: bounds standard input.

use crate::arguments::{Cut, Everywhere, Format};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::format::CutResult;
use crate::housekeeping;
use std::io::Read;

/// Large reads keep the cost of a gigabyte in the scan, not in the system calls.
const BLOCK: usize = 256 << 10;

pub(crate) fn cut(everywhere: &Everywhere, cut: &Cut) -> Outcome {
    let setup = Setup::new(everywhere)?;
    let truncator = setup.truncator(cut)?;
    let mut spool = truncator.spool(cut.context());
    let read = drain(|chunk| spool.observe(chunk));
    let shown = spool.finish();
    match everywhere.format {
        Format::Text => super::print(shown.content())?,
        Format::Json => super::print_json(&CutResult::new(&shown))?,
    }
    if shown.preview().is_some()
        && let Some(directory) = setup.directory()
    {
        housekeeping::start_if_due(directory);
    }
    // What came before the failure was shown and kept; that the input ended early is still worth an error.
    read.map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("could not read all of standard input"))
    })
}

fn drain(mut take: impl FnMut(&[u8])) -> std::io::Result<()> {
    let mut stdin = std::io::stdin().lock();
    let mut block = vec![0; BLOCK];
    loop {
        match stdin.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => take(&block[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
