//! Options as JSON, with the names in the spelling of both languages.

use crate::fault::Fault;
use crate::foreign::{Saved, StrategyKind, StrategyOutput};
use offcut::profile::{TaskTool, presets};
use offcut::results::{Shape, ShapeChoice};
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Limits, Rule, limits};
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The options of an engine.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EngineOptions {
    /// A built-in profile's name, or the path of a profile's TOML file.
    pub(crate) profile: Option<String>,
    /// A directory, or `none`; without it, the command line's store.
    pub(crate) store: Option<String>,
    /// `files`, `shell`, `tool:NAME` or `nothing`.
    pub(crate) reach: Option<String>,
    /// The root of the project: paths below it are shown relative to it by profiles that do so.
    #[serde(alias = "projectRoot")]
    pub(crate) project_root: Option<String>,
    /// Options for each tool, over those for all.
    pub(crate) tools: BTreeMap<String, RuleOptions>,
    /// Tools whose results are not changed.
    #[serde(alias = "skipTools")]
    pub(crate) skip_tools: Vec<String>,
    /// The budget that the results of one batch share.
    pub(crate) total: Option<Amount>,
    /// The most that is stored of one output.
    #[serde(alias = "maxOutput")]
    pub(crate) max_output: Option<Amount>,
    /// How many days outputs are kept, instead of as long as the profile says; 0 for no limit.
    #[serde(alias = "retentionDays")]
    pub(crate) retention_days: Option<u32>,
    /// Whether expired outputs are removed when the first output is stored; unless set, they are.
    #[serde(alias = "automaticCleaning")]
    pub(crate) automatic_cleaning: Option<bool>,
    /// The caller has its own store.
    pub(crate) foreign_store: bool,
    /// The caller has its own strategy.
    pub(crate) foreign_strategy: Option<StrategyKind>,
    /// Reports contain events.
    pub(crate) events: bool,
}

/// The options of one call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallOptions {
    shape: Option<String>,
    /// The results of the caller's store, in order.
    pub saved: Option<Vec<Saved>>,
    /// The results of the caller's strategy, in order.
    pub made: Option<Vec<Option<StrategyOutput>>>,
    #[serde(skip)]
    pub(crate) rule: Rule,
}

impl CallOptions {
    /// Parses JSON.
    pub fn parse(json: &str) -> Result<CallOptions, Fault> {
        let (call, rule) = split::<CallOptions>(json, &["shape", "saved", "made"])?;
        Ok(CallOptions { rule: rule.rule()?, ..call })
    }

    pub(crate) fn shape(&self) -> Result<ShapeChoice, Fault> {
        let Some(name) = self.shape.as_deref() else { return Ok(ShapeChoice::Auto) };
        Shape::named(name).map(ShapeChoice::Is).ok_or_else(|| {
            let known: Vec<_> = Shape::ALL.iter().map(|shape| shape.name()).collect();
            Fault::Invalid(format!("no shape {name:?}; available: {}", known.join(", ")))
        })
    }
}

impl EngineOptions {
    /// Parses JSON into the options and the rule for all tools.
    pub(crate) fn parse(json: &str) -> Result<(EngineOptions, Rule), Fault> {
        const OWN: [&str; 18] = [
            "profile",
            "store",
            "reach",
            "project_root",
            "projectRoot",
            "tools",
            "skip_tools",
            "skipTools",
            "total",
            "max_output",
            "maxOutput",
            "retention_days",
            "retentionDays",
            "automatic_cleaning",
            "automaticCleaning",
            "foreign_store",
            "foreign_strategy",
            "events",
        ];
        let (options, rule) = split::<EngineOptions>(json, &OWN)?;
        Ok((options, rule.rule()?))
    }
}

/// Splits an object into the keys in `own` and the options of a rule.
fn split<T: DeserializeOwned>(json: &str, own: &[&str]) -> Result<(T, RuleOptions), Fault> {
    let all: Map<String, Value> = serde_json::from_str(json)?;
    let (own, rule): (Map<_, _>, Map<_, _>) = all
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .partition(|(key, _)| own.contains(&key.as_str()));
    Ok((serde_json::from_value(Value::Object(own))?, serde_json::from_value(Value::Object(rule))?))
}

