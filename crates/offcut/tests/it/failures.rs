//! Known failures of other truncators, one test each. The codes in brackets are from the list of known defects.

use crate::common::{bytes, lines, memory, native, read_all};
use offcut::store::Store;
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Profile, Rule, Saved, Storage, Truncator};

fn apply(strategy: StrategyName, limits: Limits, text: &[u8]) -> String {
    let rule = Rule { strategy: Some(strategy), limits, ..Rule::default() };
    String::from_utf8_lossy(native(rule, memory()).apply(text, &Context::default()).content()).into_owned()
}

/// [D1, S2, S5, S6] One long line, with and without a line feed at its end, gave an empty preview.
#[test]
fn part_of_a_giant_line_is_shown() {
    for text in
        ["a".repeat(61_200), format!("{}\n", "a".repeat(61_200)), format!("{}\n\n\n", "a".repeat(61_200))]
    {
        for &strategy in StrategyName::ALL {
            let shown = apply(strategy, Limits::default(), text.as_bytes());
            let kept = shown.matches('a').count();
            assert!(kept > 8_500, "{strategy:?}: {kept} of 61,200 shown");
        }
    }
}

/// [D1] Room that a giant line leaves is used by the lines next to it, and the other way round.
#[test]
fn room_left_by_a_giant_line_is_used() {
    let small: String = (0..20).map(|number| format!("small {number}\n")).collect();
    let giant = "G".repeat(100_000);
    for (strategy, text) in [
        (StrategyName::Head, format!("{small}{giant}\n{small}")),
        (StrategyName::Tail, format!("{small}{giant}\n{small}")),
        (StrategyName::HeadTail, format!("{small}{giant}\n{small}")),
        (StrategyName::HeadTail, format!("{giant}\n{small}")),
    ] {
        let shown = apply(strategy, Limits::default(), text.as_bytes());
        assert!(shown.contains("small 19\n") && shown.contains("small 0\n"), "{strategy:?}");
        assert!(shown.len() > 9_300, "{strategy:?}: only {} bytes of 9,500 used", shown.len());
    }
}

/// [D2] A trailing line feed made one more line, so that an output exactly at the limit was cut.
#[test]
fn trailing_line_feed_is_not_a_line() {
    let text = "x\n".repeat(10);
    assert_eq!(apply(StrategyName::Head, lines(10), text.as_bytes()), text);
    assert_eq!(apply(StrategyName::Tail, lines(10), text.as_bytes()), text);
    let cut = apply(StrategyName::Tail, lines(10), format!("{text}last").as_bytes());
    assert!(cut.ends_with("x\nlast"), "no real line is given up for an empty one: {cut}");
}

/// [D3] A notice that was not counted made barely-over outputs larger than the original.
#[test]
fn barely_over_is_never_larger_than_the_original() {
    for extra in 1..20 {
        let text = "x\n".repeat(1900 + extra);
        let shown = apply(StrategyName::HeadTail, Limits::default(), text.as_bytes());
        assert!(shown.len() <= text.len(), "{} for {}", shown.len(), text.len());
    }
}

/// [D4] The totals, the shown and the missing parts are reported in both units, and they add up.
#[test]
fn shown_and_missing_counts_add_up() {
    let text: String = (0..5000).map(|number| format!("line {number}\n")).collect();
    for &strategy in StrategyName::ALL {
        let rule = Rule { strategy: Some(strategy), ..Rule::default() };
        let truncator = native(rule, memory());
        let Some(preview) = truncator.apply(text.as_bytes(), &Context::default()).into_preview() else {
            panic!()
        };
        let removed = preview.removed();
        assert_eq!(preview.shown().bytes + removed.bytes, text.len() as u64);
        assert_eq!(preview.shown().lines + removed.lines, 5000);
        assert_eq!(preview.gaps().iter().map(|gap| gap.end - gap.start).sum::<u64>(), removed.bytes);
        let said = String::from_utf8(preview.content().to_vec()).unwrap();
        let header = said.lines().next().unwrap();
        assert!(
            header.starts_with(&format!("[offcut: {} of 5000 lines shown (", preview.shown().lines)),
            "{header}"
        );
    }
}

/// [D7, D19] Invalid UTF-8, NUL and control bytes are stored unchanged, and shown unchanged if configured.
#[test]
fn raw_bytes_are_stored_and_shown_unchanged() {
    let text: Vec<u8> = (0..=255_u8).cycle().take(50_000).collect();
    let store = memory();
    let truncator = native(Rule { terminal: Some(Terminal::Raw), ..Rule::default() }, store.clone());
    let Some(preview) = truncator.apply(&text, &Context::default()).into_preview() else { panic!() };
    assert_eq!(read_all(&*store, &store.ids().unwrap()[0]), text);
    assert!(preview.content().windows(256).any(|window| window == &text[..256]));
}

/// [S8] A character split between two writes is one character.
#[test]
fn character_split_between_chunks_stays_whole() {
    let truncator = native(Rule { limits: bytes(256), ..Rule::default() }, memory());
    let mut spool = truncator.spool(Context::default());
    for byte in "🙂".repeat(200).bytes() {
        spool.observe(&[byte]);
    }
    let shown = spool.finish();
    let text = std::str::from_utf8(shown.content()).expect("no character is cut");
    assert!(text.matches('🙂').count() > 20);
}

