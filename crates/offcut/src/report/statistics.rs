//! How much cutting saved, by day and tool.

use crate::cut::Gap;
use crate::measure::CountTokens;
use crate::store::{Entry, Store};
use crate::timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// Blocks in which hidden text is read to count its tokens.
const BLOCK: usize = 1 << 20;

/// What was cut on one day for one tool.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StatisticsReport {
    /// The day in UTC: `2026-11-17`.
    pub day: String,
    /// The tool, or `-`.
    pub tool: String,
    /// The number of outputs that were cut.
    pub outputs: u64,
    /// Their size.
    pub original_bytes: u64,
    /// How much of them was shown.
    pub shown_bytes: u64,
    /// How much of them was not.
    #[serde(rename = "spared_bytes")]
    pub saved_bytes: u64,
    /// The same in tokens: counted, or a quarter of the bytes.
    #[serde(rename = "spared_tokens")]
    pub saved_tokens: u64,
}

impl StatisticsReport {
    /// Adds the numbers of another report.
    pub fn add(&mut self, other: &StatisticsReport) {
        self.outputs += other.outputs;
        self.original_bytes += other.original_bytes;
        self.shown_bytes += other.shown_bytes;
        self.saved_bytes += other.saved_bytes;
        self.saved_tokens += other.saved_tokens;
    }
}

/// What was cut, by day and tool, newest day first. With `tokens`, the text that was not shown is read and counted.
pub fn statistics(
    store: &dyn Store,
    entries: impl IntoIterator<Item = Entry>,
    tokens: Option<&dyn CountTokens>,
) -> Vec<StatisticsReport> {
    let mut rows: BTreeMap<(String, String), StatisticsReport> = BTreeMap::new();
    for entry in entries {
        let Some(summary) = &entry.summary else { continue };
        let (original, shown) = (summary.original.bytes, summary.shown.bytes);
        let saved_bytes = original.saturating_sub(shown);
        let day = timestamp::format(entry.created)[..10].to_owned();
        let tool =
            entry.context.tool.clone().filter(|tool| !tool.is_empty()).unwrap_or_else(|| "-".to_owned());
        let row = rows.entry((day.clone(), tool.clone()));
        row.or_insert_with(|| StatisticsReport { day, tool, ..StatisticsReport::default() }).add(
            &StatisticsReport {
                outputs: 1,
                original_bytes: original,
                shown_bytes: shown,
                saved_bytes,
                saved_tokens: match tokens {
                    Some(tokens) => hidden_tokens(store, &entry, &summary.gaps, tokens),
                    None => saved_bytes.div_ceil(4),
                },
                ..StatisticsReport::default()
            },
        );
    }
    rows.into_values().rev().collect()
}

/// The tokens of what was not shown, counted block by block.
pub fn hidden_tokens(store: &dyn Store, entry: &Entry, gaps: &[Gap], tokens: &dyn CountTokens) -> u64 {
    let mut block = vec![0; BLOCK];
    let mut total = 0;
    for gap in gaps {
        let mut offset = gap.start;
        while offset < gap.end.min(entry.bytes) {
            let length = BLOCK.min((gap.end - offset) as usize);
            match store.read(&entry.id, offset, &mut block[..length]) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    total += tokens.count(&block[..count]);
                    offset += count as u64;
                }
            }
        }
    }
    total
}
