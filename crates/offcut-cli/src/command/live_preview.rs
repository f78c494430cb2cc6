//! Prints the beginning of an output while the command is still running.
//!
//! A server that an agent starts in the background never ends, and the agent waits for its first lines. A command that
//! the agent kills for taking too long has printed something. The beginning takes a small share of the preview's budget,
//! and only for commands that run for longer than the delay.

use crate::stream::Stdout;
use offcut::notice::{Message, Notice, Running, Tag};
use offcut::{Outcome, Spool};
use std::io::Write;
use std::time::Duration;

/// Shorter commands are printed at once when they end.
const DELAY: Duration = Duration::from_secs(5);

/// The beginning gets one eighth of the budget.
const SHARE: u64 = 8;

/// How to read what is printed after the share is used up.
const READ_ON: &str = "offcut read last --lines -50:";

/// A smaller share is not worth taking from the preview.
const MIN_BYTES: usize = 400;

/// How much of the output has been printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LivePreview {
    printed: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    /// The remaining share.
    Printing {
        bytes: usize,
        lines: u64,
    },
    Done,
}

impl LivePreview {
    pub(super) fn delay(&self) -> Duration {
        DELAY
    }

    /// Prints new lines, if the delay has passed.
    pub(super) fn update(&mut self, spool: &mut Spool<'_>, elapsed: Duration) {
        if elapsed < DELAY {
            return;
        }
        if self.stage == Stage::Waiting {
            self.stage = start(spool);
        }
        let Stage::Printing { bytes, lines } = self.stage else { return };
        let Some(held) = spool.so_far() else {
            self.stage = Stage::Done;
            return print(still_running().as_bytes());
        };
        let new = held.get(self.printed..).unwrap_or_default();
        // Whole lines, so that no character is split.
        let mut end = 0;
        let mut left = lines;
        for line in new.split_inclusive(|&byte| byte == b'\n') {
            if !line.ends_with(b"\n") || left == 0 || end + line.len() > bytes {
                break;
            }
            end += line.len();
            left -= 1;
        }
        print(&new[..end]);
        self.printed += end;
        self.stage = Stage::Printing { bytes: bytes - end, lines: left };
    }

    /// Returns what to print at the end.
    pub(super) fn remaining<'a>(&self, shown: &'a Outcome<'_>) -> &'a [u8] {
        match shown {
            Outcome::Passed(content) => content.get(self.printed..).unwrap_or_default(),
            Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
                preview.content()
            }
        }
    }
}

/// Reserves the share of the budget, if there is enough.
fn start(spool: &mut Spool<'_>) -> Stage {
    // The output already exceeds a limit: the preview at the end gets the whole budget.
    let Some(part) = spool.reserve_share(SHARE) else { return Stage::Done };
    let bytes = part.bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
    let others = part.chars.is_none() && part.tokens.is_none();
    match (bytes >= MIN_BYTES && others, bytes.checked_sub(still_running().len())) {
        (true, Some(bytes)) => {
            Stage::Printing { bytes, lines: part.lines.unwrap_or(u64::MAX).saturating_sub(1) }
        }
        _ => Stage::Done,
    }
}

/// Printed once, when the share is used up.
fn still_running() -> String {
    let (running, more) = (Some(Running::Stored), Some(READ_ON.to_owned()));
    let message = Message::Footer { status: None, running, more };
    format!("{}\n", Notice { tag: Tag::Plain, message })
}

fn print(bytes: &[u8]) {
    let _ = Stdout.write_all(bytes);
}
