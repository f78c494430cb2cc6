//! Stand-alone harnesses: Mozilla's, Robot Framework, busted for Lua.

use super::{Group, Role, Rule};

pub(super) static MOZILLA: &[Rule] = &[Rule {
    name: "unexpected-result",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["TEST-UNEXPECTED", "PROCESS-CRASH"],
    pattern: r"\bTEST-UNEXPECTED-\w+ ?\||\bPROCESS-CRASH \|",
    hit: "TEST-UNEXPECTED-FAIL | dom/a.html | timed out",
    miss: "it says TEST-UNEXPECTED",
}];

pub(super) static ROBOT_FRAMEWORK: &[Rule] = &[Rule {
    name: "robot-test",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["| fail |"],
    pattern: r"^\S.* \| FAIL \|$",
    hit: "Adds Up :: A basket                                   | FAIL |",
    miss: "| FAIL | is a column",
}];

pub(super) static BUSTED: &[Rule] = &[Rule {
    name: "busted-test",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &["failure ", "error "],
    pattern: r"^(Failure|Error) (→|->) \S",
    hit: "Failure → spec/shop_spec.lua @ 3",
    miss: "Failure is no option",
}];
