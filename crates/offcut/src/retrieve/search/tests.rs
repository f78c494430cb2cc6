use super::*;
use crate::context::Context;
use crate::store::{MemoryStore, NewEntry, contract};
use std::time::UNIX_EPOCH;

fn find(text: &[u8], query: &Query, limits: PageLimits) -> (Vec<String>, u64, u64) {
    let store = MemoryStore::new(|| UNIX_EPOCH);
    let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
    writer.write(text).unwrap();
    let id = writer.commit(EntryState::Complete, &contract::summary(text)).unwrap().id;
    let found = search(&store, &[id], query, limits).unwrap();
    assert!(found.errors.is_empty() && found.incomplete.is_empty(), "{found:?}");
    let text = String::from_utf8_lossy(&found.to_text(false)).into_owned();
    let lines = text.split_terminator('\n').map(str::to_owned).collect();
    (lines, found.matches, found.shown)
}

fn query(pattern: &str) -> Query {
    Query { pattern: pattern.to_owned(), ..Query::default() }
}

#[test]
fn search_returns_lines_context_and_counts() {
    let text = b"one\ntwo\nthree\r\nfour\n\xFFfive Error\nsix\nerror seven";
    let page = PageLimits::default();
    assert_eq!(find(text, &query("t.o"), page), (vec!["2:two".into()], 1, 1));
    for pattern in ["three$", "^three$", "(two|three)$", "t[^$]r.e\r$", "th.*[]e$]$", r"\x65{2}$"] {
        assert_eq!(find(text, &query(pattern), page).0.last().unwrap(), "3:three", "{pattern}");
    }
    assert_eq!(find(b"$\n[$\r\na\rb\r\n\r\n", &query(r"\$|^$|^a.b$"), page).1, 4);
    let insensitive = Query { ignore_case: true, ..query("ERROR") };
    assert_eq!(find(text, &insensitive, page).0, ["5:\u{FFFD}five Error", "7:error seven"]);
    let context = Query { context: 1, ..query("two|seven") };
    assert_eq!(find(text, &context, page).0, ["1-one", "2:two", "3-three", "--", "6-six", "7:error seven"]);
    let one = Query { max_count: Some(1), ..query("e") };
    assert_eq!(find(text, &one, page), (vec!["1:one".into()], 4, 1));
    assert_eq!(find(text, &query("nothing"), page), (vec![], 0, 0));
}

#[test]
fn search_options_have_the_meaning_of_ripgrep() {
    let text = b"one\ntwo (2)\ntwofold\nfour\nTWO two\n";
    let lines = |query: Query| find(text, &query, PageLimits::default()).0;
    assert_eq!(lines(Query { literal: true, ..query("(2)") }), ["2:two (2)"]);
    assert_eq!(lines(Query { literal: true, ..query("two$") }), [""; 0]);
    assert_eq!(lines(Query { word: true, ..query("two") }), ["2:two (2)", "5:TWO two"]);
    assert_eq!(lines(Query { invert: true, ..query("o$|2") }), ["1:one", "3:twofold", "4:four"]);
    assert_eq!(lines(Query { alternatives: vec!["^fo".into()], ..query("^o") }), ["1:one", "4:four"]);
    let parts = Query { only_matching: true, ignore_case: true, ..query("two|o*") };
    assert_eq!(lines(parts), ["1:o", "2:two", "3:two", "3:o", "4:o", "5:TWO", "5:two"]);
    let around = Query { before: Some(1), ..query("four") };
    assert_eq!(lines(around.clone()), ["3-twofold", "4:four"]);
    assert_eq!(lines(Query { after: Some(1), before: None, ..around.clone() }), ["4:four", "5-TWO two"]);
    assert_eq!(lines(Query { context: 1, before: Some(0), ..around }), ["4:four", "5-TWO two"]);
}

#[test]
fn hits_say_where_they_match() {
    let parts = |text: &str, query: Query| -> Vec<String> {
        let store = MemoryStore::new(|| UNIX_EPOCH);
        let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
        writer.write(text.as_bytes()).unwrap();
        let id = writer.commit(EntryState::Complete, &contract::summary(text.as_bytes())).unwrap().id;
        let found = search(&store, &[id], &query, PageLimits::default()).unwrap();
        let hits = found.hits.iter();
        hits.flat_map(|hit| {
            hit.found.iter().map(|part| String::from_utf8_lossy(&hit.text[part.clone()]).into())
        })
        .collect()
    };
    let text = "one two\nthree\r\ntwo two\n";
    assert_eq!(parts(text, query("two|e$")), ["two", "e", "two", "two"]);
    assert_eq!(parts(text, Query { only_matching: true, ..query("t..") }), ["two", "thr", "two", "two"]);
    assert_eq!(parts(text, Query { invert: true, context: 1, ..query("two") }), [""; 0]);
    assert_eq!(parts(text, Query { context: 1, ..query("three") }), ["three"], "context has no match");
    assert_eq!(parts(text, query("x*")), [""; 0], "an empty match is nothing to see");
    let long = format!("{}é needle {}needle", "é".repeat(1000), "x".repeat(100) + &"é".repeat(1000));
    assert_eq!(parts(&long, query("needle")), ["needle"], "the second one is not shown");
    // From the match at byte 2003 to the end of the excerpt, which has the bytes from 1844 to 2164.
    let part = parts(&long, query("needle.*")).remove(0);
    assert!(part.starts_with("needle xxx") && part.ends_with('é') && part.len() == 161, "{part}");
}

