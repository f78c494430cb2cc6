//! The selection that all strategies share: which units of a text are shown.
//!
//! A unit is a range of whole lines, or of elements of markup, with a value. Which units to show in a limited room is a
//! knapsack problem, in which gaps cost something, too. It is solved by Lagrangian relaxation: at a given price for each
//! byte, one pass over the units finds the choice that is worth most after what the units and the gaps between them cost;
//! the lowest price at which the choice fits is found by bisection. So a gap closes where its lines cost little more than
//! its marker, and a line stands alone only if it is worth its markers, without a rule for either.
//!
//! What is left of the room is spent next to what is shown.

use super::end_lines::clip;
use super::lines::{Coverage, Extent};
use super::logarithm::exp2;
use super::{Cost, Ends, Room};
use crate::cut::{LinePosition, Piece, PieceKind};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A range of whole lines, or of elements of markup, that is shown or left out as one.
#[derive(Clone, Debug)]
pub(super) struct Unit<'t> {
    /// What would be shown of it.
    pub(super) text: &'t [u8],
    pub(super) extent: Extent,
    /// What a byte of it is worth, as a logarithm: [`DOUBLING`] more is twice as much.
    pub(super) value: i32,
    /// Of two units with the same value, the one with the lower order is shown first.
    pub(super) order: i64,
    /// How many bytes at its beginning repeat the unit before it. They are hidden if that one is shown.
    pub(super) repeated: usize,
}

/// The difference between two values of which one is worth twice as much as the other.
pub(super) const DOUBLING: f32 = 30.0;

/// The value of a unit that is shown only where it closes a small gap.
pub(super) const ONLY_IN_SMALL_GAPS: i32 = i32::MIN;

/// The highest value of a unit. Higher ones count as this.
pub(super) const MAX_VALUE: i32 = 1500;

/// How many gaps a preview may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gaps {
    /// Very few: what is between two lines of a log often explains them.
    VeryFew,
    /// Few: markers interrupt the reader. Their number is limited.
    Few,
    /// As many as the units need, because markers say what a reader wants to know, like `2 hunks, +9 -4` after each file. Only
    /// their price keeps them few.
    AsNeeded,
}

/// What markers of gaps cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkerCost {
    pub(super) gaps: Gaps,
    /// The highest cost of a marker between two lines.
    pub(super) between_lines: Cost,
    /// What a marker inside a line costs more.
    pub(super) extra_inside: Cost,
}

impl MarkerCost {
    /// What the markers of the engine cost.
    pub(super) fn of_engine(room: &Room<'_>) -> MarkerCost {
        let extra_inside = room.marker.beyond(room.line_marker);
        MarkerCost { gaps: Gaps::VeryFew, between_lines: room.line_marker, extra_inside }
    }
}

/// How many markers a gap counts as, except where [`Gaps::Few`] limits their number; and the least share of the room that it
/// counts as where there should be very few.
const MARKERS_PER_GAP: f64 = 2.0;
const ROOM_PER_GAP: f64 = 0.0175;

/// At most one line of a preview in this many is a marker, except for a few; where there would be more, gaps count more.
const LINES_PER_MARKER: u64 = 5;
const FEW_GAPS: u64 = 3;

/// A reader sees a line of this many bytes as two.
const LINE_BYTES: usize = 200;

/// At most this share of the room goes to markers, except for a few.
const MAX_MARKER_SHARE: f64 = 0.12;

/// How much more a gap counts each time, and how often. Small steps, so that a text that is one line longer is not shown in
/// quite another way.
const GAP_STEP: f64 = 1.4;
const MAX_GAP_STEPS: i32 = 8;

/// How often a choice that leaves most of the room unused is extended: the more it shows, the more gaps it may have.
const MAX_EXTENSIONS: u32 = 8;

/// In how many steps the price is found.
const PRICE_STEPS: u32 = 12;

/// The lowest price, for a preview with room left: a line that stands alone must be worth its gaps even then.
const MIN_PRICE: f64 = 2.0;

