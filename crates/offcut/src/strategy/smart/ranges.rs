//! How a word changes in the lines of a stretch: whether it is data or only counts, and, if it is a number, its exact range in any
//! part of the stretch.

use super::number::{Number, Word, name_and_unit};
use super::repeats::MIN_FOLDED_LINES;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

/// How many records are kept: more than a preview with few gaps needs.
const MAX_RECORDS: usize = 32;

/// Where a line is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) line: u64,
    /// The first line of its stretch.
    pub(super) stretch: u64,
}

/// The changes of one word in a stretch.
#[derive(Debug, Default)]
pub(super) struct Changes {
    last: Option<Word>,
    direction: Option<Ordering>,
    /// Whether it changes in another way than a counter or a time, which only grows or falls.
    pub(super) is_data: bool,
    /// Whether it is not the same kind of number in all lines.
    is_mixed: bool,
    range: NumberRange,
}

/// The range of a number.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberRange {
    name: String,
    unit: String,
    is_decimal: bool,
    early: Vec<Measured>,
    /// The later lines whose value is lower, or higher, than that of all later lines before them. Only the last of them are kept.
    lows: VecDeque<Measured>,
    highs: VecDeque<Measured>,
    records: u32,
}

/// The number of one line.
#[derive(Clone, Copy, Debug)]
struct Measured {
    line: u64,
    number: Number,
}

impl Measured {
    fn compare(&self, other: &Measured) -> Ordering {
        self.number.value.total_cmp(&other.number.value)
    }
}

impl Changes {
    /// Adds the word at `range` of a line with this content.
    pub(super) fn add(&mut self, word: Word, content: &[u8], range: &Range<usize>, place: Place) {
        let last = self.last.replace(word);
        let Word::Number(number) = word else {
            self.is_mixed = true;
            self.is_data |= last.is_some_and(|last| last != word);
            return;
        };
        match last {
            None => {}
            Some(Word::Number(last)) if last.rest == number.rest => {
                // A decimal number at the start of a line may be a time.
                let is_measurement = number.decimals > 0 && range.start > 2;
                self.is_data |= match number.value.total_cmp(&last.value) {
                    Ordering::Equal => false,
                    step => is_measurement || *self.direction.get_or_insert(step) != step,
                };
            }
            Some(_) => (self.is_mixed, self.is_data) = (true, true),
        }
        self.range.add(Measured { line: place.line, number }, content, range, place);
    }

    /// In how many lines the number was lower, or higher, than in all later lines before.
    pub(super) fn records(&self) -> u32 {
        self.range.records
    }

    /// The range, if the word is a number that has one worth stating.
    pub(super) fn range(&self) -> Option<&NumberRange> {
        let NumberRange { name, unit, lows, .. } = &self.range;
        let is_named = !name.is_empty() || !unit.is_empty();
        (self.is_data && !self.is_mixed && is_named && !lows.is_empty()).then_some(&self.range)
    }
}

impl NumberRange {
    fn add(&mut self, measured: Measured, content: &[u8], range: &Range<usize>, place: Place) {
        // Some of the first lines are shown, so each of their values is kept.
        if place.line < place.stretch + MIN_FOLDED_LINES {
            return self.early.push(measured);
        }
        if self.lows.is_empty() {
            (self.name, self.unit) = name_and_unit(content, range).unwrap_or_default();
            self.is_decimal = measured.number.decimals > 0;
        }
        let is_low = self.lows.back().is_none_or(|low| measured.compare(low).is_lt());
        let is_high = self.highs.back().is_none_or(|high| measured.compare(high).is_gt());
        for (records, is_record) in [(&mut self.lows, is_low), (&mut self.highs, is_high)] {
            if is_record && records.len() == MAX_RECORDS {
                records.pop_front();
            }
            records.extend(is_record.then_some(measured));
            self.records += u32::from(is_record);
        }
    }

    /// Whether it is that of a measurement and not of the number of something.
    pub(super) fn is_measurement(&self) -> bool {
        self.is_decimal || !self.unit.is_empty()
    }

    /// The lowest and the highest value of the given lines, if they are known.
    fn ends(&self, lines: &RangeInclusive<u64>) -> Option<[Measured; 2]> {
        let mut known: Vec<&Measured> = Vec::new();
        if self.early.last().is_none_or(|early| early.line < *lines.end()) {
            for records in [&self.lows, &self.highs] {
                // No value up to the end of the lines is beyond the last record up to there. It may be before the lines.
                let last = records.iter().rev().find(|measured| measured.line <= *lines.end());
                known.push(last.filter(|last| lines.contains(&last.line))?);
            }
        }
        known.extend(self.early.iter().filter(|measured| lines.contains(&measured.line)));
        let lowest = known.iter().min_by(|one, other| one.compare(other))?;
        let highest = known.iter().max_by(|one, other| one.compare(other))?;
        Some([**lowest, **highest])
    }

    /// The range in the given lines, such as `score 0…9987` or `in 0.4…12.5 ms`, if it is known. `all` are the ranges of consecutive
    /// stretches.
    pub(super) fn describe(all: &[&NumberRange], lines: &RangeInclusive<u64>) -> Option<String> {
        let first = all.first()?;
        let is_same = |range: &NumberRange| range.name == first.name && range.unit == first.unit;
        let ends = all.iter().map(|range| range.ends(lines).filter(|_| is_same(range)));
        let ends = ends.collect::<Option<Vec<_>>>()?.into_flattened();
        let lowest = ends.iter().min_by(|one, other| one.compare(other))?;
        let highest = ends.iter().max_by(|one, other| one.compare(other))?;
        lowest.compare(highest).is_lt().then(|| first.text(lowest, highest))
    }

    /// A description that is at least as long as that of any of its lines.
    pub(super) fn widest_description(&self) -> String {
        let known = self.early.iter().chain(&self.lows).chain(&self.highs);
        let all = known.map(|measured| self.text(measured, measured));
        all.max_by_key(String::len).unwrap_or_default()
    }

    fn text(&self, lowest: &Measured, highest: &Measured) -> String {
        let space = if self.name.is_empty() { "" } else { " " };
        format!("{}{space}{}…{}{}", self.name, lowest.number, highest.number, self.unit)
    }
}
