//! Document 002, “工具输出截断设计文档（统一策略）”.

use crate::common::noon;
use offcut::systems::unified::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

#[path = "../../../examples/unified.rs"]
mod example;

fn in_project(root: &Path, variables: Variables) -> UnifiedTruncation {
    UnifiedTruncation::new(variables, root, noon).unwrap()
}

fn variables(pairs: &[(&str, &str)]) -> Result<Variables, VariableError> {
    Variables::from_variables(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

/// A response whose readable form is `{`, two lines, this many numbers, two lines, `}`.
fn rows(count: u32) -> Value {
    json!({
        "status": "success", "data": {"rows": (1..=count).collect::<Vec<_>>()}, "text": "done",
        "stats": {"time_ms": 12}, "context": {"cwd": ".", "params_input": {"path": "a"}}, "error": null,
        "version": 3,
    })
}

/// A response on several lines, which its readable form has, too.
fn pretty(response: &Value) -> String {
    serde_json::to_string_pretty(response).unwrap()
}

fn truncate(truncation: &UnifiedTruncation, response: &Value, tool: &str) -> Envelope {
    serde_json::from_str(&truncation.truncate(&pretty(response), tool)).unwrap()
}

/// §3: all tools have the same rules, also one whose response is not the object of §5.
#[test]
fn s3_responses_that_are_not_objects_are_truncated() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let rows: Vec<Value> = (0..20_000).map(|row| json!({ "row": row })).collect();
    let text = "a line of text\n".repeat(20_000);
    let responses = [
        json!(rows).to_string(),
        json!(vec![7; 60_000]).to_string(),
        json!(text).to_string(),
        text,
        format!("{{\"status\": {}", "x".repeat(60_000)),
    ];
    for response in responses {
        let shown = truncation.truncate(&response, "Read");
        assert!(shown.len() < 60_000 + 3_000, "{}", shown.len());
        let envelope: Envelope = serde_json::from_str(&shown).unwrap();
        assert_eq!(envelope.status, "partial");
        let TruncatedData { truncation, preview, .. } = envelope.truncated_data().unwrap();
        assert!(
            !preview.is_empty() && preview.len() as u64 <= MAX_BYTES && truncation.kept_lines <= MAX_LINES
        );
        assert_eq!(truncation.kept_bytes, preview.len() as u64);
        assert_eq!(truncation.original_bytes, response.len() as u64);
        let path = truncation.full_output_path.unwrap();
        assert!(envelope.text.starts_with(&format!("⚠️ 输出过大已截断，完整内容见 {path}\nUse Read with")));
        assert_eq!(fs::read_to_string(root.path().join(path)).unwrap(), response);
    }
    for small in ["[1, 2]", "\"text\"", "plain text\n", "", "{\"a\": "] {
        assert_eq!(truncation.truncate(small, "Read"), small);
    }
}

fn truncation_of(envelope: &Envelope) -> Truncation {
    envelope.truncated_data().unwrap().truncation
}

#[test]
fn s3_defaults() {
    let defaults = Variables {
        max_lines: 2000,
        max_bytes: 51_200,
        truncate_direction: Direction::Head,
        dir: "tool-output".into(),
        retention_days: 7,
    };
    assert_eq!(Variables::default(), defaults);
}

/// The limits apply to the response as it is serialized.
#[test]
fn s3_within_the_limits_is_returned_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let readable = serde_json::to_string_pretty(&rows(100)).unwrap();
    let exact = |lines: usize, bytes: usize| Variables {
        max_lines: lines as u64,
        max_bytes: bytes as u64,
        ..Variables::default()
    };
    let (lines, bytes) = (readable.lines().count(), readable.len());
    let text = format!(" {readable}\n");
    let passes = |variables| in_project(root.path(), variables).truncate(&text, "LS") == text;
    assert!(passes(exact(lines, bytes)));
    assert!(!passes(exact(lines - 1, bytes)));
    assert!(!passes(exact(lines, bytes - 1)));
}

