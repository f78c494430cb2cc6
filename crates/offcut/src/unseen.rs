//! Stores an output that is shown to nobody.

use crate::context::Context;
use crate::cut::{Gap, GapReason, Size};
use crate::measure::{LineConvention, LineCounter};
use crate::outcome::Saved;
use crate::recorder::{CommandEnd, OutputState, Recorder};
use crate::truncator::Truncator;
use std::fmt::Display;

/// An output that is stored as it arrives and shown to nobody, even if it is within the limits. It has no preview and causes no event.
///
/// ```
/// use offcut::{Context, Profile, Saved, Storage, Truncator, store::MemoryStore};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
/// let mut output = truncator.store_unseen(&Context::default());
/// output.observe(b"short\n");
/// let Saved::Complete(entry) = output.finish() else { panic!("it is stored") };
/// assert!(entry.summary.is_some_and(|summary| summary.is_unseen()));
/// ```
#[must_use = "the entry is complete when `finish` returns"]
pub struct UnseenOutput {
    recorder: Recorder,
    lines: LineCounter,
    bytes: u64,
}

impl Truncator {
    /// Begins to store an output that is shown to nobody.
    pub fn store_unseen(&self, context: &Context) -> UnseenOutput {
        UnseenOutput {
            recorder: Recorder::open(&self.storage, &self.new_entry(context), self.cap),
            lines: LineCounter::new(LineConvention::Terminated),
            bytes: 0,
        }
    }
}

impl UnseenOutput {
    /// Adds the next chunk.
    pub fn observe(&mut self, chunk: &[u8]) {
        self.recorder.write(chunk);
        self.lines.observe(chunk);
        self.bytes += chunk.len() as u64;
    }

    /// Reports that the rest of the output cannot be read.
    pub fn fail(&mut self, error: impl Display) {
        self.recorder.give_up(error.to_string());
    }

    /// Ends the output.
    pub fn finish(mut self) -> Saved {
        self.recorder.wait_until_written(OutputState::Ended);
        let lines = self.lines.lines();
        let original = Size { bytes: self.bytes, lines, ..Size::default() };
        let gaps = [Gap::whole(original, GapReason::Unseen)];
        let (end, state) = (CommandEnd::default(), OutputState::Ended);
        self.recorder.commit(original, lines, Size::default(), &gaps, &end, state).0
    }
}
