//! Bounds an output while it streams by.

use crate::context::Context;
use crate::limits::Limits;
use crate::measure::{self, LineCounter};
use crate::profile::Settings;
use crate::recorder::{Ending, Flow};
use crate::shown::Shown;
use crate::truncator::{Overflow, Truncator};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};

/// Takes an output in chunks of any size and bounds it. Memory stays within a few times the budget.
///
/// Until the first limit is crossed the output is only held; from then on every byte goes to the store as it comes.
///
/// ```
/// use offcut::{Context, Profile, Truncator};
/// let truncator = Truncator::new(Profile::native());
/// let mut spool = truncator.spool(Context::tool("bash"));
/// for number in 0..100_000 {
///     spool.observe(format!("{number}\n").as_bytes());
/// }
/// let shown = spool.finish();
/// assert!(shown.content().len() <= 9500);
/// ```
pub struct Spool<'a> {
    truncator: &'a Truncator,
    settings: Settings,
    context: Context,
    stage: Stage<'a>,
}

enum Stage<'a> {
    /// Everything so far is within the limits.
    Within { held: Vec<u8>, lines: LineCounter, chars: u64 },
    /// A limit was crossed.
    Over(Box<Overflow<'a>>),
}

impl<'a> Spool<'a> {
    pub(crate) fn new(truncator: &'a Truncator, settings: Settings, context: Context) -> Spool<'a> {
        let lines = LineCounter::new(settings.conventions.lines);
        Spool { truncator, settings, context, stage: Stage::Within { held: Vec::new(), lines, chars: 0 } }
    }

    /// Takes in the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        match &mut self.stage {
            Stage::Over(overflow) => overflow.observe(chunk),
            Stage::Within { held, lines, chars } => {
                let Settings { enabled, limits, conventions, .. } = &self.settings;
                let bytes = held.len() as u64 + chunk.len() as u64;
                let mut over = bytes > limits.ceiling();
                // Tokens are counted at the end: the ceiling bounds what is held until then.
                if !over && let Some(most) = limits.lines {
                    lines.observe(chunk);
                    over = lines.lines() > most;
                }
                if !over && let Some(most) = limits.chars {
                    *chars += measure::chars(chunk, conventions.chars);
                    over = *chars > most;
                }
                if over && *enabled {
                    let mut overflow = Overflow::open(self.truncator, self.settings, &self.context);
                    overflow.observe(held);
                    overflow.observe(chunk);
                    self.stage = Stage::Over(Box::new(overflow));
                } else {
                    held.extend_from_slice(chunk);
                }
            }
        }
    }

    /// What has come so far, for a caller who shows some of it before the end; nothing once a limit was crossed.
    pub fn so_far(&self) -> Option<&[u8]> {
        match &self.stage {
            Stage::Within { held, .. } => Some(held),
            Stage::Over(_) => None,
        }
    }

    /// Leaves one part in `parts` of what may be shown to the caller, who shows something before the end, and says how
    /// much that is. Nothing once a limit was crossed.
    pub fn leave(&mut self, parts: u64) -> Option<Limits> {
        self.so_far()?;
        let keep = self.settings.keep;
        self.settings.keep = keep.map(|limit| limit.map(|most| most - most / parts.max(1)));
        Some(keep.map(|limit| limit.map(|most| most / parts.max(1))))
    }

    /// The end of an output that is not a command's.
    pub fn finish(self) -> Shown<'static> {
        self.finish_with(Ending::default())
    }

    /// Shows what has come so far of an output that goes on although its command has ended.
    ///
    /// All of it is kept, also if it fits, and what is shown says that more is coming. The file, if there is one, is
    /// the entry's: whoever reads the rest writes it there and settles the entry at the end
    /// ([`FsStore::settle`](crate::store::FsStore::settle)). Until the file is closed the entry is being written.
    pub fn pause(self, ending: Ending) -> (Shown<'static>, Option<File>) {
        let Spool { truncator, settings, context, stage } = self;
        match stage {
            Stage::Over(overflow) => overflow.close(&ending, Flow::GoesOn),
            Stage::Within { held, .. } => {
                let mut overflow = Overflow::open(truncator, settings, &context);
                overflow.observe(&held);
                overflow.close(&ending, Flow::GoesOn)
            }
        }
    }

    /// The end of the output, and how the command ended.
    pub fn finish_with(self, ending: Ending) -> Shown<'static> {
        let Spool { truncator, settings, context, stage } = self;
        match stage {
            Stage::Over(overflow) => overflow.finish(ending),
            Stage::Within { held, .. } => {
                if !settings.enabled || truncator.fits(&held, &settings) {
                    truncator.passed(&context, held.len() as u64);
                    return Shown::Whole(Cow::Owned(held));
                }
                let mut overflow = Overflow::open(truncator, settings, &context);
                overflow.observe(&held);
                overflow.finish(ending)
            }
        }
    }
}

impl Write for Spool<'_> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.observe(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
