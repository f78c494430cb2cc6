//! The number that says most about similar lines, such as the time in `reply 7 took 12 ms`: its range, and the lines in which it
//! is unusual.
//!
//! A stretch is measured once it is long enough to be folded. One number of its lines is chosen, by what the first lines have
//! in common; [`number`](super::number) says what a number is. From then on, each line costs a comparison: lines with one
//! fingerprint differ only in the value of digits, so that the bytes of the number are compared with those of the lowest and
//! the highest value so far. Only a line with a new extreme is parsed.

use super::number::{Number, Value, Window};
use crate::strategy::fingerprint;
use crate::strategy::lines::Line;
use std::collections::{HashMap, VecDeque};
use std::ops::RangeInclusive;

/// The number of fingerprints whose lines are compared without being parsed.
const SLOTS: usize = 128;

/// How many numbers have known usual values.
const MAX_USUAL: usize = 256;

/// How many records are kept: more than a preview with few gaps needs.
const MAX_RECORDS: usize = 32;

/// At least this many lines are needed to choose a number.
const MIN_LINES: usize = 3;

/// After this many lines, a value can be unusual.
const SETTLED_LINES: u64 = 32;

/// A value is unusual if its distance from the usual range is more than this many times the width of that range.
const UNUSUAL_SPREADS: Value = 3;

/// After this many unusual lines, such values are usual.
const MAX_UNUSUAL_LINES: u32 = 4;

/// The values of one stretch.
#[derive(Clone, Debug)]
pub(super) struct Measure {
    /// The template of the lines that have the number.
    template: u64,
    /// Which of the numbers of a line it is.
    at: usize,
    name: String,
    unit: String,
    /// The first lines, of which some are shown.
    opening: Vec<Measured>,
    /// The later lines whose value is lower, or higher, than that of all later lines before them.
    lows: Records,
    highs: Records,
}

/// Lines whose value is beyond that of all lines before them. Only the last of them are kept.
#[derive(Clone, Debug, Default)]
struct Records {
    last: VecDeque<Measured>,
    /// How many there were.
    count: u64,
}

/// The number of one line.
#[derive(Clone, Debug)]
struct Measured {
    line: u64,
    value: Value,
    text: String,
}

/// One of the first lines of a stretch.
pub(super) struct OpeningLine<'l> {
    pub(super) number: u64,
    pub(super) template: u64,
    pub(super) text: &'l [u8],
}

/// The numbers of the open stretch, and the usual values of each number that was measured.
pub(super) struct Measures {
    open: Option<Box<Measure>>,
    /// Distinguishes the spans of this stretch from those of earlier ones.
    key: u64,
    spans: Box<[Span; SLOTS]>,
    usual: HashMap<u64, Usual>,
}

/// Where the number is in lines of one fingerprint, and which values are known.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Span {
    key: u64,
    window: Window,
    /// The bytes of the lowest and of the highest value so far.
    lowest: u64,
    highest: u64,
    /// The lowest bytes of which the whole number is between these values, and how far the highest are above them.
    floor: u64,
    width: u64,
}

/// The values of the number that are usual in the lines of a template.
#[derive(Clone, Copy, Debug)]
struct Usual {
    lowest: Value,
    highest: Value,
    /// From this line on, a value can be unusual.
    settled: u64,
    /// How many lines were unusual.
    unusual: u32,
}

impl Measured {
    fn new(line: u64, number: &Number<'_>) -> Measured {
        let text = String::from_utf8_lossy(number.text()).into_owned();
        Measured { line, value: number.value, text }
    }
}

impl Measures {
    pub(super) fn new() -> Measures {
        let spans = vec![Span::default(); SLOTS].into_boxed_slice();
        Measures {
            open: None,
            key: 1,
            spans: spans.try_into().expect("the vector has SLOTS slots"),
            usual: HashMap::new(),
        }
    }

    /// Whether the line with this fingerprint has a known value, if lines are measured.
    #[inline]
    pub(super) fn is_known(&self, line: &Line<'_>) -> bool {
        self.open.is_none() || self.span(line.fingerprint).contains(line.text, line.fingerprint ^ self.key)
    }

