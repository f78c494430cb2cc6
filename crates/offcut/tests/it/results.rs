//! Tool results of every shape: the documents' scenarios, and what a middleware must never do.

use crate::common::{Fault, Faulty, bytes, lines, memory, noon, read_all};
use offcut::middleware::{Bounded, Decision, Middleware, Reason, Shape, ShapeChoice, Verdict, panel};
use offcut::store::{FsStore, Store};
use offcut::strategy::StrategyName;
use offcut::{Context, Kept, Preview, Profile, Rule, Storage, TaskTool, Truncator};
use serde_json::{Value, json};
use std::sync::Arc;

fn middleware(profile: &str, rule: Rule) -> (Middleware, Arc<FsStore>, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), noon));
    let truncator = Truncator::new(Profile::named(profile).unwrap())
        .storage(Storage::To(store.clone()))
        .rule(rule)
        .unwrap();
    (Middleware::new(truncator), store, directory)
}

/// One door: a result through a profile; the value that comes out, and what was decided.
fn through(middleware: &Middleware, result: &Value, tool: &str) -> (Value, Verdict) {
    let text = result.to_string();
    let Bounded { json, mut results, .. } =
        middleware.result(&text, ShapeChoice::Auto, &Context::tool(tool)).unwrap();
    assert_eq!(results.len(), 1, "{}", &text[..text.len().min(200)]);
    (serde_json::from_str(&json).unwrap(), results.remove(0).verdict)
}

#[track_caller]
fn cut(verdict: Verdict) -> Box<Preview> {
    match verdict {
        Verdict::Cut(preview) => preview,
        other => panic!("it was not cut: {other:?}"),
    }
}

fn stored(preview: &Preview) -> Vec<u8> {
    match &preview.kept {
        Kept::Whole(entry) => std::fs::read(entry.path.as_ref().unwrap()).unwrap(),
        other => panic!("it was not kept: {other:?}"),
    }
}

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line{number}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn opencode_seed_001_section_7_1() {
    let (middleware, ..) = middleware("opencode", Rule::default());
    let result = json!({"title": "T", "output": numbered(3000), "metadata": {"count": 7}});
    let (value, verdict) = through(&middleware, &result, "grep");
    let preview = cut(verdict);
    assert_eq!(value["title"], "T");
    assert_eq!(value["metadata"]["count"], 7);
    assert_eq!(value["metadata"]["truncated"], true);
    let path = value["metadata"]["outputPath"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), numbered(3000));
    let output = value["output"].as_str().unwrap();
    assert!(output.contains("\n\n...1000 lines truncated...\n\n"), "{output}");
    assert!(output.contains(path));
    assert_eq!(stored(&preview), numbered(3000).as_bytes());
    // It fits: the mark says so, in a metadata object that is made if need be.
    let (value, verdict) = through(&middleware, &json!({"title": "", "output": "x"}), "grep");
    assert!(matches!(verdict, Verdict::Fits));
    assert_eq!(value["metadata"], json!({"truncated": false}));
}

#[test]
fn opencode_seed_001_section_7_2_a_tool_that_cuts_itself() {
    // The custom tool cuts at 1000 lines from the end, and says so: nothing is cut again.
    let limits = lines(1000);
    let rule = Rule { limits, strategy: Some(StrategyName::Tail), ..Rule::default() };
    let (tool, ..) = middleware("opencode", rule);
    let text = numbered(5000);
    let shown = tool.truncator().apply(text.as_bytes(), &Context::tool("custom"));
    let preview = shown.preview().unwrap();
    let Kept::Whole(entry) = &preview.kept else { panic!("not kept") };
    let result = json!({
        "title": "Custom Tool Result",
        "output": String::from_utf8_lossy(&preview.content),
        "metadata": {"truncated": true, "customPath": entry.path},
    });
    let (around, store, _directory) = middleware("opencode", Rule::default());
    let (value, verdict) = through(&around, &result, "custom");
    assert!(matches!(verdict, Verdict::Passed(Reason::Handled)));
    assert_eq!(value, result);
    assert_eq!(store.ids().unwrap(), []);
    // Also when it says that it was not cut, and is far too large.
    let result = json!({"title": "", "output": numbered(9000), "metadata": {"truncated": false}});
    assert!(matches!(through(&around, &result, "custom").1, Verdict::Passed(Reason::Handled)));
}

