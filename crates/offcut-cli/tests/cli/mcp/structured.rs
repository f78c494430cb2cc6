//! Structured content through the proxy: both ends, what is unusual, a count of the rest, and a call that reads it.

use super::{CALL, Client, result_of, texts};
use crate::harness::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ROWS: usize = 15_000;

/// The rows that differ from the others.
const UNUSUAL: [usize; 4] = [3000, 7120, 9000, 11_111];

fn rows() -> Vec<Value> {
    let row = |number: usize| match number {
        3000 => json!({"id": number, "name": format!("user {number}"), "status": 17}),
        7120 => json!({"id": number, "name": format!("user {number}"), "status": "failed"}),
        9000 => json!({"id": number, "name": format!("user {number}"), "status": "ok", "error": "disk full"}),
        11_111 => json!({"id": number, "name": null, "status": "ok"}),
        _ => json!({"id": number, "name": format!("user {number}"), "status": "ok"}),
    };
    (0..ROWS).map(row).collect()
}

/// The result of a call through the proxy, to which the server answers with this text and this structure.
fn called(sandbox: &Sandbox, options: &[&str], text: &str, structure: &Value) -> (Client, Value) {
    let result = json!({"content": [{"type": "text", "text": text}], "structuredContent": structure});
    let mut client = Client::proxied(sandbox, options, &[&result_of(1, &result)]);
    client.send(CALL);
    let result = client.json()["result"].take();
    (client, result)
}

/// The numbers of the rows that are shown.
fn shown_ids(structure: &Value) -> BTreeSet<u64> {
    structure["rows"].as_array().unwrap().iter().map(|row| row["id"].as_u64().unwrap()).collect()
}

/// The numbers of the rows in a text, with any white space.
fn ids_in(text: &str) -> BTreeSet<u64> {
    let after_key = text.split("\"id\":").skip(1).map(str::trim_start);
    after_key.filter_map(|rest| rest.split_once([',', '\n', '}'])?.0.trim().parse().ok()).collect()
}

/// Calls `next`, then what each page names as the next one.
fn follow(client: &mut Client, next: &str) -> Vec<String> {
    let (mut pages, mut next) = (Vec::new(), Some(next.to_owned()));
    while let Some(call) = next {
        let mut arguments: Value = serde_json::from_str(call.strip_prefix("offcut_read ").unwrap()).unwrap();
        arguments["max_bytes"] = json!(200_000);
        let (texts, is_error) = client.read(arguments);
        assert!(!is_error, "{texts:?}");
        next = texts
            .get(1)
            .map(|notice| notice.split_once("more: ").unwrap().1.trim_end_matches(']').to_owned());
        pages.push(texts[0].clone());
    }
    pages
}

#[test]
fn rows_show_both_ends_and_what_is_unusual_and_the_rest_can_be_read() {
    let whole = json!({"rows": rows(), "total": ROWS});
    let pretty = serde_json::to_string_pretty(&whole).unwrap();
    for text in ["15000 rows", &whole.to_string(), &pretty] {
        let sandbox = Sandbox::new();
        let (mut client, result) = called(&sandbox, &[], text, &whole);
        let structure = &result["structuredContent"];
        assert!(structure.to_string().len() <= 9500, "{}", structure.to_string().len());
        let shown = shown_ids(structure);
        let expected = UNUSUAL.into_iter().chain([0, 1, ROWS - 2, ROWS - 1]);
        expected.for_each(|number| assert!(shown.contains(&(number as u64)), "{number} is not in {shown:?}"));
        assert!(
            structure["rows"]
                .as_array()
                .unwrap()
                .iter()
                .all(|row| whole["rows"].as_array().unwrap().contains(row))
        );
        assert_eq!(structure["total"], ROWS);
        // What is not shown is counted and listed.
        let note = &structure["offcut"];
        assert_eq!(note, &result["_meta"]["offcut.dev/structured"]);
        assert_eq!(note["not_shown"], format!("{} of {ROWS} items", ROWS - shown.len()));
        let gaps: Vec<&str> =
            note["gaps"].as_array().unwrap().iter().map(|gap| gap.as_str().unwrap()).collect();
        assert_eq!(gaps.len(), 5, "{gaps:?}");
        assert!(gaps[1].starts_with("rows[3001:7120] at "), "{gaps:?}");
        // The call returns what is not shown, and the pages after it everything else.
        let pages = follow(&mut client, note["next"].as_str().unwrap());
        assert!(!ids_in(&pages[0]).is_empty() && ids_in(&pages[0]).is_disjoint(&shown));
        let read: BTreeSet<u64> = ids_in(&pages.concat()).union(&shown).copied().collect();
        assert_eq!(read, (0..ROWS as u64).collect());
    }
}

