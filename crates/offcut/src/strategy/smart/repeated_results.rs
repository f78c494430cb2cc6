//! Failed tests that are listed first and reported again later.
//!
//! Runners name a failed test when it fails, when they explain the failure, and in the summary. The first mention, in a
//! list of results, is worth less if a later one in another form says more.

use super::blocks::ResultContext;
use super::candidates::Candidate;
use super::rules::Role;
use super::{content, fingerprint};
use std::collections::{HashMap, HashSet};

/// The line numbers of listed results whose test is named again further down in another form.
pub(super) fn named_again_later(candidates: &[Candidate]) -> HashSet<u64> {
    let failed: Vec<(TestMention, &Candidate)> = candidates
        .iter()
        .filter(|line| line.role == Some(Role::Failed))
        .filter_map(|line| Some((TestMention::of(&line.text)?, line)))
        .collect();
    let last: HashMap<u64, (u64, u64)> =
        failed.iter().map(|(mention, line)| (mention.test, (mention.form, line.number))).collect();
    let is_named_again = |(mention, line): &&(TestMention, &Candidate)| {
        let (form, number) = last[&mention.test];
        line.context == ResultContext::Listed && form != mention.form && number > line.number
    };
    failed.iter().filter(is_named_again).map(|(_, line)| line.number).collect()
}

/// How a line names a test, as hashes.
struct TestMention {
    /// The longest word that is not in brackets: the name of the test.
    test: u64,
    /// The first other word: how the test is reported.
    form: u64,
}

impl TestMention {
    fn of(line: &[u8]) -> Option<TestMention> {
        let mut buffer = Vec::new();
        let content = content::content(line, &mut buffer);
        let words = || content.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let test = words().filter(|word| word[0] != b'[').max_by_key(|word| word.len())?;
        let other = words().find(|word| *word != test).unwrap_or_default();
        let test = test.strip_suffix(b":").unwrap_or(test);
        (test.len() >= 6)
            .then(|| TestMention { test: fingerprint::exact(test), form: fingerprint::exact(other) })
    }
}
