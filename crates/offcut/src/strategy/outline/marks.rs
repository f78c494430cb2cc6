//! The marks of an outline: what is not shown between its lines. They are shorter than the markers of the engine, and say
//! what the gap contains.

use super::blocks::{Block, Blocks};
use super::index::Name;
use super::{Contents, Format};
use crate::cut::{LinePosition, Piece, PieceKind};
use crate::notice::{Message, Notice, Tag};
use crate::strategy::select::{MarkerCost, Unit};
use crate::strategy::{Cost, Ends, Room};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Marks the gaps of one text.
pub(super) struct Marks<'f> {
    format: &'f dyn Format,
    /// Distinguishes marks from lines of the text that look like them.
    tag: Tag,
    cost: MarkerCost,
    /// What the names in all marks may cost.
    cost_of_names: Cost,
    /// Bytes and lines of the original, and what it contains.
    bytes: u64,
    lines: u64,
    contents: Contents,
    room: Room<'f>,
}

/// What follows the names if a mark has not all of them.
const MORE_NAMES: &str = ", …";

/// The names that marks list.
#[derive(Default)]
pub(super) struct Listed {
    /// Their lines, in order.
    lines: Vec<u64>,
    /// What they cost.
    pub(super) cost: Cost,
    /// Whether all names that are not shown are among them.
    pub(super) is_complete: bool,
}

/// How a name is listed: `parse 120`.
fn entry(name: &Name<'_>) -> String {
    format!("{} {}", name.text, name.line)
}

