//! Document 003, “Truncation 插件化重构”.

use crate::common::noon;
use offcut::systems::takumi::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

#[path = "../../../examples/takumi.rs"]
mod example;

/// The plugin of a user with this home directory.
fn plugin(home: &Path, truncation: Option<bool>) -> TruncationPlugin {
    TruncationPlugin::new(Config { truncation }, home.join(DIRECTORY), noon)
}

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
}

fn image() -> Part {
    serde_json::from_value(json!({"type": "image", "data": "AAAA", "mimeType": "image/png"})).unwrap()
}

fn text_of(result: &ToolResult) -> &str {
    match &result.llm_content {
        LlmContent::Text(text) => text,
        LlmContent::Parts(_) => panic!("expected a text"),
    }
}

/// Discussion 1: the global directory, for all projects.
#[test]
fn discussion_1_directory() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join(DIRECTORY);
    assert!(directory.ends_with(".takumi/tool-output"));
    let result = plugin(home.path(), None).tool_result(ToolResult::text(lines(2001)), "bash");
    assert!(Path::new(&result.output_path.unwrap()).starts_with(&directory));
}

/// Discussion 2: nothing is cleaned, however old.
#[test]
fn discussion_2_nothing_is_cleaned() {
    let home = tempfile::tempdir().unwrap();
    let first = plugin(home.path(), None).tool_result(ToolResult::text(lines(2001)), "bash");
    let later = || noon() + std::time::Duration::from_secs(3650 * 24 * 60 * 60);
    let plugin = TruncationPlugin::new(Config::default(), home.path().join(DIRECTORY), later);
    let second = plugin.tool_result(ToolResult::text(lines(2001)), "bash");
    assert!(second.output_path.is_some());
    assert!(Path::new(&first.output_path.unwrap()).exists());
}

