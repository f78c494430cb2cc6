//! A registry of tools that runs calls concurrently and bounds each result.

use crate::context::Context;
use crate::profile::Rule;
use crate::results::off_thread::off_thread;
use crate::results::{LEAST_SHARE, Middleware, ResultOutcome, ToolOutput, shares};
use crate::retrieve::ReadTool;
use futures_util::FutureExt;
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

/// The future that a tool's call returns.
pub type ToolFuture<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Something a model can call.
pub trait Tool: Send + Sync {
    /// The name by which it is called.
    fn name(&self) -> &str;

    /// Runs it. The arguments are the JSON that the model wrote.
    fn call<'a>(&'a self, arguments: &'a str) -> ToolFuture<'a>;

    /// Its options, which take precedence over the profile's.
    fn rule(&self) -> Rule {
        Rule::default()
    }
}

/// Its pages fit its own budget, so they are not cut again.
impl Tool for ReadTool {
    fn name(&self) -> &str {
        ReadTool::name(self)
    }

    fn call<'a>(&'a self, arguments: &'a str) -> ToolFuture<'a> {
        let (tool, arguments) = (self.clone(), arguments.to_owned());
        Box::pin(off_thread(move || match tool.answer(&arguments) {
            Ok(answer) => ToolOutput::succeeded(answer.into_text()),
            Err(error) => ToolOutput::failed(format!("offcut: {error}")),
        }))
    }

    fn rule(&self) -> Rule {
        Rule { enabled: Some(false), ..Rule::default() }
    }
}

/// A call that a model requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as JSON.
    pub arguments: String,
}

/// A call and its result.
#[derive(Debug)]
pub struct ExecutedCall {
    /// The id of the call.
    pub call_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as JSON.
    pub arguments: String,
    /// Its result, bounded.
    pub result: ToolOutput,
    /// Whether it was truncated.
    pub outcome: ResultOutcome,
}

/// The tools of an agent and one middleware for their results.
///
/// It does not start a runtime: the calls of one `execute` run concurrently on the runtime that awaits it. An output that has
/// to be cut is stored on a thread of its own, so that the runtime is not blocked.
///
/// ```
/// use offcut::results::Middleware;
/// use offcut::results::registry::{Registry, ToolCall};
/// use offcut::{Profile, Storage, Truncator, retrieve::ReadTool, store::MemoryStore};
/// use std::{sync::Arc, time::SystemTime};
///
/// # #[tokio::main]
/// # async fn main() {
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let read_output = ReadTool::new("read_output", store.clone());
/// let truncator =
///     Truncator::new(Profile::native()).storage(Storage::To(store)).reach(read_output.reach());
/// // Further tools implement `Tool`; previews of their outputs name the call that reads on.
/// let registry = Registry::new(Middleware::new(truncator)).tool(read_output);
///
/// let arguments = r#"{"id": "last"}"#.to_owned();
/// let call = ToolCall { id: "1".to_owned(), name: "read_output".to_owned(), arguments };
/// let executed = registry.execute(&[call], None).await;
/// assert_eq!(executed[0].result.output, b"offcut: no stored output \"last\"");
/// # }
/// ```
pub struct Registry {
    middleware: Arc<Middleware>,
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// A registry without tools.
    pub fn new(middleware: impl Into<Arc<Middleware>>) -> Registry {
        Registry { middleware: middleware.into(), tools: BTreeMap::new() }
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Registry {
        self.tools.insert(tool.name().to_owned(), Arc::new(tool));
        self
    }

    /// Replaces the middleware for the next calls.
    pub fn set_middleware(&mut self, middleware: impl Into<Arc<Middleware>>) {
        self.middleware = middleware.into();
    }

    /// Runs calls concurrently. The results are in the order of the calls.
    ///
    /// An unknown tool or a panic is a failed result; the other calls are not affected.
    pub async fn execute(&self, calls: &[ToolCall], session: Option<&str>) -> Vec<ExecutedCall> {
        let contexts: Vec<Context> = calls
            .iter()
            .map(|call| Context {
                tool: Some(call.name.clone()),
                call_id: Some(call.id.clone()),
                session: session.map(str::to_owned),
                ..Context::default()
            })
            .collect();
        let bounded = async |index: usize, output: ToolOutput, share: Option<u64>| {
            let call: &ToolCall = &calls[index];
            let (result, outcome) = self.bound(output, &contexts[index], share).await;
            let ToolCall { id, name, arguments } = call.clone();
            ExecutedCall { call_id: id, name, arguments, result, outcome }
        };
        let Some(total) = self.middleware.total else {
            // Each is bounded as soon as it is complete, so that large outputs do not stay in memory.
            let each = calls.iter().enumerate();
            return join_all(
                each.map(async |(index, call)| bounded(index, self.run(call).await, None).await),
            )
            .await;
        };
        let outputs = join_all(calls.iter().map(|call| self.run(call))).await;
        let size = |(output, context): (&ToolOutput, &Context)| {
            let settings = self.middleware.settings(context, self.declared(context), None);
            let bytes = output.output.len() as u64;
            let most = settings.limits.bytes.unwrap_or(u64::MAX);
            // What is exempt passes whole and takes its size from the total.
            if settings.enabled { (0, bytes.min(most)) } else { (bytes, 0) }
        };
        let (passing, sizes): (Vec<u64>, Vec<u64>) = outputs.iter().zip(&contexts).map(size).unzip();
        let left = total.saturating_sub(passing.iter().sum());
        let shares = shares(&sizes, left, LEAST_SHARE);
        let each = outputs.into_iter().zip(shares).enumerate();
        join_all(each.map(|(index, (output, share))| bounded(index, output, Some(share)))).await
    }

    /// Bounds the output of a call; on another thread if it may have to be stored.
    async fn bound(
        &self,
        output: ToolOutput,
        context: &Context,
        share: Option<u64>,
    ) -> (ToolOutput, ResultOutcome) {
        let declared = self.declared(context);
        if !self.middleware.may_store(&output.output, context, declared, share) {
            return self.middleware.bound_output_within(output, context, declared, share);
        }
        let (middleware, context) = (Arc::clone(&self.middleware), context.clone());
        off_thread(move || middleware.bound_output_within(output, &context, declared, share)).await
    }

    /// The options that the tool of this call declares.
    fn declared(&self, context: &Context) -> Rule {
        let tool = context.tool.as_ref().and_then(|name| self.tools.get(name));
        tool.map_or_else(Rule::default, |tool| tool.rule())
    }

    async fn run(&self, call: &ToolCall) -> ToolOutput {
        let Some(tool) = self.tools.get(&call.name) else {
            let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            return ToolOutput::failed(format!("no tool {:?}; available: {}", call.name, known.join(", ")));
        };
        let calling = AssertUnwindSafe(async { tool.call(&call.arguments).await });
        calling.catch_unwind().await.unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
            let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            ToolOutput::failed(format!("the tool {:?} panicked: {said}", call.name))
        })
    }
}
