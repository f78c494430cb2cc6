//! Stored outputs as a table.
//!
//! On a terminal: short ids, ages, and command lines that are cut to the width, for people. Elsewhere: everything, for
//! scripts and models. There, columns are separated by at least two spaces, and only the last one may contain more.

use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::filter::has_failed;
use crate::human;
use anstyle::{AnsiColor, Style};
use offcut::store::{Entry, EntryState, Id, Pin, Store, UploadState};
use offcut::terminal::printable;
use std::io::{IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The fewest characters of a short id: the second of its time. A shorter one would soon be that of another output too.
const MIN_ID: usize = 6;

/// The narrowest column for command lines.
const MIN_COMMAND: usize = 12;

/// Names of agents, tools and machines are cut to this width on a terminal.
const MAX_NAME: usize = 14;

/// The most characters of a command line that are printed.
const MAX_COMMAND: usize = 10_000;

/// Where a table is printed.
pub(super) struct Layout {
    /// The width of the terminal, if it is one.
    width: Option<usize>,
    /// Whether several machines use the store.
    is_shared: bool,
}

impl Layout {
    pub(super) fn of_stdout(setup: &Setup) -> Layout {
        let width = || {
            let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
            size.map_or(0, |size| usize::from(size.ws_col))
        };
        let width = std::io::stdout().is_terminal().then(width);
        let width = width.map(|width| if width == 0 { 80 } else { width });
        Layout { width, is_shared: setup.fleet().is_some() }
    }

    /// The id as this table prints it.
    pub(super) fn id(&self, store: &dyn Store, id: &Id) -> String {
        self.ids(store, &[*id]).pop().unwrap_or_default()
    }

    /// On a terminal, the shortest beginning of each id that no other id of the store has.
    fn ids(&self, store: &dyn Store, wanted: &[Id]) -> Vec<String> {
        let short = |id: &Id| id.short().to_owned();
        if self.width.is_none() {
            return wanted.iter().map(Id::to_string).collect();
        }
        // Not all ids of a shared store: listing them takes too long.
        let Some(all) = (!self.is_shared).then(|| store.ids().ok()).flatten() else {
            return wanted.iter().map(short).collect();
        };
        let shared = |one: &Id, other: Option<&Id>| {
            let pairs = other.map(|other| one.as_str().bytes().zip(other.as_str().bytes()));
            pairs.map_or(0, |pairs| pairs.take_while(|(one, other)| one == other).count())
        };
        let unique = |id: &Id| {
            let at = all.partition_point(|known| known < id);
            let before = at.checked_sub(1).and_then(|before| all.get(before));
            let after = all[at..].iter().find(|other| *other != id);
            let length = shared(id, before).max(shared(id, after)) + 1;
            id.as_str()[..length.clamp(MIN_ID, Id::WIDTH)].to_owned()
        };
        wanted.iter().map(unique).collect()
    }
}

/// One cell of a table.
struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    fn new(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), style: Style::new() }
    }

    fn name(text: Option<&String>) -> Cell {
        Cell::new(text.map_or_else(String::new, |text| cut(&printable(text, MAX_COMMAND), MAX_NAME)))
    }

    fn styled(text: String, style: Style) -> Cell {
        Cell { text, style }
    }
}

/// A column of the table for a terminal.
struct Column {
    title: &'static str,
    is_right: bool,
    /// A column without contents is left out.
    cells: Vec<Cell>,
}

pub(super) fn print(items: &[Entry], store: &dyn Store, layout: &Layout) -> CommandResult {
    let ids: Vec<Id> = items.iter().map(|item| item.id).collect();
    let ids = layout.ids(store, &ids);
    match layout.width {
        None => super::print(for_programs(items, ids, layout.is_shared).as_bytes()),
        Some(width) => {
            // anstream removes the colours unless the terminal wants them.
            let mut stdout = anstream::stdout().lock();
            stdout.write_all(for_people(items, ids, layout.is_shared, width).as_bytes())?;
            Ok(stdout.flush()?)
        }
    }
}

