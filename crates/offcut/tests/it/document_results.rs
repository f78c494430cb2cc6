//! The scenarios of tool results in the profiles' source documents.

use crate::common::{Fault, Faulty, cut, lines, middleware, noon, numbered, stored, through};
use offcut::profile::TaskTool;
use offcut::results::{
    BoundedJson, Decision, Middleware, ResultOutcome, Shape, ShapeChoice, SkipReason, panel, truncation_panel,
};
use offcut::store::{FsStore, Store};
use offcut::strategy::StrategyName;
use offcut::{Context, Profile, Rule, Saved, Storage, Truncator};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn opencode_seed_001_section_7_1_result() {
    let (middleware, ..) = middleware("opencode", Rule::default());
    let result = json!({"title": "T", "output": numbered(3000), "metadata": {"count": 7}});
    let (value, outcome) = through(&middleware, &result, "grep");
    let preview = cut(outcome);
    assert_eq!(value["title"], "T");
    assert_eq!(value["metadata"]["count"], 7);
    assert_eq!(value["metadata"]["truncated"], true);
    let path = value["metadata"]["outputPath"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), numbered(3000));
    let output = value["output"].as_str().unwrap();
    assert!(output.contains("\n\n...1000 lines truncated...\n\n"), "{output}");
    assert!(output.contains(path));
    assert_eq!(stored(&preview), numbered(3000).as_bytes());
    // A result that fits is marked in `metadata`, which is created if absent.
    let (value, outcome) = through(&middleware, &json!({"title": "", "output": "x"}), "grep");
    assert!(matches!(outcome, ResultOutcome::Fits));
    assert_eq!(value["metadata"], json!({"truncated": false}));
}

#[test]
fn opencode_seed_001_section_7_2_tool_that_truncates_itself() {
    // The custom tool shows its last 1000 lines and reports it: nothing is cut again.
    let limits = lines(1000);
    let rule = Rule { limits, strategy: Some(StrategyName::Tail), ..Rule::default() };
    let (tool, ..) = middleware("opencode", rule);
    let text = numbered(5000);
    let shown = tool.truncator().apply(text.as_bytes(), &Context::tool("custom"));
    let preview = shown.preview().unwrap();
    let Saved::Complete(entry) = preview.saved() else { panic!("not kept") };
    let result = json!({
        "title": "Custom Tool Result",
        "output": String::from_utf8_lossy(preview.content()),
        "metadata": {"truncated": true, "customPath": entry.path},
    });
    let (around, store, _directory) = middleware("opencode", Rule::default());
    let (value, outcome) = through(&around, &result, "custom");
    assert!(matches!(outcome, ResultOutcome::Skipped(SkipReason::TruncatedByTool)));
    assert_eq!(value, result);
    assert_eq!(store.ids().unwrap(), []);
    // The same if it reports `false` and is far too large.
    let result = json!({"title": "", "output": numbered(9000), "metadata": {"truncated": false}});
    assert!(matches!(
        through(&around, &result, "custom").1,
        ResultOutcome::Skipped(SkipReason::TruncatedByTool)
    ));
}

