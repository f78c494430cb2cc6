//! Document 002, “工具输出截断设计文档（统一策略）”: `cargo run -p offcut --example unified`

use offcut::systems::unified::{Envelope, UnifiedTruncation, Variables};
use serde_json::json;
use std::error::Error;
use std::time::SystemTime;

fn main() -> Result<(), Box<dyn Error>> {
    let project_root = tempfile::tempdir()?;
    // §9: the variables of the document. A program passes `std::env::vars()`.
    let variables = Variables::from_variables(
        [
            ("TOOL_OUTPUT_MAX_LINES", "2000"),
            ("TOOL_OUTPUT_MAX_BYTES", "51200"),
            ("TOOL_OUTPUT_TRUNCATE_DIRECTION", "head"),
            ("TOOL_OUTPUT_DIR", "tool-output"),
            ("TOOL_OUTPUT_RETENTION_DAYS", "7"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    )?;
    let truncation = UnifiedTruncation::new(variables, project_root.path(), SystemTime::now)?;

    // §3: a response within the limits is returned as it is, a larger one is truncated and saved.
    let response = |lines: u32, context: serde_json::Value| {
        let content: String = (1..=lines).map(|line| format!("line {line}\n")).collect();
        json!({"status": "success", "data": {"content": content}, "text": "Read a file", "context": context})
            .to_string()
    };
    let small = response(20, json!({"cwd": "."}));
    assert_eq!(truncation.truncate(&small, "Read"), small);
    let shown = truncation.truncate(&response(5234, json!({"cwd": "."})), "Read").into_owned();

    // §5: the format of what is returned, here with the end of the preview only.
    let mut envelope: Envelope = serde_json::from_str(&shown)?;
    let preview = envelope.truncated_data().ok_or("not truncated")?.preview;
    let end: Vec<&str> = preview.lines().rev().take(2).collect();
    envelope.data["preview"] = json!(format!("...\n{}\n{}", end[1], end[0]));
    println!("{}", serde_json::to_string_pretty(&envelope)?);

    // §6: a response that asks for it is not truncated.
    let skipped = response(5234, json!({"cwd": ".", "truncation_skip": true}));
    assert_eq!(truncation.truncate(&skipped, "Read"), skipped);

    // §4: files are removed after 7 days.
    println!("expired files removed: {}", truncation.cleanup()?);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
