//! The tool by which a model reads stored outputs.

use crate::common::memory;
use offcut::retrieve::{PageLimits, Query, ReadTool, search};
use offcut::store::{EntryState, FsStore, MemoryStore, NewEntry, Store, contract};
use offcut::{Context, Profile, Storage, Truncator};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

fn tool(store: &Arc<MemoryStore>) -> ReadTool {
    ReadTool::new("read_output", Arc::clone(store) as _)
}

/// Stores an output and returns its preview.
fn preview(store: &Arc<MemoryStore>, output: &[u8]) -> String {
    let truncator = Truncator::new(Profile::native())
        .storage(Storage::To(Arc::clone(store) as _))
        .reach(tool(store).reach());
    truncator.apply(output, &Context::tool("bash")).text().into_owned()
}

fn numbered(most: u32) -> String {
    (1..=most).map(|number| format!("line {number}\n")).collect()
}

/// The arguments of the call that a notice names.
fn next_call(text: &str) -> Option<&str> {
    let start = text.rfind("read_output {")? + "read_output ".len();
    Some(&text[start..=start + text[start..].find('}')?])
}

#[test]
fn calls_named_in_notices_lead_through_the_whole_output() {
    let store = memory();
    // Lines that differ only in counters are not offered, but numbers alone are.
    let output = numbered(10_000).replace("line ", "");
    let shown = preview(&store, output.as_bytes());
    let tool = tool(&store).budget(20_000);
    let hint = next_call(&shown).expect("the preview names a call");
    assert!(tool.call(hint).starts_with(|first: char| first.is_ascii_digit()), "{hint}");

    let mut call = r#"{"id": "last"}"#.to_owned();
    let mut read = String::new();
    loop {
        let answer = tool.answer(&call).unwrap();
        read += &answer.content.unwrap();
        let Some(next) = answer.notice.as_deref().and_then(next_call) else { break };
        call = next.to_owned();
    }
    assert_eq!(read, output);
}

#[test]
fn call_in_a_notice_returns_the_whole_range_that_it_names() {
    let store = memory();
    let output = format!("{}{}", numbered(10_000), "\n".repeat(20_000));
    preview(&store, output.as_bytes());
    let feeds = numbered(10_000).len();
    for request in [
        json!({"id": "last", "lines": "1:3000", "max_bytes": 100_000}),
        json!({"id": "last", "bytes": format!("{feeds}:{}", feeds + 9), "max_bytes": 600}),
        json!({"id": "last", "bytes": format!("{feeds}:{}", feeds + 9)}),
    ] {
        let notice = tool(&store).answer(&request.to_string()).unwrap().notice.unwrap();
        let call: serde_json::Value = serde_json::from_str(next_call(&notice).unwrap()).unwrap();
        assert_eq!(call["max_bytes"], request["max_bytes"], "{notice}");
        let (unit, size) = if call["lines"].is_null() { ("bytes", 0) } else { ("lines", 1) };
        let (start, end) = call[unit].as_str().unwrap().split_once(':').unwrap();
        let promised = end.parse::<usize>().unwrap() + size - start.parse::<usize>().unwrap();
        let content = tool(&store).answer(&call.to_string()).unwrap().content.unwrap();
        let returned = if unit == "lines" { content.lines().count() } else { content.len() };
        assert_eq!(returned, promised, "{notice}");
    }
}

