//! offcut's own notice.
//!
//! A header first with the totals, a marker in place of every gap, a pointer with one concrete command at the end.
//! When the budget is small the notice climbs down a ladder instead of vanishing. Every line of ours carries the
//! entry's id, which no output can know before it is printed; where nothing is kept, a tag that what is shown does
//! not contain.

use crate::cut::{Gap, LinePart, Size, Why};
use crate::profile::TaskTool;
use crate::recorder::{Flow, Outlook};
use crate::render::content::Content;
use crate::render::next::{NEXT_PAGE_LINES, Next, command, entry, next, printable};
use crate::render::words::{clip, count, marker, stands_before, tag_of, unused_tag};
use crate::render::{Budget, Control, Facts, Plan, Reach, Trailer};
use crate::shown::{Kept, Part};
use crate::store::{Id, Standing};
use crate::strategy::Cost;
use std::fmt::Write as _;

/// What is said of an output that a store elsewhere could not take in.
pub(super) const ONLY_LOCAL: &str = ", only on this machine so far";

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

/// Where the rest is.
#[derive(Clone, Debug)]
enum Place {
    Kept { id: Id, path: Option<String>, standing: Standing },
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
    trailer: Trailer<'a>,
    control: Control,
    remark: &'a str,
}

/// The notice as far as it is known before the commit, with the widest numbers and names.
fn expected<'a>(budget: &Budget<'a>, control: Control) -> Notice<'a> {
    // `0 lines` is wider than `1 line`.
    let original = Size { lines: budget.original.lines.max(2), ..budget.original };
    let place = match &budget.outlook {
        Outlook::Keeping { id, path, standing } => {
            Place::Kept { id: *id, path: path.as_deref().and_then(printable), standing: standing.clone() }
        }
        Outlook::Losing { error } => Place::Lost { reason: error.clone(), part: None },
        Outlook::Off => Place::Lost { reason: String::new(), part: None },
    };
    // The longest tag that is ever tried; an id is longer.
    let tag = match &place {
        Place::Kept { id, .. } => tag_of(id),
        Place::Lost { .. } => "offcut-9999".to_owned(),
    };
    Notice {
        rung: Rung::Full,
        tag,
        longest_reason: Rung::Full.longest_reason(),
        place,
        reach: budget.reach,
        task: budget.task,
        original,
        trailer: budget.trailer,
        control,
        remark: "",
    }
}

/// Chooses the richest notice that fits beside a text of this cost, all of which is shown.
pub(super) fn plan_whole(budget: &Budget<'_>, text: Cost) -> Option<Plan> {
    let mut notice = expected(budget, Control::LeftOut);
    [Rung::Full, Rung::Line, Rung::Least, Rung::Name].into_iter().find_map(|rung| {
        notice.rung = rung;
        notice.longest_reason = rung.longest_reason();
        let fixed = (budget.cost)(format!("{}\n", notice.whole()).as_bytes())
            + notice.trailer_line().map_or_else(Cost::default, |line| {
                (budget.cost)(line.as_bytes()) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 }
            });
        let plan = Plan { fixed, marker: Cost::default(), more: String::new(), remark: String::new(), rung };
        budget.keep.afford(fixed + text).then_some(plan)
    })
}

/// Chooses the richest notice that leaves most of the budget to the output.
pub(super) fn plan(budget: &Budget<'_>, control: Control) -> Plan {
    let mut notice = expected(budget, control);
    let (original, keep) = (notice.original, budget.keep);
    let cost = |text: &str| (budget.cost)(text.as_bytes());
    let more = notice.last_line(&Next::Start).map_or_else(String::new, |line| format!("\n{line}\n"));
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
        let markers = [
            notice.marker(&gap(LinePart::Start, Why::Omitted)),
            notice.marker(&gap(LinePart::Inside, Why::Omitted)),
            notice.marker(&gap(LinePart::Inside, Why::Line)),
            notice.marker(&gap(LinePart::Start, Why::Opaque)),
            notice.marker(&gap(LinePart::Start, Why::Repeated)),
        ];
        // Each may be the widest in another unit.
        let marker = markers
            .iter()
            .map(|marker| cost(marker))
            .fold(Cost::default(), |most, one| one.beyond(most) + most);
        // A piece that ends inside a line needs a line feed before whatever follows it.
        let (fixed, marker) = match rung {
            Rung::Full => {
                let pointer = widest(next.iter().filter_map(|next| notice.last_line(next)).collect());
                let fixed = cost(&format!("{}\n", notice.header(original, original)))
                    + cost(&pointer)
                    + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                (fixed, marker + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 })
            }
            Rung::Line | Rung::Least | Rung::Name => {
                let lines =
                    next.iter().flat_map(|next| removed.iter().map(|&removed| notice.line(removed, next)));
                // Where it turns out that all is shown, the line says that instead.
                let whole = (control == Control::LeftOut).then(|| notice.whole());
                let line = widest(lines.chain(whole).collect());
                let marker = marker + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                // The line stands in a gap of its own, so only what it is longer than a marker is extra.
                let line = cost(&line) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
                let last = notice.last_line(&Next::Start).map_or_else(Cost::default, |line| {
                    cost(&line) + Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 }
                });
                (line.beyond(marker) + last, marker)
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
            return Plan { fixed, marker, more, remark: String::new(), rung };
        }
    }
    unreachable!("the last rung is always taken")
}