/// Chooses the units that are shown, and returns them in text order. More is shown of lines that are cut if there is room.
pub(super) fn select<'t>(
    mut units: Vec<Unit<'t>>,
    ends: &'t Ends,
    room: &Room<'_>,
    marker: MarkerCost,
) -> Vec<Unit<'t>> {
    units.retain(|unit| unit.extent.end > room.start);
    let (shown, spent) = Knapsack::new(&units, ends.bytes(), room, marker).choose();
    for (unit, shown) in units.iter_mut().zip(&shown) {
        if *shown != Shown::WithoutRepetition {
            unit.repeated = 0;
        }
    }
    let mut shown = shown.into_iter();
    units.retain(|_| shown.next().is_some_and(|shown| shown != Shown::No));
    extend_cut_lines(&mut units, spent, ends, room);
    units
}

/// A line is not extended by less.
const MIN_EXTENSION: usize = 16;

/// Shows more of lines that are cut, from the beginning on, as far as the ends of the text have them and there is room.
fn extend_cut_lines<'t>(units: &mut [Unit<'t>], mut spent: Cost, ends: &'t Ends, room: &Room<'_>) {
    let is_cut = |unit: &&mut Unit<'_>| {
        unit.extent.coverage == Coverage::Beginning
            && unit.extent.form == PieceKind::Verbatim
            && unit.repeated == 0
    };
    for unit in units.iter_mut().filter(is_cut) {
        let line = ends.verbatim(unit.extent.start..unit.extent.end);
        let whole = line.len() as u64 == unit.extent.end - unit.extent.start;
        let coverage = if whole { Coverage::Whole } else { Coverage::Beginning };
        let mut step = line.len().saturating_sub(unit.text.len());
        while step > MIN_EXTENSION {
            let (text, coverage) = clip(line, coverage, unit.text.len() + step);
            let sum = (spent + room.cost(text)).beyond(room.cost(unit.text));
            if text.len() > unit.text.len() && room.limits.afford(sum) {
                (unit.text, unit.extent.coverage, spent) = (text, coverage, sum);
            }
            step = (step / 2).min(line.len() - unit.text.len());
        }
    }
}

/// Whether a unit is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    No,
    Whole,
    /// Without what it repeats of the unit before it.
    WithoutRepetition,
}

/// Whether nothing is between two units.
fn touch(left: &Unit<'_>, right: &Unit<'_>) -> bool {
    left.extent.end == right.extent.start && left.extent.coverage == Coverage::Whole
}

/// The units, what they are worth and what they cost.
struct Knapsack<'u, 't, 'r> {
    /// In text order.
    units: &'u [Unit<'t>],
    items: Vec<Item>,
    total: u64,
    room: &'r Room<'r>,
    marker: MarkerCost,
    /// The cost of a marker, as a share of the room.
    marker_share: f64,
}

/// What a unit is worth and what it costs.
struct Item {
    worth: f64,
    /// Its cost after a gap, and what of it is saved if the unit before is shown.
    cost: Cost,
    saved: Cost,
    /// The same as shares of the room.
    share: f64,
    saved_share: f64,
    /// Whether it directly follows the unit before.
    follows: Adjacency,
}

/// Whether a unit directly follows the one before it, or the part of the text that is shown already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adjacency {
    Direct,
    AfterGap,
}

