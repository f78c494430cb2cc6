//! Stretches of lines that say the same again and again, so that they can be folded.
//!
//! A stretch goes on as long as every line has the template of one of the few before it: one message over and over, or
//! several that take turns. What is left out of it is `repeated` only if each of its kinds is shown somewhere.

use super::counts::Known;
use super::fingerprint;
use super::lines::{Held, Line};
use super::rules::{MATCHED_BYTES, Role};
use std::collections::HashSet;
use std::ops::Range;

/// How far back a line is compared, and so how many kinds of lines a stretch has at the most.
const TURNS: usize = 8;

/// Shorter stretches are not worth a word.
const SHORTEST: u64 = 4;

/// From here on the middle of a stretch is left out.
const FOLDED: u64 = 12;

/// The same for a stretch of lines that tell of failures, of which a reader wants more.
const FOLDED_TROUBLE: u64 = 100;

/// So many lines are shown of each end of a stretch that is folded.
const ENDS: u64 = 3;

/// So many stretches are held; the shorter half goes when there are more.
const MOST: usize = 512;

/// Lines in a row, each like one of the few before it.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    first_line: u64,
    last_line: u64,
    start: u64,
    end: u64,
    kinds: Vec<u64>,
    matter: Matter,
}

/// What a stretch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Matter {
    /// Only numbers, paths and marks: data, of which a reader wants as much as there is room for.
    Data,
    /// A message: a few of it are enough.
    Words,
    /// A message that tells of a failure.
    Trouble,
}

impl Matter {
    fn of(role: Option<Role>, text: &[u8]) -> Matter {
        match role {
            None
            | Some(
                Role::PassedSection
                | Role::Passed
                | Role::TestStart
                | Role::Harmless
                | Role::Housekeeping
                | Role::Warning
                | Role::Suspect
                | Role::Heading
                | Role::SuiteTitle,
            ) => {
                if fingerprint::has_words(text) {
                    Matter::Words
                } else {
                    Matter::Data
                }
            }
            Some(_) => Matter::Trouble,
        }
    }
}

impl Stretch {
    fn lines(&self) -> u64 {
        self.last_line + 1 - self.first_line
    }
}

/// What is in progress, and the stretches so far.
pub(super) struct Repeats {
    recent: [u64; TURNS],
    next: usize,
    /// How far back the line stood that the last one was like.
    turn: usize,
    open: Stretch,
    done: Vec<Stretch>,
}

impl Repeats {
    pub(super) fn new() -> Repeats {
        Repeats {
            recent: [0; TURNS],
            next: 0,
            turn: 1,
            open: Stretch {
                first_line: 1,
                last_line: 0,
                start: 0,
                end: 0,
                kinds: Vec::new(),
                matter: Matter::Data,
            },
            done: Vec::new(),
        }
    }

    /// Sees the next line and its template.
    #[inline]
    pub(super) fn see(&mut self, known: &Known, line: &Line<'_>) {
        // How a long line goes on is not in its template.
        let template = if is_long(line) { line.fingerprint } else { known.template };
        if !self.expects(template, line) {
            self.compare(template, known.role, line);
        }
        self.note(template);
    }

    /// Whether a line goes on with a stretch in a way that says nothing new of it.
    #[inline]
    pub(super) fn expects(&self, template: u64, line: &Line<'_>) -> bool {
        let expected = self.recent[self.next.wrapping_sub(self.turn) % TURNS];
        expected == template && !self.is_early(line.number)
    }

    /// Notes the template of the next line.
    #[inline]
    pub(super) fn note(&mut self, template: u64) {
        self.recent[self.next % TURNS] = template;
        self.next = self.next.wrapping_add(1);
    }

    /// Whether a line stands in the first turns of a stretch: only there can be a kind that is not known yet.
    #[inline]
    fn is_early(&self, number: u64) -> bool {
        number <= self.open.first_line + 2 * TURNS as u64
    }

    #[inline(never)]
    fn compare(&mut self, template: u64, role: Option<Role>, line: &Line<'_>) {
        if self.recent.contains(&template) {
            return self.go_on(template, role, line);
        }
        // What it is made of is not looked at: most lines that are like no other stay alone.
        self.begin(line.number, line.start);
        self.open.kinds.push(template);
        self.turn = 1;
    }

    #[inline(never)]
    fn go_on(&mut self, template: u64, role: Option<Role>, line: &Line<'_>) {
        let turn = (1..=TURNS).find(|turn| self.recent[self.next.wrapping_sub(*turn) % TURNS] == template);
        self.turn = turn.unwrap_or(1);
        if self.is_early(line.number) {
            if !self.open.kinds.contains(&template) {
                self.open.kinds.push(template);
            }
            self.open.matter = self.open.matter.max(Matter::of(role, line.text));
        }
    }

    /// Begins a stretch with a line, before which the open one ends.
    fn begin(&mut self, number: u64, start: u64) {
        if number >= self.open.first_line + SHORTEST {
            self.end(number, start);
        }
        self.open.kinds.clear();
        self.open.matter = Matter::Data;
        (self.open.first_line, self.open.start) = (number, start);
    }

