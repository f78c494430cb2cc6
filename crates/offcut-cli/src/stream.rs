//! Reads standard input and the output of commands in large blocks, and writes standard output.

use crate::process::{StatusLine, enlarge_pipe};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdout;
use std::io::{self, ErrorKind, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::Instant;

/// The size of one read: the capacity of an enlarged pipe.
pub(crate) const BLOCK: usize = 1 << 20;

/// Standard output, unbuffered. The one of the standard library reports success when it is closed.
///
/// If it does not block, because the caller's other processes share it that way, writing waits until it accepts more.
pub(crate) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(stdout(), bytes) {
                Err(Errno::AGAIN) => match poll(&mut [PollFd::new(&stdout(), PollFlags::OUT)], None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                },
                result => return Ok(result?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads once, and retries if interrupted by a signal. Returns 0 at the end.
pub(crate) fn read_block(reader: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(block) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads to the end, or until `take` stops it, and shows the progress in the status line.
pub(crate) fn read_all(
    mut reader: impl Read + AsFd,
    status: &mut StatusLine,
    mut take: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    enlarge_pipe(&reader);
    let mut block = vec![0; BLOCK];
    loop {
        wait_for_input(&reader, status);
        match read_block(&mut reader, &mut block)? {
            0 => return Ok(()),
            count => {
                status.observe(&block[..count]);
                if take(&block[..count]).is_break() {
                    return Ok(());
                }
            }
        }
    }
}

/// Draws the status line whenever it is due, until there is something to read. Returns at once without a status line.
fn wait_for_input(reader: &impl AsFd, status: &mut StatusLine) {
    while let Some(next) = status.next_draw() {
        let now = Instant::now();
        status.draw(now);
        let timeout = Timespec::try_from(next.saturating_duration_since(now)).ok();
        match poll(&mut [PollFd::new(reader, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            // Reading reports the error.
            Ok(_) | Err(_) => return,
        }
    }
}
