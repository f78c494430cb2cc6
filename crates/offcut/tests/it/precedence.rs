//! Which setting applies (document 000 §4.1, §9.2 and §13.1): the call's, the caller's for the tool, the caller's for
//! every tool, the profile's for the tool, the profile's, key by key.

use offcut::limits::UNLIMITED;
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Profile, Rule, Truncator};

fn coding_agent() -> Truncator {
    Truncator::new(Profile::named("coding-agent").unwrap())
}

fn lines(most: u64) -> Rule {
    Rule { limits: Limits { lines: Some(most), ..Limits::default() }, ..Rule::default() }
}

#[track_caller]
fn check(truncator: &Truncator, tool: &str, expected: (u64, StrategyName)) {
    let settings = truncator.settings(&Context::tool(tool));
    assert_eq!((settings.limits.lines, settings.strategy), (Some(expected.0), expected.1), "{tool}");
    assert_eq!(settings.limits.bytes, Some(51_200), "a key that nobody sets is the profile's");
}

#[test]
fn each_key_comes_from_the_nearest_rule_that_sets_it() {
    use StrategyName::{Head, Tail};
    let profile = coding_agent();
    check(&profile, "bash", (500, Tail));
    check(&profile, "grep", (3000, Head));
    check(&profile, "other", (2000, Head));

    let for_every_tool = coding_agent().rule(lines(1500)).unwrap();
    check(&for_every_tool, "bash", (1500, Tail));
    check(&for_every_tool, "grep", (1500, Head));

    let for_bash = coding_agent().rule(lines(100)).unwrap().tool_rule("bash", lines(10)).unwrap();
    check(&for_bash, "bash", (10, Tail));
    check(&for_bash, "grep", (100, Head));

    let call = for_bash.with_options(lines(7)).unwrap();
    check(&call, "bash", (7, Tail));
    check(&for_bash, "bash", (10, Tail));
}

/// Document 000 §9.2: the order in which the settings are made does not matter.
#[test]
fn later_changes_keep_what_they_do_not_set() {
    let mut truncator = coding_agent();
    truncator.update_tool("grep", lines(2000)).unwrap();
    truncator.update(lines(1500)).unwrap();
    let direction = Rule { strategy: Some(StrategyName::Tail), ..Rule::default() };
    truncator.update_tool("grep", direction).unwrap();
    check(&truncator, "grep", (2000, StrategyName::Tail));
    check(&truncator, "bash", (1500, StrategyName::Tail));
}

/// Document 000 §13.1, third case: global 100, bash 10, an output of 50 lines.
#[test]
fn tool_limit_below_the_general_one_cuts() {
    let mut truncator = coding_agent();
    truncator.update(lines(100)).unwrap();
    truncator.update_tool("bash", lines(10)).unwrap();
    let output = (1..=50).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
    assert!(truncator.apply(&output, &Context::tool("bash")).preview().is_some());
    assert!(truncator.apply(&output, &Context::tool("other")).preview().is_none());
}

/// Document 000 §2: a limit by lines only, or by bytes only.
#[test]
fn a_limit_of_the_profile_can_be_switched_off() {
    let (long, wide) = ("x\n".repeat(5000), "x".repeat(60_000));
    let only = |limits: Limits| coding_agent().rule(Rule { limits, ..Rule::default() }).unwrap();
    let by_bytes = only(Limits { lines: Some(UNLIMITED), ..Limits::default() });
    let by_lines = only(Limits { bytes: Some(UNLIMITED), ..Limits::default() });
    let by_nothing = only(Limits { lines: Some(UNLIMITED), bytes: Some(UNLIMITED), ..Limits::default() });
    let cuts = |truncator: &Truncator, text: &str| {
        truncator.apply(text, &Context::tool("other")).preview().is_some()
    };
    assert_eq!((cuts(&by_bytes, &long), cuts(&by_bytes, &wide)), (false, true));
    assert_eq!((cuts(&by_lines, &long), cuts(&by_lines, &wide)), (true, false));
    assert_eq!((cuts(&by_nothing, &long), cuts(&by_nothing, &wide)), (false, false));
}

#[test]
fn options_below_the_smallest_limit_are_rejected() {
    assert!(Truncator::new(Profile::native()).with_options(lines(1)).is_err());
    assert!(coding_agent().with_options(lines(0)).is_err());
}
