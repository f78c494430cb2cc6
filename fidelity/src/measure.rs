//! Measures what each strategy shows of each sample.

use crate::marked_lines::plain;
use crate::sample::Sample;
use crate::score::Counts;
use crate::strategies::{SIMPLE, gaps, truncator};
use anyhow::Result;
use offcut::Context;
use offcut::strategy::StrategyName;

/// What is printed besides the tables.
#[derive(Clone, Copy)]
pub(crate) struct Details {
    pub(crate) missed: bool,
    pub(crate) show: bool,
}

/// A budget: bytes count, and lines only where the figures were always measured with a limit of them.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

/// One sample at one budget.
pub(crate) struct Measured<'a> {
    pub(crate) sample: &'a dyn Sample,
    /// What each strategy shows.
    pub(crate) strategies: Vec<Counts>,
    /// What the agent's own host shows, if that is known.
    pub(crate) host: Option<Counts>,
}

impl Measured<'_> {
    /// The simple strategies that show more facts than `auto`, with their numbers of facts.
    pub(crate) fn better_than_auto(&self, names: &[StrategyName]) -> Vec<(StrategyName, usize)> {
        let shown = || names.iter().zip(&self.strategies).map(|(&name, counts)| (name, counts.shown));
        let Some((_, auto)) = shown().find(|(name, _)| *name == StrategyName::Auto) else {
            return Vec::new();
        };
        shown().filter(|(name, shown)| SIMPLE.contains(name) && *shown > auto).collect()
    }
}

/// Measures the samples that are larger than the budget, and prints what `details` asks for.
pub(crate) fn measure<'a>(
    samples: &[&'a dyn Sample],
    budget: Budget,
    names: &[StrategyName],
    details: Details,
) -> Result<Vec<Measured<'a>>> {
    let truncators =
        names.iter().map(|&name| truncator(name, budget.bytes, budget.lines)).collect::<Result<Vec<_>>>()?;
    let mut all = Vec::new();
    for &sample in samples.iter().filter(|sample| sample.text().len() as u64 > budget.bytes) {
        let count = |preview: &[u8], gaps, missed: usize| Counts {
            facts: sample.facts(),
            shown: sample.facts() - missed,
            gaps,
            fill: preview.len() as f64 / budget.bytes as f64,
        };
        let mut strategies = Vec::new();
        for (truncator, name) in truncators.iter().zip(names) {
            let shown = truncator.apply(sample.text(), &Context::default());
            let missed = sample.missed(shown.content());
            if details.missed {
                print_missed(sample, &missed, budget, *name);
            }
            if details.show {
                println!("{} at {} by {}", sample.name(), budget.bytes, name.as_str());
                println!("{}", String::from_utf8_lossy(shown.content()));
            }
            strategies.push(count(shown.content(), gaps(&shown), missed.len()));
        }
        // How its own host divides an output is not known from what it shows.
        let host = sample.shown_by_host().map(|shown| count(&shown, 0, sample.missed(&shown).len()));
        let measured = Measured { sample, strategies, host };
        if details.missed {
            for (name, shown) in measured.better_than_auto(names) {
                let (name, all) = (name.as_str(), sample.facts());
                println!(
                    "{} at {}: {name} shows more than auto, {shown} of {all}",
                    sample.name(),
                    budget.bytes
                );
            }
        }
        all.push(measured);
    }
    Ok(all)
}

fn print_missed(sample: &dyn Sample, missed: &[usize], budget: Budget, strategy: StrategyName) {
    if missed.is_empty() {
        return;
    }
    let (all, lost, strategy) = (sample.facts(), missed.len(), strategy.as_str());
    println!("{} at {} by {strategy}: {lost} of {all} facts missed", sample.name(), budget.bytes);
    let lines: Vec<&[u8]> = sample.text().split(|&byte| byte == b'\n').collect();
    for &fact in missed {
        let (name, numbers) = sample.fact(fact);
        println!("  {name}");
        for &number in numbers.iter().take(3) {
            let text = number.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or_default();
            let text = String::from_utf8_lossy(&plain(text)).chars().take(160).collect::<String>();
            println!("    {number}: {text}");
        }
    }
}
