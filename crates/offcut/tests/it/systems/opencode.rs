//! Document 001, “OpenCode 输出截断机制”.

use crate::common::noon;
use offcut::profile::presets;
use offcut::retention::Cleaning;
use offcut::store::FsStore;
use offcut::strategy::StrategyName;
use offcut::systems::opencode::*;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

#[path = "../../../examples/opencode.rs"]
mod example;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NONE: Options = Options { max_lines: None, max_bytes: None, direction: None };

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
}

fn in_directory(directory: &tempfile::TempDir) -> Truncate {
    Truncate::new(directory.path().join("data").join("tool-output"), noon)
}

fn agent(permission: &str) -> Agent {
    Agent { permission: Some(Permissions::parse(permission).unwrap()) }
}

/// §6.2: the hint without the task tool.
fn hint(path: &str) -> String {
    format!(
        "The tool call succeeded but the output was truncated. Full output saved to: {path}\nUse Grep to search the full content or Read with offset/limit to view specific sections."
    )
}

/// §6.2: the hint with the task tool. The space before the second line break is the document's.
fn task_hint(path: &str) -> String {
    format!(
        "The tool call succeeded but the output was truncated. Full output saved to: {path}\nUse the Task tool to have a subagent process this file with Grep and Read (with offset/limit). \nDo NOT read the full file yourself - delegate to save context."
    )
}

#[test]
fn s3_1_a_result_is_narrowed_by_match() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = in_directory(&directory);
    let text = lines(2001);
    let Output::Truncated { content, output_path: Some(path) } = truncate.output(&text, NONE, None) else {
        panic!("not truncated");
    };
    assert_eq!(content, format!("{}\n\n...1 lines truncated...\n\n{}", lines(2000), hint(&path)));
    assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    let text = lines(2000);
    assert_eq!(truncate.output(&text, NONE, None), Output::Whole { content: text });
}

#[test]
fn s3_3_constants_are_those_of_the_profile() {
    let profile = Profile::named("opencode").unwrap();
    let limits = profile.settings(None, Rule::default()).unwrap().limits;
    assert_eq!(
        limits,
        Limits { lines: Some(Truncate::MAX_LINES), bytes: Some(Truncate::MAX_BYTES), ..Limits::default() }
    );
    assert_eq!((Truncate::MAX_LINES, Truncate::MAX_BYTES), (2000, 51200));
    assert_eq!(Truncate::RETENTION, DAY * profile.retention_days().unwrap());
    assert_eq!(Truncate::RETENTION.as_millis(), 604_800_000);
    let truncate = Truncate::new("/data/tool-output", noon);
    assert_eq!(truncate.dir(), Path::new("/data/tool-output"));
    assert_eq!(truncate.glob(), Path::new("/data/tool-output/*"));
}

