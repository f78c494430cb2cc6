//! OpenCode's truncation, after the examples of its document (001 §9): `cargo run -p offcut --example opencode`

use offcut::systems::opencode::{Direction, Options, Output, ToolContext, ToolResult, Truncate, define_tool};
use serde_json::json;
use std::time::SystemTime;

#[derive(serde::Deserialize)]
struct GrepParameters {
    pattern: String,
    path: String,
}

#[derive(serde::Deserialize)]
struct LogParameters {
    service: String,
    lines: Option<u64>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let truncate = Truncate::new(directory.path().join("tool-output"), SystemTime::now);

    // §9.1: truncate an output.
    let output = "a line of a very long output\n".repeat(5000);
    match truncate.output(&output, Options::default(), None) {
        Output::Truncated { output_path, .. } => {
            println!("输出已截断\n完整文件: {}", output_path.unwrap_or_default());
        }
        Output::Whole { .. } => println!("输出完整"),
    }

    // §9.2: a tool whose result is truncated automatically.
    let grep = define_tool("grep", "搜索文件内容", async |args: GrepParameters, _: ToolContext<'_>| {
        let matches: Vec<String> =
            (1..=4000).map(|number| format!("{}:{number}: {}", args.path, args.pattern)).collect();
        let metadata = [("matchCount".to_owned(), matches.len().into())].into_iter().collect();
        ToolResult { title: format!("搜索结果: {}", args.pattern), output: matches.join("\n"), metadata }
    });

    // §9.3: a tool that truncates its output itself, because the end of a log matters.
    let logs = define_tool("logs", "查看日志", async |args: LogParameters, context: ToolContext<'_>| {
        let logs: Vec<String> = (1..=4000).map(|number| format!("{number} {} ok", args.service)).collect();
        let max_lines = Some(args.lines.unwrap_or(500));
        let options = Options { direction: Some(Direction::Tail), max_lines, ..Options::default() };
        let result = context.truncate.output(&logs.join("\n"), options, context.agent);
        let metadata = [("truncated", json!(result.truncated())), ("logPath", json!(result.output_path()))];
        ToolResult {
            title: format!("{} 日志", args.service),
            output: result.content().to_owned(),
            metadata: metadata.map(|(name, value)| (name.to_owned(), value)).into_iter().collect(),
        }
    });

    let context = ToolContext { truncate: &truncate, agent: None };
    let found = grep.execute(json!({ "pattern": "TODO", "path": "src/main.rs" }), context).await?;
    let shown = logs.execute(json!({ "service": "web", "lines": 3 }), context).await?;
    for result in [found, shown] {
        let lines: Vec<&str> = result.output.lines().collect();
        println!("\n=== {}\n{}", result.title, lines[lines.len().saturating_sub(6)..].join("\n"));
        println!("metadata: {}", serde_json::to_string_pretty(&result.metadata)?);
    }
    if let Err(error) = grep.execute(json!({ "pattern": 7 }), context).await {
        println!("\n{error}");
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
