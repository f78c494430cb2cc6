//! One file a command.

mod cut;
mod list;
mod profiles;
mod read;

pub(crate) use cut::cut;
pub(crate) use list::{ls, rm};
pub(crate) use profiles::profiles;
pub(crate) use read::{cat, read};

use crate::failure::Outcome;
use serde::Serialize;
use std::io::Write;

/// One JSON value on a line of its own.
fn print_json(value: &impl Serialize) -> Outcome {
    let mut line = serde_json::to_vec(value).map_err(std::io::Error::from)?;
    line.push(b'\n');
    print(&line)
}

/// Bytes on standard output, as they are.
fn print(bytes: &[u8]) -> Outcome {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}
