//! Finds stretches of lines that repeat the same messages, so that they can be folded.
//!
//! A stretch continues as long as every line has the template of one of the few lines before it: one message over and
//! over, or several that alternate. What is not shown of a stretch is reported as repeated only if each of its templates
//! is shown somewhere.

use super::fields::Fields;
use super::line_tables::{KnownLine, LineInfo, TemplateCounts};
use super::ranges::{NumberRange, Place};
use super::weights::{FOLDED, RARE_LINES};
use crate::strategy::fingerprint;
use crate::strategy::lines::{Coverage, Line};
use crate::strategy::rules::{MATCHED_BYTES, Role};
use crate::strategy::select::ONLY_IN_SMALL_GAPS;
use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

/// How many lines back a line is compared, and so the largest number of templates in a stretch.
const MAX_PERIOD: usize = 8;

/// Shorter stretches are ignored.
const MIN_STRETCH_LINES: u64 = 4;

/// The middle of a stretch of at least this many lines is not shown.
pub(super) const MIN_FOLDED_LINES: u64 = 12;

/// The same for a stretch that reports failures, of which a reader wants to see more.
const MIN_FOLDED_FAILURES: u64 = 100;

/// How many lines are shown at each end of a folded stretch.
const LINES_PER_END: u64 = 3;

/// The number of stretches kept. When there are more, the shorter half is dropped.
const MAX_STRETCHES: usize = 512;

/// Consecutive lines, each with the template of one of the few lines before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    first_line: u64,
    last_line: u64,
    start: u64,
    end: u64,
    kinds: Vec<Kind>,
    content: StretchContent,
    /// Whether it has lines like those of the stretch before, except for an unusual value. Then its first line is recorded, too.
    continues: bool,
    /// Whether its lines differ in more than counters and times.
    varies: bool,
    range: Option<Box<NumberRange>>,
}

/// Lines of one template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    template: u64,
    /// The same, unless a number in the lines is unusual.
    plain: u64,
}

/// What the lines of a stretch contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum StretchContent {
    /// Only numbers, paths and marks: data, which is shown as far as there is room.
    #[default]
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
                | Role::Info
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
        let mut frequent =
            self.kinds.iter().map(|kind| kind.plain).filter(|&plain| counts.of(plain) > RARE_LINES);
        let first = frequent.next();
        frequent.all(|plain| Some(plain) == first)
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
    fields: Fields,
    /// The texts of the first lines of the stretch, until it is long enough to be folded; for each line its template, its number and where
    /// its text ends.
    early_text: Vec<u8>,
    early: Vec<(u64, u64, usize)>,
}

impl Repeats {
    pub(super) fn new() -> Repeats {
        Repeats {
            recent: [0; MAX_PERIOD],
            next: 0,
            period: 1,
            open: Stretch::default(),
            done: Vec::new(),
            fields: Fields::new(),
            early_text: Vec::new(),
            early: Vec::new(),
        }
    }

    /// Adds the next line. Returns its template, or another one if a number or word in it is unusual. `content` is that of a new line.
    #[inline(always)]
    pub(super) fn observe(
        &mut self,
        known: &mut KnownLine,
        line: &Line<'_>,
        content: Option<&[u8]>,
        counts: &TemplateCounts,
    ) -> u64 {
        let template = known.info.template;
        // True for most lines of most texts.
        if self.expects(template, line.extent.number) && known.has_usual_values(line, self.open.first_line) {
            self.push(template);
            return template;
        }
        self.observe_other(known, line, content, counts)
    }

    /// The same for a line that is not the expected one, or has a value that is new in its stretch.
    #[inline(never)]
    fn observe_other(
        &mut self,
        known: &mut KnownLine,
        line: &Line<'_>,
        content: Option<&[u8]>,
        counts: &TemplateCounts,
    ) -> u64 {
        let LineInfo { template: plain, role, .. } = known.info;
        // The template covers only the beginning of a long line.
        if line.text.len() > MATCHED_BYTES || line.extent.coverage == Coverage::Beginning {
            self.add(Kind { template: line.fingerprint, plain }, role, line);
            self.record_early(line.extent.number);
            return plain;
        }
        let number = line.extent.number;
        let is_late = number >= self.open.first_line + MIN_FOLDED_LINES && self.recent.contains(&plain);
        let stretch = if is_late { self.open.first_line } else { 0 };
        let is_known = known.has_usual_values(line, stretch);
        let template = match is_known {
            true => plain,
            false => self.fields.read(known, line, content, counts.of(plain), stretch),
        };
        self.add(Kind { template, plain }, role, line);
        let stretch = self.open.first_line;
        match number - stretch {
            // Most lines with a new template are not the start of a stretch.
            0 if !self.open.continues => {}
            0..MIN_FOLDED_LINES => {
                self.early_text.extend_from_slice(line.text);
                self.early.push((plain, number, self.early_text.len()));
                self.record_early(number);
            }
            _ if is_known => {}
            _ => self.fields.record(plain, line.text, Place { line: number, stretch }),
        }
        template
    }

