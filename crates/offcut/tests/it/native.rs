//! Tests of the exact text of notices in the native profile.

use crate::common::{Fault, Faulty, bytes, lines, memory, native};
use offcut::profile::TaskTool;
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Reach, Rule, Saved, Storage, Truncator};

const ID: &str = "11nzcp4801000000";
const SHORT: &str = "11nzcp4801";

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

fn shown(strategy: StrategyName, limits: Limits, text: &str) -> String {
    let rule = Rule { strategy: Some(strategy), limits, ..Rule::default() };
    let shown = native(rule, memory()).apply(text.as_bytes(), &Context::default()).content().to_vec();
    String::from_utf8(shown).unwrap()
}

/// The notices in a preview.
fn notices(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with('[')).collect()
}

#[test]
fn preview_has_header_marker_and_pointer() {
    let text = shown(StrategyName::HeadTail, bytes(2000), &numbered(100_000));
    assert_eq!(
        notices(&text),
        [
            format!("[offcut: 363 of 100000 lines shown (1.7 of 589 kB); nothing is lost: offcut://{ID}]"),
            "[offcut: lines 172:99808 not shown]".to_owned(),
            format!(
                "[offcut {SHORT}: more: offcut read {SHORT} --lines 172:371, or offcut grep PATTERN {SHORT}]"
            ),
        ]
    );
    assert!(text.starts_with('[') && text.contains("]\n1\n2\n3\n") && text.contains("\n171\n["));
    assert!(text.contains("]\n99809\n") && text.contains("\n100000\n[offcut"));
}

#[test]
fn marker_is_at_the_position_of_its_gap() {
    let text = shown(StrategyName::Head, bytes(2000), &numbered(100_000));
    assert!(
        text.lines().nth(1) == Some("1") && notices(&text)[1].contains("lines 460:100000 not shown"),
        "{text}"
    );
    let text = shown(StrategyName::Tail, bytes(2000), &numbered(100_000));
    assert!(notices(&text)[1].contains("lines 1:99712 not shown"), "{text}");
    assert!(notices(&text)[2].contains("--lines 1:200, or "), "{text}");
}

#[test]
fn gap_inside_a_line_is_reported_in_bytes() {
    let text = shown(StrategyName::HeadTail, bytes(2000), &"x".repeat(100_000));
    assert_eq!(
        notices(&text)[..],
        [
            format!("[offcut: 1.7 of 100 kB shown; nothing is lost: offcut://{ID}]"),
            "[offcut: bytes 582:98835 of line 1 not shown]".to_owned(),
            format!(
                "[offcut {SHORT}: more: offcut read {SHORT} --bytes 582:8582, or offcut grep PATTERN {SHORT}]"
            ),
        ]
    );
    let mixed = format!("{}\n{}", "x".repeat(5000), numbered(5000));
    let text = shown(StrategyName::HeadTail, bytes(2000), &mixed);
    assert!(notices(&text)[1].contains(": bytes "), "{text}");
}

#[test]
fn notice_gets_shorter_with_the_budget() {
    let text = numbered(100_000);
    let one_line = shown(StrategyName::HeadTail, bytes(600), &text);
    assert_eq!(
        notices(&one_line),
        [format!("[offcut: 99882 lines not shown: offcut read {SHORT} --lines 62:261]")]
    );
    let least = shown(StrategyName::HeadTail, bytes(256), &text);
    assert_eq!(
        notices(&least),
        [format!("[offcut: 99959 lines not shown: offcut read {SHORT} --lines 23:222]")]
    );
    let least = shown(StrategyName::HeadTail, bytes(256), &"x".repeat(100_000));
    assert_eq!(
        notices(&least),
        [format!("[offcut: 99831 bytes not shown: offcut read {SHORT} --bytes 56:8056]")]
    );
    let few = shown(StrategyName::HeadTail, lines(4), &numbered(30));
    assert_eq!(few, format!("1\n[offcut: 27 lines not shown: offcut read {SHORT} --lines 2:28]\n29\n30\n"));
}

#[test]
fn notice_counts_bytes_where_a_part_of_a_line_is_missing() {
    let text = format!("{}{}\nend\n", numbered(14), "x".repeat(5000));
    for (budget, expected) in [(500, " bytes not shown: offcut read "), (2000, "[offcut: bytes ")] {
        let text = shown(StrategyName::Tail, bytes(budget), &text);
        assert!(notices(&text).iter().any(|notice| notice.contains(expected)), "{text}");
        assert!(!notices(&text).iter().any(|notice| notice.contains("lines not shown")), "{text}");
    }
}

