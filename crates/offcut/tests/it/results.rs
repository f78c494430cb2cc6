//! Tool results of every shape: what is bounded, and what stays unchanged.

use crate::common::{bytes, cut, memory, middleware, numbered, read_all, through};
use offcut::results::{BoundedJson, Middleware, ResultOutcome, Shape, ShapeChoice, SkipReason};
use offcut::store::{EntryState, NewEntry, Store, Summary, contract};
use offcut::strategy::StrategyName;
use offcut::{Context, Profile, Rule, Saved, Storage, Truncator};
use serde_json::{Value, json};

/// A result of every model interface with the same text, and the path to the text.
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
        (
            Shape::Bedrock,
            json!({"toolResult": {"toolUseId": "t1", "status": "success", "content": [{"text": text}, image]}}),
            "/toolResult/content/0/text",
        ),
        (
            Shape::Bedrock,
            json!({"toolUseId": "t1", "status": "error", "content": [{"text": text}]}),
            "/content/0/text",
        ),
    ]
}

#[test]
fn bounds_results_of_every_model_interface() {
    let text = numbered(5000);
    for (shape, result, place) in interfaces(&text) {
        let (native, store, _directory) = middleware("native", Rule::default());
        let written = result.to_string();
        let BoundedJson { json, results, .. } =
            native.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
        assert_eq!(results[0].shape, shape, "{written:.100}");
        assert_eq!(results[0].context.call_id.as_deref(), Some("t1"), "{shape:?}");
        let mut value: Value = serde_json::from_str(&json).unwrap();
        let ResultOutcome::Truncated(preview) = &results[0].outcome else { panic!("{shape:?} was not cut") };
        assert_eq!(
            value.pointer(place).unwrap().as_str().unwrap().as_bytes(),
            preview.content(),
            "{shape:?}"
        );
        assert!(preview.content().len() <= 9500);
        // Only the text has changed.
        *value.pointer_mut(place).unwrap() = json!(text);
        assert_eq!(value, result);
        let Saved::Complete(entry) = preview.saved() else { panic!("{shape:?} was not kept") };
        assert_eq!(read_all(&*store, &entry.id), text.as_bytes());
        // A result within the limits is unchanged byte for byte.
        let small = interfaces("short").into_iter().map(|(_, result, _)| format!(" {result} \n"));
        for small in small {
            let bounded = native.bound_json(&small, ShapeChoice::Auto, &Context::default()).unwrap();
            assert_eq!(bounded.json, small);
        }
    }
}

#[test]
fn bounds_every_result_in_messages_and_arrays() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let block = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": numbered(4000)});
    let message = json!({"role": "user", "content": [block("a"), {"type": "text", "text": numbered(4000)}, block("b")]});
    let written = json!([message, {"role": "tool", "tool_call_id": "c", "content": "x"}, 7]).to_string();
    let BoundedJson { json, results, .. } =
        native.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    let calls: Vec<_> = results.iter().map(|judged| judged.context.call_id.as_deref().unwrap()).collect();
    assert_eq!(calls, ["a", "b", "c"]);
    assert_eq!(store.ids().unwrap().len(), 2);
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value[0]["content"][1], message["content"][1], "what a person wrote is not a result");
    assert!(value[0]["content"][2]["content"].as_str().unwrap().len() <= 9500);
}

#[test]
fn bounds_bedrock_blocks_in_a_message_and_a_value_as_text() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let rows: Vec<Value> = (0..5000).map(|number| json!({"row": number})).collect();
    let block = |id: &str, part: Value| json!({"toolResult": {"toolUseId": id, "content": [part]}});
    let message = json!({"role": "user", "content": [
        block("a", json!({"text": numbered(5000)})),
        {"text": numbered(5000)},
        block("b", json!({"json": {"rows": rows}})),
        block("c", json!({"json": {"rows": 1}})),
    ]});
    let written = message.to_string();
    let bounded = native.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    let value: Value = serde_json::from_str(&bounded.json).unwrap();
    for place in ["/content/0/toolResult/content/0/text", "/content/2/toolResult/content/0/text"] {
        assert!(value.pointer(place).unwrap().as_str().unwrap().len() <= 9500, "{place}");
    }
    assert_eq!(
        (&value["content"][1], &value["content"][3]),
        (&message["content"][1], &message["content"][3])
    );
    assert_eq!(store.ids().unwrap().len(), 2);
}

