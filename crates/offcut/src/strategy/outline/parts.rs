//! Texts of several parts, each with a format of its own: what `sed -n 1,80p a.rs; rg name src; git log -5` prints.
//!
//! The beginning of the text is divided at its seams. Each part is read by its own format, and what has none is plain
//! lines. The units of all parts compete for the same room, so those of each part are valued around the same mean. What
//! follows the beginning belongs to the last part.

use super::seams::{self, Span};
use super::{Contents, Format, FormatName, Gaps, Place, Row, Worth, content, count};
use crate::strategy::lines::Division;
use crate::strategy::smart::LineClassifier;
use std::ops::Range;

/// What a line that names a part is worth more than its names, and a line of no format that reports a problem.
const SEPARATOR: i32 = 600;
const PROBLEM: i32 = 150;

/// About what a line with a name in it is worth.
const TYPICAL_VALUE: i32 = 100;

/// How many parts the remark describes.
const MAX_DESCRIBED: usize = 4;

/// A format that consists of the formats of its parts.
pub(super) struct Parts {
    parts: Vec<Part>,
    /// How many parts have begun, and how many lines were read.
    begun: usize,
    line: u64,
    /// How many lines were divided.
    divided_lines: u64,
    /// How many bytes were read, and how many of them in parts of no known format.
    bytes: u64,
    plain_bytes: u64,
}

struct Part {
    /// Its format; `None` for lines of no known format.
    kind: Option<FormatName>,
    format: Box<dyn Format>,
    /// The number of its first line.
    first: u64,
    /// Whether its first line separates it from the part before it.
    is_separated: bool,
    /// What its lines are worth more than their names on average.
    mean: i32,
}

/// Divides a text with this beginning, if its parts say more about it than its format as a whole, if it has one.
pub(super) fn recognise(opening: &[u8], whole: Option<FormatName>) -> Option<Parts> {
    let lines: Vec<&[u8]> = opening.split_inclusive(|&byte| byte == b'\n').map(content).collect();
    let separators = seams::separators(&lines, whole);
    let spans = seams::divide(&lines, &separators, whole)?;
    Some(Parts::new(&spans, &lines, &separators))
}

impl Parts {
    fn new(spans: &[Span], lines: &[&[u8]], separators: &[usize]) -> Parts {
        let part = |(range, kind): &Span| {
            let is_separated = separators.binary_search(&range.start).is_ok();
            let start = || match kind {
                Some(kind) => kind.format(Division::Lines),
                None => Box::<Plain>::default(),
            };
            let mut format = start();
            let (mut sum, mut bytes) = (0, 0);
            for line in &lines[range.start + usize::from(is_separated)..range.end] {
                let more = match format.read(line).worth {
                    Worth::OfUnit => 0,
                    Worth::More(more) => more,
                    Worth::Exactly(value) => value - TYPICAL_VALUE,
                    Worth::Heading | Worth::Irregular => continue,
                };
                sum += i64::from(more) * line.len() as i64;
                bytes += line.len() as i64;
            }
            let mean = if kind.is_none() { 0 } else { (sum / bytes.max(1)) as i32 };
            Part { kind: *kind, format: start(), first: range.start as u64 + 1, is_separated, mean }
        };
        Parts {
            parts: spans.iter().map(part).collect(),
            begun: 0,
            line: 0,
            divided_lines: lines.len() as u64,
            bytes: 0,
            plain_bytes: 0,
        }
    }

    /// The part to which a line belongs.
    fn part_of(&self, line: u64) -> usize {
        self.parts.partition_point(|part| part.first <= line).saturating_sub(1)
    }