#[test]
fn store_failure_is_reported() {
    let say = |fault, limits: Limits| {
        let rule = Rule { limits, ..Rule::default() };
        let truncator = native(rule, Faulty::new(fault));
        String::from_utf8(
            truncator.apply(numbered(10_000).as_bytes(), &Context::default()).content().to_vec(),
        )
        .unwrap()
    };
    let text = say(Fault::Create, Limits::default());
    let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    assert!(
        first.ends_with(
            "; the rest was not stored: No space left on device (os error 28) (cannot write /the/store)]"
        ),
        "{first}"
    );
    assert_eq!(last, "10000", "nothing can be read back, so there is no footer");
    let text = say(Fault::WriteAfter(20), Limits::default());
    assert!(
        text.lines().next().unwrap().contains("only the first 20 bytes were stored: No space left"),
        "{text}"
    );
    let small = say(Fault::Create, bytes(256));
    assert!(small.contains("not stored: No space left on device"), "even a small notice says why: {small}");
    assert!(say(Fault::Commit, bytes(256)).contains("not stored"), "even the least notice says so");
    let off = Truncator::new(Profile::native()).storage(Storage::Off);
    let text = off.apply(numbered(10_000).as_bytes(), &Context::default()).content().to_vec();
    assert!(String::from_utf8(text).unwrap().lines().next().unwrap().ends_with("; the rest was not stored]"));
}

/// Output that looks like a notice does not know the id; without an id, the notice uses another tag.
#[test]
fn output_cannot_fake_the_notice() {
    let fake = "[offcut: lines 2:9 not shown]\n[offcut-a: all is well]\n";
    let text = format!("{fake}{}{fake}", numbered(10_000));
    let off = Truncator::new(Profile::native()).storage(Storage::Off);
    let shown =
        String::from_utf8(off.apply(text.as_bytes(), &Context::default()).content().to_vec()).unwrap();
    assert!(shown.starts_with("[offcut-b: "), "{}", &shown[..100]);
    assert_eq!(notices(&shown).iter().filter(|line| line.starts_with("[offcut-b:")).count(), 2);
    let kept = native(Rule::default(), memory());
    let shown =
        String::from_utf8(kept.apply(text.as_bytes(), &Context::default()).content().to_vec()).unwrap();
    assert_eq!(notices(&shown).iter().filter(|line| line.contains(SHORT)).count(), 2, "header and footer");
}

#[test]
fn store_path_with_a_line_feed_is_not_printed() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("two\nlines");
    let store = std::sync::Arc::new(offcut::store::FsStore::new(&directory, crate::common::noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
    let shown = truncator.apply(numbered(10_000).as_bytes(), &Context::default()).content().to_vec();
    let header = String::from_utf8(shown).unwrap().lines().next().unwrap().to_owned();
    assert!(header.contains("nothing is lost: offcut://") && header.ends_with(']'), "{header}");
}

#[test]
fn hint_names_only_what_the_reader_can_use() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("s");
    let pointer = |reach: Reach, task: TaskTool, text: &str| {
        let store = std::sync::Arc::new(offcut::store::FsStore::new(&directory, crate::common::noon));
        let rule = Rule { task: Some(task), ..Rule::default() };
        let truncator =
            Truncator::new(Profile::native()).storage(Storage::To(store)).reach(reach).rule(rule).unwrap();
        let shown = truncator.apply(text.as_bytes(), &Context::default());
        assert!(shown.content().len() <= 9500 && shown.preview().is_some());
        let text = String::from_utf8(shown.content().to_vec()).unwrap();
        let Saved::Complete(entry) = &shown.preview().unwrap().saved() else { panic!("not stored") };
        let path = directory.join(format!("{}.txt", entry.id)).display().to_string();
        text.lines().last().unwrap().replace(&path, "PATH").replace(entry.id.short(), "ID")
    };
    let (lines, giant) = (numbered(100_000), "x".repeat(100_000));
    let (repeated, binary) = ("all is well\n".repeat(10_000), "\0\u{1}\u{2}\u{3}".repeat(10_000));
    let shell = || Reach::Shell { program: "npx offcut".to_owned() };
    let tool = || Reach::Tool { name: "mcp__offcut__read".to_owned() };
    for (reach, task, text, expected) in [
        (
            shell(),
            TaskTool::Absent,
            &lines,
            "[offcut ID: more: npx offcut read ID --lines 633:832, or npx offcut grep PATTERN ID]",
        ),
        (
            tool(),
            TaskTool::Absent,
            &lines,
            r#"[offcut ID: more: mcp__offcut__read {"id":"ID","lines":"633:832"}]"#,
        ),
        (
            tool(),
            TaskTool::Absent,
            &giant,
            r#"[offcut ID: more: mcp__offcut__read {"id":"ID","bytes":"3044:11044"}]"#,
        ),
        (
            Reach::Files,
            TaskTool::Absent,
            &lines,
            "[offcut ID: more: Read PATH with offset 633 and limit 200, or Grep it]",
        ),
        (Reach::Files, TaskTool::Absent, &giant, "[offcut ID: more: Grep PATH]"),
        (
            Reach::Files,
            TaskTool::Available,
            &giant,
            "[offcut ID: more: Grep PATH; or let a sub-agent process PATH]",
        ),
        (Reach::Nothing, TaskTool::Absent, &lines, "100000"),
        (shell(), TaskTool::Absent, &repeated, "[offcut ID: more: npx offcut grep PATTERN ID]"),
        (
            tool(),
            TaskTool::Absent,
            &repeated,
            r#"[offcut ID: more: mcp__offcut__read {"id":"ID","pattern":"PATTERN"}]"#,
        ),
        (Reach::Files, TaskTool::Absent, &repeated, "[offcut ID: more: Grep PATH]"),
        (shell(), TaskTool::Absent, &binary, "[offcut ID: more: file PATH, or xxd PATH | head]"),
        (Reach::Files, TaskTool::Absent, &binary, "[offcut ID: more: file PATH, or xxd PATH | head]"),
    ] {
        // The numbers depend on the length of the path; the words do not.
        let digits = |text: &str| {
            text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect::<String>()
        };
        let squeeze = |text: &str| digits(text).replace("00", "0").replace("00", "0").replace("00", "0");
        assert_eq!(squeeze(&pointer(reach, task, text)), squeeze(expected));
    }
}

