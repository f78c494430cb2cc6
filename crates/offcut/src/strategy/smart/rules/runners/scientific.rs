//! Scientific languages: Octave, R, Julia.

use super::{Group, Role, Rule};

pub(super) static OCTAVE: &[Rule] = &[Rule {
    name: "octave-verdict",
    group: Group::Runners,
    role: Role::Verdict,
    keywords: &["!!!!! "],
    pattern: r"^!!!!! .*failed",
    hit: "!!!!! test failed",
    miss: "it failed!!!!! really",
}];

pub(super) static R_JULIA: &[Rule] = &[
    Rule {
        name: "r-failure",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["failure (", "error ("],
        pattern: r"^(──|--) (Failure|Error) \(",
        hit: "── Failure (test-shop.R:3:3): adds up ─────",
        miss: "a Failure (of mine)",
    },
    Rule {
        name: "julia-test",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["test failed at"],
        pattern: r"Test Failed at \S+:\d+",
        hit: "basket: Test Failed at /app/test/runtests.jl:3",
        miss: "the Test Failed at last",
    },
];
