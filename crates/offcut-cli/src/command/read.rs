//! `offcut read` and `offcut cat`: parts of a kept output, and all of it.

use crate::arguments::{Everywhere, Format, Read, Reference};
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::format::PageResult;
use offcut::DiscardEvents;
use offcut::retrieve::{self, Page, PageLimits, Progress, Range, View};
use offcut::store::{Entry, EntryState, Store};
use std::io::Write;

const BLOCK: usize = 1 << 20;

pub(crate) fn read(everywhere: &Everywhere, read: &Read) -> Outcome {
    let range = match (&read.lines, &read.bytes, read.around) {
        (Some(lines), _, _) => Range::lines(lines)?,
        (_, Some(bytes), _) => Range::bytes(bytes)?,
        (_, _, Some(line)) => Range::Around { line, context: read.context },
        _ => Range::ALL,
    };
    let setup = Setup::new(everywhere)?;
    let (store, program) = setup.store_of(&read.reference.id)?;
    let pager = Pager { program, options: options(read) };
    let limits = pager.limits(read)?;
    let id = retrieve::resolve(&*store, &read.reference.id)?;
    let store = View::new(store);
    let entry = store.entry(&id)?;
    let page = retrieve::page(&store, &entry, range, limits, &DiscardEvents)?;
    match everywhere.format {
        Format::Text => print_text(&pager, &entry, &page),
        Format::Json => print_json(&pager, &entry, page),
    }
}

/// How the next page is asked for.
struct Pager {
    program: String,
    /// The options that shape a page, as they were given.
    options: String,
}

fn options(read: &Read) -> String {
    let mut options = String::new();
    for (name, value) in [("bytes", read.max_bytes), ("lines", read.max_lines)] {
        if let Some(value) = value {
            options += &format!(" --max-{name} {value}");
        }
    }
    options
}

impl Pager {
    fn command(&self, entry: &Entry, range: &Range) -> String {
        format!("{} read {} {}{}", self.program, entry.id, range.option(), self.options)
    }

    /// What is left for the content when the last line is paid for.
    fn limits(&self, read: &Read) -> Result<PageLimits, Failure> {
        let (bytes, lines) = (read.max_bytes.unwrap_or(9500), read.max_lines.unwrap_or(1900));
        if bytes < 512 || lines < 2 {
            return Err(Failure::Usage(anyhow::anyhow!("a page needs at least 512 bytes and 2 lines")));
        }
        let last_line = 200 + self.program.len() + self.options.len();
        Ok(PageLimits { bytes: bytes.saturating_sub(last_line as u64).max(128), lines: lines - 1 })
    }
}

/// Standard output is exactly what was asked for. Only when it cannot be does it say so, in its last line.
fn print_text(pager: &Pager, entry: &Entry, page: &Page) -> Outcome {
    let mut text = page.content.clone();
    match &page.progress {
        Progress::AtEnd => {}
        Progress::Satisfied(next) => eprintln!("offcut: next: {}", pager.command(entry, next)),
        Progress::Full(next) => {
            if !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            let (end, total) = (page.end, entry.bytes);
            let command = pager.command(entry, next);
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

fn print_json(pager: &Pager, entry: &Entry, page: Page) -> Outcome {
    let (satisfied, next) = match &page.progress {
        Progress::AtEnd => (true, None),
        Progress::Satisfied(next) => (true, Some(next)),
        Progress::Full(next) => (false, Some(next)),
    };
    super::print_json(&PageResult {
        id: entry.id.to_string(),
        content: offcut::measure::as_text(&page.content).into_owned(),
        start: page.start,
        end: page.end,
        first_line: page.lines.as_ref().map(|lines| *lines.start()),
        last_line: page.lines.as_ref().map(|lines| *lines.end()),
        satisfied,
        next: next.map(|next| pager.command(entry, next)),
        complete: entry.completeness == EntryState::Complete,
    })
}

pub(crate) fn cat(everywhere: &Everywhere, reference: &Reference) -> Outcome {
    let (store, _) = Setup::new(everywhere)?.store_of(&reference.id)?;
    let id = retrieve::resolve(&*store, &reference.id)?;
    let entry = store.entry(&id)?;
    let mut stdout = std::io::stdout().lock();
    let mut block = vec![0; BLOCK];
    let mut offset = 0;
    let mut hasher = blake3::Hasher::new();
    loop {
        let count = store.read(&id, offset, &mut block)?;
        if count == 0 {
            break;
        }
        stdout.write_all(&block[..count])?;
        hasher.update(&block[..count]);
        offset += count as u64;
    }
    stdout.flush()?;
    warn_if_incomplete(&entry);
    let stored = entry.summary.as_ref().map(|summary| summary.digest.as_str());
    if entry.completeness == EntryState::Complete && stored != Some(hasher.finalize().to_hex().as_str()) {
        eprintln!("offcut: {id} was changed after it was stored: its digest is another");
    }
    Ok(())
}

fn warn_if_incomplete(entry: &Entry) {
    let (id, bytes) = (entry.id, entry.bytes);
    match &entry.completeness {
        EntryState::Complete => {}
        EntryState::Writing => eprintln!("offcut: {id} is still being written; {bytes} bytes so far"),
        EntryState::Abandoned => {
            eprintln!("offcut: {id} is incomplete: its writer ended early, after {bytes} bytes");
        }
        EntryState::Partial { reason } => eprintln!("offcut: {id} is incomplete: {reason}"),
    }
}
