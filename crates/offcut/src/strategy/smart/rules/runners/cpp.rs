//! C and C++: CTest, GoogleTest, Catch2.

use super::{Group, Role, Rule};

pub(super) static CTEST_GOOGLETEST: &[Rule] = &[
    Rule {
        name: "ctest",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["***failed", "(failed)", "***exception", "***timeout"],
        pattern: r"(?i)\*\*\*(failed|exception|timeout|not run)|^\s*\d+ - \S+ \((failed|timeout|SEGFAULT|.*exception.*)\)",
        hit: " 3/12 Test  #3: parse ......***Failed  0.02 sec",
        miss: "it (failed)",
    },
    Rule {
        name: "ctest-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["tests passed,"],
        pattern: r"^\d+% tests passed, [1-9]\d* tests? failed",
        hit: "90% tests passed, 1 tests failed out of 10",
        miss: "tests passed, all",
    },
    Rule {
        name: "gtest",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["[  FAILED  ]", "failure"],
        pattern: r"^\[  FAILED  \]|^\S+:\d+: Failure$",
        hit: "[  FAILED  ] Parse.Adds (0 ms)",
        miss: "[  PASSED  ] 3 tests",
    },
];

pub(super) static CATCH2: &[Rule] = &[
    Rule {
        name: "catch-place",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &[": FAILED"],
        pattern: r"^\S+:\d+: FAILED:?$",
        hit: "src/shop.cpp:12: FAILED:",
        miss: "shop: FAILED: 3",
    },
    Rule {
        name: "catch-values",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["with expansion", "is NOT correct", "values: "],
        pattern: r"^with expansion:$|^\s+values: \S",
        hit: "with expansion:",
        miss: "comes with expansion: yes",
    },
];