#[test]
fn s3_compact_response_within_the_limits_is_returned_as_it_is() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let text = json!({"status": "success", "data": vec![7; 2100], "text": ""}).to_string();
    assert_eq!(truncation.truncate(&text, "LS"), text);
    assert!(!root.path().join("tool-output").exists());
}

#[test]
fn s3_escaped_response_over_the_limit_is_truncated() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let escaped = "\\u4e2d".repeat(16_000);
    let text = format!(r#"{{"status":"success","data":{{"c":"{escaped}"}},"text":"t"}}"#);
    let shown = truncation.truncate(&text, "Read");
    assert!(shown.len() <= 52_000, "{} bytes", shown.len());
    let data = serde_json::from_str::<Envelope>(&shown).unwrap().truncated_data().unwrap();
    assert!(data.preview.contains('中') && data.truncation.kept_bytes <= 51_200);
    assert_eq!((data.truncation.max_bytes, data.truncation.original_bytes), (51_200, text.len() as u64));
    let path = root.path().join(data.truncation.full_output_path.unwrap());
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

/// Every tool has the same rules.
#[test]
fn s3_head_and_tail_for_every_tool() {
    for tool in ["Read", "Grep", "LS", "Bash", "new_tool"] {
        for direction in [Direction::Head, Direction::Tail] {
            let root = tempfile::tempdir().unwrap();
            let variables = Variables { truncate_direction: direction, ..Variables::default() };
            let shown = truncate(&in_project(root.path(), variables), &rows(5000), tool);
            let TruncatedData { truncation, preview, .. } = shown.truncated_data().unwrap();
            assert_eq!((truncation.direction, truncation.kept_lines), (direction, 2000), "{tool}");
            let readable = serde_json::to_string_pretty(&rows(5000)).unwrap();
            assert!(match direction {
                Direction::Head => readable.starts_with(&preview),
                Direction::Tail => readable.ends_with(&preview),
            });
        }
    }
}

/// What is shown is the beginning or the end of the readable form: whole lines within both limits, and as many as fit.
fn documented(readable: &str, most_lines: usize, most_bytes: usize, direction: Direction) -> String {
    let all: Vec<&str> = readable.split_inclusive('\n').collect();
    let fits = |lines: &[&str]| lines.concat().len() <= most_bytes;
    let most = (0..=all.len().min(most_lines)).rev().find(|&count| match direction {
        Direction::Head => fits(&all[..count]),
        Direction::Tail => fits(&all[all.len() - count..]),
    });
    let count = most.unwrap_or(0);
    match direction {
        Direction::Head => all[..count].concat(),
        Direction::Tail => all[all.len() - count..].concat(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Difference: a line longer than half of the budget is shown in part.
    #[test]
    fn s3_agrees_with_the_rules_of_the_document(
        items in prop::collection::vec("[a-z漢é ]{0,12}", 0..60),
        max_lines in 1..40_u64,
        max_bytes in 100..600_u64,
        is_tail in any::<bool>(),
    ) {
        let root = tempfile::tempdir().unwrap();
        let direction = if is_tail { Direction::Tail } else { Direction::Head };
        let variables = Variables { max_lines, max_bytes, truncate_direction: direction, ..Variables::default() };
        let response = json!({"status": "success", "data": items, "text": ""});
        let readable = serde_json::to_string_pretty(&response).unwrap();
        let shown = truncate(&in_project(root.path(), variables), &response, "LS");
        let fits = readable.lines().count() as u64 <= max_lines && readable.len() as u64 <= max_bytes;
        match shown.truncated_data() {
            None => prop_assert!(fits),
            Some(data) => {
                prop_assert!(!fits);
                let expected = documented(&readable, max_lines as usize, max_bytes as usize, direction);
                prop_assert_eq!(data.preview.trim_end_matches('\n'), expected.trim_end_matches('\n'));
            }
        }
    }
}

#[test]
fn s4_files() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let text = format!("{}\n", pretty(&rows(5000)));
    for name in ["tool_20260223_153045_Read.json", "tool_20260223_153045_Read_2.json"] {
        let shown: Envelope = serde_json::from_str(&truncation.truncate(&text, "Read")).unwrap();
        let path = truncation_of(&shown).full_output_path.unwrap();
        assert_eq!(path, format!("tool-output/{name}"));
        assert_eq!(fs::read_to_string(root.path().join(path)).unwrap(), text.trim_end());
    }
}

#[test]
fn s5_format() {
    let root = tempfile::tempdir().unwrap();
    let response = rows(5000);
    let readable = serde_json::to_string_pretty(&response).unwrap();
    let shown = truncate(&in_project(root.path(), Variables::default()), &response, "Read");
    let TruncatedData { truncated, truncation, preview } = shown.truncated_data().unwrap();
    assert!(truncated && readable.starts_with(&preview));
    let path = "tool-output/tool_20260223_153045_Read.json";
    assert_eq!(
        truncation,
        Truncation {
            direction: Direction::Head,
            max_lines: 2000,
            max_bytes: 51_200,
            original_lines: readable.lines().count() as u64,
            original_bytes: readable.len() as u64,
            kept_lines: preview.lines().count() as u64,
            kept_bytes: preview.len() as u64,
            full_output_path: Some(path.to_owned()),
        }
    );
    assert_eq!(shown.status, "partial");
    assert!(shown.text.starts_with(&format!("⚠️ 输出过大已截断，完整内容见 {path}\n")), "{}", shown.text);
    assert_eq!(shown.data.as_object().unwrap().len(), 3);
    let before: Envelope = serde_json::from_value(response).unwrap();
    assert_eq!((&shown.stats, &shown.context), (&before.stats, &before.context));
    assert_eq!((&shown.error, &shown.other), (&Some(Value::Null), &before.other));
}

#[test]
fn s5_error_stays_error() {
    let root = tempfile::tempdir().unwrap();
    let mut response = rows(5000);
    response["status"] = json!("error");
    response["error"] = json!({"code": "TIMEOUT"});
    let shown = truncate(&in_project(root.path(), Variables::default()), &response, "Bash");
    assert_eq!((shown.status.as_str(), shown.error), ("error", Some(json!({"code": "TIMEOUT"}))));
    assert!(shown.data["truncated"] == true);
}

/// An envelope that is a Rust value, and the same as text, have the same result; fields survive the types.
#[test]
fn s5_envelope_as_a_value() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let envelope: Envelope = serde_json::from_value(rows(12_000)).unwrap();
    assert_eq!(serde_json::to_value(&envelope).unwrap(), rows(12_000));
    let shown = truncation.truncate_envelope(envelope.clone(), "Read");
    let text = serde_json::to_string(&envelope).unwrap();
    let same: Envelope = serde_json::from_str(&truncation.truncate(&text, "Read")).unwrap();
    assert_eq!(shown.truncated_data().unwrap().preview, same.truncated_data().unwrap().preview);
    let small: Envelope = serde_json::from_value(rows(5)).unwrap();
    assert_eq!(truncation.truncate_envelope(small.clone(), "Read"), small);
    assert_eq!(small.truncated_data(), None);
}

#[test]
fn s5_saving_fails() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("tool-output"), "a file").unwrap();
    let shown = truncate(&in_project(root.path(), Variables::default()), &rows(5000), "Read");
    assert_eq!(truncation_of(&shown).full_output_path, None);
    assert!(shown.text.starts_with("⚠️ 输出过大已截断，完整内容未能保存: "), "{}", shown.text);
}

