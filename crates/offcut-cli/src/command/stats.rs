//! `offcut stats`: the bytes and tokens that cutting saved.

use crate::arguments::{Format, GlobalOptions, Stats};
use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::tokens::TokenCounter;
use offcut::measure::CountTokens;
use offcut::report::{StatisticsReport, statistics};

/// How many entries are read at a time.
const BATCH: usize = 4096;

pub(crate) fn stats(global: &GlobalOptions, stats: &Stats) -> CommandResult {
    let store = Setup::new(global)?.store()?;
    let ids = store.ids()?;
    let mut progress = super::Progress::new("reading", ids.len());
    // All entries of a large store do not fit into memory.
    let entries = ids.chunks(BATCH).flat_map(|ids| store.entries(ids)).inspect(|_| progress.step()).flatten();
    let tokens = stats.tokens.then_some(&TokenCounter as &dyn CountTokens);
    let rows = statistics(&*store, entries, tokens);
    drop(progress);
    match global.format {
        Format::Json => super::print_json(&rows),
        Format::Text => super::print(table(&rows, stats.tokens).as_bytes()),
    }
}

fn table(rows: &[StatisticsReport], counted: bool) -> String {
    let tokens = if counted { "TOKENS SAVED" } else { "≈TOKENS SAVED" };
    let mut cells = vec![["DAY", "TOOL", "OUTPUTS", "BYTES", "BYTES SAVED", tokens].map(str::to_owned)];
    let mut total = StatisticsReport { day: "total".to_owned(), ..StatisticsReport::default() };
    rows.iter().for_each(|row| total.add(row));
    for row in rows.iter().chain([&total]) {
        let tool = if row.tool.is_empty() { String::new() } else { super::table_cell(&row.tool) };
        let [outputs, bytes, saved, tokens] =
            [row.outputs, row.original_bytes, row.saved_bytes, row.saved_tokens]
                .map(|number| number.to_string());
        cells.push([row.day.clone(), tool, outputs, bytes, saved, tokens]);
    }
    super::align(&cells, &[2, 3, 4, 5])
}
