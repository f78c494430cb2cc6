//! `offcut show`: one stored output for people: its state, what was shown of it, and where it is.

use crate::arguments::{Format, GlobalOptions, Reference};
use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::human;
use anstyle::{AnsiColor, Style};
use offcut::report::{self, EntryReport};
use offcut::retrieve::{self, ChecksumMismatch, VerifiedReader};
use offcut::store::{Entry, EntryState, Pin, Store};
use std::io::Write;

/// The largest file that is compared with its digests: this takes a fraction of a second.
const MOST_VERIFIED: u64 = 64 << 20;

/// The width of the bar in cells.
const CELLS: u64 = 60;

pub(crate) fn show(global: &GlobalOptions, reference: &Reference) -> CommandResult {
    let (store, program) = Setup::new(global)?.store_of(&reference.id)?;
    let entry = store.entry(&retrieve::resolve(&*store, &reference.id)?)?;
    let mismatches = mismatches(&*store, &entry);
    let shown = match (&entry.state, mismatches.first()) {
        (EntryState::Damaged { .. }, _) | (_, None) => entry.clone(),
        (_, Some(mismatch)) => entry.clone().with_state(EntryState::Damaged { reason: mismatch.to_string() }),
    };
    match global.format {
        Format::Json => super::print_json(&EntryReport::new(&shown))?,
        Format::Text => print_text(&shown, &program)?,
    }
    super::read::fail_if_modified(&entry, mismatches)
}

/// The blocks of a file that are not as they were stored. A large file is not read for this.
fn mismatches(store: &dyn Store, entry: &Entry) -> Vec<ChecksumMismatch> {
    let reader = VerifiedReader::new(store, entry);
    if entry.path.is_some() && entry.bytes <= MOST_VERIFIED {
        let mut block = vec![0; 1 << 20];
        let mut offset = 0;
        // The state of the entry says whether the file can be read.
        while let Ok(count @ 1..) = reader.read(offset, &mut block) {
            offset += count as u64;
        }
    }
    reader.mismatches()
}

fn print_text(entry: &Entry, program: &str) -> CommandResult {
    let bold = Style::new().bold();
    let mut text = format!("{bold}{}{bold:#}  {}\n", entry.id, entry.state.as_str());
    if let Some(reason) = entry.state.reason() {
        text += &format!("reason    {}\n", super::table_cell(reason));
    }
    let mut row = |name: &str, value: &str| text += &format!("{name:9} {}\n", super::table_cell(value));
    let context = &entry.context;
    for (name, value) in [
        ("tool", &context.tool),
        ("call", &context.call_id),
        ("session", &context.session),
        ("agent", &context.agent),
        ("command", &context.origin.command),
        ("directory", &context.origin.directory),
        ("user", &context.origin.user),
    ] {
        if let Some(value) = value {
            row(name, value);
        }
    }
    if let Some(host) = &entry.host {
        row("host", host);
    }
    if let Some(reason) = report::only_local(entry) {
        row("upload", &format!("local only: {reason}"));
    }
    if let Some(started) = context.started {
        row("started", &human::local_time(started));
    }
    row("age", &format!("{} ({})", human::age(entry.created), human::local_time(entry.created)));
    row(
        "size",
        &format!(
            "{} bytes{}",
            entry.bytes,
            entry.lines.map_or_else(String::new, |lines| format!(", {lines} lines"))
        ),
    );
    if entry.pin == Pin::Pinned {
        row("pinned", "yes");
    }
    if let Some(summary) = &entry.summary {
        if let Some(duration) = summary.duration {
            row("duration", &format!("{:.1} s", duration.as_secs_f64()));
        }
        let code = summary.exit_code.map(|code| code.to_string());
        let signal = summary.signal.map(|signal| format!("killed by signal {signal}"));
        let exit: Vec<String> = code.into_iter().chain(signal).collect();
        if !exit.is_empty() {
            row("exit", &exit.join(", "));
        }
        row("digest", &format!("blake3 {}", summary.digest));
    }
    if let Some(path) = &entry.path {
        row("path", &path.display().to_string());
    }
    if let Some(summary) = &entry.summary {
        let shown = summary.shown.bytes;
        let original = summary.original.bytes.max(1);
        row("shown", &format!("{shown} bytes, {:.1} %", shown as f64 * 100.0 / original as f64));
        text += &format!("\n{}\n", bar(entry));
        for gap in summary.gaps.iter().take(8) {
            text += &format!(
                "  lines {}:{} not shown, {} bytes ({})\n",
                gap.first_line,
                gap.last_line,
                gap.end - gap.start,
                gap.why.as_str()
            );
        }
        if summary.gaps.len() > 8 {
            text += &format!("  and {} more gaps\n", summary.gaps.len() - 8);
        }
    }
    text += &format!("\nread it: {program} read {}\n", entry.id);
    // anstream removes the colours unless a terminal wants them.
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// A bar from the start to the end of the output: what was shown and what was not.
fn bar(entry: &Entry) -> String {
    let Some(summary) = &entry.summary else { return String::new() };
    let total = summary.original.bytes.max(1);
    let (shown, hidden) = (AnsiColor::Green.on_default(), Style::new().dimmed());
    (0..CELLS)
        .map(|cell| {
            let (start, end) =
                (total * cell / CELLS, (total * (cell + 1) / CELLS).max(total * cell / CELLS + 1));
            let hidden_bytes: u64 =
                summary.gaps.iter().map(|gap| gap.end.min(end).saturating_sub(gap.start.max(start))).sum();
            match hidden_bytes {
                0 => format!("{shown}█{shown:#}"),
                bytes if bytes >= end - start => format!("{hidden}░{hidden:#}"),
                _ => format!("{shown}▒{shown:#}"),
            }
        })
        .collect()
}
