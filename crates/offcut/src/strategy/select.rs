//! The selection that all strategies share: which units of a text are shown.
//!
//! A unit is a range of whole lines with a value. Units are taken by value as long as they fit. Each costs its text and
//! the markers of the gaps that it opens, less those of the gaps that it closes. A preview with many gaps is hard to
//! read, so every further gap asks for a higher value, and once something did not fit, only units next to what is shown
//! are taken. Small gaps are closed where their lines cost little more than their marker.

use super::lines::Coverage;
use super::{Cost, Room};
use crate::cut::{LinePosition, Piece, PieceKind};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

/// A range of whole lines that is shown or left out as one.
#[derive(Clone, Debug)]
pub(super) struct Unit<'t> {
    /// What would be shown of it.
    pub(super) text: &'t [u8],
    /// Its offsets in the original.
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of its first line.
    pub(super) number: u64,
    /// Whether `text` is all of it.
    pub(super) coverage: Coverage,
    pub(super) form: PieceKind,
    /// Units with a higher value are taken first.
    pub(super) value: i32,
    /// Of two units with the same value, the one with the lower order is taken first.
    pub(super) order: i64,
}

/// The value of a unit that is taken only where it closes a small gap.
pub(super) const ONLY_IN_SMALL_GAPS: i32 = i32::MIN;

/// What markers of gaps cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkerCost {
    /// The highest cost of a marker between two lines.
    pub(super) between_lines: Cost,
    /// What a marker inside a line costs more.
    pub(super) extra_inside: Cost,
}

impl MarkerCost {
    /// What the markers of the engine cost.
    pub(super) fn of_engine(room: &Room<'_>) -> MarkerCost {
        MarkerCost { between_lines: room.line_marker, extra_inside: room.marker.beyond(room.line_marker) }
    }
}

/// A preview may have one gap for each of these bytes of its budget before a further gap needs a higher value.
const BYTES_PER_FREE_GAP: u64 = 800;

/// How much more a unit must be worth for each gap after the free ones.
const VALUE_PER_GAP: i32 = 10;

/// A gap of fewer bytes than this many markers is small.
const SMALL_GAP_MARKERS: u64 = 4;

/// Takes units until the room is full, and returns them in text order. `total` is the size of the original.
pub(super) fn select<'t>(
    mut units: Vec<Unit<'t>>,
    total: u64,
    room: &Room<'_>,
    marker: MarkerCost,
) -> Vec<Unit<'t>> {
    units.retain(|unit| unit.end > room.start);
    let cost = |unit: &Unit<'_>| Cost::of(unit.text, &room.limits, room.conventions, room.tokens);
    let costs = units.iter().map(cost).collect();
    let chosen = vec![false; units.len()];
    let free_gaps = room.limits.bytes.map_or(u64::MAX, |bytes| bytes / BYTES_PER_FREE_GAP).max(1);
    let mut packing = Packing {
        units,
        costs,
        chosen,
        total,
        room,
        marker,
        free_gaps,
        spent: marker.between_lines,
        gaps: 1,
    };
    packing.take_best();
    packing.raise_in_small_gaps();
    packing.clear();
    let order = packing.take_best();
    packing.drop_excess(order);
    let Packing { units, chosen, .. } = packing;
    units.into_iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen).map(|(unit, _)| unit).collect()
}

struct Packing<'t, 'r> {
    /// In text order.
    units: Vec<Unit<'t>>,
    costs: Vec<Cost>,
    chosen: Vec<bool>,
    total: u64,
    room: &'r Room<'r>,
    marker: MarkerCost,
    free_gaps: u64,
    spent: Cost,
    gaps: u64,
}

/// Which units may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Any,
    /// Those next to a unit that was taken.
    Adjacent,
}

