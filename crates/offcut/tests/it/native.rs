//! Tests of the exact text of notices in the native profile.

use crate::common::{Fault, Faulty, bytes, lines, memory, native};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Reach, Rule, Storage, TaskTool, Truncator};

const ID: &str = "11nzcp4800000001";

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
            format!(
                "[offcut {ID}: 100000 lines, 588895 bytes; shown 353 lines, 1677 bytes; missing 99647 lines, 587218 \
                 bytes; full output: offcut://{ID}]"
            ),
            format!("[offcut {ID}: lines 168:99814 missing]"),
            format!("[offcut {ID}: next: offcut read {ID} --lines 168:367]"),
        ]
    );
    assert!(text.starts_with('[') && text.contains("]\n1\n2\n3\n") && text.contains("\n167\n["));
    assert!(text.contains("]\n99815\n") && text.contains("\n100000\n[offcut"));
}

#[test]
fn marker_is_at_the_position_of_its_gap() {
    let text = shown(StrategyName::Head, bytes(2000), &numbered(100_000));
    assert!(
        text.lines().nth(1) == Some("1") && notices(&text)[1].contains("lines 447:100000 missing"),
        "{text}"
    );
    let text = shown(StrategyName::Tail, bytes(2000), &numbered(100_000));
    assert!(notices(&text)[1].contains("lines 1:99721 missing"), "{text}");
    assert!(notices(&text)[2].ends_with("--lines 1:200]"), "{text}");
}

#[test]
fn gap_inside_a_line_is_reported_in_bytes() {
    let text = shown(StrategyName::HeadTail, bytes(2000), &"x".repeat(100_000));
    assert_eq!(
        notices(&text)[..],
        [
            format!(
                "[offcut {ID}: 1 line, 100000 bytes; shown 1 line, 1700 bytes; missing 0 lines, 98300 bytes; full \
                 output: offcut://{ID}]"
            ),
            format!("[offcut {ID}: bytes 567:98867 of line 1 missing]"),
            format!("[offcut {ID}: next: offcut read {ID} --bytes 567:8567]"),
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
        [format!("[+99885 lines, 588390 of 588895 bytes: offcut read {ID} --lines 60:259]")]
    );
    let least = shown(StrategyName::HeadTail, bytes(256), &text);
    assert_eq!(notices(&least), [format!("[+99951 lines: offcut read {ID}]")]);
    let least = shown(StrategyName::HeadTail, bytes(256), &"x".repeat(100_000));
    assert_eq!(notices(&least), [format!("[+99796 bytes: offcut read {ID}]")]);
    let few = shown(StrategyName::HeadTail, lines(4), &numbered(30));
    assert_eq!(few, format!("1\n[+27 lines, 73 of 81 bytes: offcut read {ID} --lines 2:28]\n29\n30\n"));
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
            "; the rest was not kept: No space left on device (os error 28) (cannot write /the/store)]"
        ),
        "{first}"
    );
    assert_eq!(last, "[offcut: end; the missing part cannot be read back]");
    let text = say(Fault::WriteAfter(20), Limits::default());
    assert!(
        text.lines()
            .next()
            .unwrap()
            .contains("only the first 20 bytes were kept, the rest was not kept: No space left"),
        "{text}"
    );
    let small = say(Fault::Create, bytes(256));
    assert!(small.contains("not kept: No space left on device"), "even a small notice says why: {small}");
    assert!(say(Fault::Commit, bytes(256)).contains("not kept"), "even the least notice says so");
    let off = Truncator::new(Profile::native()).storage(Storage::Off);
    let text = off.apply(numbered(10_000).as_bytes(), &Context::default()).content().to_vec();
    assert!(String::from_utf8(text).unwrap().lines().next().unwrap().ends_with("; the rest was not kept]"));
}