#[test]
fn mcp_notices_are_separate_parts() {
    let (native, ..) = middleware("native", Rule::default());
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let link = json!({"type": "resource_link", "uri": "file:///x", "name": "x"});
    let result = json!({
        "content": [{"type": "text", "text": numbered(3000)}, image, link,
                    {"type": "resource", "resource": {"uri": "file:///y", "text": "the end"}}],
        "isError": true, "_meta": {"other": 1},
    });
    let (value, outcome) = through(&native, &result, "search");
    let preview = cut(outcome);
    let parts = value["content"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "text", "image", "resource_link", "resource", "text"]);
    assert!(parts[0]["text"].as_str().unwrap().starts_with("[offcut: "));
    assert!(parts[1]["text"].as_str().unwrap().starts_with("line1\nline2\n"));
    assert_eq!((&parts[2], &parts[3]), (&image, &link));
    assert_eq!(parts[4]["resource"]["text"], "the end");
    assert!(parts[5]["text"].as_str().unwrap().contains("more: Read "));
    assert_eq!(value["isError"], true);
    assert_eq!(value["_meta"]["other"], 1);
    let Saved::Complete(entry) = preview.saved() else { panic!("not kept") };
    assert_eq!(value["_meta"]["offcut.dev/cut"]["id"], entry.id.as_str());
    // Five thousand small blocks are measured together.
    let blocks: Vec<Value> =
        (0..5000).map(|number| json!({"type": "text", "text": format!("block {number}")})).collect();
    let (value, outcome) = through(&native, &json!({"content": blocks}), "search");
    assert!(cut(outcome).content().len() <= 9500);
    assert!(value["content"].as_array().unwrap().len() < 1900);
}

#[test]
fn native_bounds_results_that_report_truncation_or_errors() {
    let (native, ..) = middleware("native", Rule::default());
    let long = numbered(5000);
    for result in [
        json!({"title": "", "output": long, "metadata": {"truncated": false}}),
        json!({"llmContent": long, "truncated": true, "isError": true}),
        json!({"success": false, "output": long, "metadata": {"truncated": true}}),
        json!({"status": "success", "data": {"text": long}, "context": {"truncation_skip": true}}),
    ] {
        let (value, outcome) = through(&native, &result, "x");
        cut(outcome);
        assert!(value.to_string().len() < 12_000, "{:.300}", value.to_string());
    }
}

#[test]
fn native_shows_the_last_lines_of_a_result() {
    let head = Rule { strategy: Some(StrategyName::Head), ..Rule::default() };
    let (native, ..) = middleware("native", head);
    for trailer in [
        "Exit code: 3",
        "session_id: 8f3a\nexit status 1",
        "<task_metadata>\nsession_id: ses_1\n</task_metadata>\n",
    ] {
        let text = format!("{}\n{trailer}", numbered(5000));
        let (value, outcome) = through(&native, &json!({"title": "", "output": text}), "task");
        let preview = cut(outcome);
        let output = value["output"].as_str().unwrap();
        assert!(output.contains(trailer.trim_end()), "{output}");
        assert!(output.starts_with("[offcut: ") && output.contains("\nline1\n"));
        assert!(output.len() <= 9500);
        // The header counts it as shown.
        assert_eq!(preview.original().bytes, preview.shown().bytes + preview.removed().bytes);
    }
}

