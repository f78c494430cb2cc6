//! Tests of the `json` strategy: the preview is valid JSON, or says that it is an outline.

use crate::common::{in_pieces, memory, native};
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Outcome, Preview, Rule, Truncator};
use proptest::prelude::*;
use serde_json::Value;

fn json(bytes: u64) -> Truncator {
    let limits = Limits { bytes: Some(bytes), lines: Some(1900), ..Limits::default() };
    native(Rule { strategy: Some(StrategyName::Json), limits, ..Rule::default() }, memory())
}

fn preview(text: &[u8], bytes: u64) -> Preview {
    match json(bytes).apply(text, &Context::default()) {
        Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
            *preview
        }
        Outcome::Passed(_) => panic!("the text fits"),
    }
}

/// The content between the notices.
fn body(content: &[u8]) -> String {
    let text = String::from_utf8_lossy(content).into_owned();
    let is_notice = |line: &&str| line.starts_with("[offcut");
    text.lines().filter(|line| !is_notice(line)).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn parsed(text: &str, bytes: u64) -> Value {
    let preview = preview(text.as_bytes(), bytes);
    assert!(preview.content().len() as u64 <= bytes.max(512));
    let said = String::from_utf8_lossy(preview.content()).into_owned();
    assert!(said.contains("JSON, shortened"), "{said}");
    let body = body(preview.content());
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// Checks that all `expected` parts of a text are shown at 1000 bytes.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let body = body(preview(text.as_bytes(), 1000).content());
    for part in expected {
        assert!(body.contains(part), "{part} is not in {body}");
    }
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

#[test]
fn arrays_keep_first_and_last_items_and_their_kind() {
    let Value::Array(items) = parsed(&format!("[{}]", list(1000, |number| number.to_string())), 1000) else {
        panic!("an array stays an array")
    };
    let (first, last) = (items.first().unwrap(), items.last().unwrap());
    assert_eq!((first.as_u64(), last.as_u64()), (Some(0), Some(999)));
    let words: Vec<&Value> = items.iter().filter(|item| !item.is_number()).collect();
    assert_eq!(words, [&Value::from(format!("… {} items omitted", 1001 - items.len()))]);

    let records = parsed(&format!("[{}]", list(500, |number| format!("{{\"id\": {number}}}"))), 1000);
    assert!(records.as_array().unwrap().iter().all(Value::is_object));
    let rows = parsed(&format!("[{}]", list(500, |number| format!("[{number}, 1]"))), 1000);
    assert!(rows.as_array().unwrap().iter().all(Value::is_array));
    let names = parsed(&format!("[{}]", list(500, |number| format!("\"name {number}\""))), 1000);
    assert!(names.as_array().unwrap().iter().all(Value::is_string));
}

#[test]
fn strings_are_cut_inside_and_keys_are_kept() {
    let text = format!(
        "{{\"name\": \"it\", \"log\": \"start{}end\", \"size\": 7}}",
        "\\n\\ud83d\\ude00 é漢".repeat(900)
    );
    let value = parsed(&text, 1000);
    let log = value["log"].as_str().unwrap();
    assert!(log.starts_with("start\n😀 é漢") && log.ends_with("end") && log.contains("bytes omitted"));
    assert_eq!((&value["name"], &value["size"]), (&Value::from("it"), &Value::from(7)));
}

#[test]
fn numbers_key_order_and_duplicate_keys_are_unchanged() {
    let text = format!(
        "{{\"z\": 9007199254740993, \"a\": 1.10, \"e\": -1E+400, \"z\": 18446744073709551616, \"list\": [{}]}}",
        list(900, |number| number.to_string())
    );
    check(
        &text,
        &[
            "\"z\": 9007199254740993, \"a\": 1.10, \"e\": -1E+400, \"z\": 18446744073709551616, \"list\": [0, 1",
        ],
    );
}

/// Also in a text that is far larger than what is kept in memory.
#[test]
fn outliers_are_shown() {
    for count in [50, 1000, 100_000] {
        let odd = [count / 3, count / 2];
        let status = |number: &usize| if odd.contains(number) { "failed" } else { "passed" };
        let item = |number: usize| {
            format!(
                "{{\"name\": \"test {number} of many\", \"status\": \"{}\", \"ms\": {}}}",
                status(&number),
                number % 7
            )
        };
        let value = parsed(&format!("{{\"tests\": [{}], \"passed\": false}}", list(count, item)), 1000);
        let tests = value["tests"].as_array().unwrap();
        let failed: Vec<&Value> = tests.iter().filter(|test| test["status"] == "failed").collect();
        let names = odd.map(|number| format!("test {number} of many"));
        assert_eq!(
            failed.iter().map(|test| &test["name"]).collect::<Vec<_>>(),
            names.each_ref(),
            "{value:#}"
        );
        let words =
            tests.iter().filter_map(|test| test["…"].as_str()?.split_once(' ')?.0.parse::<usize>().ok());
        let shown = tests.iter().filter(|test| test["name"].is_string()).count();
        assert_eq!(words.sum::<usize>() + shown, count, "{value:#}");
        let documents = (0..count).map(|number| item(number) + "\n").collect::<String>();
        let body = body(preview(documents.as_bytes(), 1000).content());
        assert!(names.iter().all(|name| body.contains(name)), "{body}");
    }
}

#[test]
fn json_lines_stay_json_lines() {
    let text: String =
        (0..900).map(|number| format!("{{\"id\": {number}, \"text\": \"{}\"}}\n", "x".repeat(300))).collect();
    let preview = preview(text.as_bytes(), 2000);
    let body = body(preview.content());
    let values: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(values.len() > 4);
    assert_eq!((&values[0]["id"], &values[values.len() - 1]["id"]), (&Value::from(0), &Value::from(899)));
    let said = String::from_utf8_lossy(preview.content()).into_owned();
    assert!(said.contains("900 JSON documents, shortened"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("[offcut") && line.ends_with(" not shown]")), "{said}");
}

#[test]
fn object_with_many_keys_is_shortened() {
    let members = |count| {
        list(count, |number| format!("\"package {number}\": {{\"version\": \"1.{number}\", \"dev\": true}}"))
    };
    let value = parsed(&format!("{{\"name\": \"it\", \"packages\": {{{}}}}}", members(2000)), 1500);
    let packages = value["packages"].as_object().unwrap();
    assert_eq!(packages["package 0"]["version"], "1.0");
    assert_eq!(packages["package 1999"]["version"], "1.1999");
    assert_eq!(packages["…"], format!("{} keys omitted", 2001 - packages.len()));
}

#[test]
fn small_budgets_still_give_valid_json() {
    let text = format!(
        "{{\"a\": [{}], \"b\": {{\"c\": {{\"d\": 1}}}}}}",
        list(900, |number| format!("{{\"n\": {number}}}"))
    );
    for bytes in 256..700 {
        parsed(&text, bytes);
    }
}

#[test]
fn markers_differ_from_strings_of_the_text() {
    let text = format!("[\"… 5 items omitted\", {}]", list(900, |number| format!("\"{number}\"")));
    check(&text, &["\"… 5 items omitted\"", "\"…… "]);
}

#[test]
fn invalid_json_is_reported_as_an_outline() {
    let said = |text: &[u8]| String::from_utf8_lossy(preview(text, 1000).content()).into_owned();
    let items = list(900, |number| number.to_string());
    let check = |text: &[u8], words: &str| {
        let said = said(text);
        assert!(said.contains(words), "{said}");
    };
    check(format!("[{items}").as_bytes(), "outline of JSON that is cut off");
    check(format!("[{items}, \"abc\\").as_bytes(), "outline of JSON that is cut off");
    check(format!("[NaN, {items}]").as_bytes(), "outline, not valid JSON");
    check(&[b"[\"\xFF\", ", items.as_bytes(), b"]"].concat(), "outline, not valid JSON");
    check(&[b"[\"\0\", ", items.as_bytes(), b"]"].concat(), "outline, not valid JSON");
    check(format!("[{items}] and more").as_bytes(), "outline, not valid JSON");
    check("no JSON at all\n".repeat(900).as_bytes(), "outline, not valid JSON");
    check(b"[".repeat(200_000).as_slice(), "outline");
}

#[test]
fn deep_nesting_is_shortened() {
    let deep =
        |depth: usize| format!("{}{}{}", "[".repeat(depth), list(500, |_| "7".to_owned()), "]".repeat(depth));
    parsed(&deep(50), 1000);
    parsed(&deep(20_000), 1000);
    let deeper = deep(400_000);
    let said = preview(deeper.as_bytes(), 1000).into_content();
    assert!(String::from_utf8_lossy(&said).contains("outline, not valid JSON"));
}

/// Test threads have a stack of 2 MB, as other threads have by default.
#[test]
fn deep_json_that_is_cut_off_does_not_overflow_the_stack() {
    let check = |strategy: StrategyName, text: String, expected: &str| {
        let limits = Limits { bytes: Some(64 << 10), ..Limits::default() };
        let truncator = native(Rule { strategy: Some(strategy), limits, ..Rule::default() }, memory());
        let preview = truncator.apply(&text, &Context::default()).into_preview().unwrap();
        assert!(preview.content().len() <= 64 << 10, "{strategy:?}");
        let said = String::from_utf8_lossy(preview.content()).into_owned();
        assert!(said.contains(expected), "{strategy:?}: {said:.300}");
    };
    let rows = "{\"row\": 1},\n".repeat(7000);
    for &strategy in StrategyName::ALL {
        check(strategy, "[".repeat(300_000), "[offcut");
        check(strategy, "{\"a\":".repeat(60_000), "[offcut");
        check(strategy, "[{\"a\":".repeat(40_000) + &rows, "[offcut");
    }
    for strategy in [StrategyName::Json, StrategyName::Auto] {
        check(strategy, "[".repeat(500) + &rows, "outline of JSON that is cut off");
    }
}

/// The counts are exact, and the last items are shown.
#[test]
fn text_larger_than_memory_is_shortened() {
    let record = |number: usize| {
        format!(
            "\n  {{\"id\": {number}, \"tags\": [\"a\", \"b\"], \"note\": \"{}\"}}",
            "n".repeat(number % 90)
        )
    };
    let text = format!(
        "{{\"first\": [{}],\n \"text\": \"{}\",\n \"second\": [{}],\n \"count\": 3}}\n",
        list(40_000, record),
        "long ".repeat(200_000),
        list(40_000, record)
    );
    let value = parsed(&text, 6000);
    for name in ["first", "second"] {
        let items = value[name].as_array().unwrap();
        assert_eq!(items[0]["id"], 0);
        assert_eq!(items[items.len() - 1]["id"], 39_999);
        let words: Vec<&Value> = items.iter().filter_map(|item| item.get("…")).collect();
        assert_eq!(words, [&Value::from(format!("{} items omitted", 40_001 - items.len()))]);
    }
    assert_eq!(value["count"], 3);
    let cut = value["text"].as_str().unwrap();
    assert!(cut.contains("bytes omitted") && cut.starts_with("long long") && cut.ends_with("long "));
    let omitted: usize = cut.split_ascii_whitespace().find_map(|word| word.parse().ok()).unwrap();
    let words = format!("… {omitted} bytes omitted …").len();
    assert_eq!(omitted + cut.len() - words, 1_000_000);
}

/// The number of documents is exact, and the one that differs is shown.
#[test]
fn lines_of_large_arrays_are_counted_and_compared() {
    let line = |number: usize| {
        let status = |item: usize| if (number, item) == (300, 200) { "failed" } else { "passed" };
        let item =
            |at: usize| format!("{{\"id\": {at}, \"status\": \"{}\", \"tags\": [\"a\", \"b\"]}}", status(at));
        format!("{{\"batch\": {number}, \"items\": [{}]}}\n", list(400, item))
    };
    let text: String = (0..500).map(line).collect();
    let said = String::from_utf8_lossy(preview(text.as_bytes(), 4000).content()).into_owned();
    assert!(said.contains("500 JSON documents, shortened"), "{said}");
    assert!(said.contains("\"batch\": 300") && said.contains("\"failed\""), "{said}");
    assert!(said.contains("\"batch\": 499"), "{said}");
}

#[test]
fn indented_text_larger_than_memory_is_shortened() {
    fn tree(depth: usize) -> Value {
        let children: Vec<Value> = (0..3).filter(|_| depth > 0).map(|_| tree(depth - 1)).collect();
        serde_json::json!({"name": format!("level {depth}"), "value": depth, "children": children})
    }
    let text = serde_json::to_string_pretty(&serde_json::json!({"roots": vec![tree(8); 3]})).unwrap();
    assert_eq!(parsed(&text, 2000)["roots"][0]["name"], "level 8");
}

#[test]
fn text_in_strings_is_shown_before_what_is_repeated() {
    let user = list(18, |at| format!("\"{at}_url\": \"https://example.com/users/somebody/link/{at}\""));
    let words = |from: usize| (0..70).map(|at| format!("word{} ", from * 100 + at)).collect::<String>();
    let comment = |at: usize| format!("{{\"id\": {at}, \"user\": {{{user}}}, \"body\": \"{}\"}}", words(at));
    let value = parsed(&format!("[{}]", list(3, comment)), 3000);
    for (at, item) in value.as_array().unwrap().iter().enumerate() {
        assert_eq!(item["body"], words(at), "{value:#}");
    }
    // The end that all strings share gets no room.
    let body = |at: usize| format!("{}{}", words(at), "the same words under each message ".repeat(30));
    let value = parsed(&format!("[{}]", list(4, |at| format!("{{\"body\": \"{}\"}}", body(at)))), 3000);
    for (at, item) in value.as_array().unwrap().iter().enumerate() {
        assert!(item["body"].as_str().unwrap().starts_with(&words(at)), "{value:#}");
    }
}

#[test]
fn room_is_used() {
    let matrix =
        list(40, |row| format!("[{}]", list(40, |at| format!("[{row}, {at}, 1, 2, 3, 4, 5, 6, 7, 8, 9]"))));
    let long = |at: usize| format!("{{\"n\": {at}, \"text\": \"{}\"}}", "some words ".repeat(at * 90));
    let packages = list(300, |at| format!("\"package {at}\": {{\"version\": \"1.{at}\", \"dev\": true}}"));
    let around = |tree: String, level: usize| {
        format!("{{\"level\": {level}, \"children\": [{}]}}", list(3, |_| tree.clone()))
    };
    for text in [
        (0..7).fold("{}".to_owned(), around),
        format!("[{matrix}]"),
        format!("[{}]", list(9, long)),
        format!("{{\"packages\": {{{packages}}}}}"),
        format!("{{\"a\": {{\"b\": {{\"c\": [{}]}}}}}}", list(2000, |at| at.to_string())),
        format!("{{\"short\": 1}}\n{}\n", long(40)),
    ] {
        for bytes in [1000, 2000, 4000, 8000] {
            let shown = preview(text.as_bytes(), bytes).content().len() as u64;
            assert!(shown * 100 >= bytes * 85, "{shown} of {bytes} bytes: {text:.80}");
        }
    }
}

#[test]
fn one_more_item_does_not_make_the_preview_much_shorter() {
    let item = |at: usize| {
        format!("{{\"id\": {at}, \"name\": \"item {at}\", \"note\": \"{}\"}}", "n".repeat(at * 7 % 90))
    };
    let mut before = 0;
    for count in 20..90 {
        let text = format!("{{\"total\": {count}, \"items\": [{}]}}", list(count, item));
        let shown = match json(3000).apply(text.as_bytes(), &Context::default()) {
            Outcome::Passed(_) => text.len(),
            cut => cut.preview().unwrap().content().len(),
        };
        assert!(shown * 10 >= before * 9, "{count} items: {shown} after {before} bytes");
        before = shown;
    }
}

#[test]
fn lines_around_json_are_shown_whole() {
    let items = list(900, |number| format!("{{\"id\": {number}}}"));
    let check = |before: &str, json: &str, after: &str| {
        let text = format!("{before}{json}\n{after}");
        let said = String::from_utf8_lossy(preview(text.as_bytes(), 1500).content()).into_owned();
        assert!(said.contains("JSON among other lines, shortened"), "{said}");
        assert!(said.contains(before) && said.contains(after), "{said}");
        assert!(said.contains("items omitted"), "{said}");
    };
    let array = format!("[{items}]");
    check("$ curl -i https://example.com\nHTTP/2 200\ncontent-type: application/json\n\n", &array, "");
    check("[INFO] asking\n", &array, "took 3 s\n");
    check("> it@1.0.0 list\n", &format!("{{\n  \"items\": [{items}]\n}}"), "[1] done\n");
    check("first:\n", &format!("{array}\n---\n{array}"), "");
}

#[test]
fn hostile_texts_are_shown_in_part() {
    let mega = 1 << 20;
    let check = |text: &[u8]| {
        let preview = preview(text, 1000);
        assert!(!preview.content().is_empty() && preview.content().len() <= 1000);
        String::from_utf8_lossy(preview.content()).into_owned()
    };
    for text in [
        format!("[\"{}\"]", "x".repeat(20 * mega)),
        format!("{{\"a\": \"{}\"}}", "\\\\".repeat(5 * mega)),
        format!("{{\"a\": \"{}\"}}", "\\ud83d\\ude00".repeat(mega)),
        format!("[{}0]", "1,".repeat(5 * mega)),
        format!("[{}[]]", "[],".repeat(3 * mega)),
        format!("[{}0]", "{\"a\":[{\"b\":[]}]},".repeat(mega / 2)),
        format!("{{{}\"z\":0}}", "\"same\":1,".repeat(mega)),
        format!("[{}0]", format!("{}{},", "[".repeat(300), "]".repeat(300)).repeat(8000)),
        " ".repeat(5 * mega) + "{}",
    ] {
        let said = check(text.as_bytes());
        let expected = if text.starts_with(' ') { "JSON" } else { "JSON, shortened" };
        assert!(said.contains(expected), "{said}");
    }
    check("[".repeat(5 * mega).as_bytes());
    check("{\"a\":".repeat(mega).as_bytes());
    check(format!("[{}]", "7".repeat(5 * mega)).as_bytes());
    check(format!("{{\"{}\": 1}}", "k".repeat(5 * mega)).as_bytes());
    check(&[&b"[\""[..], &vec![0xFF; 3 * mega], b"\"]"].concat());
    check(&[&b"[\""[..], &b"abcdefghijklmno\0".repeat(mega / 4), b"\"]"].concat());
}

/// A random JSON text with random white space.
fn text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<bool>().prop_map(|truth| truth.to_string()),
        "[a-z …é漢🙂]{0,12}".prop_map(|text| format!("\"{text}\"")),
        ("(\\\\n|\\\\\\\\|\\\\u00e9|\\\\ud83d\\\\ude00|a|漢|\\\\\"){1,6}", 1..60_usize)
            .prop_map(|(unit, times)| format!("\"{}\"", unit.repeat(times))),
    ];
    let value = scalar.prop_recursive(5, 400, 24, |value| {
        let space = || "[ \n]{0,3}";
        prop_oneof![
            (prop::collection::vec(value.clone(), 0..24), space(), space()).prop_map(
                |(items, before, after)| {
                    format!("[{before}{}{after}]", items.join(&format!(",{before}")))
                }
            ),
            (prop::collection::vec(("[a-z]{1,6}", value), 0..12), space(), space()).prop_map(
                |(members, before, after)| {
                    let members: Vec<String> =
                        members.into_iter().map(|(key, value)| format!("\"{key}\":{after}{value}")).collect();
                    format!("{{{before}{}{after}}}", members.join(&format!(",{before}")))
                }
            ),
        ]
    });
    (prop::collection::vec(value, 1..9), any::<bool>()).prop_map(|(values, lines)| {
        let structures = values.iter().all(|value| value.starts_with(['[', '{']));
        match lines && structures {
            true => values.iter().map(|value| format!("{}\n", value.replace('\n', " "))).collect(),
            false => format!("[{}]", values.join(",")),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The preview is valid, within the limits, made of original bytes and markers, and independent of the chunks.
    #[test]
    fn random_json_is_shortened_to_valid_json(
        text in text(),
        times in 1..200_usize,
        bytes in 256..3000_u64,
        terminal in prop::sample::select(vec![Terminal::Rendered, Terminal::Raw]),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let text = match text.ends_with('\n') {
            true => text.repeat(times),
            false => format!("[{}]", vec![text; times].join(", ")),
        };
        let limits = Limits { bytes: Some(bytes), lines: Some(1900), ..Limits::default() };
        let rule = Rule { strategy: Some(StrategyName::Json), limits, terminal: Some(terminal), ..Rule::default() };
        let truncator = native(rule, memory());
        let shown = truncator.apply(text.as_bytes(), &Context::default());
        let Some(preview) = shown.preview() else { return Ok(()) };
        prop_assert!(preview.content().len() as u64 <= bytes.max(512));
        let body = body(preview.content());
        let values = serde_json::Deserializer::from_str(&body).into_iter::<Value>();
        let values: Result<Vec<Value>, _> = values.collect();
        prop_assert!(values.is_ok(), "{:?} in {}", values, body);

        let mut rest = preview.content();
        let mut notices = Vec::new();
        let mut at = 0;
        let ends = preview.gaps().iter().map(|gap| (gap.start, gap.end)).chain([(text.len() as u64, 0)]);
        for (start, end) in ends {
            let span = &text.as_bytes()[at..start as usize];
            let place = crate::properties::find(rest, span, |_| true);
            let place = place.ok_or_else(|| TestCaseError::fail(format!("{} is not shown", String::from_utf8_lossy(span))))?;
            notices.extend_from_slice(&rest[..place]);
            rest = &rest[place + span.len()..];
            at = end as usize;
        }
        notices.extend_from_slice(rest);
        let notices = String::from_utf8(notices).unwrap();
        prop_assert!(notices.contains("[offcut") || notices.contains("[+"), "{}", notices);

        let again = native(rule, memory());
        prop_assert_eq!(in_pieces(&again, text.as_bytes(), places), String::from_utf8_lossy(preview.content()));
    }
}