    /// Records the first lines of the stretch once it is long enough to be folded, with this line.
    fn record_early(&mut self, number: u64) {
        let (mut start, stretch) = (0, self.open.first_line);
        if number + 1 != stretch + MIN_FOLDED_LINES {
            return;
        }
        for &(plain, line, end) in &self.early {
            let place = Place { line, stretch };
            self.fields.record(plain, &self.early_text[start..end], place);
            start = end;
        }
    }

    fn add(&mut self, kind: Kind, role: Option<Role>, line: &Line<'_>) {
        if !self.expects(kind.template, line.extent.number) {
            self.compare(kind, role, line);
        }
        self.push(kind.template);
    }

    /// The template of a new line, and whether it ignores words.
    pub(super) fn template(&mut self, content: &[u8]) -> (u64, bool) {
        self.fields.template(content)
    }

    /// Whether the line with this number continues the current stretch with the expected template.
    #[inline]
    fn expects(&self, template: u64, number: u64) -> bool {
        let expected = self.recent[self.next.wrapping_sub(self.period) % MAX_PERIOD];
        expected == template && !self.is_early(number)
    }

    /// Records the template of the next line.
    #[inline]
    fn push(&mut self, template: u64) {
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
        let continues = self.open.kinds.iter().any(|before| before.plain == kind.plain);
        self.begin(line.extent.number, line.extent.start);
        self.open.continues = continues;
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
        self.early_text.clear();
        self.early.clear();
        if number >= self.open.first_line + MIN_STRETCH_LINES {
            self.end(number, start);
        }
        self.fields.begin_stretch();
        self.open.kinds.clear();
        self.open.content = StretchContent::Data;
        (self.open.first_line, self.open.start) = (number, start);
    }