#[test]
fn coding_agent_seed_000_section_7() {
    let (service, ..) = middleware("coding-agent", Rule { limits: lines(10), ..Rule::default() });
    let result = |output: &str| json!({"success": true, "output": output, "metadata": {"code": 0}});
    let (value, verdict) = through(&service, &result(&numbered(100)), "custom");
    cut(verdict);
    assert_eq!(value["metadata"]["truncated"], true);
    assert_eq!(value["metadata"]["truncationRemovedLines"], 90);
    assert_eq!(value["metadata"].get("truncationRemovedBytes"), None);
    assert!(value["metadata"]["truncationPath"].as_str().unwrap().contains("custom_"));
    let failed = json!({"success": false, "output": "", "error": numbered(100)});
    assert!(through(&service, &failed, "x").0["error"].as_str().unwrap().contains("truncated"));
    // Nothing to look at; handled by the tool; skipped by name; decided by the caller.
    let empty = json!({"success": true, "output": ""});
    assert_eq!(through(&service, &empty, "x").0, empty);
    let handled = json!({"success": true, "output": numbered(99), "metadata": {"truncated": true}});
    assert_eq!(through(&service, &handled, "x").0, handled);
    let service = service.skip_tools(["web_fetch"]).decide(|call| match call.context.tool.as_deref() {
        Some("listed") => Decision::Pass,
        Some("tight") => Decision::BoundBy(Rule { limits: lines(3), ..Rule::default() }),
        _ => Decision::Bound,
    });
    let long = result(&numbered(50));
    assert!(matches!(through(&service, &long, "web_fetch").1, Verdict::Passed(Reason::SkippedTool)));
    assert!(matches!(through(&service, &long, "listed").1, Verdict::Passed(Reason::Decided)));
    assert_eq!(through(&service, &long, "tight").0["metadata"]["truncationRemovedLines"], 47);
    // The profile exempts `read`; a failed tool is bounded like any other.
    let (service, ..) = middleware("coding-agent", Rule::default());
    assert!(matches!(through(&service, &result(&numbered(4000)), "read").1, Verdict::Fits));
    let failed = json!({"success": false, "output": numbered(4000), "error": "exit 3"});
    let (value, _) = through(&service, &failed, "grep");
    assert_eq!(value["metadata"]["truncated"], true);
    assert_eq!((&value["success"], &value["error"]), (&json!(false), &json!("exit 3")));
}

#[test]
fn unified_seed_002_section_5() {
    let (unified, ..) = middleware("unified", Rule::default());
    let stdout: String = (1..=5000).map(|line| format!("{line} C:\\new\n")).collect();
    let envelope = json!({
        "status": "success", "data": {"stdout": stdout}, "text": "done",
        "stats": {"time_ms": 12}, "context": {"cwd": "."}, "error": null,
    });
    let (value, verdict) = through(&unified, &envelope, "Bash");
    let preview = cut(verdict);
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
    // A literal backslash-n is not a line break; the text's own line breaks are.
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
    // An error stays one; a result that asks to be skipped passes byte for byte; with Task the hint is another.
    let mut error = envelope.clone();
    error["status"] = json!("error");
    error["error"] = json!({"code": "TIMEOUT"});
    let (value, _) = through(&unified, &error, "Bash");
    assert_eq!((&value["status"], &value["error"]["code"]), (&json!("error"), &json!("TIMEOUT")));
    let mut skipped = envelope.clone();
    skipped["context"]["truncation_skip"] = json!(true);
    let text = format!(" {skipped}\n");
    let bounded = unified.result(&text, ShapeChoice::Auto, &Context::tool("Bash")).unwrap();
    assert_eq!(bounded.json, text);
    let (task, ..) = middleware("unified", Rule { task: Some(TaskTool::Available), ..Rule::default() });
    let (value, _) = through(&task, &envelope, "Bash");
    assert!(value["text"].as_str().unwrap().contains("Use Task to have a subagent process the full output"));
}