fn for_people(items: &[Entry], ids: Vec<String>, is_shared: bool, width: usize) -> String {
    let (red, yellow) = (AnsiColor::Red.on_default(), AnsiColor::Yellow.on_default());
    let exit =
        |item: &Entry| Cell::styled(human::exit(item), if has_failed(item) { red } else { Style::new() });
    let shows_host = is_shared || items.iter().any(|item| item.host != items[0].host);
    let host = |item: &Entry| Cell::name(item.host.as_ref().filter(|_| shows_host));
    let column = |title, is_right, cell: &dyn Fn(&Entry) -> Cell| Column {
        title,
        is_right,
        cells: items.iter().map(cell).collect(),
    };
    let mut columns = vec![
        Column { title: "ID", is_right: false, cells: ids.into_iter().map(Cell::new).collect() },
        column("AGE", true, &|item| Cell::new(human::age(item.id.time()))),
        column("EXIT", true, &exit),
        column("SIZE", true, &|item| Cell::new(human::size(item.bytes))),
        column("STATE", false, &|item| Cell::styled(remarkable_state(item), yellow)),
        column("AGENT", false, &|item| Cell::name(item.context.agent.as_ref())),
        column("HOST", false, &host),
    ];
    columns.retain(|column| {
        matches!(column.title, "ID" | "AGE" | "EXIT" | "SIZE")
            || column.cells.iter().any(|cell| !cell.text.is_empty())
    });
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.cells.iter().map(|cell| cell.text.width()).fold(column.title.len(), usize::max))
        .collect();
    let room = width.saturating_sub(widths.iter().map(|width| width + 2).sum()).max(MIN_COMMAND);
    let mut text = String::new();
    for (column, width) in columns.iter().zip(&widths) {
        text += &padded(column.title, *width, column.is_right, Style::new());
    }
    text += "COMMAND\n";
    for (row, item) in items.iter().enumerate() {
        for (column, width) in columns.iter().zip(&widths) {
            let Cell { text: cell, style } = &column.cells[row];
            text += &padded(cell, *width, column.is_right, *style);
        }
        text += &cut(&command(item), room);
        text.push('\n');
    }
    text
}

fn padded(text: &str, width: usize, is_right: bool, style: Style) -> String {
    let space = " ".repeat(width.saturating_sub(text.width()));
    match is_right {
        true => format!("{space}{style}{text}{style:#}  "),
        false => format!("{style}{text}{style:#}{space}  "),
    }
}

fn for_programs(items: &[Entry], ids: Vec<String>, is_shared: bool) -> String {
    let name = |name: &Option<String>| name.as_deref().map_or_else(|| "-".to_owned(), super::table_cell);
    let mut head: Vec<String> = ["ID", "TIME", "TOOL", "BYTES", "LINES", "STATE"].map(str::to_owned).to_vec();
    head.extend(is_shared.then(|| "HOST".to_owned()));
    head.extend(["EXIT", "AGENT", "COMMAND"].map(str::to_owned));
    let mut rows = vec![head];
    for (item, id) in items.iter().zip(ids) {
        let state = match remarkable_state(item) {
            state if item.state == EntryState::Complete && state.is_empty() => "complete".to_owned(),
            state if item.state == EntryState::Complete => format!("complete, {state}"),
            state => state,
        };
        let mut row = vec![
            id,
            human::local_time(item.id.time()),
            name(&item.context.tool),
            item.bytes.to_string(),
            item.lines.map_or_else(|| "-".to_owned(), |lines| lines.to_string()),
            state,
        ];
        row.extend(is_shared.then(|| name(&item.host)));
        row.extend([human::exit(item), name(&item.context.agent), command(item)]);
        rows.push(row);
    }
    super::align(&rows, &[3, 4])
}

/// What differs from a complete output that cleaning may remove: `running`, `capped, pinned`.
fn remarkable_state(entry: &Entry) -> String {
    let state = (entry.state != EntryState::Complete).then(|| entry.state.as_str());
    let pinned = (entry.pin == Pin::Pinned).then_some("pinned");
    let local = matches!(entry.upload_state, UploadState::LocalOnly { .. }).then_some("local only");
    let words: Vec<&str> = [state, pinned, local].into_iter().flatten().collect();
    words.join(", ")
}

/// The command line; for other tools, the name and the input.
pub(super) fn command(entry: &Entry) -> String {
    let tool = entry.context.tool.as_deref();
    let text = match (tool, entry.context.origin.command.as_deref()) {
        (Some(tool), Some(input)) if input.starts_with('{') => format!("{tool} {input}"),
        (_, Some(command)) => command.to_owned(),
        (Some(tool), None) => tool.to_owned(),
        (None, None) => "-".to_owned(),
    };
    printable(&text, MAX_COMMAND)
}

/// The text cut to a display width.
fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut used = 0;
    let kept = text.chars().take_while(|char| {
        used += char.width().unwrap_or(0);
        used < most
    });
    kept.collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_the_display_width() {
        for (text, most, expected) in [
            ("make", 4, "make"),
            ("make all", 5, "make…"),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("", 3, ""),
        ] {
            let shown = cut(text, most);
            assert_eq!(shown, expected, "{text}");
            assert!(shown.width() <= most, "{text}");
        }
    }
}
