//! `offcut stats`: how much of the outputs was shown, compared with the whole outputs and with what the agents would have
//! shown without offcut.

mod sums;
mod table;

pub(crate) use sums::GroupBy;

use crate::arguments::{Format, GlobalOptions, Stats};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::ledger::{self, Record, RecordedEvent};
use crate::tokens::TokenCounter;
use jiff::Timestamp;
use offcut::report::hidden_tokens;
use offcut::store::{Entry, Store};
use std::collections::HashSet;
use sums::Sums;

/// How many entries are read at a time.
const BATCH: usize = 4096;

pub(crate) fn stats(global: &GlobalOptions, stats: &Stats) -> CommandResult {
    let setup = Setup::new(global)?;
    let store = setup.store();
    let since = stats.since.map(|time| Timestamp::try_from(time).unwrap_or(Timestamp::MIN));
    let mut sums = Sums::new(stats.by);
    let mut recorded = HashSet::new();
    // Readings come last, when the groups of all outputs are known.
    let mut readings = Vec::new();
    ledger::read(since, |record| {
        if record.event == RecordedEvent::Read {
            readings.push(record);
            return;
        }
        let entry = store.as_ref().ok().filter(|_| stats.tokens).and_then(|store| {
            let id = record.id.as_ref()?;
            Some((store, store.entry(&offcut::retrieve::resolve_id(&**store, id).ok()?).ok()?))
        });
        sums.add(&record, entry.and_then(|(store, entry)| count_hidden(&**store, &entry)));
        recorded.extend(record.id);
    })?;
    let added = store.and_then(|store| {
        let count = |entry: &Entry| stats.tokens.then(|| count_hidden(&*store, entry)).flatten();
        add_entries(&mut sums, &*store, since, &recorded, count)
    });
    // What is in the ledger is still of interest.
    if let Err(failure) = added {
        diagnostic::warn(failure.reason().unwrap_or_default());
    }
    readings.iter().for_each(|reading| sums.add(reading, None));
    match global.format {
        Format::Json => super::print_json(&sums.rows()),
        Format::Text => super::print(table::draw(&sums, since, stats).as_bytes()),
    }
}

/// Adds the stored outputs that are not in the ledger: those of other machines, of sandboxes, and from before the ledger.
fn add_entries(
    sums: &mut Sums,
    store: &dyn Store,
    since: Option<Timestamp>,
    recorded: &HashSet<String>,
    count: impl Fn(&Entry) -> Option<u64>,
) -> CommandResult {
    let mut ids = store.ids()?;
    ids.retain(|id| {
        let time = Timestamp::try_from(id.time());
        since.is_none_or(|since| time.is_ok_and(|time| time >= since)) && !recorded.contains(id.as_str())
    });
    let mut progress = super::Progress::new("reading", ids.len());
    // All entries of a large store do not fit into memory.
    for entry in ids.chunks(BATCH).flat_map(|ids| store.entries(ids)).inspect(|_| progress.step()).flatten() {
        if let Some(record) = Record::of_entry(&entry) {
            sums.add(&record, count(&entry));
        }
    }
    Ok(())
}

/// The tokens of what was not shown of an output.
fn count_hidden(store: &dyn Store, entry: &Entry) -> Option<u64> {
    Some(hidden_tokens(store, entry, &entry.summary.as_ref()?.gaps, &TokenCounter))
}