impl<'u, 't, 'r> Knapsack<'u, 't, 'r> {
    fn new(units: &'u [Unit<'t>], total: u64, room: &'r Room<'r>, marker: MarkerCost) -> Self {
        let share_of = |cost: Cost| -> f64 {
            let share =
                |limit: Option<u64>, cost: u64| limit.map_or(0.0, |limit| cost as f64 / limit.max(1) as f64);
            room.limits.zip_with(cost, share).each().into_iter().map(|(_, share)| share).sum()
        };
        let items = units.iter().enumerate().map(|(at, unit)| {
            let text = room.cost(unit.text);
            let cost = match unit.extent.coverage {
                Coverage::Whole => text,
                Coverage::Beginning => text + marker.extra_inside,
            };
            let saved = match unit.repeated {
                0 => Cost::default(),
                repeated => text.beyond(room.cost(&unit.text[repeated..])),
            };
            // Parts of one line are one line together.
            let saved = match (unit.extent.begins, room.limits.lines) {
                (LinePosition::Inside, Some(_)) => Cost { lines: saved.lines + 1, ..saved },
                _ => saved,
            };
            let share = share_of(cost);
            let worth = match unit.value {
                _ if !has_words(unit.text) => 0.0,
                ONLY_IN_SMALL_GAPS => 0.0,
                value => share * f64::from(exp2(value.min(MAX_VALUE) as f32 / DOUBLING)),
            };
            let is_direct = match at.checked_sub(1) {
                Some(before) => touch(&units[before], unit),
                None => unit.extent.start <= room.start,
            };
            let follows = if is_direct { Adjacency::Direct } else { Adjacency::AfterGap };
            Item { worth, cost, saved, share, saved_share: share_of(saved), follows }
        });
        let items = items.collect();
        Knapsack { units, items, total, room, marker, marker_share: share_of(marker.between_lines) }
    }

    /// The best choice that fits, and what it costs.
    fn choose(&self) -> (Vec<Shown>, Cost) {
        let (mut chosen, mut next, mut unreadable) = (Vec::new(), None, None);
        for step in 0..=MAX_GAP_STEPS {
            (chosen, next) = self.cheapest(self.gap_share() * GAP_STEP.powi(step));
            if self.is_readable(&chosen) {
                break;
            }
            unreadable = Some(chosen.clone());
        }
        // Of units that are worth the same, a price shows all or none. That must not leave most of the room unused.
        let next = next.or(unreadable);
        for _ in 0..MAX_EXTENSIONS {
            let next = next.as_ref().filter(|_| self.room.limits.afford(self.cost(&chosen).times(2)));
            let is_extended = next.is_some_and(|next| self.extend(&mut chosen, next));
            self.fill(&mut chosen);
            if !is_extended {
                break;
            }
        }
        self.drop_excess(&mut chosen);
        self.with_repetitions(&chosen)
    }

    /// What a gap counts as, as a share of the room.
    fn gap_share(&self) -> f64 {
        match self.marker.gaps {
            Gaps::VeryFew => ROOM_PER_GAP.max(MARKERS_PER_GAP * self.marker_share),
            Gaps::Few => self.marker_share,
            Gaps::AsNeeded => MARKERS_PER_GAP * self.marker_share,
        }
    }

    /// Whether a choice has few gaps for what it shows.
    fn is_readable(&self, chosen: &[bool]) -> bool {
        let gaps = self.gaps(chosen);
        let by_lines = (self.lines(chosen) + gaps) / LINES_PER_MARKER;
        gaps <= FEW_GAPS
            || self.marker.gaps == Gaps::AsNeeded
            || (gaps <= by_lines && gaps as f64 * self.marker_share <= MAX_MARKER_SHARE)
    }

    /// Shows what units repeat where there is room for it, from the beginning on.
    fn with_repetitions(&self, chosen: &[bool]) -> (Vec<Shown>, Cost) {
        let mut spent = self.cost(&self.visible(chosen));
        let mut shown = Vec::with_capacity(chosen.len());
        for (at, is_chosen) in chosen.iter().enumerate() {
            let repeats = self.units[at].repeated > 0 && at > 0 && self.joins_left(chosen, at);
            let with = spent + self.items[at].saved;
            shown.push(match (is_chosen, repeats) {
                (false, _) => Shown::No,
                (true, false) => Shown::Whole,
                (true, true) if self.room.limits.afford(with) => {
                    spent = with;
                    Shown::Whole
                }
                (true, true) => Shown::WithoutRepetition,
            });
        }
        (shown, spent)
    }

    /// Adds the beginning of the next choice to this one, as far as the room reaches. Returns whether anything was added.
    fn extend(&self, chosen: &mut Vec<bool>, next: &[bool]) -> bool {
        let joined = |end: usize| {
            let units = chosen.iter().zip(next).enumerate();
            units.map(|(at, (chosen, next))| *chosen || *next && at < end).collect::<Vec<bool>>()
        };
        let fits = |end: usize| {
            let joined = joined(end);
            self.room.limits.afford(self.cost(&joined)) && self.is_readable(&joined)
        };
        let (mut fitting, mut too_far) = (0, chosen.len() + 1);
        while fitting + 1 < too_far {
            let middle = (fitting + too_far) / 2;
            if fits(middle) {
                fitting = middle;
            } else {
                too_far = middle;
            }
        }
        let extended = joined(fitting);
        let is_extended = extended != *chosen;
        *chosen = extended;
        is_extended
    }

    /// The choice at the lowest price at which it fits, if a gap counts as this share of the room, and the one at the next price,
    /// if that does not fit.
    fn cheapest(&self, gap_share: f64) -> (Vec<bool>, Option<Vec<bool>>) {
        let worths = self.items.iter().filter(|item| item.worth > 0.0).map(|item| item.worth / item.share);
        // At twice the highest worth nothing is shown.
        let (mut low, mut high) = (MIN_PRICE, MIN_PRICE.max(2.0 * worths.fold(0.0, f64::max)));
        let (mut best, mut next) = (vec![false; self.units.len()], None);
        for _ in 0..PRICE_STEPS {
            let price = (low * high).sqrt();
            let chosen = self.best(price, gap_share);
            if self.room.limits.afford(self.cost(&chosen)) {
                (best, high) = (chosen, price);
            } else {
                (next, low) = (Some(chosen), price);
            }
        }
        (best, next)
    }

    /// The best choice at this price.
    fn best(&self, price: f64, gap_share: f64) -> Vec<bool> {
        let gap = price * gap_share;
        // What the best choices are worth that show the last unit, and that do not.
        let (mut shown, mut hidden) = (0.0_f64, f64::NEG_INFINITY);
        // Whether these choices show the unit before.
        let mut shows_previous = Vec::with_capacity(self.units.len());
        for item in &self.items {
            let gain = item.worth - price * item.share;
            let joined = match item.follows {
                Adjacency::Direct => shown + price * item.saved_share,
                Adjacency::AfterGap => shown - gap,
            };
            let left = shown - gap;
            shows_previous.push((joined >= hidden, left > hidden));
            (shown, hidden) = (gain + joined.max(hidden), left.max(hidden));
        }
        if !self.ends_text() {
            shown -= gap;
        }
        let mut is_shown = shown >= hidden;
        let mut chosen = vec![false; self.units.len()];
        for (at, (if_shown, if_hidden)) in shows_previous.into_iter().enumerate().rev() {
            chosen[at] = is_shown;
            is_shown = if is_shown { if_shown } else { if_hidden };
        }
        chosen
    }

    /// Shows more units next to those that are shown, the most valuable first, as long as they fit. Where nothing is shown,
    /// the most valuable unit that fits is the first.
    fn fill(&self, chosen: &mut [bool]) {
        let key = |at: usize| (self.units[at].value, Reverse(self.units[at].order), at);
        let (mut spent, mut gaps) = (self.cost(chosen), self.gaps(chosen));
        let mut is_first = !chosen.contains(&true);
        let is_candidate = |chosen: &[bool], at: usize| {
            is_first || self.joins_left(chosen, at) || self.joins_right(chosen, at)
        };
        let candidates = (0..chosen.len()).filter(|&at| !chosen[at] && is_candidate(chosen, at));
        let mut candidates: BinaryHeap<_> = candidates.map(key).collect();
        while let Some((value, _, at)) = candidates.pop() {
            let (left, right) = (self.joins_left(chosen, at), self.joins_right(chosen, at));
            // What has no words can follow what is shown; before it, it means nothing.
            let has_worth = self.items[at].worth > 0.0;
            let joins = left || (right && has_worth) || (is_first && value > 0 && has_worth);
            if chosen[at] || value == ONLY_IN_SMALL_GAPS || !joins {
                continue;
            }
            let mut saved = Cost::default();
            if left && at > 0 {
                saved = saved + self.items[at].saved;
            }
            if right && at + 1 < chosen.len() {
                saved = saved + self.items[at + 1].saved;
            }
            let closed = u64::from(left) + u64::from(right);
            let then = (gaps + 1).saturating_sub(closed);
            // One marker is always paid for, as in `cost`.
            let markers = |gaps: u64| self.marker.between_lines.times(gaps.max(1));
            let sum = (spent + self.items[at].cost + markers(then)).beyond(saved + markers(gaps));
            if !self.room.limits.afford(sum) {
                continue;
            }
            (chosen[at], spent, gaps, is_first) = (true, sum, then, false);
            let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
            candidates.extend(neighbours.filter(|&near| near < chosen.len() && !chosen[near]).map(key));
        }
    }

    /// Whether no gap is before a unit if it is shown.
    fn joins_left(&self, chosen: &[bool], at: usize) -> bool {
        self.items[at].follows == Adjacency::Direct && (at == 0 || chosen[at - 1])
    }

    /// Whether no gap is after a unit if it is shown.
    fn joins_right(&self, chosen: &[bool], at: usize) -> bool {
        match self.items.get(at + 1) {
            Some(next) => next.follows == Adjacency::Direct && chosen[at + 1],
            None => self.ends_text(),
        }
    }

    /// Whether nothing follows the last unit.
    fn ends_text(&self) -> bool {
        self.units
            .last()
            .is_some_and(|last| last.extent.end == self.total && last.extent.coverage == Coverage::Whole)
    }

    /// The number of gaps.
    fn gaps(&self, chosen: &[bool]) -> u64 {
        let before = (0..chosen.len()).filter(|&at| chosen[at] && !self.joins_left(chosen, at)).count();
        let ends_whole = chosen.last() == Some(&true) && self.ends_text();
        before as u64 + u64::from(!ends_whole)
    }

    /// The number of lines that a reader sees: a long line is several.
    fn lines(&self, chosen: &[bool]) -> u64 {
        let shown = self.units.iter().zip(chosen).filter(|(_, is_chosen)| **is_chosen);
        let lines = |text: &[u8]| memchr::memchr_iter(b'\n', text).count().max(1 + text.len() / LINE_BYTES);
        shown.map(|(unit, _)| lines(unit.text) as u64).sum()
    }

    /// What everything that was chosen costs, with its markers.
    fn cost(&self, chosen: &[bool]) -> Cost {
        let (mut cost, mut saved) = (Cost::default(), Cost::default());
        for at in (0..chosen.len()).filter(|&at| chosen[at]) {
            cost = cost + self.items[at].cost;
            if at > 0 && self.joins_left(chosen, at) {
                saved = saved + self.items[at].saved;
            }
        }
        // One marker is always paid for: where everything is shown, a notice says what a terminal would not show.
        (cost + self.marker.between_lines.times(self.gaps(chosen).max(1))).beyond(saved)
    }

    /// What was chosen, except lines that render to nothing.
    fn visible(&self, chosen: &[bool]) -> Vec<bool> {
        chosen.iter().zip(self.units).map(|(is_chosen, unit)| *is_chosen && !unit.text.is_empty()).collect()
    }

    /// A line that renders to nothing leaves a gap, which was not paid for. If there is no room for it, the least valuable
    /// units are removed: one, then two, then four.
    fn drop_excess(&self, chosen: &mut [bool]) {
        let mut order: Vec<usize> = (0..chosen.len()).filter(|&at| chosen[at]).collect();
        order.sort_by_key(|&at| (Reverse(self.units[at].value), self.units[at].order));
        let mut excess = 1;
        loop {
            if order.is_empty() || self.room.limits.afford(self.cost(&self.visible(chosen))) {
                return;
            }
            for weakest in order.split_off(order.len().saturating_sub(excess)) {
                chosen[weakest] = false;
            }
            excess *= 2;
        }
    }
}

