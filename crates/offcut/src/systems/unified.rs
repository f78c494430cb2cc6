//! The unified truncation of tool responses (document 002, “工具输出截断设计文档（统一策略）”), under its names.
//!
//! | section | here |
//! |---|---|
//! | §3 rules | [`MAX_LINES`], [`MAX_BYTES`], [`Direction`], [`UnifiedTruncation::truncate`] |
//! | §4 files | [`DIRECTORY`], [`RETENTION_DAYS`], [`UnifiedTruncation::cleanup`] |
//! | §5 format | [`Envelope`], [`TruncatedData`], [`Truncation`] |
//! | §6 skipping | [`Envelope::truncation_skip`] |
//! | §7 hints | [`UnifiedTruncation::task_tool`] |
//! | §9 variables | [`Variables`] |
//!
//! ```
//! use offcut::systems::unified::*;
//! use std::time::SystemTime;
//!
//! # let project_root = tempfile::tempdir()?;
//! // Usually `std::env::vars()`.
//! let variables = Variables::from_variables([("TOOL_OUTPUT_MAX_LINES".to_owned(), "100".to_owned())])?;
//! let truncation = UnifiedTruncation::new(variables, project_root.path(), SystemTime::now)?;
//!
//! let rows: Vec<u32> = (1..=5000).collect();
//! let response = serde_json::json!({"status": "success", "data": {"rows": rows}, "text": "5000 rows"});
//! let response = serde_json::to_string_pretty(&response)?;
//! let shown: Envelope = serde_json::from_str(&truncation.truncate(&response, "Read"))?;
//! assert_eq!(shown.status, "partial");
//! let TruncatedData { truncation, .. } = shown.truncated_data().ok_or("not truncated")?;
//! assert_eq!(truncation.kept_lines, 100);
//! let path = truncation.full_output_path.ok_or("not saved")?;
//! assert!(path.starts_with("tool-output/tool_") && path.ends_with("_Read.json"));
//! assert_eq!(std::fs::read_to_string(project_root.path().join(path))?, response);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::profile::TaskTool;

use crate::builder::Storage;
use crate::context::Context;
use crate::limits::{LimitError, Limits, parse_size};
use crate::profile::Rule;
use crate::results::{Decision, Middleware, Shape, ShapeChoice};
use crate::store::{Clock, FsStore, Retention, StoreError};
use crate::strategy::StrategyName;
use crate::truncator::Truncator;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// §3: the most lines.
pub const MAX_LINES: u64 = 2000;
/// §3: the most bytes.
pub const MAX_BYTES: u64 = 50 * 1024;
/// §4: the directory of the files, relative to the root of the project.
pub const DIRECTORY: &str = "tool-output";
/// §4: how many days files are kept.
pub const RETENTION_DAYS: u32 = 7;

/// §3: which end of an output is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The beginning.
    #[default]
    Head,
    /// The end.
    Tail,
}

/// §9: the settings, by the names of their variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variables {
    /// `TOOL_OUTPUT_MAX_LINES`: the most lines.
    pub max_lines: u64,
    /// `TOOL_OUTPUT_MAX_BYTES`: the most bytes.
    pub max_bytes: u64,
    /// `TOOL_OUTPUT_TRUNCATE_DIRECTION`: which end is shown.
    pub truncate_direction: Direction,
    /// `TOOL_OUTPUT_DIR`: the directory of the files, relative to the root of the project.
    pub dir: PathBuf,
    /// `TOOL_OUTPUT_RETENTION_DAYS`: how many days files are kept; with 0 they are not cleaned.
    pub retention_days: u32,
}

impl Default for Variables {
    fn default() -> Variables {
        Variables {
            max_lines: MAX_LINES,
            max_bytes: MAX_BYTES,
            truncate_direction: Direction::Head,
            dir: PathBuf::from(DIRECTORY),
            retention_days: RETENTION_DAYS,
        }
    }
}

