//! The units that may be shown: the candidates, and the lines at both ends of the text.

use super::candidates::{Candidate, onset, rarity};
use super::line_tables::TemplateCounts;
use super::repeats::Repeats;
use super::weights::{
    EARNED_TAIL, HEAD, INFORMATIVE, LARGE_BYTES, LARGE_HEAD, ONSET_AFTER, QUIET_TAIL, RECENCY, RECENCY_REACH,
    ROUTINE_LENGTHS, ROUTINE_VALUE, STRONG, TAIL_REACH, TROUBLE, UNEARNED_TAIL,
};
use super::{LineReader, is_routine};
use crate::strategy::end_lines::{EndLines, clip};
use crate::strategy::lines::{Division, Extent};
use crate::strategy::select::{ONLY_IN_SMALL_GAPS, Unit};
use crate::strategy::{Ends, Room};
use std::cmp::Reverse;

fn value_at(values: &[(f64, i32)], share: f64) -> i32 {
    values.iter().find(|(up_to, _)| share <= *up_to).map_or(0, |&(_, value)| value)
}

/// The bonus of a line near the end.
fn recency(line: &Candidate, total: u64, bytes: u64) -> i32 {
    if line.value < INFORMATIVE {
        return 0;
    }
    let distance = (total - line.extent.start) as f64 / bytes as f64;
    ((1.0 - distance / RECENCY_REACH) * f64::from(RECENCY)).max(0.0) as i32
}

/// The value of a line for its content: its own, for being rare, and, unless it is at the start of the text, for starting
/// something new.
pub(super) fn content_value(line: &Candidate, counts: &TemplateCounts, total: u64) -> i32 {
    let onset = if line.extent.start > total / ONSET_AFTER { onset(counts, line) } else { 0 };
    line.value.max(rarity(counts, line)).max(onset)
}

/// How much of the end of a text says how long its lines and tokens are.
const SAMPLE_BYTES: usize = 4096;

/// About how many bytes can be shown. How far both ends reach depends on it.
fn shown_bytes(ends: &Ends, room: &Room<'_>) -> u64 {
    let closing = ends.closing();
    let sample = &closing[closing.len().saturating_sub(SAMPLE_BYTES)..];
    room.estimated_bytes(room.cost(sample)).min(ends.bytes())
}

/// Every line that may be shown, once, in text order.
pub(super) fn collect<'t>(
    candidates: &'t [Candidate],
    reader: &LineReader,
    ends: &'t Ends,
    room: &Room<'_>,
    max_line_bytes: usize,
) -> Vec<Unit<'t>> {
    let LineReader { counts, repeats, values, .. } = reader;
    let (bytes, total) = (shown_bytes(ends, room), ends.bytes());
    let trouble = Trouble::of(candidates, total, bytes);
    // The last of several commands is the one that failed. The first failure of one command explains the others.
    let is_one_failure = trouble != Trouble::None && !values.has_several_commands();
    let recency = |line: &Candidate| recency(line, total, bytes) / if is_one_failure { 2 } else { 1 };
    let units = candidates.iter().map(|line| {
        let (text, coverage) = clip(line.text.bytes(), line.extent.coverage, max_line_bytes);
        let value = match line.value < INFORMATIVE && repeats.folds(line.extent.number) {
            true => ONLY_IN_SMALL_GAPS,
            false => content_value(line, counts, total) + recency(line),
        };
        Unit {
            text,
            extent: Extent { coverage, ..line.extent },
            value,
            order: line.extent.start as i64,
            repeated: 0,
        }
    });
    let mut units: Vec<Unit<'t>> = units.collect();
    let at_ends = EndLines { ends, division: Division::Lines, bytes, max_line_bytes };
    units.extend(head(at_ends, repeats));
    units.extend(tail(at_ends, trouble.tail_values(), reader));
    units.sort_by_key(|unit| (unit.extent.start, Reverse(unit.value)));
    units.dedup_by(|again, first| {
        let is_same = again.extent.start == first.extent.start;
        if is_same && again.order < 0 && first.value < STRONG {
            first.order = again.order;
        }
        is_same
    });
    units
}

/// The lines at the beginning, by their distance from it.
fn head<'t>(at_ends: EndLines<'t>, repeats: &Repeats) -> Vec<Unit<'t>> {
    let values = if at_ends.bytes > LARGE_BYTES { &LARGE_HEAD } else { &HEAD };
    let mut units = at_ends.head();
    let mut distance = 0;
    for unit in &mut units {
        unit.value = repeats.folded_value(unit.extent.number).unwrap_or_else(|| {
            distance += unit.text.len();
            value_at(values, distance as f64 / at_ends.bytes as f64)
        });
    }
    units
}

/// The lines at the end, by their distance from it. Of those with the same value, the last one is shown first.
fn tail<'t>(at_ends: EndLines<'t>, values: &[(f64, i32)], reader: &LineReader) -> Vec<Unit<'t>> {
    let mut units = at_ends.tail();
    let mut distance = 0;
    for unit in units.iter_mut().rev() {
        unit.order = -(unit.extent.start as i64);
        // Folded lines do not count as the end: what comes before them is near the end, too.
        unit.value = reader.repeats.folded_value(unit.extent.number).unwrap_or_else(|| {
            // A runner's housekeeping and passed tests count only in part.
            let is_routine = is_routine(unit.text, &reader.matcher);
            let length = unit.text.len() as u64;
            distance += if is_routine { length / ROUTINE_LENGTHS } else { length };
            let value = value_at(values, distance as f64 / at_ends.bytes as f64);
            if is_routine { ROUTINE_VALUE.of(value) } else { value }
        });
    }
    units
}

/// Where lines say by themselves what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    None,
    NearEnd,
    Elsewhere,
}

impl Trouble {
    fn of(candidates: &[Candidate], total: u64, bytes: u64) -> Trouble {
        let near = total.saturating_sub((bytes as f64 * TAIL_REACH) as u64);
        let last = candidates.iter().rfind(|line| line.own >= TROUBLE);
        match last {
            None => Trouble::None,
            Some(line) if line.extent.start >= near => Trouble::NearEnd,
            Some(_) => Trouble::Elsewhere,
        }
    }

    /// The values of the lines at the end, by their distance from it.
    fn tail_values(self) -> &'static [(f64, i32)] {
        match self {
            Trouble::None => &QUIET_TAIL,
            Trouble::NearEnd => &EARNED_TAIL,
            Trouble::Elsewhere => &UNEARNED_TAIL,
        }
    }
}
