//! What lines look like that matter, as data.
//!
//! A rule is a row of a table: words of which one must occur, a pattern that the line's content must then match, and
//! the role that such a line plays. To teach a new tool, add a row with a line that must match and one that must not;
//! the tests check both. The words of all rules are one automaton; patterns are compiled when first needed, and
//! looked at only for lines that are unlike those seen before. The first row that matches wins, so what is to be
//! ignored stands first and what is vague stands last.

mod builds;
mod compilers;
mod quiet;
mod runners;
mod shapes;
mod traces;
mod words;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use regex_automata::hybrid::{self, dfa::DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};
use std::sync::{LazyLock, OnceLock};

/// Only so much of a line is matched; what a line says, it says soon.
pub(super) const MATCHED_BYTES: usize = 400;

/// What a line is to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Names a test or step that failed.
    Failed,
    /// Says that what the line before names has failed.
    Verdict,
    /// A compiler's or linter's error, with its snippet and notes below.
    Diagnostic,
    /// The same, under a line that names the file.
    Finding,
    /// The message of an exception or a panic; frames may follow.
    Exception,
    /// Opens a traceback whose message comes last.
    Traceback,
    /// One frame of a stack.
    Frame,
    /// What was expected, what was found, which line of the source.
    Detail,
    /// How it all ended.
    Summary,
    /// Heads a list: of failed tests, of reasons.
    List,
    /// A command, a target or a job gave up.
    Stopped,
    /// A warning.
    Warning,
    /// Has a word that often means trouble.
    Suspect,
    /// Heads a part of a text that has parts: a file of a diff, a hunk.
    Heading,
    /// Looks like trouble and is none.
    Quiet,
    /// What a runner does for itself, before and after.
    Chore,
}

/// The groups of rules, so that it can be measured what each adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What looks like trouble and is none.
    Quiet,
    /// Compilers, linters and linkers.
    Compilers,
    /// Test runners.
    Runners,
    /// Exceptions and their frames.
    Traces,
    /// Build tools, package managers, shells, CI runners.
    Builds,
    /// Headings of texts that have parts.
    Shapes,
    /// Words that often mean trouble.
    Words,
}

impl Group {
    /// Every group.
    pub const ALL: [Group; 7] = [
        Group::Quiet,
        Group::Compilers,
        Group::Runners,
        Group::Traces,
        Group::Builds,
        Group::Shapes,
        Group::Words,
    ];
}

/// One row.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) role: Role,
    /// Words, in any case: every line that the pattern matches has one of them, so it is looked at only then.
    words: &'static [&'static str],
    pattern: &'static str,
    /// A line that must match.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    hit: &'static str,
    /// A line that must not.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the test of the table"))]
    miss: &'static str,
}

/// Every rule, in the order of precedence.
pub(super) static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    [
        quiet::RULES,
        shapes::RULES,
        runners::RULES,
        compilers::RULES,
        traces::RULES,
        builds::RULES,
        words::RULES,
    ]
    .into_iter()
    .flatten()
    .collect()
});

struct Automaton {
    words: AhoCorasick,
    /// For each word the rules that it may concern.
    concerned: Vec<u128>,
    patterns: Vec<OnceLock<Regex>>,
}

static AUTOMATON: LazyLock<Automaton> = LazyLock::new(|| {
    let mut words: Vec<&'static str> = Vec::new();
    let mut concerned: Vec<u128> = Vec::new();
    for (number, rule) in RULES.iter().enumerate() {
        for word in rule.words {
            let at = words.iter().position(|known| known == word).unwrap_or_else(|| {
                words.push(word);
                concerned.push(0);
                words.len() - 1
            });
            concerned[at] |= 1 << number;
        }
    }
    Automaton {
        words: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&words)
            .unwrap_or_else(|error| unreachable!("a small table of short words: {error}")),
        concerned,
        patterns: RULES.iter().map(|_| OnceLock::new()).collect(),
    }
});

/// After so many lines it pays to compile all patterns into one machine.
const MANY_LINES: u32 = 2000;

/// All patterns as one machine that is built as it is used.
static MACHINE: LazyLock<DFA> = LazyLock::new(|| {
    let patterns: Vec<&str> = RULES.iter().map(|rule| rule.pattern).collect();
    DFA::builder()
        .configure(
            hybrid::dfa::Config::new()
                .match_kind(MatchKind::All)
                .cache_capacity(MACHINE_BYTES)
                .skip_cache_capacity_check(true),
        )
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .thompson(thompson::Config::new().utf8(false))
        .build_many(&patterns)
        .unwrap_or_else(|error| unreachable!("checked by the test of the table: {error}"))
});
const MACHINE_BYTES: usize = 1 << 20;

