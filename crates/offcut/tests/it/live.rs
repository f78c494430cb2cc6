//! Output that is printed while its command runs: what flows, what is withheld, and the preview that continues it.

use crate::commands::directory_store;
use crate::common::{bytes, memory, middleware, native, through};
use offcut::limits::UNLIMITED;
use offcut::measure::{CharConvention, CountTokens, EstimatedTokens, LineConvention, lines};
use offcut::notice::{Message, Notice};
use offcut::store::{EntryState, MemoryStore, Store};
use offcut::{CommandEnd, Context, Limits, Outcome, Profile, ReaderLimits, Rule, Spool, Storage, Truncator};
use proptest::prelude::*;
use std::time::Duration;

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn finish(spool: Spool<'_>) -> Outcome<'static> {
    let status = "exit 0 after 9.0 s".to_owned();
    spool.finish_with(CommandEnd { exit_code: Some(0), status, ..CommandEnd::default() })
}

fn stored(store: &MemoryStore) -> Vec<u8> {
    let id = store.ids().unwrap()[0];
    let mut bytes = vec![0; 1 << 20];
    let count = store.read(&id, 0, &mut bytes).unwrap();
    bytes.truncate(count);
    bytes
}

fn numbered(from: u64, to: u64) -> String {
    (from..=to).map(|number| format!("step {number} of the work\n")).collect()
}

/// Lines that are not like each other.
fn varied(seed: u64, count: u64) -> String {
    let words =
        ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"];
    let word = |number: u64, at: u64| {
        words[(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (at * 7) & 0xFF) as usize % 10]
    };
    (seed..seed + count)
        .map(|number| {
            format!("{} {} {} {}\n", word(number, 1), word(number, 2), word(number, 3), word(number, 4))
        })
        .collect()
}

fn limits() -> impl Strategy<Value = Limits> {
    let limit = |range: std::ops::Range<u64>| prop::option::of(range);
    (limit(1500..20_000), limit(8..400), limit(300..4000), limit(1500..20_000))
        .prop_map(|(bytes, lines, tokens, chars)| Limits { lines, bytes, chars, tokens })
        .prop_filter("something is limited", |limits| *limits != Limits::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn everything_printed_is_within_the_limits_and_nothing_is_lost(
        limits in (limits(), limits(), limits()),
        is_failure in any::<bool>(),
        chunks in prop::collection::vec(
            ("([a-z ]{0,30}\n){0,90}(error: [a-z]{1,9}|listening on [0-9]{4}|50%\r60%|\u{1b}\\[31merror: [a-z]{1,9}\u{1b}\\[0m\n[a-z]{9}\n\u{1b}\\[31merror: [a-z]{1,9}\u{1b}\\[0m)?\n?[a-zé]{0,40}", 0.1..40.0_f64),
            0..12,
        ),
        is_stored in any::<bool>(),
    ) {
        let store = memory();
        let storage = if is_stored { Storage::To(store.clone()) } else { Storage::Off };
        let reader = ReaderLimits {
            success: limits.0,
            failure: limits.1,
            preview: limits.2,
            char_convention: CharConvention::CodePoints,
        };
        let truncator = Truncator::new(Profile::native().with_limits(reader).unwrap()).storage(storage);
        let mut spool = truncator.spool(Context::tool("bash"));
        let (mut output, mut early, mut elapsed) = (Vec::new(), Vec::new(), 0.0);
        // Chunks may end inside a character.
        let output_so_far: Vec<u8> = chunks.iter().flat_map(|(chunk, _)| chunk.bytes()).collect();
        let mut rest = &output_so_far[..];
        for (chunk, pause) in &chunks {
            let length = (chunk.len() + 1).min(rest.len());
            let chunk = &rest[..length];
            rest = &rest[length..];
            output.extend_from_slice(chunk);
            spool.observe(chunk);
            elapsed += pause;
            early.extend(spool.tick(seconds(elapsed)));
        }
        let (exit_code, limits) = if is_failure { (1, limits.1) } else { (0, limits.0) };
        let shown = spool.finish_with(CommandEnd { exit_code: Some(exit_code), ..CommandEnd::default() });
        let all = [&early, shown.content()].concat();
        let text = String::from_utf8_lossy(&all);
        prop_assert!(limits.bytes.is_none_or(|most| all.len() as u64 <= most), "{} bytes", all.len());
        let chars = text.chars().count() as u64;
        prop_assert!(limits.chars.is_none_or(|most| chars <= most), "{chars} chars");
        prop_assert!(std::str::from_utf8(&early).is_ok(), "no character is cut");
        prop_assert!(limits.lines.is_none_or(|most| lines(&all, LineConvention::Terminated) <= most), "{text}");
        prop_assert!(limits.tokens.is_none_or(|most| EstimatedTokens.count(&all) <= most), "{text}");
        match shown.preview() {
            None => {
                prop_assert_eq!(text.as_bytes(), &output[..]);
                prop_assert_eq!(store.ids().unwrap().len(), 0);
            }
            Some(preview) => {
                prop_assert!(!is_stored || stored(&store) == output);
                let shown: u64 = preview.shown().bytes;
                let gaps: u64 = preview.gaps().iter().map(offcut::cut::Gap::bytes).sum();
                prop_assert!(shown + gaps >= output.len() as u64);
            }
        }
    }
}

#[test]
fn output_flows_until_its_share_is_used_and_the_rest_follows_at_the_end() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(b"one\ntw");
    assert_eq!(spool.tick(seconds(0.9)), b"");
    assert_eq!(store.ids().unwrap().len(), 0);
    assert_eq!(spool.tick(seconds(1.0)), b"one\ntw", "an open line flows, too");
    assert_eq!(store.entry(&store.ids().unwrap()[0]).unwrap().state, EntryState::Running);
    spool.observe(b"o\n");
    assert_eq!(spool.tick(seconds(1.25)), b"o\n");
    spool.observe(b"three\n");
    let shown = finish(spool);
    assert!(matches!(&shown, Outcome::Passed(rest) if **rest == *b"three\n"), "{shown:?}");
    assert_eq!(store.ids().unwrap().len(), 0, "an output within the limits is not kept");
}

/// A command that is killed without warning never ends for offcut.
#[test]
fn killed_command_has_shown_what_it_had_printed() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    let (mut text, mut printed) = (String::new(), Vec::new());
    for step in 0..12_u32 {
        let chunk = varied(u64::from(step) * 10, 12);
        text += &chunk;
        spool.observe(chunk.as_bytes());
        printed.extend(spool.tick(seconds(0.25 * f64::from(step + 1))));
    }
    assert!(text.len() > 3500, "{}", text.len());
    assert_eq!(printed, text.as_bytes());
    drop(spool);
}