#[test]
fn unified_pages_are_of_the_readable_form() {
    let (unified, store, _directory) = middleware("unified", Rule::default());
    let envelope = json!({"status": "success", "data": {"stdout": numbered(9000)}, "text": ""});
    let preview = cut(through(&unified, &envelope, "Bash").1);
    let Kept::Whole(entry) = preview.kept else { panic!("not kept") };
    let view = offcut::retrieve::View::new(store);
    let entry = view.entry(&entry.id).unwrap();
    let range = offcut::retrieve::Range::lines("10:11").unwrap();
    let page = offcut::retrieve::page(&view, &entry, range, Default::default(), &offcut::NoSink).unwrap();
    assert_eq!(String::from_utf8_lossy(&page.content), "line8\nline9\n");
}

#[test]
fn takumi_seed_003() {
    let (takumi, store, _directory) = middleware("takumi", Rule { limits: lines(4), ..Rule::default() });
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let result = json!({
        "llmContent": [{"type": "text", "text": "a\nb"}, image, {"type": "text", "text": "c\nd\ne\nf"},
                       {"type": "text", "text": "g"}],
        "returnDisplay": "shown",
    });
    let (value, verdict) = through(&takumi, &result, "bash");
    let preview = cut(verdict);
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
    // Nothing of the last part is shown, and an empty part would be refused.
    assert_eq!(parts.len(), 3);
    assert_eq!(stored(&preview), b"a\nb\nc\nd\ne\nf\ng");
    assert_eq!((&value["truncated"], &value["returnDisplay"]), (&json!(true), &json!("shown")));
    let kept = store.ids().unwrap().len();
    // Errors, and what the tool has handled, are left alone.
    let error = json!({"llmContent": numbered(100), "isError": true});
    assert_eq!(through(&takumi, &error, "bash").0, error);
    let handled = json!({"llmContent": numbered(100), "truncated": false});
    assert_eq!(through(&takumi, &handled, "bash").0, handled);
    assert_eq!(through(&takumi, &json!({"llmContent": "x"}), "bash").0["truncated"], false);
    assert_eq!(store.ids().unwrap().len(), kept);
    // Saving failed: the cut text without a path.
    let truncator = Truncator::new(Profile::named("takumi").unwrap());
    let unsaved = Middleware::new(truncator.storage(Storage::To(Faulty::new(Fault::Create))));
    let (value, _) = through(&unsaved, &json!({"llmContent": numbered(3000)}), "bash");
    assert_eq!((&value["truncated"], value.get("outputPath")), (&json!(true), None));
    assert!(!value["llmContent"].as_str().unwrap().contains("saved to"));
}

#[test]
fn klaude_seed_004() {
    let (klaude, ..) = middleware("klaude", Rule::default());
    let item =
        json!({"call_id": "c1", "tool_name": "Bash", "status": "success", "output": "é".repeat(50_000)});
    let text = item.to_string();
    let Bounded { json, results, .. } = klaude.result(&text, ShapeChoice::Auto, &Context::default()).unwrap();
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
    let Verdict::Cut(preview) = &results[0].verdict else { panic!("not cut") };
    let panel = panel(&results[0].context, preview);
    for part in ["Bash (c1): output truncated", "50000 chars", "20000 chars", path] {
        assert!(panel.contains(part), "{part} is not in {panel}");
    }
    // Not saved: no extra, because it would name a path.
    let truncator = Truncator::new(Profile::named("klaude").unwrap());
    let unsaved = Middleware::new(truncator.storage(Storage::To(Faulty::new(Fault::Commit))));
    let (value, _) = through(&unsaved, &item, "Bash");
    assert_eq!(value.get("ui_extra"), None);
    assert!(value["output"].as_str().unwrap().contains("could not be saved"));
}