#[test]
fn previews_and_pages_are_not_cut_or_stored_again() {
    let both_ends = Some(offcut::strategy::StrategyName::HeadTail);
    let rule = Rule { limits: bytes(20_000), strategy: both_ends, ..Rule::default() };
    let (wide, store, _directory) = middleware("native", rule);
    let text: String = (1..=20_000).map(|number| format!("{number} is the number of this line\n")).collect();
    let (value, outcome) = through(&wide, &json!({"title": "", "output": text}), "bash");
    let preview = cut(outcome);
    let Saved::Complete(entry) = preview.saved() else { panic!("not kept") };
    let tight = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let tight = Middleware::new(tight.rule(Rule { limits: bytes(2000), ..Rule::default() }).unwrap());
    let kept = store.ids().unwrap().len();
    let passes = |output: &str, expected: bool| {
        let result = json!({"title": "", "output": output});
        let (value, outcome) = through(&tight, &result, "bash");
        let passed = matches!(outcome, ResultOutcome::Skipped(SkipReason::OwnPreview));
        assert_eq!(passed, expected, "{output:.300}");
        assert_eq!(value == result, expected);
    };
    let shown = value["output"].as_str().unwrap().to_owned();
    passes(&shown, true);
    // Trimmed and with an added line, as hosts pass it on.
    passes(&format!("Command finished.\n{}", shown.trim()), true);
    // A page that was full.
    let range = offcut::retrieve::Range::ALL;
    let page =
        offcut::retrieve::page(&*store, entry, range, Default::default(), &offcut::event::DiscardEvents)
            .unwrap();
    let foot = format!("[offcut {}: page ends at byte {} of {}; more: …]\n", entry.id, page.end, entry.bytes);
    passes(&format!("{}{foot}", String::from_utf8_lossy(&page.content)), true);
    assert_eq!(store.ids().unwrap().len(), kept);
    // Similar texts: another text with this header, the complete text, an unknown id.
    let header = shown.lines().next().unwrap();
    passes(&format!("{header}\n{}", numbered(3000)), false);
    passes(&format!("{shown}\n{}", numbered(3000)), false);
    passes(&format!("{header}\n{text}"), false);
    passes(&shown.replace(entry.id.short(), "0000000000"), false);
    passes(&format!("{}{foot}", numbered(1000)), false);
    // Lines that name the entry do not make a longer text a preview.
    let footer = shown.lines().last().unwrap();
    let path = entry.location();
    let padding = "x".repeat(300_000);
    passes(&format!("{shown}{}", format!("{footer}\n").repeat(9000)), false);
    passes(&format!("{shown}{padding}{footer}\n{padding}{footer}\n"), false);
    passes(&format!("{shown}{padding} {path}\n"), false);
    // Long lines that look like marks with names, of other gaps.
    let mark = format!("[lines 1:2 not shown: {}parse 7]\n", "read 3, ".repeat(900));
    passes(&shown.replace(footer, &format!("{}{footer}", mark.repeat(3))), false);
    // A marker for a gap that the entry does not have.
    passes(&shown.replace(footer, &format!("[offcut: lines 3:4 not shown]\n{footer}")), false);
    // An entry that was never shown in part.
    let whole = text.repeat(2);
    let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
    writer.write(whole.as_bytes()).unwrap();
    let summary = Summary { gaps: Vec::new(), ..contract::summary(whole.as_bytes()) };
    let unseen = writer.commit(EntryState::Complete, &summary).unwrap().id;
    passes(&format!("{whole}[offcut {unseen}: exit 0 after 1.0 s]\n"), false);
    // The complete output is not a page.
    let all =
        format!("[offcut {}: page ends at byte {} of {}; more: …]\n", entry.id, entry.bytes, entry.bytes);
    passes(&format!("{text}{all}"), false);
}

