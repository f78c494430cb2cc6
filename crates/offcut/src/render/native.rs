//! offcut's own notice.
//!
//! A header first with the totals, a marker in place of every gap, a pointer with one concrete command at the end.
//! When the budget is small the notice climbs down a ladder instead of vanishing. Every line of ours carries the
//! entry's id, which no output can know before it is printed; where nothing is kept, a tag that what is shown does
//! not contain.

mod notice;

pub(super) use notice::ONLY_LOCAL;

use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::recorder::Outlook;
use crate::render::content::Content;
use crate::render::next::{NEXT_PAGE_LINES, Next, next, printable};
use crate::render::words::{tag_of, unused_tag};
use crate::render::{Budget, Control, Facts, Plan, Reach};
use crate::shown::{Kept, Part};
use crate::store::Id;
use crate::strategy::Cost;
use notice::{Notice, Place};
use std::time::UNIX_EPOCH;

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

/// The notice as far as it is known before the commit, with the widest numbers and names.
fn expected<'a>(budget: &Budget<'a>, control: Control) -> Notice<'a> {
    // `0 lines` is wider than `1 line`.
    let original = Size { lines: budget.original.lines.max(2), ..budget.original };
    let place = match &budget.outlook {
        Outlook::Keeping { id, path, upload_state } => Place::Kept {
            id: *id,
            path: path.as_deref().and_then(printable),
            upload_state: upload_state.clone(),
        },
        // Whether something of it was kept is known at the end; to say so takes more room.
        Outlook::Losing { error } => Place::Lost {
            reason: error.clone(),
            part: Some(Part { id: Id::new(UNIX_EPOCH, 0), bytes: original.bytes }),
        },
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
        let plan = Plan {
            fixed,
            marker: Cost::default(),
            line_marker: Cost::default(),
            more: String::new(),
            remark: String::new(),
            rung,
        };
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
        // A piece that ends inside a line needs a line feed before whatever follows it.
        let feed = Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };
        let marker = |from, why| cost(&notice.marker(&gap(from, why))) + feed;
        let of_lines = [GapReason::Omitted, GapReason::Repeated].map(|why| marker(LinePosition::Start, why));
        let others = [
            marker(LinePosition::Inside, GapReason::Omitted),
            marker(LinePosition::Inside, GapReason::Line),
            marker(LinePosition::Start, GapReason::Opaque),
        ];
        // Each may be the widest in another unit.
        let widest_of = |most: Cost, one: &Cost| one.beyond(most) + most;
        let line_marker = of_lines.iter().fold(Cost::default(), widest_of);
        let marker = others.iter().fold(line_marker, widest_of);
        let fixed = match rung {
            Rung::Full => {
                let pointer = widest(next.iter().filter_map(|next| notice.last_line(next)).collect());
                cost(&format!("{}\n", notice.header(original, original))) + cost(&pointer) + feed
            }
            Rung::Line | Rung::Least | Rung::Name => {
                let lines =
                    next.iter().flat_map(|next| removed.iter().map(|&removed| notice.line(removed, next)));
                // Where it turns out that all is shown, the line says that instead.
                let whole = (control == Control::LeftOut).then(|| notice.whole());
                let line = widest(lines.chain(whole).collect());
                // The line stands in a gap of its own, so only what it is longer than a marker is extra.
                let line = cost(&line) + feed;
                let last =
                    notice.last_line(&Next::Start).map_or_else(Cost::default, |line| cost(&line) + feed);
                line.beyond(line_marker) + last
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
            return Plan { fixed, marker, line_marker, more, remark: String::new(), rung };
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
            Place::Kept { id: entry.id, path, upload_state: entry.upload_state.clone() }
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