    #[inline]
    fn span(&self, fingerprint: u64) -> &Span {
        &self.spans[fingerprint as usize % SLOTS]
    }

    /// Starts to measure a stretch that began with these lines. Many stretches have no number to measure.
    pub(super) fn start(&mut self, lines: &[OpeningLine<'_>]) {
        let Some(measure) = Measure::choose(lines) else { return };
        let settled = lines[0].number + SETTLED_LINES;
        if let Some((lowest, highest)) = measure.range(&(0..=u64::MAX))
            && self.usual.len() < MAX_USUAL
        {
            let usual = Usual { lowest: lowest.value, highest: highest.value, settled, unusual: 0 };
            self.usual.entry(measure.key()).or_insert(usual);
        }
        self.open = Some(Box::new(measure));
        self.key = self.key.wrapping_add(2);
    }

    /// Measures the next line of the stretch. Returns the hash of its number if that is unusual; then the line is not part of the
    /// stretch.
    pub(super) fn measure(&mut self, template: u64, line: &Line<'_>) -> Option<u64> {
        if self.is_known(line) {
            return None;
        }
        let (open, key) = (self.open.as_mut()?, line.fingerprint ^ self.key);
        let span = &mut self.spans[line.fingerprint as usize % SLOTS];
        if open.template != template {
            *span = Span { key, width: u64::MAX, ..Span::default() };
            return None;
        }
        let Some(number) = open.number(line.text) else {
            // The lines have less in common than the first ones.
            self.open = None;
            return None;
        };
        if let Some(usual) = self.usual.get_mut(&open.key())
            && usual.is_unusual(number.value, line.extent.number)
        {
            return Some(fingerprint::exact(number.text()));
        }
        open.add(Measured::new(line.extent.number, &number));
        if open.is_counter(line.extent.number) {
            self.open = None;
            return None;
        }
        span.add(&number, line.text, key);
        None
    }

    /// Ends the stretch.
    pub(super) fn end(&mut self) -> Option<Box<Measure>> {
        self.open.take()
    }
}

impl Span {
    /// Whether the number of a line is between two known values.
    #[inline]
    fn contains(&self, text: &[u8], key: u64) -> bool {
        let bytes = if self.key == key { self.window.load(text) } else { None };
        bytes.is_some_and(|bytes| bytes.wrapping_sub(self.floor) <= self.width)
    }

    /// Adds the number of a line with this key.
    fn add(&mut self, number: &Number<'_>, text: &[u8], key: u64) {
        let Some(window) = number.window() else { return };
        let Some(bytes) = window.load(text) else { return };
        let (lowest, highest) = match self.key == key {
            true => (self.lowest.min(bytes), self.highest.max(bytes)),
            false => (bytes, bytes),
        };
        // Of a number that is longer than its window, only values that begin in another way than the extremes are known.
        let margin = u64::from(!window.is_whole);
        let (floor, width) = match (highest - lowest).checked_sub(2 * margin) {
            Some(width) => (lowest + margin, width),
            None => (u64::MAX, 0),
        };
        *self = Span { key, window, lowest, highest, floor, width };
    }
}

impl Usual {
    /// Adds a value. Returns whether it is unusual: far outside of the usual ones, or the first below zero. If many are, they become
    /// usual.
    fn is_unusual(&mut self, value: Value, line: u64) -> bool {
        let spread = self.highest - self.lowest;
        let distance = (value - self.highest).max(self.lowest - value);
        let is_far = distance > spread.saturating_mul(UNUSUAL_SPREADS);
        let is_negative = value < 0 && self.lowest >= 0;
        if (is_far || is_negative) && line >= self.settled && self.unusual < MAX_UNUSUAL_LINES {
            self.unusual += 1;
            return true;
        }
        if distance > 0 {
            (self.lowest, self.highest) = (self.lowest.min(value), self.highest.max(value));
            self.unusual = 0;
        }
        false
    }
}

impl Measure {
    /// Distinguishes this number from other numbers of the same lines, and from the same one in another unit.
    fn key(&self) -> u64 {
        fingerprint::mix(
            fingerprint::mix(self.template, self.at as u64),
            fingerprint::exact(self.unit.as_bytes()),
        )
    }

