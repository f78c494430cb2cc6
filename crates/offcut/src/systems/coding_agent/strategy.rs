//! §3.1 and §5: strategies as the document defines them.

use super::{TruncationConfig, TruncationDirection, effective, profile};
use crate::context::Context;
use crate::limits::{Limits, PerUnit};
use crate::measure::{self, EstimatedTokens, LineConvention};
use crate::profile::{Rule, Settings};
use crate::strategy::{CutDecision, Opaque, OwnText, Selector, Strategy, StrategyName};
use crate::truncator::Truncator;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

/// What a strategy shows, and its counts of what it does not show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    /// What is shown.
    pub content: String,
    /// How many lines are not shown.
    pub removed_lines: Option<u64>,
    /// How many bytes are not shown.
    pub removed_bytes: Option<u64>,
}

/// Decides whether an output is truncated, and what is shown of it. The defaults are those of the document's
/// `DefaultTruncationStrategy`, so a strategy can fall back on them. They apply as well if a strategy panics, or shows
/// nothing.
pub trait TruncationStrategy: Send + Sync {
    /// The name, which stored metadata has.
    fn name(&self) -> &str;

    /// Whether an output is truncated.
    fn needs_truncation(&self, content: &str, config: &TruncationConfig) -> bool {
        DefaultTruncationStrategy.needs_truncation(content, config)
    }

    /// What is shown of an output.
    fn truncate(&self, content: &str, config: &TruncationConfig) -> Truncated {
        DefaultTruncationStrategy.truncate(content, config)
    }
}

/// §5.2: whole lines from one end, within both limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultTruncationStrategy;

impl TruncationStrategy for DefaultTruncationStrategy {
    fn name(&self) -> &str {
        "default"
    }

    fn needs_truncation(&self, content: &str, config: &TruncationConfig) -> bool {
        let settings = Truncator::new(profile()).settings(&Context::default());
        !limits(config).fit(content.as_bytes(), settings.conventions, &EstimatedTokens)
    }

    fn truncate(&self, content: &str, config: &TruncationConfig) -> Truncated {
        let strategy = match config.direction {
            TruncationDirection::Head => StrategyName::Head,
            TruncationDirection::Tail => StrategyName::Tail,
        };
        let rule = Rule { limits: limits(config), strategy: Some(strategy), ..Rule::default() };
        let engine = Truncator::new(profile()).rule(rule);
        let outcome = engine.map(|engine| engine.apply(content, &Context::default()));
        let Some(preview) = outcome.ok().and_then(crate::Outcome::into_preview) else {
            return Truncated { content: content.to_owned(), ..Truncated::default() };
        };
        let shown =
            preview.placed().iter().filter_map(|part| preview.content().get(part.at..part.at + part.length));
        let content = shown.map(String::from_utf8_lossy).collect();
        let PerUnit { lines: removed_lines, bytes: removed_bytes, .. } = preview.reported_removed();
        Truncated { content, removed_lines, removed_bytes }
    }
}

/// A limit of 0 counts as 1.
fn limits(config: &TruncationConfig) -> Limits {
    let (lines, bytes) = (config.max_lines.max(1), config.max_bytes.max(1));
    Limits { lines: Some(lines), bytes: Some(bytes), ..Limits::default() }
}

/// §5.1: the number of lines, as `split("\n")` counts them.
pub fn count_lines(content: &str) -> u64 {
    measure::lines(content.as_bytes(), LineConvention::Separated)
}

/// §5.1: the number of bytes in UTF-8.
pub fn count_bytes(content: &str) -> u64 {
    content.len() as u64
}

/// §5.1: the first lines.
pub fn truncate_head(content: &str, max_lines: usize) -> Vec<&str> {
    content.split('\n').take(max_lines).collect()
}

/// §5.1: the last lines.
pub fn truncate_tail(content: &str, max_lines: usize) -> Vec<&str> {
    let lines: Vec<&str> = content.split('\n').collect();
    lines[lines.len().saturating_sub(max_lines)..].to_vec()
}

/// A strategy of the document as one of the engine.
pub(super) struct Adapter {
    pub(super) strategy: Arc<dyn TruncationStrategy>,
    pub(super) base: TruncationConfig,
}

impl Strategy for Adapter {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        let (strategy, config) = (Arc::clone(&self.strategy), effective(settings, &self.base));
        let truncate = move |text: &[u8], _: &crate::strategy::Room<'_>| {
            let content = String::from_utf8_lossy(text);
            let made = panic::catch_unwind(AssertUnwindSafe(|| strategy.truncate(&content, &config)));
            let made = made.ok().filter(|made| !made.content.is_empty());
            let made = made.unwrap_or_else(|| DefaultTruncationStrategy.truncate(&content, &config));
            let (lines, bytes) = (made.removed_lines, made.removed_bytes);
            // §4.1: a strategy that does not count has removed 0 lines.
            let lines = if bytes.is_none() { lines.or(Some(0)) } else { lines };
            OwnText {
                content: made.content.into_bytes(),
                removed: PerUnit { lines, bytes, ..PerUnit::default() },
            }
        };
        Opaque::new(truncate).start(settings)
    }

    fn name(&self) -> &str {
        self.strategy.name()
    }

    fn decide(&self, output: &[u8], settings: &Settings) -> CutDecision {
        let (content, config) = (String::from_utf8_lossy(output), effective(settings, &self.base));
        let needs_truncation = || self.strategy.needs_truncation(&content, &config);
        match panic::catch_unwind(AssertUnwindSafe(needs_truncation)) {
            Ok(true) => CutDecision::Cut,
            Ok(false) => CutDecision::Pass,
            Err(_) => CutDecision::ByLimits,
        }
    }
}
