//! Elixir and Erlang: ExUnit, the Elixir compiler and runtime, EUnit.

use super::{Group, Role, Rule};

pub(super) static EXUNIT: &[Rule] = &[
    Rule {
        name: "exunit-place",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &[".exs:"],
        pattern: r"^\s+\S+\.exs:\d+(: |$)",
        hit: "     test/shop_test.exs:5",
        miss: "see test/shop_test.exs:5 for it",
    },
    Rule {
        name: "exunit-values",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["code: ", "left: ", "right: ", "assertion with"],
        pattern: r"^\s+(code|left|right): +\S|^\s+Assertion with .* failed$",
        hit: "     code:  assert add(1, 2) == 4",
        miss: "the code: it",
    },
];

pub(super) static ELIXIR: &[Rule] = &[
    Rule {
        name: "elixir-error",
        group: Group::Runners,
        role: Role::Exception,
        keywords: &["** ("],
        pattern: r"^\s*\*\* \([A-Z]\w*(\.\w+)*\) ",
        hit: "     ** (RuntimeError) no stock",
        miss: "** (see below)",
    },
    Rule {
        name: "elixir-compile",
        group: Group::Runners,
        role: Role::Diagnostic,
        keywords: &["compilation error in"],
        pattern: "^== Compilation error in file ",
        hit: "== Compilation error in file lib/shop.ex ==",
        miss: "a Compilation error in file",
    },
];

pub(super) static EUNIT: &[Rule] = &[
    Rule {
        name: "eunit-failed",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["*failed*"],
        pattern: r"\.\.\.(\[[\d.]+ s\] )?\*failed\*$",
        hit: "  cow_qs: parse_test...*failed*",
        miss: "it *failed* to run",
    },
    Rule {
        name: "eunit-error",
        group: Group::Runners,
        role: Role::Exception,
        keywords: &["**error:", "**exit:", "**throw:", "** exception"],
        pattern: r"^\s*\*\*\s?(error|exit|throw|exception)\b",
        hit: "**error:{badmatch,<<\"a\">>}",
        miss: "an **error:** in a text",
    },
    Rule {
        name: "eunit-frame",
        group: Group::Runners,
        role: Role::Frame,
        keywords: &["in function ", "in call from "],
        pattern: r"^\s*in (function|call from) \S+:\S",
        hit: "in function cow_qs:parse/1 (src/cow_qs.erl, line 132)",
        miss: "in function main",
    },
];
