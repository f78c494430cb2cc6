//! Finds the seams of a text that several commands printed: lines that are printed between outputs (`=== name ===`,
//! `==> file <==`, `$ command`), and places from which on the lines have another format.

use super::comments::{Comments, Text};
use super::{FormatName, MIN_LINES, Place, Row, Worth, prose, table, tree};
use crate::strategy::lines::Division;
use crate::strategy::smart::LineClassifier;
use std::ops::Range;

/// A format has ended after this many more irregular than regular lines.
const IRREGULAR_LINES: u32 = 4;

/// A part of prose or source code ends where this many lines did not confirm it.
const MAX_UNCONFIRMED_LINES: usize = 40;

/// A text with this many lines that separate outputs is certainly the output of several commands.
const MIN_SEPARATORS: usize = 2;
const MAX_SEPARATOR_BYTES: usize = 120;
const MAX_SEPARATOR_SIGNS: usize = 6;

/// A text with fewer has at most this many parts: one that changes more often is a log.
const MAX_UNSEPARATED: usize = 8;

/// Whether texts of this format always consist of the same: matches, hunks. Tables may have rows or entries.
pub(super) fn has_one_style(kind: Option<FormatName>) -> bool {
    !matches!(kind, Some(FormatName::Table | FormatName::Tree))
}

/// Lines that have one format, counted from 0; `None` if it is no known one.
pub(super) type Span = (Range<usize>, Option<FormatName>);

/// Which lines separate outputs. In a text that has a format as a whole, some may be its own: headings, and commands in prose.
pub(super) fn separators(lines: &[&[u8]], whole: Option<FormatName>) -> Vec<usize> {
    let is_own = |line: &[u8]| match line[0] {
        b'#' | b'*' => whole.is_some(),
        b'$' => whole == Some(FormatName::Prose),
        _ => false,
    };
    (0..lines.len()).filter(|&at| is_separator(lines[at]) && !is_own(lines[at])).collect()
}

/// The parts of a text with this beginning, if they say more about it than its format as a whole, if it has one.
pub(super) fn divide(lines: &[&[u8]], separators: &[usize], whole: Option<FormatName>) -> Option<Vec<Span>> {
    let is_likely = match whole {
        Some(kind) => kind == FormatName::Code,
        None => begins_with_format(lines),
    };
    if separators.is_empty() && !is_likely {
        return None;
    }
    let mut spans = Vec::new();
    let starts = separators.iter().copied().filter(|&at| at > 0);
    let mut start = 0;
    for end in starts.chain([lines.len()]) {
        // A section begins with the line that names it.
        let named = usize::from(separators.binary_search(&start).is_ok());
        let mut section = join(divide_section(&lines[start + named..end], start + named));
        for (range, kind) in &mut section {
            // What was joined may not have the format as a whole.
            *kind = kind.filter(|kind| has_format(*kind, &lines[range.clone()]));
        }
        match section.first_mut() {
            Some((range, _)) => range.start = start,
            None => section.push((start..end, None)),
        }
        spans.append(&mut section);
        start = end;
    }
    is_compound(&spans, lines, separators.len(), whole).then_some(spans)
}

/// Whether a text begins with lines of a known format, perhaps after a few others. Most texts that do not are logs.
fn begins_with_format(lines: &[&[u8]]) -> bool {
    let begins = |kind: FormatName, at: usize| run(kind, &lines[at..]).length > 0;
    FormatName::ALL.into_iter().any(|kind| begins(kind, 0))
        || (1..lines.len().min(MIN_LINES as usize))
            .any(|at| FormatName::ALL.into_iter().any(|kind| kind.is_unmistakable() && begins(kind, at)))
}

/// Whether all these lines have this format.
fn has_format(kind: FormatName, lines: &[&[u8]]) -> bool {
    let mut format = kind.format(Division::Lines);
    for line in lines {
        format.read(line);
    }
    format.is_match()
}

