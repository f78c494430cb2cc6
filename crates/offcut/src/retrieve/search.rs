//! Searching stored outputs, with ripgrep's crates.

mod query;

pub use query::Query;

use crate::boundary;
use crate::notice::{Message, Notice, Tag};
use crate::retrieve::long_lines::{AddedFeeds, SplitLines};
use crate::retrieve::{PageLimits, RetrieveError, Source};
use crate::store::{EntryState, Id, Reading, Store, StoreError};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use std::io;
use std::ops::Range;

/// A long line is shown around its match, with this many bytes on each side.
const AROUND: usize = 160;

/// In place of what is left out of a long line.
const ELLIPSIS: &str = "…";

/// The most memory that a search uses. A longer line is searched in parts.
const HEAP: usize = 128 << 20;

/// How much a search reads at once.
const READ_BUFFER: usize = 64 << 10;

/// The most lines of context on each side of a match. More would not fit a page.
const MOST_CONTEXT: usize = 1000;

/// How many outputs that were not searched as a whole are listed with the reason. The others are counted.
const MOST_LISTED: usize = 20;

/// One line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The output.
    pub id: Id,
    /// The line's number.
    pub line: u64,
    /// The offset of the line, or of the part of it that was searched; of the match, if only matches are shown.
    pub offset: u64,
    /// The line without its line feed, the part around the match, or only the match.
    pub text: Vec<u8>,
    /// Where the text matches: parts of it, in order.
    pub found: Vec<Range<usize>>,
    /// What kind of line it is.
    pub kind: HitKind,
}

impl Hit {
    /// What is printed before the text.
    fn prefix(&self, with_id: bool) -> String {
        let separator = match self.kind {
            HitKind::Match => ':',
            HitKind::Context => '-',
            HitKind::Break => return "--".to_owned(),
        };
        let id = if with_id { format!("{}{separator}", self.id) } else { String::new() };
        format!("{id}{}{separator}", self.line)
    }

    /// The number of bytes printed.
    fn size(&self, with_id: bool) -> u64 {
        (self.prefix(with_id).len() + self.text.len() + 1) as u64
    }
}

/// What kind of line a hit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HitKind {
    /// It matches.
    Match,
    /// It is near a match.
    Context,
    /// Lines are left out here; the hit itself is empty.
    Break,
}

/// How many lines of one output match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputMatches {
    /// The output.
    pub id: Id,
    /// The number of lines that match.
    pub matches: u64,
    /// The number of lines, if it is known.
    pub lines: Option<u64>,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct SearchResult {
    /// The lines that fit a page.
    pub hits: Vec<Hit>,
    /// The outputs that were searched, in this order.
    pub outputs: Vec<OutputMatches>,
    /// The number of lines that match, shown or not.
    pub matches: u64,
    /// The number of matching lines among the hits.
    pub shown: u64,
    /// What readers must know about outputs of which only a part could be searched: a notice for each of the first 20.
    pub incomplete: Vec<Notice>,
    /// Outputs that could not be searched, and bytes that are not those that were stored: the first 20. One output can have
    /// several.
    pub errors: Vec<RetrieveError>,
    /// The number of outputs that were not searched as a whole.
    pub outputs_in_part: usize,
    /// The number of these that are not, or not in full, in the two lists.
    pub unlisted: usize,
}

impl SearchResult {
    /// The hits as `grep` prints them: `12:match`, `11-context`, and `--` where lines are left out; with ids,
    /// `ID:12:match`.
    pub fn to_text(&self, with_ids: bool) -> Vec<u8> {
        let mut text = Vec::new();
        for hit in &self.hits {
            text.extend_from_slice(hit.prefix(with_ids).as_bytes());
            text.extend_from_slice(&hit.text);
            text.push(b'\n');
        }
        text
    }

    /// The number of reasons why outputs were not searched as a whole.
    fn reasons(&self) -> usize {
        self.incomplete.len() + self.errors.len()
    }

    /// How many lines match and how many of them are shown, so that a part is not taken for all.
    pub fn notice(&self) -> Notice {
        let message = Message::Matches { shown: self.shown, total: self.matches };
        Notice { tag: Tag::Plain, message }
    }

    /// One line for each reason why an output was not searched as a whole. If there are more than `most`, one line counts
    /// all of these outputs after the first `most` lines.
    pub fn omissions(&self, most: usize) -> Vec<String> {
        let incomplete = self.incomplete.iter().map(Notice::to_string);
        let errors = self.errors.iter().map(|error| format!("offcut: {error}"));
        let mut lines: Vec<String> = errors.chain(incomplete).collect();
        if lines.len() > most || self.unlisted > 0 {
            lines.truncate(most);
            let message = Message::SearchedInPart { outputs: self.outputs_in_part };
            lines.push(Notice { tag: Tag::Plain, message }.to_string());
        }
        lines
    }

