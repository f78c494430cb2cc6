//! Finds which facts of a log a preview shows, and sums them up.

use crate::labels::{Alternative, Fact, Log};
use std::collections::HashSet;

/// The facts of one log that a preview does not show.
pub(crate) struct MissedFacts<'a> {
    pub(crate) facts: Vec<&'a Fact>,
}

/// Sums over the logs of a corpus.
#[derive(Clone, Default)]
pub(crate) struct Score {
    logs: usize,
    whole: usize,
    any: usize,
    /// The sum of the shares of facts shown per log, so that a log with forty facts counts no more than one with one.
    share: f64,
    /// The number of gaps of each preview.
    gaps: Vec<usize>,
}

impl Score {
    /// Adds one log.
    pub(crate) fn add(&mut self, log: &Log, missed: &MissedFacts<'_>, gaps: usize) {
        let facts = log.labels.facts.len();
        let shown = facts - missed.facts.len();
        self.logs += 1;
        self.whole += usize::from(missed.facts.is_empty());
        self.any += usize::from(shown > 0);
        self.share += shown as f64 / facts.max(1) as f64;
        self.gaps.push(gaps);
    }

    /// The share of logs of which every fact is shown, in percent.
    pub(crate) fn whole(&self) -> f64 {
        100.0 * self.whole as f64 / self.logs.max(1) as f64
    }

    /// The Wilson interval of `whole` that contains the true share with a probability of 95%, in percent.
    pub(crate) fn interval(&self) -> (f64, f64) {
        const DEVIATIONS: f64 = 1.96;
        let logs = self.logs.max(1) as f64;
        let share = self.whole as f64 / logs;
        let square = DEVIATIONS * DEVIATIONS;
        let middle = share + square / (2.0 * logs);
        let half = DEVIATIONS * (share * (1.0 - share) / logs + square / (4.0 * logs * logs)).sqrt();
        let scale = 100.0 / (1.0 + square / logs);
        ((middle - half) * scale, (middle + half) * scale)
    }

    /// The number of gaps that this share of the previews, in percent, does not exceed.
    pub(crate) fn gaps(&self, percent: usize) -> usize {
        let mut sorted = self.gaps.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or_default()
    }

    /// Logs measured.
    pub(crate) fn logs(&self) -> usize {
        self.logs
    }
}

impl std::fmt::Display for Score {
    /// `whole/facts/any`, in percent.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |sum: f64| (100.0 * sum / self.logs.max(1) as f64).round();
        let text =
            format!("{}/{}/{}", percent(self.whole as f64), percent(self.share), percent(self.any as f64));
        formatter.pad(&text)
    }
}

/// Compares the labelled lines with the preview, by text. A line counts only if all of it is in the preview.
pub(crate) fn compare<'a>(log: &'a Log, preview: &[u8]) -> MissedFacts<'a> {
    let shown: HashSet<Vec<u8>> = preview.split(|&byte| byte == b'\n').map(plain).collect();
    let lines: Vec<&[u8]> = log.text.split(|&byte| byte == b'\n').collect();
    let is_shown = |number: &usize| {
        number
            .checked_sub(1)
            .and_then(|index| lines.get(index))
            .is_some_and(|line| shown.contains(&plain(line)))
    };
    let survives = |alternative: &Alternative| alternative.lines.iter().all(is_shown);
    let facts = log.labels.facts.iter().filter(|fact| !fact.alternatives.iter().any(survives)).collect();
    MissedFacts { facts }
}

/// The text of a line without control sequences, carriage returns and white space at its ends.
pub(crate) fn plain(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1B => rest = skip_control_sequence(after),
            0..0x20 if byte != b'\t' => {}
            _ => text.push(byte),
        }
    }
    text.trim_ascii().to_vec()
}

fn skip_control_sequence(text: &[u8]) -> &[u8] {
    match text.split_first() {
        Some((b'[', rest)) => {
            let end =
                rest.iter().position(|byte| (0x40..=0x7E).contains(byte)).map_or(rest.len(), |at| at + 1);
            &rest[end..]
        }
        Some((b']', rest)) => {
            let end = rest.iter().position(|&byte| byte == 0x07).map_or(0, |at| at + 1);
            &rest[end..]
        }
        Some((_, rest)) => rest,
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Labels;

    #[track_caller]
    fn check(text: &str, preview: &str, alternatives: &[&[usize]], survives: bool) {
        let alternatives = alternatives.iter().map(|lines| Alternative { lines: lines.to_vec() }).collect();
        let labels = Labels {
            corpus: "test".to_owned(),
            file: "test".to_owned(),
            facts: vec![Fact { name: "fact".to_owned(), alternatives }],
        };
        let log = Log { labels, text: text.as_bytes().to_vec() };
        assert_eq!(compare(&log, preview.as_bytes()).facts.is_empty(), survives, "{text:?} {preview:?}");
    }

    #[test]
    fn interval_and_gaps_are_those_of_the_logs() {
        let gaps = (1..=10).collect();
        let score = Score { logs: 10, whole: 8, any: 9, share: 8.5, gaps };
        let (low, high) = score.interval();
        assert_eq!((low.round(), high.round()), (49.0, 94.0));
        assert_eq!((score.gaps(50), score.gaps(90)), (5, 9));
        assert_eq!(Score::default().gaps(50), 0);
    }

    #[test]
    fn fact_is_shown_if_all_lines_of_an_alternative_are() {
        let text = "one\ntwo words\n\x1B[31mthree\x1B[0m\r\n";
        check(text, "one\n", &[&[1]], true);
        check(text, "one\n", &[&[1, 2]], false);
        check(text, "one\n", &[&[2], &[1]], true);
        check(text, "two\n", &[&[2]], false);
        check(text, "three\n", &[&[3]], true);
        check(text, "one\n", &[&[9]], false);
    }
}
