//! Bounds an output that arrives in chunks.

use crate::context::Context;
use crate::limits::Limits;
use crate::measure::{self, LineCounter};
use crate::outcome::Outcome;
use crate::profile::Settings;
use crate::recorder::{CommandEnd, OutputState};
use crate::stages::Recording;
use crate::store::Reading;
use crate::truncator::Truncator;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};

/// Takes an output in chunks of any size and bounds it. Memory stays within a few times the budget.
///
/// Until a limit is crossed the output is held in memory; from then on every byte goes to the store as it comes.
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
    Over(Box<Recording<'a>>),
}

impl<'a> Spool<'a> {
    pub(crate) fn new(truncator: &'a Truncator, settings: Settings, context: Context) -> Spool<'a> {
        let lines = LineCounter::new(settings.conventions.lines);
        Spool { truncator, settings, context, stage: Stage::Within { held: Vec::new(), lines, chars: 0 } }
    }

    /// Takes the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        match &mut self.stage {
            Stage::Over(recording) => recording.observe(chunk),
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
                    let mut recording =
                        Recording::start(self.truncator, self.settings, &self.context, Reading::Plain);
                    recording.observe(held);
                    recording.observe(chunk);
                    self.stage = Stage::Over(Box::new(recording));
                } else {
                    held.extend_from_slice(chunk);
                }
            }
        }
    }

    /// What has come so far, for a caller that shows some of it before the end; `None` once a limit was crossed.
    pub fn so_far(&self) -> Option<&[u8]> {
        match &self.stage {
            Stage::Within { held, .. } => Some(held),
            Stage::Over(_) => None,
        }
    }

    /// Reserves one part in `parts` of the budget for what the caller shows before the end, and returns that part.
    /// `None` once a limit was crossed.
    pub fn reserve_share(&mut self, parts: u64) -> Option<Limits> {
        self.so_far()?;
        let keep = self.settings.keep;
        self.settings.keep = keep.map(|limit| limit.map(|most| most - most / parts.max(1)));
        Some(keep.map(|limit| limit.map(|most| most / parts.max(1))))
    }

    /// Ends the output of a tool that is not a command.
    pub fn finish(self) -> Outcome<'static> {
        self.finish_with(CommandEnd::default())
    }

    /// Shows what has come so far of an output that may still grow although its command has ended.
    ///
    /// All of it is stored, even if it fits, and the preview says that more may come. The file, if there is one, belongs
    /// to the entry: the process that reads the rest writes it there and settles the entry at the end
    /// ([`FsStore::settle`](crate::store::FsStore::settle)). The entry is being written until the file is closed.
    pub fn pause(self, ending: CommandEnd) -> (Outcome<'static>, Option<File>) {
        self.into_recording().close(&ending, OutputState::StillRunning)
    }

    /// Ends the output of a command.
    pub fn finish_with(self, ending: CommandEnd) -> Outcome<'static> {
        match self.stage {
            Stage::Within { held, .. } if self.truncator.passes(&held, &self.settings) => {
                self.truncator.report_passed(&self.context, held.len() as u64);
                Outcome::Passed(Cow::Owned(held))
            }
            stage => Spool { stage, ..self }.into_recording().finish(&ending),
        }
    }

    fn into_recording(self) -> Recording<'a> {
        match self.stage {
            Stage::Over(recording) => *recording,
            Stage::Within { held, .. } => {
                let mut recording =
                    Recording::start(self.truncator, self.settings, &self.context, Reading::Plain);
                recording.observe(&held);
                recording
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