/// Neither a member nor a place in the list can say it.
#[test]
fn schema_that_allows_no_other_members_is_matched_and_the_text_has_the_count() {
    let row = json!({"type": "object", "required": ["id", "name", "status"]});
    let schema = json!({"type": "object", "required": ["rows", "total"], "additionalProperties": false,
        "properties": {"rows": {"type": "array", "items": row}, "total": {"type": "integer"}}});
    let tool = json!({"name": "big", "inputSchema": {"type": "object"}, "outputSchema": schema});
    let whole = json!({"rows": rows(), "total": ROWS});
    let result = json!({"content": [{"type": "text", "text": "15000 rows"}], "structuredContent": whole});
    let sandbox = Sandbox::new();
    let answers = [result_of(1, &json!({"tools": [tool]})), result_of(2, &result)];
    let mut client = Client::proxied(&sandbox, &[], &answers.each_ref().map(String::as_str));
    client.ask(1, "tools/list", json!({}));
    let result = client.ask(2, "tools/call", json!({"name": "big"}))["result"].take();
    let structure = &result["structuredContent"];
    assert_eq!(structure.as_object().unwrap().len(), 2);
    let shown = shown_ids(structure);
    UNUSUAL.into_iter().for_each(|number| assert!(shown.contains(&(number as u64)), "{number}"));
    let note = &result["_meta"]["offcut.dev/structured"];
    let (count, next) = (ROWS - shown.len(), note["next"].as_str().unwrap());
    let notice = &texts(&result)[1];
    assert!(notice.contains(&format!("({count} of {ROWS} items not shown): more: {next}]")), "{notice}");
    assert!(ids_in(&follow(&mut client, next)[0]).is_disjoint(&shown));
}

#[test]
fn several_arrays_and_a_long_string_are_listed_in_order() {
    let whole = json!({"a": (0..20_000).collect::<Vec<_>>(), "b": {"c": vec![[1, 2]; 9000]}, "log": "a line\n".repeat(9000)});
    let sandbox = Sandbox::new();
    let (mut client, result) = called(&sandbox, &[], "short", &whole);
    let note = &result["structuredContent"]["offcut"];
    let gaps: Vec<&str> = note["gaps"].as_array().unwrap().iter().map(|gap| gap.as_str().unwrap()).collect();
    assert!(gaps.len() == 3 && gaps[0].starts_with("a[") && gaps[1].starts_with("b.c["), "{gaps:?}");
    let (bytes, range) = gaps[2].split_once(" bytes of log at bytes ").unwrap();
    let (read, _) = client.read(json!({"id": note["id"], "bytes": range, "max_bytes": 200_000}));
    assert_eq!(read[0].len(), bytes.parse::<usize>().unwrap());
    assert!(read[0].lines().skip(1).all(|line| "a line".starts_with(line)), "{read:?}");
}

#[test]
fn object_with_very_many_members_shows_both_ends() {
    let members: serde_json::Map<String, Value> =
        (0..ROWS).map(|number| (format!("key {number:05}"), json!({"id": number}))).collect();
    let sandbox = Sandbox::new();
    let (mut client, result) = called(&sandbox, &[], "short", &json!(members));
    let mut structure = result["structuredContent"].as_object().unwrap().clone();
    let note = structure.remove("offcut").unwrap();
    assert!(structure.contains_key("key 00000") && structure.contains_key("key 14999"), "{structure:?}");
    assert_eq!(note["not_shown"], format!("{} of {ROWS} members", ROWS - structure.len()));
    let shown: BTreeSet<u64> = structure.values().map(|value| value["id"].as_u64().unwrap()).collect();
    let read = ids_in(&follow(&mut client, note["next"].as_str().unwrap()).concat());
    assert_eq!(read.union(&shown).count(), ROWS);
}

#[test]
fn count_is_there_when_the_store_fails() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.path().join("file"), "").unwrap();
    let whole = json!({"rows": rows()});
    let (_client, result) = called(&sandbox, &["--store", "file/store"], "short", &whole);
    let note = &result["structuredContent"]["offcut"];
    let count = ROWS - shown_ids(&result["structuredContent"]).len();
    assert_eq!((&note["id"], &note["next"]), (&Value::Null, &Value::Null));
    assert_eq!(note["not_shown"], format!("{count} of {ROWS} items"));
    assert!(note["gaps"][1] == "rows[3001:7120]", "{note}");
    assert!(texts(&result)[1].contains("not shown) and not stored]"), "{result}");
}

/// An array has no member for a note.
#[test]
fn error_with_a_long_array_says_so_in_its_message() {
    let sandbox = Sandbox::new();
    let answer =
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "it failed", "data": rows()}});
    let mut client = Client::proxied(&sandbox, &[], &[&format!("{answer}\n")]);
    client.send(CALL);
    let answer = client.json();
    let error = &answer["error"];
    let shown = shown_ids(&json!({"rows": error["data"]}));
    assert!(shown.contains(&0) && shown.contains(&7120) && shown.contains(&14_999), "{shown:?}");
    let (message, notice) = error["message"].as_str().unwrap().split_once('\n').unwrap();
    assert_eq!(message, "it failed");
    let next = notice.split_once(" items not shown): more: ").unwrap().1.trim_end_matches(']');
    assert!(ids_in(&follow(&mut client, next)[0]).is_disjoint(&shown));
}
