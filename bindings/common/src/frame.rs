//! A text that somebody else cut, in the words of a document's profile, and the whole of it kept.

use crate::engine::{Engine, Told};
use crate::fault::Fault;
use crate::foreign::{Saved, Strategist};
use crate::report::Report;
use crate::tally::Tally;
use offcut::store::{Entry, EntryState, NewEntry, Reading, Store, Summary};
use offcut::{
    Context, Event, EventSink, Frames, Gap, GapReason, JsonLinesSink, LinePosition, Profile, Size, Storage,
    Unit,
};
use std::time::SystemTime;

impl Engine {
    /// The document's words around a text that a strategy of its own cut, and the whole of it kept.
    pub fn frame(
        &self,
        whole: &[u8],
        strategist: &Strategist,
        context: &Context,
    ) -> Result<Told<Vec<u8>>, Fault> {
        let Some(frames) = &self.profile.wording else {
            return Err(Fault::Invalid(format!("the profile {} has no frames", self.profile.name)));
        };
        let tally = Tally::default();
        let clock: fn() -> SystemTime = SystemTime::now;
        let sink = JsonLinesSink::new(tally.clone(), clock);
        let original = whole.len() as u64;
        let (mut id, mut saved, mut error) = (None, None, None);
        match (&strategist.saved, &self.storage) {
            (Some(Saved::Path(path)), _) => saved = Some(path.clone()),
            (Some(Saved::Error(reason)), _) => error = Some(reason.clone()),
            (None, Storage::Off) => error = Some("no store is set".to_owned()),
            (None, _) => match self.keep(whole, context) {
                Ok(entry) => {
                    let path = entry.path.as_deref();
                    sink.emit(&Event::Stored { context, id: &entry.id, path, bytes: entry.bytes });
                    id = Some(entry.id.to_string());
                    saved = Some(path.map_or_else(|| entry.uri(), |path| path.display().to_string()));
                }
                Err(fault) => error = Some(fault.to_string()),
            },
        }
        if let Some(error) = &error {
            sink.emit(&Event::Error { context, original, error });
        }
        let count = |given: Option<f64>| given.filter(|count| *count >= 0.0).map(|count| count as u64);
        let (lines, bytes) = (count(strategist.removed_lines), count(strategist.removed_bytes));
        let (removed, unit) = match (bytes.filter(|&bytes| bytes > 0), lines) {
            (Some(bytes), _) => (bytes, Unit::Bytes),
            (None, lines) => (lines.unwrap_or_default(), Unit::Lines),
        };
        let answer = framed(frames, strategist, removed, unit, (saved.as_deref(), error.as_deref()));
        sink.emit(&Event::Truncated { context, original, content: answer.len() as u64, limited_by: unit });
        let events = if self.events { tally.events() } else { Vec::new() };
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
        Ok(Told { answer: answer.into_bytes(), report })
    }

    /// Keeps a whole output, whatever its size.
    pub fn keep(&self, whole: &[u8], context: &Context) -> Result<Entry, Fault> {
        let store = match &self.storage {
            Storage::To(store) => store,
            Storage::Off => return Err(Fault::Invalid("no store is set".to_owned())),
            Storage::Unavailable(reason) => return Err(Fault::Store(reason.clone())),
        };
        keep(&**store, &self.profile, whole, context)
    }
}

/// Keeps an output of which a foreign strategy shows something.
fn keep(store: &dyn Store, profile: &Profile, whole: &[u8], context: &Context) -> Result<Entry, Fault> {
    let draft =
        NewEntry { context, profile: &profile.name, file_name: &profile.file_name, reading: Reading::Plain };
    let mut writer = store.create(&draft)?;
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
    let summary = Summary {
        original: Size { bytes, lines, chars: None, tokens: None },
        lines,
        digest: blake3::hash(whole).to_hex().to_string(),
        completeness: EntryState::Complete,
        exit_code: None,
        shown: Size::default(),
        gaps: vec![gap],
    };
    Ok(writer.commit(&summary)?)
}

/// The document's frame around a foreign text. What a value contains is never looked at again.
fn framed(
    frames: &Frames,
    strategist: &Strategist,
    removed: u64,
    unit: Unit,
    (saved, error): (Option<&str>, Option<&str>),
) -> String {
    let hint = match saved {
        Some(path) => fill(&frames.hint, &[("path", path)]),
        None => fill(&frames.hint_not_saved, &[("error", error.unwrap_or_default())]),
    };
    let frame = if strategist.tail { &frames.tail } else { &frames.head };
    let (removed, unit) = (removed.to_string(), unit.to_string());
    let values =
        [("preview", &*strategist.content), ("removed", &*removed), ("unit", &*unit), ("hint", &*hint)];
    fill(frame, &values)
}

fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let known = behind.split_once('}').and_then(|(name, after)| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value, after))
        });
        (rest, _) = match known {
            Some((value, after)) => (after, text.push_str(value)),
            None => (behind, text.push('{')),
        };
    }
    text.push_str(rest);
    text
}