#[test]
fn unified_envelope_is_cut_once_with_all_its_fields() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let long = numbered(20_000);
    let envelope = json!({
        "status": "error", "data": {"stdout": format!("C:\\new \"{long}")}, "text": "",
        "error": {"code": "TIMEOUT", "message": long}, "context": {"list": vec!["x"; 9000]}, "more": 1,
    });
    let (value, outcome) = through(&native, &envelope, "bash");
    cut(outcome);
    assert!(value.to_string().len() <= 12_000, "{}", value.to_string().len());
    assert_eq!((&value["status"], &value["more"]), (&json!("error"), &json!(1)));
    assert_eq!(value["error"]["code"], "TIMEOUT");
    assert!(value["error"]["message"].as_str().unwrap().ends_with("more bytes)"));
    assert_eq!(value["context"]["truncated"], true);
    let (again, outcome) = through(&native, &value, "bash");
    assert!(
        matches!(outcome, ResultOutcome::Skipped(SkipReason::OwnPreview) | ResultOutcome::Fits),
        "{outcome:?}"
    );
    assert_eq!(again, value);
    assert_eq!(store.ids().unwrap().len(), 1);
}

#[test]
fn previews_of_every_strategy_are_detected() {
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
        let (value, outcome) = through(&native, &json!({"role": "tool", "content": text}), "bash");
        cut(outcome);
        let kept = store.ids().unwrap().len();
        let (again, outcome) = through(&tight, &value, "bash");
        let content = value["content"].as_str().unwrap();
        // Repeated lines are folded to less than the limit.
        let is_short = content.len() <= 3000 && matches!(outcome, ResultOutcome::Fits);
        assert!(
            is_short || matches!(outcome, ResultOutcome::Skipped(SkipReason::OwnPreview)),
            "{content:.1500}"
        );
        assert_eq!((again, store.ids().unwrap().len()), (value, kept));
    }
}

#[test]
fn native_does_not_cut_previews_of_other_profiles() {
    for profile in ["opencode", "coding-agent", "takumi", "klaude", "unified"] {
        let (first, store, _directory) = middleware(profile, Rule::default());
        let native = Middleware::new(Truncator::new(Profile::native()).storage(Storage::To(store.clone())));
        let result = match profile {
            "unified" => json!({"status": "ok", "data": {"x": numbered(30_000)}, "text": ""}),
            _ => json!({"role": "tool", "content": numbered(30_000)}),
        };
        let (value, outcome) = through(&first, &result, "bash");
        cut(outcome);
        let (again, outcome) = through(&native, &value, "bash");
        // A command's last 500 lines may be short enough by themselves.
        assert!(
            matches!(outcome, ResultOutcome::Skipped(SkipReason::OwnPreview) | ResultOutcome::Fits),
            "{profile}: {outcome:?}"
        );
        assert_eq!((again, store.ids().unwrap().len()), (value, 1), "{profile}");
    }
}

#[test]
fn gemini_data_is_shown_in_readable_form() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let deep = format!("{}{}{}", "[".repeat(500), json!(numbered(5000)), "]".repeat(500));
    let written = format!("{{\"functionResponse\":{{\"name\":\"f\",\"response\":{{\"a\":{deep}}}}}}}");
    let bounded = native.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert!(bounded.json.len() < 12_000, "{}", bounded.json.len());
    let items: Vec<String> = (0..50_000).map(|number| format!("s{number}")).collect();
    let result = json!({"name": "f", "response": {"items": items, "numbers": vec![7; 20_000]}});
    let (value, outcome) = through(&native, &result, "f");
    cut(outcome);
    let output = value["response"]["output"].as_str().unwrap();
    assert!(output.len() <= 9500 && output.contains("\"s1\",\n"), "{output:.300}");
    assert!(matches!(
        through(&native, &value, "f").1,
        ResultOutcome::Fits | ResultOutcome::Skipped(SkipReason::OwnPreview)
    ));
    let ids = store.ids().unwrap();
    assert_eq!(read_all(&*store, ids.last().unwrap()), result["response"].to_string().as_bytes());
}

