//! Intervals for figures over samples that are not independent: those of one session are drawn together.

use crate::score::Score;

/// How many times the sessions are drawn. The ends of the interval then vary by less than the rounding of the tables.
const RESAMPLES: usize = 1000;
/// The share of the draws beyond each end of a 95% interval is one in this many.
const BEYOND_EACH_END: usize = 40;

/// The 95% bootstrap interval of a figure over sessions. The same sessions give the same interval.
pub(crate) fn interval(sessions: &[&Score], figure: impl Fn(&Score) -> f64) -> (f64, f64) {
    let mut dice = Dice(1);
    let mut draws: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut sum = Score::default();
            for _ in sessions {
                sum.merge(sessions[dice.below(sessions.len())]);
            }
            figure(&sum)
        })
        .collect();
    draws.sort_unstable_by(f64::total_cmp);
    (draws[RESAMPLES / BEYOND_EACH_END], draws[RESAMPLES - 1 - RESAMPLES / BEYOND_EACH_END])
}

/// Pseudo-random numbers (SplitMix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// The next number below `end`. Its bias is negligible: `end` is far below 2^64.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Counts;

    #[test]
    fn interval_contains_the_mean_and_is_wider_for_fewer_sessions() {
        let session = |shown| {
            let mut score = Score::default();
            score.add(&Counts { facts: 1, shown, gaps: 1, fill: 1.0 });
            score
        };
        let sessions: Vec<Score> = (0..100).map(|number| session(number % 2)).collect();
        let whole = |count| interval(&sessions.iter().take(count).collect::<Vec<_>>(), Score::whole);
        let (few, many) = (whole(10), whole(100));
        assert!(many.0 < 50.0 && 50.0 < many.1 && few.0 < many.0 && many.1 < few.1, "{few:?} {many:?}");
        assert_eq!(whole(1), (0.0, 0.0));
        assert_eq!(interval(&[], Score::whole), (0.0, 0.0));
    }
}
