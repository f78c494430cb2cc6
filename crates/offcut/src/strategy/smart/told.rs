//! What is told twice: runners name a test that failed when it fails, when they say why, and once more at the end.

use super::blocks::ResultContext;
use super::held::Candidate;
use super::rules::Role;
use super::{content, fingerprint};
use std::collections::{HashMap, HashSet};

/// The results in lists of tests that are named again further on, in another form, with more to say of them.
pub(super) fn told_again(held: &[Candidate]) -> HashSet<u64> {
    let failed: Vec<(Naming, &Candidate)> = held
        .iter()
        .filter(|line| line.role == Some(Role::Failed))
        .filter_map(|line| Some((Naming::of(&line.text)?, line)))
        .collect();
    let last: HashMap<u64, (u64, u64)> =
        failed.iter().map(|(naming, line)| (naming.test, (naming.form, line.number))).collect();
    let is_again = |(naming, line): &&(Naming, &Candidate)| {
        let (form, number) = last[&naming.test];
        line.context == ResultContext::Listed && form != naming.form && number > line.number
    };
    failed.iter().filter(is_again).map(|(_, line)| line.number).collect()
}

/// How a line names a test.
struct Naming {
    /// Its longest word that is not in brackets.
    test: u64,
    /// Its first other word.
    form: u64,
}

impl Naming {
    fn of(line: &[u8]) -> Option<Naming> {
        let mut buffer = Vec::new();
        let content = content::content(line, &mut buffer);
        let words = || content.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let test = words().filter(|word| word[0] != b'[').max_by_key(|word| word.len())?;
        let other = words().find(|word| *word != test).unwrap_or_default();
        let test = test.strip_suffix(b":").unwrap_or(test);
        (test.len() >= 6).then(|| Naming { test: fingerprint::exact(test), form: fingerprint::exact(other) })
    }
}
