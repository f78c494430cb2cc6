//! Outlines text of a known format: a page, XML, a diff, a history, search hits, a table, a tree, prose, configuration,
//! source code.
//!
//! A [`Format`] divides a text into units that a reader understands by themselves (a hunk, a paragraph, a row), says what
//! each is worth besides the names that it introduces, and counts what it sees; everything else is common to all. The
//! counts decide whether a text has the format: those of its beginning choose the format, those of the whole text confirm
//! it. They also make the remark in the header, such as `table of 30 rows`, and say what a gap contains.

mod blocks;
mod cells;
mod code;
mod columns;
mod comments;
mod commits;
mod definitions;
mod diff;
mod failures;
mod hits;
mod html;
mod index;
mod irregular_lines;
mod keys;
mod marks;
mod parts;
mod prose;
mod seams;
mod signatures;
mod table;
mod tree;
mod xml;

use super::end_lines::{EndLines, clip};
use super::lines::{Coverage, Division, Extent, Lines};
use super::logarithm::log2;
use super::select::{self, Gaps, MAX_VALUE, Unit};
use super::{Ends, Room, Selection, Selector};
use crate::cut::{PieceKind, Segment};
use blocks::{Block, Blocks};
pub(super) use cells::{CellText, Number};
use index::Name;
use marks::{Listed, Marks};
use std::ops::Range;

/// One format of text.
pub(super) trait Format: Send {
    /// Reads the next line.
    fn read(&mut self, line: &[u8]) -> Row;

    /// Whether the lines so far and at most this many more can have this format. Texts that cannot are not read to the end.
    fn can_match(&self, lines_left: u64) -> bool;

    /// Whether the lines so far have this format.
    fn is_match(&self) -> bool {
        self.can_match(0)
    }

    /// The end of the line that was just read is not known.
    fn cut_off(&mut self) {}

    /// The text certainly has this format: from now on lines need not be examined for it.
    fn settle(&mut self) {}

    /// Describes all lines so far, for the notice.
    fn remark(&self) -> String;

    /// What the lines so far contain: one count for each of [`Format::nouns`], and perhaps others.
    fn contents(&self) -> Contents {
        Contents::default()
    }

    /// What the contents count, in the singular.
    fn nouns(&self) -> &'static [&'static str] {
        &[]
    }

    /// Describes what a gap contains, such as `2 hunks, +9 -4`; nothing if there is nothing to say.
    fn describe(&self, contents: Contents) -> String {
        counts(contents, self.nouns())
    }

    /// Describes the gap of these lines, before and after which the text so far contains this.
    fn describe_between(&self, lines: Range<u64>, before: Contents, after: Contents) -> String {
        let _ = lines;
        self.describe(std::array::from_fn(|at| after[at].saturating_sub(before[at])))
    }

    /// The longest description of a gap.
    fn widest_description(&self) -> String {
        self.describe(self.contents())
    }

    /// The names of what is in these lines, if they say more than [`Format::describe`]. The first of [`Format::contents`]
    /// counts them, with those that are not known by name.
    fn names(&self, lines: Range<u64>) -> Vec<Name<'_>> {
        let _ = lines;
        Vec::new()
    }

    /// The weight of the room for names in marks, and of the rest.
    fn share_of_names(&self, room: &Room<'_>) -> (u32, u32) {
        let _ = room;
        (1, 3)
    }

    /// How many gaps there may be between its units.
    fn gaps(&self) -> Gaps {
        Gaps::Few
    }

    /// The percentages of the room that go to the beginning and to the end first.
    fn ends(&self) -> (u32, u32) {
        (5, 5)
    }
}

/// Counts of what some lines contain.
pub(super) type Contents = [u64; 5];

/// What a line is in its format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    place: Place,
    worth: Worth,
    /// How many bytes at its beginning repeat the line before it.
    repeated: usize,
}

/// A line that repeats the one before it completely.
const WHOLE_LINE: usize = usize::MAX;

/// Whether a line begins a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Begins,
    /// It belongs to the unit of the line before it.
    Continues,
}

/// What a line is worth besides the names that it introduces. A unit is worth what the best of its lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// As much as the other lines of its unit.
    OfUnit,
    /// This much more; [`select::DOUBLING`] is twice as much.
    More(i32),
    /// This much; the names that it introduces do not count.
    Exactly(i32),
    /// No other line can be understood without it: column names.
    Heading,
    /// It does not have the format of the others, like the one file that could not be read.
    Irregular,
}

impl Row {
    /// A line that begins a unit and is worth this much more than its names.
    fn unit(more: i32) -> Row {
        Row { place: Place::Begins, worth: Worth::More(more), repeated: 0 }
    }

