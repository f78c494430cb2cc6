//! Finds the rule of a line.

use super::rules::{Group, MATCHED_BYTES, RULES, Role};
use super::words_in::WORDS;
use regex_automata::dfa::{Automaton, sparse::DFA};
use regex_automata::{Anchored, Input};
use std::sync::{LazyLock, OnceLock};

/// The patterns of all rules, each as a machine that the build script made.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/patterns.bin"));

/// Where each machine stands, and whether its pattern is tied to the start of the line.
static PLACES: &[(usize, usize, Anchored)] = &include!(concat!(env!("OUT_DIR"), "/patterns.rs"));

static MACHINES: LazyLock<Vec<OnceLock<DFA<&'static [u8]>>>> =
    LazyLock::new(|| PLACES.iter().map(|_| OnceLock::new()).collect());

/// Whether a line's content matches the pattern of a rule.
fn matches(number: usize, content: &[u8]) -> bool {
    let (start, length, anchored) = PLACES[number];
    let machine = MACHINES[number].get_or_init(|| {
        DFA::from_bytes(&BYTES[start..start + length])
            .unwrap_or_else(|error| unreachable!("checked by the test of the table: {error}"))
            .0
    });
    let input = Input::new(content).anchored(anchored).earliest(true);
    // Without Unicode's word boundaries a machine has no reason to give up.
    machine.try_search_fwd(&input).is_ok_and(|found| found.is_some())
}

/// Finds the rule of a line.
#[derive(Default)]
pub(super) struct Matcher {
    left_out: Option<Group>,
}

impl Matcher {
    /// A matcher that leaves out the rules of a group.
    pub(super) fn without(left_out: Option<Group>) -> Matcher {
        Matcher { left_out }
    }

    /// The role of the first rule that a line's content matches.
    pub(super) fn find(&self, content: &[u8]) -> Option<Role> {
        self.first_rule(content).map(|number| RULES[number].role)
    }

    /// The first rule that a line's content matches.
    fn first_rule(&self, content: &[u8]) -> Option<usize> {
        let content = &content[..content.len().min(MATCHED_BYTES)];
        WORDS
            .of(content)
            .iter()
            .filter(|&number| self.left_out.is_none_or(|group| RULES[number].group != group))
            .find(|&number| matches(number, content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_matches_its_line_and_not_the_other() {
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

    /// Lines as tools print them: what opens a failure, what belongs to it, and how it ends.
    #[test]
    fn tools_that_people_use() {
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
