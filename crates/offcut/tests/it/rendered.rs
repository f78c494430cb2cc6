//! Tests of outputs rendered as a terminal would show them, and of descriptions of binary output.

use crate::common::{Fault, Faulty, bytes, lines, memory, native, read_all};
use crate::properties::find;
use offcut::cut::{Gap, GapReason, PieceKind, Segment};
use offcut::store::Store;
use offcut::strategy::StrategyName;
use offcut::terminal::Screen;
use offcut::{Context, Limits, Outcome, Preview, Profile, Rule, Saved, Storage, Truncator};
use proptest::prelude::*;

/// Checks that a preview of `text` consists of verbatim spans, rendered lines, parts of rendered lines, and notices.
pub(crate) fn check(text: &[u8], preview: &Preview) -> Result<(), TestCaseError> {
    let content = preview.content();
    prop_assert!(!content.is_empty(), "never an empty preview");
    let control = content.iter().enumerate().find(|&(place, &byte)| {
        let ends_line = byte == b'\r' && content.get(place + 1) == Some(&b'\n');
        (byte < 0x20 && byte != b'\n' && byte != b'\t' && !ends_line) || byte == 0x7F
    });
    prop_assert_eq!(control, None, "no control is shown");
    prop_assert!(preview.shown().bytes <= text.len() as u64 && preview.shown().bytes <= content.len() as u64);
    if memchr::memmem::find(content, b"binary output").is_some() && preview.shown().bytes == 0 {
        prop_assert_eq!(
            preview.gaps().iter().map(|gap| (gap.start, gap.end)).collect::<Vec<_>>(),
            [(0, text.len() as u64)]
        );
        return Ok(());
    }

    let (required, drawn) = required(text, preview.gaps());
    let mut rest = content;
    let mut others = Vec::new();
    for span in required.iter().filter(|span| !span.is_empty()) {
        let place =
            find(rest, span, |before| before.is_empty() || before.ends_with(b"\n")).ok_or_else(|| {
                TestCaseError::fail(format!("{:?} is not shown", String::from_utf8_lossy(span)))
            })?;
        others.push(&rest[..place]);
        rest = &rest[place + span.len()..];
    }
    others.push(rest);
    for line in others.concat().split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let is_notice = line.starts_with(b"[") && line.ends_with(b"]");
        // A span may have been found at the start of a part with the same bytes, so the rest may be any part.
        let part = drawn.iter().any(|drawn| memchr::memmem::find(drawn, line).is_some());
        prop_assert!(is_notice || part, "{:?}", String::from_utf8_lossy(line));
    }
    Ok(())
}

/// The text that must be shown between gaps, and the rendered lines of which parts may be shown.
fn required(text: &[u8], gaps: &[Gap]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let missing: Vec<&Gap> = gaps.iter().filter(|gap| gap.why != GapReason::Control).collect();
    let control: Vec<&Gap> = gaps.iter().filter(|gap| gap.why == GapReason::Control).collect();
    let inside = |gaps: &[&Gap], run: &Segment<'_>| {
        gaps.iter().any(|gap| gap.start <= run.start && run.end <= gap.end)
    };
    let mut required = vec![Vec::new(); missing.len() + 1];
    let mut drawn = Vec::new();
    let mut covered: u64 = 0;
    let mut take = |run: Segment<'_>| {
        let place = missing.iter().filter(|gap| gap.start < run.end && gap.end <= run.start).count();
        match run.form {
            PieceKind::Verbatim => {
                for at in run.start..run.end {
                    if !gaps.iter().any(|gap| gap.start <= at && at < gap.end) {
                        let place = missing.iter().filter(|gap| gap.end <= at).count();
                        required[place].push(run.text[(at - run.start) as usize]);
                    }
                }
                assert!(!inside(&control, &run), "what is shown as it came is no control gap");
            }
            _ if inside(&control, &run) => {
                required[place].extend_from_slice(run.text);
                covered += run.end - run.start;
            }
            _ => {
                assert!(inside(&missing, &run), "a drawn line is shown or missing");
                drawn.push(run.text.to_vec());
            }
        }
    };
    let mut screen = Screen::new();
    screen.observe(text, &mut take);
    screen.finish(&mut take);
    assert_eq!(covered, control.iter().map(|gap| gap.bytes()).sum::<u64>(), "control gaps are drawn lines");
    (required, drawn)
}

