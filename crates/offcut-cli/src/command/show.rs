//! `offcut show`: one stored output for people: its state, what was shown of it, and where it is.

mod diff;

use super::pager;
use crate::arguments::{Format, GlobalOptions, Show};
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::human;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use diff::{Diff, Marking};
use offcut::Size;
use offcut::cut::Gap;
use offcut::notice::Message;
use offcut::report::{self, EntryReport};
use offcut::retrieve::{self, ChecksumMismatch, VerifiedReader};
use offcut::store::{Entry, EntryState, Pin, Store};
use serde::Serialize;
use std::io::Write;

/// The largest file that is compared with its digests: this takes a fraction of a second.
const MOST_VERIFIED: u64 = 64 << 20;

/// How many gaps are listed without --gaps.
const MOST_GAPS: usize = 8;

/// How much of an output is read at a time.
const BLOCK: usize = 1 << 20;

/// The width of the bar in cells.
const CELLS: u64 = 60;

pub(crate) fn show(global: &GlobalOptions, show: &Show) -> CommandResult {
    let (store, program) = Setup::new(global)?.store_of(&show.reference.id)?;
    let entry = store.entry(&retrieve::resolve(&*store, &show.reference.id)?)?;
    if show.preview && global.format == Format::Text {
        return print_preview(&*store, &entry);
    }
    let mismatches = mismatches(&*store, &entry);
    let shown = match (&entry.state, mismatches.first()) {
        (EntryState::Damaged { .. }, _) | (_, None) => entry.clone(),
        (_, Some(mismatch)) => entry.clone().with_state(EntryState::Damaged { reason: mismatch.to_string() }),
    };
    match global.format {
        Format::Json => super::print_json(&report(&*store, &shown)?)?,
        Format::Text if show.diff => print_diff(&*store, &entry)?,
        Format::Text if show.gaps => print_gaps(&entry)?,
        Format::Text => print_text(&shown, &program)?,
    }
    super::read::fail_if_modified(&entry, mismatches)
}

/// Everything that is known about an entry, and what was shown of it.
#[derive(Serialize)]
struct ShowReport<'a> {
    #[serde(flatten)]
    entry: EntryReport,
    original: Option<Size>,
    shown: Option<Size>,
    gaps: &'a [Gap],
    preview: Option<String>,
}

fn report<'a>(store: &dyn Store, entry: &'a Entry) -> Result<ShowReport<'a>, Failure> {
    let summary = entry.summary.as_ref();
    Ok(ShowReport {
        entry: EntryReport::new(entry),
        original: summary.map(|summary| summary.original),
        shown: summary.map(|summary| summary.shown),
        gaps: gaps(entry),
        preview: store.preview(&entry.id)?.map(|preview| String::from_utf8_lossy(&preview).into_owned()),
    })
}

fn gaps(entry: &Entry) -> &[Gap] {
    entry.summary.as_ref().map_or(&[], |summary| &summary.gaps)
}

fn print_preview(store: &dyn Store, entry: &Entry) -> CommandResult {
    match store.preview(&entry.id)? {
        Some(preview) => super::print(&preview),
        None => Err(Failure::NotFound(anyhow::anyhow!(
            "the preview of {} is not stored: an older version of offcut, a shared store or a library does not keep it; \
             `offcut show {} --diff` prints what was shown",
            entry.id,
            entry.id
        ))),
    }
}

fn print_gaps(entry: &Entry) -> CommandResult {
    let lines: String = gaps(entry).iter().map(gap_line).collect();
    super::print(lines.as_bytes())
}

fn gap_line(gap: &Gap) -> String {
    format!("  {}, {} bytes ({})\n", Message::gap(gap), gap.bytes(), gap.why.as_str())
}

fn print_diff(store: &dyn Store, entry: &Entry) -> CommandResult {
    if entry.summary.is_none() {
        return Err(Failure::NotFound(anyhow::anyhow!(
            "{} is {}: what was shown of it is not known yet",
            entry.id,
            entry.state.as_str()
        )));
    }
    let marking = match AutoStream::choice(&std::io::stdout()) {
        ColorChoice::Never => Marking::Signs,
        _ => Marking::Colour,
    };
    let hidden = diff::hidden(gaps(entry));
    pager::print(|out| {
        let mut diff = Diff::new(&hidden, marking);
        let (mut offset, mut rest, mut block) = (0, Vec::new(), vec![0; BLOCK]);
        loop {
            let count = store.read(&entry.id, offset, &mut block)?;
            offset += count as u64;
            rest.extend_from_slice(&block[..count]);
            let end = match rest.iter().rposition(|&byte| byte == b'\n') {
                Some(feed) if count > 0 => feed + 1,
                // A line that is longer than a block is printed in parts.
                None if count > 0 && rest.len() < BLOCK => 0,
                _ => rest.len(),
            };
            for line in rest[..end].split_inclusive(|&byte| byte == b'\n') {
                diff.line(line, out)?;
            }
            rest.drain(..end);
            if count == 0 {
                return Ok(());
            }
        }
    })
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
        row("blake3", &summary.digest);
    }
    if let Some(path) = &entry.path {
        row("path", &path.display().to_string());
    }
    if let Some(summary) = &entry.summary {
        let shown = summary.shown.bytes;
        let original = summary.original.bytes.max(1);
        row("shown", &format!("{shown} bytes, {:.1} %", shown as f64 * 100.0 / original as f64));
        text += &format!("\n{}\n", bar(entry));
        text.extend(summary.gaps.iter().take(MOST_GAPS).map(gap_line));
        if summary.gaps.len() > MOST_GAPS {
            let more = summary.gaps.len() - MOST_GAPS;
            text += &format!("  and {more} more: {program} show {} --gaps\n", entry.id);
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