/// Whether a text has a letter or a digit. A caret or a brace means nothing on its own.
fn has_words(text: &[u8]) -> bool {
    text.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}

/// The pieces that show `units`, which are in text order.
pub(super) fn pieces<'t>(units: &[Unit<'t>]) -> Vec<Piece<'t>> {
    let mut pieces: Vec<Piece<'t>> = Vec::new();
    for unit in units.iter().filter(|unit| !unit.text.is_empty()) {
        // A rendered line covers all bytes of the original line.
        let (form, end) = match (unit.extent.form, unit.extent.coverage) {
            (PieceKind::Verbatim, _) => (PieceKind::Verbatim, unit.extent.start + unit.text.len() as u64),
            (_, Coverage::Whole) => (PieceKind::Rendered, unit.extent.end),
            (_, Coverage::Beginning) => (PieceKind::RenderedStart, unit.extent.end),
        };
        let hidden = unit.extent.start + unit.repeated as u64;
        if unit.repeated > 0 {
            let (start, text) = (unit.extent.start, Cow::Borrowed(&b""[..]));
            let (line, part) = (unit.extent.number, unit.extent.begins);
            pieces.push(Piece { start, end: hidden, form: PieceKind::Mark, line, part, text });
        }
        let text = &unit.text[unit.repeated..];
        match pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(before)
                if before.end == unit.extent.start
                    && (before.form, form) == (PieceKind::Verbatim, PieceKind::Verbatim) =>
            {
                before.text.to_mut().extend_from_slice(text);
                before.end = end;
            }
            _ => {
                // What repeats may be the first line of the unit.
                let (line, part) = match unit.text[..unit.repeated].last() {
                    Some(b'\n') => (unit.extent.number + 1, LinePosition::Start),
                    Some(_) => (unit.extent.number, LinePosition::Inside),
                    None => (unit.extent.number, unit.extent.begins),
                };
                let text = Cow::Borrowed(text);
                pieces.push(Piece { start: hidden, end, form, line, part, text });
            }
        }
    }
    pieces
}