#[test]
fn preview_continues_after_what_has_flowed() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(numbered(1, 2000).as_bytes());
    let early = String::from_utf8(spool.tick(seconds(1.0))).unwrap();
    let (flowed, notice) = early.trim_end().rsplit_once('\n').unwrap();
    let count = flowed.lines().count() as u64;
    assert_eq!(format!("{flowed}\n"), numbered(1, count));
    assert!((3500..3800).contains(&flowed.len()), "two fifths of 9500 bytes: {}", flowed.len());
    let id = store.ids().unwrap()[0];
    let id_text = id.short();
    let read = format!("more: offcut read {id_text} --lines -50:");
    assert_eq!(notice, format!("[offcut {id_text}: still running, later output is added; {read}]"));
    spool.observe(b"error: it went wrong\n");
    spool.observe(numbered(2001, 4000).as_bytes());
    let shown = finish(spool);
    let rest = shown.text();
    assert!(rest.starts_with("[offcut: ") && rest.contains("error: it went wrong\n"), "{rest}");
    assert!(!rest.contains("step 1 of the work\n") && rest.contains("step 4000 of the work\n"), "{rest}");
    assert!(rest.contains(&format!(" lines {}:", count + 1)), "the first gap begins there: {rest}");
}

#[test]
fn lines_that_matter_are_printed_at_once() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(numbered(1, 10_000).as_bytes());
    let _ = spool.tick(seconds(1.0));
    spool.observe(b"step 10001 of the work\nserver listening on 3000\n");
    assert_eq!(spool.tick(seconds(8.0)), b"server listening on 3000\n");
    spool
        .observe(b"src/a.c:1:5: \x1b[31merror:\x1b[0m expected ';'\nsrc/a.c:2:5: error: expected ';'\nsrc/a");
    assert_eq!(
        spool.tick(seconds(8.25)),
        b"src/a.c:1:5: error: expected ';'\n",
        "once, as a terminal shows it"
    );
    spool.observe(b".c:3:1: fatal error: no such file\n");
    assert_eq!(spool.tick(seconds(8.5)), b"src/a.c:3:1: fatal error: no such file\n");
}