/// [D18] A cut between `\r` and `\n` left half a line ending; whole lines keep both.
#[test]
fn crlf_lines_stay_whole() {
    let text: String = (0..5000).map(|number| format!("line {number}\r\n")).collect();
    for &strategy in StrategyName::ALL {
        let shown = apply(strategy, Limits::default(), text.as_bytes());
        for line in shown.split_inclusive('\n').filter(|line| line.starts_with("line")) {
            assert!(line.ends_with("\r\n"), "{strategy:?}: {line:?}");
        }
    }
}

/// [D8] The hint names a page that exists, in units that the retrieval can page by.
#[test]
fn hint_names_an_existing_page() {
    let giant = "x".repeat(100_000);
    let shown = apply(StrategyName::Head, Limits::default(), giant.as_bytes());
    assert!(shown.lines().last().unwrap().contains("--bytes "), "a line cannot be paged by lines");
}

/// [D9, D22] A failing store does not fail the call: the failure is reported, and the preview is bounded.
#[test]
fn unavailable_store_is_reported_and_preview_is_bounded() {
    let storage = Storage::Unavailable("there is no home directory".to_owned());
    let truncator = Truncator::new(Profile::native()).storage(storage);
    let text = "x\n".repeat(100_000);
    let Some(preview) = truncator.apply(text.as_bytes(), &Context::default()).into_preview() else {
        panic!()
    };
    assert!(matches!(preview.saved(), Saved::Failed { error, .. } if error == "there is no home directory"));
    assert!(preview.content().len() <= 9500);
    assert!(
        String::from_utf8(preview.content().to_vec())
            .unwrap()
            .contains("not stored: there is no home directory")
    );
}

/// What was read is stored, and nothing says that it is all.
#[test]
fn output_that_cannot_be_read_to_its_end_is_not_called_complete() {
    for lines in [20, 100_000] {
        let store = memory();
        let rule = Rule { limits: Limits { bytes: Some(2000), ..Limits::default() }, ..Rule::default() };
        let truncator = native(rule, store.clone());
        let mut spool = truncator.spool(Context::default());
        let text = format!("{}\n", "x".repeat(200)).repeat(lines);
        spool.observe(text.as_bytes());
        spool.fail("input/output error");
        let shown = spool.finish();
        let Some(Saved::Failed { error, part: Some(part) }) = shown.preview().map(|preview| preview.saved())
        else {
            panic!("{shown:?}")
        };
        assert_eq!((error.as_str(), part.bytes), ("input/output error", text.len() as u64));
        assert!(shown.text().contains("input/output error") && !shown.text().contains("nothing is lost"));
        assert_eq!(read_all(&*store, &part.id), text.as_bytes());
    }
}

/// What was read is shown, also if it is short.
#[test]
fn short_output_that_cannot_be_read_to_its_end_passes_as_it_was_read() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::default());
    spool.observe(b"one\ntwo");
    spool.fail("input/output error");
    assert_eq!(spool.finish().text(), "one\ntwo");
}

/// [D17] Limits in characters and tokens apply to wide text, too.
#[test]
fn character_and_token_limits_apply_to_wide_text() {
    // Different lines: similar ones are folded.
    let other = |number: u32| char::from_u32(0x4E00 + number).unwrap_or('字');
    let text: String = (0..5000).map(|number| format!("漢{}\n", other(number))).collect();
    for limits in
        [Limits { chars: Some(1000), ..Limits::default() }, Limits { tokens: Some(300), ..Limits::default() }]
    {
        let rule = Rule { limits, ..Rule::default() };
        let truncator = native(rule, memory());
        let Some(preview) = truncator.apply(text.as_bytes(), &Context::default()).into_preview() else {
            panic!()
        };
        let shown = String::from_utf8(preview.content().to_vec()).unwrap();
        assert!(limits.chars.is_none_or(|most| shown.chars().count() as u64 <= most));
        assert!(shown.matches('漢').count() > 50, "{limits:?}: {shown}");
    }
}

/// [3.7] Empty output, one character and white space pass unchanged.
#[test]
fn tiny_outputs_pass_unchanged() {
    for text in ["", "x", "\n", "   ", "\r\n"] {
        assert_eq!(apply(StrategyName::HeadTail, Limits::default(), text.as_bytes()), text);
    }
}

/// [3.10, D4] A tail larger than the text never repeats it.
#[test]
fn ends_never_overlap() {
    for count in [1901, 1902, 1950, 3000] {
        let text: String = (0..count).map(|number| format!("{number}\n")).collect();
        let shown = apply(
            StrategyName::HeadTail,
            Limits { bytes: Some(1 << 20), ..Limits::default() },
            text.as_bytes(),
        );
        let numbers: Vec<&str> = shown.lines().filter(|line| !line.starts_with('[')).collect();
        assert!(numbers.iter().collect::<std::collections::HashSet<_>>().len() == numbers.len(), "{count}");
    }
}