#[test]
fn answers_fit_the_budget_whatever_the_model_requests() {
    let store = memory();
    for output in [
        numbered(50_000).into_bytes(),
        vec![b'x'; 400_000],
        [b"a\xff".repeat(70_000), b"\n".to_vec()].concat(),
    ] {
        preview(&store, &output);
        for (budget, most) in [(2000, 2000), (0, 512), (u64::MAX, 200_000)] {
            let tool = match budget {
                u64::MAX => tool(&store),
                budget => tool(&store).budget(budget),
            };
            for call in [
                json!({"id": "last", "max_bytes": 999_999_999}),
                json!({"id": "last", "bytes": "7:", "max_bytes": "300000"}),
                json!({"id": "last", "lines": "-100000:", "max_bytes": 0}),
            ] {
                let answer = tool.call(&call.to_string());
                assert!(answer.len() <= most && answer.len() > 20, "{call}: {} of {most}", answer.len());
            }
            let answer = tool.call(r#"{"id": "last"}"#);
            assert!(answer.len() <= most.min(9500), "{} of {most}", answer.len());
        }
    }
}

#[test]
fn a_wrong_call_is_answered_with_what_is_wrong() {
    let store = memory();
    preview(&store, numbered(10_000).as_bytes());
    let tool = tool(&store);
    for (call, said) in [
        ("", "invalid arguments"),
        ("[", "invalid arguments"),
        ("{}", "name an output"),
        (r#"{"id": 7}"#, "invalid arguments"),
        (r#"{"id": "/etc/passwd"}"#, "is not the id of a stored output"),
        (r#"{"id": "last-9"}"#, "no stored output \"last-9\""),
        (r#"{"id": "0000000000000000"}"#, "no stored output 0000000000000000"),
        (r#"{"id": "last", "lines": "x"}"#, "is not a range"),
        (r#"{"id": "last", "lines": "1:2", "bytes": "1:2"}"#, "exclude each other"),
        (r#"{"id": "last", "lines": "99999:"}"#, "has no line 99999"),
        (r#"{"id": "last", "max_bytes": "many"}"#, "\"many\" is not a number"),
        (
            r#"{"id": "last", "offset": 3}"#,
            "invalid arguments: unknown field `offset`, expected one of `id`, `lines`",
        ),
        (r#"{"id": "last", "pattern": "x", "lines": "1:2"}"#, "leave out lines and bytes, or the pattern"),
        (r#"{"id": "last", "pattern": "x", "bytes": "1:2"}"#, "leave out lines and bytes, or the pattern"),
        (r#"{"id": "all"}"#, "\"all\" is not the id of a stored output: add a pattern to search all"),
    ] {
        let answer = tool.call(call);
        assert!(answer.starts_with("offcut: ") && answer.contains(said), "{call}: {answer}");
        assert!(!answer.contains("offcut ls"), "a model that has this tool may have no shell: {answer}");
    }
}

/// Models fill in arguments that they do not need.
#[test]
fn empty_arguments_are_the_same_as_none() {
    let store = memory();
    preview(&store, numbered(10_000).as_bytes());
    let tool = tool(&store);
    let page = tool.call(r#"{"id": "last"}"#);
    assert!(page.len() > 9000);
    for call in [
        r#"{"id": "last", "max_bytes": 0}"#,
        r#"{"id": "last", "lines": "", "bytes": "", "pattern": "", "max_bytes": null}"#,
    ] {
        assert!(tool.call(call) == page, "{call}");
    }
    let lines = r#"{"id": "last", "lines": "7", "bytes": "", "pattern": ""}"#;
    assert!(tool.call(lines).starts_with("line 7\n"), "{}", tool.call(lines));
}

#[cfg(feature = "search")]
#[test]
fn a_pattern_returns_matching_lines_of_one_output_or_all() {
    let store = memory();
    preview(&store, numbered(10_000).as_bytes());
    preview(&store, numbered(20_000).as_bytes());
    let tool = tool(&store);
    let one = tool.call(r#"{"id": "last", "pattern": "LINE 4999$", "ignore_case": true, "context": "1"}"#);
    assert_eq!(one, "4998-line 4998\n4999:line 4999\n5000-line 5000\n[offcut: 1 matching line]");
    let all = tool.call(r#"{"pattern": "line 4999$"}"#);
    assert_eq!(all.matches(":4999:line 4999\n").count(), 2, "{all}");
    assert_eq!(tool.call(r#"{"id": "last", "pattern": "nothing"}"#), "[offcut: no line matches]");
    assert!(tool.call(r#"{"id": "last", "pattern": "(("}"#).contains("is not a regular expression"));
    let many = tool.budget(1000).call(r#"{"id": "last", "pattern": "line"}"#);
    assert!(many.len() <= 1000 && many.contains("of 20000 matching lines shown"), "{many}");
}

#[test]
fn the_schema_names_every_argument_that_the_tool_accepts() {
    let schema = ReadTool::schema();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let expected = match cfg!(feature = "search") {
        true => vec!["bytes", "context", "id", "ignore_case", "lines", "max_bytes", "pattern"],
        false => vec!["bytes", "context", "id", "lines", "max_bytes"],
    };
    assert_eq!(names, expected);
    assert_eq!(schema["required"], json!(["id"]));
}

proptest! {
    #[test]
    fn any_arguments_get_an_answer_within_the_largest_page(arguments in ".{0,60}", lines in ".{0,12}", bytes in any::<u64>()) {
        let store = memory();
        preview(&store, numbered(3000).as_bytes());
        let tool = tool(&store);
        for call in [arguments, json!({"id": "last", "lines": lines}).to_string(), json!({"id": "last", "max_bytes": bytes}).to_string()] {
            prop_assert!(tool.call(&call).len() <= 200_000);
        }
    }
}

#[test]
fn search_says_what_it_did_not_cover() {
    let store = memory();
    let tool = tool(&store);
    let context = Context::default();
    let mut writer = store.create(&NewEntry::new(&context, "native")).unwrap();
    writer.write(b"first\n").unwrap();
    let call = r#"{"id": "last", "pattern": "second"}"#;
    assert!(tool.call(call).contains("only 6 bytes searched: still being written"), "{}", tool.call(call));
    let capped = EntryState::Capped { reason: "disk full".to_owned() };
    writer.commit(capped, &contract::summary(b"first\n")).unwrap();
    assert!(tool.call(call).contains("only 6 bytes searched: capped, disk full"), "{}", tool.call(call));
    // Many incomplete outputs are counted: the answer stays within its budget.
    for _ in 0..50 {
        drop(store.create(&NewEntry::new(&context, "native")).unwrap());
    }
    let answer = tool.call(r#"{"id": "all", "pattern": "first", "max_bytes": 512}"#);
    assert!(answer.contains("[offcut: 51 outputs were not searched as a whole]"), "{answer}");
    assert!(answer.len() <= 512);
    preview(&store, numbered(5000).as_bytes());
    assert!(!tool.call(r#"{"id": "last", "pattern": "nothing"}"#).contains("searched"));
}

#[test]
fn answers_name_bytes_that_were_modified() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(home.path().join("s"), crate::common::noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let output = numbered(5000);
    let outcome = truncator.apply(&output, &Context::default());
    let path = outcome.preview().and_then(|preview| preview.entry()).and_then(|entry| entry.path.clone());
    let tool = ReadTool::new("read_output", store);
    let modified = "checksum mismatch in bytes 0:";
    let (read, search) = (r#"{"id": "last"}"#, r#"{"id": "last", "pattern": "4321"}"#);
    assert!(!tool.call(read).contains(modified) && !tool.call(search).contains(modified));
    std::fs::write(path.unwrap(), output.replace("line 7\n", "line 8\n")).unwrap();
    assert!(tool.call(read).contains(modified) && tool.call(search).contains(modified));
    assert!(tool.call(read).starts_with("line 1\n"));
}

/// One output can have several reasons: an incomplete file with modified blocks.
#[test]
fn search_counts_outputs_and_not_reasons() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(home.path().join("s"), crate::common::noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let mut output = numbered(400_000).into_bytes();
    let outcome = truncator.apply(&output, &Context::default());
    let path = outcome.preview().and_then(|preview| preview.entry()).and_then(|entry| entry.path.clone());
    // Every block of 1 MiB is modified except the second.
    output[10] ^= 1;
    output[2_100_000] ^= 1;
    output[3_200_000] ^= 1;
    std::fs::write(path.unwrap(), output).unwrap();
    let query = Query { pattern: "4321".to_owned(), ..Query::default() };
    let result = search(&*store, &store.ids().unwrap(), &query, PageLimits::default()).unwrap();
    assert!(result.errors.len() > 1 && result.omissions(usize::MAX).len() > 1, "{result:?}");
    assert_eq!(result.omissions(0), ["[offcut: 1 output was not searched as a whole]"]);
    assert_eq!(result.omissions(1).len(), 2);
}
