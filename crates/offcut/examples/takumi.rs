//! Document 003, “Truncation 插件化重构”: `cargo run -p offcut --example takumi`

use offcut::systems::takumi::{Config, DIRECTORY, ENFORCE, LlmContent, NAME, ToolResult, TruncationPlugin};
use std::error::Error;
use std::time::SystemTime;

fn main() -> Result<(), Box<dyn Error>> {
    // A program passes the user's home directory.
    let home = tempfile::tempdir()?;
    let plugin = |config: &str| -> Result<TruncationPlugin, serde_json::Error> {
        let config: Config = serde_json::from_str(config)?;
        let plugin = TruncationPlugin::new(config, home.path().join(DIRECTORY), SystemTime::now);
        Ok(plugin.log(|message| eprintln!("{message}")))
    };
    let on = plugin("{}")?;
    let off = plugin(r#"{ "truncation": false }"#)?;
    println!("plugin {NAME}, enforce {ENFORCE}");

    // 核心流程: the tool ran, and the hook gets its result.
    let lines = |count: u32| (1..=count).map(|line| format!("line {line}\n")).collect::<String>();
    let handled = ToolResult { truncated: Some(true), ..ToolResult::text(lines(5000)) };
    let error = ToolResult { is_error: Some(true), ..ToolResult::text(lines(5000)) };
    for (case, plugin, result) in [
        ("truncated is defined", &on, handled),
        ("truncation is false", &off, ToolResult::text(lines(5000))),
        ("an error", &on, error),
        ("within the limits", &on, ToolResult::text(lines(20))),
        ("over the limits", &on, ToolResult::text(lines(5000))),
    ] {
        let shown = plugin.tool_result(result.clone(), "bash");
        let change = if shown == result { "unchanged" } else { "changed" };
        println!("\n{case}: {change}, truncated: {:?}, outputPath: {:?}", shown.truncated, shown.output_path);
        if let (LlmContent::Text(text), true) = (&shown.llm_content, shown.output_path.is_some()) {
            let end: Vec<&str> = text.lines().skip(1998).collect();
            println!("{}", end.join("\n"));
        }
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
