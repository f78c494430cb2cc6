//! Finds stretches of lines that repeat the same messages, so that they can be folded.
//!
//! A stretch continues as long as every line has the template of one of the few lines before it: one message over and
//! over, or several that alternate. What is not shown of a stretch is reported as repeated only if each of its templates
//! is shown somewhere.

use super::line_tables::{LineInfo, TemplateCounts};
use super::measures::{Measure, Measures, OpeningLine};
use super::weights::RARE_LINES;
use crate::strategy::fingerprint;
use crate::strategy::lines::{Coverage, Line};
use crate::strategy::rules::{MATCHED_BYTES, Role};
use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

/// How many lines back a line is compared, and so the largest number of templates in a stretch.
const MAX_PERIOD: usize = 8;

/// Shorter stretches are ignored.
const MIN_STRETCH_LINES: u64 = 4;

/// The middle of a stretch of at least this many lines is not shown.
const MIN_FOLDED_LINES: u64 = 12;

/// The same for a stretch that reports failures, of which a reader wants to see more.
const MIN_FOLDED_FAILURES: u64 = 100;

/// How many lines are shown at each end of a folded stretch.
const LINES_PER_END: u64 = 3;

/// The number of stretches kept. When there are more, the shorter half is dropped.
const MAX_STRETCHES: usize = 512;

/// Consecutive lines, each with the template of one of the few lines before it.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    first_line: u64,
    last_line: u64,
    start: u64,
    end: u64,
    kinds: Vec<Kind>,
    content: StretchContent,
    measure: Option<Box<Measure>>,
}

/// Lines of one template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    template: u64,
    /// The same, unless a number in the lines is unusual.
    plain: u64,
}

/// What the lines of a stretch contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StretchContent {
    /// Only numbers, paths and marks: data, which is shown as far as there is room.
    Data,
    /// A message, of which a few are enough.
    Message,
    /// A message that reports a failure.
    Failure,
}

impl StretchContent {
    fn of(role: Option<Role>, text: &[u8]) -> StretchContent {
        match role {
            None
            | Some(
                Role::PassedSection
                | Role::Passed
                | Role::Noise
                | Role::Warning
                | Role::Suspect
                | Role::Step
                | Role::Title,
            ) => {
                if fingerprint::has_words(text) {
                    StretchContent::Message
                } else {
                    StretchContent::Data
                }
            }
            Some(_) => StretchContent::Failure,
        }
    }
}

impl Stretch {
    /// Whether its lines are the same message, except rare ones: where several alternate, a range would be about one of them.
    fn has_one_message(&self, counts: &TemplateCounts) -> bool {
        let mut frequent = self.kinds.iter().filter(|kind| counts.of(kind.template) > RARE_LINES);
        let first = frequent.next();
        frequent.all(|kind| Some(kind.plain) == first.map(|first| first.plain))
    }

    fn lines(&self) -> u64 {
        self.last_line + 1 - self.first_line
    }
}

/// The current stretch and the finished ones.
pub(super) struct Repeats {
    recent: [u64; MAX_PERIOD],
    next: usize,
    /// How many lines back the last match was.
    period: usize,
    open: Stretch,
    done: Vec<Stretch>,
    measures: Measures,
}

impl Repeats {
    pub(super) fn new() -> Repeats {
        Repeats {
            recent: [0; MAX_PERIOD],
            next: 0,
            period: 1,
            open: Stretch {
                first_line: 1,
                last_line: 0,
                start: 0,
                end: 0,
                kinds: Vec::new(),
                content: StretchContent::Data,
                measure: None,
            },
            done: Vec::new(),
            measures: Measures::new(),
        }
    }

