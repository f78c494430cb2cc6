//! Reports for other programs: TeamCity service messages, JSON reports, JUnit XML.

use super::{Group, Role, Rule};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "teamcity",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["##teamcity["],
        pattern: r"^##teamcity\[(testFailed|buildProblem) ",
        hit: "##teamcity[testFailed name='adds' message='3 is not 4']",
        miss: "##teamcity[testFinished name='adds' duration='1']",
    },
    Rule {
        name: "json-title",
        group: Group::Runners,
        role: Role::SuiteTitle,
        keywords: &["\"fullTitle\":", "\"fullName\":", "\"nodeid\":", "\"title\":"],
        pattern: r"^\s+\x22(fullTitle|fullName|nodeid|title)\x22: \x22",
        hit: r#"      "fullTitle": "Basket adds up","#,
        miss: r#"{"title": "Basket"}"#,
    },
    Rule {
        name: "json-verdict",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["\"failed\"", "\"broken\"", "\"error\""],
        pattern: r"^\s+\x22(status|outcome|result|state)\x22: \x22(failed|broken|error)\x22,?$",
        hit: r#"      "status": "failed","#,
        miss: r#"      "status": "passed","#,
    },
    Rule {
        name: "json-reason",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["\"message\":"],
        pattern: r"^\s+\x22message\x22: \x22.",
        hit: r#"        "message": "3 is not 4","#,
        miss: r#"{"message": "3 is not 4"}"#,
    },
    Rule {
        name: "junit-xml",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["<testcase"],
        pattern: r"^\s*<testcase .*<(failure|error)\b",
        hit: "<testcase classname='Basket' name='adds' time='0'><failure>3 is not 4",
        miss: "<testcase classname='Basket' name='failure' time='0'/>",
    },
    Rule {
        name: "junit-xml-verdict",
        group: Group::Runners,
        role: Role::Verdict,
        keywords: &["<failure", "<error"],
        pattern: r"^\s*<(failure|error)\b[^/]",
        hit: "    <failure message='3 is not 4'>",
        miss: "<errors/>",
    },
];