#[test]
fn progress_is_reported_at_growing_intervals_while_output_is_withheld() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(numbered(1, 1000).as_bytes());
    let _ = spool.tick(seconds(1.0));
    let mut reported = Vec::new();
    for second in 2..4000_u64 {
        spool.observe(format!("step {} of the work\n", 1000 + second).as_bytes());
        let text = String::from_utf8(spool.tick(seconds(second as f64))).unwrap();
        if let Some(Notice { message: Message::Progress { seconds, lines, last }, .. }) =
            Notice::parse(text.trim_end())
        {
            assert_eq!(lines, 999 + second);
            let is_quoted = last == format!("step {} of the work", 1000 + second);
            assert!(is_quoted || reported.len() > 4, "{last}");
            reported.push(seconds);
        }
    }
    assert_eq!(reported[..6], [16, 46, 106, 226, 466, 706]);
    assert!(reported.len() <= 20 && reported.last().is_some_and(|&last| last > 3600), "{reported:?}");
    // A silent command may hang: nothing is reported that its caller could take for progress.
    let mut silent = truncator.spool(Context::tool("bash"));
    silent.observe(numbered(1, 1000).as_bytes());
    let _ = silent.tick(seconds(1.0));
    assert!((2..400).all(|second| silent.tick(seconds(f64::from(second))).is_empty()));
}

#[test]
fn progress_quotes_a_progress_bar_as_a_terminal_shows_it() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(numbered(1, 1000).as_bytes());
    let _ = spool.tick(seconds(1.0));
    spool.observe(b"\r[=>  ] 10%\r[==> ] 70%");
    let text = String::from_utf8(spool.tick(seconds(30.0))).unwrap();
    assert!(text.trim_end().ends_with("; last: [==> ] 70%]"), "{text}");
}

#[test]
fn progress_bar_that_was_printed_in_part_shows_its_last_state() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    let frames = |from: u32, to: u32| {
        (from..to)
            .map(|step| format!("\r{step:5} [{:<50}]", "#".repeat(step as usize / 20)))
            .collect::<String>()
    };
    spool.observe(frames(0, 300).as_bytes());
    let early = spool.tick(seconds(1.0));
    spool.observe((frames(300, 1000) + "\ndone\n").as_bytes());
    let shown = finish(spool);
    let text = shown.text();
    assert!(early.len() > 2000 && text.contains("  999 [####") && text.contains("\ndone\n"), "{text}");
}

#[test]
fn beginning_ends_before_an_open_terminal_sequence() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe("\x1b[38;5;196mx".repeat(2000).as_bytes());
    let early = String::from_utf8(spool.tick(seconds(1.0))).unwrap();
    let (head, _) = early.split_once("\n[offcut ").unwrap();
    assert!(head.ends_with(['x', 'm']), "{head:?}");
}

#[test]
fn output_within_the_limits_is_printed_byte_for_byte() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    // One line that is longer than the share of the beginning.
    let output = [b'x'; 9499];
    spool.observe(&output);
    let mut all = spool.tick(seconds(1.0));
    assert!((3500..3850).contains(&all.len()), "{}", all.len());
    all.extend(spool.tick(seconds(14.0)));
    all.extend_from_slice(finish(spool).content());
    assert_eq!(all, output);
    assert_eq!(store.ids().unwrap().len(), 0);
}

#[test]
fn output_within_the_limits_is_completed_after_a_notice() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    let output = numbered(1, 250);
    spool.observe(numbered(1, 200).as_bytes());
    let mut early = spool.tick(seconds(2.0));
    assert!(early.ends_with(b"of the work\n"), "no notice yet: all of the output may fit");
    spool.observe(numbered(201, 250).as_bytes());
    early.extend(spool.tick(seconds(18.0)));
    let early = String::from_utf8(early).unwrap();
    let (flowed, notice) = early.trim_end().rsplit_once('\n').unwrap();
    let shown = finish(spool);
    let text = shown.text();
    let (rest, footer) = text.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(format!("{flowed}\n{rest}\n"), output);
    let id = Notice::parse(notice).unwrap().entry().unwrap().to_owned();
    assert!(footer.starts_with(&format!("[offcut {id}: exit 0 after 9.0 s")), "{footer}");
    assert_eq!(stored(&store), output.as_bytes(), "the notice named the entry, so it is kept");
}