    /// Chooses a number that varies in lines of one template: the first measurement of the last template that has one, or else the
    /// last other number.
    fn choose(lines: &[OpeningLine<'_>]) -> Option<Measure> {
        let mut templates: Vec<u64> = lines.iter().map(|line| line.template).collect();
        templates.sort_unstable();
        templates.dedup();
        let choices = templates.into_iter().filter_map(|template| {
            let similar: Vec<&OpeningLine<'_>> =
                lines.iter().filter(|line| line.template == template).collect();
            let last = similar.last()?.number;
            Measure::of_similar(template, &similar)
                .map(|(is_measurement, measure)| (is_measurement, last, measure))
        });
        let best = choices.max_by_key(|&(is_measurement, last, _)| (is_measurement, last));
        best.map(|(_, _, measure)| measure)
    }

    /// The same for lines of one template. Returns also whether the number is a measurement.
    fn of_similar(template: u64, lines: &[&OpeningLine<'_>]) -> Option<(bool, Measure)> {
        if lines.len() < MIN_LINES {
            return None;
        }
        let rows: Vec<Vec<Option<Number<'_>>>> = lines.iter().map(|line| Number::all(line.text)).collect();
        let column = |at: usize| -> Option<Vec<&Number<'_>>> {
            rows.iter().map(|row| row.get(at)?.as_ref()).collect()
        };
        let mut chosen = None;
        for at in 0..rows[0].len() {
            let Some(numbers) = column(at).filter(|numbers| is_informative(at, numbers)) else { continue };
            let is_measurement = numbers[0].is_measurement();
            chosen = Some((is_measurement, at));
            if is_measurement {
                break;
            }
        }
        let (is_measurement, at) = chosen?;
        let numbers = column(at)?;
        let measured = |(number, line): (&&Number<'_>, &&OpeningLine<'_>)| Measured::new(line.number, number);
        let opening = numbers.iter().zip(lines).map(measured).collect();
        let (name, unit) = (numbers[0].name.to_owned(), numbers[0].unit.to_owned());
        Some((
            is_measurement,
            Measure {
                template,
                at,
                name,
                unit,
                opening,
                lows: Records::default(),
                highs: Records::default(),
            },
        ))
    }

    /// The number of a line of the stretch, if it has one with the same name and unit.
    fn number<'l>(&self, line: &'l [u8]) -> Option<Number<'l>> {
        let number = Number::all(line).into_iter().nth(self.at)??;
        (number.name == self.name && number.unit == self.unit).then_some(number)
    }

    fn add(&mut self, measured: Measured) {
        if self.lows.last.back().is_none_or(|lowest| measured.value < lowest.value) {
            self.lows.add(measured.clone());
        }
        if self.highs.last.back().is_none_or(|highest| measured.value > highest.value) {
            self.highs.add(measured);
        }
    }

    /// Whether most lines up to this one set a record.
    fn is_counter(&self, line: u64) -> bool {
        let lines = self.opening.last().map_or(0, |last| line - last.line);
        let records = self.lows.count + self.highs.count;
        records > MAX_RECORDS as u64 && 2 * records > lines
    }

    /// The lowest and the highest value of the given lines, if they are known.
    fn range(&self, lines: &RangeInclusive<u64>) -> Option<(&Measured, &Measured)> {
        let is_later = self.opening.last().is_some_and(|last| last.line < *lines.end());
        let mut known: Vec<&Measured> = Vec::new();
        if is_later && !self.lows.last.is_empty() {
            known.extend([self.lows.of(lines)?, self.highs.of(lines)?]);
        }
        known.extend(self.opening.iter().filter(|measured| lines.contains(&measured.line)));
        let lowest = known.iter().min_by_key(|measured| measured.value)?;
        let highest = known.iter().max_by_key(|measured| measured.value)?;
        Some((*lowest, *highest))
    }

