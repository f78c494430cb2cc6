//! The default strategy of the coding agent's document (seed 000 §5).

use napi_derive::napi;
use offcut::systems::coding_agent::{
    self, DEFAULT_TRUNCATION_CONFIG, DefaultTruncationStrategy, TruncationConfig, TruncationDirection,
    TruncationStrategy,
};

/// The settings that the strategy uses; those of the document if unset.
#[napi(object)]
pub struct StrategyConfig {
    pub max_lines: Option<f64>,
    pub max_bytes: Option<f64>,
    pub direction: Option<String>,
}

impl From<StrategyConfig> for TruncationConfig {
    fn from(config: StrategyConfig) -> TruncationConfig {
        let default = DEFAULT_TRUNCATION_CONFIG;
        // A conversion from a floating-point number saturates: `Infinity` is no limit.
        TruncationConfig {
            max_lines: config.max_lines.map_or(default.max_lines, |most| most as u64),
            max_bytes: config.max_bytes.map_or(default.max_bytes, |most| most as u64),
            direction: match config.direction.as_deref() {
                Some("tail") => TruncationDirection::Tail,
                _ => TruncationDirection::Head,
            },
            ..default
        }
    }
}

/// What the strategy shows, and its counts of what it does not show.
#[napi(object)]
pub struct StrategyResult {
    pub content: String,
    pub removed_lines: Option<f64>,
    pub removed_bytes: Option<f64>,
}

/// Whether the default strategy cuts a text.
#[napi]
pub fn needs_truncation(content: String, config: StrategyConfig) -> bool {
    DefaultTruncationStrategy.needs_truncation(&content, &config.into())
}

/// What the default strategy shows of a text.
#[napi]
pub fn truncate(content: String, config: StrategyConfig) -> StrategyResult {
    let made = DefaultTruncationStrategy.truncate(&content, &config.into());
    StrategyResult {
        content: made.content,
        removed_lines: made.removed_lines.map(|count| count as f64),
        removed_bytes: made.removed_bytes.map(|count| count as f64),
    }
}

/// The number of lines that `split("\n")` gives.
#[napi]
pub fn count_lines(content: String) -> f64 {
    coding_agent::count_lines(&content) as f64
}

/// The number of bytes in UTF-8.
#[napi]
pub fn count_bytes(content: String) -> f64 {
    coding_agent::count_bytes(&content) as f64
}

/// The first lines.
#[napi]
pub fn truncate_head(content: String, max_lines: f64) -> Vec<String> {
    coding_agent::truncate_head(&content, max_lines as usize).into_iter().map(str::to_owned).collect()
}

/// The last lines.
#[napi]
pub fn truncate_tail(content: String, max_lines: f64) -> Vec<String> {
    coding_agent::truncate_tail(&content, max_lines as usize).into_iter().map(str::to_owned).collect()
}
