//! The settings of one source: a file or the environment.
//!
//! Values are checked against [`keys`] when they are read, so that errors name the file, the line and the nearest key.

use crate::config::keys::{self, Key, Kind, ProjectAccess};
use offcut::limits::{UNLIMITED, parse_size};
use offcut::{Profile, Rule};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Formats a value for TOML. JSON and TOML agree on text, numbers and switches.
pub(crate) fn to_toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File {
        path: PathBuf,
        line: usize,
    },
    Variable(String),
    Flag(&'static str),
    Profile(String),
    /// The agent that reads the output.
    Agent {
        name: &'static str,
        /// Its limit for the output of a command that failed, if that is another one.
        after_failure: Option<u64>,
    },
    /// Not set, so the value is that of another key.
    As(&'static str),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line } => write!(formatter, "{}:{line}", path.display()),
            Origin::Variable(name) => write!(formatter, "${name}"),
            Origin::Flag(name) => write!(formatter, "--{name}"),
            Origin::Profile(name) => write!(formatter, "profile {name}"),
            Origin::Agent { name, after_failure: None } => write!(formatter, "agent {name}"),
            Origin::Agent { name, after_failure: Some(limit) } => {
                write!(formatter, "agent {name}; {limit} if a command fails")
            }
            Origin::As(key) => write!(formatter, "same as {key}"),
            Origin::Default => write!(formatter, "default"),
        }
    }
}

/// One key with its value.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    pub(crate) tool: Option<String>,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// The value that switches a limit of the profile off.
const NO_LIMIT: &str = "none";

/// An error in a source, such as a setting that is then ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

/// How many errors of one file are described. A suggestion for each of many thousand would take seconds.
const MAX_PROBLEMS: usize = 20;

/// The errors in one file.
struct Problems<'a> {
    path: &'a Path,
    text: &'a str,
    found: Vec<Problem>,
    more: usize,
}

impl Problems<'_> {
    fn add(&mut self, offset: usize, what: impl FnOnce() -> String) {
        if self.found.len() >= MAX_PROBLEMS {
            self.more += 1;
            return;
        }
        let line = 1 + line_feeds(self.text, 0..offset);
        self.found.push(Problem(format!("{}:{line}: {}", self.path.display(), what())));
    }

    fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            self.found.push(Problem(format!("{}: {} more errors", self.path.display(), self.more)));
        }
        self.found
    }
}

/// How far a file is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The file of the user.
    User,
    /// The file of a project, which may be a cloned repository.
    Project,
}

/// The settings of one source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) settings: Vec<Setting>,
}

impl Layer {
    /// Parses the text of a file: the settings that are valid, and the errors.
    pub(crate) fn parse(path: &Path, text: &str, trust: Trust) -> (Layer, Vec<Problem>) {
        let mut problems = Problems { path, text, found: Vec::new(), more: 0 };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let offset = error.span().map_or(0, |span| span.start);
            problems.add(offset, || format!("invalid TOML: {}", error.message()));
        }
        let mut leaves = Vec::new();
        flatten(table.get_ref(), &mut String::new(), &mut leaves);
        // Tables are sorted by name; report errors in the order of the file.
        leaves.sort_by_key(|&(_, _, offset)| offset);
        let mut layer = Layer::default();
        let (mut line, mut counted) = (1, 0);
        for (name, value, offset) in leaves {
            line += line_feeds(text, counted..offset);
            counted = offset;
            let Some((key, tool)) = keys::find(&name) else {
                problems.add(offset, || keys::unknown(&name));
                continue;
            };
            if trust == Trust::Project && key.project == ProjectAccess::None {
                problems.add(offset, || {
                    format!(
                        "a project file cannot set {name:?}; set it in your own configuration file (see `offcut config path`)"
                    )
                });
                continue;
            }
            match parse(key.kind, &text_of(value)) {
                Ok(value) => {
                    let origin = Origin::File { path: path.to_owned(), line };
                    layer.settings.push(Setting { key, tool: tool.map(str::to_owned), value, origin });
                }
                Err(expected) => {
                    problems
                        .add(offset, || format!("{name:?}: expected {expected}, found {}", text_of(value)));
                }
            }
        }
        (layer, problems.finish())
    }

    /// Adds the value of an environment variable.
    pub(crate) fn variable(&mut self, name: &str, path: &str, text: &str) -> Result<(), Problem> {
        let Some((key, None)) = keys::find(path) else { return Ok(()) };
        let value = parse(key.kind, text)
            .map_err(|expected| Problem(format!("${name}: expected {expected}, found {text:?}")))?;
        self.settings.push(Setting { key, tool: None, value, origin: Origin::Variable(name.to_owned()) });
        Ok(())
    }

    /// The last setting of a general key.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| setting.tool.is_none() && setting.key.name == name)
    }

    /// The rule for a tool: settings for it take precedence over those for its MCP server and for all tools.
    pub(crate) fn rule(&self, tool: Option<&str>) -> Rule {
        let pick = |wanted: Option<&str>| {
            rule_of(self.settings.iter().filter(|setting| setting.tool.as_deref() == wanted))
        };
        match tool {
            Some(tool) => {
                let server = keys::server_of(tool).map_or_else(Rule::default, |server| pick(Some(server)));
                pick(Some(tool)).or(server).or(pick(None))
            }
            None => pick(None),
        }
    }

    /// Removes the limits that are too small for the profile, and returns an error for each. The other settings stay.
    pub(crate) fn remove_unusable_limits(&mut self, profile: &Profile) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.settings.retain(|setting| match profile.settings(None, rule_of(iter::once(setting))) {
            Ok(_) => true,
            Err(error) => {
                let tool = setting.tool.as_ref().map_or_else(String::new, |tool| format!("tools.{tool}."));
                let name = format!("{tool}{}", setting.key.name);
                problems.push(Problem(format!("{}: {name:?}: {error}", setting.origin)));
                false
            }
        });
        problems
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().filter_map(|setting| setting.tool.as_deref())
    }
}

