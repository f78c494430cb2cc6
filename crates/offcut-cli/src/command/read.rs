//! `offcut read` and `offcut cat`: parts of a kept output, and all of it.

use crate::arguments::{Everywhere, Format, Read, Reference};
use crate::environment;
use crate::failure::Outcome;
use crate::format::PageResult;
use offcut::NoSink;
use offcut::retrieve::{self, Page, PageLimits, Progress, Range};
use offcut::store::{Completeness, Entry};
use std::io::Write;

const BLOCK: usize = 1 << 20;

pub(crate) fn read(everywhere: &Everywhere, read: &Read) -> Outcome {
    let range = match (&read.lines, &read.bytes, read.around) {
        (Some(lines), _, _) => Range::lines(lines)?,
        (_, Some(bytes), _) => Range::bytes(bytes)?,
        (_, _, Some(line)) => Range::around(line, read.context),
        _ => Range::ALL,
    };
    let defaults = PageLimits::default();
    let limits = PageLimits {
        bytes: read.max_bytes.unwrap_or(defaults.bytes),
        lines: read.max_lines.unwrap_or(defaults.lines),
    };
    let store = environment::store_of(everywhere, &read.reference.id)?;
    let id = retrieve::resolve(&*store, &read.reference.id)?;
    let entry = store.entry(&id)?;
    let page = retrieve::page(&*store, &entry, range, limits, &NoSink)?;
    match everywhere.format {
        Format::Text => print_text(everywhere, &entry, &page),
        Format::Json => print_json(everywhere, &entry, page),
    }
}

fn command(everywhere: &Everywhere, entry: &Entry, range: &Range) -> String {
    format!("{} read {} {}", environment::program(everywhere), entry.id, range.option())
}

/// Standard output is exactly what was asked for. Only when it cannot be does it say so, in its last line.
fn print_text(everywhere: &Everywhere, entry: &Entry, page: &Page) -> Outcome {
    let mut text = page.content.clone();
    match &page.progress {
        Progress::AtEnd => {}
        Progress::Satisfied(next) => eprintln!("offcut: next: {}", command(everywhere, entry, next)),
        Progress::Full(next) => {
            if !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            let (end, total) = (page.end, entry.bytes);
            let command = command(everywhere, entry, next);
            text.extend_from_slice(
                format!("[offcut {}: page full at byte {end} of {total}; next: {command}]\n", entry.id)
                    .as_bytes(),
            );
        }
    }
    super::print(&text)?;
    warn_if_incomplete(entry);
    Ok(())
}

fn print_json(everywhere: &Everywhere, entry: &Entry, page: Page) -> Outcome {
    let (satisfied, next) = match &page.progress {
        Progress::AtEnd => (true, None),
        Progress::Satisfied(next) => (true, Some(next)),
        Progress::Full(next) => (false, Some(next)),
    };
    super::print_json(&PageResult {
        id: entry.id.to_string(),
        content: String::from_utf8_lossy(&page.content).into_owned(),
        start: page.start,
        end: page.end,
        first_line: page.lines.as_ref().map(|lines| *lines.start()),
        last_line: page.lines.as_ref().map(|lines| *lines.end()),
        satisfied,
        next: next.map(|next| command(everywhere, entry, next)),
        complete: entry.completeness == Completeness::Complete,
    })
}

pub(crate) fn cat(everywhere: &Everywhere, reference: &Reference) -> Outcome {
    let store = environment::store_of(everywhere, &reference.id)?;
    let id = retrieve::resolve(&*store, &reference.id)?;
    let entry = store.entry(&id)?;
    let mut stdout = std::io::stdout().lock();
    let mut block = vec![0; BLOCK];
    let mut offset = 0;
    loop {
        let count = store.read(&id, offset, &mut block)?;
        if count == 0 {
            break;
        }
        stdout.write_all(&block[..count])?;
        offset += count as u64;
    }
    stdout.flush()?;
    warn_if_incomplete(&entry);
    Ok(())
}

fn warn_if_incomplete(entry: &Entry) {
    let (id, bytes) = (entry.id, entry.bytes);
    match &entry.completeness {
        Completeness::Complete => {}
        Completeness::Writing => eprintln!("offcut: {id} is still being written; {bytes} bytes so far"),
        Completeness::Abandoned => {
            eprintln!("offcut: {id} is incomplete: its writer ended early, after {bytes} bytes");
        }
        Completeness::Partial { reason } => eprintln!("offcut: {id} is incomplete: {reason}"),
    }
}
