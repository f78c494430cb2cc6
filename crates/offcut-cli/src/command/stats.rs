//! `offcut stats`: how much was cut and spared.

use crate::arguments::{Everywhere, Format, Stats};
use crate::environment::Setup;
use crate::failure::Outcome;
use crate::tokens::TokenCounter;
use jiff::{Timestamp, tz::TimeZone};
use offcut::measure::CountTokens;
use offcut::retrieve;
use offcut::store::{Entry, Store};
use serde::Serialize;
use std::collections::BTreeMap;

const BLOCK: usize = 1 << 20;

#[derive(Clone, Default, Serialize)]
struct Row {
    day: String,
    tool: String,
    outputs: u64,
    original_bytes: u64,
    shown_bytes: u64,
    spared_bytes: u64,
    /// Counted if asked for, else a quarter of the bytes.
    spared_tokens: u64,
}

pub(crate) fn stats(everywhere: &Everywhere, stats: &Stats) -> Outcome {
    let store = Setup::new(everywhere)?.store()?;
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    let entries: Vec<Entry> = retrieve::entries(&*store, &store.ids()?).into_iter().flatten().collect();
    let mut progress = super::Progress::new("reading", entries.len());
    for entry in entries {
        progress.step();
        let Some(summary) = &entry.summary else { continue };
        let (day, tool) =
            (day(&entry), entry.context.tool.as_deref().map_or_else(|| "-".to_owned(), super::harmless));
        let spared = summary.original.bytes - summary.shown.bytes.min(summary.original.bytes);
        let row =
            rows.entry((day.clone(), tool.clone())).or_insert_with(|| Row { day, tool, ..Row::default() });
        row.outputs += 1;
        row.original_bytes += summary.original.bytes;
        row.shown_bytes += summary.shown.bytes;
        row.spared_bytes += spared;
        row.spared_tokens += match stats.tokens {
            true => tokens_missing(&*store, &entry),
            false => spared.div_ceil(4),
        };
    }
    drop(progress);
    let rows: Vec<Row> = rows.into_values().rev().collect();
    match everywhere.format {
        Format::Json => super::print_json(&rows),
        Format::Text => super::print(table(&rows, stats.tokens).as_bytes()),
    }
}

fn day(entry: &Entry) -> String {
    let timestamp = Timestamp::try_from(entry.created).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string()
}

/// The tokens of what was not shown, block by block.
fn tokens_missing(store: &dyn Store, entry: &Entry) -> u64 {
    let Some(summary) = &entry.summary else { return 0 };
    let mut block = vec![0; BLOCK];
    let mut tokens = 0;
    for gap in &summary.gaps {
        let mut at = gap.start;
        while at < gap.end.min(entry.bytes) {
            let most = BLOCK.min((gap.end - at) as usize);
            match store.read(&entry.id, at, &mut block[..most]) {
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    tokens += TokenCounter.count(&block[..count]);
                    at += count as u64;
                }
            }
        }
    }
    tokens
}

fn table(rows: &[Row], counted: bool) -> String {
    let about = if counted { "TOKENS SPARED" } else { "≈TOKENS SPARED" };
    let mut cells: Vec<[String; 6]> =
        vec![["DAY", "TOOL", "OUTPUTS", "BYTES", "BYTES SPARED", about].map(str::to_owned)];
    let mut total = Row { day: "total".to_owned(), tool: String::new(), ..Row::default() };
    for row in rows {
        total.outputs += row.outputs;
        total.original_bytes += row.original_bytes;
        total.spared_bytes += row.spared_bytes;
        total.spared_tokens += row.spared_tokens;
    }
    for row in rows.iter().chain([&total]) {
        cells.push([
            row.day.clone(),
            row.tool.clone(),
            row.outputs.to_string(),
            row.original_bytes.to_string(),
            row.spared_bytes.to_string(),
            row.spared_tokens.to_string(),
        ]);
    }
    super::align(&cells, &[2, 3, 4, 5])
}
