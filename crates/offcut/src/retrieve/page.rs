//! One bounded page of a stored output.

use crate::boundary;
use crate::event::{Event, EventSink};
use crate::measure::{self, LineConvention};
use crate::notice::Message;
use crate::retrieve::source::Source;
use crate::retrieve::{ChecksumMismatch, Range, RetrieveError};
use crate::store::{Entry, LineCheckpoint, Store};
use std::ops::RangeInclusive;

/// An entry is scanned for lines in blocks of this size.
const BLOCK: usize = 256 << 10;

/// The largest size of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageLimits {
    /// Bytes.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

impl Default for PageLimits {
    /// What every tested agent passes to the model unchanged, less the line that names the next page.
    fn default() -> Self {
        PageLimits { bytes: 9200, lines: 1899 }
    }
}

/// A part of an output.
#[derive(Clone, Debug)]
pub struct Page {
    /// The bytes.
    pub content: Vec<u8>,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The size of the whole text.
    pub total: u64,
    /// The lines of the page, if known.
    pub lines: Option<RangeInclusive<u64>>,
    /// Whether the page contains the whole range, and which range is next.
    pub progress: Progress,
    /// The blocks read for the page that are not as they were stored: what it contains of them cannot be trusted. Checked
    /// for entries that are plain files.
    pub mismatches: Vec<ChecksumMismatch>,
}

/// How much of the requested range a page contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of it, and the output ends here.
    AtEnd,
    /// All of it; this range comes next.
    Satisfied(Range),
    /// Not all of it: the page is full, and this range is the rest.
    Full(Range),
}

impl Progress {
    /// Whether the page contains the whole requested range.
    pub fn is_satisfied(&self) -> bool {
        !matches!(self, Progress::Full(_))
    }

    /// The range to request next, unless the output ends here.
    pub fn next(&self) -> Option<&Range> {
        match self {
            Progress::AtEnd => None,
            Progress::Satisfied(next) | Progress::Full(next) => Some(next),
        }
    }
}

/// Reads as much of a range of an entry as fits on a page. JSON with a readable form is read in that form.
///
/// ```
/// use offcut::event::DiscardEvents;
/// use offcut::retrieve::{PageLimits, Range, page};
/// use offcut::store::MemoryStore;
/// use offcut::{Context, Profile, Storage, Truncator};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
/// let output: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
/// let outcome = truncator.apply(&output, &Context::default());
/// let entry = outcome.preview().and_then(|preview| preview.entry()).expect("it was stored");
///
/// let range = Range::lines("5000:5001").unwrap();
/// let page = page(&*store, entry, range, PageLimits::default(), &DiscardEvents).unwrap();
/// assert_eq!(page.content, b"5000\n5001\n");
/// assert_eq!(page.progress.next(), Some(&Range::lines("5002:5003").unwrap()));
/// ```
pub fn page(
    store: &dyn Store,
    entry: &Entry,
    range: Range,
    limits: PageLimits,
    sink: &dyn EventSink,
) -> Result<Page, RetrieveError> {
    let reader = Reader { source: Source::part(store, entry)?, entry };
    let page = match range {
        Range::Bytes { start, end } => reader.bytes(start, end, limits)?,
        Range::LastBytes(count) => reader.bytes(reader.source.total.saturating_sub(count), None, limits)?,
        Range::Lines { first, last } => {
            let start = reader.offset_of(first)?;
            reader.lines(start, Some(first), last, limits)?
        }
        Range::Around { line, context } => {
            let (start, before) = reader.lines_before(line, context, limits)?;
            reader.lines(start, Some(line - before), Some(line.saturating_add(context)), limits)?
        }
        Range::LastLines(count) => {
            let start = match entry.lines {
                Some(total) => reader.offset_of(total.saturating_sub(count) + 1)?,
                None => reader.offset_from_end(count)?,
            };
            let first = entry.lines.map(|total| total.saturating_sub(count) + 1);
            reader.lines(start, first, None, limits)?
        }
    };
    sink.emit(&Event::Retrieved { id: &entry.id, start: page.start, end: page.end });
    Ok(page)
}

