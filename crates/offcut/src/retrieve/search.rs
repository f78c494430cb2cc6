//! Searching stored outputs, with ripgrep's own crates.

use crate::boundary;
use crate::retrieve::{PageLimits, RetrieveError};
use crate::store::{Id, Store, StoreError};
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use std::io::{self, Read};

/// A line is shown around its match, with this much on either side.
const AROUND: usize = 160;

/// The most memory that a search takes; a single line longer than that cannot be searched.
const HEAP: usize = 128 << 20;

/// What to look for.
#[derive(Clone, Debug)]
pub struct Query {
    /// A regular expression.
    pub pattern: String,
    /// Whether case matters.
    pub case: Case,
    /// Lines shown before and after a match.
    pub context: usize,
    /// Matches shown of each output at the most; all are counted.
    pub most: Option<u64>,
}

/// Whether case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// It does.
    #[default]
    Sensitive,
    /// It does not.
    Insensitive,
}

/// One line of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub enum HitKind {
    /// It matches.
    Match,
    /// It stands near a match.
    Context,
    /// Lines are left out here; the hit itself is empty.
    Break,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The lines that fit a page.
    pub hits: Vec<Hit>,
    /// How many lines match, shown or not.
    pub matches: u64,
    /// How many of them are among the hits.
    pub shown: u64,
}

/// Searches outputs in the order given. What is returned fits a page; all matches are counted.
pub fn search(
    store: &dyn Store,
    ids: &[Id],
    query: &Query,
    limits: PageLimits,
) -> Result<Found, RetrieveError> {
    let matcher = RegexMatcherBuilder::new()
        .case_insensitive(query.case == Case::Insensitive)
        .line_terminator(Some(b'\n'))
        .build(&query.pattern)
        .map_err(|error| RetrieveError::NotAPattern { reason: error.to_string() })?;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(query.context)
        .after_context(query.context)
        .heap_limit(Some(HEAP))
        .build();
    let mut found = Found::default();
    let mut left = limits;
    for &id in ids {
        let before = found.shown;
        let collector =
            Collector { id, matcher: &matcher, most: query.most, before, left: &mut left, found: &mut found };
        let reader = Reader { store, id, offset: 0 };
        searcher.search_reader(&matcher, reader, collector).map_err(|error| {
            RetrieveError::Store(StoreError::Io { tried: "search", place: id.to_string(), error })
        })?;
    }
    Ok(found)
}

struct Reader<'a> {
    store: &'a dyn Store,
    id: Id,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.store.read(&self.id, self.offset, buffer).map_err(io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}

struct Collector<'a> {
    id: Id,
    matcher: &'a RegexMatcher,
    most: Option<u64>,
    before: u64,
    left: &'a mut PageLimits,
    found: &'a mut Found,
}

