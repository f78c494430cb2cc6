//! The part of an output that a footer offers to read next, and the command for it.

use crate::cut::{Cut, Gap, GapReason, Interest, LinePosition, Size};
use crate::limits::Limits;
use crate::render::Reach;
use crate::retrieve::Range;
use crate::store::Id;
use crate::strategy::Ends;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// The most bytes of the part that a footer offers, so that reading it never exceeds a page.
pub(crate) const NEXT_PAGE_BYTES: usize = 8000;
pub(crate) const NEXT_PAGE_LINES: u64 = 200;

/// The part that a footer offers to read next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The beginning, if everything so far is shown.
    Start,
    Lines(RangeInclusive<u64>),
    Bytes(u64, u64),
    /// The last lines, of an output that is still growing.
    Last,
    /// What matches a pattern, if no part of what is missing says anything by itself.
    Search,
    /// What a binary output is. Its bytes are not for reading.
    Kind,
}

/// How this reader gets the next part, if it can.
pub(super) fn read_command(reach: &Reach, id: &Id, path: Option<&str>, next: &Next) -> Option<String> {
    let special = match (next, reach) {
        (Next::Kind, _) => return kind_command(reach, id, path),
        (Next::Search, Reach::Tool { name }) if cfg!(feature = "search") => {
            Some(format!("{name} {{\"id\":\"{}\",\"pattern\":\"PATTERN\"}}", id.short()))
        }
        (Next::Search, Reach::Shell { program }) => Some(format!("{program} grep PATTERN {}", id.short())),
        (Next::Search, _) => None,
        (Next::Start | Next::Lines(_) | Next::Bytes(..) | Next::Last, _) => None,
    };
    if special.is_some() {
        return special;
    }
    let range = match next {
        Next::Start | Next::Search | Next::Kind => None,
        Next::Lines(lines) => Some(Range::Lines { first: *lines.start(), last: Some(*lines.end()) }),
        Next::Bytes(start, end) => Some(Range::Bytes { start: *start, end: Some(*end) }),
        Next::Last => Some(Range::LastLines(50)),
    };
    match reach {
        Reach::Files => path.map(|path| match next {
            Next::Start | Next::Last | Next::Kind => format!("Read {path}"),
            Next::Bytes(..) | Next::Search => format!("Grep {path}"),
            Next::Lines(lines) => {
                let (first, count) = (lines.start(), lines.end() + 1 - lines.start());
                format!("Read {path} with offset {first} and limit {count}, or Grep it")
            }
        }),
        Reach::Shell { .. } | Reach::Tool { .. } | Reach::Nothing => {
            reach.read_call(id.short(), range.as_ref())
        }
    }
}

/// How this reader finds out what a binary output is, if it can.
fn kind_command(reach: &Reach, id: &Id, path: Option<&str>) -> Option<String> {
    match (reach, path.map(shell_quoted)) {
        (Reach::Shell { .. } | Reach::Files, Some(path)) => {
            Some(format!("file {path}, or xxd {path} | head"))
        }
        (Reach::Shell { .. }, None) => {
            let start = Range::Bytes { start: 0, end: Some(512) };
            reach.read_call(id.short(), Some(&start)).map(|read| format!("{read} | xxd"))
        }
        (Reach::Files | Reach::Tool { .. } | Reach::Nothing, _) => None,
    }
}

/// A path as one word of a shell command.
fn shell_quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_./-+@%:,=".contains(letter);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

/// A longer program name is not written a second time.
const LONGEST_PROGRAM: usize = 24;

/// How this reader searches the output, if that takes few words.
pub(super) fn search_command(reach: &Reach, id: &Id) -> Option<String> {
    match reach {
        Reach::Shell { program } if program.len() <= LONGEST_PROGRAM => {
            Some(format!("{program} grep PATTERN {}", id.short()))
        }
        Reach::Shell { .. } | Reach::Tool { .. } | Reach::Files | Reach::Nothing => None,
    }
}

/// The largest gaps of a preview, of which the next page is taken, are at most these many.
const MOST_GAPS: usize = 64;