#[test]
fn coding_agent_seed_000_section_7_result() {
    let (service, ..) = middleware("coding-agent", Rule { limits: lines(10), ..Rule::default() });
    let result = |output: &str| json!({"success": true, "output": output, "metadata": {"code": 0}});
    let (value, outcome) = through(&service, &result(&numbered(100)), "custom");
    cut(outcome);
    assert_eq!(value["metadata"]["truncated"], true);
    assert_eq!(value["metadata"]["truncationRemovedLines"], 90);
    assert_eq!(value["metadata"].get("truncationRemovedBytes"), None);
    assert!(value["metadata"]["truncationPath"].as_str().unwrap().contains("custom_"));
    let failed = json!({"success": false, "output": "", "error": numbered(100)});
    assert!(through(&service, &failed, "x").0["error"].as_str().unwrap().contains("truncated"));
    for failed in [
        json!({"success": false, "error": "e".repeat(300_000)}),
        json!({"success": false, "output": null, "error": "e".repeat(300_000)}),
        json!({"success": false, "output": "a few words", "error": "e".repeat(300_000)}),
    ] {
        let (value, _) = through(&service, &failed, "x");
        assert!(value["error"].as_str().unwrap().len() < 60_000);
        assert_eq!((&value["metadata"]["truncated"], &value["output"]), (&json!(true), &failed["output"]));
    }
    // No text; truncated by the tool; tool excluded; decided by the caller.
    let empty = json!({"success": true, "output": ""});
    assert_eq!(through(&service, &empty, "x").0, empty);
    let handled = json!({"success": true, "output": numbered(99), "metadata": {"truncated": true}});
    assert_eq!(through(&service, &handled, "x").0, handled);
    let service = service.skip_tools(["web_fetch"]).decide(|call| match call.context.tool.as_deref() {
        Some("listed") => Decision::Skip,
        Some("tight") => Decision::BoundWith(Rule { limits: lines(3), ..Rule::default() }),
        _ => Decision::Bound,
    });
    let long = result(&numbered(50));
    assert!(matches!(
        through(&service, &long, "web_fetch").1,
        ResultOutcome::Skipped(SkipReason::ToolExcluded)
    ));
    assert!(matches!(
        through(&service, &long, "listed").1,
        ResultOutcome::Skipped(SkipReason::CallerDecision)
    ));
    assert_eq!(through(&service, &long, "tight").0["metadata"]["truncationRemovedLines"], 47);
    // The profile exempts `read`; a failed tool is bounded like any other.
    let (service, ..) = middleware("coding-agent", Rule::default());
    assert!(matches!(through(&service, &result(&numbered(4000)), "read").1, ResultOutcome::Fits));
    let failed = json!({"success": false, "output": numbered(4000), "error": "exit 3"});
    let (value, _) = through(&service, &failed, "grep");
    assert_eq!(value["metadata"]["truncated"], true);
    assert_eq!((&value["success"], &value["error"]), (&json!(false), &json!("exit 3")));
}

/// The limits apply to the whole result: `output` and `error` share them, and a short one stays as it is.
#[test]
fn coding_agent_output_and_error_share_the_limits() {
    let ten = Rule { limits: lines(10), ..Rule::default() };
    let (by_lines, ..) = middleware("coding-agent", ten);
    let (by_bytes, ..) = middleware("coding-agent", Rule::default());
    let long = "e".repeat(80_000);
    let (few, many) = (numbered(3), numbered(100));
    let cases = [
        (&by_lines, &many, &few),
        (&by_lines, &few, &many),
        (&by_lines, &many, &many),
        (&by_bytes, &"o".repeat(2_000), &long),
        (&by_bytes, &long, &"e".repeat(2_000)),
        (&by_bytes, &long, &long),
        (&by_bytes, &"o".repeat(30_000), &"e".repeat(30_000)),
    ];
    for (service, output, error) in cases {
        let failed = json!({"success": false, "output": output, "error": error});
        let (value, outcome) = through(service, &failed, "x");
        cut(outcome);
        assert_eq!(value["metadata"]["truncated"], true);
        assert!(value["metadata"]["truncationPath"].is_string());
        let (mut shown_lines, mut shown_bytes) = (0, 0);
        for (text, original) in [(&value["output"], output), (&value["error"], error)] {
            let text = text.as_str().unwrap();
            let body = text.split("\n\n...").next().unwrap();
            assert!(original.starts_with(body));
            assert_eq!(body.len() < original.len(), text.contains("truncated...\n\nThe tool call"));
            shown_lines += body.split('\n').count();
            shown_bytes += body.len();
        }
        let (most_lines, most_bytes) =
            if std::ptr::eq(service, &by_lines) { (10, 51_200) } else { (2000, 51_200) };
        assert!(shown_lines <= most_lines && shown_bytes <= most_bytes, "{shown_lines} {shown_bytes}");
        assert!(shown_lines * 2 > most_lines || shown_bytes * 2 > most_bytes, "{shown_lines} {shown_bytes}");
        let short = |text: &str| text == few || text.len() == 2_000;
        assert!(!short(output) || value["output"] == **output);
        assert!(!short(error) || value["error"] == **error);
    }
    let fits = json!({"success": false, "output": "o".repeat(20_000), "error": "e".repeat(20_000)});
    let (value, _) = through(&by_bytes, &fits, "x");
    assert_eq!((&value["output"], &value["error"]), (&fits["output"], &fits["error"]));
    assert_eq!(value["metadata"], json!({"truncated": false}));
}

