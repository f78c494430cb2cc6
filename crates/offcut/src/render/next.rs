//! The part that is offered next, and how this reader asks for it.

use crate::cut::{Cut, Gap, LinePosition};
use crate::render::Reach;
use crate::store::Id;
use crate::strategy::Ends;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// The page that the pointer offers has at most these many bytes, so that reading it never exceeds a page.
pub(crate) const NEXT_PAGE_BYTES: usize = 8000;
pub(super) const NEXT_PAGE_LINES: u64 = 200;

/// The part that a pointer offers to show next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// From the beginning: nothing is missing yet.
    Start,
    Lines(RangeInclusive<u64>),
    Bytes(u64, u64),
}

/// How this reader gets the next part, if it can.
pub(super) fn command(reach: &Reach, id: &Id, path: Option<&str>, next: &Next) -> Option<String> {
    let (unit, range) = match next {
        Next::Start => return command_for_all(reach, id, path),
        Next::Lines(lines) => ("lines", format!("{}:{}", lines.start(), lines.end())),
        Next::Bytes(start, end) => ("bytes", format!("{start}:{end}")),
    };
    match (reach, next) {
        (Reach::Shell { program }, _) => Some(format!("{program} read {id} --{unit} {range}")),
        (Reach::Tool { name }, _) => Some(format!("{name} {{\"id\":\"{id}\",\"{unit}\":\"{range}\"}}")),
        (Reach::Files, Next::Lines(lines)) => {
            let (first, count) = (lines.start(), lines.end() + 1 - lines.start());
            path.map(|path| format!("Read {path} with offset {first} and limit {count}, or Grep it"))
        }
        (Reach::Files, _) => path.map(|path| format!("Grep {path}")),
        (Reach::Nothing, _) => None,
    }
}

fn command_for_all(reach: &Reach, id: &Id, path: Option<&str>) -> Option<String> {
    match reach {
        Reach::Shell { program } => Some(format!("{program} read {id}")),
        Reach::Tool { name } => Some(format!("{name} {{\"id\":\"{id}\"}}")),
        Reach::Files => path.map(|path| format!("Read {path}")),
        Reach::Nothing => None,
    }
}

/// How this reader gets at the entry as a whole.
pub(super) fn entry(reach: &Reach, id: &Id) -> String {
    match reach {
        Reach::Shell { program } => format!("{program} read {id}"),
        Reach::Tool { .. } | Reach::Files | Reach::Nothing => format!("offcut://{id}"),
    }
}

/// So many gaps are considered.
const MOST_GAPS: usize = 64;

/// The largest page that can be told exactly: whole lines if they are known, else bytes. Of several the first.
///
/// Everything shown before the first gap is contiguous from the start, so the opening reaches a page into it: there is
/// always one. Of a gap behind the opening only the edges are known, which is enough if it is no more than a page.
pub(super) fn next(ends: &Ends, cut: &Cut<'_>) -> Next {
    let mut gaps: Vec<&Gap> = cut.missing().collect();
    let Some(&first) = gaps.first() else { return Next::Start };
    gaps.sort_by_key(|gap| Reverse(gap.bytes()));
    let others =
        gaps.iter().take(MOST_GAPS).filter_map(|gap| whole(ends, cut, gap).or_else(|| known(ends, gap)));
    let offers = std::iter::once(first_page(ends, first)).chain(others);
    offers.min_by_key(|&(bytes, _)| Reverse(bytes)).map_or(Next::Start, |(_, next)| next)
}

/// All of a gap that is no more than a page and made of whole lines, and how many bytes that are.
fn whole(ends: &Ends, cut: &Cut<'_>, gap: &Gap) -> Option<(u64, Next)> {
    let lines = gap.last_line + 1 - gap.first_line;
    let behind = cut.pieces.get(cut.pieces.partition_point(|piece| piece.start < gap.end));
    let is_end_of_line = match behind {
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

/// A path that can stand in one line as it is.
pub(super) fn printable(path: &std::path::Path) -> Option<String> {
    path.to_str().filter(|path| !path.contains(char::is_control)).map(str::to_owned)
}
