//! Tests of repeated lines: they are folded, and only truly similar lines are reported as repeated.

use crate::common::{memory, native};
use offcut::cut::GapReason;
use offcut::notice::{Message, Notice};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Rule, Truncator};
use proptest::prelude::*;
use std::collections::HashSet;

fn truncator(strategy: StrategyName, bytes: u64) -> Truncator {
    let limits = Limits { bytes: Some(bytes), ..Limits::default() };
    native(Rule { strategy: Some(strategy), limits, ..Rule::default() }, memory())
}

/// Warnings that differ only in their numbers.
fn warnings(count: usize) -> String {
    (1..=count)
        .map(|number| {
            format!(
                "src/table.c:{number}:9: warning: unused variable 'row{number}'\n  in macro expansion {number}\n"
            )
        })
        .collect()
}

#[test]
fn repeated_lines_are_folded_and_counted() {
    let text = format!("make: entering\n{}cc: linking\n{}done\n", warnings(2500), warnings(40));
    let expected = "\
[offcut: 15 of 5083 lines shown (0.4 of 202 kB); nothing is lost: offcut://11nzcp4801000000]
make: entering
src/table.c:1:9: warning: unused variable 'row1'
  in macro expansion 1
src/table.c:2:9: warning: unused variable 'row2'
  in macro expansion 2
[offcut: 4993 similar lines 6:4998 not shown]
  in macro expansion 2499
src/table.c:2500:9: warning: unused variable 'row2500'
  in macro expansion 2500
cc: linking
src/table.c:1:9: warning: unused variable 'row1'
  in macro expansion 1
[offcut: 75 similar lines 5005:5079 not shown]
  in macro expansion 39
src/table.c:40:9: warning: unused variable 'row40'
  in macro expansion 40
done
[offcut 11nzcp4801: more: offcut grep PATTERN 11nzcp4801]
";
    for strategy in [StrategyName::Smart, StrategyName::Auto] {
        let shown = truncator(strategy, 8000).apply(text.as_bytes(), &Context::default());
        assert_eq!(String::from_utf8_lossy(shown.content()), expected, "{strategy:?}");
        let Some(preview) = shown.into_preview() else { panic!("the text is over the limits") };
        let whys: Vec<&str> = preview.gaps().iter().map(|gap| gap.why.as_str()).collect();
        assert_eq!(whys, ["repeated", "repeated"]);
    }
}

/// Data is shown as far as there is room.
#[test]
fn lines_of_numbers_are_not_folded() {
    let text: String = (1..=50_000).map(|number| format!("{number}\n")).collect();
    let truncator = truncator(StrategyName::Smart, 8000);
    let shown = truncator.apply(text.as_bytes(), &Context::default());
    assert!(shown.content().len() > 6000);
    assert!(!String::from_utf8_lossy(shown.content()).contains(" similar"));
}

/// The preview of a text, by lines.
fn preview(text: &str, bytes: u64) -> Vec<String> {
    let shown = truncator(StrategyName::Auto, bytes).apply(text.as_bytes(), &Context::default());
    String::from_utf8_lossy(shown.content()).lines().map(str::to_owned).collect()
}

/// A number below `most` that does not grow with the line.
fn vary(line: u64, most: u64) -> u64 {
    line.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(20) % most
}

/// The lowest and the highest number after `before` in lines `first` to `last` of a text, as `low…high`.
fn range(text: &str, (first, last): (u64, u64), before: &str) -> Option<String> {
    let number = |line| {
        let after: &str = str::split_once(line, before)?.1;
        let text = after.split_whitespace().next()?;
        Some((text.parse::<f64>().ok()?, text))
    };
    let lines = text.lines().skip(first as usize - 1).take((last + 1 - first) as usize);
    let numbers: Vec<(f64, &str)> = lines.filter_map(number).collect();
    let lowest = numbers.iter().min_by(|one, other| one.0.total_cmp(&other.0))?;
    let highest = numbers.iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    Some(format!("{}…{}", lowest.1, highest.1))
}

