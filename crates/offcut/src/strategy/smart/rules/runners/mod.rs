//! Test runners: which test failed, why, and the summary at the end.
//!
//! One file per ecosystem. A file has several lists where rules of another file must be tried between them:
//! [`PRECEDENCE`] is the order in which all of them are tried.

mod beam;
mod cpp;
mod generic;
mod go;
mod harnesses;
mod javascript;
mod jvm;
mod php;
mod platforms;
mod python;
mod reports;
mod ruby;
mod rust;
mod scientific;
mod tap;

use super::{Group, Role, Rule};

/// The lists of all runners, in the order in which they are tried.
pub(super) static PRECEDENCE: [&[Rule]; 39] = [
    ruby::MINITEST_REPORT,
    python::RULES,
    jvm::MAVEN_GRADLE_JUNIT,
    javascript::JEST_MOCHA,
    generic::LINT_SUMMARY_AND_CROSSES,
    tap::RESULTS,
    go::GO_TEST,
    rust::RULES,
    ruby::RSPEC,
    generic::FAILURE_LISTS,
    php::PHPUNIT_NAME,
    cpp::CTEST_GOOGLETEST,
    harnesses::MOZILLA,
    platforms::DOTNET,
    generic::NAMED_FAILURES_AND_COUNTS,
    platforms::XCTEST,
    javascript::KARMA,
    beam::EXUNIT,
    generic::COUNTS_WITH_FAILURES,
    beam::ELIXIR,
    php::PHPUNIT_PEST,
    ruby::MINITEST_RAILS,
    tap::PROVE_VERDICT,
    scientific::OCTAVE,
    reports::RULES,
    tap::PERL,
    platforms::DART,
    harnesses::ROBOT_FRAMEWORK,
    tap::BATS,
    cpp::CATCH2,
    go::DATA_RACE,
    beam::EUNIT,
    go::PANIC,
    jvm::ANT,
    go::GOTESTSUM_TESTIFY,
    jvm::SCALATEST,
    scientific::R_JULIA,
    harnesses::BUSTED,
    javascript::DENO_BUN_VITEST,
];
