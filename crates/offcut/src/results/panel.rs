//! A summary of a truncated result for a terminal.

use crate::context::Context;
use crate::cut::Size;
use crate::outcome::{Preview, Saved};
use crate::terminal::printable;

/// A few lines about a truncated result: the tool, the sizes, the place of the full output. Plain text, without colours.
pub fn panel(context: &Context, preview: &Preview) -> String {
    let tool = context.tool.as_deref().unwrap_or("tool");
    let plain = |name: &str| printable(name, 60);
    let tool = plain(tool);
    let call = context.call_id.as_deref().map_or_else(String::new, |call| format!(" ({})", plain(call)));
    let size = |size: Size| {
        let lines = if size.lines == 1 { "line" } else { "lines" };
        match size.chars {
            Some(chars) => format!("{} {lines}, {chars} chars", size.lines),
            None => format!("{} {lines}, {} bytes", size.lines, size.bytes),
        }
    };
    let place = match &preview.saved {
        Saved::Complete(entry) | Saved::Running(entry) => entry.location(),
        Saved::Failed { error, .. } => format!("not stored: {error}"),
        Saved::Disabled => "not stored".to_owned(),
    };
    let rows = [("original", size(preview.original)), ("shown", size(preview.shown)), ("full output", place)];
    render(&format!("{tool}{call}: output truncated"), &rows)
}

/// The same for the lengths that a result of the profile klaude records (`ui_extra.truncation`, seed 004), in characters.
pub fn truncation_panel(saved_file_path: &str, original_length: u64, truncated_length: u64) -> String {
    let rows = [
        ("original", format!("{original_length} chars")),
        ("not shown", format!("{truncated_length} chars")),
        ("full output", saved_file_path.to_owned()),
    ];
    render("output truncated", &rows)
}

fn render(title: &str, rows: &[(&str, String)]) -> String {
    let mut text = format!("╭ {title}\n");
    for (name, value) in rows {
        text += &format!("│ {name:<12}{value}\n");
    }
    text + "╰\n"
}
