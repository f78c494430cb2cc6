//! PHP: PHPUnit and Pest.

use super::{Group, Role, Rule};

pub(super) static PHPUNIT_NAME: &[Rule] = &[Rule {
    name: "phpunit-name",
    group: Group::Runners,
    role: Role::Failed,
    keywords: &[") "],
    pattern: r"^\d+\) \S+(::| )\S",
    hit: r"1) Tests\\FooTest::testAdd",
    miss: "12) ",
}];

pub(super) static PHPUNIT_PEST: &[Rule] = &[
    Rule {
        name: "phpunit-assertion",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["failed asserting"],
        pattern: "^Failed asserting that ",
        hit: "Failed asserting that 2 matches expected 3.",
        miss: "it Failed asserting that",
    },
    Rule {
        name: "phpunit-place",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &[".php:"],
        pattern: r"^/\S+\.php:\d+$",
        hit: "/app/tests/BasketTest.php:12",
        miss: "in /app/tests/BasketTest.php:12",
    },
    Rule {
        name: "phpunit-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["failures!", "errors!"],
        pattern: "^(FAILURES|ERRORS)!$",
        hit: "FAILURES!",
        miss: "no FAILURES!",
    },
    Rule {
        name: "pest-name",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["⨯"],
        pattern: r"^\s*⨯ \S",
        hit: "  ⨯ it adds up",
        miss: "2 ⨯ 3",
    },
];
