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
    /// Texts for the caller's strategy.
    pub(crate) wanted: Option<Vec<StrategyRequest>>,
}

/// A text for the caller's strategy, and what applies to it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StrategyRequest {
    text: String,
    #[serde(flatten)]
    basis: Basis,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Basis {
    /// The room for what is shown.
    Limits { lines: Option<u64>, bytes: Option<u64>, chars: Option<u64>, tokens: Option<u64> },
    /// The settings, by the names of the coding agent's document (seed 000 §3.1).
    #[serde(rename_all = "camelCase")]
    Config { max_lines: Option<u64>, max_bytes: Option<u64>, direction: &'static str, enabled: bool },
}

impl StrategyRequest {
    pub(crate) fn within(text: &[u8], Limits { lines, bytes, chars, tokens }: Limits) -> StrategyRequest {
        StrategyRequest::new(text, Basis::Limits { lines, bytes, chars, tokens })
    }

    pub(crate) fn by_settings(text: &[u8], settings: &Settings) -> StrategyRequest {
        let Limits { lines: max_lines, bytes: max_bytes, .. } = settings.limits;
        let (direction, enabled) = (settings.strategy.as_str(), settings.enabled);
        StrategyRequest::new(text, Basis::Config { max_lines, max_bytes, direction, enabled })
    }

    fn new(text: &[u8], basis: Basis) -> StrategyRequest {
        StrategyRequest { text: String::from_utf8_lossy(text).into_owned(), basis }
    }
}

impl Report {
    /// The report on a preview.
    pub(crate) fn new(preview: &Preview) -> Report {
        let (id, saved, error) = match preview.saved() {
            Saved::Complete(entry) | Saved::Running(entry) => {
                (Some(entry.id.to_string()), Some(entry.location()), None)
            }
            Saved::Failed { error, part } => {
                (part.map(|part| part.id.to_string()), None, Some(error.clone()))
            }
            Saved::Disabled => (None, None, None),
        };
        let removed = preview.reported_removed();
        Report {
            truncated: true,
            id,
            saved,
            error,
            cut: CutReport { limited_by: Some(preview.limited_by()), ..CutReport::new(preview) },
            removed_lines: removed.lines,
            removed_bytes: removed.bytes,
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