/// Whether these parts describe a text better than its format as a whole, or than `smart`.
fn is_compound(spans: &[Span], lines: &[&[u8]], separators: usize, whole: Option<FormatName>) -> bool {
    let bytes = |is_counted: &dyn Fn(&&Span) -> bool| {
        let counted = spans.iter().filter(is_counted);
        counted.flat_map(|(range, _)| &lines[range.clone()]).map(|line| line.len() + 1).sum::<usize>()
    };
    let (all, known) = (bytes(&|_| true), bytes(&|(_, kind)| kind.is_some()));
    if spans.len() < 2 || known * 2 < all {
        return false;
    }
    if spans.iter().filter(|(range, _)| is_banner(lines[range.start])).count() >= MIN_SEPARATORS {
        return true;
    }
    // A few lines may be the message of a command that failed; more are a log, of which `smart` shows the failures.
    let logs = spans.iter().filter(|(range, kind)| kind.is_none() && range.len() as u64 >= MIN_LINES);
    let mut classifier = LineClassifier::default();
    if logs.flat_map(|(range, _)| &lines[range.clone()]).any(|line| classifier.is_failure(line)) {
        return false;
    }
    if whole.is_some() {
        // Tables and lists of paths may be part of a document; source code has hardly any.
        let is_foreign = |(range, kind): &&Span| match kind {
            Some(FormatName::Table | FormatName::Tree) => whole == Some(FormatName::Code),
            Some(FormatName::Prose) => {
                whole == Some(FormatName::Code) && begins_document(&lines[range.start..])
            }
            Some(kind) => kind.is_unmistakable(),
            None => false,
        };
        let foreign = bytes(&is_foreign);
        let is_mixed = spans.iter().any(|(_, kind)| kind.is_some() && *kind != whole);
        return is_mixed && (separators >= MIN_SEPARATORS || foreign * 10 >= all);
    }
    let has = |wanted: FormatName| spans.iter().any(|(_, kind)| *kind == Some(wanted));
    let are_different = FormatName::ALL.into_iter().any(|kind| kind.is_unmistakable() && has(kind))
        || match has(FormatName::Prose) {
            true => has(FormatName::Code) || has(FormatName::Keys),
            false => has(FormatName::Table) || has(FormatName::Tree),
        };
    separators >= MIN_SEPARATORS || (are_different && spans.len() <= MAX_UNSEPARATED)
}

/// Whether a line is one that is printed between outputs: `=== name ===`, `---name---`, `==> file <==`, `$ command`.
fn is_separator(line: &[u8]) -> bool {
    let (Some(&first), Some(&last)) = (line.first(), line.last()) else { return false };
    if is_banner(line) {
        return true;
    }
    if let [b'$', b' ', next, ..] = line {
        return next.is_ascii_alphabetic();
    }
    // Longer rules belong to the report of one tool.
    let before = line.iter().take_while(|&&byte| byte == first).count();
    let after = line.iter().rev().take_while(|&&byte| byte == last).count();
    first == last
        && b"=-#*~".contains(&first)
        && before == after
        && (before == 3 || ((4..=MAX_SEPARATOR_SIGNS).contains(&before) && line.get(before) == Some(&b' ')))
        && line.len() <= MAX_SEPARATOR_BYTES
        && line.iter().any(u8::is_ascii_alphanumeric)
}

/// Whether a line is the one that `head` and `tail` print before each file: `==> a.rs <==`.
fn is_banner(line: &[u8]) -> bool {
    line.starts_with(b"==> ") && line.ends_with(b" <==")
}

/// Whether a line may separate outputs, but is also common within one.
fn is_divider(line: &[u8]) -> bool {
    line.len() >= 3 && b"=-#*_~".contains(&line[0]) && line.iter().all(|byte| *byte == line[0])
}

/// The parts of a section: first what has an unmistakable format, then what is between.
fn divide_section(lines: &[&[u8]], offset: usize) -> Vec<Span> {
    let mut spans = Vec::new();
    let (mut at, mut rest) = (0, 0);
    // Where each format is tried next.
    let mut next = [0; FormatName::ALL.len()];
    let mut comments = Comments::default();
    while at < lines.len() {
        let is_quoted = comments.read(lines[at].trim_ascii()) == Text::Quoted;
        let is_start = at == rest || lines[at - 1].is_empty() || is_divider(lines[at - 1]);
        let is_tried = |kind: FormatName| if is_start { !kind.is_loose() } else { kind.is_unmistakable() };
        let found = FormatName::ALL.into_iter().zip(&mut next).find_map(|(kind, next)| {
            let begins = match kind {
                FormatName::Prose => !is_quoted && begins_document(&lines[at..]),
                FormatName::Table => table::is_clear_start(lines[at]),
                FormatName::Tree => tree::is_clear_start(lines[at]),
                _ => false,
            };
            if !begins && (!is_tried(kind) || *next > at) {
                return None;
            }
            let run = run(kind, &lines[at..]);
            *next = at + run.lines_to_skip();
            (run.length > 0).then_some((run.length, kind))
        });
        let Some((length, kind)) = found else {
            at += 1;
            continue;
        };
        divide_rest(&lines[rest..at], offset + rest, &mut spans);
        spans.push((offset + at..offset + at + length, Some(kind)));
        at += length;
        (rest, next, comments) = (at, [at; FormatName::ALL.len()], Comments::default());
    }
    divide_rest(&lines[rest..], offset + rest, &mut spans);
    spans
}