    /// The range of the number in the given lines, such as `score 0…9987` or `in 0.4…12.5 ms`, if it is known. `all` are
    /// the measures of consecutive stretches.
    pub(super) fn describe(all: &[&Measure], lines: &RangeInclusive<u64>) -> Option<String> {
        let first = all.first()?;
        let ranges = all.iter().map(|measure| {
            let is_same = measure.name == first.name && measure.unit == first.unit;
            if is_same { measure.range(lines) } else { None }
        });
        let ranges: Vec<(&Measured, &Measured)> = ranges.collect::<Option<_>>()?;
        let lowest = ranges.iter().map(|range| range.0).min_by_key(|measured| measured.value)?;
        let highest = ranges.iter().map(|range| range.1).max_by_key(|measured| measured.value)?;
        (lowest.value < highest.value).then(|| first.text(&lowest.text, &highest.text))
    }

    /// A description that is at least as long as that of any of its lines.
    pub(super) fn widest_description(&self) -> String {
        let known = self.opening.iter().chain(&self.lows.last).chain(&self.highs.last);
        let widest = known.map(|measured| &*measured.text).max_by_key(|text| text.len()).unwrap_or_default();
        self.text(widest, widest)
    }

    fn text(&self, lowest: &str, highest: &str) -> String {
        let space = if self.name.is_empty() { "" } else { " " };
        format!("{}{space}{lowest}…{highest}{}", self.name, self.unit)
    }
}

impl Records {
    fn add(&mut self, measured: Measured) {
        if self.last.len() == MAX_RECORDS {
            self.last.pop_front();
        }
        self.last.push_back(measured);
        self.count += 1;
    }

    /// The last record up to the end of the given lines, if it is in them: then no value in them is beyond it.
    fn of(&self, lines: &RangeInclusive<u64>) -> Option<&Measured> {
        let last = self.last.iter().rev().find(|measured| measured.line <= *lines.end())?;
        lines.contains(&last.line).then_some(last)
    }
}