#[test]
fn unified_seed_002_section_5_envelope() {
    let (unified, ..) = middleware("unified", Rule::default());
    let stdout: String = (1..=5000).map(|line| format!("{line} C:\\new\n")).collect();
    let envelope = json!({
        "status": "success", "data": {"stdout": stdout}, "text": "done",
        "stats": {"time_ms": 12}, "context": {"cwd": "."}, "error": null,
    });
    let (value, outcome) = through(&unified, &envelope, "Bash");
    let preview = cut(outcome);
    assert_eq!(value["status"], "partial");
    assert_eq!(value["stats"], envelope["stats"]);
    assert_eq!(value["context"], envelope["context"]);
    assert_eq!(value["error"], Value::Null);
    let data = value["data"].as_object().unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["preview", "truncated", "truncation"]);
    let truncation = &value["data"]["truncation"];
    assert_eq!(
        (&truncation["direction"], &truncation["max_lines"], &truncation["max_bytes"]),
        (&json!("head"), &json!(2000), &json!(51200))
    );
    let shown = value["data"]["preview"].as_str().unwrap();
    assert_eq!(truncation["kept_lines"], shown.lines().count());
    assert_eq!(truncation["kept_bytes"], shown.len());
    assert!(truncation["original_lines"].as_u64().unwrap() > 5000);
    // A literal backslash-n is not a line break; an escaped line feed is.
    assert!(
        shown.contains("\n1999 C:\\\\new\n") || shown.contains("\n1990 C:\\\\new\n"),
        "{}",
        &shown[..200]
    );
    let path = truncation["full_output_path"].as_str().unwrap();
    assert!(path.ends_with("_Bash.json"));
    assert_eq!(
        value["text"].as_str().unwrap(),
        format!(
            "⚠️ 输出过大已截断，完整内容见 {path}\n\
             Use Read with pagination or Grep to search the full output file {path}"
        )
    );
    assert_eq!(stored(&preview), envelope.to_string().as_bytes());
    // An error keeps its status; `truncation_skip` leaves all bytes unchanged; with the Task tool the hint differs.
    let mut error = envelope.clone();
    error["status"] = json!("error");
    error["error"] = json!({"code": "TIMEOUT"});
    let (value, _) = through(&unified, &error, "Bash");
    assert_eq!((&value["status"], &value["error"]["code"]), (&json!("error"), &json!("TIMEOUT")));
    let mut skipped = envelope.clone();
    skipped["context"]["truncation_skip"] = json!(true);
    let text = format!(" {skipped}\n");
    let bounded = unified.bound_json(&text, ShapeChoice::Auto, &Context::tool("Bash")).unwrap();
    assert_eq!(bounded.json, text);
    let (task, ..) = middleware("unified", Rule { task: Some(TaskTool::Available), ..Rule::default() });
    let (value, _) = through(&task, &envelope, "Bash");
    assert!(value["text"].as_str().unwrap().contains("Use Task to have a subagent process the full output"));
}

/// A result that is one long line uses its budget, counted in bytes.
#[test]
fn unified_seed_002_section_5_one_long_line() {
    let (unified, ..) = middleware("unified", Rule::default());
    let minified = json!({"rows": vec![json!({"id": 7, "name": "x"}); 3000]}).to_string();
    for stdout in ["x".repeat(60_000), "漢".repeat(30_000), minified] {
        for strategy in [StrategyName::Head, StrategyName::Tail] {
            let (unified, ..) = match strategy {
                StrategyName::Head => middleware("unified", Rule::default()),
                other => middleware("unified", Rule { strategy: Some(other), ..Rule::default() }),
            };
            let envelope = json!({"status": "success", "data": {"stdout": stdout}, "text": ""});
            let (value, _) = through(&unified, &envelope, "Bash");
            let shown = value["data"]["preview"].as_str().unwrap();
            assert!((51_000..=51_200).contains(&shown.len()), "{strategy:?} {}", shown.len());
            assert_eq!(value["data"]["truncation"]["kept_bytes"], shown.len());
        }
    }
    // `stats` and `context` are kept, unless they alone exceed the limit.
    let stats = |size: usize| {
        let envelope = json!({"status": "success", "data": {"stdout": numbered(9000)}, "text": "",
                              "stats": {"log": "s".repeat(size)}, "context": {"cwd": "."}});
        (through(&unified, &envelope, "Bash").0, envelope)
    };
    let (value, envelope) = stats(40_000);
    assert_eq!(value["stats"], envelope["stats"]);
    let (value, envelope) = stats(60_000);
    assert!(value["stats"]["log"].as_str().unwrap().contains("more bytes)"), "{}", value["stats"]);
    assert_eq!(value["context"], envelope["context"]);
    assert!(value.to_string().len() < 2 * 51_200);
}