    /// A line that begins a unit and is worth exactly this much.
    fn valued(value: i32) -> Row {
        Row { place: Place::Begins, worth: Worth::Exactly(value), repeated: 0 }
    }

    /// A line that belongs to the unit of the line before it.
    fn part() -> Row {
        Row { place: Place::Continues, worth: Worth::OfUnit, repeated: 0 }
    }

    /// A line without which the others cannot be understood.
    fn heading() -> Row {
        Row { place: Place::Begins, worth: Worth::Heading, repeated: 0 }
    }

    /// A line that does not have the format.
    fn irregular() -> Row {
        Row { place: Place::Begins, worth: Worth::Irregular, repeated: 0 }
    }

    /// The same line, but the unit that it is in counts as irregular.
    fn in_irregular_unit(self) -> Row {
        Row { worth: Worth::Irregular, ..self }
    }

    /// The same line, but the unit that it is in is worth at least this much more than its names.
    fn worth_at_least(self, more: i32) -> Row {
        Row { worth: self.worth.max(Worth::More(more)), ..self }
    }

    /// The same line, of which this many bytes repeat the line before it.
    fn repeating(self, bytes: usize) -> Row {
        Row { repeated: bytes, ..self }
    }
}

/// The value of column names.
const HEADING_VALUE: i32 = MAX_VALUE;

/// The value of a line at an end of the text: more than any other but a heading.
const END_VALUE: i32 = MAX_VALUE - 100;

/// The known formats, the most distinctive first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FormatName {
    Html,
    Xml,
    Diff,
    Commits,
    Hits,
    Table,
    Tree,
    Prose,
    Keys,
    Code,
}

impl FormatName {
    const ALL: [FormatName; 10] = [
        FormatName::Html,
        FormatName::Xml,
        FormatName::Diff,
        FormatName::Commits,
        FormatName::Hits,
        FormatName::Table,
        FormatName::Tree,
        FormatName::Prose,
        FormatName::Keys,
        FormatName::Code,
    ];

    /// Whether it begins with a line that no other format has.
    fn is_unmistakable(self) -> bool {
        matches!(self, FormatName::Html | FormatName::Diff | FormatName::Commits | FormatName::Hits)
    }

    /// Whether it consists of elements with tags.
    fn is_markup(self) -> bool {
        matches!(self, FormatName::Html | FormatName::Xml)
    }

    /// Whether any line may belong to it, so that only many lines tell.
    fn is_loose(self) -> bool {
        matches!(self, FormatName::Prose | FormatName::Keys | FormatName::Code)
    }

    /// A format that has read nothing yet, of a text that is divided like this.
    fn format(self, division: Division) -> Box<dyn Format> {
        match self {
            FormatName::Html => Box::<html::Html>::default(),
            FormatName::Xml => Box::new(xml::Xml::new(division)),
            FormatName::Diff => Box::<diff::Diff>::default(),
            FormatName::Commits => Box::<commits::Commits>::default(),
            FormatName::Hits => Box::<hits::Hits>::default(),
            FormatName::Table => Box::<table::Table>::default(),
            FormatName::Tree => Box::<tree::Tree>::default(),
            FormatName::Prose => Box::<prose::Prose>::default(),
            FormatName::Keys => Box::<keys::Keys>::default(),
            FormatName::Code => Box::<code::Code>::default(),
        }
    }
}

/// More than any element has: an element that ends in the opening is read as a whole.
const OPENING_LINE_BYTES: usize = 64 << 10;

/// What some programs write before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Lines of this many bytes on average are too long to be read as lines.
const LONG_LINE_BYTES: usize = 600;

/// Whether the lines of a text are too long on average to be read as lines.
pub(super) fn has_long_lines(opening: &[u8]) -> bool {
    opening.len() / (memchr::memchr_iter(b'\n', opening).count() + 1) > LONG_LINE_BYTES
}

/// Starts the outline of a text with this beginning, if it has a known format.
pub(super) fn recognise(opening: &[u8], most_bytes: u64) -> Option<Outline> {
    let begins_with_tag =
        opening.strip_prefix(BYTE_ORDER_MARK).unwrap_or(opening).trim_ascii_start().starts_with(b"<");
    if begins_with_tag && has_long_lines(opening) {
        let mut texts = Vec::new();
        let mut lines = Lines::divided(Division::Tags, OPENING_LINE_BYTES);
        // The last line is not flushed, because it may be incomplete.
        lines.observe(Segment::verbatim(opening, 0), &mut |line| texts.push(line.text.to_vec()));
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        if let Some(name) = find_format(&texts, Division::Tags) {
            return Some(Outline::new(name.format(Division::Tags), Division::Tags, most_bytes));
        }
    }
    // The last line may be incomplete.
    let opening = &opening[..memchr::memrchr(b'\n', opening).map_or(0, |feed| feed + 1)];
    let texts: Vec<&[u8]> = opening.split_inclusive(|&byte| byte == b'\n').collect();
    let whole = find_format(&texts, Division::Lines);
    let format = match parts::recognise(opening, whole) {
        Some(parts) => Box::new(parts),
        None => whole?.format(Division::Lines),
    };
    Some(Outline::new(format, Division::Lines, most_bytes))
}

