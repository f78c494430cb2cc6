//! The truncation plugin of takumi (document 003, “Truncation 插件化重构”), under its names.
//!
//! | section | here |
//! |---|---|
//! | Discussion 1, storage | [`DIRECTORY`] |
//! | Discussion 2, cleaning | nothing is ever cleaned |
//! | Discussion 6, 配置项, 用户配置方式 | [`Config`] |
//! | ToolResult 类型扩展 | [`ToolResult`], [`LlmContent`], [`Part`], [`TextPart`], [`ImagePart`] |
//! | 插件核心实现 | [`TruncationPlugin`], [`NAME`], [`ENFORCE`] |
//! | 核心流程, 边界情况处理 | [`TruncationPlugin::tool_result`], [`TruncationPlugin::log`] |
//!
//! The document gives no numbers: 2000 lines and 50 KiB from the beginning, as in opencode.
//!
//! ```
//! use offcut::systems::takumi::*;
//! use std::time::SystemTime;
//!
//! # let home = tempfile::tempdir()?;
//! let config: Config = serde_json::from_str(r#"{ "truncation": true }"#)?;
//! let plugin = TruncationPlugin::new(config, home.path().join(DIRECTORY), SystemTime::now);
//!
//! let output = "a line\n".repeat(3000);
//! let result = plugin.tool_result(ToolResult::text(&output), "bash");
//! assert_eq!(result.truncated, Some(true));
//! assert_eq!(std::fs::read_to_string(result.output_path.ok_or("not saved")?)?, output);
//!
//! let small = plugin.tool_result(ToolResult::text("small"), "bash");
//! assert_eq!(small, ToolResult { truncated: Some(false), ..ToolResult::text("small") });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::builder::Storage;
use crate::context::Context;
use crate::event::Event;
use crate::profile::Rule;
use crate::results::{Decision, Middleware, Shape};
use crate::store::{Clock, FsStore};
use crate::truncator::Truncator;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// The name of the plugin.
pub const NAME: &str = "truncation";
/// The plugin runs after the others.
pub const ENFORCE: &str = "post";
/// The directory of the files, relative to the home directory, for all projects.
pub const DIRECTORY: &str = ".takumi/tool-output";

/// The configuration, of which the plugin reads one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Config {
    /// Whether results are truncated; they are if unset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<bool>,
}

/// The result of a tool. Fields that it does not name are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What the model gets.
    pub llm_content: LlmContent,
    /// What the user sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub return_display: Option<Value>,
    /// Whether the tool failed. Errors are not truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// More about the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Whether it was truncated. A tool that sets it has truncated the result itself, or wants all of it shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// The file with the complete output; `None` if nothing was truncated, or saving failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_path: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ToolResult {
    /// The result of a tool that returns a text.
    pub fn text(text: impl Into<String>) -> ToolResult {
        ToolResult { llm_content: LlmContent::Text(text.into()), ..ToolResult::default() }
    }

    /// The result of a tool that returns texts and images.
    pub fn parts(parts: impl IntoIterator<Item = Part>) -> ToolResult {
        ToolResult { llm_content: LlmContent::Parts(parts.into_iter().collect()), ..ToolResult::default() }
    }
}

/// `string | (TextPart | ImagePart)[]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum LlmContent {
    /// A text.
    Text(String),
    /// Texts and images. The texts are measured together; images stay where they are.
    Parts(Vec<Part>),
}

impl Default for LlmContent {
    fn default() -> LlmContent {
        LlmContent::Text(String::new())
    }
}

/// `TextPart | ImagePart`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    /// A text.
    Text(TextPart),
    /// An image.
    Image(ImagePart),
    /// A part that the document does not name. It stays as it is.
    #[serde(untagged)]
    Other(Value),
}

impl Part {
    /// A text.
    pub fn text(text: impl Into<String>) -> Part {
        Part::Text(TextPart { text: text.into(), other: Map::new() })
    }
}

/// A text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// All other fields.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// An image. The document does not name its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImagePart {
    /// All fields except `type`.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// Truncates the results of all tools.
pub struct TruncationPlugin {
    config: Config,
    middleware: Middleware,
}

impl TruncationPlugin {
    /// A plugin that saves outputs in `directory`, usually [`DIRECTORY`] in the home directory; it is created if missing.
    ///
    /// The clock is usually `SystemTime::now`: the library reads no clock of its own.
    pub fn new(config: Config, directory: impl Into<PathBuf>, clock: Clock) -> TruncationPlugin {
        let store = FsStore::new(directory, clock);
        let truncator = Truncator::new(super::profile("takumi")).storage(Storage::To(Arc::new(store)));
        TruncationPlugin::with(config, truncator)
    }

    /// Sends one message to `log` when an output cannot be saved. The result is truncated all the same, without a path. A
    /// second call replaces the function.
    #[must_use]
    pub fn log(self, log: impl Fn(&str) + Send + Sync + 'static) -> TruncationPlugin {
        let truncator = self.middleware.truncator().clone().sink(move |event: &Event<'_>| {
            if let Event::Error { error, .. } = event {
                log(error);
            }
        });
        TruncationPlugin::with(self.config, truncator)
    }

    fn with(config: Config, truncator: Truncator) -> TruncationPlugin {
        let rule = Rule { enabled: config.truncation, ..Rule::default() };
        let middleware = Middleware::new(truncator).decide(move |_| Decision::BoundWith(rule));
        TruncationPlugin { config, middleware }
    }

    /// The hook: truncates a result that is too large, and saves all of its text.
    ///
    /// The result stays as it is if truncation is off, if `truncated` is set, or if it is an error. One that fits gets
    /// `truncated: false`.
    #[must_use]
    pub fn tool_result(&self, result: ToolResult, tool: &str) -> ToolResult {
        super::bound(&self.middleware, Shape::Takumi, result, &Context::tool(tool))
    }
}
