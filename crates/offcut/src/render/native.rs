//! offcut's own notice.
//!
//! A header first with the totals, a marker in place of every gap, a pointer with one concrete command at the end.
//! When the budget is small the notice climbs down a ladder instead of vanishing. Every line of ours carries the
//! entry's id, which no output can know before it is printed; where nothing is kept, a tag that what is shown does
//! not contain.

use crate::cut::{Cut, Gap, LinePart, Size, Why};
use crate::limits::Limits;
use crate::measure::LineConvention;
use crate::profile::TaskTool;
use crate::recorder::Outlook;
use crate::render::{Facts, Plan, Reach};
use crate::store::Id;
use crate::strategy::{Cost, Ends};
use crate::truncator::{Kept, Part};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The page that the pointer offers has at most these many bytes, so that reading it never exceeds a page.
pub(crate) const NEXT_PAGE_BYTES: usize = 8000;
const NEXT_PAGE_LINES: u64 = 200;

/// How much we say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rung {
    /// Header, markers, pointer.
    Full,
    /// One line, in the first gap.
    Line,
    /// The least that says what is missing and how to get it.
    Least,
    /// What is missing and the entry's name, where not even the command fits: no command is better than a wrong one.
    Name,
}

/// The part that a pointer offers to show next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    Lines(RangeInclusive<u64>),
    Bytes(u64, u64),
}

/// Where the rest is.
#[derive(Clone, Debug)]
enum Place {
    Kept { id: Id, path: Option<String> },
    Lost { reason: String, part: Option<Part> },
}

/// What stands in each line of ours, and the words for it.
struct Notice<'a> {
    rung: Rung,
    tag: String,
    /// A reason longer than this is cut.
    longest_reason: usize,
    place: Place,
    reach: &'a Reach,
    task: TaskTool,
    original: Size,
}

/// Chooses the richest notice that leaves most of the budget to the output.
pub(super) fn plan(
    reach: &Reach,
    task: TaskTool,
    outlook: Outlook,
    original: Size,
    keep: &Limits,
    cost: &dyn Fn(&str) -> Cost,
) -> Plan {
    // `0 lines` is wider than `1 line`.
    let original = Size { lines: original.lines.max(2), ..original };
    let place = match outlook {
        Outlook::Keeping { id, path } => Place::Kept { id, path: path.as_deref().and_then(printable) },
        Outlook::Losing { error } => Place::Lost { reason: error, part: None },
        Outlook::Off => Place::Lost { reason: String::new(), part: None },
    };
    // The longest tag that is ever tried; an id is longer.
    let tag = match &place {
        Place::Kept { id, .. } => tag_of(id),
        Place::Lost { .. } => "offcut-9999".to_owned(),
    };
    let longest_reason = Rung::Full.longest_reason();
    let mut notice = Notice { rung: Rung::Full, tag, longest_reason, place, reach, task, original };
    // The widest numbers that can occur: everything shown, everything missing, one gap over all of it.
    let gap = |from, why| Gap {
        start: original.bytes,
        end: original.bytes * 2,
        first_line: original.lines,
        last_line: original.lines * 2,
        from,
        why,
    };
    let widest = |texts: Vec<String>| texts.into_iter().max_by_key(String::len).unwrap_or_default();
    let lines = original.lines..=original.lines + NEXT_PAGE_LINES;
    let removed = [original, Size { lines: 0, ..original }];
    let next = [Next::Lines(lines), Next::Bytes(original.bytes, original.bytes)];
    for (rung, share) in [(Rung::Full, 4), (Rung::Line, 3), (Rung::Least, 2), (Rung::Name, 1)] {
        notice.rung = rung;
        notice.longest_reason = rung.longest_reason();
        let marker = widest(vec![
            notice.marker(&gap(LinePart::Start, Why::Omitted)),
            notice.marker(&gap(LinePart::Inside, Why::Omitted)),
            notice.marker(&gap(LinePart::Inside, Why::Line)),
        ]);
        // A piece that ends inside a line needs a line feed before whatever follows it.
        let (fixed, marker) = match rung {
            Rung::Full => {
                let pointer = widest(next.iter().map(|next| notice.pointer(next)).collect());
                let fixed = cost(&format!("{}\n", notice.header(original, original)))
                    + cost(&pointer)
                    + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                (fixed, cost(&marker) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 })
            }
            Rung::Line | Rung::Least | Rung::Name => {
                let lines =
                    next.iter().flat_map(|next| removed.iter().map(|&removed| notice.line(removed, next)));
                let line = widest(lines.collect());
                let marker = cost(&marker) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                // The line stands in a gap of its own, so only what it is longer than a marker is extra.
                let line = cost(&line) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                (line.beyond(marker), marker)
            }
        };
        let once = fixed + marker;
        let fits =
            |limit: Option<u64>, cost: u64| limit.is_none_or(|limit| cost.saturating_mul(share) <= limit);
        if rung == Rung::Name
            || (fits(keep.bytes, once.bytes)
                && fits(keep.lines, once.lines)
                && fits(keep.chars, once.chars)
                && fits(keep.tokens, once.tokens))
        {
            return Plan { fixed, marker, rung };
        }
    }
    unreachable!("the last rung is always taken")
}

