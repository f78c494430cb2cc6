//! `offcut ls`.

use super::entry_table::{self, Layout};
use crate::arguments::{Format, GlobalOptions};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::filter::Filter;
use crate::ledger;
use clap::Args;
use offcut::report::EntryReport;
use offcut::store::{Entry, EntryFilter, Id, Store, StoreError};

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// List at most this many outputs
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// List all outputs
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) filter: Filter,
}

pub(crate) fn ls(global: &GlobalOptions, ls: &Ls) -> CommandResult {
    let setup = Setup::new(global)?;
    let store = setup.store()?;
    let most = (!ls.all).then_some(ls.limit);
    let selection = EntryFilter { limit: most, ..ls.filter.for_store(&*store)? };
    // One more than requested shows whether there are older ones.
    let one_more = EntryFilter { limit: most.map(|most| most.saturating_add(1)), ..selection.clone() };
    let layout = Layout::of_stdout(&setup);
    let mut items = match (store.select(&one_more), setup.fleet()) {
        (Ok(items), _) => items,
        (Err(error), None) => return Err(error.into()),
        (Err(error), Some(fleet)) => {
            // If the shared store is not available, list what is on this machine.
            print(global, &fleet.pending_items(&selection)?, &*store, &layout)?;
            return Err(error.into());
        }
    };
    let has_older = most.is_some_and(|most| items.len() > most);
    items.truncate(most.unwrap_or(usize::MAX));
    // The listing of a shared store says less than the metadata of each output. Those of all outputs take too long.
    if setup.fleet().is_some() && most.is_some() && global.format == Format::Text {
        items = with_metadata(&*store, items);
    }
    print(global, &items, &*store, &layout)?;
    if global.format == Format::Text {
        if items.is_empty() {
            say_that_nothing_is_listed(&setup, ls);
        }
        if let (true, Some(last)) = (has_older, items.last()) {
            let last = layout.id(&*store, &last.id);
            diagnostic::say(format_args!("more outputs: add `--before {last}`, or --all"));
        }
        warn_if_not_uploaded(&setup);
        // Whether a filter would choose an output that was not stored is not known.
        if ls.filter.is_empty()
            && let Some(message) = ledger::not_kept()
        {
            diagnostic::say(message);
        }
    }
    Ok(())
}

fn say_that_nothing_is_listed(setup: &Setup, ls: &Ls) {
    if let Some(directory) = setup.directory().filter(|directory| !directory.exists()) {
        return diagnostic::say(format_args!(
            "no stored outputs yet: {} does not exist",
            directory.display()
        ));
    }
    diagnostic::say(match (ls.limit, ls.filter.is_empty()) {
        (0, _) => "no output is listed: the limit is 0",
        (_, true) => "no stored outputs; an output within the limits is not stored",
        (_, false) => "no stored output matches; an output within the limits is not stored",
    });
}

/// The entries with everything that the store knows about them.
fn with_metadata(store: &dyn Store, items: Vec<Entry>) -> Vec<Entry> {
    let ids: Vec<Id> = items.iter().map(|item| item.id).collect();
    let entries = store.entries(&ids).into_iter();
    items.into_iter().zip(entries).map(|(item, entry)| entry.unwrap_or(item)).collect()
}

fn print(global: &GlobalOptions, items: &[Entry], store: &dyn Store, layout: &Layout) -> CommandResult {
    match global.format {
        Format::Text => entry_table::print(items, store, layout),
        Format::Json => {
            let ids: Vec<Id> = items.iter().map(|item| item.id).collect();
            let mut rows = Vec::new();
            for entry in store.entries(&ids) {
                match entry {
                    Ok(entry) => rows.push(EntryReport::new(&entry)),
                    // Another process may have removed it; a damaged one must not hide the others.
                    Err(StoreError::NotFound { .. }) => {}
                    Err(error) => diagnostic::say(error),
                }
            }
            super::print_json(&rows)
        }
    }
}

/// Warns about entries that are not uploaded to a shared store yet.
pub(super) fn warn_if_not_uploaded(setup: &Setup) {
    if let Some(Ok(waiting)) = setup.fleet().map(|fleet| fleet.pending())
        && waiting.entries > 0
    {
        let reason = waiting.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let (count, bytes) = (waiting.entries, waiting.bytes);
        let what = if count == 1 { "1 output is".to_owned() } else { format!("{count} outputs are") };
        diagnostic::say(format_args!("{what} only on this machine so far, {bytes} bytes{reason}"));
    }
}
