//! Klaude's smart truncation, after its document (004, phases 1 to 4): `cargo run -p offcut --example klaude`

use offcut::systems::klaude::*;
use std::sync::Arc;
use std::time::SystemTime;

/// What `run_tool` returns.
struct ToolResultItem {
    output: String,
    ui_extra: Option<ToolResultUiExtra>,
}

/// Task 2.2: the name of the tool and the id of the call go to the truncation, and what it reports to the user interface.
fn run_tool(name: &str, call_id: &str, output: &str) -> ToolResultItem {
    let result = truncate_tool_output(output, Some(name), Some(call_id));
    let ui_extra = result.ui_extra();
    ToolResultItem { output: result.output, ui_extra }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    // The document's directory is TOOL_OUTPUT_TRUNCATION_DIR.
    let truncation_dir = directory.path().join("klaude");
    let strategy = SmartTruncationStrategy::new(
        TOOL_OUTPUT_MAX_LENGTH,
        TOOL_OUTPUT_DISPLAY_HEAD,
        TOOL_OUTPUT_DISPLAY_TAIL,
        truncation_dir,
        SystemTime::now,
    )?;
    set_truncation_strategy(Arc::new(strategy));

    let small = run_tool("Bash", "call_1", "a short output");
    println!("{}\n", small.output);

    let log: String = (1..=5000).map(|number| format!("line {number} of a log\n")).collect();
    let large = run_tool("Bash", "call_2", &log);
    // The notice, the marker in the middle and the last lines; most of both ends is left out here.
    let marker = large.output.find("... (").unwrap_or_default();
    let last: Vec<&str> = large.output.lines().rev().take(3).collect();
    println!("{}", large.output.lines().take(4).collect::<Vec<_>>().join("\n"));
    println!("(…)\n{}", large.output[marker..].lines().take(4).collect::<Vec<_>>().join("\n"));
    println!("(…)\n{}\n", last.into_iter().rev().collect::<Vec<_>>().join("\n"));

    // Task 4.2: users see what was truncated.
    if let Some(truncation) = large.ui_extra.and_then(|extra| extra.truncation) {
        print!("{}", render_truncation_info(&truncation));
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
