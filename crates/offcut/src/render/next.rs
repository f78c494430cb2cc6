//! The part that is offered next, and how this reader asks for it.

use crate::cut::{Cut, LinePart};
use crate::render::Reach;
use crate::store::Id;
use crate::strategy::Ends;
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

/// The first page of the first gap, exactly: whole lines if one fits, else bytes.
///
/// Everything shown before the first gap is contiguous from the start, so the opening reaches a page into the gap.
pub(super) fn next(ends: &Ends, cut: &Cut<'_>) -> Next {
    let Some(gap) = cut.missing().next() else { return Next::Start };
    let (lines, end) = ends.page(gap.start, gap.bytes().min(NEXT_PAGE_BYTES as u64), 5 * NEXT_PAGE_LINES);
    if gap.from == LinePart::Start && lines > 0 {
        let last = gap.first_line + lines.min(NEXT_PAGE_LINES) - 1;
        return Next::Lines(gap.first_line..=last);
    }
    Next::Bytes(gap.start, end)
}

/// A path that can stand in one line as it is.
pub(super) fn printable(path: &std::path::Path) -> Option<String> {
    path.to_str().filter(|path| !path.contains(char::is_control)).map(str::to_owned)
}
