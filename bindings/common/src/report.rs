//! The report on a preview: the library's, and what the packages add to it.

use offcut::profile::Settings;
use offcut::report::CutReport;
use offcut::{Limits, Preview, Saved};
use serde::Serialize;
use serde_json::Value;

/// Everything about an output that was cut, except its text.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub(crate) truncated: bool,
    /// The entry's id.
    pub(crate) id: Option<String>,
    /// Where the whole output is: a file, or the URI of the entry.
    pub(crate) saved: Option<String>,
    /// Why the whole output is not stored.
    pub(crate) error: Option<String>,
    #[serde(flatten)]
    pub(crate) cut: CutReport,
    /// How much is not shown, in the unit that the source documents of the profiles use.
    pub(crate) removed_lines: Option<u64>,
    pub(crate) removed_bytes: Option<u64>,
    pub(crate) events: Vec<Value>,
    /// Texts that the caller's strategy has to cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) wanted: Vec<StrategyRequest>,
}

/// A text for the caller's strategy, and the budget for it.
#[derive(Debug, Serialize)]
pub(crate) struct StrategyRequest {
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

impl Report {
    /// The report on a preview that was made with these settings.
    pub(crate) fn new(preview: &Preview, settings: &Settings) -> Report {
        let (id, saved, error) = match preview.saved() {
            Saved::Complete(entry) | Saved::Running(entry) => {
                (Some(entry.id.to_string()), Some(entry.location()), None)
            }
            Saved::Failed { error, part } => {
                (part.map(|part| part.id.to_string()), None, Some(error.clone()))
            }
            Saved::Disabled => (None, None, None),
        };
        let removed = preview.removed();
        let is_over_bytes = settings.limits.bytes.is_some_and(|most| preview.original().bytes > most);
        Report {
            truncated: true,
            id,
            saved,
            error,
            cut: CutReport { limited_by: Some(preview.limited_by()), ..CutReport::new(preview) },
            removed_lines: (!is_over_bytes).then_some(removed.lines),
            removed_bytes: is_over_bytes.then_some(removed.bytes),
            ..Report::default()
        }
    }

    /// The report on an output that is shown whole.
    pub(crate) fn whole(events: Vec<Value>) -> Report {
        Report { events, ..Report::default() }
    }

    /// Whether there is something to report about an output that is shown whole.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        without_nulls(self).to_string()
    }
}

/// A report as JSON without the fields that are `null`: in JavaScript, a field that is not known is `undefined`.
pub(crate) fn without_nulls(report: &impl Serialize) -> Value {
    fn remove_nulls(value: &mut Value) {
        if let Value::Object(fields) = value {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
    }
    let mut value = serde_json::to_value(report).unwrap_or_default();
    remove_nulls(&mut value);
    value
}