#[test]
fn s6_truncation_skip() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let mut response = rows(5000);
    response["context"]["truncation_skip"] = json!(true);
    let text = format!("  {response}  ");
    assert_eq!(truncation.truncate(&text, "Read"), text);
    assert!(serde_json::from_value::<Envelope>(response.clone()).unwrap().truncation_skip());
    assert!(!root.path().join("tool-output").exists());
    response["context"]["truncation_skip"] = json!(false);
    assert_eq!(truncate(&truncation, &response, "Read").status, "partial");
}

#[test]
fn s7_hints() {
    let root = tempfile::tempdir().unwrap();
    let hint = |truncation: UnifiedTruncation| {
        let shown = truncate(&truncation, &rows(5000), "Read");
        let path = truncation_of(&shown).full_output_path.unwrap();
        shown.text.lines().nth(1).unwrap().replace(&path, "PATH")
    };
    let read = "Use Read with pagination or Grep to search the full output file PATH";
    assert_eq!(hint(in_project(root.path(), Variables::default())), read);
    let task = in_project(root.path(), Variables::default()).task_tool(TaskTool::Available);
    assert_eq!(hint(task), "Use Task to have a subagent process the full output file PATH");
    let none = in_project(root.path(), Variables::default()).task_tool(TaskTool::Absent);
    assert_eq!(hint(none), read);
}

