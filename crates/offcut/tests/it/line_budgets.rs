//! How many lines the profiles with their own wording show, and what they say about the others.

use crate::common::memory;
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};

const HINT: &str = "Read with offset/limit to view specific sections.";

/// `seq 1 5000; echo 'ERROR: boom'; seq 1 5000`
fn output() -> String {
    let numbers: String = (1..=5000).map(|number| format!("{number}\n")).collect();
    format!("{numbers}ERROR: boom\n{numbers}")
}

fn bounded(profile: &str, strategy: StrategyName, limits: Limits, output: &str) -> String {
    let rule = Rule { limits, strategy: Some(strategy), ..Rule::default() };
    let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(memory()));
    truncator.rule(rule).unwrap().apply(output, &Context::default()).text().into_owned()
}

/// The number and the unit in `...9 lines truncated...`.
fn count(notice: &str) -> Option<(usize, &str)> {
    let (number, unit) = notice.strip_prefix("...")?.strip_suffix(" truncated...")?.split_once(' ')?;
    Some((number.parse().ok()?, unit))
}

/// The preview, and the number that its frame states.
fn unframed(text: &str) -> (&str, (usize, &str)) {
    if let Some((notice, preview)) = text.split_once(&format!("{HINT}\n\n")) {
        return (preview, count(notice.split("\n\n").next().unwrap()).unwrap());
    }
    let (preview, _) = text.rsplit_once("\n\nThe tool call succeeded").unwrap();
    let (preview, notice) = preview.rsplit_once("\n\n").unwrap();
    (preview, count(notice).unwrap())
}

/// In these profiles a line is what `split("\n")` gives, so the text above has 10,002 of them.
#[test]
fn every_strategy_keeps_the_line_limit_and_counts_every_other_line() {
    let output = output();
    let all: Vec<&str> = output.split('\n').collect();
    for profile in ["opencode", "coding-agent", "takumi"] {
        for strategy in [StrategyName::Smart, StrategyName::Head, StrategyName::Tail, StrategyName::HeadTail]
        {
            for most in (1..=12).chain([20, 50, 100]) {
                let limits = Limits { lines: Some(most as u64), ..Limits::default() };
                let text = bounded(profile, strategy, limits, &output);
                let case = format!("{profile} {strategy:?} {most}:\n{text}");
                let (preview, (removed, unit)) = unframed(&text);
                assert_eq!(unit, "lines", "{case}");
                // Where each part is in the output, read from the counts of the markers.
                let parts: Vec<&str> = preview.split("\n\n").collect();
                let marked = parts.iter().any(|part| count(part).is_some());
                let from_end = strategy == StrategyName::Tail;
                let (mut at, mut shown) = (if from_end && !marked { removed } else { 0 }, 0);
                for part in parts {
                    if let Some((lines, unit)) = count(part) {
                        assert!(lines > 0 && unit == "lines", "{case}");
                        at += lines;
                    } else {
                        let lines: Vec<&str> = part.split('\n').collect();
                        assert_eq!(lines, all[at..at + lines.len()], "{case}");
                        at += lines.len();
                        shown += lines.len();
                    }
                }
                assert!(at == all.len() || at == shown || at == all.len() - 1, "{at} {case}");
                // The last line is empty, and a preview is not.
                let is_only_empty = strategy == StrategyName::Tail && most == 1;
                assert_eq!(shown, most + usize::from(is_only_empty), "{case}");
                assert_eq!(shown + removed, all.len(), "{case}");
                assert!(
                    strategy != StrategyName::Smart || most < 10 || text.contains("ERROR: boom"),
                    "{case}"
                );
            }
        }
    }
}

/// A part of a line is counted in bytes: no marker says that no line is missing.
#[test]
fn markers_inside_a_line_count_bytes() {
    let output = format!("begin {} end\n", "x".repeat(100_000));
    for profile in ["opencode", "coding-agent", "takumi"] {
        for strategy in [StrategyName::Smart, StrategyName::HeadTail] {
            let text = bounded(profile, strategy, Limits::default(), &output);
            let (preview, (removed, unit)) = unframed(&text);
            let shown: usize = preview.split("\n\n").filter(|part| count(part).is_none()).map(str::len).sum();
            assert_eq!((shown + removed, unit), (output.len(), "bytes"), "{profile} {strategy:?}");
            assert!(!text.contains("...0 "), "{profile} {strategy:?}");
            let markers = preview.split("\n\n").filter_map(count);
            assert!(markers.clone().all(|(_, unit)| unit == "bytes"), "{profile} {strategy:?}");
        }
    }
}

/// Klaude's frame states the first and the last characters; of several parts it states how many there are.
#[test]
fn klaude_marks_every_gap_between_several_parts() {
    let output = output();
    let limits = Limits { chars: Some(400), ..Limits::default() };
    let text = bounded("klaude", StrategyName::Smart, limits, &output);
    let (header, body) = text.split_once("]\n\n").unwrap();
    assert!(header.starts_with("[Output truncated: ") && text.contains("ERROR: boom"), "{text}");
    assert!(!text.contains("[Last ") && !header.contains("first"), "{text}");
    let is_marker = |part: &&str| part.starts_with("... (") && part.ends_with(" lines truncated) ...");
    let parts: Vec<&str> = body.split("\n\n").collect();
    let shown: Vec<&&str> = parts.iter().filter(|part| !is_marker(part)).collect();
    assert!(shown.len() > 1 && header.ends_with(&format!(" Showing {} parts below.", shown.len())), "{text}");
    let all: Vec<&str> = output.lines().collect();
    let mut at = 0;
    for part in &parts {
        if is_marker(part) {
            let number = part.strip_prefix("... (").unwrap().split(' ').next().unwrap();
            at += number.parse::<usize>().unwrap();
        } else {
            let lines: Vec<&str> = part.lines().collect();
            assert_eq!(lines, all[at..at + lines.len()], "{text}");
            at += lines.len();
        }
    }
    assert_eq!(at, all.len(), "{text}");
}

/// offcut's own notice, in whichever form fits, counts what is not shown: with what is shown it is the whole output.
#[test]
fn native_notice_counts_every_line_that_is_not_shown() {
    let output = output();
    let all = output.lines().count();
    for most in (4..=12).chain([20, 50, 100]) {
        let limits = Limits { lines: Some(most), ..Limits::default() };
        let text = bounded("native", StrategyName::Smart, limits, &output);
        assert!(text.lines().count() as u64 <= most, "{most}: {text}");
        let (notices, shown): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('['));
        let numbers = |line: &str| -> Vec<usize> {
            line.split(|byte: char| !byte.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
        };
        let [first, second, ..] = numbers(notices[0])[..] else { panic!("{most}: {text}") };
        match notices[0].contains(" lines not shown") {
            true => assert_eq!(first + shown.len(), all, "{most}: {text}"),
            false => assert_eq!((first, second), (shown.len(), all), "{most}: {text}"),
        }
    }
}
