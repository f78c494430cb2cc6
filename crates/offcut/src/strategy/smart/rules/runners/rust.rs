//! Rust: `cargo test` and nextest.

use super::{Group, Role, Rule};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "cargo-test",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["... FAILED", "stdout ----", "stderr ----"],
        pattern: r"^test \S.* \.\.\. FAILED|^-{3,4} \S.* (stdout|stderr) -{3,4}$",
        hit: "---- parse::adds stdout ----",
        miss: "---- a ----",
    },
    Rule {
        name: "nextest",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["FAIL [", "SIGABRT [", "TIMEOUT [", "SIGSEGV ["],
        pattern: r"^\s+(FAIL|SIG\w+|TIMEOUT|TRY \d+ FAIL) \[ *[\d.]+s\]",
        hit: "        FAIL [   0.012s] mycrate parse::adds",
        miss: "a FAIL [x]",
    },
    Rule {
        name: "cargo-list",
        group: Group::Runners,
        role: Role::ListHeading,
        keywords: &["failures:"],
        pattern: "^failures:$",
        hit: "failures:",
        miss: "failures: 3",
    },
    Rule {
        name: "cargo-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["test result: FAILED", "summary ["],
        pattern: r"^test result: FAILED|^\s+Summary \[ *[\d.]+s\]",
        hit: "test result: FAILED. 1 passed; 1 failed",
        miss: "Summary of it",
    },
];
