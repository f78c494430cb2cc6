//! What is known of a preview, as plain data.

use offcut::{Gap, Kept, Limits, Preview, Settings, Size};
use serde::Serialize;
use serde_json::Value;

/// Everything about an output that was cut, but its text.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub(crate) truncated: bool,
    /// The entry's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// Where the whole of it is: a file, or the name under which any client can ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) saved: Option<String>,
    /// Why it is not there whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<SizeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<SizeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<SizeReport>,
    /// What the documents say is missing: the one or the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) removed_lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) removed_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limited_by: Option<String>,
    pub(crate) gaps: Vec<GapReport>,
    pub(crate) events: Vec<Value>,
    /// Texts that a strategy of the caller's own has to cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) wanted: Vec<WantedReport>,
}

/// Sizes in the units that were counted.
#[derive(Debug, Serialize)]
pub(crate) struct SizeReport {
    bytes: u64,
    lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    chars: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct GapReport {
    start: u64,
    end: u64,
    first_line: u64,
    last_line: u64,
    why: &'static str,
}

/// A text for a foreign strategy, and the room there is.
#[derive(Debug, Serialize)]
pub(crate) struct WantedReport {
    pub(crate) text: String,
    pub(crate) limits: LimitsReport,
}

#[derive(Debug, Serialize)]
pub(crate) struct LimitsReport {
    lines: Option<u64>,
    bytes: Option<u64>,
    chars: Option<u64>,
    tokens: Option<u64>,
}

impl From<Limits> for LimitsReport {
    fn from(Limits { lines, bytes, chars, tokens }: Limits) -> LimitsReport {
        LimitsReport { lines, bytes, chars, tokens }
    }
}

impl From<Size> for SizeReport {
    fn from(Size { bytes, lines, chars, tokens }: Size) -> SizeReport {
        SizeReport { bytes, lines, chars, tokens }
    }
}

impl From<&Gap> for GapReport {
    fn from(gap: &Gap) -> GapReport {
        GapReport {
            start: gap.start,
            end: gap.end,
            first_line: gap.first_line,
            last_line: gap.last_line,
            why: gap.why.as_str(),
        }
    }
}

impl Report {
    /// What is known of a preview that these settings made.
    pub(crate) fn of(preview: &Preview, settings: &Settings) -> Report {
        let (id, saved, error) = match &preview.kept {
            Kept::Whole(entry) | Kept::Open(entry) => {
                let place =
                    entry.path.as_ref().map_or_else(|| entry.uri(), |path| path.display().to_string());
                (Some(entry.id.to_string()), Some(place), None)
            }
            Kept::NotWhole { error, part } => {
                (part.map(|part| part.id.to_string()), None, Some(error.clone()))
            }
            Kept::Off => (None, None, None),
        };
        let removed = preview.removed();
        let too_many_bytes = settings.limits.bytes.is_some_and(|most| preview.original.bytes > most);
        Report {
            truncated: true,
            id,
            saved,
            error,
            original: Some(preview.original.into()),
            shown: Some(preview.shown.into()),
            removed: Some(removed.into()),
            removed_lines: (!too_many_bytes).then_some(removed.lines),
            removed_bytes: too_many_bytes.then_some(removed.bytes),
            limited_by: Some(preview.limited_by.to_string()),
            gaps: preview.gaps.iter().map(GapReport::from).collect(),
            ..Report::default()
        }
    }

    /// What is known of a text that somebody else cut.
    pub(crate) fn framed(id: Option<String>, saved: Option<String>, error: Option<String>) -> Report {
        Report { truncated: true, id, saved, error, ..Report::default() }
    }

    /// Whether there is something to tell of an output that passed whole.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// As JSON.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned())
    }
}

/// The report of an output that passed whole.
pub fn report_whole(events: Vec<Value>) -> Report {
    Report { events, ..Report::default() }
}
