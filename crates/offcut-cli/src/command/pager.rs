//! Long text for people: in a pager on a terminal, as it is elsewhere.

use crate::failure::{CommandResult, Failure};
use crate::process;
use crate::stream::Stdout;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Command, Stdio};

/// The pager if $PAGER is not set.
const PAGER: &str = "less -R";

/// The exit code of a shell that does not find the program.
const NOT_FOUND: i32 = 127;

/// Prints what `write` writes.
pub(super) fn print(write: impl Fn(&mut dyn Write) -> CommandResult) -> CommandResult {
    if io::stdout().is_terminal()
        && let Some(result) = in_pager(&write)
    {
        return result;
    }
    let mut stdout = BufWriter::new(Stdout);
    write(&mut stdout)?;
    Ok(stdout.flush()?)
}

/// Returns nothing if there is no pager.
fn in_pager(write: impl Fn(&mut dyn Write) -> CommandResult) -> Option<CommandResult> {
    let pager = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", pager.as_deref().unwrap_or(PAGER)]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Print a short text and end; keep colours; leave the text on the screen.
        command.env("LESS", "FRX");
    }
    let mut child = command.spawn().ok()?;
    // An interrupt is meant for the pager, which continues.
    process::catch_interrupt();
    let result = child.stdin.take().map_or(Ok(()), |stdin| {
        let mut pipe = BufWriter::new(stdin);
        write(&mut pipe).and_then(|()| Ok(pipe.flush()?))
    });
    let status = child.wait().ok()?;
    match (status.code(), result) {
        (Some(NOT_FOUND), _) => None,
        // The reader has seen enough.
        (_, Err(Failure::Closed)) => Some(Ok(())),
        (_, result) => Some(result),
    }
}
