//! Klaude's smart truncation (document 004, “Smart Truncation Strategy Implementation Plan”), under its names.
//!
//! | section | here |
//! |---|---|
//! | Current State | [`TruncationStrategy`], [`SimpleTruncationStrategy`], [`get_truncation_strategy`], [`set_truncation_strategy`] |
//! | Task 1.1 constants | [`TOOL_OUTPUT_MAX_LENGTH`], [`TOOL_OUTPUT_DISPLAY_HEAD`], [`TOOL_OUTPUT_DISPLAY_TAIL`], [`TOOL_OUTPUT_TRUNCATION_DIR`] |
//! | Task 1.2 strategy | [`SmartTruncationStrategy`] |
//! | Task 1.3 result | [`TruncationResult`] |
//! | Task 2.1 | [`truncate_tool_output`] |
//! | Task 2.2 `ui_extra` | [`TruncationResult::ui_extra`] |
//! | Task 3.1, 3.2 models | [`TruncationUiExtra`], [`ToolResultUiExtra`], [`ToolResultUiExtraType`] |
//! | Task 4.1 | [`render_truncation_info`] |
//!
//! ```
//! use offcut::systems::klaude::*;
//! use std::time::SystemTime;
//!
//! # let directory = tempfile::tempdir()?;
//! # let truncation_dir = directory.path().join("klaude");
//! let strategy = SmartTruncationStrategy::new(
//!     TOOL_OUTPUT_MAX_LENGTH,
//!     TOOL_OUTPUT_DISPLAY_HEAD,
//!     TOOL_OUTPUT_DISPLAY_TAIL,
//!     truncation_dir,
//!     SystemTime::now,
//! )?;
//! let output = "x".repeat(50_000);
//! let result = strategy.truncate(&output, Some("Bash"), Some("call_7"));
//! assert!(result.output.starts_with("[Output truncated: 30000 chars hidden, full output saved to "));
//! assert_eq!((result.original_length, result.truncated_length), (50_000, 30_000));
//! let path = result.saved_file_path.ok_or("not saved")?;
//! assert_eq!(std::fs::read_to_string(path)?, output);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::builder::Storage;
use crate::context::Context;
use crate::event::Event;
use crate::limits::{LimitError, Limits};
use crate::measure::{self, CharConvention};
use crate::profile::{Profile, Rule};
use crate::results;
use crate::store::{Clock, Entry, FsStore};
use crate::strategy::Split;
use crate::truncator::Truncator;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// Task 1.1: an output with more characters is truncated.
pub const TOOL_OUTPUT_MAX_LENGTH: u32 = 40_000;
/// Task 1.1: how many characters of the beginning are shown.
pub const TOOL_OUTPUT_DISPLAY_HEAD: u32 = 10_000;
/// Task 1.1: how many characters of the end are shown.
pub const TOOL_OUTPUT_DISPLAY_TAIL: u32 = 10_000;
/// Task 1.1: the directory of the files. Because everybody can write to `/tmp`, it is used only if it belongs to the user
/// and has mode 0700.
pub const TOOL_OUTPUT_TRUNCATION_DIR: &str = "/tmp/klaude";

/// Task 1.3: what became of an output. Lengths are in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncationResult {
    /// What the model gets.
    pub output: String,
    /// Whether it was truncated.
    pub was_truncated: bool,
    /// Where all of it is, if it was truncated and saved.
    pub saved_file_path: Option<String>,
    /// How long the output was.
    pub original_length: u64,
    /// How much of it is not shown.
    pub truncated_length: u64,
}

impl TruncationResult {
    /// Task 2.2: what `run_tool` sets on its result: where all of the output is. `None` unless it was truncated and saved.
    pub fn ui_extra(&self) -> Option<ToolResultUiExtra> {
        let truncation = TruncationUiExtra {
            saved_file_path: self.saved_file_path.clone()?,
            original_length: self.original_length,
            truncated_length: self.truncated_length,
        };
        Some(ToolResultUiExtra { kind: ToolResultUiExtraType::Truncation, truncation: Some(truncation) })
    }
}

/// Truncates outputs.
pub trait TruncationStrategy: Send + Sync {
    /// Truncates an output that is too long. The name of the tool and the id of the call are in the name of its file.
    fn truncate(&self, output: &str, tool_name: Option<&str>, call_id: Option<&str>) -> TruncationResult;
}

/// Task 1.2: shows the beginning and the end, and saves all of the output.
///
/// When saving fails, it shows the beginning, as [`SimpleTruncationStrategy`] does, and says that nothing was saved.
#[derive(Clone)]
pub struct SmartTruncationStrategy(Truncator);

impl SmartTruncationStrategy {
    /// Truncates outputs of more than `max_length` characters. The clock is usually `SystemTime::now`.
    ///
    /// The directory is created when the first output is saved. Both ends together are at most `max_length`: larger ones
    /// are reduced in proportion, so that `new(5, 100, 1, ..)` shows the first 5 characters.
    pub fn new(
        max_length: u32,
        head_chars: u32,
        tail_chars: u32,
        truncation_dir: impl Into<PathBuf>,
        clock: Clock,
    ) -> Result<SmartTruncationStrategy, LimitError> {
        let chars = |most: u64| Limits { chars: Some(most), ..Limits::default() };
        let rule = Rule {
            limits: chars(max_length.into()),
            keep: chars(u64::from(head_chars) + u64::from(tail_chars)),
            split: Some(Split { head: head_chars, tail: tail_chars }),
            ..Rule::default()
        };
        let storage = Storage::To(Arc::new(FsStore::new(truncation_dir, clock)));
        Ok(SmartTruncationStrategy(Truncator::new(profile()).storage(storage).rule(rule)?))
    }