/// The path is relative to the root of the project, as in the example of the document.
#[test]
fn unified_seed_002_section_5_relative_path() {
    let project = tempfile::tempdir().unwrap();
    let within = |profile: &str, directory: &std::path::Path| {
        let store = Arc::new(FsStore::new(directory, noon));
        let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store));
        Middleware::new(truncator.project_root(project.path()))
    };
    let envelope = json!({"status": "success", "data": {"stdout": numbered(9000)}, "text": ""});
    let (value, _) = through(&within("unified", &project.path().join("tool-output")), &envelope, "Read");
    let path = "tool-output/tool_20260223_153045_Read.json";
    assert_eq!(value["data"]["truncation"]["full_output_path"], path);
    assert!(value["text"].as_str().unwrap().starts_with(&format!("⚠️ 输出过大已截断，完整内容见 {path}\n")));
    assert_eq!(std::fs::read_to_string(project.path().join(path)).unwrap(), envelope.to_string());
    // Elsewhere, and under the other profiles, it is absolute.
    let other = tempfile::tempdir().unwrap();
    let (value, _) = through(&within("unified", &other.path().join("x")), &envelope, "Read");
    assert!(value["data"]["truncation"]["full_output_path"].as_str().unwrap().starts_with('/'));
    let result = json!({"title": "", "output": numbered(9000)});
    let (value, _) = through(&within("opencode", &project.path().join("data")), &result, "Read");
    assert!(value["metadata"]["outputPath"].as_str().unwrap().starts_with('/'));
}

#[test]
fn unified_pages_have_the_readable_form() {
    let (unified, store, _directory) = middleware("unified", Rule::default());
    let envelope = json!({"status": "success", "data": {"stdout": numbered(9000)}, "text": ""});
    let preview = cut(through(&unified, &envelope, "Bash").1);
    let Saved::Complete(entry) = preview.saved() else { panic!("not kept") };
    let range = offcut::retrieve::Range::lines("10:11").unwrap();
    let page =
        offcut::retrieve::page(&*store, entry, range, Default::default(), &offcut::event::DiscardEvents)
            .unwrap();
    assert_eq!(String::from_utf8_lossy(&page.content), "line8\nline9\n");
}

