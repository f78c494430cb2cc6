//! Tools whose results are bounded by one registry: `cargo run -p offcut --example registry --features registry`

use offcut::results::registry::{Registry, Tool, ToolCall, ToolFuture};
use offcut::results::{Middleware, ToolOutput};
use offcut::store::MemoryStore;
use offcut::strategy::StrategyName;
use offcut::{Limits, Profile, Rule, Storage, Truncator};
use std::sync::Arc;
use std::time::SystemTime;

/// Prints as many lines as it is asked for.
struct Count;

impl Tool for Count {
    fn name(&self) -> &str {
        "count"
    }

    fn call<'a>(&'a self, arguments: &'a str) -> ToolFuture<'a> {
        Box::pin(async move {
            match arguments.trim().parse::<u32>() {
                Ok(most) => ToolOutput::succeeded(
                    (1..=most).map(|number| format!("line {number}\n")).collect::<String>(),
                ),
                Err(error) => ToolOutput::failed(format!("expected a number of lines: {error}")),
            }
        })
    }

    /// Shows the last 20 lines.
    fn rule(&self) -> Rule {
        let limits = Limits { lines: Some(20), ..Limits::default() };
        Rule { strategy: Some(StrategyName::Tail), limits, ..Rule::default() }
    }
}

#[tokio::main]
async fn main() {
    let store = Arc::new(MemoryStore::new(SystemTime::now));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
    let registry = Registry::new(Middleware::new(truncator)).tool(Count);
    let call = |id: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: "count".to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = [call("1", "3"), call("2", "100000"), call("3", "many")];
    for executed in registry.execute(&calls, None).await {
        println!("--- call {}: {:?}", executed.call_id, executed.result.status);
        println!("{}", String::from_utf8_lossy(&executed.result.output));
    }
}