/// The rule that settings make: their keys are the fields of [`Rule`], `limits.lines` is a field of a field.
fn rule_of<'a>(settings: impl Iterator<Item = &'a Setting>) -> Rule {
    let mut fields = Map::new();
    for Setting { key, value, .. } in settings.filter(|setting| setting.key.is_in_rule()) {
        let value = match (key.name, value) {
            (_, Value::String(word)) if key.kind == Kind::Limit && word == NO_LIMIT => UNLIMITED.into(),
            ("task", Value::Bool(task)) => Value::from(if *task { "available" } else { "absent" }),
            (_, value) => value.clone(),
        };
        match key.name.split_once('.') {
            Some((outer, inner)) => fields.entry(outer).or_insert_with(|| json!({}))[inner] = value,
            None => drop(fields.insert(key.name.to_owned(), value)),
        }
    }
    // Values were checked when they were read, and a test covers every key.
    Rule::deserialize(Value::Object(fields)).unwrap_or_default()
}

fn line_feeds(text: &str, range: std::ops::Range<usize>) -> usize {
    text.as_bytes().get(range).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count()
}

type Leaf<'a, 'i> = (String, &'a DeValue<'i>, usize);

fn flatten<'a, 'i>(table: &'a DeTable<'i>, prefix: &mut String, leaves: &mut Vec<Leaf<'a, 'i>>) {
    for (key, value) in table {
        let length = prefix.len();
        prefix.push_str(key.get_ref());
        let offset = Spanned::span(key).start;
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => {
                prefix.push('.');
                flatten(inner, prefix, leaves);
            }
            other => leaves.push((prefix.clone(), other, offset)),
        }
        prefix.truncate(length);
    }
}

/// The text of a value, for parsing and for errors.
fn text_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(switch) => switch.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| text_of(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Datetime(time) => time.to_string(),
    }
}

/// Parses a value of a kind, or returns what was expected.
pub(super) fn parse(kind: Kind, text: &str) -> Result<Value, String> {
    let value = match kind {
        Kind::Text => Some(text).filter(|text| !text.is_empty()).map(Value::from),
        Kind::Size => parse_size(text).ok().map(Value::from),
        Kind::Limit if text == NO_LIMIT => Some(NO_LIMIT.into()),
        Kind::Limit => parse_size(text).ok().map(Value::from),
        Kind::Days => text.trim().parse::<u32>().ok().map(Value::from),
        Kind::Switch => match text {
            "true" | "1" => Some(true.into()),
            "false" | "0" => Some(false.into()),
            _ => None,
        },
        Kind::Word(words) => words.contains(&text).then(|| text.into()),
        Kind::Split => serde_json::from_str::<[u32; 2]>(text)
            .ok()
            .filter(|weights| *weights != [0, 0])
            .map(|weights| json!(weights)),
    };
    value.ok_or_else(|| match kind {
        Kind::Text => "non-empty text".to_owned(),
        Kind::Size => "a positive size, for example 2000, \"8k\" or \"50KiB\"".to_owned(),
        Kind::Limit => "a positive size, for example 2000, \"8k\" or \"50KiB\", or \"none\"".to_owned(),
        Kind::Days => "a number of days".to_owned(),
        Kind::Switch => "true or false".to_owned(),
        Kind::Word(words) => format!("one of {}", words.join(", ")),
        Kind::Split => "two weights, for example [1, 2]".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use offcut::Limits;
    use offcut::profile::TaskTool;
    use offcut::strategy::{Split, StrategyName};
    use offcut::terminal::Terminal;

    /// A value of every key that a rule has arrives in the rule.
    #[test]
    fn rule_contains_every_setting() {
        let mut layer = Layer::default();
        for key in keys::KEYS {
            let text = match key.kind {
                Kind::Switch => "true",
                Kind::Word(words) => words[0],
                Kind::Split => "[1, 2]",
                Kind::Text | Kind::Size | Kind::Limit | Kind::Days => "5000",
            };
            layer.variable("X", key.name, text).unwrap();
        }
        let limits = Limits { lines: Some(5000), bytes: Some(5000), chars: Some(5000), tokens: Some(5000) };
        let expected = Rule {
            enabled: Some(true),
            limits,
            keep: limits,
            strategy: Some(StrategyName::Head),
            split: Some(Split { head: 1, tail: 2 }),
            task: Some(TaskTool::Available),
            terminal: Some(Terminal::Rendered),
        };
        assert_eq!(layer.rule(None), expected);
        assert_eq!(layer.rule(Some("bash")), expected);
    }
}