/// Checks that, of 3000 lines, the unusual ones are shown, and that the markers around them say in which range the number after
/// `before` is in the others, with this name and unit.
#[track_caller]
fn check_unusual(line: impl Fn(u64) -> String, unusual: &[(u64, &str)], before: &str, named: [&str; 2]) {
    let is_unusual = |at| unusual.iter().find(|(place, _)| *place == at);
    let lines = (0..3000).map(|at| is_unusual(at).map_or_else(|| line(at), |(_, line)| (*line).to_owned()));
    let text: String = lines.map(|line| line + "\n").collect();
    let lines = preview(&text, 4096);
    for (_, line) in unusual {
        assert!(lines.iter().any(|shown| shown == line), "{line} in {lines:#?}");
    }
    let mut markers = 0;
    for Notice { message, .. } in lines.iter().filter_map(|line| Notice::parse(line)) {
        if let Message::Similar { first, last, ref contents } = message {
            let range = range(&text, (first, last), before);
            let expected = range.map(|range| format!("{}{range}{}", named[0], named[1])).unwrap_or_default();
            assert_eq!(*contents, expected, "{lines:#?}");
            markers += 1;
        }
        assert!(!matches!(message, Message::Lines { .. }), "{lines:#?}");
    }
    assert_eq!(markers, unusual.len() + 1, "{lines:#?}");
}

#[test]
fn unusual_lines_among_folded_ones_are_shown_and_markers_have_the_range_of_the_others() {
    let score = |at| format!("user {at} score {}", vary(at, 9988));
    check_unusual(score, &[(1500, "user 1500 score -1")], "score ", ["score ", ""]);
    let bench =
        |at| format!("bench_{:02} iteration {at}: {}.{:02} us", at % 40, 8 + vary(at, 32), vary(at, 89));
    check_unusual(bench, &[(1718, "bench_38 iteration 1718: 9911.91 us")], ": ", ["", " us"]);
    let ping = |at| {
        format!("64 bytes from 1.1.1.1: icmp_seq={at} ttl=57 time={}.{} ms", 9 + vary(at, 5), vary(at, 9))
    };
    let slow = [(1500, "64 bytes from 1.1.1.1: icmp_seq=1501 ttl=57 time=812 ms")];
    check_unusual(ping, &slow, "time=", ["time ", " ms"]);
    let row = |at| format!("row {at} balance {}.50 status ok", 5 + vary(at, 9000));
    let rows = [(1000, "row 1000 balance NULL status ok"), (2000, "row 2000 balance -17.50 status ok")];
    check_unusual(row, &rows, "balance ", ["balance ", ""]);
    let reply = |at| format!("GET /item/{} status=200 in {} ms", vary(at, 999), 20 + vary(at, 40));
    check_unusual(reply, &[(1500, "GET /item/7 status=503 in 41 ms")], "in ", ["in ", " ms"]);
    let tokens = |at| format!("run {at}: {} words and {} tokens", vary(at, 9), 100 + vary(at, 900));
    check_unusual(tokens, &[(2000, "run 2000: 5 words and 90000 tokens")], "and ", ["and ", ""]);
    // Counters and times have no range.
    let heartbeat = |at| format!("12:{:02}:{:02} heartbeat {at} ok", at / 60, at % 60);
    check_unusual(heartbeat, &[], "no number", ["", ""]);
}

#[test]
fn unusual_number_among_lines_of_data_is_shown() {
    let line = |at: u64| match at {
        1500 => "bench_1500: 9911.91 us\n".to_owned(),
        _ => format!("bench_{at}: {}.{:02} us\n", 8 + vary(at, 32), vary(at, 89)),
    };
    let lines = preview(&(0..3000).map(line).collect::<String>(), 4096);
    assert!(lines.iter().any(|shown| shown == "bench_1500: 9911.91 us"), "{lines:#?}");
}

