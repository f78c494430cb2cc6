//! Tests of repeated lines: they are folded, and only truly similar lines are reported as repeated.

use crate::common::{memory, native};
use offcut::cut::GapReason;
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
[offcut 11nzcp4801: more: offcut read 11nzcp4801 --lines 6:205, or offcut grep PATTERN 11nzcp4801]
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