/// The preview, how much is not shown and in which unit: §4.3 and §4.4, written from their text.
fn documented(text: &str, max_lines: usize, max_bytes: usize, direction: Direction) -> (String, usize, &str) {
    let all: Vec<&str> = text.split('\n').collect();
    let (mut out, mut bytes, mut hit_bytes) = (Vec::new(), 0, false);
    if direction == Direction::Head {
        for (i, line) in all.iter().enumerate().take(max_lines) {
            let size = line.len() + usize::from(i > 0);
            if bytes + size > max_bytes {
                hit_bytes = true;
                break;
            }
            out.push(*line);
            bytes += size;
        }
    } else {
        for line in all.iter().rev() {
            if out.len() >= max_lines {
                break;
            }
            let size = line.len() + usize::from(!out.is_empty());
            if bytes + size > max_bytes {
                hit_bytes = true;
                break;
            }
            out.insert(0, *line);
            bytes += size;
        }
    }
    match hit_bytes {
        true => (out.join("\n"), text.len() - bytes, "bytes"),
        false => (out.join("\n"), all.len() - out.len(), "lines"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Differences: where the document would show nothing, or only an empty line, part of a line or one more is shown.
    #[test]
    fn s4_agrees_with_the_loops_of_the_document(
        text in "([a-z漢é ]{0,12}\n?){0,40}",
        max_lines in 1..30_usize,
        max_bytes in 1..200_usize,
        is_tail in any::<bool>(),
        has_task in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let direction = if is_tail { Direction::Tail } else { Direction::Head };
        let options = Options {
            max_lines: Some(max_lines as u64),
            max_bytes: Some(max_bytes as u64),
            direction: Some(direction),
        };
        let agent = agent(if has_task { r#"{"task": "allow"}"# } else { r#"{"task": "deny"}"# });
        let result = in_directory(&directory).output(&text, options, Some(&agent));
        if text.split('\n').count() <= max_lines && text.len() <= max_bytes {
            prop_assert_eq!(result, Output::Whole { content: text });
            return Ok(());
        }
        let (preview, removed, unit) = documented(&text, max_lines, max_bytes, direction);
        if preview.trim().is_empty() {
            return Ok(());
        }
        let path = result.output_path().unwrap().to_owned();
        prop_assert_eq!(&std::fs::read_to_string(&path).unwrap(), &text);
        let hint = if has_task { task_hint(&path) } else { hint(&path) };
        let content = match direction {
            Direction::Head => format!("{preview}\n\n...{removed} {unit} truncated...\n\n{hint}"),
            Direction::Tail => format!("...{removed} {unit} truncated...\n\n{hint}\n\n{preview}"),
        };
        prop_assert_eq!(result, Output::Truncated { content, output_path: Some(path) });
    }
}

#[test]
fn s5_1_file_names() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = in_directory(&directory);
    let result = truncate.output(&lines(2001), NONE, None);
    let path = Path::new(result.output_path().unwrap());
    assert_eq!(path.parent(), Some(truncate.dir()));
    let name = path.file_name().unwrap().to_str().unwrap();
    let random = name.strip_prefix("tool_20260223_").unwrap();
    assert!(!random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
}

#[test]
fn s5_2_cleanup_removes_expired_files() {
    let directory = tempfile::tempdir().unwrap();
    let saved = in_directory(&directory).output(&lines(2001), NONE, None);
    let path = saved.output_path().unwrap();
    let dir = directory.path().join("data").join("tool-output");
    // Appendix A: files that OpenCode left. The time is the one in the name.
    for name in ["tool_20260215_abc123", "tool_20260222_def456", "tool_notes", "notes_20250220_abc123"] {
        std::fs::write(dir.join(name), "of OpenCode").unwrap();
    }
    let exist = |names: &[&str]| names.iter().all(|name| dir.join(name).exists());
    assert_eq!(Truncate::new(&dir, noon).cleanup().unwrap(), 1);
    assert!(exist(&[path, "tool_20260222_def456", "tool_notes", "notes_20250220_abc123"]));
    assert!(!exist(&["tool_20260215_abc123"]));
    assert_eq!(Truncate::new(&dir, || noon() + DAY * 8).cleanup().unwrap(), 2);
    assert!(exist(&["tool_notes", "notes_20250220_abc123"]));
    assert!(!Path::new(path).exists());
}

#[test]
fn s5_3_the_first_cut_cleans() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path().join("tool-output");
    let earlier = Truncator::new(Profile::named("opencode").unwrap())
        .storage(Storage::To(Arc::new(FsStore::new(&dir, noon))))
        .cleaning(Cleaning::Manual);
    let text = lines(2001);
    let outcome = earlier.apply(&text, &Context::default());
    let expired = outcome.preview().unwrap().entry().unwrap().path.clone().unwrap();
    let leftover = dir.join("tool_20250220_abc123");
    std::fs::write(&leftover, "of OpenCode").unwrap();
    let truncate = Truncate::new(&dir, || noon() + DAY * 8);
    assert!(!truncate.output("small", NONE, None).truncated());
    assert!(expired.exists());
    let kept = truncate.output(&text, NONE, None);
    let deadline = SystemTime::now() + Duration::from_secs(60);
    while expired.exists() && SystemTime::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!expired.exists());
    assert!(Path::new(kept.output_path().unwrap()).exists());
    // What OpenCode itself left is removed only on request.
    assert!(leftover.exists());
    assert_eq!(truncate.cleanup().unwrap(), 1);
    assert!(!leftover.exists());
}

#[test]
fn s6_1_task_tool_is_assumed_only_if_rules_allow_it() {
    assert!(!has_task_tool(None));
    assert!(!has_task_tool(Some(&Agent::default())));
    for (permission, expected) in [
        (r#"{"task": "allow"}"#, true),
        (r#"{"task": "ask"}"#, true),
        (r#"{"task": "deny"}"#, false),
        (r#"{"*": "allow"}"#, true),
        (r#"{"*": "allow", "task": "deny"}"#, false),
        (
            r#"[{"permission": "task", "pattern": "*", "action": "deny"}, {"permission": "*", "pattern": "*", "action": "allow"}]"#,
            true,
        ),
        (r#"[{"permission": "bash", "pattern": "*", "action": "allow"}]"#, false),
        ("{}", false),
    ] {
        assert_eq!(has_task_tool(Some(&agent(permission))), expected, "{permission}");
    }
}

#[test]
fn s6_2_the_hint_depends_on_the_agent() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = in_directory(&directory);
    let result = truncate.output(&lines(2001), NONE, Some(&agent(r#"{"task": "ask"}"#)));
    assert!(result.content().ends_with(&task_hint(result.output_path().unwrap())), "{}", result.content());
    let result = truncate.output(&lines(2001), NONE, Some(&agent(r#"{"task": "deny"}"#)));
    assert!(result.content().ends_with(&hint(result.output_path().unwrap())), "{}", result.content());
}

#[derive(serde::Deserialize)]
struct Parameters {
    service: String,
    lines: Option<u64>,
}

#[tokio::test]
async fn s7_1_define_validates_runs_truncates_and_marks() {
    let directory = tempfile::tempdir().unwrap();
    let (truncate, agent) = (in_directory(&directory), agent(r#"{"task": "allow"}"#));
    let context = ToolContext { truncate: &truncate, agent: Some(&agent) };
    let calls = AtomicUsize::new(0);
    let tool = define_tool("logs", "Show logs", async |args: Parameters, _: ToolContext<'_>| {
        calls.fetch_add(1, Ordering::Relaxed);
        let metadata = json!({ "count": 7 }).as_object().unwrap().clone();
        ToolResult { title: args.service, output: lines(args.lines.unwrap_or(1) as usize), metadata }
    });
    let result = tool.execute(json!({ "service": "web", "lines": 3000 }), context).await.unwrap();
    let path = result.metadata["outputPath"].as_str().unwrap();
    assert_eq!((&result.metadata["count"], &result.metadata["truncated"]), (&7.into(), &true.into()));
    assert_eq!(
        result.output,
        format!("{}\n\n...1000 lines truncated...\n\n{}", lines(2000), task_hint(path))
    );
    let result = tool.execute(json!({ "service": "web" }), context).await.unwrap();
    assert_eq!((result.title.as_str(), result.output.as_str()), ("web", "line 1"));
    assert_eq!(json!(result.metadata), json!({ "count": 7, "truncated": false }));
    assert_eq!(calls.load(Ordering::Relaxed), 2);

    for invalid in [json!({}), json!({ "service": 7 }), json!("web"), json!(null)] {
        let error = tool.execute(invalid, context).await.unwrap_err().to_string();
        assert!(error.starts_with("the tool logs was called with invalid arguments: "), "{error}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

/// §7.2 and §9.3: the tool of the document that shows the end of a log.
#[tokio::test]
async fn s7_2_a_tool_that_truncates_itself_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = in_directory(&directory);
    let tool = define_tool("logs", "Show logs", async |args: Parameters, context: ToolContext<'_>| {
        let max_lines = Some(args.lines.unwrap_or(500));
        let options = Options { direction: Some(Direction::Tail), max_lines, ..Options::default() };
        let result = context.truncate.output(&lines(3000), options, context.agent);
        let metadata = json!({ "truncated": result.truncated(), "logPath": result.output_path() });
        // Over the limits again: a result that is marked is not measured.
        let output = format!("{}{}", result.content(), "\n".repeat(5000));
        ToolResult { title: args.service, output, metadata: metadata.as_object().unwrap().clone() }
    });
    let context = ToolContext { truncate: &truncate, agent: None };
    let result = tool.execute(json!({ "service": "web" }), context).await.unwrap();
    let path = result.metadata["logPath"].as_str().unwrap();
    let last = lines(3000).split('\n').skip(2500).collect::<Vec<_>>().join("\n");
    let shown = format!("...2500 lines truncated...\n\n{}\n\n{last}", hint(path));
    assert_eq!(result.output, shown + &"\n".repeat(5000));
    assert_eq!(result.metadata.keys().collect::<Vec<_>>(), ["logPath", "truncated"]);
}

#[test]
fn s8_3_options_of_a_call() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = in_directory(&directory);
    let few = Options { max_lines: Some(500), max_bytes: Some(10 * 1024), ..NONE };
    assert!(truncate.output(&lines(1000), few, None).content().contains("\n\n...500 lines truncated...\n\n"));
    let end = Options { direction: Some(Direction::Tail), max_lines: Some(100), ..NONE };
    assert!(truncate.output(&lines(1000), end, None).content().starts_with("...900 lines truncated...\n\n"));
    let zero = Options { max_lines: Some(0), ..NONE };
    assert!(truncate.output(&lines(1000), zero, None).content().starts_with("line 1\n\n...999 lines"));
}

#[test]
fn s10_2_presets_are_those_of_every_profile() {
    let rules = presets();
    for (name, preset) in [("code", PRESETS.code), ("log", PRESETS.log), ("error", PRESETS.error)] {
        let rule = &rules[name];
        assert_eq!((preset.max_lines, preset.max_bytes), (rule.limits.lines, rule.limits.bytes), "{name}");
        let is_tail = rule.strategy == Some(StrategyName::Tail);
        assert_eq!(preset.direction, is_tail.then_some(Direction::Tail), "{name}");
    }
}

/// The document rejects the call when saving fails; here the output stays bounded, and the hint says why.
#[test]
fn s10_3_saving_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let result = Truncate::new(file.join("tool-output"), noon).output(&lines(2001), NONE, None);
    assert_eq!(result.output_path(), None);
    let start = format!(
        "{}\n\n...1 lines truncated...\n\nThe tool call succeeded but the output was truncated. The full output could not be saved: ",
        lines(2000)
    );
    assert!(result.truncated() && result.content().starts_with(&start), "{}", result.content());
}
