//! Rules that recognise lines of known tools.
//!
//! The rules are data: `rules/NAME.toml` in the directory of this crate has the rules of a tool, and `rules/NAME.txt` is
//! a transcript of the tool with the [`Role`] that each line must get. The build script compiles the patterns.
//! ARCHITECTURE.md explains how to add a tool.

mod keywords;
mod matcher;
mod role;

pub(in crate::strategy) use matcher::Matcher;
pub use role::Group;
pub(crate) use role::Role;

use keywords::Keyword;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// The automata of all rules, one after the other.
static AUTOMATA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/automata.bin"));

/// Only this many bytes of a line are matched.
pub(in crate::strategy) const MATCHED_BYTES: usize = 400;

/// One row of a file. [`RULES`] has them in the order of precedence.
struct Rule {
    #[cfg(test)]
    pattern: &'static str,
    #[cfg(test)]
    tier: u8,
    file: u8,
    group: Group,
    role: Role,
    /// The offset and the length of its automaton in [`AUTOMATA`].
    automaton: (usize, usize),
}

/// The rules of a tool.
#[derive(Debug)]
pub struct RuleFile {
    /// The name of the file in `rules/`, without its extension.
    pub name: &'static str,
    /// What prints the lines.
    pub about: &'static str,
    /// The file itself.
    pub text: &'static str,
}

impl RuleFile {
    /// Every file, by name.
    pub fn all() -> &'static [RuleFile] {
        &FILES
    }

    /// How many rules it has.
    pub fn rules(&self) -> usize {
        RULES.iter().filter(|rule| FILES[usize::from(rule.file)].name == self.name).count()
    }
}

/// The name of the role that the rules give to a line, or an empty string.
pub fn annotated_role(line: &[u8]) -> String {
    let content = super::content::content(line, &mut Vec::new()).to_owned();
    Matcher::default().find(&content).map(role_name).unwrap_or_default()
}

/// `LibraryFrame` is `library-frame` in the files.
fn role_name(role: Role) -> String {
    let mut name = String::new();
    for letter in format!("{role:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

impl Role {
    /// Whether a line of this role is not worth showing for its own sake.
    pub(in crate::strategy) fn is_unimportant(self) -> bool {
        self.is_never_rare() || self == Role::Info
    }

    /// Whether a line of this role is not worth showing even if it is unlike all others.
    pub(in crate::strategy) fn is_never_rare(self) -> bool {
        matches!(self, Role::Step | Role::PassedSection | Role::Passed | Role::Noise)
    }

    /// Whether a line of this role is about tests that passed. It gains nothing from its neighbours.
    pub(in crate::strategy) fn is_success(self) -> bool {
        matches!(self, Role::PassedSection | Role::Passed)
    }

    /// Whether a line of this role reports a problem by itself.
    pub(in crate::strategy) fn is_problem(self) -> bool {
        let is_accompanying =
            matches!(self, Role::Title | Role::Summary | Role::Frame | Role::LibraryFrame | Role::Location);
        !self.is_unimportant() && !is_accompanying
    }
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
