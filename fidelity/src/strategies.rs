//! The strategies that are measured, and how each makes previews.

use anyhow::{Context as _, Result, anyhow};
use offcut::cut::GapReason;
use offcut::strategy::StrategyName;
use offcut::{Limits, Outcome, Profile, Rule, Truncator};

/// The strategies that look at positions only. `auto` should show no less than the best of them.
pub(crate) const SIMPLE: [StrategyName; 3] = [StrategyName::Head, StrategyName::Tail, StrategyName::HeadTail];

pub(crate) fn parse(name: &str) -> Result<StrategyName> {
    StrategyName::ALL
        .iter()
        .copied()
        .find(|known| known.as_str() == name)
        .ok_or_else(|| anyhow!("unknown strategy {name}"))
}

pub(crate) fn truncator(strategy: StrategyName, bytes: u64, lines: u64) -> Result<Truncator> {
    let limits = Limits { bytes: Some(bytes), lines: Some(lines), ..Limits::default() };
    let rule = Rule { limits, strategy: Some(strategy), ..Rule::default() };
    Truncator::new(Profile::native()).rule(rule).context("invalid budget")
}

/// The number of gaps that a reader of the preview meets. Hidden control sequences have no marker.
pub(crate) fn gaps(shown: &Outcome<'_>) -> usize {
    let gaps = shown.preview().map_or(&[][..], |preview| preview.gaps());
    gaps.iter().filter(|gap| gap.why != GapReason::Control).count()
}
