//! Searching stored outputs, with ripgrep's crates.

use crate::boundary;
use crate::notice::{Message, Notice, Tag};
use crate::retrieve::{PageLimits, RetrieveError, Source};
use crate::store::{Id, Store, StoreError};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use std::io::{self, Read};

/// A long line is shown around its match, with this many bytes on each side.
const AROUND: usize = 160;

/// The most memory that a search uses; a longer single line cannot be searched.
const HEAP: usize = 128 << 20;

/// What a hit costs in addition to its text: its line number and separators.
const HIT_OVERHEAD: u64 = 32;

/// What to search for. Programs may write it as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// A regular expression.
    pub pattern: String,
    /// Upper and lower case match each other.
    #[serde(default, alias = "ignoreCase")]
    pub ignore_case: bool,
    /// The number of lines to show before and after a match.
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
    /// The offset of the line.
    pub offset: u64,
    /// The line without its line feed, or the part around the match.
    pub text: Vec<u8>,
    /// What kind of line it is.
    pub kind: HitKind,
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
#[derive(Clone, Debug, Default)]
pub struct SearchResult {
    /// The lines that fit a page.
    pub hits: Vec<Hit>,
    /// The number of lines that match, shown or not.
    pub matches: u64,
    /// The number of matching lines among the hits.
    pub shown: u64,
}

impl SearchResult {
    /// The hits as `grep` prints them: `12:match`, `11-context`, and `--` where lines are left out; with ids,
    /// `ID:12:match`.
    pub fn to_text(&self, with_ids: bool) -> Vec<u8> {
        let mut text = Vec::new();
        for hit in &self.hits {
            let separator = match hit.kind {
                HitKind::Match => ':',
                HitKind::Context => '-',
                HitKind::Break => {
                    text.extend_from_slice(b"--\n");
                    continue;
                }
            };
            if with_ids {
                text.extend_from_slice(format!("{}{separator}", hit.id).as_bytes());
            }
            text.extend_from_slice(format!("{}{separator}", hit.line).as_bytes());
            text.extend_from_slice(&hit.text);
            text.push(b'\n');
        }
        text
    }

    /// How many lines match and how many of them are shown, so that a part is not taken for all.
    pub fn notice(&self) -> Notice {
        let message = Message::Matches { shown: self.shown, total: self.matches };
        Notice { tag: Tag::Plain, message }
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
    search.add_all(store, ids)?;
    Ok(search.finish())
}

/// A search of outputs that may be in several stores; its result fits one page.
pub struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    max_count: Option<u64>,
    page: Page,
}

/// The result so far, and the room that is left for it.
struct Page {
    left: PageLimits,
    result: SearchResult,
}

impl Search {
    /// A search that has not seen any output yet.
    pub fn new(query: &Query, limits: PageLimits) -> Result<Search, RetrieveError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(query.ignore_case)
            .line_terminator(Some(b'\n'))
            .build(&query.pattern)
            .map_err(|error| RetrieveError::NotAPattern { reason: error.to_string() })?;
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(query.context)
            .after_context(query.context)
            .heap_limit(Some(HEAP))
            .build();
        let page = Page { left: limits, result: SearchResult::default() };
        Ok(Search { matcher, searcher, max_count: query.max_count, page })
    }

    /// Searches one output.
    pub fn add(&mut self, store: &dyn Store, id: &Id) -> Result<(), RetrieveError> {
        let entry = store.entry(id)?;
        let source = Source::open(store, &entry)?;
        let Search { matcher, searcher, max_count, page } = self;
        let most = max_count.map(|count| page.result.shown + count);
        let collector = Collector { id: *id, matcher, most, page };
        searcher.search_reader(&*matcher, Reader { source, offset: 0 }, collector).map_err(|error| {
            RetrieveError::Store(StoreError::Io { action: "search", place: id.to_string(), error })
        })
    }

    /// Searches several outputs, except those that a newer version of offcut wrote.
    pub fn add_all(&mut self, store: &dyn Store, ids: &[Id]) -> Result<(), RetrieveError> {
        for id in ids {
            match self.add(store, id) {
                Err(RetrieveError::Store(StoreError::Unsupported { .. })) if ids.len() > 1 => {}
                added => added?,
            }
        }
        Ok(())
    }

    /// The result.
    pub fn finish(self) -> SearchResult {
        self.page.result
    }
}

