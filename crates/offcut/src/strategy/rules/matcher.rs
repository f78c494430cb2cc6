//! Finds the first rule that a line matches.

use super::{AUTOMATA, Group, MATCHED_BYTES, RULES, Role, keywords};
use regex_automata::dfa::{Automaton, sparse::DFA};
use regex_automata::{Anchored, Input};
use std::sync::OnceLock;

/// The automata that were needed so far.
static LOADED: [OnceLock<DFA<&'static [u8]>>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

/// Whether a line's content matches the pattern of a rule.
fn matches(rule: usize, content: &[u8]) -> bool {
    let (start, length) = RULES[rule].automaton;
    let automaton = LOADED[rule].get_or_init(|| {
        DFA::from_bytes(&AUTOMATA[start..start + length])
            .unwrap_or_else(|error| unreachable!("the tests load every automaton: {error}"))
            .0
    });
    let anchored = if RULES[rule].anchored { Anchored::Yes } else { Anchored::No };
    let input = Input::new(content).anchored(anchored).earliest(true);
    // An automaton can only give up at Unicode word boundaries, which the patterns do not use.
    automaton.try_search_fwd(&input).is_ok_and(|found| found.is_some())
}

/// Finds the first rule that a line matches.
#[derive(Default)]
pub(in crate::strategy) struct Matcher {
    disabled: Option<Group>,
}

impl Matcher {
    /// A matcher that ignores the rules of a group.
    pub(in crate::strategy) fn without(disabled: Option<Group>) -> Matcher {
        Matcher { disabled }
    }

    /// The role of the first matching rule.
    pub(in crate::strategy) fn find(&self, content: &[u8]) -> Option<Role> {
        self.first_rule(content).map(|rule| RULES[rule].role)
    }

    /// The first matching rule.
    fn first_rule(&self, content: &[u8]) -> Option<usize> {
        let content = &content[..content.len().min(MATCHED_BYTES)];
        let is_enabled = |rule: usize| self.disabled.is_none_or(|group| RULES[rule].group != group);
        keywords::rules_for(content).find(|rule| is_enabled(rule) && matches(rule, content))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