/// Output that looks like a notice does not know the id; without an id, the notice uses another tag.
#[test]
fn output_cannot_fake_the_notice() {
    let fake = "[offcut: lines 2:9 missing, 10 bytes]\n[offcut-2: all is well]\n";
    let text = format!("{fake}{}{fake}", numbered(10_000));
    let off = Truncator::new(Profile::native()).storage(Storage::Off);
    let shown =
        String::from_utf8(off.apply(text.as_bytes(), &Context::default()).content().to_vec()).unwrap();
    assert!(shown.starts_with("[offcut-3: "), "{}", &shown[..100]);
    assert_eq!(notices(&shown).iter().filter(|line| line.starts_with("[offcut-3:")).count(), 3);
    let kept = native(Rule::default(), memory());
    let shown =
        String::from_utf8(kept.apply(text.as_bytes(), &Context::default()).content().to_vec()).unwrap();
    assert_eq!(notices(&shown).iter().filter(|line| line.contains(ID)).count(), 3);
}

#[test]
fn store_path_with_a_line_feed_is_not_printed() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("two\nlines");
    let store = std::sync::Arc::new(offcut::store::FsStore::new(&directory, crate::common::noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
    let shown = truncator.apply(numbered(10_000).as_bytes(), &Context::default()).content().to_vec();
    let header = String::from_utf8(shown).unwrap().lines().next().unwrap().to_owned();
    assert!(header.contains("full output: offcut://") && header.ends_with(']'), "{header}");
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
        let id = text["[offcut ".len()..].split(':').next().unwrap().to_owned();
        let path = directory.join(format!("{id}.txt")).display().to_string();
        text.lines().last().unwrap().replace(&path, "PATH").replace(&id, "ID")
    };
    let (lines, giant) = (numbered(100_000), "x".repeat(100_000));
    let shell = || Reach::Shell { program: "npx offcut".to_owned() };
    let tool = || Reach::Tool { name: "mcp__offcut__read".to_owned() };
    for (reach, task, text, expected) in [
        (shell(), TaskTool::Absent, &lines, "[offcut ID: next: npx offcut read ID --lines 633:832]"),
        (
            tool(),
            TaskTool::Absent,
            &lines,
            r#"[offcut ID: next: mcp__offcut__read {"id":"ID","lines":"633:832"}]"#,
        ),
        (
            tool(),
            TaskTool::Absent,
            &giant,
            r#"[offcut ID: next: mcp__offcut__read {"id":"ID","bytes":"3044:11044"}]"#,
        ),
        (
            Reach::Files,
            TaskTool::Absent,
            &lines,
            "[offcut ID: next: Read PATH with offset 633 and limit 200, or Grep it]",
        ),
        (Reach::Files, TaskTool::Absent, &giant, "[offcut ID: next: Grep PATH]"),
        (
            Reach::Files,
            TaskTool::Available,
            &giant,
            "[offcut ID: next: Grep PATH; or let a sub-agent process PATH]",
        ),
        (Reach::Nothing, TaskTool::Absent, &lines, "[offcut ID: end]"),
    ] {
        // The numbers depend on the length of the path; the words do not.
        let digits = |text: &str| {
            text.chars().map(|char| if char.is_ascii_digit() { '0' } else { char }).collect::<String>()
        };
        let squeeze = |text: &str| digits(text).replace("00", "0").replace("00", "0").replace("00", "0");
        assert_eq!(squeeze(&pointer(reach, task, text)), squeeze(expected));
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
        let content = String::from_utf8_lossy(&preview.content).into_owned();
        assert!(content.len() <= 9500 && content.contains(shows), "{content:.300}");
        assert!(content.contains("chosen from lines 1:5000]"), "{content:.300}");
        assert_eq!(preview.gaps.len(), 1);
        assert_eq!(preview.gaps[0].why, offcut::GapReason::Opaque);
        assert_eq!((preview.gaps[0].start, preview.gaps[0].end), (0, 48893));
        let offcut::Kept::Whole(entry) = &preview.kept else { panic!("not stored") };
        assert_eq!(crate::common::read_all(&*store, &entry.id), text.as_bytes());
    };
    check(|_| b"a summary of mine".to_vec(), "a summary of mine");
    check(|text| text.to_ascii_uppercase(), "LINE 2\n");
    // A preview is never empty.
    check(|_| Vec::new(), "line 1\n");
}