/// §8: the history keeps the truncated response; truncating it again changes nothing.
#[test]
fn s8_truncated_output_is_reused() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables { max_bytes: 600, ..Variables::default() });
    let text = rows(5000).to_string();
    let once = truncation.truncate(&text, "Read");
    assert_ne!(once, text);
    assert_eq!(truncation.truncate(&once, "Read"), once);
}

#[test]
fn s9_variables() {
    let given = variables(&[
        ("TOOL_OUTPUT_MAX_LINES", "10"),
        ("TOOL_OUTPUT_MAX_BYTES", "1000"),
        ("TOOL_OUTPUT_TRUNCATE_DIRECTION", "tail"),
        ("TOOL_OUTPUT_DIR", ".tool-output"),
        ("TOOL_OUTPUT_RETENTION_DAYS", "30"),
        ("HOME", "/home/you"),
    ]);
    let expected = Variables {
        max_lines: 10,
        max_bytes: 1000,
        truncate_direction: Direction::Tail,
        dir: ".tool-output".into(),
        retention_days: 30,
    };
    assert_eq!(given.as_ref(), Ok(&expected));
    let root = tempfile::tempdir().unwrap();
    let shown = truncate(&in_project(root.path(), expected), &rows(5000), "Read");
    let truncation = truncation_of(&shown);
    assert_eq!((truncation.kept_lines, truncation.direction), (10, Direction::Tail));
    assert!(truncation.full_output_path.unwrap().starts_with(".tool-output/tool_"));
    let document = [
        ("TOOL_OUTPUT_MAX_LINES", "2000"),
        ("TOOL_OUTPUT_MAX_BYTES", "51200"),
        ("TOOL_OUTPUT_TRUNCATE_DIRECTION", "head"),
        ("TOOL_OUTPUT_DIR", "tool-output"),
        ("TOOL_OUTPUT_RETENTION_DAYS", "7"),
    ];
    assert_eq!(variables(&document), Ok(Variables::default()));
    assert_eq!(variables(&[("TOOL_OUTPUT_DIR", "")]), Ok(Variables::default()));
}

#[test]
fn s9_errors_name_the_variable() {
    for (name, value) in [
        ("TOOL_OUTPUT_MAX_LINES", "0"),
        ("TOOL_OUTPUT_MAX_BYTES", "many"),
        ("TOOL_OUTPUT_TRUNCATE_DIRECTION", "middle"),
        ("TOOL_OUTPUT_RETENTION_DAYS", "-1"),
    ] {
        let error = variables(&[(name, value)]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name}={value:?}: expected ")), "{error}");
    }
}

