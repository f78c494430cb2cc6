//! The forms of values: how large a number is, and whether it is negative; whether a string is empty.
//!
//! Numbers vary, so that no single one is rare; one with another form may be: `-5` among prices, 90000 among latencies, an empty
//! string among names, `NaN` among numbers in strings.

use crate::strategy::outline::{CellText, Number};

/// Fewer values are not compared.
const MIN_VALUES: u64 = 16;

/// A form is rare if at most one value in [`VALUES_PER_EXCEPTION`] has it, and at most [`FEW`] values or one in
/// [`VALUES_PER_RARE_FORM`]: what comes again and again is usual.
const VALUES_PER_EXCEPTION: u64 = 16;
const FEW: u64 = 4;
const VALUES_PER_RARE_FORM: u64 = 128;

/// A number is unusual if it has this many digits more than any other.
const UNUSUAL_DIGITS: usize = 2;

/// Longer strings are text.
const MAX_NUMBER_BYTES: usize = 24;

const EMPTY: usize = 0;
const TEXT: usize = 1;
const NEGATIVE: usize = 2;
const ZERO: usize = 3;
/// From here on the number of digits before the decimal point, of which at most [`MAX_DIGITS`] are counted.
const DIGITS: usize = ZERO;
const MAX_DIGITS: usize = 20;
const FORMS: usize = DIGITS + MAX_DIGITS + 1;

/// How many values have each form.
#[derive(Default)]
pub(super) struct FormCounts([u32; FORMS]);

/// The form of a string or a word of JSON; nothing for `true`, `false`, `null` and numbers with an exponent.
#[inline]
pub(super) fn form(value: &[u8]) -> Option<usize> {
    match value {
        [b'"', b'"'] => Some(EMPTY),
        [b'"', body @ .., b'"'] => match body[0] {
            b'-' | b'0'..=b'9' if body.len() <= MAX_NUMBER_BYTES => {
                Some(form_of_number(body).unwrap_or(TEXT))
            }
            _ => Some(TEXT),
        },
        number => form_of_number(number),
    }
}

/// The form of a number without an exponent.
#[inline]
fn form_of_number(number: &[u8]) -> Option<usize> {
    let (digits, is_negative) = match CellText::of(number).short_number() {
        Some(digits) => (digits, false),
        None => Number::of(number).map(|number| (number.digits, number.is_negative))?,
    };
    let is_zero = || !number.iter().any(|byte| matches!(byte, b'1'..=b'9'));
    Some(match is_negative {
        true => NEGATIVE,
        false if is_zero() => ZERO,
        false => DIGITS + digits.min(MAX_DIGITS),
    })
}

/// Whether so few of all values are rare.
fn is_rare(count: u64, all: u64) -> bool {
    count * VALUES_PER_EXCEPTION <= all && (count <= FEW || count * VALUES_PER_RARE_FORM <= all)
}

impl FormCounts {
    #[inline]
    pub(super) fn add(&mut self, form: Option<usize>) {
        if let Some(form) = form {
            self.0[form] = self.0[form].saturating_add(1);
        }
    }

    /// Adds the counts of other values.
    pub(super) fn merge(&mut self, other: &FormCounts) {
        for (count, other) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(other);
        }
    }

    /// The rare forms, and how many values have each.
    pub(super) fn rare(&self) -> Vec<(usize, u64)> {
        let count = |form: usize| u64::from(self.0[form]);
        let all: u64 = (0..FORMS).map(count).sum();
        let numbers: u64 = (NEGATIVE..FORMS).map(count).sum();
        if all < MIN_VALUES {
            return Vec::new();
        }
        let are_numbers = (all - numbers) * VALUES_PER_EXCEPTION <= all;
        let are_larger = (DIGITS + UNUSUAL_DIGITS..FORMS).any(|form| count(form) > 0);
        let mut rare: Vec<usize> = vec![EMPTY];
        if are_numbers {
            rare.extend([TEXT, NEGATIVE]);
            // A zero is unusual if no other number is about as small.
            rare.extend((count(DIGITS + 1) == 0 && count(NEGATIVE) == 0 && are_larger).then_some(ZERO));
            rare.extend(self.largest());
        }
        let rare = rare.into_iter().map(|form| (form, count(form)));
        rare.filter(|&(_, number)| number > 0 && is_rare(number, all)).collect()
    }

    /// The forms of the numbers that have far more digits than all others.
    fn largest(&self) -> Vec<usize> {
        let used: Vec<usize> = (ZERO..FORMS).rev().filter(|&form| self.0[form] > 0).collect();
        let all: u64 = (NEGATIVE..FORMS).map(|form| u64::from(self.0[form])).sum();
        let mut larger = 0;
        for (at, pair) in used.windows(2).enumerate() {
            larger += u64::from(self.0[pair[0]]);
            // A zero has one digit.
            if pair[0] >= pair[1].max(DIGITS + 1) + UNUSUAL_DIGITS && is_rare(larger, all) {
                return used[..=at].to_vec();
            }
        }
        Vec::new()
    }
}
