//! Go: `go test`, the race detector, panics, gotestsum, testify.

use super::{Group, Role, Rule};

pub(super) static GO_TEST: &[Rule] = &[
    Rule {
        name: "go-test",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["--- FAIL"],
        pattern: r"^\s*--- FAIL: \S",
        hit: "--- FAIL: TestParse (0.00s)",
        miss: "--- PASS: TestParse",
    },
    Rule {
        name: "go-event",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["\"Action\":\"fail\""],
        pattern: r"^\{.*\x22Action\x22:\x22fail\x22.*\x22Test\x22:",
        hit: r#"{"Time":"now","Action":"fail","Package":"shop","Test":"TestTotal","Elapsed":0}"#,
        miss: r#"{"Time":"now","Action":"fail","Package":"shop","Elapsed":0}"#,
    },
    Rule {
        name: "go-place",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["_test.go:"],
        pattern: r"^\s+\w+_test\.go:\d+: ",
        hit: "    parse_test.go:12: got 1, want 2",
        miss: "in parse_test.go",
    },
    Rule {
        name: "go-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["FAIL\t", "FAIL", "exit status"],
        pattern: r"^FAIL(\t\S+.*)?$|^exit status \d+$",
        hit: "FAIL\tgithub.com/a/b\t0.02s",
        miss: "FAIL: x (y)",
    },
];

pub(super) static DATA_RACE: &[Rule] = &[Rule {
    name: "data-race",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["WARNING: DATA RACE", "WARNING: ThreadSanitizer", "WARNING: MemorySanitizer"],
    pattern: "^(==+\\d+==+)?\\s*WARNING: (DATA RACE|ThreadSanitizer|MemorySanitizer)",
    hit: "WARNING: DATA RACE",
    miss: "WARNING: DATA",
}];

pub(super) static PANIC: &[Rule] = &[Rule {
    name: "go-panicking",
    group: Group::Runners,
    role: Role::LeadIn,
    keywords: &["panic("],
    pattern: r"^panic\(",
    hit: "panic({0x52f0a0, 0xc0000b4018})",
    miss: "it calls panic()",
}];

pub(super) static GOTESTSUM_TESTIFY: &[Rule] = &[
    Rule {
        name: "gotestsum",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["=== FAIL"],
        pattern: r"^=== FAIL: \S",
        hit: "=== FAIL: shop TestTotal (0.00s)",
        miss: "=== RUN TestTotal",
    },
    Rule {
        name: "testify",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["Error Trace:", "Error:", "Messages:"],
        pattern: r"^\s+(Error Trace|Error|Messages):\s+\S",
        hit: "        Error:      \tNot equal: ",
        miss: "an Error: of mine",
    },
];