/// The interfaces of the models: the same text in each, and where it stands.
fn interfaces(text: &str) -> Vec<(Shape, Value, &'static str)> {
    let part = json!({"type": "text", "text": text});
    let image = json!({"type": "image", "source": {"type": "base64", "data": "AAAA"}});
    vec![
        (Shape::Anthropic, json!({"type": "tool_result", "tool_use_id": "t1", "content": text}), "/content"),
        (
            Shape::Anthropic,
            json!({"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [image, part]}),
            "/content/1/text",
        ),
        (Shape::OpenaiChat, json!({"role": "tool", "tool_call_id": "t1", "content": text}), "/content"),
        (
            Shape::OpenaiChat,
            json!({"role": "tool", "tool_call_id": "t1", "content": [part]}),
            "/content/0/text",
        ),
        (
            Shape::OpenaiResponses,
            json!({"type": "function_call_output", "call_id": "t1", "output": text}),
            "/output",
        ),
        (
            Shape::OpenaiResponses,
            json!({"type": "function_call_output", "call_id": "t1",
                   "output": [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": "x"}]}),
            "/output/0/text",
        ),
        (
            Shape::Gemini,
            json!({"functionResponse": {"id": "t1", "name": "run", "response": {"output": text}}}),
            "/functionResponse/response/output",
        ),
        (
            Shape::Gemini,
            json!({"functionResponse": {"id": "t1", "name": "run", "response": {"error": text}}}),
            "/functionResponse/response/error",
        ),
    ]
}

#[test]
fn the_interfaces_of_the_models() {
    let text = numbered(5000);
    for (shape, result, place) in interfaces(&text) {
        let (native, store, _directory) = middleware("native", Rule::default());
        let written = result.to_string();
        let Bounded { json, results, .. } =
            native.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
        assert_eq!(results[0].shape, shape, "{written:.100}");
        assert_eq!(results[0].context.call_id.as_deref(), Some("t1"), "{shape:?}");
        let mut value: Value = serde_json::from_str(&json).unwrap();
        let Verdict::Cut(preview) = &results[0].verdict else { panic!("{shape:?} was not cut") };
        assert_eq!(value.pointer(place).unwrap().as_str().unwrap().as_bytes(), preview.content, "{shape:?}");
        assert!(preview.content.len() <= 9500);
        // Nothing but the text has changed.
        *value.pointer_mut(place).unwrap() = json!(text);
        assert_eq!(value, result);
        let Kept::Whole(entry) = &preview.kept else { panic!("{shape:?} was not kept") };
        assert_eq!(read_all(&*store, &entry.id), text.as_bytes());
        // What fits passes byte for byte.
        let small = interfaces("short").into_iter().map(|(_, result, _)| format!(" {result} \n"));
        for small in small {
            let bounded = native.result(&small, ShapeChoice::Auto, &Context::default()).unwrap();
            assert_eq!(bounded.json, small);
        }
    }
}

#[test]
fn messages_and_arrays_hold_several_results() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let block = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": numbered(4000)});
    let message = json!({"role": "user", "content": [block("a"), {"type": "text", "text": numbered(4000)}, block("b")]});
    let written = json!([message, {"role": "tool", "tool_call_id": "c", "content": "x"}, 7]).to_string();
    let Bounded { json, results, .. } =
        native.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    let calls: Vec<_> = results.iter().map(|judged| judged.context.call_id.as_deref().unwrap()).collect();
    assert_eq!(calls, ["a", "b", "c"]);
    assert_eq!(store.ids().unwrap().len(), 2);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value[0]["content"][1], message["content"][1], "what a person wrote is not a result");
    assert!(value[0]["content"][2]["content"].as_str().unwrap().len() <= 9500);
}

#[test]
fn mcp_notices_are_parts_of_their_own() {
    let (native, ..) = middleware("native", Rule::default());
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let link = json!({"type": "resource_link", "uri": "file:///x", "name": "x"});
    let result = json!({
        "content": [{"type": "text", "text": numbered(3000)}, image, link,
                    {"type": "resource", "resource": {"uri": "file:///y", "text": "the end"}}],
        "isError": true, "_meta": {"other": 1},
    });
    let (value, verdict) = through(&native, &result, "search");
    let preview = cut(verdict);
    let parts = value["content"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "text", "image", "resource_link", "resource", "text"]);
    assert!(parts[0]["text"].as_str().unwrap().starts_with("[offcut "));
    assert!(parts[1]["text"].as_str().unwrap().starts_with("line1\nline2\n"));
    assert_eq!((&parts[2], &parts[3]), (&image, &link));
    assert_eq!(parts[4]["resource"]["text"], "the end");
    assert!(parts[5]["text"].as_str().unwrap().contains("next: offcut read "));
    assert_eq!(value["isError"], true);
    assert_eq!(value["_meta"]["other"], 1);
    let Kept::Whole(entry) = &preview.kept else { panic!("not kept") };
    assert_eq!(value["_meta"]["offcut.dev/cut"]["id"], entry.id.as_str());
    // Five thousand small blocks are as long as one large one.
    let blocks: Vec<Value> =
        (0..5000).map(|number| json!({"type": "text", "text": format!("block {number}")})).collect();
    let (value, verdict) = through(&native, &json!({"content": blocks}), "search");
    assert!(cut(verdict).content.len() <= 9500);
    assert!(value["content"].as_array().unwrap().len() < 1900);
}

#[test]
fn native_bounds_whatever_a_tool_says_of_itself() {
    let (native, ..) = middleware("native", Rule::default());
    let long = numbered(5000);
    for result in [
        json!({"title": "", "output": long, "metadata": {"truncated": false}}),
        json!({"llmContent": long, "truncated": true, "isError": true}),
        json!({"success": false, "output": long, "metadata": {"truncated": true}}),
        json!({"status": "success", "data": {"text": long}, "context": {"truncation_skip": true}}),
    ] {
        let (value, verdict) = through(&native, &result, "x");
        cut(verdict);
        assert!(value.to_string().len() < 12_000, "{:.300}", value.to_string());
    }
}

#[test]
fn the_end_of_a_result_stays_outside_the_cut() {
    let head = Rule { strategy: Some(StrategyName::Head), ..Rule::default() };
    let (native, ..) = middleware("native", head);
    for trailer in [
        "Exit code: 3",
        "session_id: 8f3a\nexit status 1",
        "<task_metadata>\nsession_id: ses_1\n</task_metadata>\n",
    ] {
        let text = format!("{}\n{trailer}", numbered(5000));
        let (value, verdict) = through(&native, &json!({"title": "", "output": text}), "task");
        let preview = cut(verdict);
        let output = value["output"].as_str().unwrap();
        assert!(output.contains(trailer.trim_end()), "{output}");
        assert!(output.starts_with("[offcut ") && output.contains("\nline1\n"));
        assert!(output.len() <= 9500);
        // And the header's numbers count it as shown.
        assert_eq!(preview.original.bytes, preview.shown.bytes + preview.removed().bytes);
    }
}

#[test]
fn nothing_of_ours_is_cut_or_stored_twice() {
    let both_ends = Some(offcut::strategy::StrategyName::HeadTail);
    let rule = Rule { limits: bytes(20_000), strategy: both_ends, ..Rule::default() };
    let (wide, store, _directory) = middleware("native", rule);
    let text: String = (1..=20_000).map(|number| format!("{number} is the number of this line\n")).collect();
    let (value, verdict) = through(&wide, &json!({"title": "", "output": text}), "bash");
    let preview = cut(verdict);
    let Kept::Whole(entry) = &preview.kept else { panic!("not kept") };
    let tight = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let tight = Middleware::new(tight.rule(Rule { limits: bytes(2000), ..Rule::default() }).unwrap());
    let kept = store.ids().unwrap().len();
    let passes = |output: &str, expected: bool| {
        let result = json!({"title": "", "output": output});
        let (value, verdict) = through(&tight, &result, "bash");
        let passed = matches!(verdict, Verdict::Passed(Reason::Ours));
        assert_eq!(passed, expected, "{output:.300}");
        assert_eq!(value == result, expected);
    };
    let shown = value["output"].as_str().unwrap().to_owned();
    passes(&shown, true);
    // As hosts hand it on: trimmed, with a line of their own.
    passes(&format!("Command finished.\n{}", shown.trim()), true);
    // A page that was full.
    let range = offcut::retrieve::Range::ALL;
    let page = offcut::retrieve::page(&*store, entry, range, Default::default(), &offcut::NoSink).unwrap();
    let foot = format!("[offcut {}: page full at byte {} of {}; next: …]\n", entry.id, page.end, entry.bytes);
    passes(&format!("{}{foot}", String::from_utf8_lossy(&page.content)), true);
    assert_eq!(store.ids().unwrap().len(), kept);
    // What only looks like ours: another text under our header, our whole text, an id that nobody has.
    let header = shown.lines().next().unwrap();
    passes(&format!("{header}\n{}", numbered(3000)), false);
    passes(&format!("{shown}\n{}", numbered(3000)), false);
    passes(&format!("{header}\n{text}"), false);
    passes(&shown.replace(entry.id.as_str(), "0000000000000000"), false);
    passes(&format!("{}{foot}", numbered(1000)), false);
    // A page of everything is not a page.
    let all =
        format!("[offcut {}: page full at byte {} of {}; next: …]\n", entry.id, entry.bytes, entry.bytes);
    passes(&format!("{text}{all}"), false);
}

#[test]
fn an_envelope_is_cut_once_and_all_of_it_is_bounded() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let long = numbered(20_000);
    let envelope = json!({
        "status": "error", "data": {"stdout": format!("C:\\new \"{long}")}, "text": "",
        "error": {"code": "TIMEOUT", "message": long}, "context": {"list": vec!["x"; 9000]}, "more": 1,
    });
    let (value, verdict) = through(&native, &envelope, "bash");
    cut(verdict);
    assert!(value.to_string().len() <= 12_000, "{}", value.to_string().len());
    assert_eq!((&value["status"], &value["more"]), (&json!("error"), &json!(1)));
    assert_eq!(value["error"]["code"], "TIMEOUT");
    assert!(value["error"]["message"].as_str().unwrap().ends_with("more bytes)"));
    assert_eq!(value["context"]["truncated"], true);
    let (again, verdict) = through(&native, &value, "bash");
    assert!(matches!(verdict, Verdict::Passed(Reason::Ours) | Verdict::Fits), "{verdict:?}");
    assert_eq!(again, value);
    assert_eq!(store.ids().unwrap().len(), 1);
}

#[test]
fn previews_of_every_kind_are_known_again() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let tight = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let tight = Middleware::new(tight.rule(Rule { limits: bytes(3000), ..Rule::default() }).unwrap());
    let items: Vec<Value> =
        (0..3000).map(|id| json!({"id": id, "name": format!("name {id}"), "tags": [1, 2]})).collect();
    let hits: String =
        (0..3000).map(|line| format!("src/file{}.rs:{line}:    let x = {line};\n", line / 9)).collect();
    let diff: String = (0..300)
        .map(|file| {
            format!("diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n")
        })
        .collect();
    let source: String =
        (0..900).map(|item| format!("fn item{item}() {{\n    call({item});\n}}\n\n")).collect();
    let colour: String = (0..3000).map(|line| format!("\u{1b}[31m{line}\u{1b}[0m\n")).collect();
    for text in [serde_json::to_string_pretty(&items).unwrap(), hits, diff, source, colour, numbered(9000)] {
        let (value, verdict) = through(&native, &json!({"role": "tool", "content": text}), "bash");
        cut(verdict);
        let kept = store.ids().unwrap().len();
        let (again, verdict) = through(&tight, &value, "bash");
        let content = value["content"].as_str().unwrap();
        // What says the same over and over is folded to less than that.
        let is_short = content.len() <= 3000 && matches!(verdict, Verdict::Fits);
        assert!(is_short || matches!(verdict, Verdict::Passed(Reason::Ours)), "{content:.1500}");
        assert_eq!((again, store.ids().unwrap().len()), (value, kept));
    }
}