pub(super) fn render(reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Vec<u8> {
    let place = match facts.kept {
        Kept::Whole(entry) => Place::Kept { id: entry.id, path: entry.path.as_deref().and_then(printable) },
        Kept::NotWhole { error, part } => Place::Lost { reason: error.clone(), part: *part },
        Kept::Off => Place::Lost { reason: String::new(), part: None },
    };
    let tag = match &place {
        Place::Kept { id, .. } => tag_of(id),
        Place::Lost { .. } => unused_tag(facts.cut),
    };
    let mut notice = Notice {
        rung: plan.rung,
        tag,
        longest_reason: plan.rung.longest_reason(),
        place,
        reach,
        task: facts.settings.task,
        original: facts.original,
    };
    let removed = Size {
        bytes: facts.original.bytes - facts.shown.bytes,
        lines: facts.original.lines.saturating_sub(facts.shown.lines),
        ..Size::default()
    };
    notice.shorten_reason(plan, facts, removed);
    let next = next(facts.ends, facts.cut);
    notice.write(facts, removed, &next)
}

impl Rung {
    /// A reason longer than this is cut.
    fn longest_reason(self) -> usize {
        match self {
            Rung::Full => 160,
            Rung::Line | Rung::Least => 40,
            Rung::Name => 0,
        }
    }
}

impl Notice<'_> {
    fn write(&self, facts: &Facts<'_>, removed: Size, next: &Next) -> Vec<u8> {
        let mut text = Vec::with_capacity(facts.shown.bytes as usize + 1024);
        if self.rung == Rung::Full {
            text.extend_from_slice(self.header(facts.shown, removed).as_bytes());
            text.push(b'\n');
        }
        let mut gaps = facts.cut.gaps.iter().enumerate().peekable();
        let mut mark = |text: &mut Vec<u8>, before: u64| {
            while let Some((number, gap)) = gaps.next_if(|(_, gap)| gap.start < before) {
                end_line(text);
                let marker = match (self.rung, number) {
                    (Rung::Full, _) | (_, 1..) => self.marker(gap),
                    (Rung::Line | Rung::Least | Rung::Name, 0) => self.line(removed, next),
                };
                text.extend_from_slice(marker.as_bytes());
                text.push(b'\n');
            }
        };
        for piece in &facts.cut.pieces {
            mark(&mut text, piece.start);
            text.extend_from_slice(&piece.text);
        }
        mark(&mut text, u64::MAX);
        if self.rung == Rung::Full {
            end_line(&mut text);
            text.extend_from_slice(self.pointer(next).as_bytes());
            text.push(b'\n');
        }
        text
    }

    fn header(&self, shown: Size, removed: Size) -> String {
        let Size { bytes, lines, .. } = self.original;
        let mut text = format!(
            "[{}: {}, {bytes} bytes; shown {}, {} bytes; missing {}, {} bytes; ",
            self.tag,
            count(lines),
            count(shown.lines),
            shown.bytes,
            count(removed.lines),
            removed.bytes
        );
        let _ = match &self.place {
            Place::Kept { path: Some(path), .. } => write!(text, "full output: {path}]"),
            Place::Kept { id, path: None } => write!(text, "full output: offcut://{id}]"),
            Place::Lost { part: None, .. } => write!(text, "the rest was not kept{}]", self.reason()),
            Place::Lost { part: Some(Part { bytes, .. }), .. } => {
                write!(
                    text,
                    "only the first {bytes} bytes were kept, the rest was not kept{}]",
                    self.reason()
                )
            }
        };
        text
    }

    fn marker(&self, gap: &Gap) -> String {
        let Gap { start, end, first_line, last_line, .. } = *gap;
        let bytes = end - start;
        if self.rung != Rung::Full {
            return match (gap.why, last_line + 1 - first_line) {
                (Why::Line, _) => format!("[{} +{bytes} bytes]", self.tag),
                (_, lines) => format!("[{} +{}]", self.tag, count(lines)),
            };
        }
        match (gap.why, gap.from) {
            (Why::Line, _) => {
                format!("[{}: bytes {start}:{end} missing, inside line {first_line}]", self.tag)
            }
            (_, LinePart::Inside) => {
                format!("[{}: bytes {start}:{end} missing, in lines {first_line}:{last_line}]", self.tag)
            }
            (_, LinePart::Start) if first_line == last_line => {
                format!("[{}: line {first_line} missing, {bytes} bytes]", self.tag)
            }
            (_, LinePart::Start) => {
                format!("[{}: lines {first_line}:{last_line} missing, {bytes} bytes]", self.tag)
            }
        }
    }

    fn pointer(&self, next: &Next) -> String {
        let path = match &self.place {
            Place::Kept { path, .. } => path,
            Place::Lost { part: None, .. } => {
                return format!("[{}: end; the missing part cannot be read back]", self.tag);
            }
            Place::Lost { part: Some(Part { id, .. }), .. } => {
                return format!("[{}: what was kept is offcut://{id}]", self.tag);
            }
        };
        let mut text = format!("[{}: ", self.tag);
        text += &self.command(next).map_or_else(|| "end".to_owned(), |command| format!("next: {command}"));
        if let (TaskTool::Available, Some(path)) = (self.task, path) {
            let _ = write!(text, "; or let a sub-agent process {path}");
        }
        text + "]"
    }

    /// The one line of the lower rungs.
    fn line(&self, removed: Size, next: &Next) -> String {
        let Size { bytes, lines, .. } = removed;
        let missing = if lines > 0 { count(lines) } else { format!("{bytes} bytes") };
        match (&self.place, self.rung) {
            (Place::Kept { id, .. }, Rung::Full | Rung::Line) => {
                let total = self.original.bytes;
                let command = self.command(next).unwrap_or_else(|| format!("offcut://{id}"));
                match lines {
                    0 => format!("[+{bytes} of {total} bytes: {command}]"),
                    _ => format!("[+{missing}, {bytes} of {total} bytes: {command}]"),
                }
            }
            (Place::Kept { id, .. }, Rung::Least) => match self.reach {
                Reach::Shell { program } => format!("[+{missing}: {program} read {id}]"),
                Reach::Tool { .. } | Reach::Files | Reach::Nothing => format!("[+{missing}: offcut://{id}]"),
            },
            (Place::Kept { id, .. }, Rung::Name) => format!("[+{missing}: offcut://{id}]"),
            (Place::Lost { .. }, Rung::Full | Rung::Line) => {
                format!("[{}: +{missing}, {bytes} bytes, not kept{}]", self.tag, self.reason())
            }
            (Place::Lost { .. }, _) => format!("[{}: +{missing}, not kept{}]", self.tag, self.reason()),
        }
    }

    /// How this reader gets the next part, if it can.
    fn command(&self, next: &Next) -> Option<String> {
        let Place::Kept { id, path } = &self.place else { return None };
        let range = match next {
            Next::Lines(lines) => format!("{}:{}", lines.start(), lines.end()),
            Next::Bytes(start, end) => format!("{start}:{end}"),
        };
        let unit = match next {
            Next::Lines(_) => "lines",
            Next::Bytes(..) => "bytes",
        };
        match (self.reach, next) {
            (Reach::Shell { program }, _) => Some(format!("{program} read {id} --{unit} {range}")),
            (Reach::Tool { name }, _) => Some(format!("{name} {{\"id\":\"{id}\",\"{unit}\":\"{range}\"}}")),
            (Reach::Files, Next::Lines(lines)) => {
                let (first, count) = (lines.start(), lines.end() + 1 - lines.start());
                path.as_ref()
                    .map(|path| format!("Read {path} with offset {first} and limit {count}, or Grep it"))
            }
            (Reach::Files, Next::Bytes(..)) => path.as_ref().map(|path| format!("Grep {path}")),
            (Reach::Nothing, _) => None,
        }
    }

    /// A store that fails at the very last moment must not break the budget: the room was reserved for success.
    fn shorten_reason(&mut self, plan: &Plan, facts: &Facts<'_>, removed: Size) {
        let Place::Lost { reason, .. } = &self.place else { return };
        let reserved = plan.fixed.bytes + plan.marker.bytes;
        let ours = match self.rung {
            Rung::Full => {
                self.header(facts.shown, removed).len()
                    + self.pointer(&Next::Bytes(0, 0)).len()
                    + 4
                    + plan.marker.bytes as usize
            }
            Rung::Line | Rung::Least | Rung::Name => self.line(removed, &Next::Bytes(0, 0)).len() + 2,
        };
        let over = (ours as u64).saturating_sub(reserved) as usize;
        self.longest_reason = self.longest_reason.min(reason.len()).saturating_sub(over);
    }

    /// Why it was not kept, as far as there is room.
    fn reason(&self) -> String {
        match &self.place {
            Place::Lost { reason, .. } => match clip(reason, self.longest_reason) {
                clipped if clipped.is_empty() => String::new(),
                clipped => format!(": {clipped}"),
            },
            Place::Kept { .. } => String::new(),
        }
    }
}

