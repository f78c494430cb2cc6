//! One source of settings: a file or the environment.

use crate::config::keys::{self, Key, Kind, Project};
use offcut::limits::parse_size;
use offcut::strategy::{Split, StrategyName};
use offcut::{Limits, Rule, TaskTool, Terminal};
use std::fmt;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Number(u64),
    Switch(bool),
    Split([u32; 2]),
}

impl Value {
    /// The value as plain text.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // TOML's basic strings and Rust's debug form agree on everything a setting may hold.
            Value::Text(text) => write!(formatter, "{text:?}"),
            Value::Number(number) => write!(formatter, "{number}"),
            Value::Switch(switch) => write!(formatter, "{switch}"),
            Value::Split([head, tail]) => write!(formatter, "[{head}, {tail}]"),
        }
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File {
        path: PathBuf,
        line: usize,
    },
    Variable(String),
    Flag(&'static str),
    Profile(String),
    /// Nobody set it, so it is as another key is.
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

/// Something in a source that cannot be used. The rest of that source is not used either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem(pub(crate) String);

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user's own.
    User,
    /// A project's: a cloned repository is not trusted.
    Project,
}

/// The settings of one source.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) settings: Vec<Setting>,
}

impl Layer {
    /// Reads a file's text.
    pub(crate) fn parse(path: &Path, text: &str, trust: Trust) -> Result<Layer, Problem> {
        let line_of =
            |offset: usize| 1 + text.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count();
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(span.start));
            Problem(format!("{}:{line}: invalid TOML: {}", path.display(), error.message()))
        })?;
        let mut leaves = Vec::new();
        flatten(table.get_ref(), &mut String::new(), &mut leaves);
        // Tables come sorted by name; people look for mistakes from the top.
        leaves.sort_by_key(|&(_, _, offset)| offset);
        let mut layer = Layer::default();
        for (name, value, offset) in leaves {
            let line = line_of(offset);
            let problem = |what: String| Problem(format!("{}:{line}: {what}", path.display()));
            let (key, tool) = keys::find(&name).ok_or_else(|| {
                let guess = keys::nearest(&name).map_or_else(
                    || "`offcut config show` lists all keys".to_owned(),
                    |nearest| format!("did you mean {nearest:?}?"),
                );
                problem(format!("unknown key {name:?}; {guess}"))
            })?;
            if trust == Trust::Project && key.project == Project::MayNot {
                return Err(problem(format!(
                    "a project file cannot set {name:?}; set it in your own configuration file (see `offcut config path`)"
                )));
            }
            let value = read(key.kind, &text_of(value)).map_err(|expected| {
                problem(format!("{name:?}: expected {expected}, found {}", text_of(value)))
            })?;
            let origin = Origin::File { path: path.to_owned(), line };
            layer.settings.push(Setting { key, tool: tool.map(str::to_owned), value, origin });
        }
        Ok(layer)
    }

    /// Takes one value from the environment.
    pub(crate) fn variable(&mut self, name: &str, path: &str, text: &str) -> Result<(), Problem> {
        let Some((key, None)) = keys::find(path) else { return Ok(()) };
        let value = read(key.kind, text)
            .map_err(|expected| Problem(format!("${name}: expected {expected}, found {text:?}")))?;
        self.settings.push(Setting { key, tool: None, value, origin: Origin::Variable(name.to_owned()) });
        Ok(())
    }

    /// The last value of a general key.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().rev().find(|setting| setting.tool.is_none() && setting.key.name == name)
    }

    /// The rule for a tool: what is set for it, over what is set for all.
    pub(crate) fn rule(&self, tool: Option<&str>) -> Rule {
        let pick = |wanted: Option<&str>| {
            let mut rule = Rule::default();
            for setting in self.settings.iter().filter(|setting| setting.tool.as_deref() == wanted) {
                apply(&mut rule, setting);
            }
            rule
        };
        match tool {
            Some(tool) => {
                let server = keys::server_of(tool).map_or_else(Rule::default, |server| pick(Some(server)));
                pick(Some(tool)).or(server).or(pick(None))
            }
            None => pick(None),
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().filter_map(|setting| setting.tool.as_deref())
    }
}

fn apply(rule: &mut Rule, setting: &Setting) {
    let limit = |limits: &mut Limits, unit: &str, number: u64| match unit {
        "lines" => limits.lines = Some(number),
        "bytes" => limits.bytes = Some(number),
        "chars" => limits.chars = Some(number),
        _ => limits.tokens = Some(number),
    };
    match (setting.key.name.split_once('.'), &setting.value) {
        (Some(("limits", unit)), Value::Number(number)) => limit(&mut rule.limits, unit, *number),
        (Some(("keep", unit)), Value::Number(number)) => limit(&mut rule.keep, unit, *number),
        (None, value) => match (setting.key.name, value) {
            ("strategy", Value::Text(name)) => {
                rule.strategy = StrategyName::ALL.into_iter().find(|known| known.as_str() == name);
            }
            ("split", &Value::Split([head, tail])) => rule.split = Some(Split { head, tail }),
            ("terminal", Value::Text(name)) => {
                rule.terminal = Some(if name == "raw" { Terminal::Raw } else { Terminal::Rendered });
            }
            ("enabled", &Value::Switch(enabled)) => rule.enabled = Some(enabled),
            ("task", &Value::Switch(task)) => {
                rule.task = Some(if task { TaskTool::Available } else { TaskTool::Absent });
            }
            _ => {}
        },
        _ => {}
    }
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

/// A value as its user wrote it, near enough for reading and for errors.
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

/// Reads a value of a kind, or says what was expected.
fn read(kind: Kind, text: &str) -> Result<Value, String> {
    match kind {
        Kind::Text if !text.is_empty() => Ok(Value::Text(text.to_owned())),
        Kind::Text => Err("non-empty text".to_owned()),
        Kind::Size => parse_size(text)
            .map(Value::Number)
            .map_err(|_| "a positive size, for example 2000, \"8k\" or \"50KiB\"".to_owned()),
        Kind::Days => text
            .trim()
            .parse()
            .map(|days: u32| Value::Number(days.into()))
            .map_err(|_| "a number of days".to_owned()),
        Kind::Switch => match text {
            "true" | "1" => Ok(Value::Switch(true)),
            "false" | "0" => Ok(Value::Switch(false)),
            _ => Err("true or false".to_owned()),
        },
        Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
        Kind::Word(words) => Err(format!("one of {}", words.join(", "))),
        Kind::Split => {
            let weights: Option<Vec<u32>> = text
                .strip_prefix('[')
                .and_then(|text| text.strip_suffix(']'))
                .and_then(|text| text.split(',').map(|weight| weight.trim().parse().ok()).collect());
            match weights.as_deref() {
                Some(&[head, tail]) if head > 0 || tail > 0 => Ok(Value::Split([head, tail])),
                _ => Err("two weights, for example [1, 2]".to_owned()),
            }
        }
    }
}