/// Whether a document begins here: with a title, a blank line and a sentence. A comment is followed by another or by code.
fn begins_document(lines: &[&[u8]]) -> bool {
    matches!(lines, [title, blank, text, ..]
        if title.starts_with(b"# ") && blank.is_empty() && !text.starts_with(b"#") && prose::is_sentence(text))
}

/// Divides lines into prose, configuration, source code and lines of no known format.
fn divide_rest(lines: &[&[u8]], offset: usize, spans: &mut Vec<Span>) {
    let loose = || FormatName::ALL.into_iter().filter(|kind| kind.is_loose());
    let mut at = 0;
    for piece in lines.split_inclusive(|line| is_divider(line)) {
        let end = at + piece.len();
        if let Some(kind) = loose().find(|&kind| has_format(kind, piece)) {
            spans.push((offset + at..offset + end, Some(kind)));
            at = end;
        }
        while at < end {
            let runs: Vec<(Run, FormatName)> =
                loose().map(|kind| (run(kind, &lines[at..end]), kind)).collect();
            // Of two runs of the same length the last one is found, which is that of the more distinctive format.
            let (length, kind) = match runs.iter().rev().max_by_key(|(run, _)| run.length) {
                Some((run, kind)) if run.length > 0 => (run.length, Some(*kind)),
                _ => {
                    let read = runs.iter().map(|(run, _)| run.read).max().unwrap_or(0);
                    let skipped = (read / 2).min(end - at);
                    let blank = lines[at + skipped..end].iter().position(|line| line.is_empty());
                    (blank.map_or(end - at, |blank| skipped + blank + 1), None)
                }
            };
            spans.push((offset + at..offset + at + length, kind));
            at += length;
        }
    }
}

/// How many lines have a format, and how many were read to find that out.
struct Run {
    length: usize,
    read: usize,
    /// How many of them were read up to the last irregular one.
    irregular: usize,
}

impl Run {
    /// After how many lines that were read in vain the format is tried again: what follows the last irregular line may have
    /// it. Half of them are skipped at most, and without irregular lines, so that the effort is linear.
    fn lines_to_skip(&self) -> usize {
        match self.irregular {
            0 => self.read / 2,
            irregular => irregular.min(self.read / 2),
        }
    }
}

/// Reads lines as long as they have this format.
fn run(kind: FormatName, lines: &[&[u8]]) -> Run {
    let mut format = kind.format(Division::Lines);
    let mut run = Run { length: 0, read: 0, irregular: 0 };
    let mut irregular = 0_u32;
    for line in lines {
        let Row { place, worth, .. } = format.read(line);
        run.read += 1;
        let begins = match worth {
            Worth::OfUnit => false,
            Worth::More(more) => more > 0,
            Worth::Exactly(_) | Worth::Heading => true,
            Worth::Irregular => false,
        };
        let is_start = match kind {
            _ if kind.is_unmistakable() => begins,
            _ => kind.is_loose() || !line.is_empty(),
        };
        if run.read == 1 && !is_start {
            break;
        }
        if worth == Worth::Irregular {
            run.irregular = run.read;
        }
        irregular = match (worth, place) {
            (Worth::Irregular, _) => irregular + 1,
            (_, Place::Begins) if !line.is_empty() => irregular.saturating_sub(1),
            _ => irregular,
        };
        if irregular == 0 && format.is_match() {
            run.length = run.read;
        }
        if irregular == IRREGULAR_LINES || run.read > run.length + MAX_UNCONFIRMED_LINES {
            break;
        }
    }
    run
}

/// Joins neighbours of the same format, and what is within one: a table in a report belongs to the report.
fn join(parts: Vec<Span>) -> Vec<Span> {
    let mut joined: Vec<Span> = Vec::new();
    for (range, kind) in parts {
        let is_inner = |(inner, of): &Span| {
            matches!(*of, Some(FormatName::Table | FormatName::Tree | FormatName::Keys | FormatName::Code))
                || (of.is_none() && (inner.len() as u64) < MIN_LINES)
        };
        if let [.., (_, outer), inner] = &joined[..]
            && *outer == kind
            && kind.is_some_and(FormatName::is_loose)
            && is_inner(inner)
        {
            joined.pop();
        }
        match joined.last_mut() {
            Some((before, of)) if *of == kind => before.end = range.end,
            _ => joined.push((range, kind)),
        }
    }
    joined
}