#[test]
fn what_a_document_has_cut_native_does_not_cut_again() {
    for profile in ["opencode", "coding-agent", "takumi", "klaude", "unified"] {
        let (first, store, _directory) = middleware(profile, Rule::default());
        let native = Middleware::new(Truncator::new(Profile::native()).storage(Storage::To(store.clone())));
        let result = match profile {
            "unified" => json!({"status": "ok", "data": {"x": numbered(30_000)}, "text": ""}),
            _ => json!({"role": "tool", "content": numbered(30_000)}),
        };
        let (value, verdict) = through(&first, &result, "bash");
        cut(verdict);
        let (again, verdict) = through(&native, &value, "bash");
        // A command's last 500 lines may be short enough by themselves.
        assert!(matches!(verdict, Verdict::Passed(Reason::Ours) | Verdict::Fits), "{profile}: {verdict:?}");
        assert_eq!((again, store.ids().unwrap().len()), (value, 1), "{profile}");
    }
}

#[test]
fn a_response_that_is_data_is_shown_in_its_readable_form() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let deep = format!("{}{}{}", "[".repeat(500), json!(numbered(5000)), "]".repeat(500));
    let written = format!("{{\"functionResponse\":{{\"name\":\"f\",\"response\":{{\"a\":{deep}}}}}}}");
    let bounded = native.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert!(bounded.json.len() < 12_000, "{}", bounded.json.len());
    let items: Vec<String> = (0..50_000).map(|number| format!("s{number}")).collect();
    let result = json!({"name": "f", "response": {"items": items, "numbers": vec![7; 20_000]}});
    let (value, verdict) = through(&native, &result, "f");
    cut(verdict);
    let output = value["response"]["output"].as_str().unwrap();
    assert!(output.len() <= 9500 && output.contains("\"s1\",\n"), "{output:.300}");
    assert!(matches!(through(&native, &value, "f").1, Verdict::Fits | Verdict::Passed(Reason::Ours)));
    let ids = store.ids().unwrap();
    assert_eq!(read_all(&*store, ids.last().unwrap()), result["response"].to_string().as_bytes());
}

