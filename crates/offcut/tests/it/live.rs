//! Output that is printed while its command runs: what flows, what is withheld, and the preview that continues it.

use crate::common::{bytes, memory, native};
use offcut::measure::{CountTokens, EstimatedTokens, LineConvention, lines};
use offcut::notice::{Message, Notice};
use offcut::store::{EntryState, MemoryStore, Store};
use offcut::{CommandEnd, Context, Limits, Outcome, Profile, Rule, Spool, Storage, Truncator};
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

fn limits() -> impl Strategy<Value = Limits> {
    (1500..20_000_u64, prop::option::of(8..400_u64), prop::option::of(300..4000_u64))
        .prop_map(|(bytes, lines, tokens)| Limits { bytes: Some(bytes), lines, tokens, ..Limits::default() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn everything_printed_is_within_the_limits_and_nothing_is_lost(
        limits in limits(),
        chunks in prop::collection::vec(
            ("([a-z ]{0,30}\n){0,90}(error: [a-z]{1,9}|listening on [0-9]{4}|50%\r60%|\u{1b}\\[31mred)?\n?[a-zé]{0,40}", 0.1..40.0_f64),
            0..12,
        ),
        is_stored in any::<bool>(),
    ) {
        let store = memory();
        let storage = if is_stored { Storage::To(store.clone()) } else { Storage::Off };
        let truncator = Truncator::new(Profile::native())
            .storage(storage)
            .rule(Rule { limits, ..Rule::default() })
            .unwrap();
        let mut spool = truncator.spool(Context::tool("bash"));
        let (mut output, mut early, mut elapsed) = (Vec::new(), Vec::new(), 0.0);
        for (chunk, pause) in &chunks {
            output.extend_from_slice(chunk.as_bytes());
            spool.observe(chunk.as_bytes());
            elapsed += pause;
            early.extend(spool.tick(seconds(elapsed)));
        }
        let shown = finish(spool);
        let all = [&early, shown.content()].concat();
        let text = String::from_utf8_lossy(&all);
        prop_assert!(all.len() as u64 <= limits.bytes.unwrap(), "{} bytes", all.len());
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
    assert!((1900..2400).contains(&flowed.len()), "a quarter of 9500 bytes: {}", flowed.len());
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
            assert_eq!(
                (lines, last.as_str()),
                (999 + second, &*format!("step {} of the work", 1000 + second))
            );
            reported.push(seconds);
        }
    }
    assert_eq!(reported[..6], [16, 46, 106, 226, 466, 706]);
    assert!(reported.len() <= 20, "{reported:?}");
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
fn output_within_the_limits_is_completed_after_a_notice() {
    let store = memory();
    let truncator = native(Rule::default(), store.clone());
    let mut spool = truncator.spool(Context::tool("bash"));
    let output = numbered(1, 250);
    spool.observe(output.as_bytes());
    let early = String::from_utf8(spool.tick(seconds(2.0))).unwrap();
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