    #[inline(never)]
    fn end(&mut self, number: u64, start: u64) {
        self.done.push(Stretch { last_line: number - 1, end: start, ..self.open.clone() });
        if self.done.len() > MOST {
            let mut lengths: Vec<u64> = self.done.iter().map(Stretch::lines).collect();
            let (_, &mut middle, _) = lengths.select_nth_unstable(MOST / 2);
            self.done.retain(|stretch| stretch.lines() > middle);
        }
    }

    /// Ends the last stretch, before a line that does not come.
    pub(super) fn finish(&mut self, number: u64, start: u64) {
        self.begin(number, start);
    }

    /// Whether a line stands in the middle of a long stretch, of which both ends say enough.
    pub(super) fn folds(&self, number: u64) -> bool {
        let at = self.done.partition_point(|stretch| stretch.last_line < number);
        self.done.get(at).is_some_and(|stretch| {
            let ends = ENDS.max(stretch.kinds.len() as u64);
            let least = match stretch.matter {
                Matter::Data => u64::MAX,
                Matter::Words => FOLDED,
                Matter::Trouble => FOLDED_TROUBLE,
            };
            stretch.lines() >= least.max(3 * ends)
                && number >= stretch.first_line + ends
                && number + ends <= stretch.last_line
        })
    }

    /// The bytes of the stretches of which every kind is shown. Of data it would say nothing that its lines are alike.
    pub(super) fn of_shown(&self, shown: &HashSet<u64>) -> Vec<Range<u64>> {
        self.done
            .iter()
            .filter(|stretch| stretch.matter != Matter::Data)
            .filter(|stretch| stretch.kinds.iter().all(|kind| shown.contains(kind)))
            .map(|stretch| stretch.start..stretch.end)
            .collect()
    }
}

fn is_long(line: &Line<'_>) -> bool {
    line.text.len() > MATCHED_BYTES || line.held == Held::Beginning
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cut::Segment;
    use crate::strategy::smart::lines::Lines;

    /// One door: which lines of a text are folded, and the bytes of its stretches.
    #[track_caller]
    fn check(text: &str, folded: &[(u64, u64)], stretches: &[(u64, u64)]) {
        let mut repeats = Repeats::new();
        let (mut lines, mut kinds) = (Lines::new(1000), HashSet::new());
        let mut count = 0;
        lines.observe(Segment::verbatim(text.as_bytes(), 0), &mut |line| {
            let template = fingerprint::template(line.text);
            kinds.insert(template);
            let role = line.text.starts_with(b"fail").then_some(Role::Failed);
            repeats.see(&Known { template, role, ..Known::default() }, &line);
            count += 1;
        });
        repeats.finish(count + 1, text.len() as u64);
        let expected: Vec<u64> = folded.iter().flat_map(|&(from, to)| from..to).collect();
        let found: Vec<u64> = (1..=count).filter(|&number| repeats.folds(number)).collect();
        assert_eq!(found, expected, "{text}");
        let found: Vec<(u64, u64)> =
            repeats.of_shown(&kinds).into_iter().map(|range| (range.start, range.end)).collect();
        assert_eq!(found, stretches, "{text}");
        assert!(stretches.is_empty() || repeats.of_shown(&HashSet::new()).is_empty());
    }

    #[test]
    fn stretches() {
        let all = |text: &str| (0, text.len() as u64);
        let steps: String = (0..20).map(|number| format!("step {number} done\n")).collect();
        check(&steps, &[(4, 18)], &[all(&steps)]);
        let turns: String = (0..20).map(|number| format!("open {number}\n\nclose {number}\n")).collect();
        // The first of each kind is new.
        check(&turns, &[(6, 58)], &[(8, turns.len() as u64)]);
        let numbers: String = (0..20).map(|number| format!("{number} ./a/b{number}\n")).collect();
        check(&numbers, &[], &[]);
        check("one\ntwo\nthree\nfour\nfive\n", &[], &[]);
        check("one\none\none\n", &[], &[]);
        // A line of another kind begins a stretch of its own, to which what follows belongs.
        let broken = format!("{steps}other\n{steps}");
        let middle = steps.len() as u64;
        check(&broken, &[(4, 18), (24, 39)], &[(0, middle), (middle, broken.len() as u64)]);
        let failures = |count: usize| (0..count).map(|number| format!("fail {number}\n")).collect::<String>();
        check(&failures(60), &[], &[all(&failures(60))]);
        check(&failures(120), &[(4, 118)], &[all(&failures(120))]);
        let long = format!("{}\n", "word ".repeat(90)).repeat(20);
        check(&long, &[(4, 18)], &[]);
    }

    #[test]
    fn no_more_are_held_than_a_few() {
        let mut repeats = Repeats::new();
        for number in 0..100_000_u64 {
            let line = Line {
                text: b"x",
                start: number,
                end: number + 1,
                number: number + 1,
                held: Held::Whole,
                form: crate::cut::PieceKind::Verbatim,
                fingerprint: number / 5,
                place: None,
            };
            repeats.see(&Known { template: number / 5 + 1, ..Known::default() }, &line);
            assert!(repeats.done.len() <= MOST + 1);
        }
    }
}
