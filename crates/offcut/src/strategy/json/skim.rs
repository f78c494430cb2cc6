//! Drops the usual items of large arrays while a text is read, without a tree of it.
//!
//! Each value is compared with those at the same path, such as `.tests[].status`. An item is usual if nothing in it is
//! an outlier there. Usual items far from both ends of their array are dropped; everything else stays for the tree.

use super::buffer::{Buffer, Hole, Step};
use super::outliers::{ITEMS_PER_OUTLIER, MAX_INNER_ITEMS, MAX_STRING_BYTES, MIN_ITEMS, ValueCounts};
use super::parse::{Grammar, Kind, is_number, is_strict};
use crate::strategy::fingerprint;
use std::ops::Range;

/// Objects with more different keys than this are maps: their values are not compared.
const MAX_KEYS: usize = 64;

/// The most paths that are known. Values at others are not compared.
const MAX_PATHS: usize = 4096;

/// Neighbouring items are dropped together up to this many bytes.
const MAX_RUN_BYTES: usize = 1024;

/// The path of everything that is not compared.
const UNKNOWN: usize = 0;

pub(super) struct Skimmer {
    /// The text before this position of the buffer was read.
    at: usize,
    expect: Expect,
    /// The open containers, outermost first.
    open: Vec<Container>,
    paths: Vec<Path>,
    /// The items that can be dropped, in the order in which they end. Inner ones come before outer ones.
    usual: Vec<Run>,
    /// How far from the ends of its array an item must be.
    margin: usize,
    pub(super) grammar: Grammar,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    ChildOrClose,
    Child,
    CommaOrClose,
    /// The text is not JSON, or not as it is read here.
    Nothing,
}

struct Container {
    kind: Kind,
    start: usize,
    path: usize,
    children: usize,
    /// How far from its ends an item must be to be dropped. Arrays in arrays keep less.
    margin: usize,
    /// A hash of the keys, and of the kinds of their values.
    shape: u64,
    has_outlier: bool,
}

/// What is known of the values at a path.
#[derive(Default)]
struct Path {
    /// How many containers began there.
    containers: u64,
    /// How many of them contain an outlier.
    with_outlier: u64,
    values: ValueCounts,
    /// The paths of the values in containers, by key or number.
    children: Vec<(u64, usize)>,
}

/// Items of an array, one after the other.
struct Run {
    start: usize,
    end: usize,
    items: u64,
    /// The number of containers around them, and the number of the next item.
    depth: usize,
    next: usize,
}

/// Why reading stops.
enum Stop {
    /// The next token is not complete.
    Incomplete,
    NotJson,
}

impl Skimmer {
    pub(super) fn new(margin: usize) -> Skimmer {
        let documents = Container {
            kind: Kind::Documents,
            start: 0,
            path: UNKNOWN + 1,
            children: 0,
            margin,
            shape: 0,
            has_outlier: false,
        };
        Skimmer {
            at: 0,
            expect: Expect::Child,
            open: vec![documents],
            paths: vec![Path::default(), Path::default()],
            usual: Vec::new(),
            margin,
            grammar: Grammar::Strict,
        }
    }