/// Finds the rule of a line.
///
/// The first lines are matched pattern by pattern, which costs little to start; a flood of new lines is matched by
/// all patterns at once. Both give the same.
#[derive(Default)]
pub(super) struct Matcher {
    left_out: Option<Group>,
    lines: u32,
    machine: Option<Box<(hybrid::dfa::Cache, PatternSet)>>,
}

impl Matcher {
    /// A matcher that leaves out the rules of a group.
    pub(super) fn without(left_out: Option<Group>) -> Matcher {
        Matcher { left_out, ..Matcher::default() }
    }

    /// The first rule that a line's content matches.
    pub(super) fn find(&mut self, content: &[u8]) -> Option<u8> {
        let content = &content[..content.len().min(MATCHED_BYTES)];
        self.lines = self.lines.saturating_add(1);
        if self.lines > MANY_LINES
            && let Some(matching) = self.matching(content)
        {
            return first(self.without_left_out(matching));
        }
        let automaton = &*AUTOMATON;
        let mut candidates = self.concerned(content);
        while candidates != 0 {
            let number = candidates.trailing_zeros() as usize;
            if automaton.pattern(number).is_match(content) {
                return first(candidates);
            }
            candidates &= candidates - 1;
        }
        None
    }

    /// The rules of which a word occurs.
    fn concerned(&self, content: &[u8]) -> u128 {
        let automaton = &*AUTOMATON;
        let mut candidates = 0;
        for found in automaton.words.find_overlapping_iter(content) {
            candidates |= automaton.concerned[found.pattern().as_usize()];
        }
        self.without_left_out(candidates)
    }

    fn without_left_out(&self, rules: u128) -> u128 {
        match self.left_out {
            Some(group) => rules & !of(group),
            None => rules,
        }
    }

    /// Every rule whose pattern matches, by the machine; nothing if the machine gave up.
    fn matching(&mut self, content: &[u8]) -> Option<u128> {
        let machine = self
            .machine
            .get_or_insert_with(|| Box::new((MACHINE.create_cache(), PatternSet::new(RULES.len()))));
        let (cache, found) = &mut **machine;
        // A text so varied that the machine has to start anew is faster read pattern by pattern.
        if cache.clear_count() > 0 {
            return None;
        }
        found.clear();
        MACHINE.try_which_overlapping_matches(cache, &Input::new(content), found).ok()?;
        Some(found.iter().fold(0, |all, pattern| all | 1 << pattern.as_usize()))
    }
}

fn first(rules: u128) -> Option<u8> {
    (rules != 0).then_some(rules.trailing_zeros() as u8)
}

/// The rules of a group.
fn of(group: Group) -> u128 {
    (0..RULES.len()).filter(|&at| RULES[at].group == group).fold(0, |all, at| all | 1 << at)
}

impl Automaton {
    fn pattern(&self, number: usize) -> &Regex {
        self.patterns[number].get_or_init(|| {
            let Rule { name, pattern, .. } = RULES[number];
            RegexBuilder::new(pattern)
                .unicode(false)
                .build()
                .unwrap_or_else(|error| unreachable!("checked by the test of the table: {name}: {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_matches_its_line_and_not_the_other() {
        let named =
            |line: &str| Matcher::default().find(line.as_bytes()).map(|at| RULES[usize::from(at)].name);
        let wrong: Vec<String> = RULES
            .iter()
            .filter(|rule| named(rule.hit) != Some(rule.name) || named(rule.miss) == Some(rule.name))
            .map(|rule| format!("{}: {:?} and {:?}", rule.name, named(rule.hit), named(rule.miss)))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// The machine finds what the patterns find one by one.
    #[test]
    fn one_machine_is_as_good_as_many_patterns() {
        let mut machine = Matcher { lines: MANY_LINES, ..Matcher::default() };
        for rule in RULES.iter() {
            for line in [rule.hit, rule.miss] {
                let one_by_one = Matcher::default().find(line.as_bytes());
                assert_eq!(machine.find(line.as_bytes()), one_by_one, "{line:?}");
            }
        }
    }

    #[test]
    fn the_table_fits_and_names_are_unique() {
        assert!(RULES.len() <= 128);
        for (number, rule) in RULES.iter().enumerate() {
            assert!(RULES[..number].iter().all(|other| other.name != rule.name), "{}", rule.name);
            assert!(!rule.words.is_empty(), "{}", rule.name);
        }
    }
}