/// The format of a text that begins with these lines.
fn find_format(texts: &[&[u8]], division: Division) -> Option<FormatName> {
    let can_have = |name: &FormatName| division == Division::Lines || name.is_markup();
    FormatName::ALL.into_iter().filter(can_have).find(|name| {
        let mut format = name.format(division);
        let mut left = texts.len() as u64;
        let can_match = texts.iter().all(|line| {
            left -= 1;
            format.read(content(line));
            format.can_match(left)
        });
        can_match && format.is_match()
    })
}

/// A line without its line ending, and without what some programs write before a text.
fn content(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A text of fewer lines has no format.
const MIN_LINES: u64 = 12;

/// In a text of a strict format, at least this percentage of the lines has its form: messages of the tool may be among them.
const REGULAR_PERCENT: u64 = 95;

/// Whether nearly all lines are regular.
fn is_regular(irregular: u64, lines: u64) -> bool {
    is_majority(lines - irregular, lines, REGULAR_PERCENT)
}

/// Whether at least `percent` of all lines are regular, and there are enough lines to tell.
fn is_majority(regular: u64, lines: u64, percent: u64) -> bool {
    lines >= MIN_LINES && regular * 100 >= lines * percent
}

/// How much less one of many equal units is worth for being the one with this number: the first of them are shown.
fn later(number: u64) -> i32 {
    (PER_DOUBLING * log2(number as f32)) as i32
}

/// What each doubling of the number of units before it takes off a unit.
const PER_DOUBLING: f32 = 12.0;

/// Whether a line is a path and nothing else. Its names may contain spaces and colons.
fn is_path(line: &[u8]) -> bool {
    let first = line.iter().position(|byte| matches!(byte, b'/' | b' ' | b'\t' | b':'));
    match first.map(|at| line[at]) {
        Some(b'/') if line[0] == b'<' => false,
        Some(b'/') => !memchr::memchr_iter(b':', line).any(|colon| line.get(colon + 1) == Some(&b' ')),
        Some(_) => false,
        None => line == b"." || (line.contains(&b'.') && !line.ends_with(b".")),
    }
}

/// A number with its noun, which is given in the singular.
fn count(number: u64, noun: &str) -> String {
    let (stem, ending) = match noun.strip_suffix("ry") {
        _ if number == 1 => (noun, ""),
        Some(stem) => (stem, "ries"),
        None if noun.ends_with("ch") => (noun, "es"),
        None => (noun, "s"),
    };
    format!("{number} {stem}{ending}")
}

/// Counts with their nouns, without those that are zero.
fn counts(contents: Contents, nouns: &[&str]) -> String {
    let counts = contents.into_iter().zip(nouns).filter(|(number, _)| *number > 0);
    counts.map(|(number, noun)| count(number, noun)).collect::<Vec<_>>().join(", ")
}

/// The name of a format with what the text contains.
fn with(name: &str, contents: &str) -> String {
    if contents.is_empty() { name.to_owned() } else { format!("{name} with {contents}") }
}

/// Keeps the most valuable units. It selects nothing if the text turns out not to have the format.
pub(super) struct Outline {
    lines: Lines,
    division: Division,
    blocks: Blocks,
    /// The blocks at the end, in text order.
    chosen: Vec<Block>,
    /// Of a longer line only the beginning is shown.
    max_line_bytes: usize,
}

impl Outline {
    fn new(format: Box<dyn Format>, division: Division, most_bytes: u64) -> Outline {
        let max_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX / 16).clamp(2048, 8 << 20);
        let max_line_bytes = (max_bytes / 4).clamp(160, 4096);
        Outline {
            lines: Lines::divided(division, max_line_bytes + 8),
            division,
            blocks: Blocks::new(format, max_bytes),
            chosen: Vec::new(),
            max_line_bytes,
        }
    }

    /// Whether the format of the text is certain.
    pub(super) fn is_settled(&self) -> bool {
        self.blocks.is_settled()
    }

    /// Whether the text can still match the format. If not, no further lines change that.
    pub(super) fn can_match(&self) -> bool {
        self.blocks.can_match()
    }

    /// Whether the text so far has the format.
    #[cfg(test)]
    pub(super) fn is_match(&self) -> bool {
        self.blocks.format.is_match()
    }

    /// Describes the text so far.
    #[cfg(test)]
    pub(super) fn remark(&self) -> String {
        self.blocks.format.remark()
    }
}

