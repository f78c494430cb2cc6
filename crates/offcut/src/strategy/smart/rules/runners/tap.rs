//! The Test Anything Protocol and its runners: Perl's prove, Bats.

use super::{Group, Role, Rule};

pub(super) static RESULTS: &[Rule] = &[
    Rule {
        name: "tap-failure",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["not ok"],
        pattern: r"^\s*not ok\b",
        hit: "not ok 3 - adds",
        miss: "it is not okay",
    },
    Rule {
        name: "tap-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["# fail", "# tests"],
        pattern: r"^# (fail|tests|pass)\s+\d+",
        hit: "# fail  2",
        miss: "# failures are",
    },
];

pub(super) static PROVE_VERDICT: &[Rule] = &[Rule {
    name: "prove-verdict",
    group: Group::Runners,
    role: Role::Verdict,
    keywords: &["dubious, test"],
    pattern: r"^Dubious, test returned \d+",
    hit: "Dubious, test returned 2 (wstat 512, 0x200)",
    miss: "a Dubious, test returned 2",
}];

pub(super) static PERL: &[Rule] = &[
    Rule {
        name: "perl-detail",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["# "],
        pattern: r"^\s*#\s+(Failed test\b|at \S+ line \d+|got: |expected: )|^# Looks like you",
        hit: "#          got: '1'",
        miss: "# at the end of line 3",
    },
    Rule {
        name: "tap-title",
        group: Group::Runners,
        role: Role::SuiteTitle,
        keywords: &["# "],
        pattern: r"^# [A-Za-z][^:]*$",
        hit: "# parses sparse arrays",
        miss: "#   Failed test 'adds up'",
    },
    Rule {
        name: "prove-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["subtests", "result: fail"],
        pattern: r"\bFailed \d+/\d+ subtests|^Result: FAIL$",
        hit: "Result: FAIL",
        miss: "Result: FAILING OVER",
    },
];

pub(super) static BATS: &[Rule] = &[Rule {
    name: "bats-place",
    group: Group::Runners,
    role: Role::Detail,
    keywords: &["in test file", "from function"],
    pattern: r"^#? *\((in test file|from function) ",
    hit: "# (in test file test/shop.bats, line 3)",
    miss: "it is in test file a",
}];