struct Reader<'a> {
    source: Source<'a>,
    entry: &'a Entry,
}

impl Reader<'_> {
    fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, RetrieveError> {
        Ok(self.source.bytes(offset, length)?)
    }

    /// The offset of `line`, found from a checkpoint or from the nearer end of the output.
    fn offset_of(&self, line: u64) -> Result<u64, RetrieveError> {
        let total = self.entry.lines;
        if let Some(total) = total.filter(|&total| line > total.max(1)) {
            return Err(self.past_the_end("line", line, total));
        }
        // A checkpoint inside `line` does not help, because the line starts before it.
        let known = self.source.checkpoint(line)?;
        let LineCheckpoint { mut offset, feeds } =
            if known.feeds < line - 1 { known } else { LineCheckpoint::START };
        if let Some(total) = total.filter(|&total| offset == 0 && line > total / 2) {
            return self.offset_from_end(total + 1 - line);
        }
        let mut wanted = line - 1 - feeds;
        while wanted > 0 {
            let block = self.read(offset, BLOCK as u64)?;
            if block.is_empty() {
                return Err(self.past_the_end("line", line, line - wanted));
            }
            let found = measure::newlines(&block);
            if found >= wanted {
                return Ok(offset + LineConvention::Terminated.prefix(&block, wanted) as u64);
            }
            wanted -= found;
            offset += block.len() as u64;
        }
        Ok(offset)
    }

    /// The offset and number of the lines before `line`: at most `context`, and at most half a page.
    fn lines_before(&self, line: u64, context: u64, limits: PageLimits) -> Result<(u64, u64), RetrieveError> {
        let at = self.offset_of(line)?;
        let length = at.min(limits.bytes / 2);
        let before = self.read(at - length, length)?;
        let mut start = LineConvention::Terminated.suffix(&before, context.min(limits.lines / 2));
        if start == 0 && length < at {
            start = LineConvention::Terminated.start_after(&before, 1);
        }
        let lines = measure::newlines(&before[start..]);
        Ok((at - (before.len() - start) as u64, lines))
    }

    /// The offset of the last `count` lines.
    fn offset_from_end(&self, count: u64) -> Result<u64, RetrieveError> {
        let mut end = self.source.total;
        // A line feed at the end of the output does not start another line.
        let mut wanted = count;
        if end > 0 && self.read(end - 1, 1)? == b"\n" {
            end -= 1;
        }
        while end > 0 {
            let start = end.saturating_sub(BLOCK as u64);
            let block = self.read(start, end - start)?;
            let found = measure::newlines(&block);
            if found >= wanted {
                let nth = usize::try_from(wanted - 1).unwrap_or(usize::MAX);
                let feed = memchr::memrchr_iter(b'\n', &block).nth(nth).unwrap_or(0);
                return Ok(start + feed as u64 + 1);
            }
            wanted -= found;
            end = start;
        }
        Ok(0)
    }

    fn bytes(&self, start: u64, asked_end: Option<u64>, limits: PageLimits) -> Result<Page, RetrieveError> {
        let total = self.source.total;
        if start > 0 && start >= total {
            return Err(self.past_the_end("byte", start, total));
        }
        let wanted = asked_end.unwrap_or(total).min(total);
        let most = (wanted - start).min(limits.bytes) as usize;
        let mut content = self.read(start, most as u64 + 3)?;
        // A requested range ends exactly where requested; a full page ends between characters.
        let mut length = most.min(content.len());
        if start + (length as u64) < wanted {
            length = boundary::floor(&content, length);
        }
        length = LineConvention::Terminated.prefix(&content[..length], limits.lines);
        content.truncate(length);
        let mismatches = self.source.mismatches();
        let end = start + content.len() as u64;
        let progress = if end < wanted {
            Progress::Full(Range::Bytes { start: end, end: asked_end })
        } else if end < total {
            let following = self.bytes(end, None, limits)?;
            Progress::Satisfied(Range::Bytes { start: end, end: Some(following.end) })
        } else {
            Progress::AtEnd
        };
        Ok(Page { content, start, end, total, lines: None, progress, mismatches })
    }

    fn lines(
        &self,
        start: u64,
        first: Option<u64>,
        last: Option<u64>,
        limits: PageLimits,
    ) -> Result<Page, RetrieveError> {
        let total = self.source.total;
        let mut content = self.read(start, limits.bytes + 4)?;
        let wanted = match (first, last) {
            (Some(first), Some(last)) => last - first + 1,
            _ => u64::MAX,
        };
        let whole = LineConvention::Terminated.prefix(&content, wanted.min(limits.lines));
        let reaches_end = start + content.len() as u64 >= total;
        let complete = whole < content.len() || content.ends_with(b"\n") || reaches_end;
        let mut inside_line = false;
        if whole as u64 > limits.bytes || !complete {
            let most = content.len().min(limits.bytes as usize);
            let end = LineConvention::Terminated.end_before(&content, most);
            // A line too long for the rest of the page is split if the page would be half empty without it.
            inside_line = end * 2 < most;
            content.truncate(if inside_line { boundary::floor(&content, most) } else { end });
        } else {
            content.truncate(whole);
        }
        let mismatches = self.source.mismatches();
        let end = start + content.len() as u64;
        let count = measure::lines(&content, LineConvention::Terminated);
        let lines = first.filter(|_| count > 0).map(|first| first..=first + count - 1);
        let progress = if inside_line && end < total {
            // The rest of the range, in bytes because it starts inside a line.
            let wanted_end = match (first, last) {
                (Some(first), Some(last)) if last > first + count - 1 => self.offset_of(last + 1).ok(),
                (Some(_), Some(_)) => Some(self.end_of_line(end)?),
                _ => None,
            };
            Progress::Full(Range::Bytes { start: end, end: wanted_end.filter(|&wanted| wanted < total) })
        } else if end >= total {
            Progress::AtEnd
        } else {
            match first {
                Some(first) if count < wanted => Progress::Full(Range::Lines { first: first + count, last }),
                Some(first) => Progress::Satisfied(self.following(end, first + count, count, limits)?),
                None => Progress::Full(Range::Bytes { start: end, end: None }),
            }
        };
        Ok(Page { content, start, end, total, lines, progress, mismatches })
    }

    /// At most `count` lines that fit one page, from the line `first` on, which begins at `start`; or the beginning of a line
    /// that does not fit.
    fn following(
        &self,
        start: u64,
        first: u64,
        count: u64,
        limits: PageLimits,
    ) -> Result<Range, RetrieveError> {
        let page = self.lines(start, Some(first), None, limits)?;
        let whole = match page.progress {
            Progress::AtEnd => measure::lines(&page.content, LineConvention::Terminated),
            Progress::Satisfied(_) | Progress::Full(_) => measure::newlines(&page.content),
        };
        Ok(match whole {
            0 => Range::Bytes { start, end: Some(page.end) },
            _ => Range::Lines { first, last: Some(first + whole.min(count) - 1) },
        })
    }

    /// The end of the line that contains the byte at `offset`.
    fn end_of_line(&self, offset: u64) -> Result<u64, RetrieveError> {
        let mut offset = offset;
        loop {
            let block = self.read(offset, BLOCK as u64)?;
            match memchr::memchr(b'\n', &block) {
                Some(feed) => return Ok(offset + feed as u64 + 1),
                None if block.is_empty() => return Ok(offset),
                None => offset += block.len() as u64,
            }
        }
    }

    fn past_the_end(&self, what: &'static str, asked: u64, total: u64) -> RetrieveError {
        let rest = Message::incomplete(self.entry).map(|message| {
            let original = self.entry.summary.as_ref().map_or(0, |summary| summary.original.bytes);
            match original > self.entry.bytes {
                true => format!("; the output had {original} bytes, but it is {message}"),
                false => format!("; it is {message}"),
            }
        });
        RetrieveError::PastTheEnd { id: self.entry.id, what, asked, total, rest }
    }
}
