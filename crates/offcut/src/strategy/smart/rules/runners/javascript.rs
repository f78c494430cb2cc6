//! JavaScript: Jest, Mocha, Karma, Deno, Bun, Vitest.

use super::{Group, Role, Rule};

pub(super) static JEST_MOCHA: &[Rule] = &[
    Rule {
        name: "jest-name",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["●"],
        pattern: r"^\s*● \S",
        hit: "  ● Worker › can be killed",
        miss: "a ● b",
    },
    Rule {
        name: "jest-suite",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["FAIL "],
        pattern: r"^\s*FAIL\s+(\S+ › |\S+ \S+ )?\S+\.(\w*[jt]sx?|vue|mts|cts)\b",
        hit: "FAIL  src/a.test.ts > adds",
        miss: "FAIL to parse",
    },
    Rule {
        name: "jest-snippet",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["> ", "|"],
        pattern: r"^\s*> +\d+ \| ",
        hit: "    > 12 |   expect(a).toBe(b)",
        miss: "> 12 apples",
    },
    Rule {
        name: "jest-values",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["expected", "received", "actual", "left:", "right:"],
        pattern: r"(?i)^\s*(E\s+)?(expected|received|actual|left|right|but was|got|want|found|given)( \w+)?: ?\S",
        hit: "    Expected: 3",
        miss: "it was expected: no, received",
    },
    Rule {
        name: "jest-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["tests:", "test suites:", "test files"],
        pattern: r"^\s*(Tests|Test Suites|Test Files|Snapshots):? +.*\b\d+ (failed|passed)",
        hit: "Tests:       1 failed, 12 passed, 13 total",
        miss: "Tests: none",
    },
    Rule {
        name: "mocha-name",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &[") "],
        pattern: r"^\s+\d+\) \S",
        hit: "  1) Papa should parse:",
        miss: "see a) or b)",
    },
    Rule {
        name: "mocha-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["failing", "passing"],
        pattern: r"^\s*\d+ (failing|passing)( \(.*\))?$",
        hit: "  2 failing",
        miss: "two failing tests",
    },
];

pub(super) static KARMA: &[Rule] = &[Rule {
    name: "karma",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["FAILED"],
    pattern: r"^\S.* \(.*\).* FAILED$",
    hit: "Chrome 120.0.0 (Linux x86_64) basket adds up FAILED",
    miss: "it FAILED (twice) again",
}];

pub(super) static DENO_BUN_VITEST: &[Rule] = &[
    Rule {
        name: "deno-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["failed | ", "ok | "],
        pattern: r"^FAILED \| \d+ passed",
        hit: "FAILED | 3 passed | 1 failed (12ms)",
        miss: "it FAILED | 3",
    },
    Rule {
        name: "bun-test",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["(fail) "],
        pattern: r"^\(fail\) \S",
        hit: "(fail) adds up [0.12ms]",
        miss: "it may (fail) here",
    },
    Rule {
        name: "vitest-place",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["❯"],
        pattern: r"^\s*❯ \S+:\d+:\d+",
        hit: "  ❯ shop.test.js:254:24",
        miss: "❯ shop.test.js (3 tests)",
    },
];