/// The options that can differ by tool and by call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RuleOptions {
    /// `truncation` is the name in takumi's document (seed 003).
    #[serde(alias = "truncation")]
    enabled: Option<bool>,
    skip: Option<bool>,
    preset: Option<String>,
    #[serde(alias = "maxLines")]
    max_lines: Option<Amount>,
    #[serde(alias = "maxBytes")]
    max_bytes: Option<Amount>,
    #[serde(alias = "maxChars")]
    max_chars: Option<Amount>,
    #[serde(alias = "maxTokens")]
    max_tokens: Option<Amount>,
    #[serde(alias = "keepLines")]
    keep_lines: Option<Amount>,
    #[serde(alias = "keepBytes")]
    keep_bytes: Option<Amount>,
    #[serde(alias = "keepChars")]
    keep_chars: Option<Amount>,
    #[serde(alias = "keepTokens")]
    keep_tokens: Option<Amount>,
    #[serde(alias = "direction")]
    strategy: Option<StrategyName>,
    split: Option<[u32; 2]>,
    task: Option<bool>,
    raw: Option<bool>,
}

impl RuleOptions {
    pub(crate) fn rule(self) -> Result<Rule, Fault> {
        let amount = |given: Option<Amount>| given.map(|Amount(amount)| amount);
        let preset = match &self.preset {
            None => Rule::default(),
            Some(name) => *presets().get(name).ok_or_else(|| {
                let known: Vec<_> = presets().into_keys().collect();
                Fault::Invalid(format!("no preset {name:?}; available: {}", known.join(", ")))
            })?,
        };
        if self.split == Some([0, 0]) {
            return Err(Fault::Invalid("a split of 0 and 0 shows nothing".to_owned()));
        }
        let rule = Rule {
            enabled: self.skip.map(|skip| !skip).or(self.enabled),
            limits: Limits {
                lines: amount(self.max_lines),
                bytes: amount(self.max_bytes),
                chars: amount(self.max_chars),
                tokens: amount(self.max_tokens),
            },
            keep: Limits {
                lines: amount(self.keep_lines),
                bytes: amount(self.keep_bytes),
                chars: amount(self.keep_chars),
                tokens: amount(self.keep_tokens),
            },
            strategy: self.strategy,
            split: self.split.map(Into::into),
            task: self.task.map(|task| if task { TaskTool::Available } else { TaskTool::Absent }),
            terminal: self.raw.map(|raw| if raw { Terminal::Raw } else { Terminal::Rendered }),
        };
        Ok(rule.or(preset))
    }
}

/// A positive whole number, or a size such as `50KiB`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount(pub(crate) u64);

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Amount, D::Error> {
        deserializer.deserialize_any(AmountVisitor)
    }
}

struct AmountVisitor;

impl Visitor<'_> for AmountVisitor {
    type Value = Amount;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a positive whole number, or a size such as \"50KiB\"")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Amount, E> {
        Ok(Amount(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Amount, E> {
        // JavaScript and JSON write very large whole numbers as floating-point numbers.
        if value.fract() == 0.0 && value >= u64::MAX as f64 {
            return Ok(Amount(u64::MAX / 4));
        }
        Err(E::invalid_type(serde::de::Unexpected::Float(value), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Amount, E> {
        limits::parse_limit(text).map(Amount).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses options and compares the result or the error.
    #[track_caller]
    fn check(json: &str, expected: &str) {
        let result = match EngineOptions::parse(json) {
            Ok((_, rule)) => format!("{:?} {:?} {:?}", rule.limits.lines, rule.limits.bytes, rule.enabled),
            Err(fault) => fault.to_string(),
        };
        assert!(result.contains(expected), "{json}: {result}");
    }

    #[test]
    fn parses_options_in_both_spellings() {
        check("{}", "None None None");
        check(r#"{"max_lines": 10, "max_bytes": "50KiB"}"#, "Some(10) Some(51200) None");
        check(r#"{"maxLines": 10, "skip": true, "profile": null}"#, "Some(10) None Some(false)");
        check(r#"{"preset": "log", "max_lines": 7}"#, "Some(7) Some(20480)");
    }

    #[test]
    fn rejects_invalid_options() {
        check(r#"{"max_line": 10}"#, "unknown field `max_line`, expected one of");
        check(r#"{"max_lines": -1}"#, "a positive whole number");
        check(r#"{"max_lines": 1.5}"#, "a positive whole number");
        check(r#"{"max_lines": 1e30}"#, "Some(4611686018427387903)");
        check(r#"{"max_lines": true}"#, "a positive whole number");
        check(r#"{"max_bytes": "lots"}"#, "expected a positive size");
        check(r#"{"strategy": "best"}"#, "unknown variant `best`");
        check(r#"{"preset": "x"}"#, "no preset \"x\"; available: code, error, log");
        check(r#"{"split": [0, 0]}"#, "shows nothing");
        check("[]", "expected a map");
    }
}
