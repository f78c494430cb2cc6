//! The notice of a profile around a text that the caller's strategy cut; the whole output is stored.

use crate::engine::{Engine, Reported};
use crate::event_log::EventLog;
use crate::fault::Fault;
use crate::foreign::{Saved, StrategyResult};
use crate::report::Report;
use offcut::cut::{Gap, GapReason, LinePosition};
use offcut::event::JsonLinesSink;
use offcut::limits::Unit;
use offcut::store::{Digester, Entry, EntryState, NewEntry, Store, Summary};
use offcut::{Context, Event, EventSink, Profile, Size, Storage};
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
        let (mut id, mut saved, mut error) = (None, None, None);
        match (&cut.saved, &self.storage) {
            (Some(Saved::Path(path)), _) => saved = Some(path.clone()),
            (Some(Saved::Error(reason)), _) => error = Some(reason.clone()),
            (None, Storage::Off) => error = Some("no store is set".to_owned()),
            (None, _) => match self.keep(whole, context) {
                Ok(entry) => {
                    let path = entry.path.as_deref();
                    sink.emit(&Event::Stored { context, id: &entry.id, path, bytes: entry.bytes });
                    id = Some(entry.id.to_string());
                    saved = Some(entry.location());
                }
                Err(fault) => error = Some(fault.to_string()),
            },
        }
        if let Some(error) = &error {
            sink.emit(&Event::Error { context, original, error });
        }
        let count = |given: Option<f64>| given.filter(|count| *count >= 0.0).map(|count| count as u64);
        let (lines, bytes) = (count(cut.removed_lines), count(cut.removed_bytes));
        let (removed, unit) = match (bytes.filter(|&bytes| bytes > 0), lines) {
            (Some(bytes), _) => (bytes, Unit::Bytes),
            (None, lines) => (lines.unwrap_or_default(), Unit::Lines),
        };
        let location = saved.as_deref().ok_or(error.as_deref().unwrap_or_default());
        let answer = frames.around(&cut.content, cut.tail, removed, unit, location);
        sink.emit(&Event::Truncated { context, original, content: answer.len() as u64, limited_by: unit });
        let events = if self.events { log.events() } else { Vec::new() };
        let report = Report {
            truncated: true,
            id,
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
    let bytes = whole.len() as u64;
    let lines = offcut::measure::lines(whole, offcut::measure::LineConvention::Terminated);
    let gap = Gap {
        start: 0,
        end: bytes,
        first_line: 1,
        last_line: lines,
        from: LinePosition::Start,
        why: GapReason::Opaque,
    };
    let mut digester = Digester::new();
    digester.update(whole);
    let (digest, block_digests) = digester.finish();
    let original = Size { bytes, lines, chars: None, tokens: None };
    let summary = Summary { original, lines, digest, block_digests, gaps: vec![gap], ..Summary::default() };
    Ok(writer.commit(EntryState::Complete, &summary)?)
}