#[test]
fn results_that_pass_count_against_the_total() {
    let store = memory();
    let truncator = || Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let message = |tool: &str, content: &str| json!({"role": "tool", "name": tool, "content": content});
    let middleware = Middleware::new(truncator()).total(6000).skip_tools(["kept"]);
    let text = numbered(600);
    let written = json!([message("kept", &text), message("cut", &numbered(1000))]).to_string();
    let bounded = middleware.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert_eq!(bounded.excess, 0);
    let sum: u64 = bounded.results.iter().map(|judged| judged.bytes).sum();
    assert!(sum <= 6000 && bounded.results[0].bytes == text.len() as u64, "{sum}");
    // Exactly the total is within it.
    let sizes = text.len() as u64 * 2;
    let written = json!([message("a", &text), message("b", &text)]).to_string();
    let exact = Middleware::new(truncator()).total(sizes);
    let bounded = exact.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert_eq!(bounded.json, written);
    // What cannot be kept is told.
    let tiny = Middleware::new(truncator()).total(600);
    let bounded = tiny.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert!(bounded.excess > 0 && bounded.excess <= 2 * 512);
}

#[test]
fn a_batch_shares_a_total() {
    let truncator = || Truncator::new(Profile::native()).storage(Storage::To(memory()));
    let results: Vec<Value> = [100, 3000, 40, 9000]
        .into_iter()
        .map(|count| json!({"role": "tool", "tool_call_id": "c", "content": numbered(count)}))
        .collect();
    let written = json!(results).to_string();
    let sizes = |total: u64| {
        let middleware = Middleware::new(truncator()).total(total);
        let bounded = middleware.result(&written, ShapeChoice::Auto, &Context::default()).unwrap();
        let values: Vec<Value> = serde_json::from_str(&bounded.json).unwrap();
        values.iter().map(|value| value["content"].as_str().unwrap().len()).collect::<Vec<_>>()
    };
    let wide = sizes(100_000);
    assert!(wide[1] <= 9500 && wide[3] <= 9500 && wide[1] > 9000);
    let shared = sizes(6000);
    assert_eq!((shared[0], shared[2]), (numbered(100).len(), numbered(40).len()), "small ones stay whole");
    assert!(shared.iter().sum::<usize>() <= 6000, "{shared:?}");
    assert!(shared.iter().sum::<usize>() > 5000, "{shared:?}");
    assert_eq!(shared, sizes(6000));
}

#[test]
fn what_is_no_result_passes() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let deep = format!("{{\"output\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let long = format!("\"{}\"", "x".repeat(100_000));
    for text in ["{}", "[]", "null", " 1e2 ", "\"text\"", "{\"output\": 7}", "[1,[2]]", &deep, &long] {
        let bounded = native.result(text, ShapeChoice::Auto, &Context::default()).unwrap();
        assert_eq!(bounded.json, text);
        assert!(bounded.results.is_empty());
        // Told that it is one, there is no text to be found in it.
        for shape in Shape::ALL {
            let bounded = native.result(text, ShapeChoice::Is(shape), &Context::default()).unwrap();
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(&bounded.json).is_ok());
            if shape != Shape::Unified {
                assert_eq!(bounded.json, text, "{shape:?}");
            }
        }
    }
    // Only as an envelope is the whole of it text, however it looks.
    assert_eq!(store.ids().unwrap().len(), 1);
    for text in ["", "{", "{\"a\":", "not json", "{\"a\": tru}", "[1,]", "\u{feff}{}"] {
        let error = native.result(text, ShapeChoice::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().starts_with("the result is not JSON: "), "{error}");
    }
}
