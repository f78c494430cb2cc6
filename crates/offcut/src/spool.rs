//! Bounds an output that arrives in chunks.

use crate::context::Context;
use crate::live::{DELAY, Live};
use crate::measure::{self, LineCounter};
use crate::outcome::Outcome;
use crate::profile::Settings;
use crate::recorder::{CommandEnd, OutputState};
use crate::stages::Recording;
use crate::store::Reading;
use crate::truncator::{Truncator, TruncatorRef};
use std::borrow::Cow;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

/// Bounds an output that arrives in chunks of any size. Memory use is at most a few times the budget.
///
/// Until a limit is exceeded, or until [`tick`](Spool::tick) says that the command takes long, the output is held in memory;
/// then every byte is written to the store as it arrives.
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
///
/// A spool borrows its truncator. One that has to outlive the function, or move to another thread or task, shares it
/// ([`Truncator::into_spool`](crate::Truncator::into_spool)).
#[must_use = "the preview is what `finish` returns"]
pub struct Spool<'a> {
    truncator: TruncatorRef<'a>,
    settings: Settings,
    context: Context,
    stage: Stage<'a>,
    /// Why the rest of the output is not known.
    error: Option<String>,
}

enum Stage<'a> {
    /// Everything so far is within the limits for a command that succeeds.
    Within { held: Vec<u8>, lines: LineCounter, chars: u64 },
    /// A limit was exceeded, or the command takes long.
    Over(Box<Recording<'a>>),
}

impl<'a> Spool<'a> {
    pub(crate) fn new(truncator: TruncatorRef<'a>, settings: Settings, context: Context) -> Spool<'a> {
        let lines = LineCounter::new(settings.conventions.lines);
        let stage = Stage::Within { held: Vec::new(), lines, chars: 0 };
        Spool { truncator, settings, context, stage, error: None }
    }

    /// Adds the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        match &mut self.stage {
            Stage::Over(recording) => recording.observe(chunk),
            Stage::Within { held, lines, chars } => {
                let Settings { enabled, limits, conventions, .. } = &self.settings;
                let bytes = held.len() as u64 + chunk.len() as u64;
                let mut over = bytes > limits.ceiling();
                // Tokens are counted at the end; until then, the ceiling bounds the memory.
                if !over && let Some(most) = limits.lines {
                    lines.observe(chunk);
                    over = lines.lines() > most;
                }
                if !over && let Some(most) = limits.chars {
                    *chars += measure::char_starts(chunk, conventions.chars);
                    over = *chars > most;
                }
                if over && *enabled {
                    let mut recording = record(&self.truncator, self.settings, &self.context, held);
                    recording.observe(chunk);
                    self.stage = Stage::Over(Box::new(recording));
                } else {
                    held.extend_from_slice(chunk);
                }
            }
        }
    }

    /// What a caller that shows the output while its command runs prints now, `elapsed` after the start of the command.
    ///
    /// Called every [`live::TICK`](crate::live::TICK). After [`live::DELAY`](crate::live::DELAY) the output is stored as it comes, even if it is within the
    /// limits so far. What [`finish`](Spool::finish) returns then continues after what was printed, and all of it
    /// together is within the limits. Only the native profile prints before the end.
    ///
    /// ```
    /// use offcut::{Context, Profile, Truncator};
    /// use std::time::Duration;
    ///
    /// let truncator = Truncator::new(Profile::native());
    /// let mut spool = truncator.spool(Context::tool("bash"));
    /// spool.observe(b"starting\n");
    /// assert_eq!(spool.tick(Duration::from_millis(250)), b"");
    /// assert_eq!(spool.tick(Duration::from_secs(1)), b"starting\n");
    /// spool.observe(b"done\n");
    /// assert_eq!(spool.finish().text(), "done\n");
    /// ```
    pub fn tick(&mut self, elapsed: Duration) -> Vec<u8> {
        let Truncator { profile, strategy, .. } = &*self.truncator;
        let is_live = self.settings.enabled && profile.wording.is_none() && strategy.is_none();
        if elapsed < DELAY || !is_live || !Live::is_possible(&self.settings.for_any_outcome()) {
            return Vec::new();
        }
        if let Stage::Within { held, .. } = &self.stage
            && !held.is_empty()
        {
            let recording = record(&self.truncator, self.settings, &self.context, held);
            self.stage = Stage::Over(Box::new(recording));
        }
        match &mut self.stage {
            Stage::Over(recording) => recording.tick(elapsed),
            Stage::Within { .. } => Vec::new(),
        }
    }

    /// Reports that the rest of the output cannot be read: a preview then names the error and does not say that everything is
    /// stored. What was read passes unchanged if it is within the limits, without a notice: the caller reports the error.
    pub fn fail(&mut self, error: impl Display) {
        self.error = Some(error.to_string());
    }

    /// Ends the output of a tool that is not a command.
    pub fn finish(self) -> Outcome<'static> {
        self.finish_with(CommandEnd::default())
    }

    /// Shows the output so far, for an output that may still grow after its command has ended.
    ///
    /// All of it is stored, even if it fits, and the preview says that more may come. The file, if there is one, belongs
    /// to the entry: the process that reads the rest writes it there and finalizes the entry at the end
    /// ([`FsStore::finalize`](crate::store::FsStore::finalize)). The entry is being written until the file is closed.
    pub fn pause(self, ending: CommandEnd) -> (Outcome<'static>, Option<File>) {
        self.into_recording().close(&ending, OutputState::StillRunning)
    }

    /// Ends the output of a command.
    pub fn finish_with(self, ending: CommandEnd) -> Outcome<'static> {
        let settings = self.settings.for_outcome(&ending);
        match self.stage {
            Stage::Within { held, .. } if self.truncator.passes(&held, &settings) => {
                self.truncator.report_passed(&self.context, &settings, held.len() as u64);
                Outcome::Passed(Cow::Owned(held))
            }
            stage => Spool { stage, ..self }.into_recording().finish(&ending),
        }
    }

    fn into_recording(self) -> Recording<'a> {
        let mut recording = match self.stage {
            Stage::Over(recording) => *recording,
            Stage::Within { held, .. } => record(&self.truncator, self.settings, &self.context, &held),
        };
        if let Some(error) = &self.error {
            recording.fail(error);
        }
        recording
    }
}

/// Begins to store an output, of which this is known so far.
fn record<'a>(
    truncator: &TruncatorRef<'a>,
    settings: Settings,
    context: &Context,
    held: &[u8],
) -> Recording<'a> {
    let mut recording = Recording::start(truncator.clone(), settings, context, Reading::Plain);
    recording.observe(held);
    recording
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
