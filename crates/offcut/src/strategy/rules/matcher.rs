//! Finds the first rule that a line matches.

use super::{AUTOMATA, Group, MATCHED_BYTES, RULES, Role, keywords};

/// The state in which a pattern matches. From the only higher one it cannot match any more.
const MATCH: u16 = u16::MAX - 1;

/// Whether a line's content matches the pattern of a rule. `automaton` in the build script describes the tables.
fn matches(rule: usize, content: &[u8]) -> bool {
    let (start, length) = RULES[rule].automaton;
    let Some((classes, states)) = AUTOMATA[start..start + length].split_first_chunk::<256>() else {
        return false;
    };
    let (states, _) = states.as_chunks::<2>();
    let next = |state: u16, class: usize| u16::from_le_bytes(states[usize::from(state) + class]);
    // Classes are numbered in the order of bytes. After the last one comes the end of the line.
    let end = usize::from(classes[255]) + 1;
    let mut state = 0;
    for &byte in content {
        state = next(state, usize::from(classes[usize::from(byte)]));
        if state >= MATCH {
            return state == MATCH;
        }
    }
    next(state, end) == MATCH
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
