//! Limits that depend on how the command ended: agents pass on less of a failed command.

use crate::common::{bytes, memory};
use offcut::measure::CharConvention;
use offcut::store::Store;
use offcut::{CommandEnd, Context, Limits, Outcome, Profile, ReaderLimits, Rule, Storage, Truncator};
use std::time::Duration;

const SUCCESS: u64 = 30_000;
const FAILURE: u64 = 10_000;

fn truncator(store: std::sync::Arc<dyn Store>) -> Truncator {
    let chars = |most| Limits { chars: Some(most), ..Limits::default() };
    let limits = ReaderLimits {
        success: chars(SUCCESS),
        failure: chars(FAILURE),
        preview: Limits::default(),
        char_convention: CharConvention::Utf16,
    };
    Truncator::new(Profile::native().with_limits(limits).unwrap()).storage(Storage::To(store))
}

/// About `size` bytes of lines with an error in the middle.
fn log(size: usize) -> String {
    // Lines that are not like each other.
    let line = |number: usize| format!("{:x}\n", (number as u128 + 7).pow(9) % 0x1_0000_0000_0000_0061);
    let mut text: String = (0..size / 40).map(line).collect();
    text += "error: it went wrong\n";
    text.extend((size / 40..).map(line).take_while({
        let mut left = size.saturating_sub(text.len());
        move |line| {
            left = left.saturating_sub(line.len());
            left > 0
        }
    }));
    text
}

fn end(exit_code: i32) -> CommandEnd {
    CommandEnd { exit_code: Some(exit_code), ..CommandEnd::default() }
}

fn shown(truncator: &Truncator, text: &str, ending: CommandEnd) -> Outcome<'static> {
    let mut spool = truncator.spool(Context::tool("bash"));
    text.as_bytes().chunks(1000).for_each(|chunk| spool.observe(chunk));
    spool.finish_with(ending)
}

#[test]
fn success_passes_and_failure_is_cut_between_the_limits() {
    let store = memory();
    let truncator = truncator(store.clone());
    let text = log(20_000);
    assert!(matches!(shown(&truncator, &text, end(0)), Outcome::Passed(whole) if *whole == *text.as_bytes()));
    assert_eq!(store.ids().unwrap().len(), 0);
    let killed = CommandEnd { signal: Some(15), ..CommandEnd::default() };
    for ending in [end(1), killed] {
        let preview = shown(&truncator, &text, ending);
        assert!(preview.content().len() as u64 <= FAILURE, "{}", preview.content().len());
        assert!(preview.text().contains("error: it went wrong\n"));
    }
    assert!(store.ids().unwrap().iter().all(|id| store.entry(id).unwrap().bytes == text.len() as u64));
    assert_eq!(store.ids().unwrap().len(), 2);
}

#[test]
fn long_output_fills_the_limit_of_its_outcome() {
    let truncator = truncator(memory());
    for (exit_code, limit) in [(0, SUCCESS), (1, FAILURE)] {
        let preview = shown(&truncator, &log(200_000), end(exit_code));
        let size = preview.content().len() as u64;
        assert!(size <= limit && size > limit * 9 / 10, "exit {exit_code}: {size} of {limit}");
        assert!(preview.text().contains("error: it went wrong\n"));
    }
}

#[test]
fn characters_are_counted_as_the_profile_says() {
    let truncator = truncator(memory());
    // Two UTF-16 code units each.
    let rockets = |count: usize| "🚀".repeat(count);
    assert!(matches!(shown(&truncator, &rockets(15_000), end(0)), Outcome::Passed(_)));
    let preview = shown(&truncator, &rockets(15_001), end(0));
    assert!(preview.preview().is_some() && preview.text().encode_utf16().count() as u64 <= SUCCESS);
}

#[test]
fn rule_of_the_caller_applies_to_both_outcomes() {
    let limits = Limits { chars: Some(offcut::limits::UNLIMITED), ..bytes(50_000) };
    let truncator = truncator(memory()).rule(Rule { limits, ..Rule::default() }).unwrap();
    for exit_code in [0, 1] {
        assert!(matches!(shown(&truncator, &log(49_000), end(exit_code)), Outcome::Passed(_)));
        assert!(shown(&truncator, &log(51_000), end(exit_code)).content().len() <= 50_000);
    }
}

#[test]
fn live_output_is_within_the_limit_of_either_outcome() {
    let text = log(20_000);
    for (exit_code, limit) in [(0, SUCCESS), (1, FAILURE)] {
        let store = memory();
        let truncator = truncator(store.clone());
        let mut spool = truncator.spool(Context::tool("bash"));
        let (first, rest) = text.as_bytes().split_at(8_000);
        spool.observe(first);
        let mut all = spool.tick(Duration::from_secs(1));
        assert!(all.len() as u64 <= FAILURE / 2 && all.len() as u64 > FAILURE / 5, "{}", all.len());
        spool.observe(rest);
        let end = spool.finish_with(end(exit_code));
        all.extend_from_slice(end.content());
        assert!(all.len() as u64 <= limit, "{}", all.len());
        assert_eq!(all == text.as_bytes(), exit_code == 0, "a success is whole");
        assert_eq!(store.ids().unwrap().is_empty(), exit_code == 0);
    }
}

#[test]
fn preview_can_be_smaller_than_the_limits() {
    let limits = ReaderLimits {
        success: bytes(30_000),
        failure: bytes(20_000),
        preview: bytes(10_000),
        char_convention: CharConvention::Utf16,
    };
    let truncator = Truncator::new(Profile::native().with_limits(limits).unwrap());
    assert!(matches!(shown(&truncator, &log(29_000), end(0)), Outcome::Passed(_)));
    for exit_code in [0, 1] {
        let size = shown(&truncator, &log(40_000), end(exit_code)).content().len();
        assert!(size <= 10_000 && size > 9000, "exit {exit_code}: {size}");
    }
    // Coloured text over the limit, whose words are within it.
    let coloured =
        |text: &str| text.lines().map(|line| format!("\u{1b}[31m{line}\u{1b}[0m\n")).collect::<String>();
    let whole = log(25_000);
    let preview = shown(&truncator, &coloured(&whole), end(0));
    assert!(preview.text().contains(&whole), "{}", &preview.text()[..300]);
}