    /// Describes what a gap contains of these parts, by their format. `before` counts what the first of them contains before
    /// the gap, `after` what the last contains up to its end.
    fn describe_kinds(&self, parts: Range<usize>, before: Contents, after: Contents) -> Vec<String> {
        let mut sums: Vec<(&Part, Contents)> = Vec::new();
        for at in parts.clone() {
            let part = &self.parts[at];
            let before = if at == parts.start { before } else { Contents::default() };
            let after = if at + 1 == parts.end { after } else { part.format.contents() };
            let is_same = |of: &Part| of.kind == part.kind && seams::has_one_style(part.kind);
            let place = sums.iter().position(|(of, _)| is_same(of)).unwrap_or_else(|| {
                sums.push((part, Contents::default()));
                sums.len() - 1
            });
            let sum = &mut sums[place].1;
            *sum = std::array::from_fn(|count| sum[count] + after[count].saturating_sub(before[count]));
        }
        let described = sums.into_iter().map(|(part, sum)| part.format.describe(sum));
        described.filter(|text| !text.is_empty()).collect()
    }

    fn current(&mut self) -> &mut Part {
        let at = self.begun.saturating_sub(1);
        &mut self.parts[at]
    }
}

impl Format for Parts {
    fn read(&mut self, line: &[u8]) -> Row {
        self.line += 1;
        let begins = self.parts.get(self.begun).is_some_and(|next| next.first == self.line);
        self.begun += usize::from(begins);
        self.bytes += line.len() as u64 + 1;
        if self.current().kind.is_none() {
            self.plain_bytes += line.len() as u64 + 1;
        }
        let part = self.current();
        if begins && part.is_separated {
            return Row::unit(SEPARATOR);
        }
        let row = part.format.read(line);
        let worth = match row.worth {
            Worth::OfUnit if begins => Worth::More(-part.mean),
            Worth::More(more) => Worth::More(more - part.mean),
            Worth::Exactly(value) => Worth::Exactly(value - part.mean),
            other => other,
        };
        let place = if begins { Place::Begins } else { row.place };
        Row { place, worth, ..row }
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let is_match = || {
            self.begun == self.parts.len()
                && self.plain_bytes * 2 <= self.bytes
                && self.parts.iter().all(|part| part.format.is_match())
        };
        lines_left > 0 || is_match()
    }

    fn settle(&mut self) {
        self.current().format.settle();
    }

    fn remark(&self) -> String {
        let described = if self.parts.len() > MAX_DESCRIBED { MAX_DESCRIBED - 1 } else { MAX_DESCRIBED };
        let mut remarks: Vec<String> =
            self.parts.iter().take(described).map(|part| part.format.remark()).collect();
        if self.parts.len() > MAX_DESCRIBED {
            remarks.push(format!("{} more", self.parts.len() - described));
        }
        // Seams are only looked for in the beginning.
        let at_least = if self.line > self.divided_lines { "at least " } else { "" };
        format!("{at_least}{} parts: {}", self.parts.len(), remarks.join(", "))
    }

    fn contents(&self) -> Contents {
        self.parts[self.begun.saturating_sub(1)].format.contents()
    }

    fn describe_between(&self, lines: Range<u64>, before: Contents, after: Contents) -> String {
        let parts = self.part_of(lines.start.saturating_sub(1))..self.part_of(lines.end - 1) + 1;
        let described = self.describe_kinds(parts.clone(), before, after);
        let text = described.join(", ");
        // A mark never needs more room than the widest one.
        if text.len() <= self.widest_description().len() { text } else { format!("{} parts", parts.len()) }
    }

    fn widest_description(&self) -> String {
        let parts = 0..self.parts.len();
        let least = format!("{} parts", parts.len());
        let described = self.describe_kinds(parts, Contents::default(), self.contents());
        described.into_iter().chain([least]).max_by_key(String::len).unwrap_or_default()
    }

    fn gaps(&self) -> Gaps {
        let is_few = |part: &Part| part.kind.is_some() && part.format.gaps() == Gaps::Few;
        if self.parts.iter().any(is_few) { Gaps::Few } else { Gaps::AsNeeded }
    }
}

/// Lines of no known format.
#[derive(Default)]
struct Plain {
    lines: u64,
    classifier: LineClassifier,
}

impl Format for Plain {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        match line.trim_ascii().is_empty() {
            true => Row::part(),
            false if self.classifier.classify(line).1 => Row::unit(PROBLEM),
            false => Row::unit(0),
        }
    }

    fn can_match(&self, _: u64) -> bool {
        true
    }

    fn remark(&self) -> String {
        count(self.lines, "other line")
    }
}