    /// Adds the next line. `plain` is its template without regard to unusual numbers.
    #[inline]
    pub(super) fn observe(&mut self, info: &LineInfo, plain: u64, line: &Line<'_>) {
        // The template covers only the beginning of a long line.
        let kind = match is_long(line) {
            true => Kind { template: line.fingerprint, plain: line.fingerprint },
            false => Kind { template: info.template, plain },
        };
        if !self.expects(kind.template, line) {
            self.compare(kind, info.role, line);
        }
        self.push(kind.template);
    }

    /// Whether a line continues the current stretch with the expected template.
    #[inline]
    pub(super) fn expects(&self, template: u64, line: &Line<'_>) -> bool {
        let expected = self.recent[self.next.wrapping_sub(self.period) % MAX_PERIOD];
        expected == template && !self.is_early(line.extent.number)
    }

    /// Whether the number of a line that continues the stretch is known, or not measured.
    #[inline]
    pub(super) fn knows_number(&self, line: &Line<'_>) -> bool {
        self.measures.is_known(line)
    }

    /// Measures the next line. Returns its template, or another one if its number is unusual. `template` ignores all numbers.
    pub(super) fn refine(&mut self, info: &LineInfo, template: u64, line: &Line<'_>) -> u64 {
        // Another line starts a new stretch.
        if is_long(line) || !self.recent.contains(&info.template) {
            return info.template;
        }
        let unusual = self.measures.measure(template, line);
        unusual.map_or(info.template, |number| fingerprint::mix(info.template, number))
    }

    /// How many lines before this one the stretch began, if it has just become long enough to be folded and may be measured.
    #[inline]
    pub(super) fn lines_to_measure(&self, line: &Line<'_>) -> Option<usize> {
        let is_due = line.extent.number + 1 == self.open.first_line + MIN_FOLDED_LINES && !is_long(line);
        is_due.then_some(MIN_FOLDED_LINES as usize - 1)
    }