impl Selector for Outline {
    fn observe(&mut self, segment: Segment<'_>) {
        let Outline { lines, blocks, .. } = self;
        lines.observe(segment, &mut |line| blocks.add(&line));
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let Outline { lines, division, blocks, chosen, max_line_bytes } = self;
        lines.flush(&mut |line| blocks.add(&line));
        if !blocks.is_settled() && !blocks.format.is_match() {
            return Selection::default();
        }
        let remark = blocks.format.remark();
        *chosen = blocks.finish();
        let room = &room.less_remark(&remark).less_gaps(1);
        let units = units(chosen, *division, blocks.format.ends(), ends, room, *max_line_bytes);
        let marks = Marks::new(&units, blocks, ends, room);
        let (shown, listed) = select_and_list(units, ends, room, &marks);
        let repeats = select::repeated(&shown);
        let pieces = marks.between(select::pieces(&shown), chosen, &listed);
        Selection { pieces, remark, repeats, ..Selection::default() }
    }
}

/// Units are chosen again if more than one part in this many of the room was reserved for names and is not used.
const ROOM_PER_REST: u64 = 64;

/// Chooses the units that are shown, and the names of the others that marks list.
fn select_and_list<'t>(
    units: Vec<Unit<'t>>,
    ends: &'t Ends,
    room: &Room<'_>,
    marks: &Marks<'_>,
) -> (Vec<Unit<'t>>, Listed) {
    let select = |units, reserved| {
        let shown = select::select(units, ends, &room.less_cost(reserved), marks.cost());
        let listed = marks.listed(&select::pieces(&shown), reserved);
        (shown, listed)
    };
    let reserved = marks.cost_of_names();
    let (shown, listed) = select(units.clone(), reserved);
    let rest = reserved.beyond(listed.cost);
    if room.limits.afford(rest.times(ROOM_PER_REST)) {
        return (shown, listed);
    }
    // Some of the names are those of definitions that are shown. What they would cost is used for more lines.
    let (more, listed_again) = select(units, listed.cost);
    if listed_again.is_complete { (more, listed_again) } else { (shown, listed) }
}

/// Every unit that may be shown, once, in text order: the blocks, and the lines at both ends.
fn units<'t>(
    blocks: &'t [Block],
    division: Division,
    (head, tail): (u32, u32),
    ends: &'t Ends,
    room: &Room<'_>,
    max_line_bytes: usize,
) -> Vec<Unit<'t>> {
    let (bytes, lines) = (ends.bytes(), ends.lines());
    let share = |most: Option<u64>, all: u64, percent: u32| {
        (u128::from(most.unwrap_or(u64::MAX).min(all)) * u128::from(percent) / 100) as u64
    };
    let of_bytes = |percent| share(room.limits.bytes, bytes, percent);
    let of_lines = |percent| share(room.limits.lines, lines, percent).max(1);
    let mut units: Vec<Unit<'t>> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (text, coverage) = match block.is_one_line() {
            true => clip(&block.text, block.extent.coverage, max_line_bytes),
            false => (&block.text[..], block.extent.coverage),
        };
        let extent = Extent { coverage, ..block.extent };
        let repeated = block.repeated.min(text.len());
        units.push(Unit { text, extent, value: block.value, order: extent.start as i64, repeated });
    }
    // Of a long text the blocks at its ends may have been dropped. A line that is in a block has no value of its own.
    let most = room.limits.bytes.unwrap_or(bytes).min(bytes);
    let at_ends = EndLines { ends, division, bytes: most, max_line_bytes };
    let is_in_block = |unit: &Unit<'_>| {
        let at = blocks.partition_point(|block| block.extent.end <= unit.extent.start);
        blocks.get(at).is_some_and(|block| block.extent.start < unit.extent.end)
    };
    let at_ends = at_ends.head().into_iter().chain(at_ends.tail());
    units.extend(at_ends.filter(|unit| !is_in_block(unit)));
    units.sort_by_key(|unit| unit.extent.start);
    // In a short text, the ends overlap.
    let mut covered = 0;
    units.retain(|unit| {
        let is_new = unit.extent.start >= covered;
        covered = covered.max(unit.extent.end);
        is_new
    });
    for unit in &mut units {
        let is_first = unit.extent.end <= of_bytes(head) && unit.extent.number <= of_lines(head);
        let is_last =
            unit.extent.start >= bytes - of_bytes(tail) && unit.extent.number > lines - of_lines(tail);
        if is_first || is_last {
            unit.value = unit.value.max(END_VALUE);
        }
    }
    // A rendered line can only be shown as a whole.
    units.retain(|unit| unit.extent.coverage == Coverage::Whole || unit.extent.form == PieceKind::Verbatim);
    units
}