#[test]
fn skipped_results_count_against_the_total() {
    let store = memory();
    let truncator = || Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let message = |tool: &str, content: &str| json!({"role": "tool", "name": tool, "content": content});
    let middleware = Middleware::new(truncator()).total(6000).skip_tools(["kept"]);
    let text = numbered(600);
    let written = json!([message("kept", &text), message("cut", &numbered(1000))]).to_string();
    let bounded = middleware.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert_eq!(bounded.excess, 0);
    let sum: u64 = bounded.results.iter().map(|judged| judged.bytes).sum();
    assert!(sum <= 6000 && bounded.results[0].bytes == text.len() as u64, "{sum}");
    // Exactly the total is within it.
    let sizes = text.len() as u64 * 2;
    let written = json!([message("a", &text), message("b", &text)]).to_string();
    let exact = Middleware::new(truncator()).total(sizes);
    let bounded = exact.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert_eq!(bounded.json, written);
    // A total that cannot be met is reported.
    let tiny = Middleware::new(truncator()).total(600);
    let bounded = tiny.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
    assert!(bounded.excess > 0 && bounded.excess <= 2 * 512);
}

#[test]
fn batch_results_share_the_total() {
    let truncator = || Truncator::new(Profile::native()).storage(Storage::To(memory()));
    let results: Vec<Value> = [100, 3000, 40, 9000]
        .into_iter()
        .map(|count| json!({"role": "tool", "tool_call_id": "c", "content": numbered(count)}))
        .collect();
    let written = json!(results).to_string();
    let sizes = |total: u64| {
        let middleware = Middleware::new(truncator()).total(total);
        let bounded = middleware.bound_json(&written, ShapeChoice::Auto, &Context::default()).unwrap();
        let values: Vec<Value> = serde_json::from_str(&bounded.json).unwrap();
        values.iter().map(|value| value["content"].as_str().unwrap().len()).collect::<Vec<_>>()
    };
    let wide = sizes(100_000);
    assert!(wide[1] <= 9500 && wide[3] <= 9500 && wide[1] > 9000, "{wide:?}");
    let shared = sizes(6000);
    assert_eq!((shared[0], shared[2]), (numbered(100).len(), numbered(40).len()), "small ones stay whole");
    assert!(shared.iter().sum::<usize>() <= 6000, "{shared:?}");
    assert!(shared.iter().sum::<usize>() > 5000, "{shared:?}");
    assert_eq!(shared, sizes(6000));
}

#[test]
fn values_of_unknown_shape_stay_unchanged() {
    let (native, store, _directory) = middleware("native", Rule::default());
    let deep = format!("{{\"output\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let long = format!("\"{}\"", "x".repeat(100_000));
    for text in ["{}", "[]", "null", " 1e2 ", "\"text\"", "{\"output\": 7}", "[1,[2]]", &deep, &long] {
        let bounded = native.bound_json(text, ShapeChoice::Auto, &Context::default()).unwrap();
        assert_eq!(bounded.json, text);
        assert!(bounded.results.is_empty());
        // With a given shape, there is no text where the shape has one.
        for shape in Shape::ALL {
            let bounded = native.bound_json(text, ShapeChoice::Is(shape), &Context::default()).unwrap();
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(&bounded.json).is_ok());
            if shape != Shape::Unified {
                assert_eq!(bounded.json, text, "{shape:?}");
            }
        }
    }
    // In the unified shape the whole value is the text: the long object and the long string.
    assert_eq!(store.ids().unwrap().len(), 2);
    for text in ["", "{", "{\"a\":", "not json", "{\"a\": tru}", "[1,]", "\u{feff}{}"] {
        let error = native.bound_json(text, ShapeChoice::Auto, &Context::default()).unwrap_err();
        assert!(error.to_string().starts_with("the result is not JSON: "), "{error}");
    }
}