/// The ranges of the original that are hidden because they repeat what is shown before them.
pub(super) fn repeated(units: &[Unit<'_>]) -> Vec<Range<u64>> {
    let units = units.iter().filter(|unit| unit.repeated > 0);
    units.map(|unit| unit.extent.start..unit.extent.start + unit.repeated as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::Segment;
    use crate::limits::Limits;
    use crate::measure::{Conventions, EstimatedTokens};
    use crate::strategy::Edges;

    /// Checks which lines of a text are shown within `bytes`, if a marker costs 10 bytes. A row is a line and its value.
    #[track_caller]
    fn check(rows: &[(&str, i32)], bytes: u64, expected: &str) {
        let marker = Cost { bytes: 10, lines: 1, ..Cost::default() };
        let room = Room {
            limits: Limits { bytes: Some(bytes), ..Limits::default() },
            start: 0,
            marker,
            line_marker: marker,
            conventions: Conventions::default(),
            edges: Edges::default(),
            tokens: &EstimatedTokens,
        };
        let lines: Vec<String> = rows.iter().map(|(line, _)| format!("{line}\n")).collect();
        let mut start = 0;
        let mut units = Vec::new();
        for (at, (line, (_, value))) in lines.iter().zip(rows).enumerate() {
            let end = start + line.len() as u64;
            let (number, coverage) = (at as u64 + 1, Coverage::Whole);
            let (begins, form) = (LinePosition::Start, PieceKind::Verbatim);
            let extent = Extent { start, begins, end, number, coverage, form };
            let text = line.as_bytes();
            units.push(Unit { text, extent, value: *value, order: start as i64, repeated: 0 });
            start = end;
        }
        let mut ends = Ends::new(0, 0);
        ends.observe(Segment::verbatim(lines.concat().as_bytes(), 0));
        let shown = select(units, &ends, &room, MarkerCost::of_engine(&room));
        let text: Vec<&str> =
            shown.iter().map(|unit| lines[unit.extent.number as usize - 1].trim_end()).collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn most_valuable_lines_that_fit_are_shown_in_text_order() {
        let rows = [("one", 100), ("two", 900), ("three", 200), ("four", 300), ("five", 800), ("six", 100)];
        check(&rows, 1000, "one two three four five six");
        // Lines at an end of the text need only one marker between them.
        let long = "x".repeat(60);
        check(
            &[("one", 100), ("two", 900), (&long, 200), ("five", 800), ("six", 100)],
            39,
            "one two five six",
        );
        check(&[(&long, 100), ("two", 900), (&long, 200), ("five", 800), (&long, 100)], 39, "two five");
        check(&rows, 3, "");
    }

    #[test]
    fn small_gap_is_closed_if_its_lines_cost_no_more_than_its_marker() {
        let long = "x".repeat(90);
        check(&[(&long, 100), ("two", 900), ("tiny", 100), ("four", 900), (&long, 100)], 40, "two tiny four");
    }

    #[test]
    fn line_without_value_is_shown_only_next_to_another() {
        let long = "x".repeat(90);
        check(&[("one", 0), (&long, 0), ("three", 500), ("four", 0)], 50, "one three four");
        check(&[(&long, 0), ("two", 0), (&long, 0)], 60, "");
    }

    #[test]
    fn line_for_small_gaps_is_not_shown_elsewhere() {
        let long = "x".repeat(90);
        let hidden = ONLY_IN_SMALL_GAPS;
        check(
            &[("one", 500), ("two", hidden), ("three", 500), (&long, 100), ("five", hidden)],
            60,
            "one two three",
        );
    }

    #[test]
    fn line_without_letters_is_not_shown_alone() {
        let long = "x".repeat(90);
        check(&[(&long, 100), ("  }", 900), (&long, 100), ("word", 500), (&long, 100)], 40, "word");
    }

    #[test]
    fn line_that_never_fits_does_not_keep_others_from_being_shown() {
        let long = "x".repeat(90);
        check(&[(&long, 100), (&long, 900), (&long, 100), ("word", 500), (&long, 100)], 40, "word");
    }
}
