//! `offcut ls` and `offcut rm`.

use crate::arguments::{Format, GlobalOptions, Rm, foreign};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::ledger;
use clap::Args;
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use offcut::report::EntryReport;
use offcut::retrieve;
use offcut::store::{Entry, EntryFilter, Id, Pin, Store, StoreError, UploadState};

#[derive(Debug, Args)]
pub(crate) struct Ls {
    /// List at most this many outputs
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// List all outputs
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// List only outputs of this tool
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) tool: Option<String>,
    /// List only outputs of this session
    #[arg(long, value_name = "ID", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) session: Option<String>,
    /// List only outputs of this machine, in a shared store
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) host: Option<String>,
    /// List only outputs of this day (UTC): 2026-11-15, today or yesterday
    #[arg(long, value_name = "DATE", value_parser = parse_day)]
    pub(crate) day: Option<Date>,
    /// List only outputs older than this one
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<String>,
}

/// Parses a date, `today` or `yesterday`.
fn parse_day(text: &str) -> Result<Date, String> {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    match text {
        "today" => Ok(today),
        "yesterday" => today.yesterday().map_err(|error| error.to_string()),
        date => {
            date.parse().map_err(|_| "expected a date, for example 2026-11-15, today or yesterday".to_owned())
        }
    }
}

pub(crate) fn ls(global: &GlobalOptions, ls: &Ls) -> CommandResult {
    let setup = Setup::new(global)?;
    let store = setup.store()?;
    let selection = selection(&*store, ls)?;
    let most = selection.limit;
    // One more than requested shows whether there are older ones.
    let one_more = EntryFilter { limit: most.map(|most| most.saturating_add(1)), ..selection.clone() };
    let mut items = match (store.select(&one_more), setup.fleet()) {
        (Ok(items), _) => items,
        (Err(error), None) => return Err(error.into()),
        (Err(error), Some(fleet)) => {
            // If the shared store is not available, list what is on this machine.
            print(global, &fleet.pending_items(&selection)?, &*store)?;
            return Err(error.into());
        }
    };
    let has_older = most.is_some_and(|most| items.len() > most);
    items.truncate(most.unwrap_or(usize::MAX));
    print(global, &items, &*store)?;
    if global.format == Format::Text {
        if let Some(directory) = setup.directory().filter(|directory| items.is_empty() && !directory.exists())
        {
            diagnostic::say(format_args!("no stored outputs yet: {} does not exist", directory.display()));
        }
        if let (true, Some(last)) = (has_older, items.last()) {
            diagnostic::say(format_args!("more outputs: `offcut ls --before {}`, or --all", last.id));
        }
        warn_if_not_uploaded(&setup);
        if let Some(message) = ledger::not_kept() {
            diagnostic::say(message);
        }
    }
    Ok(())
}

fn selection(store: &dyn Store, ls: &Ls) -> Result<EntryFilter, Failure> {
    let day = ls.day.and_then(|day| {
        let start = day.to_zoned(TimeZone::UTC).ok()?;
        Some((start.timestamp().into(), start.tomorrow().ok()?.timestamp().into()))
    });
    let before = ls.before.as_deref().map(|reference| match Id::parse(reference) {
        Some(id) => Ok(id),
        None => retrieve::resolve(store, reference),
    });
    Ok(EntryFilter {
        tool: ls.tool.clone(),
        session: ls.session.clone(),
        host: ls.host.clone(),
        from: day.map(|(from, _)| from),
        until: day.map(|(_, until)| until),
        before: before.transpose()?,
        limit: (!ls.all).then_some(ls.limit),
    })
}

fn print(global: &GlobalOptions, items: &[Entry], store: &dyn Store) -> CommandResult {
    match global.format {
        Format::Text => super::print(table(items).as_bytes()),
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

fn table(items: &[Entry]) -> String {
    // A column for the machine only in a shared store.
    let hosts = items.iter().any(|item| item.host.is_some());
    let head = ["ID", "TIME (UTC)", "TOOL", "BYTES", "LINES", "STATE", if hosts { "HOST" } else { "" }];
    let mut cells = vec![head.map(str::to_owned)];
    cells.extend(items.iter().map(|item| {
        let state = match &item.upload_state {
            UploadState::LocalOnly { .. } => format!("{}, local only", item.state.as_str()),
            _ => item.state.as_str().to_owned(),
        };
        [
            item.id.to_string(),
            time(&item.id),
            item.context.tool.as_deref().map_or_else(|| "-".to_owned(), super::table_cell),
            item.bytes.to_string(),
            item.lines.map_or_else(|| "-".to_owned(), |lines| lines.to_string()),
            state,
            item.host.as_deref().map_or_else(String::new, super::table_cell),
        ]
    }));
    super::align(&cells, &[3, 4])
}

pub(super) fn time(id: &Id) -> String {
    let timestamp = Timestamp::try_from(id.time()).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

pub(crate) fn rm(global: &GlobalOptions, rm: &Rm) -> CommandResult {
    // Resolve all before removing any: `rm last last` must not remove two.
    let setup = Setup::new(global)?;
    let mut found = Vec::new();
    for reference in &rm.ids {
        let store = setup.store_of(reference)?.0;
        let id = retrieve::resolve(&*store, reference)?;
        // An entry that cannot be read can be removed.
        if !rm.force && store.entry(&id).is_ok_and(|entry| entry.pin == Pin::Pinned) {
            let reason = "is pinned; unpin it with `offcut pin --remove`, or use --force";
            return Err(Failure::Usage(anyhow::anyhow!("cannot remove {id}: it {reason}")));
        }
        if !found.iter().any(|(_, known)| known == &id) {
            found.push((store, id));
        }
    }
    let mut failures = Vec::new();
    for (store, id) in found {
        match store.remove(&id) {
            Ok(()) => diagnostic::say(format_args!("removed {id}")),
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    super::fail_with(failures)
}
