//! Tests of the invariants, with random texts, limits, strategies and chunks.

use crate::common::{Fault, Faulty, memory, native, noon, read_all};
use crate::rendered;
use offcut::cut::LinePosition;
use offcut::measure::{CharConvention, CountTokens, EstimatedTokens, LineConvention, chars, lines};
use offcut::store::{EntryState, MemoryStore, Store};
use offcut::strategy::{Split, StrategyName};
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Outcome, Preview, Profile, Rule, Saved, Storage, Truncator};
use proptest::prelude::*;
use std::sync::Arc;

/// A text that is printed readably when a case fails.
#[derive(Clone)]
struct Text(Vec<u8>);

impl std::fmt::Debug for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "b\"{}\"", self.0.escape_ascii())
    }
}

impl std::ops::Deref for Text {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A random part of what tools print.
fn segment() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |text: String| text.into_bytes();
    prop_oneof![
        4 => ("[a-z ]{0,30}", 1..40_usize).prop_map(move |(line, times)| bytes(format!("{line}\n").repeat(times))),
        2 => "[ -~]{0,200}\n".prop_map(bytes),
        1 => ("[a-z]{1,4}", 1..2000_usize).prop_map(move |(unit, times)| bytes(unit.repeat(times))),
        1 => ("(漢|🙂|é|\u{300}){1,8}", 1..200_usize).prop_map(move |(unit, times)| bytes(unit.repeat(times))),
        1 => "(\r\n|\r|\n|\u{2028}|\u{85}|\x0c|x){1,40}".prop_map(bytes),
        1 => prop::collection::vec(any::<u8>(), 1..60),
        1 => prop::collection::vec(prop::sample::select(vec![0x80_u8, 0xC2, 0xE2, 0x80, 0xA8, 0xF0, 0x9F, b'\n', b'a']), 1..40),
        1 => (1..300_usize).prop_map(|times| b"\n".repeat(times)),
        1 => Just(b"[offcut 0000000000000001: lines 1:5 missing, 10 bytes]\n".to_vec()),
        1 => ("[a-z]{1,12}", 1..120_u32).prop_map(move |(word, times)| {
            bytes((0..times).map(|number| format!("\r\x1b[K{word} {number}%")).collect::<String>() + "\n")
        }),
        1 => ("[a-z]{0,20}", "[a-z]{0,20}", 1..40_usize).prop_map(move |(one, other, times)| {
            bytes(format!("{one}\x1b[1;31m{other}\x1b[0m\r\n{one}\n").repeat(times))
        }),
        1 => prop::collection::vec(prop::sample::select(b"\x1b[[]P\\019;KDCGm\r\n\x08\x07\x18\0\xE2\x82\xACab".to_vec()), 1..300),
        1 => Just(b"\x1b[0m".to_vec()),
        1 => Just(b"[offcut: 5 lines\n[offcut-2: x\n".to_vec()),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    prop::collection::vec(segment(), 0..8).prop_map(|segments| Text(segments.concat()))
}

fn strategy_name() -> impl Strategy<Value = (StrategyName, Split)> {
    (prop::sample::select(StrategyName::ALL.to_vec()), 0..5_u32, 1..5_u32)
        .prop_map(|(name, head, tail)| (name, Split { head, tail }))
}

/// Limits at, around and far from the size of the text.
fn limits(text: &[u8]) -> impl Strategy<Value = Limits> + use<> {
    let around = |size: u64, least: u64| {
        prop_oneof![
            3 => Just(None),
            2 => (least..=(size + 5).max(least)).prop_map(Some),
            2 => (0..5_u64).prop_map(move |step| Some((size + step).saturating_sub(2).max(least))),
            1 => (least..least + 64).prop_map(Some),
        ]
    };
    (
        around(lines(text, LineConvention::Terminated), 4),
        around(text.len() as u64, 256),
        around(chars(text, CharConvention::CodePoints), 256),
        around(EstimatedTokens.count(text), 128),
    )
        .prop_map(|(lines, bytes, chars, tokens)| Limits { lines, bytes, chars, tokens })
}

fn case() -> impl Strategy<Value = (Text, Limits, StrategyName, Split)> {
    (text(), strategy_name())
        .prop_flat_map(|(text, (name, split))| (limits(&text), Just((text, name, split))))
        .prop_map(|(limits, (text, name, split))| (text, limits, name, split))
}

fn rule(limits: Limits, name: StrategyName, split: Split, terminal: Terminal) -> Rule {
    Rule { limits, strategy: Some(name), split: Some(split), terminal: Some(terminal), ..Rule::default() }
}

/// The effective limits: those of the rule, then those of the native profile.
fn effective(limits: Limits) -> Limits {
    limits.or(Limits { lines: Some(1900), bytes: Some(9500), ..Limits::default() })
}

pub(crate) fn fits(text: &[u8], limits: Limits) -> Result<(), String> {
    let check = |what: &str, size: u64, limit: Option<u64>| match limit {
        Some(limit) if size > limit => Err(format!("{size} {what} shown, {limit} allowed")),
        _ => Ok(()),
    };
    check("bytes", text.len() as u64, limits.bytes)?;
    check("lines", lines(text, LineConvention::Terminated), limits.lines)?;
    check("chars", chars(text, CharConvention::CodePoints), limits.chars)?;
    check("tokens", EstimatedTokens.count(text), limits.tokens)
}

/// A reference implementation: a position is inside a character if decoding from an earlier position crosses it.
fn splits_a_character(text: &[u8], at: usize) -> bool {
    (at.saturating_sub(3)..at).any(|start| {
        (2..=4_usize).any(|length| {
            start + length > at
                && text.get(start..start + length).is_some_and(|bytes| {
                    std::str::from_utf8(bytes).is_ok_and(|char| char.chars().count() == 1)
                })
        })
    })
}

fn terminal() -> impl Strategy<Value = Terminal> {
    prop::sample::select(vec![Terminal::Rendered, Terminal::Raw])
}

/// Checks invariants 1, 2 and 5.
pub(crate) fn check(text: &[u8], preview: &Preview, terminal: Terminal) -> Result<(), TestCaseError> {
    check_gaps(text, preview)?;
    match terminal {
        Terminal::Raw => check_raw(text, preview),
        Terminal::Rendered => rendered::check(text, preview),
    }
}

fn check_gaps(text: &[u8], preview: &Preview) -> Result<(), TestCaseError> {
    let mut at = 0;
    for gap in preview.gaps() {
        let (start, end) = (gap.start as usize, gap.end as usize);
        prop_assert!(
            start >= at && end > start && end <= text.len(),
            "gaps are ordered and inside: {:?}",
            preview.gaps()
        );
        prop_assert!(!splits_a_character(text, start) && !splits_a_character(text, end), "{gap:?}");
        prop_assert_eq!(gap.first_line, 1 + offcut::measure::newlines(&text[..start]));
        let last_byte_line = 1 + offcut::measure::newlines(&text[..end - 1]);
        prop_assert_eq!(gap.last_line, last_byte_line);
        at = end;
    }
    Ok(())
}

fn check_raw(text: &[u8], preview: &Preview) -> Result<(), TestCaseError> {
    let mut spans = Vec::new();
    let mut at = 0;
    for gap in preview.gaps() {
        spans.push(&text[at..gap.start as usize]);
        at = gap.end as usize;
        let is_line_end = at == text.len() || text[at - 1] == b'\n';
        prop_assert_eq!(gap.to == LinePosition::Start, is_line_end, "{:?}", gap);
    }
    spans.push(&text[at..]);
    let kept: usize = spans.iter().map(|span| span.len()).sum();
    prop_assert_eq!(kept as u64, preview.shown().bytes);
    prop_assert!(kept > 0, "never an empty preview");

    // Notices are whole lines before, between and after the spans. A line feed may be added to a span.
    let mut rest = preview.content();
    let mut notices = Vec::new();
    for span in spans.iter().filter(|span| !span.is_empty()) {
        let place =
            find(rest, span, |before| before.is_empty() || before.ends_with(b"\n")).ok_or_else(|| {
                TestCaseError::fail(format!("{:?} is not shown", String::from_utf8_lossy(span)))
            })?;
        notices.push(&rest[..place]);
        rest = &rest[place + span.len()..];
    }
    notices.push(rest);
    for line in notices.concat().split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        prop_assert!(line.starts_with(b"[") && line.ends_with(b"]"), "{:?}", String::from_utf8_lossy(line));
    }
    Ok(())
}