#[test]
fn nothing_is_printed_early_in_a_small_budget_of_binary_output_and_in_other_profiles() {
    let binary: Vec<u8> = (0..20_000_u32).map(|number| (number % 251) as u8).collect();
    let text = numbered(1, 5000);
    let native = |rule| native(rule, memory());
    for (truncator, output) in [
        (native(Rule { limits: bytes(1000), ..Rule::default() }), text.as_bytes()),
        (native(Rule::default()), &binary),
        (native(Rule::default()), b""),
        (Truncator::new(Profile::named("opencode").unwrap()), text.as_bytes()),
    ] {
        let mut spool = truncator.spool(Context::tool("bash"));
        spool.observe(output);
        assert_eq!(spool.tick(seconds(60.0)), b"");
        let expected = truncator.apply(output, &Context::tool("bash"));
        assert_eq!(
            finish(spool).preview().map(|shown| shown.shown()),
            expected.preview().map(|shown| shown.shown())
        );
    }
}

#[test]
fn line_limit_alone_does_not_print_a_line_without_end() {
    let limits = Limits { lines: Some(400), bytes: Some(UNLIMITED), ..Limits::default() };
    let store = memory();
    let truncator = native(Rule { limits, ..Rule::default() }, store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    let mut printed = 0;
    for second in 1..=18_u32 {
        spool.observe(&[b'x'; 1_000_000]);
        printed += spool.tick(seconds(f64::from(second))).len();
    }
    assert!((1_000_000..4_000_000).contains(&printed), "two fifths of what is held in memory: {printed}");
    let shown = finish(spool);
    assert!(shown.preview().is_some());
    assert_eq!(store.entry(&store.ids().unwrap()[0]).unwrap().bytes, 18_000_000);
}

#[test]
fn large_output_before_the_first_second_is_announced_with_its_id() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    for _ in 0..8 {
        spool.observe(&numbered(1, 1 << 15).into_bytes());
    }
    let early = String::from_utf8(spool.tick(seconds(1.0))).unwrap();
    let id = store.ids().unwrap()[0];
    assert!(
        early.contains(&format!("[offcut {}: still running, later output is added", id.short())),
        "{early}"
    );
    let _ = finish(spool);
}

#[test]
fn silent_command_has_no_entry() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    assert_eq!(spool.tick(seconds(9.0)), b"");
    assert_eq!(store.ids().unwrap().len(), 0);
    spool.observe(b"late\n");
    assert_eq!(spool.tick(seconds(9.25)), b"late\n");
}

#[test]
fn output_that_turns_out_to_be_binary_is_described() {
    let truncator = native(Rule::default(), memory());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(b"start");
    assert_eq!(spool.tick(seconds(1.0)), b"start");
    spool.observe(&(0..20_000_u32).map(|number| (number * 7 % 256) as u8).collect::<Vec<u8>>());
    assert_eq!(spool.tick(seconds(1.25)), b"");
    let shown = finish(spool);
    let text = shown.text();
    assert!(matches!(shown, Outcome::Described(_)) && text.starts_with("\n[offcut: binary output"), "{text}");
}

#[test]
fn command_that_leaves_a_background_process_continues_its_output() {
    let (_directory, store) = directory_store();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    spool.observe(b"one\n");
    assert_eq!(spool.tick(seconds(1.0)), b"one\n");
    spool.observe(b"two\n");
    let (shown, file) = spool.pause(CommandEnd::default());
    assert!(file.is_some() && shown.text().starts_with("two\n[offcut "), "{shown:?}");
}

#[test]
fn what_was_printed_of_a_running_command_is_recognised_as_a_preview() {
    let (middleware, store, _directory) = middleware("native", Rule::default());
    let rule = Rule { limits: bytes(30_000), ..Rule::default() };
    let truncator = native(rule, store);
    let mut spool = truncator.spool(Context::tool("bash"));
    let mut all = Vec::new();
    for second in 1..60_u64 {
        let errors = format!("src/{second}.c:1:5: error: unknown name v{second}\n");
        spool.observe((varied(second * 300, 300) + &errors).as_bytes());
        all.extend(spool.tick(seconds(second as f64)));
    }
    all.extend_from_slice(finish(spool).content());
    let text = String::from_utf8(all).unwrap();
    assert!(text.len() > 15_000);
    let result = serde_json::json!({ "content": [{ "type": "text", "text": text }] });
    let (value, _) = through(&middleware, &result, "bash");
    assert_eq!(value, result);
}