fn count(lines: u64) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

fn end_line(text: &mut Vec<u8>) {
    if text.last().is_some_and(|&last| last != b'\n') {
        text.push(b'\n');
    }
}

fn tag_of(id: &Id) -> String {
    format!("offcut {id}")
}

/// The first tag that nothing shown could be taken for.
fn unused_tag(cut: &Cut<'_>) -> String {
    let is_used = |tag: &str| {
        let opening = format!("[{tag}");
        cut.pieces.iter().any(|piece| memchr::memmem::find(&piece.text, opening.as_bytes()).is_some())
    };
    // Every tag begins with the first one: if that is not there, none is.
    if !is_used("offcut") {
        return "offcut".to_owned();
    }
    (2..=9999)
        .map(|number| format!("offcut-{number}"))
        .find(|tag| !is_used(tag))
        .unwrap_or("offcut-0".to_owned())
}

/// The first page of the first gap, exactly: whole lines if one fits, else bytes.
///
/// Everything shown before the first gap is contiguous from the start, so the opening reaches a page into the gap.
fn next(ends: &Ends, cut: &Cut<'_>) -> Next {
    let Some(gap) = cut.gaps.first() else { return Next::Bytes(0, 0) };
    let start = gap.start as usize;
    let end =
        usize::try_from(gap.end).unwrap_or(usize::MAX).min(start + NEXT_PAGE_BYTES).min(ends.opening().len());
    let page = ends.opening().get(start..end).unwrap_or_default();
    let mut lines = crate::measure::newlines(page);
    if end as u64 == ends.bytes() && !page.ends_with(b"\n") {
        lines += 1;
    }
    if gap.from == LinePart::Start && lines > 0 {
        let last = gap.first_line + lines.min(NEXT_PAGE_LINES) - 1;
        return Next::Lines(gap.first_line..=last);
    }
    // A page is bounded in lines too.
    let end = start + LineConvention::Terminated.prefix(page, 5 * NEXT_PAGE_LINES);
    Next::Bytes(gap.start, crate::boundary::floor(ends.opening(), end) as u64)
}

/// A path that can stand in one line as it is.
fn printable(path: &std::path::Path) -> Option<String> {
    path.to_str().filter(|path| !path.contains(char::is_control)).map(str::to_owned)
}

fn clip(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most.saturating_sub(3)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    if most < 3 { String::new() } else { format!("{}...", &text[..end]) }
}
