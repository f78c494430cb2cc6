//! Finds the stretches of similar lines whose numbers say something.
//!
//! Lines that differ only in counters and times, which grow from line to line, are a repetition. Lines whose numbers go up and
//! down (`user 7 score 8812`) are data in words: they are folded only where they do not fit.

use super::repeats::Repeats;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// The most kinds of lines in one stretch that are compared. A stretch with more kinds counts as varying.
const MAX_KINDS: usize = 8;

/// The numbers of a line. The parts of a time or a version (`12:00:01.25`) are one number.
type Numbers = Vec<Number>;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    parts: Vec<u64>,
    kind: NumberKind,
}

/// What a number may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum NumberKind {
    /// A counter or a time, which says nothing if it only grows.
    #[default]
    Counter,
    /// A measurement such as `0.25`, which says something whenever it changes. At the start of a line it may be a time.
    Measurement,
}

/// What is known of the lines of one stretch.
#[derive(Default)]
struct Progress {
    kinds: HashMap<Vec<u8>, Kind>,
    varies: bool,
}

/// Lines with the same text around their numbers.
struct Kind {
    last: Numbers,
    /// In which direction each number changes, once it has changed.
    directions: Vec<Option<Ordering>>,
}

/// The stretches, by the place that [`Repeats::folded`] returns, whose numbers go up and down.
pub(super) fn varying<'t>(lines: impl Iterator<Item = (u64, &'t [u8])>, repeats: &Repeats) -> HashSet<usize> {
    let mut stretches: HashMap<usize, Progress> = HashMap::new();
    for (number, text) in lines {
        if let Some(stretch) = repeats.folded(number) {
            stretches.entry(stretch).or_default().observe(text);
        }
    }
    stretches.into_iter().filter(|(_, progress)| progress.varies).map(|(stretch, _)| stretch).collect()
}

impl Progress {
    fn observe(&mut self, line: &[u8]) {
        if self.varies {
            return;
        }
        let (text, numbers) = separate(line);
        if let Some(kind) = self.kinds.get_mut(&text) {
            self.varies = !kind.continues(numbers);
        } else {
            let directions = vec![None; numbers.len()];
            self.kinds.insert(text, Kind { last: numbers, directions });
            self.varies = self.kinds.len() > MAX_KINDS;
        }
    }
}

impl Kind {
    /// Adds the next line. Whether each of its numbers changes in the direction in which it changed before.
    fn continues(&mut self, numbers: Numbers) -> bool {
        let steps = numbers.iter().zip(&self.last).zip(&mut self.directions);
        let continues = steps.into_iter().all(|((number, last), direction)| match number.cmp(last) {
            Ordering::Equal => true,
            _ if number.kind == NumberKind::Measurement => false,
            step => *direction.get_or_insert(step) == step,
        });
        self.last = numbers;
        continues
    }
}

/// Separates the numbers of a line from the text around them.
fn separate(line: &[u8]) -> (Vec<u8>, Numbers) {
    let (mut text, mut numbers) = (Vec::with_capacity(line.len()), Numbers::new());
    let is_digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    for (at, &byte) in line.iter().enumerate() {
        if !is_digit(at) {
            text.push(byte);
            continue;
        }
        let joins = at > 1 && is_digit(at - 2) && b".,:-/T_".contains(&line[at - 1]);
        let starts = at == 0 || !is_digit(at - 1);
        if starts && !joins {
            numbers.push(Number::default());
        }
        let is_first = numbers.len() == 1;
        let Some(number) = numbers.last_mut() else { continue };
        if starts {
            number.parts.push(0);
            let is_decimal = joins && line[at - 1] == b'.' && number.parts.len() == 2;
            number.kind = if is_decimal && !is_first { NumberKind::Measurement } else { NumberKind::Counter };
        }
        if let Some(part) = number.parts.last_mut() {
            *part = part.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        }
    }
    (text, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], varies: bool) {
        let mut progress = Progress::default();
        lines.iter().for_each(|line| progress.observe(line.as_bytes()));
        assert_eq!(progress.varies, varies, "{lines:?}");
    }

    #[test]
    fn lines_vary_unless_their_numbers_are_counters_or_times() {
        check(&["same", "same", "same"], false);
        check(&["step 1 of 9", "step 2 of 9", "step 10 of 9"], false);
        check(&["9 left", "8 left", "8 left", "1 left"], false);
        check(&["12:00:59.9 tick", "12:01:00.1 tick", "12:01:00.2 tick"], false);
        check(&["2026-01-31T23:59:59 a 1", "b 7", "2026-02-01T00:00:00 a 2", "b 8"], false);
        check(&["user 1 score 5", "user 2 score 9", "user 3 score 2"], true);
        check(&["id a1", "id b2", "id c3", "id d4", "id e5", "id f6", "id g7", "id h8", "id i9"], true);
        check(&["epoch 1 loss 0.91", "epoch 2 loss 0.80", "epoch 3 loss 0.75"], true);
        check(&["[ 1.25] tick", "[ 1.50] tick", "[ 2.00] tick"], false);
        let parts: Vec<Vec<u64>> =
            separate(b"a 12:05.1 b7").1.into_iter().map(|number| number.parts).collect();
        assert_eq!(parts, [vec![12, 5, 1], vec![7]]);
    }
}
