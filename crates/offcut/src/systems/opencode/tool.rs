//! §7: tools whose results are truncated.

use super::{Agent, Options, Truncate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// §7.1: what a tool returns.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolResult {
    /// A title for people.
    pub title: String,
    /// What the model gets.
    pub output: String,
    /// Other fields. `truncated` means that the tool has truncated its output itself.
    pub metadata: Map<String, Value>,
}

/// §7.1: what a tool may use while it runs.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// Truncates outputs.
    pub truncate: &'a Truncate,
    /// The agent that called the tool.
    pub agent: Option<&'a Agent>,
}

/// Arguments that do not match the parameters of a tool.
#[derive(Debug, thiserror::Error)]
#[error("the tool {tool} was called with invalid arguments: {error}")]
pub struct InvalidArguments {
    /// The tool.
    pub tool: String,
    /// What is wrong. Not the error's source: the message contains it already.
    pub error: serde_json::Error,
}

/// §7.1: a tool with parameters of type `P`, made by [`define_tool`].
pub struct Tool<P, F> {
    /// The name by which it is called.
    pub id: String,
    /// What it does, for the model.
    pub description: String,
    execute: F,
    parameters: PhantomData<fn(P)>,
}

/// §7.1 `Tool.define`: a tool that validates its arguments and truncates its result.
///
/// ```
/// use offcut::systems::opencode::{ToolContext, ToolResult, Truncate, define_tool};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize)]
/// struct Parameters {
///     pattern: String,
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let grep = define_tool("grep", "Search files", async |args: Parameters, _: ToolContext<'_>| {
///     let output = format!("src/main.rs:1: {}\n", args.pattern).repeat(5000);
///     ToolResult { title: args.pattern, output, ..ToolResult::default() }
/// });
/// # let directory = tempfile::tempdir()?;
/// # let dir = directory.path().join("tool-output");
/// let truncate = Truncate::new(dir, std::time::SystemTime::now);
/// let context = ToolContext { truncate: &truncate, agent: None };
/// let result = grep.execute(json!({ "pattern": "fn" }), context).await?;
/// assert_eq!(result.metadata["truncated"], true);
/// assert!(result.metadata["outputPath"].is_string());
///
/// let error = grep.execute(json!({ "pattern": 7 }), context).await.unwrap_err();
/// assert!(error.to_string().starts_with("the tool grep was called with invalid arguments: invalid type"));
/// # Ok(())
/// # }
/// ```
pub fn define_tool<P: DeserializeOwned, F: AsyncFn(P, ToolContext<'_>) -> ToolResult>(
    id: impl Into<String>,
    description: impl Into<String>,
    execute: F,
) -> Tool<P, F> {
    Tool { id: id.into(), description: description.into(), execute, parameters: PhantomData }
}

impl<P, F> Tool<P, F>
where
    P: DeserializeOwned,
    F: AsyncFn(P, ToolContext<'_>) -> ToolResult,
{
    /// Runs the tool if the arguments match its parameters, and truncates the result unless the tool did.
    pub async fn execute(
        &self,
        args: Value,
        context: ToolContext<'_>,
    ) -> Result<ToolResult, InvalidArguments> {
        let args = serde_json::from_value(args)
            .map_err(|error| InvalidArguments { tool: self.id.clone(), error })?;
        let mut result = (self.execute)(args, context).await;
        if result.metadata.contains_key("truncated") {
            return Ok(result);
        }
        let output = context.truncate.output(&result.output, Options::default(), context.agent);
        result.metadata.insert("truncated".to_owned(), output.truncated().into());
        if let Some(path) = output.output_path() {
            result.metadata.insert("outputPath".to_owned(), path.into());
        }
        result.output = output.content().to_owned();
        Ok(result)
    }
}