/// Lines are folded without need only if they are equal or differ in times and counters.
#[test]
fn lines_that_differ_in_data_are_shown_while_there_is_room() {
    let bench = |at| format!("BenchmarkSort/{at}-8 {} {}.25 ns/op", vary(at, 90_000), vary(at + 1, 9000));
    let ping = |at| {
        format!("64 bytes from 1.1.1.1: icmp_seq={at} ttl=57 time={}.{} ms", 9 + vary(at, 5), vary(at, 9))
    };
    let training = |at| format!("epoch {at} loss {}.{:03} lr 0.001", 9 - at / 100, 999 - at % 1000);
    let list =
        |at| format!("<li class=\"item\"><a href=\"/p/{}\">Product {}</a></li>", vary(at, 999), vary(at, 99));
    let json = |at| format!("{{\"level\":\"info\",\"msg\":\"request done\",\"ms\":{}}}", vary(at, 80));
    let data: [&dyn Fn(u64) -> String; 5] = [&bench, &ping, &training, &list, &json];
    let equal = |_| "waiting for the database".to_owned();
    let counters =
        |at| format!("2026-11-16 12:{:02}:{:02} INFO heartbeat {at} of 900 is ok", at / 60, at % 60);
    let routine: [&dyn Fn(u64) -> String; 2] = [&equal, &counters];
    let size = |line: &dyn Fn(u64) -> String| {
        let text: String = (0..600).map(|at| line(at) + "\n").collect();
        preview(&text, 6000).join("\n").len()
    };
    data.iter().for_each(|line| assert!(size(line) > 5400, "{} {}", line(7), size(line)));
    routine.iter().for_each(|line| assert!(size(line) < 900, "{} {}", line(7), size(line)));
}

/// The first epochs of a training run are stretches of their own, because their number is new each time.
/// A range would be about one of them.
#[test]
fn marker_of_alternating_messages_has_no_range() {
    let service = |line: u64| ["auth", "cart", "pay"][line as usize % 3];
    let text: String = (0..3000)
        .map(|line| format!("INFO {} request served in {} ms\n", service(line), 3 + vary(line, 37)))
        .collect();
    let preview = preview(&text, 8192);
    let marker = preview.iter().find(|line| line.contains(" similar lines ")).unwrap();
    assert!(marker.ends_with(" not shown]"), "{marker}");
}

/// This holds if many messages alternate, so that no lines are folded, and if another unusual number is five lines before.
#[test]
fn unusual_number_with_as_many_digits_is_shown() {
    let took = |at: u64| format!("took {} ms\n", 111 + vary(at, 89));
    let alternating = |at: u64, messages: u64| {
        let word =
            ["read", "sent", "parsed", "wrote", "sorted", "joined", "split", "sealed", "loaded", "moved"];
        let kind = at % messages;
        format!(
            "{} {} took {} ms status=200\n",
            word[kind as usize % 10],
            "x".repeat(1 + kind as usize / 10),
            111 + vary(at, 89)
        )
    };
    let odd = |line: String, number: &str| {
        let (before, after) = line.split_once("took ").unwrap();
        format!("{before}took {number}{}", &after[3..])
    };
    for messages in [1, 10, 20] {
        let line = |at: u64| if messages == 1 { took(at) } else { alternating(at, messages) };
        let text = (0..2000).map(|at| match at {
            1500 => odd(line(at), "911"),
            1505 => odd(line(at), "922"),
            _ => line(at),
        });
        let lines = preview(&text.collect::<String>(), 2000);
        for number in ["took 911 ms", "took 922 ms"] {
            assert!(lines.iter().any(|line| line.contains(number)), "{messages} {number} {lines:#?}");
        }
    }
}

#[test]
fn unusual_word_is_shown_after_other_constants_have_changed() {
    let line = |at: u64| {
        let time = if at % 20 == 7 { 612 + at / 20 } else { 100 + vary(at, 900) };
        let status = if at == 20 * 90 + 7 { 503 } else { 200 };
        format!("{} took {time} ms status={status}\n", "x".repeat(1 + at as usize % 20))
    };
    let lines = preview(&(0..2000).map(line).collect::<String>(), 2000);
    assert!(lines.iter().any(|line| line.contains("status=503")), "{lines:#?}");
}

#[test]
fn marker_of_lines_that_alternate_with_a_long_one_has_no_range() {
    let long = "it goes on and on ".repeat(25);
    let score = |at: u64| match at {
        2 => 5000,
        _ => 100 + vary(at, 100),
    };
    let text: String = (0..400).map(|at| format!("{long}\nscore {}\n", score(at))).collect();
    let lines = preview(&text, 2000);
    let ranges = lines.iter().filter(|line| line.contains("not shown: score"));
    assert_eq!(ranges.count(), 0, "{lines:#?}");
}