/// The part that a footer offers: of the gaps with lines that matter the first, or else of the other gaps the one with the
/// largest page, as far as the range of a page is known exactly: whole lines if possible, else bytes. What was rightly left out,
/// such as repetitions, is not offered; if nothing else is missing, a search is.
///
/// Everything shown before the first gap is contiguous from the start, so the opening reaches a page into that gap and
/// there is always a page. Of a gap after the opening only the edges are known, which is enough for a gap of one page.
pub(super) fn next(ends: &Ends, cut: &Cut<'_>) -> Next {
    let mut gaps: Vec<&Gap> = cut.missing().collect();
    let Some(&first) = gaps.first() else { return Next::Start };
    if gaps.iter().all(|gap| gap.why == GapReason::Repeated && gap.first_line == gap.last_line) {
        // Only beginnings of lines that repeat the line before them are missing.
        return Next::Start;
    }
    let interest = |gap: &Gap| match gap.why {
        GapReason::Repeated => Interest::Routine,
        _ => cut.note(gap).map_or(Interest::Unknown, |note| note.interest),
    };
    gaps.retain(|gap| interest(gap) != Interest::Routine);
    if gaps.is_empty() {
        return Next::Search;
    }
    let notable = gaps.iter().filter(|gap| interest(gap) == Interest::Notable).take(MOST_GAPS);
    let mut pages = notable.filter_map(|gap| whole(ends, cut, gap).or_else(|| known(ends, gap)));
    if let Some((_, page)) = pages.next() {
        return page;
    }
    gaps.sort_by_key(|gap| Reverse(gap.bytes()));
    let others =
        gaps.iter().take(MOST_GAPS).filter_map(|gap| whole(ends, cut, gap).or_else(|| known(ends, gap)));
    // The opening reaches a page into the first gap.
    let first =
        std::iter::once(first).filter(|first| gaps.contains(first)).map(|first| first_page(ends, first));
    let offers = first.chain(others);
    offers.min_by_key(|&(bytes, _)| Reverse(bytes)).map_or(Next::Search, |(_, next)| next)
}

/// All of a gap of whole lines that is no larger than a page, with its size in bytes.
fn whole(ends: &Ends, cut: &Cut<'_>, gap: &Gap) -> Option<(u64, Next)> {
    let lines = gap.last_line + 1 - gap.first_line;
    let after = cut.pieces().get(cut.pieces().partition_point(|piece| piece.start < gap.end));
    let is_end_of_line = match after {
        Some(piece) => piece.start == gap.end && piece.part == LinePosition::Start,
        None => gap.end == ends.bytes(),
    };
    let is_page = gap.bytes() <= NEXT_PAGE_BYTES as u64 && lines <= NEXT_PAGE_LINES;
    (is_page && gap.from == LinePosition::Start && is_end_of_line)
        .then(|| (gap.bytes(), Next::Lines(gap.first_line..=gap.last_line)))
}

/// The first lines of a gap, if the opening reaches into it.
fn known(ends: &Ends, gap: &Gap) -> Option<(u64, Next)> {
    Some(first_page(ends, gap)).filter(|(_, next)| matches!(next, Next::Lines(_)))
}

fn first_page(ends: &Ends, gap: &Gap) -> (u64, Next) {
    let (lines, end) = ends.page(gap.start, gap.bytes().min(NEXT_PAGE_BYTES as u64), 5 * NEXT_PAGE_LINES);
    let bytes = end - gap.start;
    if gap.from == LinePosition::Start && lines > 0 {
        let last = gap.first_line + lines.min(NEXT_PAGE_LINES) - 1;
        return (bytes, Next::Lines(gap.first_line..=last));
    }
    (bytes, Next::Bytes(gap.start, end))
}

/// The path as text, if it can be written in one line.
pub(super) fn printable(path: &std::path::Path) -> Option<String> {
    path.to_str().filter(|path| !path.contains(char::is_control)).map(str::to_owned)
}
/// The longest command in a compact notice, however small the budget is; instead of a longer one it names the entry.
const LONGEST_COMPACT_COMMAND: u64 = 56;

/// A longer command may take this part of the budget.
const COMMAND_PARTS: u64 = 8;

/// The longest command that a compact notice may contain, if this may be shown of an output of this size.
pub(super) fn longest_command(keep: &Limits, original: Size) -> u64 {
    let bytes = keep.ceiling().min(original.bytes.max(512));
    // A token has about three bytes in a command.
    let by_tokens = keep.tokens.map_or(bytes, |tokens| tokens.saturating_mul(3));
    let by_chars = keep.chars.unwrap_or(bytes);
    (bytes.min(by_tokens).min(by_chars) / COMMAND_PARTS).max(LONGEST_COMPACT_COMMAND)
}