    /// Adds why one output was not searched as a whole.
    fn note(&mut self, incomplete: Option<Notice>, errors: Vec<RetrieveError>) {
        let added = incomplete.iter().len() + errors.len();
        let all = self.reasons() + added;
        self.outputs_in_part += usize::from(added > 0);
        self.incomplete.extend(incomplete);
        self.incomplete.truncate(MOST_LISTED);
        self.errors.extend(errors);
        self.errors.truncate(MOST_LISTED);
        self.unlisted += usize::from(self.reasons() < all);
    }
}

/// Searches outputs in the order given. The result fits a page; all matches are counted.
///
/// ```
/// use offcut::retrieve::{PageLimits, Query, search};
/// use offcut::store::{MemoryStore, Store};
/// use offcut::{Context, Profile, Storage, Truncator};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
/// let output: String = (1..=10_000).map(|number| format!("line {number}\n")).collect();
/// let _ = truncator.apply(&output, &Context::default());
///
/// let query = Query { pattern: "line 500.$".to_owned(), ..Query::default() };
/// let result = search(&*store, &store.ids().unwrap(), &query, PageLimits::default()).unwrap();
/// assert_eq!(result.matches, 10);
/// assert!(result.to_text(false).starts_with(b"5000:line 5000\n"));
/// ```
pub fn search(
    store: &dyn Store,
    ids: &[Id],
    query: &Query,
    limits: PageLimits,
) -> Result<SearchResult, RetrieveError> {
    let mut search = Search::new(query, limits)?;
    if ids.len() > 1 {
        search = search.with_ids();
    }
    search.add_all(store, ids)?;
    Ok(search.finish())
}

/// A search of outputs that may be in several stores; its result fits one page.
pub struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    longest_line: usize,
    max_count: Option<u64>,
    only_matching: bool,
    page: Page,
}

/// The result so far, and the room that is left for it.
struct Page {
    left: PageLimits,
    /// Whether each line is shown with the id of its output.
    with_ids: bool,
    result: SearchResult,
}

impl Search {
    /// A search that has not seen any output yet.
    pub fn new(query: &Query, limits: PageLimits) -> Result<Search, RetrieveError> {
        let matcher = query.matcher()?;
        let (before, after) = query.context_lines();
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .invert_match(query.invert)
            .before_context(before)
            .after_context(after)
            .heap_limit(Some(HEAP))
            .build();
        let page = Page { left: limits, with_ids: false, result: SearchResult::default() };
        // The searcher keeps the lines before a match and one more, and reads another.
        let longest_line = (HEAP / (before.max(after) + 2)).saturating_sub(READ_BUFFER).max(READ_BUFFER);
        let only_matching = query.only_matching && !query.invert;
        Ok(Search { matcher, searcher, longest_line, max_count: query.max_count, only_matching, page })
    }

    /// The same for a result that is shown with ids ([`SearchResult::to_text`]), which take room on the page.
    #[must_use]
    pub fn with_ids(mut self) -> Search {
        self.page.with_ids = true;
        self
    }

    /// Searches one output. An error later than at its start is part of the result, with what was found before it.
    pub fn add(&mut self, store: &dyn Store, id: &Id) -> Result<(), RetrieveError> {
        let entry = store.entry(id)?;
        let source = Source::whole(store, &entry)?;
        let Search { matcher, searcher, longest_line, max_count, only_matching, page } = self;
        let before = page.result.matches;
        let added = AddedFeeds::default();
        let mut text = SplitLines::new(&source, *longest_line, &added);
        let collector = Collector {
            id: *id,
            matcher,
            most: max_count.unwrap_or(u64::MAX),
            matches: 0,
            only_matching: *only_matching,
            page,
            added: &added,
            last_match: 0,
        };
        let searched = searcher.search_reader(&*matcher, &mut text, collector);
        let mut errors = Vec::new();
        if let Err(error) = searched {
            errors.push(StoreError::Io { action: "search", place: id.to_string(), error }.into());
        }
        errors.extend(RetrieveError::damage(&entry, source.mismatches()));
        let bytes = if entry.reading == Reading::Plain { text.offset } else { entry.bytes };
        let message = Message::searched(&entry.state, bytes);
        page.result.note(message.map(|message| Notice::of_entry(id, message)), errors);
        let matches = page.result.matches - before;
        page.result.outputs.push(OutputMatches { id: *id, matches, lines: entry.lines });
        Ok(())
    }

    /// Searches several outputs. One that cannot be read does not hide the others: the error is part of the result, unless
    /// it is the only output. Outputs that were removed meanwhile are skipped.
    pub fn add_all(&mut self, store: &dyn Store, ids: &[Id]) -> Result<(), RetrieveError> {
        for id in ids {
            let Err(error) = self.add(store, id) else { continue };
            if ids.len() == 1 {
                return Err(error);
            }
            let result = &mut self.page.result;
            match error {
                RetrieveError::Store(StoreError::NotFound { .. }) => {}
                RetrieveError::Store(StoreError::Unsupported { version, .. }) => {
                    let message = Message::searched(&EntryState::Unsupported { version }, 0);
                    result.note(message.map(|message| Notice::of_entry(id, message)), Vec::new());
                }
                error => result.note(None, vec![error]),
            }
        }
        Ok(())
    }

