//! Wording that many runners and linters share: lists of failed tests, crosses, counts of failures.

use super::{Group, Role, Rule};

pub(super) static LINT_SUMMARY_AND_CROSSES: &[Rule] = &[
    Rule {
        name: "lint-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["problem", "found ", "error"],
        pattern: r"(?i)^\W*\d+ problems? \(\d+ errors?|^Found [1-9]\d* errors?\b|^[1-9]\d* errors?( generated| found)?\.?$|^[1-9]\d* errors? and \d+ warnings? generated|^Found \d+ (diagnostics|issues)",
        hit: "✖ 3 problems (2 errors, 1 warning)",
        miss: "problems, errors",
    },
    Rule {
        name: "cross-name",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["✖", "✗", "×", "❌", "✕"],
        pattern: r"^\s*(✖|✗|×|✕|❌) ?\S",
        hit: "      ✖ display outline",
        miss: "2 × 3",
    },
];

pub(super) static FAILURE_LISTS: &[Rule] = &[Rule {
    name: "failed-examples",
    group: Group::Runners,
    role: Role::ListHeading,
    keywords: &[
        "failed examples:",
        "following tests failed",
        "there was",
        "there were",
        "failed tests",
        "failing tests",
        "tests failed:",
    ],
    pattern: r"(?i)^(\[\w+\] )?\s*(Failed examples:|The following tests FAILED:?|There (was|were) \d+ (failures?|errors?):|(list of )?failed tests:?|failing tests:?|.*\btests failed:)$",
    hit: "The following tests FAILED:",
    miss: "There was a time",
}];

pub(super) static NAMED_FAILURES_AND_COUNTS: &[Rule] = &[
    Rule {
        name: "named-failure",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["failed", "FAIL"],
        pattern: r"^(FAILED CONSISTENTLY: |FAIL(ED)?:? \S+[:.#/]\S+)|^\S+ \d+/\d+ failed!",
        hit: "FAILED CONSISTENTLY: test/a.py::B::c",
        miss: "FAILED to do",
    },
    Rule {
        name: "dashed-stats",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["failed", "failure", "error"],
        pattern: r"(?i)^\W*(total|tests?|suites?|specs?|results?)\b.*[1-9]\d* (failed|failures?|errors?)\b|^\W*[1-9]\d* (tests? |specs? |checks? |problems? |suites? )?(failed|failures?|errors?)\b",
        hit: "12 tests failed",
        miss: "a 1 failed test was expected by everyone",
    },
];

pub(super) static COUNTS_WITH_FAILURES: &[Rule] = &[Rule {
    name: "many-failures",
    group: Group::Runners,
    role: Role::Summary,
    keywords: &["tests, ", "test, ", "doctest", "scenario", "steps (", "properties", "specs, "],
    pattern: r"^\s*(DONE )?\d+ (tests?|doctests?|properties|specs?|scenarios?|steps?)\b(, .*| \(.*)\b[1-9]\d* (failures?|failed|errors?|invalid)\b",
    hit: "2 doctests, 12 tests, 1 failure",
    miss: "12 tests, 0 failures",
}];
