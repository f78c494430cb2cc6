//! What works with any set of features: the ends of an output, a store in a directory, and reading back. Run it with
//! `cargo test -p offcut --no-default-features --test minimal`.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

use offcut::retrieve::{self, PageLimits, Range};
use offcut::store::{FsStore, Store};
use offcut::strategy::StrategyName;
use offcut::{Context, Profile, Rule, Storage, Truncator, event::DiscardEvents};
use std::sync::Arc;
use std::time::SystemTime;

fn numbered(count: u32) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

fn shown(strategy: StrategyName, text: &str) -> String {
    let rule = Rule { strategy: Some(strategy), ..Rule::default() };
    let truncator = Truncator::new(Profile::native()).rule(rule).unwrap();
    truncator.apply(text, &Context::tool("bash")).text().into_owned()
}

#[test]
fn output_over_the_limits_is_stored_and_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("outputs"), SystemTime::now));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
    let text = numbered(10_000);
    let outcome = truncator.apply(&text, &Context::tool("bash"));
    assert!(outcome.text().len() <= 9500);

    let entry = store.entry(&retrieve::resolve(&*store, "last").unwrap()).unwrap();
    assert_eq!(std::fs::read_to_string(entry.path.as_ref().unwrap()).unwrap(), text);
    let range = Range::lines("5000:5001").unwrap();
    let page = retrieve::page(&*store, &entry, range, PageLimits::default(), &DiscardEvents).unwrap();
    assert_eq!(String::from_utf8_lossy(&page.content), "line 5000\nline 5001\n");
}

#[test]
fn ends_are_shown_as_the_strategy_says() {
    let text = numbered(10_000);
    for (strategy, has_first, has_last) in [
        (StrategyName::Head, true, false),
        (StrategyName::Tail, false, true),
        (StrategyName::HeadTail, true, true),
    ] {
        let shown = shown(strategy, &text);
        assert_eq!(shown.contains("line 1\n"), has_first, "{strategy:?}");
        assert_eq!(shown.contains("line 10000\n"), has_last, "{strategy:?}");
    }
}

#[cfg(not(feature = "smart"))]
#[test]
fn auto_without_smart_shows_both_ends() {
    let text = numbered(10_000).replace("line 5000\n", "error: it failed\n");
    assert_eq!(shown(StrategyName::Auto, &text), shown(StrategyName::HeadTail, &text));
}

#[cfg(all(feature = "profiles", not(feature = "smart")))]
#[test]
fn profile_with_a_missing_strategy_is_rejected() {
    let text = Profile::text("native").unwrap().replace("strategy = \"auto\"", "strategy = \"smart\"");
    let error = Profile::parse(&text).unwrap_err().to_string();
    assert!(
        error.contains("unknown variant `smart`, expected one of `head`, `tail`, `head-tail`, `auto`"),
        "{error}"
    );
}