/// What it costs to list these names.
fn cost_of_all(names: &[Name<'_>], room: &Room<'_>) -> Cost {
    names.iter().fold(Cost::default(), |sum, name| sum + room.cost_of_contents(&entry(name)))
}

/// What is not shown between two units.
#[derive(Clone)]
struct Gap {
    start: u64,
    end: u64,
    first: u64,
    last: u64,
    /// Where in their lines the gap begins, and the text goes on after it.
    from: LinePosition,
    to: LinePosition,
    /// What it contains, in words.
    contents: String,
}

impl Gap {
    fn mark(&self, tag: &Tag) -> String {
        let Gap { start, end, first, last, from, to, ref contents } = *self;
        let contents = contents.clone();
        let message = match (from, to) {
            (LinePosition::Start, LinePosition::Start) => Message::Lines { first, last, contents },
            _ => Message::Bytes { start, end, line: Some(first).filter(|first| *first == last), contents },
        };
        let line_feed = if from == LinePosition::Inside { "\n" } else { "" };
        format!("{line_feed}{}\n", Notice { tag: tag.clone(), message })
    }
}

impl<'f> Marks<'f> {
    pub(super) fn new(units: &[Unit<'_>], blocks: &'f Blocks, ends: &Ends, room: &Room<'f>) -> Marks<'f> {
        let (bytes, lines, contents) = (ends.bytes(), ends.lines(), blocks.format.contents());
        let format = &*blocks.format;
        let is_like_mark = |unit: &Unit<'_>| {
            [&b"[line"[..], b"[bytes", b"[offcut"].iter().any(|mark| unit.text.starts_with(mark))
        };
        let tag = match units.iter().any(is_like_mark) {
            true => Tag::unused_in(units.iter().map(|unit| unit.text)),
            false => Tag::None,
        };
        let names = format.names(0..u64::MAX);
        let all_names = cost_of_all(&names, room);
        let (of_names, rest) = format.share_of_names(room);
        let share = room.share(of_names, rest).limits;
        let cost_of_names = share.zip_with(all_names, |most, all| most.map_or(all, |most| most.min(all)));
        // All definitions are known by their names, and there is room for all of them.
        let lists_all = names.len() as u64 == contents[0] && all_names == cost_of_names;
        let lists_some = cost_of_names != Cost::default() && !lists_all;
        let more_names = if lists_some { MORE_NAMES } else { "" };
        // At least as much as any mark of such a gap costs.
        let cost = |from| {
            let last = if from == LinePosition::Inside { lines } else { lines * 2 };
            let (to, contents) = (from, format.widest_description() + more_names);
            let widest = Gap { start: bytes, end: bytes, first: lines, last, from, to, contents };
            room.cost(widest.mark(&tag).as_bytes())
        };
        let (of_lines, inside) = (cost(LinePosition::Start), cost(LinePosition::Inside));
        // Where lines are divided, any gap may begin inside of one, and a unit that is cut adds another gap.
        let extra_inside = inside.beyond(of_lines);
        let is_divided = units.iter().any(|unit| unit.extent.begins == LinePosition::Inside);
        let between_lines = if is_divided { of_lines + extra_inside } else { of_lines };
        let cost = MarkerCost { gaps: format.gaps(), between_lines, extra_inside };
        Marks { format, cost, cost_of_names, tag, bytes, lines, contents, room: *room }
    }

    pub(super) fn cost(&self) -> MarkerCost {
        self.cost
    }

    /// What the names in all marks may cost.
    pub(super) fn cost_of_names(&self) -> Cost {
        self.cost_of_names
    }

    /// The names of what is not in `shown` that marks list, if all of them cost at most this. Those that are indented least
    /// come first.
    pub(super) fn listed(&self, shown: &[Piece<'_>], most: Cost) -> Listed {
        let mut names = self.format.names(0..u64::MAX);
        let is_hidden = |line: u64| {
            let after = shown.partition_point(|piece| piece.line <= line);
            after.checked_sub(1).is_none_or(|at| {
                let ended = memchr::memchr_iter(b'\n', &shown[at].text).count() as u64;
                line >= shown[at].line + ended + u64::from(!shown[at].text.ends_with(b"\n"))
            })
        };
        names.retain(|name| is_hidden(name.line));
        // A name that occurs again says little: `__init__`.
        let mut known = HashSet::new();
        let (first, repeated): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| known.insert(name.text));
        let mut names = [first, repeated].concat();
        names.sort_by_key(|name| name.indent);
        let is_complete = cost_of_all(&names, &self.room).beyond(most) == Cost::default();
        let mut listed = Listed { lines: Vec::new(), cost: Cost::default(), is_complete };
        for name in names {
            let cost = listed.cost + self.room.cost_of_contents(&entry(&name));
            if cost.beyond(most) != Cost::default() {
                break;
            }
            listed.lines.push(name.line);
            listed.cost = cost;
        }
        listed.lines.sort_unstable();
        listed
    }

    /// The pieces with a mark in each gap; none if nothing is shown. `blocks` know what the text contains before them.
    pub(super) fn between<'t>(
        &self,
        shown: Vec<Piece<'t>>,
        blocks: &[Block],
        listed: &Listed,
    ) -> Vec<Piece<'t>> {
        if shown.is_empty() {
            return shown;
        }
        let mut pieces = Vec::with_capacity(2 * shown.len() + 1);
        let mut hidden = Vec::new();
        // Where the part that is not in a piece yet begins.
        let (mut start, mut first, mut from) = (0, 1, LinePosition::Start);
        for piece in shown {
            // What is hidden because it repeats the line before it has no mark, unless more follows that is not shown.
            if piece.form == PieceKind::Mark {
                hidden.push(piece);
                continue;
            }
            if hidden.last().is_some_and(|last| last.end == piece.start) {
                pieces.append(&mut hidden);
            } else {
                hidden.clear();
                let contents = self.contents(start..piece.start, first..piece.line, blocks, listed);
                let to = piece.part;
                let last = if to == LinePosition::Start { piece.line - 1 } else { piece.line };
                self.add(&mut pieces, Gap { start, end: piece.start, first, last, from, to, contents });
            }
            let line_feeds = memchr::memchr_iter(b'\n', &piece.text).count() as u64;
            (start, first) = (piece.end, piece.line + line_feeds);
            from = if piece.text.ends_with(b"\n") { LinePosition::Start } else { LinePosition::Inside };
            pieces.push(piece);
        }
        let (end, last) = (self.bytes, self.lines.max(first));
        let contents = self.contents(start..end, first..last + 1, blocks, listed);
        let to = LinePosition::Start;
        self.add(&mut pieces, Gap { start, end, first, last, from, to, contents });
        pieces
    }

    /// Describes what is between two offsets, in these lines, if a block begins or ends at each of the offsets.
    fn contents(
        &self,
        Range { start, end }: Range<u64>,
        lines: Range<u64>,
        blocks: &[Block],
        listed: &Listed,
    ) -> String {
        let until = |offset: u64| {
            if offset == 0 {
                return Some(Contents::default());
            }
            if offset == self.bytes {
                return Some(self.contents);
            }
            let at = blocks.partition_point(|block| block.extent.end < offset);
            let block = blocks.get(at)?;
            if block.extent.end == offset {
                Some(block.after)
            } else {
                (block.extent.start == offset).then_some(block.before)
            }
        };
        let known = until(start).zip(until(end)).filter(|_| start < end);
        let counted = known.map_or_else(String::new, |(before, after)| {
            self.format.describe_between(lines.clone(), before, after)
        });
        let mut names = self.format.names(lines);
        // Names that are too long, and some of too many, are not known.
        let count = known.map_or(0, |(before, after)| after[0].saturating_sub(before[0]) as usize);
        let all = names.len().max(count);
        names.retain(|name| listed.lines.binary_search(&name.line).is_ok());
        let text = names.iter().map(entry).collect::<Vec<_>>().join(", ");
        match (names.len() == all, counted.as_str()) {
            _ if names.is_empty() => counted,
            (true, _) => text,
            (false, "") => text + MORE_NAMES,
            (false, counted) => format!("{counted}: {text}{MORE_NAMES}"),
        }
    }

    fn add(&self, pieces: &mut Vec<Piece<'_>>, gap: Gap) {
        if gap.start < gap.end {
            let Gap { start, end, first, from, .. } = gap;
            let text = Cow::Owned(gap.mark(&self.tag).into_bytes());
            pieces.push(Piece { start, end, form: PieceKind::Mark, line: first, part: from, text });
        }
    }
}