impl Collector<'_> {
    /// Takes a hit if the page has room for it.
    fn take(&mut self, hit: Hit) -> bool {
        // A line costs its text, its number and a few signs.
        let cost = hit.text.len() as u64 + 32;
        if self.left.bytes < cost || self.left.lines == 0 {
            *self.left = PageLimits { bytes: 0, lines: 0 };
            return false;
        }
        self.left.bytes -= cost;
        self.left.lines -= 1;
        self.found.hits.push(hit);
        true
    }

    fn is_enough(&self) -> bool {
        self.most.is_some_and(|most| self.found.shown - self.before >= most)
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.found.matches += 1;
        if !self.is_enough() {
            let line = without_feed(found.bytes());
            let place = self.matcher.find(line).ok().flatten().map_or(0, |place| place.start());
            let hit = Hit {
                id: self.id,
                line: found.line_number().unwrap_or(0),
                offset: found.absolute_byte_offset(),
                text: around(line, place),
                kind: HitKind::Match,
            };
            self.found.shown += u64::from(self.take(hit));
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if !self.is_enough() {
            self.take(Hit {
                id: self.id,
                line: context.line_number().unwrap_or(0),
                offset: context.absolute_byte_offset(),
                text: around(without_feed(context.bytes()), 0),
                kind: HitKind::Context,
            });
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> io::Result<bool> {
        if !self.is_enough() {
            self.take(Hit { id: self.id, line: 0, offset: 0, text: Vec::new(), kind: HitKind::Break });
        }
        Ok(true)
    }
}

fn without_feed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The part of a long line around `place`.
fn around(line: &[u8], place: usize) -> Vec<u8> {
    if line.len() <= 2 * AROUND {
        return line.to_vec();
    }
    let start = boundary::ceil(line, place.saturating_sub(AROUND));
    let end = boundary::floor(line, (start + 2 * AROUND).min(line.len()));
    let mut text = Vec::new();
    if start > 0 {
        text.extend_from_slice("…".as_bytes());
    }
    text.extend_from_slice(&line[start..end]);
    if end < line.len() {
        text.extend_from_slice("…".as_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::store::{MemoryStore, NewEntry, Reading, contract};
    use std::time::UNIX_EPOCH;

    fn find(text: &[u8], query: &Query, limits: PageLimits) -> (Vec<String>, u64, u64) {
        let store = MemoryStore::new(|| UNIX_EPOCH);
        let draft = NewEntry {
            context: &Context::default(),
            profile: "native",
            file_name: "x",
            reading: Reading::Plain,
        };
        let mut writer = store.create(&draft).unwrap();
        writer.write(text).unwrap();
        let id = writer.commit(&contract::summary(text)).unwrap().id;
        let found = search(&store, &[id], query, limits).unwrap();
        let lines = found
            .hits
            .iter()
            .map(|hit| match hit.kind {
                HitKind::Match => format!("{}:{}", hit.line, String::from_utf8_lossy(&hit.text)),
                HitKind::Context => format!("{}-{}", hit.line, String::from_utf8_lossy(&hit.text)),
                HitKind::Break => "--".to_owned(),
            })
            .collect();
        (lines, found.matches, found.shown)
    }

    fn query(pattern: &str) -> Query {
        Query { pattern: pattern.to_owned(), case: Case::Sensitive, context: 0, most: None }
    }

    #[test]
    fn lines_context_case_and_counts() {
        let text = b"one\ntwo\nthree\r\nfour\n\xFFfive Error\nsix\nerror seven";
        let page = PageLimits::default();
        assert_eq!(find(text, &query("t.o"), page), (vec!["2:two".into()], 1, 1));
        assert_eq!(find(text, &query("three$"), page).1, 0, "a carriage return is part of its line");
        let insensitive = Query { case: Case::Insensitive, ..query("ERROR") };
        assert_eq!(find(text, &insensitive, page).0, ["5:\u{FFFD}five Error", "7:error seven"]);
        let context = Query { context: 1, ..query("two|seven") };
        assert_eq!(
            find(text, &context, page).0,
            ["1-one", "2:two", "3-three", "--", "6-six", "7:error seven"]
        );
        let one = Query { most: Some(1), ..query("e") };
        assert_eq!(find(text, &one, page), (vec!["1:one".into()], 4, 1));
        assert_eq!(find(text, &query("nothing"), page), (vec![], 0, 0));
    }

    #[test]
    fn long_lines_and_many_matches_are_bounded() {
        let long = format!("{}NEEDLE{}", "漢".repeat(50_000), "字".repeat(50_000));
        let (lines, ..) = find(long.as_bytes(), &query("NEEDLE"), PageLimits::default());
        assert!(lines[0].contains("NEEDLE") && lines[0].len() < 400, "{lines:?}");
        let many = "match\n".repeat(100_000);
        let (lines, matches, shown) =
            find(many.as_bytes(), &query("match"), PageLimits { bytes: 1000, lines: 500 });
        assert_eq!((matches, shown, lines.len()), (100_000, 27, 27));
    }

    #[test]
    fn a_wrong_pattern_is_an_error() {
        let store = MemoryStore::new(|| UNIX_EPOCH);
        let error = search(&store, &[], &query("(("), PageLimits::default()).unwrap_err();
        assert!(matches!(error, RetrieveError::NotAPattern { .. }));
    }
}