/// A directory outside the project is named by its whole path.
#[test]
fn s9_absolute_directory() {
    let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let directory = elsewhere.path().join("outputs");
    let variables = Variables { dir: directory.clone(), ..Variables::default() };
    let shown = truncate(&in_project(root.path(), variables), &rows(5000), "Read");
    let path = truncation_of(&shown).full_output_path.unwrap();
    assert!(Path::new(&path).starts_with(directory));
}

/// 超长输出是否触发截断（行数/字节双条件）.
#[test]
fn s10_too_many_lines_or_bytes() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables::default());
    let long = |text: String| json!({"status": "success", "data": {"stdout": text}, "text": ""});
    for (response, is_truncated) in [
        (long("x\n".repeat(1900)), false),
        (long("x\n".repeat(2100)), true),
        (long("x".repeat(51_000)), false),
        (long("x".repeat(51_300)), true),
        (long("漢".repeat(30_000)), true),
    ] {
        let shown = truncate(&truncation, &response, "Bash");
        assert_eq!(shown.truncated_data().is_some(), is_truncated);
        if let Some(data) = shown.truncated_data() {
            let Truncation { kept_lines, kept_bytes, .. } = data.truncation;
            assert!(kept_lines <= 2000 && kept_bytes <= 51_200);
            // The budget is used: 2000 lines, or most of the bytes.
            assert!(kept_lines == 2000 || kept_bytes > 40_000, "{kept_lines} lines, {kept_bytes} bytes");
        }
    }
}

/// 截断后 JSON 仍可解析.
#[test]
fn s10_result_is_json() {
    let root = tempfile::tempdir().unwrap();
    let truncation = in_project(root.path(), Variables { max_bytes: 300, ..Variables::default() });
    let response =
        json!({"status": "success", "data": "\"\\\u{1}漢🙂\n".repeat(200), "text": ""}).to_string();
    let shown = truncation.truncate(&response, "Bash");
    let value: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(value["data"]["truncated"], true);
}

/// 落盘路径正确.
#[test]
fn s10_path() {
    let root = tempfile::tempdir().unwrap();
    let text = pretty(&rows(5000));
    let shown = truncate(&in_project(root.path(), Variables::default()), &rows(5000), "a/../b");
    let path = truncation_of(&shown).full_output_path.unwrap();
    assert!(path.starts_with("tool-output/") && !path.contains(".."), "{path}");
    assert_eq!(fs::read_to_string(root.path().join(path)).unwrap(), text);
}

/// 跳过机制生效.
#[test]
fn s10_skip() {
    let root = tempfile::tempdir().unwrap();
    let response =
        json!({"status": "success", "data": "x".repeat(60_000), "context": {"truncation_skip": true}});
    let text = response.to_string();
    let truncation = in_project(root.path(), Variables::default());
    assert_eq!(truncation.truncate(&text, "Read"), text);
}

/// 过期清理生效.
#[test]
fn s10_expired_files_are_removed() {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    fn after_6_days() -> SystemTime {
        noon() + DAY * 6
    }
    fn after_8_days() -> SystemTime {
        noon() + DAY * 8
    }
    fn after_31_days() -> SystemTime {
        noon() + DAY * 31
    }
    for (days, still, expired) in [
        (7, after_6_days as fn() -> SystemTime, after_8_days as fn() -> SystemTime),
        (30, after_8_days, after_31_days),
    ] {
        let root = tempfile::tempdir().unwrap();
        let variables = Variables { retention_days: days, ..Variables::default() };
        let at = |clock| UnifiedTruncation::new(variables.clone(), root.path(), clock).unwrap();
        let shown = truncate(&at(noon), &rows(5000), "Read");
        let path = root.path().join(truncation_of(&shown).full_output_path.unwrap());
        assert_eq!(at(still).cleanup().unwrap(), 0);
        assert!(path.exists());
        assert_eq!(at(expired).cleanup().unwrap(), 1);
        assert!(!path.exists());
    }
}
