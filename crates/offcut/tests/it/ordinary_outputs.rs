//! What `auto` shows of ordinary outputs in which one format follows another.

use crate::common::{memory, native};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Rule};

fn shown(text: &str, bytes: u64) -> String {
    let limits = Limits { bytes: Some(bytes), ..Limits::default() };
    let rule = Rule { strategy: Some(StrategyName::Auto), limits, ..Rule::default() };
    let shown = native(rule, memory()).apply(text.as_bytes(), &Context::default());
    String::from_utf8_lossy(shown.content()).into_owned()
}

/// JSON with a line for each value.
fn users() -> String {
    let user = |at: u32| {
        let state = if at == 77 { "suspended" } else { "active" };
        format!(
            "    {{\n      \"id\": {at},\n      \"name\": \"user {at}\",\n      \"state\": \"{state}\"\n    }}"
        )
    };
    let users: Vec<String> = (0..150).map(user).collect();
    format!("{{\n  \"total\": 150,\n  \"users\": [\n{}\n  ]\n}}\n", users.join(",\n"))
}

#[test]
fn answer_after_a_command_or_headers_is_shown_as_json() {
    let json = users();
    for text in [
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{json}"),
        format!("Fetching the users\n{json}"),
        format!("> npm outdated --json\n{json}\nDone in 1.2s.\n"),
    ] {
        let preview = shown(&text, 3000);
        let before = text.lines().next().unwrap();
        for part in ["JSON among other lines", before, "items omitted", "suspended"] {
            assert!(preview.contains(part), "{part}: {preview}");
        }
    }
}

#[test]
fn log_with_several_answers_is_no_json() {
    let answers: String = (0..9).map(|at| format!("worker-{at}: an answer\n{}", users())).collect();
    let preview = shown(&format!("{answers}fatal: the queue is closed\n"), 3000);
    assert!(!preview.contains("JSON") && preview.contains("fatal: the queue is closed"), "{preview}");
}

#[test]
fn answer_that_is_cut_off_after_other_lines_is_no_json() {
    let json = users();
    let preview = shown(&format!("Fetching the users\n{}", &json[..json.len() / 2]), 3000);
    assert!(!preview.contains("JSON"), "{preview}");
}

#[test]
fn row_with_an_unusual_cell_is_shown_among_quoted_cells() {
    let row = |at: u32| {
        let price = match at {
            120 => "-1".to_owned(),
            220 => "NULL".to_owned(),
            310 => "99999999".to_owned(),
            _ => format!("{}.5", at * 7 % 90 + 10),
        };
        (format!("\"{at}\",\"Item, no {at}\",\"{price}\"\n"), format!("{at},\"Item, no {at}\",{price}\n"))
    };
    let (all, some): (String, String) = (0..400).map(row).unzip();
    for text in [format!("\"id\",\"name\",\"price\"\n{all}"), format!("id,name,price\n{some}")] {
        let preview = shown(&text, 3000);
        for cell in ["-1", "NULL", "99999999"] {
            let is_shown = preview.lines().any(|line| line.contains("Item") && line.contains(cell));
            assert!(is_shown, "{cell}: {preview}");
        }
    }
}
