//! The coding agent's truncation, after its document (000 §8.3, §3.2):
//! `cargo run -p offcut --example coding_agent --features registry`

use offcut::results::ToolOutput;
use offcut::results::registry::{Tool, ToolCall, ToolFuture};
use offcut::systems::coding_agent::*;
use std::sync::Arc;
use std::time::SystemTime;

/// A tool that prints 3,000 lines.
struct Count(&'static str);

impl Tool for Count {
    fn name(&self) -> &str {
        self.0
    }

    fn call<'a>(&'a self, _arguments: &'a str) -> ToolFuture<'a> {
        let lines = (1..=3000).map(|number| format!("{} {number}", self.0)).collect::<Vec<_>>();
        Box::pin(async move { ToolOutput::succeeded(lines.join("\n")) })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    // §8.3: the service, the middleware, the registry.
    let service = TruncationService::new(
        TruncationServiceConfig {
            global: PartialConfig {
                max_lines: Some(2000),
                max_bytes: Some(50 * 1024),
                direction: Some(TruncationDirection::Head),
                storage_dir: Some(directory.path().join("truncation")),
                ..PartialConfig::default()
            },
            tools: TOOL_TRUNCATION_CONFIGS.map(|(tool, config)| (tool.to_owned(), config)).into(),
            on_event: Some(Arc::new(|event| {
                println!("[Truncation] {:?}: {}", event.kind, event.tool_name);
            })),
            ..TruncationServiceConfig::default()
        },
        SystemTime::now,
    )?;
    let middleware = truncation_middleware(&service, ["web_fetch"], |_| ShouldTruncate::Yes);
    let registry =
        ToolRegistry::new(middleware).tool(Count("bash")).tool(Count("grep")).tool(Count("web_fetch"));

    let calls = ["bash", "grep", "web_fetch"].map(|name| ToolCall {
        id: format!("call_{name}"),
        name: name.to_owned(),
        arguments: "{}".to_owned(),
    });
    for executed in registry.execute(&calls, Some("session")).await {
        let output = String::from_utf8_lossy(&executed.result.output);
        let first = output.lines().next().unwrap_or_default();
        println!("{}: {} lines, the first is {first:?}", executed.name, output.lines().count());
    }

    // §3.2: the result of a call without a registry.
    let content = "a line\n".repeat(5000);
    match service.output(&content, &TruncationContext::tool("other")) {
        TruncationResult::Truncated { output_path, removed_lines, .. } => {
            println!("完整内容保存在: {}", output_path.unwrap_or_default());
            println!("移除了 {} 行", removed_lines.unwrap_or_default());
        }
        TruncationResult::Whole { .. } => println!("内容未截断"),
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