#[test]
fn last_match_of_the_maximum_has_its_context() {
    let text = b"0\na1\n2\n3\n4\na5\na6\n7\n";
    let lines =
        |most, query: Query| find(text, &Query { max_count: Some(most), ..query }, PageLimits::default()).0;
    let after = Query { after: Some(2), ..query("a") };
    assert_eq!(lines(1, after.clone()), ["2:a1", "3-2", "4-3"]);
    assert_eq!(lines(2, after.clone()), ["2:a1", "3-2", "4-3", "--", "6:a5"], "the next match ends it");
    assert_eq!(lines(3, after), ["2:a1", "3-2", "4-3", "--", "6:a5", "7:a6", "8-7"]);
    let around = Query { context: 1, ..query("a") };
    assert_eq!(lines(1, around.clone()), ["1-0", "2:a1", "3-2"]);
    assert_eq!(lines(0, around), [""; 0]);
}

#[test]
fn search_counts_matches_by_output() {
    let store = MemoryStore::new(|| UNIX_EPOCH);
    let ids = [&b"a\nb\na\n"[..], b"b\n"].map(|text| {
        let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
        writer.write(text).unwrap();
        writer.commit(EntryState::Complete, &contract::summary(text)).unwrap().id
    });
    let result = search(&store, &ids, &query("a"), PageLimits::default()).unwrap();
    let counted: Vec<_> =
        result.outputs.iter().map(|output| (output.id, output.matches, output.lines)).collect();
    assert_eq!(counted, [(ids[0], 2, Some(3)), (ids[1], 0, Some(1))]);
}

#[test]
fn search_bounds_long_lines_and_many_matches() {
    let long = format!("{}NEEDLE{}", "漢".repeat(50_000), "字".repeat(50_000));
    let (lines, ..) = find(long.as_bytes(), &query("NEEDLE"), PageLimits::default());
    assert!(lines[0].contains("NEEDLE") && lines[0].len() < 400, "{lines:?}");
    let many = "match\n".repeat(100_000);
    let (lines, matches, shown) =
        find(many.as_bytes(), &query("match"), PageLimits { bytes: 1000, lines: 500 });
    assert_eq!((matches, shown, lines.len()), (100_000, 110, 110));
}

#[test]
fn search_finds_matches_in_a_line_that_exceeds_the_memory() {
    let mut text = b"first NEEDLE\n".to_vec();
    text.resize(2 * HEAP, b'x');
    text.extend_from_slice(b"NEEDLE");
    text.resize(2 * HEAP + 1000, b'y');
    text.extend_from_slice(b"\nlast NEEDLE\n");
    for context in [0, 1] {
        let query = Query { context, ..query("NEEDLE") };
        let (lines, matches, shown) = find(&text, &query, PageLimits::default());
        assert_eq!((matches, shown), (3, 3), "{lines:?}");
        assert_eq!(lines.first().map(String::as_str), Some("1:first NEEDLE"));
        assert_eq!(lines.last().map(String::as_str), Some("3:last NEEDLE"));
        assert!(lines.iter().any(|line| line.starts_with("2:…x") && line.contains("NEEDLE")), "{lines:?}");
    }
}

#[test]
fn search_finds_a_match_at_the_border_of_two_parts_of_a_line() {
    let border = HEAP / 2 - READ_BUFFER;
    for start in [border - 5, border - 1, border, border + 1] {
        let mut text = b"first\n".to_vec();
        text.resize("first\n".len() + start, b'x');
        text.extend_from_slice(b"NEEDLE");
        text.resize(2 * HEAP, b'y');
        text.extend_from_slice(b"\nlast NEEDLE\n");
        let (lines, matches, _) = find(&text, &query("NEEDLE"), PageLimits::default());
        assert_eq!(matches, 2, "{lines:?}");
        assert!(lines[0].starts_with("2:") && lines[0].contains("xNEEDLEy"), "{lines:?}");
        assert_eq!(lines[1], "3:last NEEDLE");
    }
}

#[test]
fn search_fills_the_page_with_short_lines() {
    let text: String = (0..5000).map(|number| format!("{}\n", number % 10)).collect();
    let store = MemoryStore::new(|| UNIX_EPOCH);
    let ids = [0; 2].map(|_| {
        let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
        writer.write(text.as_bytes()).unwrap();
        writer.commit(EntryState::Complete, &contract::summary(text.as_bytes())).unwrap().id
    });
    for ids in [&ids[..1], &ids] {
        let result = search(&store, ids, &query("."), PageLimits { bytes: 5000, lines: 5000 }).unwrap();
        let size = result.to_text(ids.len() > 1).len();
        assert!((4900..=5000).contains(&size), "{size}");
    }
}

#[test]
fn search_with_any_number_of_context_lines_returns_the_match() {
    for context in [1001, usize::MAX - 2, usize::MAX - 1, usize::MAX] {
        let query = Query { context, ..query("two") };
        let (lines, ..) = find(b"one\ntwo\nthree\n", &query, PageLimits::default());
        assert_eq!(lines, ["1-one", "2:two", "3-three"], "{context}");
    }
}

#[test]
fn search_rejects_an_invalid_pattern() {
    let store = MemoryStore::new(|| UNIX_EPOCH);
    let error = search(&store, &[], &query("(("), PageLimits::default()).unwrap_err();
    assert!(matches!(error, RetrieveError::NotAPattern { .. }));
    assert_eq!(error.to_string(), "the pattern is not a regular expression: unclosed group");
}