/// A word of letters that is another one for each number.
fn word(number: usize) -> String {
    [1, 26, 676].map(|place| char::from(b'a' + (number / place % 26) as u8)).iter().collect()
}

#[test]
fn hint_never_offers_passed_tests_or_repetitions() {
    let passed: String =
        (0..3000).map(|number| format!("test cart::adds_{} ... ok\n", word(number))).collect();
    let noise = "INFO waiting for the database\n".repeat(3000);
    let news: String = (0..400)
        .map(|number| {
            format!("the {} of src/{}.rs calls {}_{}\n", word(7 * number), word(number), word(number), number)
        })
        .collect();
    let hint = |text: &str| {
        let rule = Rule { strategy: Some(StrategyName::Smart), ..Rule::default() };
        let shown = native(rule, memory()).apply(text.as_bytes(), &Context::default());
        String::from_utf8_lossy(shown.content()).lines().last().unwrap_or_default().to_owned()
    };
    let first_line = |hint: &str| -> usize {
        let (_, lines) = hint.split_once(" --lines ").unwrap_or_else(|| panic!("{hint}"));
        lines.split_once(':').and_then(|(first, _)| first.parse().ok()).unwrap_or_else(|| panic!("{hint}"))
    };
    let is_news = |line: usize, before: usize| (before..=before + 400).contains(&line);
    assert!(is_news(first_line(&hint(&format!("{news}{passed}{noise}"))), 0));
    assert!(is_news(first_line(&hint(&format!("{noise}{passed}{news}"))), 6000));
    let lines = |line: fn(usize) -> String| (0..3000).map(|number| line(number) + "\n").collect::<String>();
    let long = lines(|number| {
        let test = format!("test_adds_{}", word(number));
        format!("{test} (tests.test_cart.CartTest.{test}) ... ok")
    });
    let checksums = lines(|number| format!("./data/{}/part-{number}.bin: OK", word(number / 7)));
    let varied = lines(|number| {
        format!("2026-11-18 12:00:01 INFO {} goes to {} again", word(number * 7), word(number * 11))
    });
    let json = lines(|number| {
        format!("{{\"level\":\"info\",\"msg\":\"{} {}\"}}", word(number * 7), word(number * 11))
    });
    let russian = lines(|number| format!("Задача {number} выполнена за {} мс", number * 37 % 100));
    let chinese = lines(|number| format!("任务 {number} 完成,耗时 {} 毫秒", number * 37 % 100));
    let all = [
        passed.clone(),
        noise.clone(),
        format!("{noise}{passed}"),
        long,
        checksums,
        varied,
        json,
        russian,
        chinese,
    ];
    for routine in all {
        let hint = hint(&routine);
        assert!(hint.ends_with(&format!(": more: offcut grep PATTERN {SHORT}]")), "{hint}");
    }
}

#[test]
fn strategy_that_returns_text_is_bounded_and_marked_opaque() {
    use offcut::strategy::Opaque;
    let text: String = (1..=5000).map(|number| format!("line {number}\n")).collect();
    let check = |make: fn(&[u8]) -> Vec<u8>, shows: &str| {
        let store = memory();
        let truncator =
            native(Rule::default(), store.clone()).strategy(Opaque::new(move |text, _| make(text)));
        let shown = truncator.apply(text.as_bytes(), &Context::default());
        let preview = shown.preview().unwrap();
        let content = String::from_utf8_lossy(preview.content()).into_owned();
        assert!(content.len() <= 9500 && content.contains(shows), "{content:.300}");
        assert!(content.contains("chosen from lines 1:5000]"), "{content:.300}");
        assert_eq!(preview.gaps().len(), 1);
        assert_eq!(preview.gaps()[0].why, offcut::cut::GapReason::Opaque);
        assert_eq!((preview.gaps()[0].start, preview.gaps()[0].end), (0, 48893));
        let Saved::Complete(entry) = preview.saved() else { panic!("not kept") };
        assert_eq!(crate::common::read_all(&*store, &entry.id), text.as_bytes());
    };
    check(|_| b"a summary of mine".to_vec(), "a summary of mine");
    check(|text| text.to_ascii_uppercase(), "LINE 2\n");
    // A preview is never empty.
    check(|_| Vec::new(), "line 1\n");
}