#[test]
fn gap_across_stretches_of_the_same_lines_has_the_range_of_all() {
    let line = |at: u64| {
        format!("epoch {} step {} loss {}.{:03}\n", at / 100, at % 100, 3 - at / 1000, vary(at, 999))
    };
    let text: String = (0..3000).map(line).collect();
    let lines = preview(&text, 4096);
    let mut similar = lines.iter().rev().filter_map(|line| match Notice::parse(line)?.message {
        Message::Similar { first, last, contents } => Some((first, last, contents)),
        _ => None,
    });
    let (first, last, contents) = similar.next().unwrap_or_else(|| panic!("{lines:#?}"));
    assert!(last - first > 2000, "{lines:#?}");
    assert_eq!(Some(contents), range(&text, (first, last), "loss ").map(|range| format!("loss {range}")));
}

fn measured_line() -> impl Strategy<Value = String> {
    prop_oneof![
        30 => (0..50_u32).prop_map(|value| format!("worker took {value} ms\n")),
        10 => (0..5000_u32).prop_map(|value| format!("worker took {value} ms\n")),
        1 => (0..500_000_i32).prop_map(|value| format!("worker took {} ms\n", value - 1000)),
        1 => (0..50_u32).prop_map(|value| format!("worker failed after {value} tries\n")),
        5 => Just("worker sleeps\n".to_owned()),
    ]
}

/// The words of a line without anything that may vary: coarser than the template.
fn kind(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let fold = |word: &str| {
        if word.contains(|c: char| c.is_ascii_digit()) { "#".to_owned() } else { word.to_owned() }
    };
    line.split_whitespace().map(fold).collect::<Vec<_>>().join(" ")
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0..9999_u32).prop_map(|number| format!("step {number} of the build is done\n")),
        6 => (0..9999_u32).prop_map(|number| format!("  {number} | took a while\n")),
        1 => "[a-c ]{0,3}\n".prop_map(|line| line),
        1 => Just("warning: it is old\n".to_owned()),
        1 => Just("\x1B[31mred again\x1B[0m\n".to_owned()),
        1 => (300..900_usize).prop_map(|times| format!("long {}\n", "word ".repeat(times / 5))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn range_in_a_marker_is_that_of_the_lines_that_are_not_shown(
        lines in prop::collection::vec((measured_line(), 1..4_usize), 100..600),
        bytes in 2000..8000_u64,
    ) {
        let text: String = lines.iter().map(|(line, times)| line.repeat(*times)).collect();
        for line in preview(&text, bytes) {
            let Some(Notice { message: Message::Similar { first, last, contents }, .. }) = Notice::parse(&line) else {
                continue;
            };
            let expected = range(&text, (first, last), "took ").map(|range| format!("took {range} ms"));
            if contents.is_empty() {
                continue;
            }
            prop_assert_eq!(Some(contents), expected);
        }
    }

    #[test]
    fn every_repeated_line_is_similar_to_a_shown_one(
        lines in prop::collection::vec((line(), 1..60_usize), 0..40),
        bytes in 700..6000_u64,
    ) {
        let text: String = lines.iter().map(|(line, times)| line.repeat(*times)).collect();
        let shown = truncator(StrategyName::Smart, bytes).apply(text.as_bytes(), &Context::default());
        if let Some(preview) = shown.preview() {
            let kinds: HashSet<String> = preview.content().split(|&byte| byte == b'\n').map(kind).collect();
            for gap in preview.gaps().iter().filter(|gap| gap.why == GapReason::Repeated) {
                let left_out = &text.as_bytes()[gap.start as usize..gap.end as usize];
                prop_assert!(left_out.ends_with(b"\n") || gap.end as usize == text.len());
                for line in left_out.split_inclusive(|&byte| byte == b'\n') {
                    let plain = String::from_utf8_lossy(line).replace("\x1B[31m", "").replace("\x1B[0m", "");
                    prop_assert!(kinds.contains(&kind(plain.as_bytes())), "{:?} in {:?}", plain, gap);
                }
            }
        }
    }
}