    /// Starts to measure the stretch, which began with these lines.
    pub(super) fn start_measuring(&mut self, lines: &[OpeningLine<'_>]) {
        self.measures.start(lines);
    }

    /// Records the template of the next line.
    #[inline]
    pub(super) fn push(&mut self, template: u64) {
        self.recent[self.next % MAX_PERIOD] = template;
        self.next = self.next.wrapping_add(1);
    }

    /// Whether a line is in the first periods of a stretch: only there it can have a template that the stretch lacks.
    #[inline]
    fn is_early(&self, number: u64) -> bool {
        number <= self.open.first_line + 2 * MAX_PERIOD as u64
    }

    #[inline(never)]
    fn compare(&mut self, kind: Kind, role: Option<Role>, line: &Line<'_>) {
        if self.recent.contains(&kind.template) {
            return self.extend(kind, role, line);
        }
        // The content is not analysed: most lines with a new template are not the start of a stretch.
        self.begin(line.extent.number, line.extent.start);
        self.open.kinds.push(kind);
        self.period = 1;
    }

    #[inline(never)]
    fn extend(&mut self, kind: Kind, role: Option<Role>, line: &Line<'_>) {
        let period = (1..=MAX_PERIOD)
            .find(|period| self.recent[self.next.wrapping_sub(*period) % MAX_PERIOD] == kind.template);
        self.period = period.unwrap_or(1);
        if self.is_early(line.extent.number) {
            if !self.open.kinds.contains(&kind) {
                self.open.kinds.push(kind);
            }
            self.open.content = self.open.content.max(StretchContent::of(role, line.text));
        }
    }

    /// Starts a stretch with a line, and ends the current one before it.
    fn begin(&mut self, number: u64, start: u64) {
        self.open.measure = self.measures.end();
        if number >= self.open.first_line + MIN_STRETCH_LINES {
            self.end(number, start);
        }
        self.open.kinds.clear();
        self.open.content = StretchContent::Data;
        (self.open.first_line, self.open.start) = (number, start);
    }

    #[inline(never)]
    fn end(&mut self, number: u64, start: u64) {
        let measure = self.open.measure.take();
        self.done.push(Stretch { last_line: number - 1, end: start, measure, ..self.open.clone() });
        if self.done.len() > MAX_STRETCHES {
            let mut lengths: Vec<u64> = self.done.iter().map(Stretch::lines).collect();
            let (_, &mut middle, _) = lengths.select_nth_unstable(MAX_STRETCHES / 2);
            self.done.retain(|stretch| stretch.lines() > middle);
        }
    }

    /// Ends the last stretch. `number` and `start` are those of the line that would come next.
    pub(super) fn finish(&mut self, number: u64, start: u64) {
        self.begin(number, start);
    }

    /// Whether a line is in the middle of a long stretch, of which only the ends are shown.
    pub(super) fn folds(&self, number: u64) -> bool {
        self.folded(number).is_some()
    }

    /// The place of the stretch that a line is in the middle of.
    pub(super) fn folded(&self, number: u64) -> Option<usize> {
        let at = self.done.partition_point(|stretch| stretch.last_line < number);
        self.done.get(at).filter(|stretch| {
            let ends = LINES_PER_END.max(stretch.kinds.len() as u64);
            let least = match stretch.content {
                StretchContent::Data => u64::MAX,
                StretchContent::Message => MIN_FOLDED_LINES,
                StretchContent::Failure => MIN_FOLDED_FAILURES,
            };
            stretch.lines() >= least.max(3 * ends)
                && number >= stretch.first_line + ends
                && number + ends <= stretch.last_line
        })?;
        Some(at)
    }

    /// The range of the number that varies in the given lines, if all of them are in stretches with that number.
    pub(super) fn describe(&self, lines: &RangeInclusive<u64>, counts: &TemplateCounts) -> Option<String> {
        let from = self.done.partition_point(|stretch| stretch.last_line < *lines.start());
        let to = self.done.partition_point(|stretch| stretch.first_line <= *lines.end());
        let stretches = self.done.get(from..to)?;
        let is_covered = stretches.first()?.first_line <= *lines.start()
            && stretches.last()?.last_line >= *lines.end()
            && stretches.windows(2).all(|pair| pair[0].end == pair[1].start)
            && stretches.iter().all(|stretch| stretch.has_one_message(counts));
        let measures: Option<Vec<&Measure>> =
            stretches.iter().map(|stretch| stretch.measure.as_deref()).collect();
        Measure::describe(&measures.filter(|_| is_covered)?, lines)
    }

    /// The longest descriptions of gaps in folded stretches.
    pub(super) fn widest_descriptions(&self) -> impl Iterator<Item = String> {
        let folded =
            self.done.iter().filter(|stretch| self.folds((stretch.first_line + stretch.last_line) / 2));
        folded.filter_map(|stretch| stretch.measure.as_ref().map(|measure| measure.widest_description()))
    }

    /// Whether some of the given bytes are data, of which any part may be of interest.
    pub(super) fn has_data(&self, bytes: &Range<u64>) -> bool {
        let from = self.done.partition_point(|stretch| stretch.end <= bytes.start);
        let overlapping = self.done[from..].iter().take_while(|stretch| stretch.start < bytes.end);
        overlapping.into_iter().any(|stretch| stretch.content == StretchContent::Data)
    }

    /// The byte ranges of the stretches whose templates are all shown. Data is left out: that its lines have the same
    /// template says nothing. A template with an unusual number that is usual by now counts as shown if its lines without regard to
    /// that number are.
    pub(super) fn with_templates_shown(
        &self,
        shown: &HashSet<u64>,
        counts: &TemplateCounts,
    ) -> Vec<Range<u64>> {
        let is_shown = |kind: &Kind| {
            let is_usual = || counts.of(kind.template) > RARE_LINES;
            shown.contains(&kind.template) || (shown.contains(&kind.plain) && is_usual())
        };
        let messages = self.done.iter().filter(|stretch| stretch.content != StretchContent::Data);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for stretch in messages.filter(|stretch| stretch.kinds.iter().all(is_shown)) {
            match ranges.last_mut() {
                Some(before) if before.end == stretch.start => before.end = stretch.end,
                _ => ranges.push(stretch.start..stretch.end),
            }
        }
        ranges
    }
}

fn is_long(line: &Line<'_>) -> bool {
    line.text.len() > MATCHED_BYTES || line.extent.coverage == Coverage::Beginning
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::{LinePosition, PieceKind, Segment};
    use crate::strategy::lines::{Extent, Lines};

    /// Checks which lines of a text are folded, and the byte ranges of its stretches.
    #[track_caller]
    fn check(text: &str, folded: &[(u64, u64)], stretches: &[(u64, u64)]) {
        let mut repeats = Repeats::new();
        let (mut lines, mut templates) = (Lines::with_fingerprints(1000), HashSet::new());
        let mut count = 0;
        lines.observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            let template = fingerprint::template(line.text);
            templates.insert(template);
            let role = line.text.starts_with(b"fail").then_some(Role::Failed);
            repeats.observe(&LineInfo { template, role, ..LineInfo::default() }, template, &line);
            count += 1;
        });
        repeats.finish(count + 1, text.len() as u64);
        let expected: Vec<u64> = folded.iter().flat_map(|&(from, to)| from..to).collect();
        let found: Vec<u64> = (1..=count).filter(|&number| repeats.folds(number)).collect();
        assert_eq!(found, expected, "{text}");
        let found: Vec<(u64, u64)> = repeats
            .with_templates_shown(&templates, &TemplateCounts::new())
            .into_iter()
            .map(|range| (range.start, range.end))
            .collect();
        assert_eq!(found, stretches, "{text}");
        assert!(
            stretches.is_empty()
                || repeats.with_templates_shown(&HashSet::new(), &TemplateCounts::new()).is_empty()
        );
    }

    #[test]
    fn long_stretches_of_messages_are_folded() {
        let all = |text: &str| (0, text.len() as u64);
        let steps: String = (0..20).map(|number| format!("step {number} done\n")).collect();
        check(&steps, &[(4, 18)], &[all(&steps)]);
        let turns: String = (0..20).map(|number| format!("open {number}\n\nclose {number}\n")).collect();
        // The first line of each template is not part of the stretch.
        check(&turns, &[(6, 58)], &[(8, turns.len() as u64)]);
        let numbers: String = (0..20).map(|number| format!("{number} ./a/b{number}\n")).collect();
        check(&numbers, &[], &[]);
        check("one\ntwo\nthree\nfour\nfive\n", &[], &[]);
        check("one\none\none\n", &[], &[]);
        // A line with another template starts a new stretch.
        let broken = format!("{steps}other\n{steps}");
        check(&broken, &[(4, 18), (24, 39)], &[all(&broken)]);
        let failures = |count: usize| (0..count).map(|number| format!("fail {number}\n")).collect::<String>();
        check(&failures(60), &[], &[all(&failures(60))]);
        check(&failures(120), &[(4, 118)], &[all(&failures(120))]);
        let long = format!("{}\n", "word ".repeat(90)).repeat(20);
        check(&long, &[(4, 18)], &[]);
    }

    #[test]
    fn number_of_stretches_is_bounded() {
        let mut repeats = Repeats::new();
        for number in 0..100_000_u64 {
            let extent = Extent {
                start: number,
                begins: LinePosition::Start,
                end: number + 1,
                number: number + 1,
                coverage: Coverage::Whole,
                form: PieceKind::Verbatim,
            };
            let line = Line { text: b"x", extent, fingerprint: number / 5, offset: None };
            let template = number / 5 + 1;
            repeats.observe(&LineInfo { template, ..LineInfo::default() }, template, &line);
            assert!(repeats.done.len() <= MAX_STRETCHES + 1);
        }
    }
}
