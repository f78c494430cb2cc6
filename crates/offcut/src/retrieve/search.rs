//! Searching stored outputs, with ripgrep's crates.

use crate::boundary;
use crate::notice::{Message, Notice, Tag};
use crate::retrieve::long_lines::{AddedFeeds, SplitLines};
use crate::retrieve::{PageLimits, RetrieveError, Source};
use crate::store::{EntryState, Id, Reading, Store, StoreError};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use std::io;

/// A long line is shown around its match, with this many bytes on each side.
const AROUND: usize = 160;

/// The most memory that a search uses. A longer line is searched in parts.
const HEAP: usize = 128 << 20;

/// How much a search reads at once.
const READ_BUFFER: usize = 64 << 10;

/// The most lines of context on each side of a match. More would not fit a page.
const MOST_CONTEXT: usize = 1000;

/// How many outputs that were not searched as a whole are listed with the reason. The others are counted.
const MOST_LISTED: usize = 20;

/// What to search for. Programs may write it as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// A regular expression. It matches inside one line, and `$` also matches before a carriage return at the end of a line.
    /// A line of more than 64 MiB, less with context, is searched in parts that overlap: a match of more than 4 KiB can be
    /// missed there.
    pub pattern: String,
    /// Upper and lower case match each other.
    #[serde(default, alias = "ignoreCase")]
    pub ignore_case: bool,
    /// The number of lines to show before and after a match, at most 1000.
    #[serde(default)]
    pub context: usize,
    /// The most matches to show of each output; all are counted.
    #[serde(default, alias = "maxCount")]
    pub max_count: Option<u64>,
}

/// One line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hit {
    /// The output.
    pub id: Id,
    /// The line's number.
    pub line: u64,
    /// The offset of the line, or of the part of it that was searched.
    pub offset: u64,
    /// The line without its line feed, or the part around the match.
    pub text: Vec<u8>,
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

/// The result of a search.
#[derive(Debug, Default)]
pub struct SearchResult {
    /// The lines that fit a page.
    pub hits: Vec<Hit>,
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
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(query.ignore_case)
            .line_terminator(Some(b'\n'))
            .build(&with_carriage_returns(&query.pattern))
            .map_err(|error| RetrieveError::NotAPattern { reason: reason(&error.to_string()) })?;
        let context = query.context.min(MOST_CONTEXT);
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(context)
            .after_context(context)
            .heap_limit(Some(HEAP))
            .build();
        let page = Page { left: limits, with_ids: false, result: SearchResult::default() };
        // The searcher keeps the lines before a match and one more, and reads another.
        let longest_line = (HEAP / (context + 2)).saturating_sub(READ_BUFFER).max(READ_BUFFER);
        Ok(Search { matcher, searcher, longest_line, max_count: query.max_count, page })
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
        let Search { matcher, searcher, longest_line, max_count, page } = self;
        let most = max_count.map(|count| page.result.shown + count);
        let added = AddedFeeds::default();
        let mut text = SplitLines::new(&source, *longest_line, &added);
        let collector = Collector { id: *id, matcher, most, page, added: &added, last_match: 0 };
        let searched = searcher.search_reader(&*matcher, &mut text, collector);
        let mut errors = Vec::new();
        if let Err(error) = searched {
            errors.push(StoreError::Io { action: "search", place: id.to_string(), error }.into());
        }
        errors.extend(RetrieveError::damage(&entry, source.mismatches()));
        let bytes = if entry.reading == Reading::Plain { text.offset } else { entry.bytes };
        let message = Message::searched(&entry.state, bytes);
        page.result.note(message.map(|message| Notice::of_entry(id, message)), errors);
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

/// The pattern in which `$` also matches before a carriage return at the end of a line. A mode of the engine for such line
/// ends exists, but there a carriage return ends a line anywhere, and a pattern cannot contain it.
fn with_carriage_returns(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut classes = 0_u32;
    let mut chars = pattern.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '$' if classes == 0 => {
                text.push_str(r"(?:\r??$)");
                continue;
            }
            '[' => {
                classes += 1;
                text.push('[');
                // A bracket at the start of a class is a literal.
                for literal in ['^', ']'] {
                    text.extend(chars.next_if_eq(&literal));
                }
                continue;
            }
            ']' => classes = classes.saturating_sub(1),
            _ => {}
        }
        text.push(char);
        if char == '\\' {
            text.extend(chars.next());
        }
    }
    text
}

/// The longest reason that is quoted in full.
const LONGEST_REASON: usize = 1000;

/// What is wrong with a pattern. The error quotes the pattern on several lines, and its last line says what is wrong.
fn reason(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).chars().take(LONGEST_REASON).collect()
}

struct Collector<'a> {
    id: Id,
    matcher: &'a RegexMatcher,
    /// The number of matches shown at which this output has enough.
    most: Option<u64>,
    page: &'a mut Page,
    /// The line feeds that were added to the text: positions are counted without them.
    added: &'a AddedFeeds,
    /// The line that matched last. Its later parts do not count again.
    last_match: u64,
}

impl Collector<'_> {
    /// Adds a hit if this output has not enough of them and the page has room for it, and returns whether it did.
    fn add(&mut self, kind: HitKind, line: u64, offset: u64, text: Vec<u8>) -> bool {
        let Page { left, with_ids, result } = &mut *self.page;
        if self.most.is_some_and(|most| result.shown >= most) {
            return false;
        }
        let hit = Hit { id: self.id, line, offset, text, kind };
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
        self.page.result.matches += 1;
        let line = without_line_end(found.bytes());
        let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let is_shown = self.add(HitKind::Match, number, offset, around(line, at));
        self.page.result.shown += u64::from(is_shown);
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let (offset, number) =
            self.added.original(context.absolute_byte_offset(), context.line_number().unwrap_or(0));
        self.add(HitKind::Context, number, offset, around(without_line_end(context.bytes()), 0));
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.add(HitKind::Break, 0, 0, Vec::new());
        Ok(true)
    }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a long line around the byte at `at`.
fn around(line: &[u8], at: usize) -> Vec<u8> {
    if line.len() <= 2 * AROUND {
        return line.to_vec();
    }
    let start = boundary::ceil(line, at.saturating_sub(AROUND));
    let end = boundary::floor(line, (start + 2 * AROUND).min(line.len()));
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" }.as_bytes();
    [ellipsis(start > 0), &line[start..end], ellipsis(end < line.len())].concat()
}

#[cfg(test)]
mod tests;