#[test]
fn takumi_seed_003_result() {
    let (takumi, store, _directory) = middleware("takumi", Rule { limits: lines(4), ..Rule::default() });
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let result = json!({
        "llmContent": [{"type": "text", "text": "a\nb"}, image, {"type": "text", "text": "c\nd\ne\nf"},
                       {"type": "text", "text": "g"}],
        "returnDisplay": "shown",
    });
    let (value, outcome) = through(&takumi, &result, "bash");
    let preview = cut(outcome);
    let parts = value["llmContent"].as_array().unwrap();
    assert_eq!(parts[0]["text"], "a\nb");
    assert_eq!(parts[1], image);
    let path = value["outputPath"].as_str().unwrap();
    assert_eq!(
        parts[2]["text"].as_str().unwrap(),
        format!(
            "c\nd\n\n...3 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output \
             saved to: {path}\nUse Grep to search the full content or Read with offset/limit to view specific sections."
        )
    );
    // The last part is not shown; an empty part would be rejected.
    assert_eq!(parts.len(), 3);
    assert_eq!(stored(&preview), b"a\nb\nc\nd\ne\nf\ng");
    assert_eq!((&value["truncated"], &value["returnDisplay"]), (&json!(true), &json!("shown")));
    let kept = store.ids().unwrap().len();
    // Errors and results that the tool has truncated stay unchanged.
    let error = json!({"llmContent": numbered(100), "isError": true});
    assert_eq!(through(&takumi, &error, "bash").0, error);
    let handled = json!({"llmContent": numbered(100), "truncated": false});
    assert_eq!(through(&takumi, &handled, "bash").0, handled);
    assert_eq!(through(&takumi, &json!({"llmContent": "x"}), "bash").0["truncated"], false);
    assert_eq!(store.ids().unwrap().len(), kept);
    // Only images: nothing to cut. Switched off (`truncation: false`): untouched, byte for byte.
    let images = json!({"llmContent": [image]});
    assert_eq!(through(&takumi, &images, "bash").0, json!({"llmContent": [image], "truncated": false}));
    let off: Rule = serde_json::from_value(json!({"truncation": false})).unwrap();
    let (off, ..) = middleware("takumi", off);
    for text in [numbered(9000), "x".to_owned()] {
        let text = format!(" {} ", json!({"llmContent": text}));
        let bounded = off.bound_json(&text, ShapeChoice::Auto, &Context::tool("bash")).unwrap();
        assert_eq!(bounded.json, text);
        assert!(matches!(bounded.results[0].outcome, ResultOutcome::Skipped(SkipReason::Disabled)));
    }
    // Saving failed: the cut text without a path.
    let truncator = Truncator::new(Profile::named("takumi").unwrap());
    let unsaved = Middleware::new(truncator.storage(Storage::To(Faulty::new(Fault::Create))));
    let (value, _) = through(&unsaved, &json!({"llmContent": numbered(3000)}), "bash");
    assert_eq!((&value["truncated"], value.get("outputPath")), (&json!(true), None));
    assert!(!value["llmContent"].as_str().unwrap().contains("saved to"));
}

#[test]
fn klaude_seed_004_result() {
    let (klaude, ..) = middleware("klaude", Rule::default());
    let item =
        json!({"call_id": "c1", "tool_name": "Bash", "status": "success", "output": "é".repeat(50_000)});
    let text = item.to_string();
    let BoundedJson { json, results, .. } =
        klaude.bound_json(&text, ShapeChoice::Auto, &Context::default()).unwrap();
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(results[0].shape, Shape::Klaude);
    assert_eq!(results[0].context.call_id.as_deref(), Some("c1"));
    let truncation = &value["ui_extra"]["truncation"];
    assert_eq!(value["ui_extra"]["type"], "truncation");
    assert_eq!(
        (&truncation["original_length"], &truncation["truncated_length"]),
        (&json!(50_000), &json!(30_000))
    );
    let path = truncation["saved_file_path"].as_str().unwrap();
    assert!(path.contains("Bash-c1-"));
    assert!(
        value["output"]
            .as_str()
            .unwrap()
            .starts_with("[Output truncated: 30000 chars hidden, full output saved to")
    );
    // For people: path, original size, shown size.
    let ResultOutcome::Truncated(preview) = &results[0].outcome else { panic!("not cut") };
    let panel = panel(&results[0].context, preview);
    for part in ["Bash (c1): output truncated", "50000 chars", "20000 chars", path] {
        assert!(panel.contains(part), "{part} is not in {panel}");
    }
    let info = truncation_panel(path, 50_000, 30_000);
    assert_eq!(
        info,
        format!(
            "╭ output truncated\n│ original    50000 chars\n│ not shown   30000 chars\n│ full output {path}\n╰\n"
        )
    );
    // Not stored: no extra, because it would contain a path.
    let truncator = Truncator::new(Profile::named("klaude").unwrap());
    let unsaved = Middleware::new(truncator.storage(Storage::To(Faulty::new(Fault::Commit))));
    let (value, _) = through(&unsaved, &item, "Bash");
    assert_eq!(value.get("ui_extra"), None);
    assert!(value["output"].as_str().unwrap().contains("could not be saved"));
}
