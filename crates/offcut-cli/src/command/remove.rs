//! `offcut rm`.

use super::entry_table::{self, Layout};
use crate::arguments::{Format, GlobalOptions, Rm};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::human;
use offcut::retrieve;
use offcut::store::{Entry, EntryState, Id, Pin, Store, StoreError};
use serde::Serialize;
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::Arc;

/// How many of the outputs to delete are listed.
const MAX_LISTED: usize = 20;

/// What was to be deleted, and what was.
#[derive(Default)]
struct Removal {
    chosen: Vec<Id>,
    removed: Vec<Id>,
    removed_bytes: u64,
}

impl Removal {
    fn add(&mut self, id: Id, bytes: u64) {
        self.removed.push(id);
        self.removed_bytes += bytes;
    }

    fn report(&self) -> RemovalReport {
        let removed: HashSet<&Id> = self.removed.iter().collect();
        let kept = self.chosen.iter().filter(|id| !removed.contains(id));
        RemovalReport {
            removed: self.removed.len(),
            removed_bytes: self.removed_bytes,
            ids: self.removed.iter().map(Id::to_string).collect(),
            kept: kept.map(Id::to_string).collect(),
        }
    }
}

/// The report for programs.
#[derive(Serialize)]
struct RemovalReport {
    removed: usize,
    removed_bytes: u64,
    ids: Vec<String>,
    /// What was chosen and not deleted.
    kept: Vec<String>,
}

pub(crate) fn rm(global: &GlobalOptions, rm: &Rm) -> CommandResult {
    let setup = Setup::new(global)?;
    let mut removal = Removal::default();
    let result = match rm.ids.is_empty() {
        true => remove_selected(global, &setup, rm, &mut removal),
        false => remove_named(global, &setup, rm, &mut removal),
    };
    if global.format == Format::Json {
        super::print_json(&removal.report())?;
    }
    result
}

fn remove_named(global: &GlobalOptions, setup: &Setup, rm: &Rm, removal: &mut Removal) -> CommandResult {
    // Resolve all before removing any: `rm last last` must not remove two.
    let mut found: Vec<(Arc<dyn Store>, Id, Option<Entry>)> = Vec::new();
    for reference in &rm.ids {
        let store = setup.store_of(reference)?.0;
        let id = retrieve::resolve(&*store, reference)?;
        if !removal.chosen.contains(&id) {
            // An entry that cannot be read can be removed.
            let entry = store.entry(&id).ok();
            removal.chosen.push(id);
            found.push((store, id, entry));
        }
    }
    for (_, id, entry) in &found {
        let Some(protection) = entry.as_ref().and_then(Protection::of).filter(|_| !rm.force) else {
            continue;
        };
        if !can_ask(global) {
            return Err(protection.refuse(id));
        }
        if !super::is_confirmed(&format!("{id} is {}. Delete it? [y/N] ", protection.as_str())) {
            diagnostic::say("nothing was deleted");
            return Ok(());
        }
    }
    let mut failures = Vec::new();
    for (store, id, entry) in found {
        match store.remove(&id) {
            Ok(()) => {
                removal.add(id, entry.map_or(0, |entry| entry.bytes));
                say(global, format_args!("removed {id}"));
            }
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    super::fail_with(failures)
}

fn remove_selected(global: &GlobalOptions, setup: &Setup, rm: &Rm, removal: &mut Removal) -> CommandResult {
    let store = setup.store()?;
    let chosen = store.select(&rm.filter.for_store(&*store)?)?;
    if chosen.is_empty() {
        say(global, "no stored output matches");
        return Ok(());
    }
    removal.chosen = chosen.iter().map(|entry| entry.id).collect();
    let listed = &chosen[..chosen.len().min(MAX_LISTED)];
    if global.format == Format::Text {
        entry_table::print(listed, &*store, &Layout::of_stdout(setup))?;
    }
    let (mut protected, mut remove): (Vec<Entry>, Vec<Entry>) =
        chosen.iter().cloned().partition(|entry| Protection::of(entry).is_some() && !rm.force);
    if chosen.len() > listed.len() {
        say(global, format_args!("{} more outputs are not listed", chosen.len() - listed.len()));
    }
    if !rm.yes {
        if !can_ask(global) {
            return Err(Failure::Usage(anyhow::anyhow!(
                "nothing was deleted: there is no terminal on which to confirm; use --yes to delete {}",
                amount(&remove)
            )));
        }
        let question = |what: &str, entries: &[Entry]| format!("delete {what}{}? [y/N] ", amount(entries));
        if !remove.is_empty() && !super::is_confirmed(&question("", &remove)) {
            diagnostic::say("nothing was deleted");
            return Ok(());
        }
        if !protected.is_empty()
            && super::is_confirmed(&question("also what is pinned or being written, ", &protected))
        {
            remove.append(&mut protected);
        }
    }
    let result = remove_all(global, &*store, &remove, removal);
    if !protected.is_empty() {
        let amount = amount(&protected);
        say(global, format_args!("kept what is pinned or being written, {amount}; --force deletes it too"));
    }
    result
}

/// Why an output is deleted only after a question.
#[derive(Clone, Copy)]
enum Protection {
    Pinned,
    Running,
}

impl Protection {
    fn of(entry: &Entry) -> Option<Protection> {
        match (entry.pin, &entry.state) {
            (Pin::Pinned, _) => Some(Protection::Pinned),
            (Pin::Loose, EntryState::Running) => Some(Protection::Running),
            (Pin::Loose, _) => None,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Protection::Pinned => "pinned",
            Protection::Running => "still being written",
        }
    }

    fn refuse(self, id: &Id) -> Failure {
        let instead = match self {
            Protection::Pinned => format!("unpin it with `offcut unpin {}`, or use --force", id.short()),
            Protection::Running => "wait until its command ends, or use --force".to_owned(),
        };
        Failure::Usage(anyhow::anyhow!("cannot remove {id}: it is {}; {instead}", self.as_str()))
    }
}

fn remove_all(
    global: &GlobalOptions,
    store: &dyn Store,
    entries: &[Entry],
    removal: &mut Removal,
) -> CommandResult {
    let ids: Vec<Id> = entries.iter().map(|entry| entry.id).collect();
    let by_id: HashMap<Id, &Entry> = entries.iter().map(|entry| (entry.id, entry)).collect();
    let (mut removed, mut failures) = (Vec::new(), Vec::new());
    store.remove_all(&ids, &mut |id, result| match result {
        // Another process may have removed it meanwhile.
        Ok(()) | Err(StoreError::NotFound { .. }) => removed.extend(by_id.get(id).copied()),
        Err(error) => failures.push(Failure::from(error)),
    });
    removed.iter().for_each(|entry| removal.add(entry.id, entry.bytes));
    say(global, format_args!("removed {}", amount(&removed)));
    super::fail_with(failures)
}

/// `3 outputs, 1.2 MB`
fn amount(entries: &[impl Borrow<Entry>]) -> String {
    let bytes = entries.iter().map(|entry| entry.borrow().bytes).sum();
    let outputs = if entries.len() == 1 { "output" } else { "outputs" };
    format!("{} {outputs}, {}", entries.len(), human::size(bytes))
}

/// Whether there is somebody to ask: standard output must be a terminal, and not for JSON.
fn can_ask(global: &GlobalOptions) -> bool {
    global.format == Format::Text && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Says what happens, unless a report does.
fn say(global: &GlobalOptions, message: impl Display) {
    if global.format == Format::Text {
        diagnostic::say(message);
    }
}
