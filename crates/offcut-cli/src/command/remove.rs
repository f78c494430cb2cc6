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
use std::collections::HashMap;
use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::Arc;

/// How many of the outputs to delete are listed.
const MAX_LISTED: usize = 20;

/// What was deleted.
#[derive(Default, Serialize)]
struct RemovalReport {
    removed: u64,
    removed_bytes: u64,
    ids: Vec<String>,
    /// What the filters chose and was not deleted, because it is pinned or being written.
    kept: Vec<String>,
}

impl RemovalReport {
    fn add(&mut self, id: &Id, bytes: u64) {
        self.removed += 1;
        self.removed_bytes += bytes;
        self.ids.push(id.to_string());
    }
}

pub(crate) fn rm(global: &GlobalOptions, rm: &Rm) -> CommandResult {
    let setup = Setup::new(global)?;
    let mut report = RemovalReport::default();
    let result = match rm.ids.is_empty() {
        true => remove_selected(global, &setup, rm, &mut report),
        false => remove_named(global, &setup, rm, &mut report),
    };
    if global.format == Format::Json {
        super::print_json(&report)?;
    }
    result
}

fn remove_named(global: &GlobalOptions, setup: &Setup, rm: &Rm, report: &mut RemovalReport) -> CommandResult {
    // Resolve all before removing any: `rm last last` must not remove two.
    let mut found: Vec<(Arc<dyn Store>, Id, u64)> = Vec::new();
    for reference in &rm.ids {
        let store = setup.store_of(reference)?.0;
        let id = retrieve::resolve(&*store, reference)?;
        // An entry that cannot be read can be removed.
        let entry = store.entry(&id).ok();
        let protection = entry.as_ref().and_then(Protection::of);
        if let Some(protection) = protection.filter(|_| !rm.force) {
            let question = format!("{id} is {}. Delete it? [y/N] ", protection.as_str());
            if !(can_ask(global) && super::is_confirmed(&question)) {
                return Err(protection.refuse(&id));
            }
        }
        if !found.iter().any(|(_, known, _)| known == &id) {
            found.push((store, id, entry.map_or(0, |entry| entry.bytes)));
        }
    }
    let mut failures = Vec::new();
    for (store, id, bytes) in found {
        match store.remove(&id) {
            Ok(()) => {
                report.add(&id, bytes);
                say(global, format_args!("removed {id}"));
            }
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    super::fail_with(failures)
}

fn remove_selected(
    global: &GlobalOptions,
    setup: &Setup,
    rm: &Rm,
    report: &mut RemovalReport,
) -> CommandResult {
    let store = setup.store()?;
    let chosen = store.select(&rm.filter.for_store(&*store)?)?;
    if chosen.is_empty() {
        say(global, "no stored output matches");
        return Ok(());
    }
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
    let result = remove_all(global, &*store, &remove, report);
    report.kept = protected.iter().map(|entry| entry.id.to_string()).collect();
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
    report: &mut RemovalReport,
) -> CommandResult {
    let ids: Vec<Id> = entries.iter().map(|entry| entry.id).collect();
    let by_id: HashMap<Id, &Entry> = entries.iter().map(|entry| (entry.id, entry)).collect();
    let (mut removed, mut failures) = (Vec::new(), Vec::new());
    store.remove_all(&ids, &mut |id, result| match result {
        // Another process may have removed it meanwhile.
        Ok(()) | Err(StoreError::NotFound { .. }) => removed.extend(by_id.get(id).copied()),
        Err(error) => failures.push(Failure::from(error)),
    });
    removed.iter().for_each(|entry| report.add(&entry.id, entry.bytes));
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