const ID: &str = "11nzcp4801000000";
const SHORT: &str = "11nzcp4801";

fn preview(rule: Rule, text: &[u8]) -> Preview {
    match native(rule, memory()).apply(text, &Context::default()) {
        Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
            *preview
        }
        Outcome::Passed(_) => panic!("the text fits"),
    }
}

fn text(preview: &Preview) -> String {
    String::from_utf8(preview.content().to_vec()).unwrap()
}

fn frames(count: usize) -> String {
    (0..count).map(|frame| format!("\x1b[2K\rPROGRESS index={frame:05}")).collect()
}

/// [S9] Thousands of frames become one line; only control characters are removed; the store has every frame.
#[test]
fn progress_frames_become_one_line() {
    let raw = format!("{}\nFINAL_MARKER\n", frames(5000));
    let store = memory();
    let shown =
        native(Rule::default(), store.clone()).apply(raw.as_bytes(), &Context::default()).content().to_vec();
    assert_eq!(
        String::from_utf8(shown).unwrap(),
        format!(
            "[offcut: 2 of 2 lines shown (34 bytes of 125 kB); terminal control not shown; nothing is lost: offcut://{ID}]\n\
             PROGRESS index=04999\nFINAL_MARKER\n"
        )
    );
    assert_eq!(read_all(&*store, &store.ids().unwrap()[0]), raw.as_bytes());
    let preview = preview(Rule::default(), raw.as_bytes());
    let gaps: Vec<_> =
        preview.gaps().iter().map(|gap| (gap.start, gap.end, gap.first_line, gap.why)).collect();
    assert_eq!(gaps, [(0, 125_001, 1, GapReason::Control)]);
    assert_eq!((preview.shown().bytes, preview.shown().lines), (34, 2), "bytes as shown");
    assert_eq!((preview.removed().bytes, preview.removed().lines), (124_980, 0));
}

#[test]
fn notice_gets_shorter_when_only_control_characters_are_removed() {
    let raw = |length: usize| format!("{}\n{}\n", frames(50), "x".repeat(length));
    let first = |length: usize| {
        text(&preview(Rule { limits: bytes(256), ..Rule::default() }, raw(length).as_bytes()))
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        first(100),
        format!(
            "[offcut: 2 of 2 lines shown (122 of 1352 bytes); terminal control not shown; nothing is lost: offcut://{ID}]"
        )
    );
    assert_eq!(first(160), format!("[offcut: terminal control not shown: offcut read {SHORT}]"));
    assert_eq!(first(190), "PROGRESS index=00049", "and no longer all of it");
}

/// Lines keep their numbers, and the notice about colour appears once.
#[test]
fn coloured_lines_keep_their_numbers() {
    let raw: String = (1..=5000).map(|number| format!("\x1b[32m{number}\x1b[0m\nplain {number}\n")).collect();
    let rule = Rule { strategy: Some(StrategyName::HeadTail), limits: bytes(2000), ..Rule::default() };
    let preview = preview(rule, raw.as_bytes());
    let shown = text(&preview);
    assert!(
        shown.lines().next().unwrap().contains("; terminal control not shown; nothing is lost: "),
        "{shown}"
    );
    assert!(shown.contains("]\n1\nplain 1\n2\nplain 2\n"), "{shown}");
    let missing: Vec<&Gap> = preview.gaps().iter().filter(|gap| gap.why == GapReason::Omitted).collect();
    assert_eq!(missing.len(), 1);
    let marker = format!("[offcut: lines {}:{} not shown]", missing[0].first_line, missing[0].last_line);
    let before = shown.lines().take_while(|line| !line.starts_with(&marker)).count();
    assert_eq!(before as u64, missing[0].first_line, "as many lines as the marker says, and the header");
    let next = format!("--lines {}:", missing[0].first_line);
    assert!(shown.lines().last().unwrap().contains(&next), "{shown}");
}

