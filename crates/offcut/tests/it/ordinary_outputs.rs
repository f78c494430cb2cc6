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
fn answer_after_headers_is_shown_as_json() {
    let text = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}", users());
    let preview = shown(&text, 3000);
    for part in ["JSON among other lines", "HTTP/1.1 200 OK", "items omitted", "suspended"] {
        assert!(preview.contains(part), "{part}: {preview}");
    }
}

/// Each failed test in the report of a test runner comes before the rest of the others.
#[test]
fn report_after_a_command_is_shown_as_a_log() {
    let preview = shown(&format!("> shop test\n> mocha --reporter json\n\n{}", users()), 3000);
    assert!(!preview.contains("JSON among"), "{preview}");
}

#[test]
fn log_with_several_answers_is_no_json() {
    let answers: String = (0..9).map(|at| format!("worker-{at}: an answer\n{}", users())).collect();
    let preview = shown(&format!("{answers}fatal: the queue is closed\n"), 3000);
    assert!(!preview.contains("JSON") && preview.contains("fatal: the queue is closed"), "{preview}");
}

#[test]
fn answer_that_is_cut_off_after_headers_is_no_json() {
    let json = users();
    let preview = shown(&format!("HTTP/1.1 200 OK\r\n\r\n{}", &json[..json.len() / 2]), 3000);
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

const SOURCE: &str = "fn name() -> u64 {\n    let value = compute(12);\n    value + 1\n}\n\n";

#[test]
fn source_and_what_other_commands_print_are_parts() {
    let source = SOURCE.repeat(20);
    let files: String = (0..30).map(|at| format!("-rw-r--r-- 1 a b 12 Jan 1 00:00 name{at}\n")).collect();
    let paths: String = (0..30).map(|at| format!("./src/module{at}/mod.rs\n")).collect();
    let page = format!("# Title\n\n{}", "It explains one of the things that are here.\n\n".repeat(20));
    for (other, expected) in [
        (format!("total 360\n{files}"), "2 parts: source with 20 definitions, listing of 30 entries"),
        (format!(".\n{paths}"), "2 parts: source with 20 definitions, list of 3"),
        (page, "2 parts: source with 20 definitions, text with 1 heading"),
    ] {
        let preview = shown(&format!("{source}{other}"), 1500);
        assert!(preview.contains(expected), "{preview}");
    }
}

#[test]
fn headings_in_documentation_are_no_seams() {
    let page = format!("# Overview\n\n{}", "It explains one of the things that are here.\n\n".repeat(20));
    let preview = shown(&format!("/*!\nThe module.\n\n{page}*/\n\n{}", SOURCE.repeat(60)), 2000);
    assert!(preview.contains("source with 60 definitions"), "{preview}");
}

#[test]
fn files_after_banners_are_parts_even_if_all_have_one_format() {
    let page = |at: u32| {
        let text = "It explains one of the things that are here.\n\n".repeat(18);
        format!("==> docs/page{at}.md <==\n# Title {at}\n\n{text}\n")
    };
    let preview = shown(&(0..9).map(page).collect::<String>(), 2500);
    assert!(preview.contains("9 parts: "), "{preview}");
    for at in 0..9 {
        assert!(preview.contains(&format!("==> docs/page{at}.md <==\n")), "{preview}");
    }
}

#[test]
fn beginning_of_a_file_without_definitions_is_source() {
    let documentation: String =
        (0..80).map(|at| format!("//! The address {at} is resolved, and the answer is kept.\n")).collect();
    let comment = documentation.replace("//! ", "").replace("//!", "");
    let imports: String =
        (0..40).map(|at| format!("use crate::part{at}::{{Name{at}, Other{at}}};\n")).collect();
    let imports = format!("//! The parts.\n\n{imports}\npub use part::Part;\nmod part;\n");
    for text in [documentation, format!("/*\n{comment}*/\n"), imports] {
        let preview = shown(&text, 1000);
        assert!(preview.contains("(source)") || preview.contains("; source; "), "{preview}");
    }
    // The names of Bazel's targets are no comments.
    let targets: String = (0..90).map(|at| format!("//src/lib{at}:test_{at}\n")).collect();
    assert!(!shown(&targets, 1000).contains("source"));
}

/// A file of many functions with long bodies.
fn module() -> String {
    let body = "    let total = items.iter().map(|item| item.price * item.count).sum::<u64>();\n".repeat(9);
    let words = ["parse", "merge", "split", "count", "close", "fetch", "order", "print", "align", "store"];
    let name = |at: usize| format!("{}_{}", words[at / 4], words[at * 3 % 10]);
    (0..40).map(|at| format!("fn {}(items: &[Item]) -> u64 {{\n{body}    total\n}}\n\n", name(at))).collect()
}

#[test]
fn definitions_that_are_not_shown_are_named_with_their_lines() {
    let text = module();
    let preview = shown(&text, 4000);
    for (at, line) in text.lines().enumerate() {
        if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
            let entry = format!("{name} {}", at + 1);
            let is_named = preview.lines().any(|line| line.starts_with("[lines") && line.contains(&entry));
            assert!(preview.contains(line) || is_named, "{entry}: {preview}");
        }
    }
    assert!(preview.len() <= 4000 && preview.len() > 3600, "{}: {preview}", preview.len());
    // Where there is no room for all names, marks say how many there are.
    let preview = shown(&text, 1500);
    assert!(preview.contains(" definitions: ") && preview.contains(", …]"), "{preview}");
}