struct Reader<'a> {
    source: Source<'a>,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(self.offset, buffer).map_err(io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}

struct Collector<'a> {
    id: Id,
    matcher: &'a RegexMatcher,
    /// The number of matches shown at which this output has enough.
    most: Option<u64>,
    page: &'a mut Page,
}

impl Collector<'_> {
    /// Adds a hit if this output has not enough of them and the page has room for it, and returns whether it did.
    fn add(&mut self, kind: HitKind, line: Option<u64>, offset: u64, text: Vec<u8>) -> bool {
        let Page { left, result } = &mut *self.page;
        if self.most.is_some_and(|most| result.shown >= most) {
            return false;
        }
        let cost = text.len() as u64 + HIT_OVERHEAD;
        if left.bytes < cost || left.lines == 0 {
            *left = PageLimits { bytes: 0, lines: 0 };
            return false;
        }
        left.bytes -= cost;
        left.lines -= 1;
        result.hits.push(Hit { id: self.id, line: line.unwrap_or(0), offset, text, kind });
        true
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.page.result.matches += 1;
        let line = without_line_end(found.bytes());
        let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
        let (number, offset) = (found.line_number(), found.absolute_byte_offset());
        let is_shown = self.add(HitKind::Match, number, offset, around(line, at));
        self.page.result.shown += u64::from(is_shown);
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let (number, offset) = (context.line_number(), context.absolute_byte_offset());
        self.add(HitKind::Context, number, offset, around(without_line_end(context.bytes()), 0));
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        self.add(HitKind::Break, None, 0, Vec::new());
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
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::store::{EntryState, MemoryStore, NewEntry, contract};
    use std::time::UNIX_EPOCH;

    fn find(text: &[u8], query: &Query, limits: PageLimits) -> (Vec<String>, u64, u64) {
        let store = MemoryStore::new(|| UNIX_EPOCH);
        let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
        writer.write(text).unwrap();
        let id = writer.commit(EntryState::Complete, &contract::summary(text)).unwrap().id;
        let found = search(&store, &[id], query, limits).unwrap();
        let text = String::from_utf8_lossy(&found.to_text(false)).into_owned();
        let lines = text.split_terminator('\n').map(str::to_owned).collect();
        (lines, found.matches, found.shown)
    }

    fn query(pattern: &str) -> Query {
        Query { pattern: pattern.to_owned(), ..Query::default() }
    }

    #[test]
    fn search_returns_lines_context_and_counts() {
        let text = b"one\ntwo\nthree\r\nfour\n\xFFfive Error\nsix\nerror seven";
        let page = PageLimits::default();
        assert_eq!(find(text, &query("t.o"), page), (vec!["2:two".into()], 1, 1));
        assert_eq!(find(text, &query("three$"), page).1, 0, "a carriage return is part of its line");
        let insensitive = Query { ignore_case: true, ..query("ERROR") };
        assert_eq!(find(text, &insensitive, page).0, ["5:\u{FFFD}five Error", "7:error seven"]);
        let context = Query { context: 1, ..query("two|seven") };
        assert_eq!(
            find(text, &context, page).0,
            ["1-one", "2:two", "3-three", "--", "6-six", "7:error seven"]
        );
        let one = Query { max_count: Some(1), ..query("e") };
        assert_eq!(find(text, &one, page), (vec!["1:one".into()], 4, 1));
        assert_eq!(find(text, &query("nothing"), page), (vec![], 0, 0));
    }

    #[test]
    fn search_bounds_long_lines_and_many_matches() {
        let long = format!("{}NEEDLE{}", "漢".repeat(50_000), "字".repeat(50_000));
        let (lines, ..) = find(long.as_bytes(), &query("NEEDLE"), PageLimits::default());
        assert!(lines[0].contains("NEEDLE") && lines[0].len() < 400, "{lines:?}");
        let many = "match\n".repeat(100_000);
        let (lines, matches, shown) =
            find(many.as_bytes(), &query("match"), PageLimits { bytes: 1000, lines: 500 });
        assert_eq!((matches, shown, lines.len()), (100_000, 27, 27));
    }

    #[test]
    fn search_rejects_an_invalid_pattern() {
        let store = MemoryStore::new(|| UNIX_EPOCH);
        let error = search(&store, &[], &query("(("), PageLimits::default()).unwrap_err();
        assert!(matches!(error, RetrieveError::NotAPattern { .. }));
    }
}