    #[inline(never)]
    fn end(&mut self, number: u64, start: u64) {
        let (varies, range) = self.fields.end_stretch();
        self.done.push(Stretch { last_line: number - 1, end: start, varies, range, ..self.open.clone() });
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

    /// The value of a line in the middle of a long stretch. Lines that differ in data are shown if room is left.
    pub(super) fn folded_value(&self, number: u64) -> Option<i32> {
        self.folded(number).map(|stretch| if stretch.varies { FOLDED } else { ONLY_IN_SMALL_GAPS })
    }

    /// The stretch that a line is in the middle of.
    fn folded(&self, number: u64) -> Option<&Stretch> {
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
        })
    }

    /// The range of the number that varies in the given lines, if all of them are in stretches with that number.
    pub(super) fn describe(&self, lines: &RangeInclusive<u64>, counts: &TemplateCounts) -> Option<String> {
        let from = self.done.partition_point(|stretch| stretch.last_line < *lines.start());
        let to = self.done.partition_point(|stretch| stretch.first_line <= *lines.end());
        let stretches = self.done.get(from..to)?;
        let is_recorded = |stretch: &Stretch| stretch.first_line < *lines.start() || stretch.continues;
        let is_covered = stretches.last()?.last_line >= *lines.end()
            && stretches.windows(2).all(|pair| pair[0].end == pair[1].start)
            && stretches.iter().all(|stretch| is_recorded(stretch) && stretch.has_one_message(counts));
        let ranges: Option<Vec<_>> = stretches.iter().map(|stretch| stretch.range.as_deref()).collect();
        NumberRange::describe(&ranges.filter(|_| is_covered)?, lines)
    }

    /// The longest descriptions of gaps in folded stretches.
    pub(super) fn widest_descriptions(&self) -> impl Iterator<Item = String> {
        let folded =
            self.done.iter().filter(|stretch| self.folds((stretch.first_line + stretch.last_line) / 2));
        folded.filter_map(|stretch| stretch.range.as_ref().map(|range| range.widest_description()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::{LinePosition, PieceKind, Segment};
    use crate::strategy::lines::{Extent, Lines};

    /// Checks which lines of a text are folded, and the byte ranges of its stretches.
    #[track_caller]
    fn check(text: &str, folded: &[(u64, u64)], stretches: &[(u64, u64)]) {
        let (mut repeats, counts) = (Repeats::new(), TemplateCounts::new());
        let (mut lines, mut templates) = (Lines::with_fingerprints(1000), HashSet::new());
        let mut count = 0;
        lines.observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            let template = fingerprint::template(line.text);
            templates.insert(template);
            let role = line.text.starts_with(b"fail").then_some(Role::Failed);
            let info = LineInfo { template, role, ..LineInfo::default() };
            repeats.observe(&mut KnownLine::new(line.fingerprint, info), &line, None, &counts);
            count += 1;
        });
        repeats.finish(count + 1, text.len() as u64);
        let expected: Vec<u64> = folded.iter().flat_map(|&(from, to)| from..to).collect();
        let found: Vec<u64> = (1..=count).filter(|&number| repeats.folds(number)).collect();
        assert_eq!(found, expected, "{text}");
        let found: Vec<(u64, u64)> = repeats
            .with_templates_shown(&templates, &counts)
            .into_iter()
            .map(|range| (range.start, range.end))
            .collect();
        assert_eq!(found, stretches, "{text}");
        assert!(stretches.is_empty() || repeats.with_templates_shown(&HashSet::new(), &counts).is_empty());
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
        let (mut repeats, counts) = (Repeats::new(), TemplateCounts::new());
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
            let info = LineInfo { template, ..LineInfo::default() };
            repeats.observe(&mut KnownLine::new(line.fingerprint, info), &line, None, &counts);
            assert!(repeats.done.len() <= MAX_STRETCHES + 1);
        }
    }

    /// Reads lines as a [`LineReader`](super::super::LineReader) does. Returns the numbers of unusual lines, and the last stretch.
    fn read(lines: &[String]) -> (Vec<u64>, Stretch) {
        let (mut repeats, mut counts) = (Repeats::new(), TemplateCounts::new());
        let mut unusual = Vec::new();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Lines::with_fingerprints(1000).observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            let (template, has_fields) = repeats.template(line.text);
            let info = LineInfo { template, has_fields, ..LineInfo::default() };
            let found = repeats.observe(&mut KnownLine::new(line.fingerprint, info), &line, None, &counts);
            counts.add(found);
            if found != template {
                unusual.push(line.extent.number);
            }
        });
        repeats.finish(lines.len() as u64 + 1, text.len() as u64);
        (unusual, repeats.done.pop().expect("the lines are a stretch"))
    }

    /// Numbers from 100 to 199 that go up and down.
    fn usual(at: u64) -> u64 {
        100 + at * 37 % 100
    }

    /// Checks which of 400 lines are unusual if some are replaced.
    #[track_caller]
    fn check_unusual(line: impl Fn(u64) -> String, others: &[(u64, &str)], expected: &[u64]) {
        let other =
            |at| others.iter().find(|(number, _)| *number == at + 1).map(|(_, line)| (*line).to_owned());
        let lines: Vec<String> = (0..400).map(|at| other(at).unwrap_or_else(|| line(at))).collect();
        assert_eq!(read(&lines).0, expected, "{others:?}");
    }

    #[test]
    fn number_far_from_all_others_or_below_zero_is_unusual() {
        let line = |at: u64| format!("reply {at} took {} ms", usual(at));
        check_unusual(line, &[], &[]);
        for other in ["reply 200 took 9911 ms", "reply 200 took -1 ms", "reply 200 took 498 ms"] {
            check_unusual(line, &[(201, other)], &[201]);
        }
        // It is not far, or nothing is usual yet.
        check_unusual(line, &[(201, "reply 200 took 450 ms")], &[]);
        check_unusual(line, &[(201, "reply 200 took 0 ms")], &[]);
        check_unusual(line, &[(12, "reply 11 took 9911 ms")], &[]);
        // Many different values are usual.
        let many = ["8001", "8002", "8003", "8004", "8005", "8006"]
            .map(|number| format!("reply 7 took {number} ms"));
        let many: Vec<(u64, &str)> = (100..).step_by(40).zip(many.iter().map(String::as_str)).collect();
        check_unusual(line, &many, &[100, 140, 180, 220]);
    }

    #[test]
    fn other_value_of_a_constant_is_unusual() {
        let line = |at: u64| format!("job {at} ended with exit code 0");
        let ended = |code: u64| format!("job 7 ended with exit code {code}");
        let (one, large) = (ended(1), ended(137));
        check_unusual(line, &[(101, &one), (150, &large), (151, &one)], &[101, 150, 151]);
        check_unusual(line, &[(5, &one)], &[]);
        let codes: Vec<String> = (1..7).map(ended).collect();
        let codes: Vec<(u64, &str)> = (100..).zip(codes.iter().map(String::as_str)).collect();
        check_unusual(line, &codes, &[100, 101, 102, 103]);
        check_unusual(|at| format!("{} accepts 10.0.0.1", usual(at)), &[(200, "7 accepts 66.6.6.6")], &[200]);
        check_unusual(|at| format!("job-{at} went v2"), &[(200, "job-200 went v3")], &[200]);
    }

    #[test]
    fn unusual_number_is_found_in_any_line() {
        let names = ["auth", "cart", "pay"];
        let alternating = |at: u64| format!("{} served in {} ms", names[at as usize % 3], usual(at));
        check_unusual(alternating, &[(200, "auth served in 9911 ms")], &[200]);
        check_unusual(
            |at| format!("bench_{}: {}.5 us", at % 40, usual(at)),
            &[(200, "bench_7: 9911.5 us")],
            &[200],
        );
        check_unusual(|at| format!("({at},'a',{}),", usual(at)), &[(200, "(199,'a',-5),")], &[200]);
        check_unusual(|at| format!("took {}ms", usual(at)), &[(200, "took 105s")], &[200]);
        // Counters rise, fall or begin again.
        check_unusual(|at| format!("{} left", 9000 - at), &[(200, "9000000 left")], &[200]);
        check_unusual(|at| format!("at {at}"), &[(200, "at -1")], &[200]);
        check_unusual(|at| format!("step {} ok", at % 10), &[(200, "step 5555 ok")], &[200]);
    }

    #[test]
    fn times_and_dates_are_not_unusual() {
        for (usual, other) in [("12:46:31", "13:00:02"), ("2026-11-15", "2026-11-16"), ("1/a.c", "2/b.c")] {
            check_unusual(|_| format!("{usual} went well"), &[(200, &format!("{other} went well"))], &[]);
        }
    }

    #[track_caller]
    fn check_described(line: impl Fn(u64) -> String, expected: &str) {
        let lines: Vec<String> = (0..400).map(line).collect();
        let described = read(&lines).1.range.and_then(|range| NumberRange::describe(&[&range], &(4..=400)));
        assert_eq!(described.unwrap_or_default(), expected, "{}", lines[0]);
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
            |at| format!("loss {}.{}0718246459", usual(at) / 50, at % 7),
            "loss 2.00718246459…3.60718246459",
        );
        check_described(|at| format!("change {}", usual(at) as i64 - 150), "change -50…49");
        // A counter, a constant, a time, a number without a name.
        check_described(|at| format!("step {at} of 400"), "");
        check_described(|at| format!("12:{} ok", usual(at)), "");
        check_described(|at| format!("{} ok", usual(at)), "");
        // The later lines show that it is a counter.
        check_described(|at| format!("at {}", if at < 12 { usual(at) } else { at * 1000 }), "");
    }

    #[test]
    fn range_is_that_of_the_described_lines() {
        let lines: Vec<String> = (0..400).map(|at| format!("score {}", usual(at))).collect();
        let stretch = read(&lines).1;
        let described = |first, last| {
            stretch.range.as_ref().and_then(|range| NumberRange::describe(&[range], &(first..=last)))
        };
        for (first, last) in [(2, 400), (4, 397), (4, 13), (4, 9), (12, 60), (13, 40), (13, 399)] {
            let values = (first..=last).map(|line| usual(line - 1));
            let expected = format!("score {}…{}", values.clone().min().unwrap(), values.max().unwrap());
            assert_eq!(described(first, last), Some(expected), "{first} {last}");
        }
        // The extremes are before these lines.
        assert_eq!(described(300, 399), None);
    }

    #[test]
    fn lines_are_data_unless_they_differ_only_in_counters_and_times() {
        let check = |line: &dyn Fn(u64) -> String, expected: bool| {
            let lines: Vec<String> = (0..40).map(line).collect();
            assert_eq!(read(&lines).1.varies, expected, "{}", lines[1]);
        };
        check(&|_| "same words".to_owned(), false);
        check(&|at| format!("step {at} of 40"), false);
        check(&|at| format!("{} left", 900 - at / 2), false);
        check(&|at| format!("12:00:{}.{at} tick", 10 + at), false);
        check(&|at| format!("[ 1.{}] tick", 10 + at), false);
        check(&|at| format!("row{at} is unused"), false);
        check(&|at| format!("user {at} score {}", usual(at)), true);
        check(&|at| format!("id {:x}e7", usual(at) * 7919), true);
        check(&|at| format!("epoch {at} loss 0.{}", 900 - at), true);
        check(&|at| format!("read src/{}.c", at * 7), true);
    }
}
