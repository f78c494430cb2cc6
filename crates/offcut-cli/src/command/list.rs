//! `offcut ls` and `offcut rm`.

use crate::arguments::{Everywhere, Format, Ls, Rm};
use crate::environment::Setup;
use crate::failure::Outcome;
use crate::format::{EntryRow, state};
use jiff::{Timestamp, tz::TimeZone};
use offcut::retrieve;
use offcut::store::Entry;

pub(crate) fn ls(everywhere: &Everywhere, ls: &Ls) -> Outcome {
    let store = Setup::new(everywhere)?.store()?;
    let ids = store.ids()?;
    let limit = if ls.all { usize::MAX } else { ls.limit };
    let newest: Vec<_> = ids.iter().rev().take(limit).copied().collect();
    let mut entries = Vec::new();
    for entry in retrieve::entries(&*store, &newest) {
        match entry {
            Ok(entry) => entries.push(entry),
            // Another process may have removed it since; a damaged one must not hide the others.
            Err(offcut::store::StoreError::NotFound { .. }) => {}
            Err(error) => eprintln!("offcut: {error}"),
        }
    }
    match everywhere.format {
        Format::Json => super::print_json(&entries.iter().map(EntryRow::new).collect::<Vec<_>>()),
        Format::Text => {
            super::print(table(&entries).as_bytes())?;
            let older = ids.len().saturating_sub(limit);
            if older > 0 {
                eprintln!("offcut: {older} older ones; `offcut ls --all` lists them");
            }
            Ok(())
        }
    }
}

fn table(entries: &[Entry]) -> String {
    let mut cells = vec![["ID", "TIME (UTC)", "TOOL", "BYTES", "LINES", "STATE"].map(str::to_owned)];
    cells.extend(entries.iter().map(|entry| {
        [
            entry.id.to_string(),
            time(entry),
            entry.context.tool.as_deref().map_or_else(|| "-".to_owned(), super::harmless),
            entry.bytes.to_string(),
            entry.lines().map_or_else(|| "-".to_owned(), |lines| lines.to_string()),
            state(&entry.completeness).to_owned(),
        ]
    }));
    super::align(&cells, &[3, 4])
}

fn time(entry: &Entry) -> String {
    let timestamp = Timestamp::try_from(entry.created).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

pub(crate) fn rm(everywhere: &Everywhere, rm: &Rm) -> Outcome {
    // All are looked up before any is removed: `rm last last` must not walk back in time.
    let setup = Setup::new(everywhere)?;
    let mut found = Vec::new();
    for reference in &rm.ids {
        let store = setup.store_of(reference)?.0;
        let id = retrieve::resolve(&*store, reference)?;
        if !found.iter().any(|(_, known)| known == &id) {
            found.push((store, id));
        }
    }
    for (store, id) in found {
        store.remove(&id)?;
        eprintln!("offcut: removed {id}");
    }
    Ok(())
}