/// Where `part` is first shown, not counting notices that begin with the same bytes.
pub(crate) fn find(text: &[u8], part: &[u8], allowed: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let notices: [&[u8]; 5] = [b"[offcut", b"[+", b"[terminal control", b"[line", b"[bytes"];
    let is_notice =
        |rest: &[u8]| notices.iter().any(|start| rest.starts_with(start) && !part.starts_with(start));
    (0..=text.len().checked_sub(part.len())?)
        .find(|&at| text[at..].starts_with(part) && allowed(&text[..at]) && !is_notice(&text[at..]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12_000, ..ProptestConfig::default() })]

    /// Invariants 1 to 5, 7 and 8 on strings.
    #[test]
    fn native_previews_of_strings_keep_the_invariants((text, limits, name, split) in case(), terminal in terminal()) {
        let store = memory();
        let truncator = native(rule(limits, name, split, terminal), store.clone());
        let shown = truncator.apply(&text[..], &Context::default());
        let limits = effective(limits);
        match &shown {
            Outcome::Passed(same) => {
                prop_assert!(fits(&text, limits).is_ok());
                prop_assert_eq!(&same[..], &text[..]);
                prop_assert!(matches!(same, std::borrow::Cow::Borrowed(_)));
                prop_assert!(store.ids().unwrap().is_empty(), "nothing is stored");
            }
            Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
                prop_assert!(fits(&text, limits).is_err(), "only what is over a limit is cut");
                fits(preview.content(), limits).map_err(TestCaseError::fail)?;
                let (bytes, most) = (preview.content().len(), text.len().max(512));
                prop_assert!(bytes <= most, "{bytes} bytes, larger than the original: {}", String::from_utf8_lossy(preview.content()));
                check(&text, preview, terminal)?;
                let Saved::Complete(entry) = preview.saved() else { return Err(TestCaseError::fail("not kept")) };
                prop_assert_eq!(read_all(&*store, &entry.id), &text[..]);
                let summary = entry.summary.as_ref().unwrap();
                prop_assert_eq!(&summary.digest, &blake3::hash(&text).to_hex().to_string());
                prop_assert_eq!(summary.original.bytes, text.len() as u64);
                let said = String::from_utf8_lossy(preview.content()).into_owned();
                prop_assert!(said.contains(entry.id.short()), "the notice names the entry: {}", said);
            }
        }
    }

    /// Invariant 7: a stream in any chunks gives the same preview as a string.
    #[test]
    fn preview_does_not_depend_on_chunks(
        (text, limits, name, split) in case(),
        terminal in terminal(),
        mut places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let whole_store = memory();
        let whole = native(rule(limits, name, split, terminal), whole_store);
        let whole = whole.apply(&text[..], &Context::default());
        let store = memory();
        let truncator = native(rule(limits, name, split, terminal), store.clone());
        let mut spool = truncator.spool(Context::default());
        let mut cuts: Vec<usize> = places.drain(..).map(|place| place.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let mut at = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            spool.observe(&text[at..cut]);
            at = cut;
        }
        let streamed = spool.finish();
        prop_assert_eq!(streamed.content(), whole.content());
        match (streamed.preview(), whole.preview()) {
            (None, None) => prop_assert!(store.ids().unwrap().is_empty()),
            (Some(streamed), Some(whole)) => {
                prop_assert_eq!(streamed.gaps(), whole.gaps());
                prop_assert_eq!(streamed.original(), whole.original());
                prop_assert_eq!(streamed.limited_by(), whole.limited_by());
                let id = store.ids().unwrap()[0];
                prop_assert_eq!(read_all(&*store, &id), &text[..]);
            }
            _ => prop_assert!(false, "one was cut, the other was not"),
        }
    }

    /// Invariants 3, 6 and 8 when the store fails: the preview is bounded, reports the failure and names no path.
    #[test]
    fn preview_with_a_failing_store_keeps_the_invariants(
        (text, limits, name, split) in case(),
        terminal in terminal(),
        fault in 0..4_u8,
        after in 0..5000_u64,
    ) {
        let fault = match fault {
            0 => Fault::Create,
            1 => Fault::Commit,
            _ => Fault::WriteAfter(after),
        };
        let store = Faulty::new(fault);
        let truncator = native(rule(limits, name, split, terminal), store.clone());
        if let Some(preview) = truncator.apply(&text[..], &Context::default()).into_preview() {
            let over = match fault { Fault::WriteAfter(after) => after < text.len() as u64, _ => true };
            fits(preview.content(), effective(limits)).map_err(TestCaseError::fail)?;
            check(&text, &preview, terminal)?;
            let said = String::from_utf8_lossy(preview.content()).into_owned();
            if over {
                prop_assert!(matches!(preview.saved(), Saved::Failed { .. }), "kept");
                prop_assert!(said.contains("not stored") || said.contains("bytes were stored"), "{}", said);
                prop_assert!(!said.contains("nothing is lost"), "{}", said);
                for id in store.ids().unwrap() {
                    prop_assert_ne!(store.entry(&id).unwrap().state, EntryState::Complete);
                }
            }
        }
    }

    /// Invariant 6 for the document profiles, with limits from 1 on.
    #[test]
    fn document_profiles_are_bounded(
        text in text(),
        most_lines in 1..60_u64,
        most_bytes in 1..3000_u64,
        name in prop::sample::select(vec![StrategyName::Head, StrategyName::Tail, StrategyName::HeadTail]),
        profile in prop::sample::select(vec!["opencode", "coding-agent"]),
    ) {
        let limits = Limits { lines: Some(most_lines), bytes: Some(most_bytes), ..Limits::default() };
        let rule = Rule { limits, strategy: Some(name), ..Rule::default() };
        let store = Arc::new(MemoryStore::new(noon));
        let truncator =
            Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store.clone())).rule(rule).unwrap();
        if let Some(preview) = truncator.apply(&text[..], &Context::default()).into_preview() {
            prop_assert!(preview.shown().bytes > 0);
            // One character wider than the limit is shown, because a preview is never empty.
            prop_assert!(preview.shown().bytes <= most_bytes.max(4), "{:?}", preview.shown());
            // So is one more line if the others are empty.
            prop_assert!(preview.shown().lines <= most_lines + 1, "{:?}", preview.shown());
            prop_assert_eq!(read_all(&*store, &store.ids().unwrap()[0]), &text[..]);
        }
    }
}
