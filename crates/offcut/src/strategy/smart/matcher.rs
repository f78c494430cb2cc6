//! Finds the first rule that a line matches.
//!
//! The build script compiles each pattern to an automaton. Here they are loaded from the binary when first needed.

use super::keyword_scan::KEYWORDS;
use super::rules::{Group, MATCHED_BYTES, RULES, Role};
use regex_automata::dfa::{Automaton, sparse::DFA};
use regex_automata::{Anchored, Input};
use std::sync::{LazyLock, OnceLock};

/// The automata of all rules, one after the other.
static AUTOMATA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/patterns.bin"));

/// The offset and the length of each automaton, and whether its pattern is anchored to the start of the line.
static RANGES: &[(usize, usize, Anchored)] = &include!(concat!(env!("OUT_DIR"), "/patterns.rs"));

static LOADED: LazyLock<Vec<OnceLock<DFA<&'static [u8]>>>> =
    LazyLock::new(|| RANGES.iter().map(|_| OnceLock::new()).collect());

/// Whether a line's content matches the pattern of a rule.
fn matches(number: usize, content: &[u8]) -> bool {
    let (start, length, anchored) = RANGES[number];
    let automaton = LOADED[number].get_or_init(|| {
        DFA::from_bytes(&AUTOMATA[start..start + length])
            .unwrap_or_else(|error| unreachable!("the tests load every automaton: {error}"))
            .0
    });
    let input = Input::new(content).anchored(anchored).earliest(true);
    // An automaton can only give up at Unicode word boundaries, which the patterns do not use.
    automaton.try_search_fwd(&input).is_ok_and(|found| found.is_some())
}

/// Finds the first rule that a line matches.
#[derive(Default)]
pub(super) struct Matcher {
    disabled: Option<Group>,
}

impl Matcher {
    /// A matcher that ignores the rules of a group.
    pub(super) fn without(disabled: Option<Group>) -> Matcher {
        Matcher { disabled }
    }

    /// The role of the first matching rule.
    pub(super) fn find(&self, content: &[u8]) -> Option<Role> {
        self.first_rule(content).map(|number| RULES[number].role)
    }

    /// The first matching rule.
    fn first_rule(&self, content: &[u8]) -> Option<usize> {
        let content = &content[..content.len().min(MATCHED_BYTES)];
        KEYWORDS
            .rules_for(content)
            .iter()
            .filter(|&number| self.disabled.is_none_or(|group| RULES[number].group != group))
            .find(|&number| matches(number, content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_matches_its_hit_and_not_its_miss() {
        let matcher = Matcher::default();
        let named = |line: &str| matcher.first_rule(line.as_bytes()).map(|number| RULES[number].name);
        let wrong: Vec<String> = RULES
            .iter()
            .map(|rule| (rule.name, named(rule.hit), named(rule.miss)))
            .filter(|&(name, hit, miss)| hit != Some(name) || miss == Some(name))
            .map(|(name, hit, miss)| format!("{name}: {hit:?} and {miss:?}"))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn lines_of_common_tools_get_their_roles() {
        let lines = include_str!("rules/tools.txt");
        let matcher = Matcher::default();
        let mut tool = "";
        let mut wrong = Vec::new();
        for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
            match line.split_once(" | ") {
                Some((role, text)) => {
                    let found =
                        matcher.find(text.as_bytes()).map_or("None".to_owned(), |role| format!("{role:?}"));
                    if found != role.trim() {
                        wrong.push(format!("{tool}: {text:?} is {found}, not {}", role.trim()));
                    }
                }
                None => tool = line,
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
