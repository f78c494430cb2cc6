//! The table of `offcut stats`, which fits 80 columns, with a bar for each row.

use super::sums::{GroupBy, Row, Sums};
use crate::arguments::Stats;
use crate::human;
use crate::ledger::local_day;
use jiff::Timestamp;

/// The width of the longest bar.
const BAR: u64 = 10;

/// The width of a name, with a bar at the end of the line and without.
const NAME: usize = 16;
const NAME_WITHOUT_BAR: usize = 28;

pub(super) fn draw(sums: &Sums, since: Option<Timestamp>, stats: &Stats) -> String {
    let (rows, total) = (sums.rows(), sums.total());
    if total.calls == 0 && total.read_bytes == 0 {
        let period = since.map(|since| format!(" since {}", human::local_time(since.into())));
        return format!("no outputs are recorded{}\n", period.unwrap_or_default());
    }
    // A day and a tool need the room of the bar.
    let (name_width, most) = match stats.by {
        GroupBy::DayAndTool => (NAME_WITHOUT_BAR, 0),
        _ => (NAME, rows.iter().map(|row| row.original_bytes).max().unwrap_or(0)),
    };
    let mut cells = vec![["", "CALLS", "CUT", "WHOLE", "SHOWN", "READ", "SAVED", ""].map(str::to_owned)];
    cells.extend(rows.iter().map(|row| {
        let names = [&row.group.day, &row.group.agent, &row.group.host, &row.group.tool];
        let name = names
            .map(String::as_str)
            .into_iter()
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        line(&offcut::terminal::printable(&name, name_width), row, most)
    }));
    cells.push(line("total", &total, 0));
    let period = match since {
        Some(since) => format!("Since {}", local_day(since.as_second())),
        None => "All recorded outputs".to_owned(),
    };
    let counted = if stats.tokens { "counted" } else { "estimated, 4 bytes each" };
    let mut text = format!("{period}. The sizes are those of the outputs that were cut.\n\n");
    text += &crate::command::align(&cells, &[1, 2, 3, 4, 5, 6]);
    text += &format!(
        "\nSaved, compared with\n  the whole outputs      {}, {} tokens ({counted})\n",
        size(total.saved_bytes),
        total.saved_tokens
    );
    let without_offcut = &total.without_offcut;
    text += "  agents without offcut  ";
    text += &match without_offcut.outputs {
        0 => "unknown: no output of a known agent was cut\n".to_owned(),
        _ => format!("{}, {} tokens\n", size(without_offcut.saved_bytes), without_offcut.saved_tokens),
    };
    if without_offcut.outputs > 0 {
        text += &format!(
            "They would have shown {} of {} outputs; with offcut, they showed {}.\n",
            bytes(without_offcut.bytes),
            without_offcut.outputs,
            bytes(without_offcut.shown_bytes)
        );
    }
    if total.not_kept > 0 {
        text += &format!("Not kept: {}; for the reasons: grep not_kept {}/*\n", total.not_kept, place());
    }
    text
}

fn place() -> String {
    crate::ledger::directory().map_or_else(String::new, |directory| directory.display().to_string())
}

fn line(name: &str, row: &Row, most: u64) -> [String; 8] {
    [
        name.to_owned(),
        row.calls.to_string(),
        row.outputs.to_string(),
        bytes(row.original_bytes),
        bytes(row.shown_bytes),
        bytes(row.read_bytes),
        size(row.saved_bytes),
        bar(row, most),
    ]
}

/// A bar as long as the outputs, filled as far as they were shown.
fn bar(row: &Row, most: u64) -> String {
    let length = |bytes: u64| match (bytes, most) {
        (0, _) | (_, 0) => 0,
        (bytes, most) => ((bytes as f64 / most as f64 * BAR as f64).round() as usize).max(1),
    };
    let all = length(row.original_bytes);
    let shown = length(row.shown_bytes).min(all);
    "█".repeat(shown) + &"░".repeat(all - shown)
}

fn bytes(bytes: u64) -> String {
    size(i64::try_from(bytes).unwrap_or(i64::MAX))
}

/// A size for people: 999 B, 12.3 kB, 4.0 MB.
fn size(bytes: i64) -> String {
    let mut value = bytes as f64;
    let mut units = ["B", "kB", "MB", "GB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for next in units.chain(["TB"]) {
        if value.abs() < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}