/// Part of one long coloured line is shown with the gap in between, and each end once.
#[test]
fn long_rendered_line_is_cut() {
    let raw = format!("\x1b[31mBEGIN{}END\x1b[0m\nlast\n", "漢".repeat(20_000));
    let rule = Rule { strategy: Some(StrategyName::HeadTail), limits: bytes(1500), ..Rule::default() };
    let preview = preview(rule, raw.as_bytes());
    let shown = text(&preview);
    assert_eq!(preview.gaps().len(), 1, "{:?}", preview.gaps());
    assert_eq!((preview.gaps()[0].why, preview.gaps()[0].start), (GapReason::Line, 0));
    assert_eq!((shown.matches("BEGIN").count(), shown.matches("END\nlast\n").count()), (1, 1), "{shown}");
    assert!(shown.contains("of line 1 not shown]\n漢"), "{shown}");
    assert!(shown.contains(&format!("read {SHORT} --bytes 0:8000, or ")), "{shown}");
}

#[test]
fn store_failure_is_reported() {
    for (fault, limits) in
        [(Fault::Create, bytes(9500)), (Fault::Commit, bytes(256)), (Fault::WriteAfter(9), lines(4))]
    {
        let rule = Rule { limits, ..Rule::default() };
        let raw = format!("{}\n\n\n\nx\n", frames(500));
        let shown =
            native(rule, Faulty::new(fault)).apply(raw.as_bytes(), &Context::default()).content().to_vec();
        let shown = String::from_utf8(shown).unwrap();
        assert!(
            (shown.contains("not stored") || shown.contains("bytes were stored"))
                && !shown.contains("nothing is lost"),
            "{shown}"
        );
    }
}

/// Within the limits nothing is rendered.
#[test]
fn output_within_the_limits_passes_unchanged() {
    let raw = format!("{}\n\0\x1b[31m", frames(100));
    let truncator = native(Rule::default(), memory());
    assert_eq!(truncator.apply(raw.as_bytes(), &Context::default()).content(), raw.as_bytes());
}

#[test]
fn document_profiles_show_raw_bytes() {
    let raw = frames(5000);
    let truncator = Truncator::new(Profile::named("opencode").unwrap());
    assert!(
        truncator.apply(raw.as_bytes(), &Context::default()).content().starts_with(&raw.as_bytes()[..51_200])
    );
}

#[test]
fn binary_output_is_described() {
    let raw = [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &[0, 159, 1, 255].repeat(5000)].concat();
    let shown = preview(Rule::default(), &raw);
    let said: Vec<String> = text(&shown).lines().map(str::to_owned).collect();
    assert_eq!(
        said[0],
        format!(
            "[offcut: binary output (image/png), 20016 bytes, not shown; nothing is lost: offcut://{ID}]"
        )
    );
    assert_eq!(said[1], "00000000: 8950 4e47 0d0a 1a0a 0000 000d 4948 4452  .PNG........IHDR");
    assert_eq!(said.len(), 10);
    assert_eq!(said[9], format!("[offcut {SHORT}: more: offcut read {SHORT} --bytes 0:512 | xxd]"));
    let gaps: Vec<_> = shown.gaps().iter().map(|gap| (gap.start, gap.end)).collect();
    assert_eq!((gaps, shown.shown().bytes, shown.shown().lines), (vec![(0, 20_016)], 0, 0));

    for limits in [bytes(256), lines(4), Limits { tokens: Some(128), ..Limits::default() }] {
        let shown = text(&preview(Rule { limits, ..Rule::default() }, &raw));
        assert!(shown.contains("binary output (image/png)") && shown.contains("00000000: 8950"), "{shown}");
        assert!(shown.contains(SHORT) && shown.len() <= 9500, "{shown}");
    }
    let off = Truncator::new(Profile::native()).storage(Storage::Off);
    let shown = off.apply(&raw, &Context::default());
    assert!(shown.content().starts_with(
        b"[offcut: binary output (image/png), 20016 bytes, not shown; the rest was not stored]"
    ));
    assert!(matches!(shown.preview().unwrap().saved(), Saved::Disabled));
}