    /// Sends the reason to `log` when an output cannot be saved.
    #[must_use]
    pub fn log(self, log: impl Fn(&str) + Send + Sync + 'static) -> SmartTruncationStrategy {
        SmartTruncationStrategy(self.0.sink(move |event: &Event<'_>| {
            if let Event::Error { error, .. } = event {
                log(error);
            }
        }))
    }
}

impl TruncationStrategy for SmartTruncationStrategy {
    fn truncate(&self, output: &str, tool_name: Option<&str>, call_id: Option<&str>) -> TruncationResult {
        truncate(&self.0, output, tool_name, call_id)
    }
}

/// Shows the beginning, and saves nothing.
#[derive(Clone)]
pub struct SimpleTruncationStrategy(Truncator);

impl SimpleTruncationStrategy {
    /// Shows the first `max_length` characters of an output that has more.
    pub fn new(max_length: u32) -> Result<SimpleTruncationStrategy, LimitError> {
        let limits = Limits { chars: Some(max_length.into()), ..Limits::default() };
        Ok(SimpleTruncationStrategy(Truncator::new(profile()).rule(Rule { limits, ..Rule::default() })?))
    }
}

impl Default for SimpleTruncationStrategy {
    /// Shows the first [`TOOL_OUTPUT_MAX_LENGTH`] characters.
    fn default() -> SimpleTruncationStrategy {
        SimpleTruncationStrategy(Truncator::new(profile()))
    }
}

impl TruncationStrategy for SimpleTruncationStrategy {
    fn truncate(&self, output: &str, tool_name: Option<&str>, call_id: Option<&str>) -> TruncationResult {
        truncate(&self.0, output, tool_name, call_id)
    }
}

fn profile() -> Profile {
    super::profile("klaude")
}

fn truncate(
    truncator: &Truncator,
    output: &str,
    tool_name: Option<&str>,
    call_id: Option<&str>,
) -> TruncationResult {
    let [tool, call_id] = [tool_name, call_id].map(|name| name.map(str::to_owned));
    let outcome = truncator.apply(output, &Context { tool, call_id, ..Context::default() });
    let preview = outcome.preview();
    TruncationResult {
        output: outcome.text().into_owned(),
        was_truncated: preview.is_some(),
        saved_file_path: preview.and_then(|preview| preview.entry()).map(Entry::location),
        original_length: measure::chars(output.as_bytes(), CharConvention::CodePoints),
        truncated_length: preview.and_then(|preview| preview.removed().chars).unwrap_or_default(),
    }
}

/// The strategy of the process.
static STRATEGY: RwLock<Option<Arc<dyn TruncationStrategy>>> = RwLock::new(None);

/// The strategy of [`truncate_tool_output`].
///
/// Until one is set it is the [`SimpleTruncationStrategy`], because the library does not choose a directory or read a clock.
pub fn get_truncation_strategy() -> Arc<dyn TruncationStrategy> {
    let strategy = STRATEGY.read().unwrap_or_else(PoisonError::into_inner).clone();
    strategy.unwrap_or_else(|| Arc::new(SimpleTruncationStrategy::default()))
}

/// Replaces the strategy of the whole process.
pub fn set_truncation_strategy(strategy: Arc<dyn TruncationStrategy>) {
    *STRATEGY.write().unwrap_or_else(PoisonError::into_inner) = Some(strategy);
}

/// Task 2.1: truncates an output with the strategy of the process.
pub fn truncate_tool_output(
    output: &str,
    tool_name: Option<&str>,
    call_id: Option<&str>,
) -> TruncationResult {
    get_truncation_strategy().truncate(output, tool_name, call_id)
}

/// Task 3.1: what a user interface shows about a truncated output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruncationUiExtra {
    /// Where all of it is.
    pub saved_file_path: String,
    /// How long it was.
    pub original_length: u64,
    /// How much of it is not shown.
    pub truncated_length: u64,
}

/// Task 3.2: what a [`ToolResultUiExtra`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolResultUiExtraType {
    /// A truncated output.
    Truncation,
}

/// Task 3.2: the `ui_extra` of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResultUiExtra {
    /// What it is about, `type` in JSON.
    #[serde(rename = "type")]
    pub kind: ToolResultUiExtraType,
    /// About a truncated output.
    pub truncation: Option<TruncationUiExtra>,
}

/// Task 4.1: a few lines for a terminal: the file, the size of the output and how much of it is not shown.
pub fn render_truncation_info(ui_extra: &TruncationUiExtra) -> String {
    let TruncationUiExtra { saved_file_path, original_length, truncated_length } = ui_extra;
    results::truncation_panel(saved_file_path, *original_length, *truncated_length)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Here, because the strategy of a process has no other user in this test binary.
    #[test]
    fn task_2_1_the_strategy_of_the_process_is_replaced() {
        struct Named;
        impl TruncationStrategy for Named {
            fn truncate(&self, output: &str, tool: Option<&str>, call: Option<&str>) -> TruncationResult {
                TruncationResult { output: format!("{tool:?} {call:?} {output}"), ..whole("") }
            }
        }
        fn whole(output: &str) -> TruncationResult {
            SimpleTruncationStrategy::default().truncate(output, None, None)
        }
        let output = "x".repeat(40_001);
        assert_eq!(truncate_tool_output(&output, Some("Bash"), None), whole(&output));
        set_truncation_strategy(Arc::new(Named));
        let result = truncate_tool_output("text", Some("Bash"), Some("c1"));
        assert_eq!(result.output, r#"Some("Bash") Some("c1") text"#);
    }
}