#[test]
fn flow_truncated_is_defined() {
    let home = tempfile::tempdir().unwrap();
    for truncated in [true, false] {
        let result = ToolResult { truncated: Some(truncated), ..ToolResult::text(lines(9000)) };
        assert_eq!(plugin(home.path(), None).tool_result(result.clone(), "bash"), result);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn flow_switched_off() {
    let home = tempfile::tempdir().unwrap();
    for result in [ToolResult::text(lines(9000)), ToolResult::text("small"), ToolResult::parts([image()])] {
        assert_eq!(plugin(home.path(), Some(false)).tool_result(result.clone(), "bash"), result);
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn flow_fits() {
    let home = tempfile::tempdir().unwrap();
    let result = plugin(home.path(), None).tool_result(ToolResult::text("small"), "bash");
    assert_eq!(result, ToolResult { truncated: Some(false), ..ToolResult::text("small") });
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn flow_too_large() {
    let home = tempfile::tempdir().unwrap();
    let result = plugin(home.path(), Some(true)).tool_result(ToolResult::text(lines(3000)), "bash");
    let path = result.output_path.clone().unwrap();
    assert_eq!(result.truncated, Some(true));
    assert_eq!(
        text_of(&result),
        format!(
            "{}\n\n...1000 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved \
             to: {path}\nUse Grep to search the full content or Read with offset/limit to view specific sections.",
            lines(2000)
        )
    );
    assert_eq!(fs::read_to_string(path).unwrap(), lines(3000));
}

/// The fields of the document in its own spelling, and others, survive the types.
#[test]
fn tool_result_type() {
    let json = json!({
        "llmContent": [
            {"type": "text", "text": "a", "cache": true},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "BBBB"},
        ],
        "returnDisplay": {"type": "diff_viewer", "diff": ""},
        "isError": false,
        "metadata": {"agentId": "x"},
        "truncated": true,
        "outputPath": "/tmp/x",
        "later": [1, 2],
    });
    let result: ToolResult = serde_json::from_value(json.clone()).unwrap();
    let LlmContent::Parts(parts) = &result.llm_content else { panic!() };
    assert!(matches!(parts[..], [Part::Text(_), Part::Image(_), Part::Other(_)]), "{parts:?}");
    assert_eq!(serde_json::to_value(&result).unwrap(), json);
    assert_eq!(serde_json::to_value(ToolResult::text("x")).unwrap(), json!({"llmContent": "x"}));
}

#[test]
fn too_large_result_keeps_its_other_fields() {
    let home = tempfile::tempdir().unwrap();
    let json = json!({
        "llmContent": lines(3000), "returnDisplay": "shown", "metadata": {"agentId": "x"}, "later": 1,
    });
    let result: ToolResult = serde_json::from_value(json.clone()).unwrap();
    let shown = serde_json::to_value(plugin(home.path(), None).tool_result(result, "bash")).unwrap();
    for key in ["returnDisplay", "metadata", "later"] {
        assert_eq!(shown[key], json[key]);
    }
}

#[test]
fn plugin_name_and_order() {
    assert_eq!((NAME, ENFORCE), ("truncation", "post"));
}

/// The default is on; the key is the document's.
#[test]
fn config() {
    let read = |text: &str| serde_json::from_str::<Config>(text).unwrap();
    assert_eq!(read(r#"{ "truncation": false }"#), Config { truncation: Some(false) });
    assert_eq!(read(r#"{ "model": "x" }"#), Config::default());
    let home = tempfile::tempdir().unwrap();
    let result = plugin(home.path(), None).tool_result(ToolResult::text(lines(2001)), "bash");
    assert_eq!(result.truncated, Some(true));
}

#[test]
fn edge_errors_are_not_truncated() {
    let home = tempfile::tempdir().unwrap();
    let result = ToolResult { is_error: Some(true), ..ToolResult::text(lines(9000)) };
    assert_eq!(plugin(home.path(), None).tool_result(result.clone(), "bash"), result);
    let fine = ToolResult { is_error: Some(false), ..ToolResult::text(lines(9000)) };
    assert_eq!(plugin(home.path(), None).tool_result(fine, "bash").truncated, Some(true));
}

#[test]
fn edge_only_texts_of_an_array() {
    let home = tempfile::tempdir().unwrap();
    let parts = [Part::text(lines(1500)), image(), Part::text(lines(1500)), image()];
    let result = plugin(home.path(), None).tool_result(ToolResult::parts(parts), "browser");
    let LlmContent::Parts(shown) = result.llm_content else { panic!() };
    let [first, second, Part::Text(last), fourth] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((first, second, fourth), (&Part::text(lines(1500)), &image(), &image()));
    assert!(last.text.starts_with(&format!("{}\n\n...1000 lines truncated...\n\n", lines(500))));
    assert!(last.text.contains(&result.output_path.unwrap()));
    // Only images: nothing to truncate.
    let images = plugin(home.path(), None).tool_result(ToolResult::parts([image()]), "browser");
    assert_eq!(images, ToolResult { truncated: Some(false), ..ToolResult::parts([image()]) });
}

#[test]
fn edge_exactly_at_the_limit() {
    let home = tempfile::tempdir().unwrap();
    let truncated =
        |text: String| plugin(home.path(), None).tool_result(ToolResult::text(text), "bash").truncated;
    assert_eq!(truncated(lines(2000)), Some(false));
    assert_eq!(truncated(lines(2001)), Some(true));
    assert_eq!(truncated("x".repeat(51_200)), Some(false));
    assert_eq!(truncated("x".repeat(51_201)), Some(true));
}

#[test]
fn edge_directory_is_created() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("not/there/yet");
    let plugin = TruncationPlugin::new(Config::default(), &directory, noon);
    let result = plugin.tool_result(ToolResult::text(lines(2001)), "bash");
    assert!(directory.is_dir() && result.output_path.is_some());
}

#[test]
fn edge_writing_fails() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("a file");
    fs::write(&directory, "").unwrap();
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&messages);
    let plugin = TruncationPlugin::new(Config::default(), &directory, noon)
        .log(move |message| log.lock().unwrap().push(message.to_owned()));
    let result = plugin.tool_result(ToolResult::text(lines(2001)), "bash");
    assert_eq!((result.truncated, &result.output_path), (Some(true), &None));
    assert_eq!(text_of(&result), format!("{}\n\n...1 lines truncated...", lines(2000)));
    let messages = messages.lock().unwrap();
    assert!(messages.len() == 1 && messages[0].contains("a file"), "{messages:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// The flow: a text that fits is marked; of a larger one the first 2000 lines are shown, and all of it is saved.
    #[test]
    fn flow_agrees_with_the_document(count in 1900..2100_usize, text in "[a-z漢é ]{0,12}") {
        let home = tempfile::tempdir().unwrap();
        let output = vec![text; count].join("\n");
        let result = plugin(home.path(), None).tool_result(ToolResult::text(&output), "bash");
        if count <= 2000 && output.len() <= 51_200 {
            prop_assert_eq!(result, ToolResult { truncated: Some(false), ..ToolResult::text(output) });
        } else {
            prop_assert_eq!(result.truncated, Some(true));
            prop_assert_eq!(fs::read_to_string(result.output_path.clone().unwrap()).unwrap(), output.clone());
            let (shown, _) = text_of(&result).rsplit_once("\n\n...").unwrap();
            prop_assert!(output.starts_with(shown) && shown.len() <= 51_200);
            let value: Value = serde_json::to_value(&result).unwrap();
            prop_assert_eq!(&value["truncated"], true);
        }
    }
}