impl<'t> Packing<'t, '_> {
    fn clear(&mut self) {
        self.chosen.fill(false);
        (self.spent, self.gaps) = (self.marker.between_lines, 1);
    }

    /// Takes the most valuable units that fit. Returns all units, the most valuable first.
    fn take_best(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by_key(|&at| (Reverse(self.units[at].value), self.units[at].order));
        let mut allowed = Allowed::Any;
        // Taking units closes gaps, and each closed gap makes room for units that did not fit before.
        for _ in 0..2 {
            for &at in &order {
                if self.units[at].value > ONLY_IN_SMALL_GAPS && !self.fits(at, allowed) {
                    allowed = Allowed::Adjacent;
                }
            }
            self.close_cheap_gaps();
        }
        order
    }

    fn touch(&self, left: usize, right: usize) -> bool {
        self.units[left].end == self.units[right].start
    }

    fn joins_left(&self, at: usize) -> bool {
        self.units[at].start <= self.room.start || (at > 0 && self.chosen[at - 1] && self.touch(at - 1, at))
    }

    fn joins_right(&self, at: usize) -> bool {
        self.units[at].end == self.total
            || (at + 1 < self.units.len() && self.chosen[at + 1] && self.touch(at, at + 1))
    }

    /// Takes a unit if it may be taken. Returns whether there is room for it; a unit that no preview has room for does not
    /// count.
    fn fits(&mut self, at: usize, allowed: Allowed) -> bool {
        if self.chosen[at] {
            return true;
        }
        let unit = &self.units[at];
        let (joins_left, joins_right) = (self.joins_left(at), self.joins_right(at));
        if !joins_left && !joins_right {
            let excess = self.gaps.saturating_sub(self.free_gaps);
            let least = i32::try_from(excess).unwrap_or(i32::MAX).saturating_mul(VALUE_PER_GAP).max(1);
            if allowed == Allowed::Adjacent || unit.value < least || !has_words(unit.text) {
                return true;
            }
        }
        // What is not shown of a unit that is cut is a gap after it.
        let is_whole = unit.coverage == Coverage::Whole;
        let follows_cut = at > 0 && self.chosen[at - 1] && self.units[at - 1].coverage == Coverage::Beginning;
        let closed = u64::from(joins_left && !follows_cut) + u64::from(joins_right && is_whole);
        let inside = self.marker.extra_inside.times(u64::from(!is_whole));
        let cost = self.costs[at] + inside + self.marker.between_lines;
        let sum = (self.spent + cost).beyond(self.marker.between_lines.times(closed));
        if !self.room.limits.afford(sum) {
            return !self.room.limits.afford(cost + self.marker.between_lines);
        }
        (self.spent, self.gaps) = (sum, (self.gaps + 1).saturating_sub(closed));
        self.chosen[at] = true;
        true
    }

    /// The gaps between two units that were taken, all of whose lines are whole units.
    fn inner_gaps(&self) -> Vec<Range<usize>> {
        let mut gaps = Vec::new();
        let mut last = None;
        for at in 0..self.units.len() {
            if at > 0 && !self.touch(at - 1, at) {
                last = None;
            }
            let is_whole = self.units[at].coverage == Coverage::Whole;
            if self.chosen[at] {
                if let Some(from) = last.filter(|&from: &usize| at > from + 1) {
                    gaps.push(from + 1..at);
                }
                last = Some(at).filter(|_| is_whole);
            } else if !is_whole {
                last = None;
            }
        }
        gaps
    }

    fn bytes(&self, gap: &Range<usize>) -> u64 {
        self.units[gap.clone()].iter().map(|unit| unit.text.len() as u64).sum()
    }

    /// Takes the units of gaps that are no longer than their marker.
    fn close_cheap_gaps(&mut self) {
        for gap in self.inner_gaps() {
            let cost = gap.clone().fold(self.spent, |sum, at| sum + self.costs[at]);
            let sum = cost.beyond(self.marker.between_lines);
            if self.bytes(&gap) <= self.marker.between_lines.bytes && self.room.limits.afford(sum) {
                (self.spent, self.gaps) = (sum, self.gaps - 1);
                self.chosen[gap].fill(true);
            }
        }
    }

    /// Raises the units in small gaps, the more the smaller the gap: showing them saves the marker.
    fn raise_in_small_gaps(&mut self) {
        let most = SMALL_GAP_MARKERS * self.marker.between_lines.bytes;
        for gap in self.inner_gaps() {
            let bytes = self.bytes(&gap);
            if bytes < most {
                let lower = self.units[gap.start - 1].value.min(self.units[gap.end].value).max(0);
                let raised = i64::from(lower) * (most - bytes) as i64 / most as i64;
                for unit in &mut self.units[gap] {
                    unit.value = unit.value.max(raised as i32);
                }
            }
        }
    }

    /// Tokens do not add up exactly, and a line that renders to nothing leaves a gap. If the sum was too low, the least
    /// valuable units are removed: one, then two, then four.
    fn drop_excess(&mut self, mut order: Vec<usize>) {
        let mut excess = 1;
        while !self.is_affordable() {
            order.retain(|&at| self.chosen[at]);
            if order.is_empty() {
                return;
            }
            for weakest in order.split_off(order.len().saturating_sub(excess)) {
                self.chosen[weakest] = false;
            }
            excess *= 2;
        }
    }

    /// Whether everything that was taken fits, with its markers.
    fn is_affordable(&self) -> bool {
        let (mut gaps, mut inside, mut sum) = (0, 0, Cost::default());
        let mut end = self.room.start;
        for at in (0..self.units.len()).filter(|&at| self.chosen[at] && !self.units[at].text.is_empty()) {
            let unit = &self.units[at];
            gaps += u64::from(unit.start > end);
            let is_whole = unit.coverage == Coverage::Whole;
            inside += u64::from(!is_whole);
            // The end of a unit that is cut is never reached by the next one.
            end = if is_whole { unit.end } else { unit.end - 1 };
            sum = sum + self.costs[at];
        }
        gaps += u64::from(end < self.total);
        // One marker is always paid for: where everything is shown, a notice says what a terminal would not show.
        let markers = self.marker.between_lines.times(gaps.max(1)) + self.marker.extra_inside.times(inside);
        self.room.limits.afford(sum + markers)
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
        let (form, end) = match (unit.form, unit.coverage) {
            (PieceKind::Verbatim, _) => (PieceKind::Verbatim, unit.start + unit.text.len() as u64),
            (_, Coverage::Whole) => (PieceKind::Rendered, unit.end),
            (_, Coverage::Beginning) => (PieceKind::RenderedStart, unit.end),
        };
        match pieces.last_mut() {
            Some(before)
                if before.end == unit.start
                    && (before.form, form) == (PieceKind::Verbatim, PieceKind::Verbatim) =>
            {
                before.text.to_mut().extend_from_slice(unit.text);
                before.end = end;
            }
            _ => pieces.push(Piece {
                start: unit.start,
                end,
                form,
                line: unit.number,
                part: LinePosition::Start,
                text: Cow::Borrowed(unit.text),
            }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
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
            units.push(Unit {
                text: line.as_bytes(),
                start,
                end,
                number: at as u64 + 1,
                coverage: Coverage::Whole,
                form: PieceKind::Verbatim,
                value: *value,
                order: start as i64,
            });
            start = end;
        }
        let shown = select(units, start, &room, MarkerCost::of_engine(&room));
        let text: Vec<&str> = shown.iter().map(|unit| lines[unit.number as usize - 1].trim_end()).collect();
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
