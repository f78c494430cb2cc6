//! The notice of a profile around a text that the caller's strategy cut; the whole output is stored.

use crate::engine::{Engine, Reported};
use crate::event_log::EventLog;
use crate::fault::Fault;
use crate::foreign::{Saved, StrategyResult};
use crate::report::Report;
use offcut::event::JsonLinesSink;
use offcut::limits::Unit;
use offcut::store::{Entry, EntryState, NewEntry, Store, Summary};
use offcut::{Context, Event, EventSink, Profile, Storage};
use std::time::SystemTime;

impl Engine {
    /// Puts the profile's notice around a text that the caller's strategy cut, and stores the whole output.
    pub fn frame(
        &self,
        whole: &[u8],
        cut: &StrategyResult,
        context: &Context,
    ) -> Result<Reported<Vec<u8>>, Fault> {
        let Some(frames) = self.profile.wording() else {
            return Err(Fault::Invalid(format!("the profile {} has no frames", self.profile.name())));
        };
        let log = EventLog::default();
        let clock: fn() -> SystemTime = SystemTime::now;
        let sink = JsonLinesSink::new(log.clone(), clock);
        let original = whole.len() as u64;
        let (mut kept, mut saved, mut error) = (None, None, None);
        match (&cut.saved, &self.storage) {
            (Some(Saved::Path(path)), _) => saved = Some(path.clone()),
            (Some(Saved::Error(reason)), _) => error = Some(reason.clone()),
            (None, Storage::Off) => error = Some("no store is set".to_owned()),
            (None, _) => match self.keep(whole, context) {
                Ok(entry) => {
                    saved = Some(entry.location());
                    kept = Some(entry);
                }
                Err(fault) => error = Some(fault.to_string()),
            },
        }
        let count = |given: Option<f64>| given.filter(|count| *count >= 0.0).map(|count| count as u64);
        let (lines, bytes) = (count(cut.removed_lines), count(cut.removed_bytes));
        let (removed, unit) = match (bytes.filter(|&bytes| bytes > 0), lines) {
            (Some(bytes), _) => (bytes, Unit::Bytes),
            (None, lines) => (lines.unwrap_or_default(), Unit::Lines),
        };
        let location = saved.as_deref().ok_or(error.as_deref().unwrap_or_default());
        let answer = frames.around(&cut.content, cut.tail, removed, unit, location);
        let content = answer.len() as u64;
        sink.emit(&match &error {
            Some(error) => Event::Error { context, original, content, error },
            None => Event::Truncated { context, original, content, limited_by: unit, entry: kept.as_ref() },
        });
        let events = if self.events { log.events() } else { Vec::new() };
        let report = Report {
            truncated: true,
            id: kept.map(|entry| entry.id.to_string()),
            saved,
            error,
            removed_lines: lines,
            removed_bytes: bytes,
            events,
            ..Report::default()
        };
        Ok(Reported { answer: answer.into_bytes(), report })
    }

    /// Stores a whole output of any size.
    pub fn keep(&self, whole: &[u8], context: &Context) -> Result<Entry, Fault> {
        let store = match &self.storage {
            Storage::To(store) => store,
            Storage::Off => return Err(Fault::Invalid("no store is set".to_owned())),
            Storage::Unavailable(reason) => return Err(Fault::Store(reason.clone())),
        };
        keep(&**store, &self.profile, whole, context)
    }
}

/// Stores an output of which the caller's strategy shows something.
fn keep(store: &dyn Store, profile: &Profile, whole: &[u8], context: &Context) -> Result<Entry, Fault> {
    let new = NewEntry {
        retention: Some(profile.retention()),
        file_name: profile.file_name(),
        ..NewEntry::new(context, profile.name())
    };
    let mut writer = store.create(&new)?;
    writer.write(whole)?;
    Ok(writer.commit(EntryState::Complete, &Summary::of_whole(whole))?)
}