    /// The result.
    pub fn finish(self) -> SearchResult {
        self.page.result
    }
}

struct Collector<'a> {
    id: Id,
    matcher: &'a RegexMatcher,
    /// The most matches to show of this output.
    most: u64,
    /// The number of lines of this output that match so far.
    matches: u64,
    /// Each match is a hit, without the rest of its line.
    only_matching: bool,
    page: &'a mut Page,
    /// The line feeds that were added to the text: positions are counted without them.
    added: &'a AddedFeeds,
    /// The line that matched last. Its later parts do not count again.
    last_match: u64,
}

impl Collector<'_> {
    /// Adds a hit if the page has room for it, and returns whether it did.
    fn add(&mut self, kind: HitKind, line: u64, offset: u64, excerpt: Excerpt) -> bool {
        let Page { left, with_ids, result } = &mut *self.page;
        let Excerpt { text, found } = excerpt;
        let hit = Hit { id: self.id, line, offset, text, found, kind };
        let cost = hit.size(*with_ids);
        if left.bytes < cost || left.lines == 0 {
            *left = PageLimits { bytes: 0, lines: 0 };
            return false;
        }
        left.bytes -= cost;
        left.lines -= 1;
        result.hits.push(hit);
        true
    }

    /// Adds each match in a line, and returns whether all were added. An empty match has nothing to show.
    fn add_matches(&mut self, number: u64, offset: u64, line: &[u8]) -> bool {
        let mut is_shown = true;
        let matcher = self.matcher;
        let _ = matcher.find_iter(line, |found| {
            let at = offset + found.start() as u64;
            is_shown =
                found.is_empty() || self.add(HitKind::Match, number, at, Excerpt::of_match(&line[found]));
            is_shown
        });
        is_shown
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let (offset, number) =
            self.added.original(found.absolute_byte_offset(), found.line_number().unwrap_or(0));
        if number == self.last_match {
            return Ok(true);
        }
        self.last_match = number;
        self.matches += 1;
        self.page.result.matches += 1;
        if self.matches > self.most {
            return Ok(true);
        }
        let line = without_line_end(found.bytes());
        let is_shown = if self.only_matching {
            self.add_matches(number, offset, line)
        } else {
            self.add(HitKind::Match, number, offset, Excerpt::with_matches(line, self.matcher))
        };
        self.page.result.shown += u64::from(is_shown);
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_shown = match context.kind() {
            SinkContextKind::After => self.matches <= self.most,
            // It belongs to the next match.
            _ => self.matches < self.most,
        };
        if !is_shown {
            return Ok(true);
        }
        let (offset, number) =
            self.added.original(context.absolute_byte_offset(), context.line_number().unwrap_or(0));
        self.add(HitKind::Context, number, offset, Excerpt::around(without_line_end(context.bytes()), 0).0);
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        if self.matches < self.most {
            self.add(HitKind::Break, 0, 0, Excerpt::default());
        }
        Ok(true)
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What is shown of a line, and where it matches.
#[derive(Default)]
struct Excerpt {
    text: Vec<u8>,
    found: Vec<Range<usize>>,
}

impl Excerpt {
    /// The part of a long line around the byte at `at`, and which bytes of the line it has.
    fn around(line: &[u8], at: usize) -> (Excerpt, Range<usize>) {
        if line.len() <= 2 * AROUND {
            return (Excerpt { text: line.to_vec(), found: Vec::new() }, 0..line.len());
        }
        let start = boundary::ceil(line, at.saturating_sub(AROUND));
        let end = boundary::floor(line, (start + 2 * AROUND).min(line.len()));
        let ellipsis = |is_cut: bool| if is_cut { ELLIPSIS } else { "" }.as_bytes();
        let text = [ellipsis(start > 0), &line[start..end], ellipsis(end < line.len())].concat();
        (Excerpt { text, found: Vec::new() }, start..end)
    }

    /// The part around the first match, with all matches in it.
    fn with_matches(line: &[u8], matcher: &RegexMatcher) -> Excerpt {
        let at = matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let (mut excerpt, shown) = Excerpt::around(line, at);
        let before = if shown.start > 0 { ELLIPSIS.len() } else { 0 };
        let _ = matcher.find_iter(line, |found| {
            let (start, end) = (found.start().max(shown.start), found.end().min(shown.end));
            if start < end {
                excerpt.found.push(before + start - shown.start..before + end - shown.start);
            }
            found.start() < shown.end
        });
        excerpt
    }

    /// A match without the rest of its line.
    fn of_match(text: &[u8]) -> Excerpt {
        let (mut excerpt, shown) = Excerpt::around(text, 0);
        excerpt.found.push(0..shown.len());
        excerpt
    }
}

#[cfg(test)]
mod tests;
