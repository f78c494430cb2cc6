//! Sums up what previews show.

/// What one preview shows of its output.
pub(crate) struct Counts {
    pub(crate) facts: usize,
    pub(crate) shown: usize,
    pub(crate) gaps: usize,
    /// The size of the preview as a share of the budget.
    pub(crate) fill: f64,
}

/// Sums over outputs.
#[derive(Clone, Default)]
pub(crate) struct Score {
    outputs: usize,
    whole: usize,
    any: usize,
    /// The sum of the shares of facts shown per output, so that one with forty facts counts no more than one with one.
    share: f64,
    fill: f64,
    /// The number of gaps of each preview.
    gaps: Vec<usize>,
}

impl Score {
    /// Adds one output.
    pub(crate) fn add(&mut self, counts: &Counts) {
        self.outputs += 1;
        self.whole += usize::from(counts.shown == counts.facts);
        self.any += usize::from(counts.shown > 0);
        self.share += counts.shown as f64 / counts.facts.max(1) as f64;
        self.fill += counts.fill;
        self.gaps.push(counts.gaps);
    }

    /// Adds the outputs of another score.
    pub(crate) fn merge(&mut self, other: &Score) {
        self.outputs += other.outputs;
        self.whole += other.whole;
        self.any += other.any;
        self.share += other.share;
        self.fill += other.fill;
        self.gaps.extend(&other.gaps);
    }

    /// The share of outputs of which every fact is shown, in percent.
    pub(crate) fn whole(&self) -> f64 {
        100.0 * self.mean(self.whole as f64)
    }

    /// The share of facts shown, averaged over outputs, in percent.
    pub(crate) fn share(&self) -> f64 {
        100.0 * self.mean(self.share)
    }

    /// The share of outputs of which at least one fact is shown, in percent.
    pub(crate) fn any(&self) -> f64 {
        100.0 * self.mean(self.any as f64)
    }

    /// The size of the previews as a share of the budget.
    pub(crate) fn fill(&self) -> f64 {
        self.mean(self.fill)
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.outputs.max(1) as f64
    }

    /// The Wilson interval of `whole` that contains the true share with a probability of 95%, in percent.
    pub(crate) fn wilson_interval(&self) -> (f64, f64) {
        const DEVIATIONS: f64 = 1.96;
        let outputs = self.outputs.max(1) as f64;
        let share = self.whole as f64 / outputs;
        let square = DEVIATIONS * DEVIATIONS;
        let middle = share + square / (2.0 * outputs);
        let half = DEVIATIONS * (share * (1.0 - share) / outputs + square / (4.0 * outputs * outputs)).sqrt();
        let scale = 100.0 / (1.0 + square / outputs);
        ((middle - half) * scale, (middle + half) * scale)
    }

    /// The number of gaps that this share of the previews, in percent, does not exceed.
    pub(crate) fn gaps(&self, percent: usize) -> usize {
        let mut sorted = self.gaps.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }

    /// Outputs measured.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }
}

impl std::fmt::Display for Score {
    /// `whole/share/any`, in percent.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&format!("{:.0}/{:.0}/{:.0}", self.whole(), self.share(), self.any()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_and_gaps_are_those_of_the_outputs() {
        let mut score = Score::default();
        for gaps in 1..=10 {
            score.add(&Counts { facts: 2, shown: if gaps <= 8 { 2 } else { gaps % 2 }, gaps, fill: 0.5 });
        }
        let (low, high) = score.wilson_interval();
        assert_eq!((low.round(), high.round()), (49.0, 94.0));
        assert_eq!((score.gaps(50), score.gaps(90)), (5, 9));
        assert_eq!((score.to_string().as_str(), score.fill()), ("80/85/90", 0.5));
        assert_eq!(Score::default().gaps(50), 0);
    }
}
