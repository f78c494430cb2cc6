//! `offcut ls` and `offcut rm`.

use crate::arguments::{Everywhere, Format, Ls, Rm};
use crate::environment;
use crate::failure::Outcome;
use crate::format::{EntryRow, state};
use jiff::{Timestamp, tz::TimeZone};
use offcut::retrieve;
use offcut::store::Entry;

pub(crate) fn ls(everywhere: &Everywhere, ls: &Ls) -> Outcome {
    let store = environment::store(everywhere)?;
    let ids = store.ids()?;
    let limit = if ls.all { usize::MAX } else { ls.limit };
    let mut entries = Vec::new();
    for id in ids.iter().rev().take(limit) {
        match store.entry(id) {
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
    let rows: Vec<[String; 6]> = entries
        .iter()
        .map(|entry| {
            [
                entry.id.to_string(),
                time(entry),
                entry.context.tool.as_deref().map_or_else(|| "-".to_owned(), harmless),
                entry.bytes.to_string(),
                entry.lines().map_or_else(|| "-".to_owned(), |lines| lines.to_string()),
                state(&entry.completeness).to_owned(),
            ]
        })
        .collect();
    let head = ["ID", "TIME (UTC)", "TOOL", "BYTES", "LINES", "STATE"].map(str::to_owned);
    let widths: [usize; 6] = std::array::from_fn(|column| {
        rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    let mut text = String::new();
    for row in [&head].into_iter().chain(&rows) {
        let [id, time, tool, bytes, lines, state] = row;
        let [w_id, w_time, w_tool, w_bytes, w_lines, _] = widths;
        text += &format!(
            "{id:w_id$}  {time:w_time$}  {tool:w_tool$}  {bytes:>w_bytes$}  {lines:>w_lines$}  {state}\n"
        );
    }
    text
}

fn time(entry: &Entry) -> String {
    let timestamp = Timestamp::try_from(entry.created).unwrap_or(Timestamp::UNIX_EPOCH);
    timestamp.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A tool's name is foreign text: nothing in it may move the cursor or break the table.
fn harmless(name: &str) -> String {
    name.chars().take(24).map(|char| if char.is_control() { '?' } else { char }).collect()
}

pub(crate) fn rm(everywhere: &Everywhere, rm: &Rm) -> Outcome {
    // All are looked up before any is removed: `rm last last` must not walk back in time.
    let mut found = Vec::new();
    for reference in &rm.ids {
        let store = environment::store_of(everywhere, reference)?;
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
