//! The beginning of an output, shown while its command still runs.
//!
//! A server that an agent starts in the background never ends, and what it says first is what the agent waits for. A
//! command that is killed for taking too long has shown something. It costs a small part of the preview, and only of
//! commands that take long.

use offcut::{Shown, Spool};
use std::io::Write;
use std::time::Duration;

/// A command that is done before this is shown at once.
const AFTER: Duration = Duration::from_secs(5);

/// The part of what may be shown that is for the beginning.
const PARTS: u64 = 8;

/// Said once when no more is shown before the end.
const GOES_ON: &str = "[offcut: still running; its output is being stored: offcut read last --lines -50:]\n";

/// Less than this is not worth taking from the preview.
const LEAST: usize = 400;

/// How much was shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Early {
    shown: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    /// This many more may be shown.
    Showing {
        bytes: usize,
        lines: u64,
    },
    Done,
}

impl Early {
    pub(super) fn after(&self) -> Duration {
        AFTER
    }

    /// Shows what is new, if it is time.
    pub(super) fn look(&mut self, spool: &mut Spool<'_>, elapsed: Duration) {
        if elapsed < AFTER {
            return;
        }
        if self.stage == Stage::Waiting {
            self.stage = start(spool);
        }
        let Stage::Showing { bytes, lines } = self.stage else { return };
        let Some(held) = spool.so_far() else {
            self.stage = Stage::Done;
            return show(GOES_ON.as_bytes());
        };
        let new = held.get(self.shown..).unwrap_or_default();
        // Whole lines, so that nothing is cut in the middle of a character.
        let mut end = 0;
        let mut left = lines;
        for line in new.split_inclusive(|&byte| byte == b'\n') {
            if !line.ends_with(b"\n") || left == 0 || end + line.len() > bytes {
                break;
            }
            end += line.len();
            left -= 1;
        }
        show(&new[..end]);
        self.shown += end;
        self.stage = Stage::Showing { bytes: bytes - end, lines: left };
    }

    /// What is left to show at the end.
    pub(super) fn rest<'a>(&self, shown: &'a Shown<'_>) -> &'a [u8] {
        match shown {
            Shown::Whole(content) => content.get(self.shown..).unwrap_or_default(),
            Shown::Cut(preview) => &preview.content,
        }
    }
}

/// Takes its part of the preview, if there is one to take.
fn start(spool: &mut Spool<'_>) -> Stage {
    // Over a limit already: the whole preview is for the end.
    let Some(part) = spool.leave(PARTS) else { return Stage::Done };
    let bytes = part.bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default();
    let others = part.chars.is_none() && part.tokens.is_none();
    match (bytes >= LEAST && others, bytes.checked_sub(GOES_ON.len())) {
        (true, Some(bytes)) => {
            Stage::Showing { bytes, lines: part.lines.unwrap_or(u64::MAX).saturating_sub(1) }
        }
        _ => Stage::Done,
    }
}

fn show(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}