    /// Reads what is new in the buffer. Returns the steps that drop the usual items.
    pub(super) fn skim(&mut self, buffer: &Buffer) -> Vec<Step> {
        let (text, from) = (&buffer.text, self.at);
        let stop = loop {
            if let Err(stop) = self.read(text) {
                break stop;
            }
        };
        if std::str::from_utf8(&text[from..self.at]).is_err() {
            self.grammar = Grammar::Lenient;
        }
        if let Stop::NotJson = stop {
            self.expect = Expect::Nothing;
            self.usual.clear();
        }
        let count = self.usual.partition_point(|run| run.end + self.margin < text.len());
        let is_separator = |range: Range<usize>| {
            text[range].iter().all(|byte| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t'))
        };
        let (mut steps, mut cursor) = (Vec::new(), 0);
        for run in outermost(self.usual.drain(..count)) {
            // Documents are dropped as whole lines.
            let end = if run.depth == 1 { blanks(text, run.end) } else { run.end };
            // Earlier items that were dropped before the run, and documents after it, belong to the same hole.
            let is_beside = |hole: &&Hole| hole.at <= run.start || hole.at == end;
            let beside = buffer.holes_in(&(cursor..end)).iter().filter(is_beside);
            let beside = beside.filter(|hole| is_separator(hole.at.min(run.start)..run.start));
            let (start, holes) = beside
                .fold((run.start, 0), |(start, values), hole| (start.min(hole.at), values + hole.values));
            match steps.last_mut() {
                Some(Step::Omit { range, values, .. }) if is_separator(range.end..run.start) => {
                    range.end = end;
                    *values += run.items + holes;
                }
                _ => {
                    steps.push(Step::Keep(cursor..start));
                    steps.push(Step::Omit { range: start..end, values: run.items + holes, mark: None });
                }
            }
            cursor = end;
        }
        steps.push(Step::Keep(cursor..text.len()));
        steps
    }

    /// Moves all positions to where they are after the steps.
    pub(super) fn follow(&mut self, steps: &[Step]) {
        let mut dropped = 0;
        let sums = steps.iter().filter_map(|step| match step {
            Step::Omit { range, .. } => {
                dropped += range.len();
                Some((range.end, dropped))
            }
            Step::Keep(_) => None,
        });
        let sums: Vec<(usize, usize)> = sums.collect();
        let dropped_before = |at: usize| match sums.partition_point(|&(end, _)| end <= at) {
            0 => 0,
            count => sums[count - 1].1,
        };
        let starts = self.open.iter_mut().map(|container| &mut container.start);
        let runs = self.usual.iter_mut().flat_map(|run| [&mut run.start, &mut run.end]);
        for position in starts.chain(runs).chain([&mut self.at]) {
            *position -= dropped_before(*position);
        }
    }

    /// Forgets the items that can be dropped.
    pub(super) fn forget(&mut self) {
        self.usual.clear();
    }

    /// Reads a comma, a bracket, or a value with its key.
    fn read(&mut self, text: &[u8]) -> Result<(), Stop> {
        self.at = blanks(text, self.at);
        let &byte = text.get(self.at).ok_or(Stop::Incomplete)?;
        match (self.expect, byte) {
            (Expect::CommaOrClose, b',') => {
                self.expect = Expect::Child;
                self.at += 1;
                Ok(())
            }
            (Expect::CommaOrClose | Expect::ChildOrClose, b'}') => self.close(Kind::Object),
            (Expect::CommaOrClose | Expect::ChildOrClose, b']') => self.close(Kind::Array),
            (Expect::Child | Expect::ChildOrClose, _) => self.child(text),
            _ => Err(Stop::NotJson),
        }
    }

    fn child(&mut self, text: &[u8]) -> Result<(), Stop> {
        let Some(container) = self.open.last_mut() else { return Err(Stop::NotJson) };
        let (mut at, mut key) = (self.at, container.children.min(MAX_INNER_ITEMS) as u64);
        match container.kind {
            Kind::Object if text[at] != b'"' => return Err(Stop::NotJson),
            Kind::Object => {
                (at, key) = self.string(text, at)?;
                at = blanks(text, at);
                match text.get(at) {
                    Some(b':') => at = blanks(text, at + 1),
                    Some(_) => return Err(Stop::NotJson),
                    None => return Err(Stop::Incomplete),
                }
            }
            Kind::Documents if !matches!(text[at], b'{' | b'[') => return Err(Stop::NotJson),
            _ => {}
        }
        let &first = text.get(at).ok_or(Stop::Incomplete)?;
        let kind = match first {
            b'{' => Some(Kind::Object),
            b'[' => Some(Kind::Array),
            _ => None,
        };
        let (end, value) = match (kind, first) {
            (Some(_), _) => (at + 1, 0),
            (_, b'"') => self.string(text, at)?,
            _ => self.word(text, at)?,
        };
        let path = self.path_of(key);
        let Some(container) = self.open.last_mut() else { return Err(Stop::NotJson) };
        container.children += 1;
        let margin = container.margin / if container.kind == Kind::Array { 2 } else { 1 };
        let class = if first.is_ascii_digit() { b'-' } else { first };
        if container.kind == Kind::Object {
            // The order of keys does not matter.
            container.shape ^= fingerprint::mix(key, u64::from(class));
        }
        self.at = end;
        match kind {
            Some(kind) => {
                self.paths[path].containers += 1;
                self.expect = Expect::ChildOrClose;
                self.open.push(Container {
                    kind,
                    start: at,
                    path,
                    children: 0,
                    margin,
                    shape: 0,
                    has_outlier: false,
                });
            }
            None => {
                let is_outlier = self.is_outlier(path, value);
                self.end_value(at, is_outlier);
            }
        }
        Ok(())
    }

    fn close(&mut self, kind: Kind) -> Result<(), Stop> {
        let Some(closed) = self.open.pop().filter(|closed| closed.kind == kind) else {
            return Err(Stop::NotJson);
        };
        self.at += 1;
        // The last items of an array stay.
        let end = self.at;
        while self.usual.pop_if(|run| run.start > closed.start && run.end + closed.margin > end).is_some() {}
        let shape = closed.shape.wrapping_add(u64::from(closed.children > 0) << 8 | kind as u64);
        let mut is_outlier = self.is_outlier(closed.path, shape);
        let path = &mut self.paths[closed.path];
        if closed.has_outlier && closed.path != UNKNOWN {
            path.with_outlier += 1;
            is_outlier |=
                path.containers >= MIN_ITEMS && path.with_outlier * ITEMS_PER_OUTLIER <= path.containers;
        }
        self.end_value(closed.start, is_outlier);
        Ok(())
    }

    /// Ends a value of the innermost container, which began at `start`.
    fn end_value(&mut self, start: usize, is_outlier: bool) {
        let depth = self.open.len();
        self.expect = if depth == 1 { Expect::Child } else { Expect::CommaOrClose };
        let Some(container) = self.open.last_mut() else { return };
        container.has_outlier |= is_outlier;
        if is_outlier || container.kind == Kind::Object || start - container.start < container.margin {
            return;
        }
        let (end, next) = (self.at, container.children);
        match self.usual.last_mut() {
            Some(run)
                if run.depth == depth
                    && run.next + 1 == next
                    && run.start > container.start
                    && end - run.start < MAX_RUN_BYTES =>
            {
                (run.end, run.next) = (end, next);
                run.items += 1;
            }
            _ => self.usual.push(Run { start, end, items: 1, depth, next }),
        }
    }

    /// The path of a child of the innermost container.
    fn path_of(&mut self, key: u64) -> usize {
        let Some(container) = self.open.last() else { return UNKNOWN };
        let (at, count) = (container.path, self.paths.len());
        if at == UNKNOWN {
            return UNKNOWN;
        }
        let children = &mut self.paths[at].children;
        match children.get(container.children) {
            // Most objects have the same keys in the same order.
            Some(&(known, child)) if known == key => return child,
            _ => {}
        }
        match children.iter().find(|(known, _)| *known == key) {
            Some(&(_, child)) => child,
            None if count >= MAX_PATHS || children.len() >= MAX_KEYS => UNKNOWN,
            None => {
                children.push((key, count));
                self.paths.push(Path::default());
                count
            }
        }
    }

    /// Counts a value at a path. Returns whether it differs from nearly all others.
    fn is_outlier(&mut self, path: usize, value: u64) -> bool {
        if path == UNKNOWN {
            return false;
        }
        let objects = match self.open.last() {
            Some(container) if container.kind == Kind::Object => self.paths[container.path].containers,
            _ => 0,
        };
        let values = &mut self.paths[path].values;
        let count = values.add(value);
        let all = objects.max(values.items);
        let is_usual = count.is_none_or(|count| count * ITEMS_PER_OUTLIER > all);
        if is_usual && values.items * ITEMS_PER_OUTLIER > all {
            return false;
        }
        all >= MIN_ITEMS && values.outlier_count(value, all, all).is_some()
    }

    /// Reads a string. Returns its end, and its hash if it is short enough to be compared.
    fn string(&mut self, text: &[u8], start: usize) -> Result<(usize, u64), Stop> {
        if let Some(plain) = plain_string(text, start) {
            return Ok(plain);
        }
        let end = string_end(text, start).ok_or(Stop::Incomplete)?;
        if !is_strict(&text[start + 1..end]) {
            self.grammar = Grammar::Lenient;
        }
        Ok((end, if end - start > MAX_STRING_BYTES { 1 } else { hash(text, start..end) }))
    }

    /// Reads a number, `true`, `false` or `null`. Returns its end and its hash.
    fn word(&mut self, text: &[u8], at: usize) -> Result<(usize, u64), Stop> {
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let end = at + text[at..].iter().take_while(is_word).count();
        let word = &text[at..end];
        match word {
            _ if end == text.len() => return Err(Stop::Incomplete),
            b"true" | b"false" | b"null" => {}
            _ if is_number(word) => {}
            b"NaN" | b"Infinity" | b"-Infinity" | b"undefined" => self.grammar = Grammar::Lenient,
            _ => return Err(Stop::NotJson),
        }
        Ok((end, hash(text, at..end)))
    }
}

/// The position after white space.
fn blanks(text: &[u8], at: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    at + text[at.min(text.len())..].iter().take_while(is_blank).count()
}

/// The position after the string that begins at `start`, if it ends.
pub(super) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// A one in each byte of a word.
const ONES: u64 = u64::MAX / 255;

/// The end and the hash of a short string without escapes and control characters, as most are: eight bytes at a time.
fn plain_string(text: &[u8], start: usize) -> Option<(usize, u64)> {
    // The highest bit of the first byte less than `limit` is set; of the bytes after it, any may be.
    let less = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7);
    let equal = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let (words, _) = text[start + 1..].as_chunks::<8>();
    let mut hash = 0;
    for (word, at) in words.iter().zip((start + 1..start + MAX_STRING_BYTES).step_by(8)) {
        let word = u64::from_le_bytes(*word);
        let (quote, special) = (equal(word, b'"'), equal(word, b'\\') | less(word, b' '));
        if quote == 0 && special == 0 {
            hash = fingerprint::mix(hash, word);
            continue;
        }
        if special != 0 && special.trailing_zeros() < quote.trailing_zeros() {
            return None;
        }
        let length = quote.trailing_zeros() / 8;
        let rest = word & ((1 << (8 * length)) - 1);
        return Some((
            at + length as usize + 1,
            fingerprint::mix(hash, rest ^ (u64::from(length + 1) << 56)),
        ));
    }
    None
}

/// The hash of a part of a text.
fn hash(text: &[u8], range: Range<usize>) -> u64 {
    let words = range.clone().step_by(8).map(|at| match text[at..].first_chunk::<8>() {
        Some(word) if at + 8 <= range.end => u64::from_le_bytes(*word),
        Some(word) => u64::from_le_bytes(*word) & ((1 << (8 * (range.end - at))) - 1),
        None => text[at..range.end].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    });
    words.fold(range.len() as u64, fingerprint::mix)
}

/// The runs that are not in others, in order of position.
fn outermost(runs: impl DoubleEndedIterator<Item = Run>) -> Vec<Run> {
    let mut from = usize::MAX;
    let mut is_outside = |run: &Run| {
        let is_outside = run.end <= from;
        from = if is_outside { run.start } else { from };
        is_outside
    };
    let mut found: Vec<Run> = runs.rev().filter(|run| is_outside(run)).collect();
    found.reverse();
    found
}
