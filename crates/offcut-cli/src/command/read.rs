//! `offcut read` and `offcut cat`: a part of a stored output, or all of it.

use crate::arguments::{Cat, Format, GlobalOptions, Read};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::stream::Stdout;
use offcut::event::DiscardEvents;
use offcut::notice::{Message, Notice};
use offcut::report::PageReport;
use offcut::retrieve::{
    self, ChecksumMismatch, Page, PageLimits, Progress, Range, RetrieveError, VerifiedReader,
};
use offcut::store::Entry;
use std::io::{IsTerminal, Write};

const BLOCK: usize = 1 << 20;

pub(crate) fn read(global: &GlobalOptions, read: &Read) -> CommandResult {
    let range = Range::from_options(read.lines.as_deref(), read.bytes.as_deref(), read.around, read.context)?;
    let setup = Setup::new(global)?;
    let (store, program) = setup.store_of(&read.reference.id)?;
    let pager = Pager { program, options: options(read) };
    let limits = pager.limits(read)?;
    let entry = store.entry(&retrieve::resolve(&*store, &read.reference.id)?)?;
    let mut page = retrieve::page(&*store, &entry, range, limits, &DiscardEvents)?;
    match global.format {
        Format::Text => print_text(&pager, &entry, &mut page)?,
        Format::Json => {
            super::print_json(&PageReport::new(&entry, &page, |next| pager.command(&entry, next)))?;
        }
    }
    setup.record_reading(&entry.id, page.content.len());
    fail_if_modified(&entry, page.mismatches)
}

/// Writes the command for the next page.
struct Pager {
    program: String,
    /// The options that limit a page, as they were given.
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
        format!("{} read {} {}{}", self.program, entry.id.short(), range.option(), self.options)
    }

    /// The line that says where the page ends and how to read on.
    fn notice(&self, entry: &Entry, page: &Page, next: &Range) -> Notice {
        let more = self.command(entry, next);
        Notice::of_entry(&entry.id, Message::Page { end: page.end, total: page.total, more })
    }

    /// The limits of the content: those of the page less its last line.
    fn limits(&self, read: &Read) -> Result<PageLimits, Failure> {
        let (bytes, lines) = (read.max_bytes.unwrap_or(9500), read.max_lines.unwrap_or(1900));
        if bytes < 512 || lines < 2 {
            return Err(Failure::Usage(anyhow::anyhow!("a page needs at least 512 bytes and 2 lines")));
        }
        let last_line = 200 + self.program.len() + self.options.len();
        Ok(PageLimits { bytes: bytes.saturating_sub(last_line as u64).max(128), lines: lines - 1 })
    }
}

/// Prints exactly the requested range. If it does not fit the page, the last line says so and names the rest.
fn print_text(pager: &Pager, entry: &Entry, page: &mut Page) -> CommandResult {
    if let Progress::Full(next) = &page.progress {
        let notice = pager.notice(entry, page, next);
        if !page.content.ends_with(b"\n") {
            page.content.push(b'\n');
        }
        page.content.extend_from_slice(format!("{notice}\n").as_bytes());
    }
    super::print(&page.content)?;
    if let Progress::Satisfied(next) = &page.progress {
        // On a terminal, the notice follows the text.
        let is_in_line = !page.content.ends_with(b"\n") && std::io::stdout().is_terminal();
        let line_feed = if is_in_line { "\n" } else { "" };
        diagnostic::print(&format!("{line_feed}{}\n", pager.notice(entry, page, next)));
    }
    warn_if_incomplete(entry);
    Ok(())
}

pub(crate) fn cat(global: &GlobalOptions, cat: &Cat) -> CommandResult {
    let setup = Setup::new(global)?;
    let mut failures = Vec::new();
    for reference in &cat.ids {
        match print_whole(&setup, reference) {
            Ok(()) => {}
            Err(Failure::Closed) => return Err(Failure::Closed),
            // One output that cannot be read must not hide the others.
            Err(failure) => failures.push(failure),
        }
    }
    super::fail_with(failures)
}

fn print_whole(setup: &Setup, reference: &str) -> CommandResult {
    let (store, _) = setup.store_of(reference)?;
    let id = retrieve::resolve(&*store, reference)?;
    let entry = store.entry(&id)?;
    let reader = VerifiedReader::new(&*store, &entry);
    let mut block = vec![0; BLOCK];
    let mut offset = 0;
    loop {
        let count = reader.read(offset, &mut block)?;
        if count == 0 {
            break;
        }
        Stdout.write_all(&block[..count])?;
        offset += count as u64;
    }
    setup.record_reading(&id, usize::try_from(offset).unwrap_or(usize::MAX));
    warn_if_incomplete(&entry);
    fail_if_modified(&entry, reader.mismatches())
}

/// Fails if bytes that were printed are not those that were stored.
pub(super) fn fail_if_modified(entry: &Entry, mismatches: Vec<ChecksumMismatch>) -> CommandResult {
    super::fail_with(RetrieveError::damage(entry, mismatches).into_iter().map(Failure::from).collect())
}

fn warn_if_incomplete(entry: &Entry) {
    if let Some(message) = Message::incomplete(entry) {
        diagnostic::say(format_args!("{} is {message}", entry.id));
    }
}