/// Whether a number that several lines have says something: it has a name or a unit, the same in all of them, and is not a
/// constant or a counter.
fn is_informative(at: usize, numbers: &[&Number<'_>]) -> bool {
    let first = numbers[0];
    let is_same = |number: &&Number<'_>| number.name == first.name && number.unit == first.unit;
    let is_named = !first.name.is_empty() || !first.unit.is_empty();
    let mut steps = numbers.windows(2).map(|pair| pair[1].value.cmp(&pair[0].value));
    let is_constant = steps.clone().all(std::cmp::Ordering::is_eq);
    let is_monotone = steps.clone().all(std::cmp::Ordering::is_ge) || steps.all(std::cmp::Ordering::is_le);
    // A time that grows can be at the start of a line.
    let is_counter = is_monotone && (at == 0 || !first.is_decimal);
    is_named && numbers.iter().all(is_same) && !is_constant && !is_counter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::Segment;
    use crate::strategy::fingerprint;
    use crate::strategy::lines::Lines;

    /// How many lines are read before the number is chosen.
    const OPENING: usize = 12;

    /// Measures lines of one template. Returns the lines with an unusual number, and the description of the given ones.
    fn measure(lines: &[String], described: RangeInclusive<u64>) -> (Vec<u64>, String) {
        let template = 1;
        let mut measures = Measures::new();
        let opening = lines[..OPENING].iter().zip(1..);
        let opening: Vec<OpeningLine<'_>> =
            opening.map(|(text, number)| OpeningLine { number, template, text: text.as_bytes() }).collect();
        measures.start(&opening);
        let mut unusual = Vec::new();
        let text = lines.concat();
        Lines::with_fingerprints(1000).observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            if line.extent.number > OPENING as u64 && measures.measure(template, &line).is_some() {
                unusual.push(line.extent.number);
            }
        });
        let measure = measures.end();
        let description = measure.and_then(|measure| Measure::describe(&[&measure], &described));
        (unusual, description.unwrap_or_default())
    }

    /// Numbers from 100 to 199 that go up and down.
    fn usual(at: u64) -> u64 {
        100 + at * 37 % 100
    }

    #[track_caller]
    fn check_described(line: impl Fn(u64) -> String, expected: &str) {
        let lines: Vec<String> = (0..400).map(|at| line(at) + "\n").collect();
        assert_eq!(measure(&lines, 4..=400), (Vec::new(), expected.to_owned()), "{}", lines[0]);
    }

    #[test]
    fn one_number_is_described() {
        check_described(|at| format!("user {at} score {}", usual(at)), "score 100…199");
        check_described(
            |at| format!("score {} of {} in {} ms", usual(at), usual(at + 1), usual(at + 2)),
            "in 100…199 ms",
        );
        check_described(|at| format!("a={} b={}.5 c={}.25", usual(at), usual(at), at), "b 100.5…199.5");
        check_described(|at| format!("a={} b={}", usual(at), usual(at) + 5), "b 105…204");
        check_described(
            |at| format!("loss {}.{}071824645996", usual(at) / 50, at % 7),
            "loss 2.0071824645996…3.6071824645996",
        );
        check_described(|at| format!("change {}", usual(at) as i64 - 150), "change -50…49");
        // A counter, a constant, a time, a number without a name.
        check_described(|at| format!("step {at} of 400"), "");
        check_described(|at| format!("12:{} ok", usual(at)), "");
        check_described(|at| format!("{} ok", usual(at)), "");
        // The unit changes.
        check_described(|at| format!("took {}{}", usual(at), if at == 300 { "s" } else { "ms" }), "");
        // The later lines show that it is a counter.
        check_described(|at| format!("at {}", if at < 12 { usual(at) } else { at * 1000 }), "");
    }

    #[test]
    fn range_is_that_of_the_described_lines() {
        let lines: Vec<String> = (0..400).map(|at| format!("score {}\n", usual(at))).collect();
        let described = |first: u64, last: u64| measure(&lines, first..=last).1;
        let expected = |first: u64, last: u64| {
            let values = (first..=last).map(|line| usual(line - 1));
            format!("score {}…{}", values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
        };
        for (first, last) in [(1, 400), (4, 397), (4, 13), (4, 9), (12, 60), (13, 40), (13, 399)] {
            assert_eq!(described(first, last), expected(first, last), "{first} {last}");
        }
        // The extremes are before these lines.
        assert_eq!(described(300, 399), "");
    }

    #[track_caller]
    fn check_unusual(changes: &[(usize, &str)], expected: &[u64], range: &str) {
        let mut lines: Vec<String> =
            (0..400).map(|at| format!("reply {at} took {} ms\n", usual(at))).collect();
        for (at, number) in changes {
            lines[*at] = format!("reply {at} took {number} ms\n");
        }
        assert_eq!(measure(&lines, 4..=400), (expected.to_vec(), range.to_owned()), "{changes:?}");
    }

    #[test]
    fn number_far_from_all_others_or_below_zero_is_unusual() {
        check_unusual(&[(200, "9911")], &[201], "took 100…199 ms");
        check_unusual(&[(200, "-1")], &[201], "took 100…199 ms");
        check_unusual(&[(200, "498")], &[201], "took 100…199 ms");
        check_unusual(&[(200, "450")], &[], "took 100…450 ms");
        check_unusual(&[(200, "0")], &[], "took 0…199 ms");
        // Nothing is usual at the start.
        check_unusual(&[(20, "9911")], &[], "took 100…9911 ms");
        // What is frequent is usual.
        let many: Vec<(usize, &str)> = (0..7).map(|at| (100 + 40 * at, "9911")).collect();
        check_unusual(&many, &[101, 141, 181, 221], "took 100…9911 ms");
    }

    #[test]
    fn lines_of_another_template_are_not_measured() {
        let text = "other lines\n".repeat(3);
        let mut measures = Measures::new();
        let texts: Vec<String> = (0..12).map(|at| format!("took {} ms", usual(at))).collect();
        let opening: Vec<OpeningLine<'_>> = texts
            .iter()
            .zip(1..)
            .map(|(text, number)| OpeningLine { number, template: 1, text: text.as_bytes() })
            .collect();
        measures.start(&opening);
        let mut known = Vec::new();
        Lines::with_fingerprints(1000).observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            known.push(measures.is_known(&line));
            assert_eq!(measures.measure(fingerprint::template(line.text), &line), None);
        });
        assert_eq!(known, [false, true, true]);
    }
}
