//! Platforms with one runner each: XCTest for Swift, `dotnet test`, `dart test`.

use super::{Group, Role, Rule};

pub(super) static DOTNET: &[Rule] = &[Rule {
    name: "dotnet-test",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["[FAIL]", "Failed "],
    pattern: r"\[FAIL\]$|^\s+Failed \S+ \[[\d<> ]+ ?m?s\]$",
    hit: "    Foo.Bar.Adds [FAIL]",
    miss: "Failed to add",
}];

pub(super) static XCTEST: &[Rule] = &[
    Rule {
        name: "xctest",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["test case '"],
        pattern: r"^Test Case '.*' failed \(",
        hit: "Test Case '-[ShopTests.Basket testTotal]' failed (0.004 seconds).",
        miss: "Test Case '-[ShopTests.Basket testTotal]' passed (0.001 seconds).",
    },
    Rule {
        name: "xctest-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["executed "],
        pattern: r"^\s*Executed \d+ tests?, with [1-9]\d* failures?|\bExecuted \d+ of \d+ .*\([1-9]\d* FAILED\)",
        hit: "Executed 12 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds",
        miss: "Executed 12 tests, with 0 failures",
    },
];

pub(super) static DART: &[Rule] = &[
    Rule {
        name: "dart-test",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["[E]"],
        pattern: r"^\d\d:\d\d \+\d+( ~\d+)? -\d+: .* \[E\]$",
        hit: "00:01 +12 -1: test/shop_test.dart: adds up [E]",
        miss: "00:01 +12: adds up",
    },
    Rule {
        name: "dart-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["some tests failed"],
        pattern: r"-\d+: Some tests failed\.$",
        hit: "00:02 +12 -1: Some tests failed.",
        miss: "Some tests failed to load",
    },
];