pub(super) fn render(reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Content {
    let mut notice = Notice { remark: &plan.remark, ..notice(reach, plan.rung, facts) };
    if facts.cut.gaps.is_empty() {
        let mut text = Content::default();
        facts.cut.pieces.iter().for_each(|piece| text.place(piece));
        notice.shorten_reason_to(plan.more.len());
        notice.append_last_line(&mut text, &Next::Start);
        return text;
    }
    let removed = Size {
        bytes: facts.original.bytes - facts.shown.bytes,
        lines: facts.original.lines.saturating_sub(facts.shown.lines),
        ..Size::default()
    };
    notice.shorten_reason(plan, facts, removed);
    let next = next(facts.ends, facts.cut);
    notice.write(facts, removed, &next)
}

/// The last line alone, under a document's frame.
pub(super) fn append_trailer(reach: &Reach, facts: &Facts<'_>, text: &mut Content) {
    if !facts.trailer.is_silent() {
        notice(reach, Rung::Full, facts).append_last_line(text, &next(facts.ends, facts.cut));
    }
}

fn notice<'a>(reach: &'a Reach, rung: Rung, facts: &Facts<'a>) -> Notice<'a> {
    let place = match facts.kept {
        Kept::Whole(entry) | Kept::Open(entry) => {
            let path = entry.path.as_deref().and_then(printable);
            Place::Kept { id: entry.id, path, standing: entry.standing.clone() }
        }
        Kept::NotWhole { error, part } => Place::Lost { reason: error.clone(), part: *part },
        Kept::Off => Place::Lost { reason: String::new(), part: None },
    };
    let tag = match &place {
        Place::Kept { id, .. } => tag_of(id),
        Place::Lost { .. } => unused_tag(facts.cut),
    };
    let Facts { settings, original, trailer, .. } = *facts;
    let longest_reason = rung.longest_reason();
    let control = facts.ends.control();
    Notice {
        rung,
        tag,
        longest_reason,
        place,
        reach,
        task: settings.task,
        original,
        trailer,
        control,
        remark: "",
    }
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
    fn write(&self, facts: &Facts<'_>, removed: Size, next: &Next) -> Content {
        let mut text = Content::default();
        text.text.reserve(facts.shown.bytes as usize + 1024);
        let mut gaps = facts.cut.missing().enumerate().peekable();
        let is_whole = gaps.peek().is_none();
        if is_whole || self.rung == Rung::Full {
            let first = if is_whole { self.whole() } else { self.header(facts.shown, removed) };
            text.add(first);
            text.add(b"\n");
        } else if gaps.peek().is_some_and(|(_, gap)| facts.cut.is_marked(gap)) {
            // The strategy's own words stand in the gap where this line would be.
            text.add(self.line(removed, next));
            text.add(b"\n");
        }
        let mut mark = |text: &mut Content, before: &dyn Fn(&Gap) -> bool| {
            while let Some((number, gap)) = gaps.next_if(|(_, gap)| before(gap)) {
                if facts.cut.is_marked(gap) {
                    continue;
                }
                text.end_line();
                let marker = match (self.rung, number) {
                    (Rung::Full, _) | (_, 1..) => self.marker(gap),
                    (Rung::Line | Rung::Least | Rung::Name, 0) => self.line(removed, next),
                };
                text.add(marker);
                text.add(b"\n");
            }
        };
        for piece in &facts.cut.pieces {
            mark(&mut text, &|gap| stands_before(gap, piece));
            text.place(piece);
        }
        mark(&mut text, &|_| true);
        if !is_whole || !self.trailer.is_silent() {
            self.append_last_line(&mut text, next);
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
        if self.control == Control::LeftOut {
            text.push_str("terminal control left out; ");
        }
        text.push_str(&self.remark());
        text.push_str(&self.whereabouts());
        text
    }

    fn remark(&self) -> String {
        if self.remark.is_empty() { String::new() } else { format!("{}; ", self.remark) }
    }

    fn whereabouts(&self) -> String {
        let reason = self.reason();
        match &self.place {
            Place::Kept { path: Some(path), .. } => {
                format!("{}: {path}{}]", self.what_is_kept(), self.caveat())
            }
            Place::Kept { id, path: None, .. } => {
                format!("{}: offcut://{id}{}]", self.what_is_kept(), self.caveat())
            }
            Place::Lost { part: None, .. } => format!("the rest was not kept{reason}]"),
            Place::Lost { part: Some(Part { bytes, .. }), .. } => {
                format!("only the first {bytes} bytes were kept, the rest was not kept{reason}]")
            }
        }
    }

    /// That only this machine has it, and why. Room for the words is also reserved while that may still come.
    fn caveat(&self) -> String {
        match &self.place {
            Place::Kept { standing: Standing::Arriving, .. } => ONLY_LOCAL.to_owned(),
            Place::Kept { standing: Standing::OnlyLocal { .. }, .. } => {
                format!("{ONLY_LOCAL}{}", self.reason())
            }
            _ => String::new(),
        }
    }

    fn what_is_kept(&self) -> &'static str {
        match self.trailer.flow {
            Flow::Ended => "full output",
            Flow::GoesOn => "output so far",
        }
    }

    /// The line under an output of which only the control is not shown, if there is something to say.
    fn trailer_line(&self) -> Option<String> {
        if self.trailer.is_silent() { None } else { self.last_line(&Next::Start) }
    }

    /// The one line over an output of which only the control is not shown.
    fn whole(&self) -> String {
        let (Size { bytes, lines, .. }, tag) = (self.original, &self.tag);
        match (&self.place, self.rung) {
            (Place::Kept { .. }, Rung::Full) => format!(
                "[{tag}: {}, {bytes} bytes; all shown, terminal control left out; {}",
                count(lines),
                self.whereabouts()
            ),
            (Place::Lost { .. }, Rung::Full) => format!(
                "[{tag}: {}, {bytes} bytes; all shown, terminal control left out; not kept{}]",
                count(lines),
                self.reason()
            ),
            (Place::Kept { id, .. }, Rung::Line) => {
                format!("[terminal control left out of {bytes} bytes: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Least) => {
                format!("[terminal control left out: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Name) => format!("[terminal control left out: offcut://{id}]"),
            (Place::Lost { .. }, _) => {
                format!("[{tag}: terminal control left out, not kept{}]", self.reason())
            }
        }
    }

    fn marker(&self, gap: &Gap) -> String {
        marker(&self.tag, self.rung, gap)
    }

    /// The pointer, and what there is to say about the command; on a lower rung only that.
    fn last_line(&self, next: &Next) -> Option<String> {
        let Trailer { remark, flow } = self.trailer;
        let mut parts: Vec<String> = Vec::new();
        if !remark.is_empty() {
            parts.push(remark.to_owned());
        }
        if !remark.is_empty() && self.rung == Rung::Full {
            parts.push(format!("{}, {} bytes", count(self.original.lines), self.original.bytes));
        }
        parts.extend(match (flow, &self.place) {
            (Flow::Ended, _) => None,
            (Flow::GoesOn, Place::Kept { .. }) => Some("more is still being captured".to_owned()),
            (Flow::GoesOn, Place::Lost { .. }) => {
                let reason = if self.rung == Rung::Full { self.reason() } else { String::new() };
                Some(format!("more comes and is not kept{reason}"))
            }
        });
        if self.rung == Rung::Full {
            parts.extend(self.pointer(next));
        }
        (!parts.is_empty()).then(|| format!("[{}: {}]", self.tag, parts.join("; ")))
    }

    fn pointer(&self, next: &Next) -> Option<String> {
        let path = match (&self.place, next) {
            (Place::Kept { path, .. }, _) => path,
            (Place::Lost { .. }, Next::Start) => return None,
            (Place::Lost { part: None, .. }, _) => {
                return Some("end; the missing part cannot be read back".to_owned());
            }
            (Place::Lost { part: Some(Part { id, .. }), .. }, _) => {
                return Some(format!("what was kept is offcut://{id}"));
            }
        };
        let mut text =
            self.command(next).map_or_else(|| "end".to_owned(), |command| format!("next: {command}"));
        if let (TaskTool::Available, Some(path)) = (self.task, path) {
            let _ = write!(text, "; or let a sub-agent process {path}");
        }
        Some(text)
    }

    fn append_last_line(&self, text: &mut Content, next: &Next) {
        let Some(line) = self.last_line(next) else { return };
        text.end_line();
        text.add(line);
        text.add(b"\n");
    }

    /// The one line of the lower rungs.
    fn line(&self, removed: Size, next: &Next) -> String {
        let Size { bytes, lines, .. } = removed;
        let missing = if lines > 0 { count(lines) } else { format!("{bytes} bytes") };
        let remark = if self.remark.is_empty() { String::new() } else { format!(" ({})", self.remark) };
        match (&self.place, self.rung) {
            (Place::Kept { id, .. }, Rung::Full | Rung::Line) => {
                let total = self.original.bytes;
                let command = self.command(next).unwrap_or_else(|| format!("offcut://{id}"));
                match lines {
                    0 => format!("[+{bytes} of {total} bytes{remark}: {command}]"),
                    _ => format!("[+{missing}, {bytes} of {total} bytes{remark}: {command}]"),
                }
            }
            (Place::Kept { id, .. }, Rung::Least) => {
                format!("[+{missing}{remark}: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Name) => format!("[+{missing}{remark}: offcut://{id}]"),
            (Place::Lost { .. }, Rung::Full | Rung::Line) => {
                format!("[{}: +{missing}, {bytes} bytes{remark}, not kept{}]", self.tag, self.reason())
            }
            (Place::Lost { .. }, _) => {
                format!("[{}: +{missing}{remark}, not kept{}]", self.tag, self.reason())
            }
        }
    }

    fn command(&self, next: &Next) -> Option<String> {
        let Place::Kept { id, path, .. } = &self.place else { return None };
        command(self.reach, id, path.as_deref(), next)
    }

    /// A store that fails at the very last moment must not break the budget: the room was reserved for success.
    fn shorten_reason(&mut self, plan: &Plan, facts: &Facts<'_>, removed: Size) {
        let (Place::Lost { reason, .. } | Place::Kept { standing: Standing::OnlyLocal { reason }, .. }) =
            &self.place
        else {
            return;
        };
        let reserved = plan.fixed.bytes + plan.marker.bytes + self.remark.len() as u64;
        // As wide as when the room was reserved.
        let Size { bytes, lines, .. } = self.original;
        let last_line = [Next::Bytes(bytes, bytes), Next::Lines(lines..=lines + NEXT_PAGE_LINES)]
            .iter()
            .filter_map(|next| self.last_line(next))
            .map(|line| line.len())
            .max()
            .unwrap_or(0);
        let ours = match self.rung {
            _ if facts.cut.missing().next().is_none() => {
                self.whole().len() + 1 + self.trailer_line().map_or(0, |line| line.len() + 2)
            }
            Rung::Full => {
                self.header(facts.shown, removed).len() + last_line + 4 + plan.marker.bytes as usize
            }
            Rung::Line | Rung::Least | Rung::Name => {
                self.line(removed, &Next::Bytes(0, 0)).len()
                    + 2
                    + self.last_line(&Next::Start).map_or(0, |line| line.len() + 2)
            }
        };
        let over = (ours as u64).saturating_sub(reserved) as usize;
        self.longest_reason = self.longest_reason.min(reason.len()).saturating_sub(over);
    }

    /// The same for a last line that stands alone, with a line feed before and behind it.
    fn shorten_reason_to(&mut self, most: usize) {
        let Place::Lost { reason, .. } = &self.place else { return };
        let ours = self.last_line(&Next::Start).map_or(0, |line| line.len() + 2);
        self.longest_reason = self.longest_reason.min(reason.len()).saturating_sub(ours.saturating_sub(most));
    }

    /// Why it was not kept, as far as there is room.
    fn reason(&self) -> String {
        match &self.place {
            Place::Lost { reason, .. } | Place::Kept { standing: Standing::OnlyLocal { reason }, .. } => {
                match clip(reason, self.longest_reason) {
                    clipped if clipped.is_empty() => String::new(),
                    clipped => format!(": {clipped}"),
                }
            }
            Place::Kept { .. } => String::new(),
        }
    }
}