impl Variables {
    /// The settings in these variables, usually `std::env::vars()`: the library reads no environment of its own.
    ///
    /// An empty variable is unset. Other variables are ignored.
    pub fn from_variables(
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Variables, VariableError> {
        let mut settings = Variables::default();
        for (name, value) in variables {
            if value.is_empty() {
                continue;
            }
            let invalid = |expected| VariableError { name: name.clone(), value: value.clone(), expected };
            let size =
                || parse_size(&value).map_err(|_| invalid("a positive size, for example 2000 or 50KiB"));
            match name.as_str() {
                "TOOL_OUTPUT_MAX_LINES" => settings.max_lines = size()?,
                "TOOL_OUTPUT_MAX_BYTES" => settings.max_bytes = size()?,
                "TOOL_OUTPUT_TRUNCATE_DIRECTION" => {
                    settings.truncate_direction = match value.as_str() {
                        "head" => Direction::Head,
                        "tail" => Direction::Tail,
                        _ => return Err(invalid("head or tail")),
                    }
                }
                "TOOL_OUTPUT_DIR" => settings.dir = PathBuf::from(&value),
                "TOOL_OUTPUT_RETENTION_DAYS" => {
                    settings.retention_days = value.parse().map_err(|_| invalid("a number of days"))?;
                }
                _ => {}
            }
        }
        Ok(settings)
    }
}

/// A variable has a value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}={value:?}: expected {expected}")]
pub struct VariableError {
    name: String,
    value: String,
    expected: &'static str,
}

/// §5: a response of a tool. Fields that it does not name are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// `partial` after truncation, unless it was `error`.
    pub status: String,
    /// What the tool returned; after truncation see [`Envelope::truncated_data`].
    pub data: Value,
    /// The text for the model; after truncation, where all of it is.
    #[serde(default)]
    pub text: String,
    /// Kept by truncation.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub stats: Option<Value>,
    /// Kept by truncation.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// Kept by truncation.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// All other fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A field that is present, even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Envelope {
    /// §6: whether the response asks not to be truncated.
    pub fn truncation_skip(&self) -> bool {
        let context = self.context.as_ref();
        context.and_then(|context| context.get("truncation_skip")) == Some(&Value::Bool(true))
    }

    /// §5: `data` of a response that was truncated.
    pub fn truncated_data(&self) -> Option<TruncatedData> {
        TruncatedData::deserialize(&self.data).ok().filter(|data| data.truncated)
    }
}

/// §5: `data` of a response that was truncated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TruncatedData {
    /// `true`.
    pub truncated: bool,
    /// How much is shown, and where all of it is.
    pub truncation: Truncation,
    /// What is shown of the response.
    pub preview: String,
}

/// §5: how a response was truncated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncation {
    /// Which end is shown.
    pub direction: Direction,
    /// The most lines.
    pub max_lines: u64,
    /// The most bytes.
    pub max_bytes: u64,
    /// The lines of the response.
    pub original_lines: u64,
    /// The bytes of the response.
    pub original_bytes: u64,
    /// The lines of the preview.
    pub kept_lines: u64,
    /// The bytes of the preview.
    pub kept_bytes: u64,
    /// The file with all of it, relative to the root of the project if it is below it; `None` if saving failed.
    pub full_output_path: Option<String>,
}

/// Truncates the responses of all tools by the same rules.
pub struct UnifiedTruncation {
    middleware: Middleware,
    clock: Clock,
}

impl UnifiedTruncation {
    /// Truncation with these settings in this project.
    ///
    /// The clock is usually `SystemTime::now`: the library reads no clock of its own.
    pub fn new(
        variables: Variables,
        project_root: impl AsRef<Path>,
        clock: Clock,
    ) -> Result<UnifiedTruncation, LimitError> {
        let project_root = project_root.as_ref();
        let Variables { max_lines, max_bytes, truncate_direction, dir, retention_days } = variables;
        let strategy = match truncate_direction {
            Direction::Head => StrategyName::Head,
            Direction::Tail => StrategyName::Tail,
        };
        let limits = Limits { lines: Some(max_lines), bytes: Some(max_bytes), ..Limits::default() };
        let store = FsStore::new(project_root.join(dir), clock);
        let truncator = Truncator::new(super::profile("unified"))
            .storage(Storage::To(Arc::new(store)))
            .project_root(project_root)
            .retention(Retention::Days(retention_days))
            .rule(Rule { strategy: Some(strategy), limits, ..Rule::default() })?;
        Ok(UnifiedTruncation { middleware: Middleware::new(truncator), clock })
    }

    /// §7: whether the agent has the Task tool, which the hint then suggests. Without this call it has not.
    #[must_use]
    pub fn task_tool(self, task: TaskTool) -> UnifiedTruncation {
        let rule = Rule { task: Some(task), ..Rule::default() };
        let middleware = self.middleware.decide(move |_| Decision::BoundWith(rule));
        UnifiedTruncation { middleware, ..self }
    }

    /// Truncates a response that is too large, and saves all of it. Any other is returned byte for byte.
    ///
    /// An array, a string or a text that is not JSON is replaced by an [`Envelope`] with its preview.
    pub fn truncate<'a>(&self, response: &'a str, tool: &str) -> Cow<'a, str> {
        let (shape, context) = (ShapeChoice::Is(Shape::Unified), Context::tool(tool));
        match self.middleware.bound_json(response, shape, &context) {
            Ok(bounded) => bounded.json,
            Err(_) => self.middleware.bound_plain_response(response, &context),
        }
    }

    /// The same for a response that is a Rust value.
    pub fn truncate_envelope(&self, envelope: Envelope, tool: &str) -> Envelope {
        super::bound(&self.middleware, Shape::Unified, envelope, &Context::tool(tool))
    }

    /// §4: removes expired files and returns how many. The first file that a process saves also starts it.
    pub fn cleanup(&self) -> Result<u64, StoreError> {
        self.middleware.truncator().cleanup((self.clock)())
    }
}
