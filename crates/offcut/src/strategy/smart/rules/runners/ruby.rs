//! Ruby: minitest, Rails, RSpec.

use super::{Group, Role, Rule};

pub(super) static MINITEST_REPORT: &[Rule] = &[Rule {
    name: "minitest-lead",
    group: Group::Runners,
    role: Role::LeadIn,
    keywords: &[") Error:", ") Failure:"],
    pattern: r"^\s*\d+\) (Error|Failure):$",
    hit: "  1) Failure:",
    miss: "1) Failure: test_total",
}];

pub(super) static RSPEC: &[Rule] = &[
    Rule {
        name: "rspec",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["rspec ./"],
        pattern: r"^rspec \./\S+:\d+",
        hit: "rspec ./spec/a_spec.rb:12 # Foo adds",
        miss: "run rspec ./spec",
    },
    Rule {
        name: "rspec-detail",
        group: Group::Runners,
        role: Role::Detail,
        keywords: &["failure/error:"],
        pattern: r"^\s*Failure/Error: ",
        hit: "     Failure/Error: expect(a).to eq 3",
        miss: "on Failure/Error: x",
    },
    Rule {
        name: "rspec-end",
        group: Group::Runners,
        role: Role::Summary,
        keywords: &["examples,", "assertions"],
        pattern: r"^\d+ examples?, \d+ failures?|^\d+ (tests|runs), \d+ assertions|^Tests: \d+, Assertions: \d+",
        hit: "12 examples, 2 failures",
        miss: "some examples, failures",
    },
];

pub(super) static MINITEST_RAILS: &[Rule] = &[
    Rule {
        name: "minitest-name",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["#"],
        pattern: r"^\s*[A-Z]\S*#\S+ \[\S+:\d+\]:?$|^[A-Z]\S*#test_\S+:$|^[A-Z]\S*#test_.* = [\d.]+ s = [EF]$",
        hit: "BasketTest#test_total [test/basket_test.rb:5]:",
        miss: "Basket#total [see the docs]",
    },
    Rule {
        name: "rails-rerun",
        group: Group::Runners,
        role: Role::Failed,
        keywords: &["rails test "],
        pattern: r"^(bin/)?rails test \S+:\d+",
        hit: "bin/rails test test/models/basket_test.rb:12",
        miss: "run rails test again",
    },
];
