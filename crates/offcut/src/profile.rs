//! Profiles: limits, strategy, wording, file names and retention, as data.

#[cfg(feature = "profiles")]
mod parse;
#[cfg(feature = "profiles")]
pub use parse::{ProfileError, presets};

use crate::limits::{Floor, LimitError, Limits};
use crate::measure::{CharConvention, Conventions, LineConvention};
use crate::recorder::CommandEnd;
use crate::store::{Leftovers, Retention};
use crate::strategy::{Edges, Split, StrategyName};
use crate::terminal::Terminal;
use serde::Deserialize;
use std::collections::BTreeMap;

/// How outputs are cut, worded and stored.
///
/// ```
/// use offcut::Profile;
///
/// assert_eq!(Profile::native().name(), "native");
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub(crate) name: String,
    about: String,
    limits: Limits,
    /// The limits for the output of a command that failed, if they are others.
    failure_limits: Option<Limits>,
    #[serde(default)]
    keep: Limits,
    strategy: StrategyName,
    split: Split,
    edges: Edges,
    floor: Floor,
    #[serde(default)]
    terminal: Terminal,
    #[serde(default)]
    conventions: ConventionNames,
    #[serde(default)]
    tools: BTreeMap<String, Rule>,
    pub(crate) file_name: String,
    pub(crate) retention_days: Option<u32>,
    seed_directory: Option<String>,
    leftovers: Option<Leftovers>,
    #[serde(default)]
    relative_paths: bool,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) results: Results,
    pub(crate) wording: Option<Frames>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ConventionNames {
    lines: LineConvention,
    chars: CharConvention,
}

/// What a tool, a configuration or a call may override. What is unset stays as it was.
///
/// For each key, the first of these that sets it applies:
/// 1. the options of the call ([`Truncator::with_options`](crate::Truncator::with_options)),
/// 2. the caller's rule for the tool ([`Truncator::tool_rule`](crate::Truncator::tool_rule)),
/// 3. the caller's rule for every tool ([`Truncator::rule`](crate::Truncator::rule)),
/// 4. the profile's rule for the tool,
/// 5. the profile.
///
/// ```
/// use offcut::{Limits, Profile, Rule, Truncator, strategy::StrategyName};
///
/// let limits = Limits { bytes: Some(4000), ..Limits::default() };
/// let rule = Rule { strategy: Some(StrategyName::Tail), limits, ..Rule::default() };
/// assert!(Truncator::new(Profile::native()).rule(rule).is_ok());
///
/// // A preview needs space for its notice.
/// let limits = Limits { bytes: Some(10), ..Limits::default() };
/// assert!(Truncator::new(Profile::native()).rule(Rule { limits, ..rule }).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rule {
    /// Whether outputs are bounded at all; `truncation` in the document of the profile takumi (seed 003).
    #[serde(alias = "truncation")]
    pub enabled: Option<bool>,
    /// When an output is cut.
    pub limits: Limits,
    /// How much of a cut output is shown, if less than the limits.
    pub keep: Limits,
    /// The strategy.
    pub strategy: Option<StrategyName>,
    /// How the budget is divided between both ends.
    pub split: Option<Split>,
    /// Whether the reader can start a sub-agent and give it a file.
    pub task: Option<TaskTool>,
    /// Whether an output over the limits is shown as a terminal would show it.
    pub terminal: Option<Terminal>,
}

/// What the reader of an output accepts, by the outcome of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderLimits {
    /// When the output of a command that succeeded, or of another tool, is cut.
    pub success: Limits,
    /// When the output of a command that failed is cut.
    pub failure: Limits,
    /// How much of a cut output is shown, if less than the limits.
    pub preview: Limits,
    /// What counts as a character.
    pub char_convention: CharConvention,
}

/// A rule whose limits a profile accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CheckedRule(Rule);

impl CheckedRule {
    /// This rule; unset fields are taken from `base`.
    pub(crate) fn or(self, base: CheckedRule) -> CheckedRule {
        CheckedRule(self.0.or(base.0))
    }
}

/// Whether the reader of the preview has a tool that starts a sub-agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskTool {
    /// It has one.
    Available,
    /// It has none, or this is unknown.
    #[default]
    Absent,
}

impl Rule {
    /// This rule; unset fields are taken from `base`.
    pub fn or(self, base: Rule) -> Rule {
        Rule {
            enabled: self.enabled.or(base.enabled),
            limits: self.limits.or(base.limits),
            keep: self.keep.or(base.keep),
            strategy: self.strategy.or(base.strategy),
            split: self.split.or(base.split),
            task: self.task.or(base.task),
            terminal: self.terminal.or(base.terminal),
        }
    }
}

/// The wording of a source document's notice, with `{placeholders}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// Around a preview of the beginning.
    pub head: String,
    /// Around a preview of the end, and of several parts.
    pub tail: String,
    /// Around a preview with more than one gap, if `tail` does not suit it.
    pub parts: Option<String>,
    /// In place of a gap: `{gap}` is its size, such as `12 lines`, and `{gap_lines}` the number of its lines.
    pub join: String,
    /// How the part that is not shown is counted.
    pub removed: Removed,
    /// What to do next.
    pub hint: String,
    /// What to do next with a sub-agent, if the document has such a hint.
    pub hint_task: Option<String>,
    /// The hint when nothing was saved.
    pub hint_not_saved: String,
    /// What is shown instead when nothing was saved, if the document degrades to a simpler cut.
    pub not_saved: Option<NotSaved>,
}

/// How an output is shown that could not be saved: as much as the limits allow, by a simpler cut.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotSaved {
    /// Around the preview; `{failure}` is the next text if saving failed, and empty if no store is set.
    pub frame: String,
    /// What the frame adds if saving failed.
    pub failure: String,
    /// How the limits are divided between both ends.
    pub split: Split,
}

/// In which unit a source document says how much is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Removed {
    /// Bytes if the source document's loop would stop at the byte limit, else lines.
    Loop,
    /// Bytes if the loop would stop at the byte limit or the whole text exceeds it, else lines.
    LoopOrTotal,
    /// Characters.
    Chars,
}

/// The settings for one output: a profile with all rules applied.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Whether the output is bounded at all.
    pub enabled: bool,
    /// When it is cut.
    pub limits: Limits,
    /// When it is cut if its command failed.
    pub failure_limits: Limits,
    /// How much of a cut output is shown.
    pub keep: Limits,
    /// The strategy.
    pub strategy: StrategyName,
    /// How the budget is divided between both ends.
    pub split: Split,
    /// Where pieces may begin and end.
    pub edges: Edges,
    /// How lines and characters are counted.
    pub conventions: Conventions,
    /// Whether the reader can start a sub-agent.
    pub task: TaskTool,
    /// Whether the output is shown as a terminal would show it.
    pub terminal: Terminal,
    /// Whether the last lines, which say how the tool ended, are always shown.
    pub trailer: TrailingLines,
}

impl Settings {
    /// The settings when the outcome of the command is known.
    pub(crate) fn for_outcome(self, ending: &CommandEnd) -> Settings {
        match ending.is_failure() {
            true => {
                Settings { limits: self.failure_limits, keep: self.keep.at_most(self.failure_limits), ..self }
            }
            false => self,
        }
    }

    /// Settings that can be kept with either outcome.
    pub(crate) fn for_any_outcome(self) -> Settings {
        Settings {
            limits: self.limits.at_most(self.failure_limits),
            keep: self.keep.at_most(self.failure_limits),
            ..self
        }
    }
}

/// Whether the last lines of a result, which say how its tool ended, are always shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrailingLines {
    /// They are shown if the strategy chooses them.
    #[default]
    AsChosen,
    /// They are always shown.
    Kept,
}

/// How a profile treats tool results, apart from cutting their text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Results {
    /// A result whose tool says that it has bounded it itself.
    pub handled: Treatment,
    /// A result that is an error.
    pub errors: Treatment,
    /// A result of a tool for which shortening is switched off: if it is not passed, it is marked like one that fits.
    pub disabled: Treatment,
    /// A result that fits.
    pub whole: Marking,
    /// The names of the fields that report a cut of a [`ToolOutput`](crate::results::ToolOutput).
    pub metadata: MetadataNames,
}

/// The names of the metadata fields that report a cut. A field without a name is not written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetadataNames {
    /// Where the full output is.
    pub path: String,
    /// How many lines are not shown, if the output is within the byte limit.
    pub removed_lines: Option<String>,
    /// How many bytes are not shown, if the output is over the byte limit.
    pub removed_bytes: Option<String>,
}

impl Default for MetadataNames {
    /// The names of the coding agent (seed 000 §7.1).
    fn default() -> Self {
        MetadataNames {
            path: "truncationPath".to_owned(),
            removed_lines: Some("truncationRemovedLines".to_owned()),
            removed_bytes: Some("truncationRemovedBytes".to_owned()),
        }
    }
}

/// Whether results of one kind are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Treatment {
    /// They are bounded like any other.
    #[default]
    Bounded,
    /// They pass unchanged.
    Passed,
}

/// Whether a result that fits is marked as not truncated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marking {
    /// It passes unchanged, byte for byte.
    #[default]
    Untouched,
    /// A field says that it was not cut, if its shape has such a field.
    Marked,
}

impl Profile {
    /// offcut's own profile. `profiles/native.toml` has the same values.
    pub fn native() -> Profile {
        Profile {
            name: "native".to_owned(),
            about: "offcut's own: the lines that matter, a notice within the budget".to_owned(),
            limits: Limits { lines: Some(1900), bytes: Some(9500), ..Limits::default() },
            failure_limits: None,
            keep: Limits::default(),
            strategy: StrategyName::Auto,
            split: Split { head: 1, tail: 2 },
            edges: Edges::FillLongLines,
            floor: Floor::Notice,
            terminal: Terminal::Rendered,
            conventions: ConventionNames::default(),
            tools: BTreeMap::new(),
            file_name: "{id}.txt".to_owned(),
            retention_days: Some(7),
            seed_directory: None,
            leftovers: None,
            relative_paths: false,
            environment: BTreeMap::new(),
            results: Results::default(),
            wording: None,
        }
    }

    /// This profile with the limits of the agent that reads its previews. Rules of the caller come before them.
    ///
    /// ```
    /// use offcut::measure::CharConvention;
    /// use offcut::{CommandEnd, Context, Limits, Profile, ReaderLimits, Truncator};
    ///
    /// # fn main() -> Result<(), offcut::limits::LimitError> {
    /// let chars = |most| Limits { chars: Some(most), ..Limits::default() };
    /// let limits = ReaderLimits {
    ///     success: chars(30_000),
    ///     failure: chars(10_000),
    ///     preview: Limits::default(),
    ///     char_convention: CharConvention::Utf16,
    /// };
    /// let truncator = Truncator::new(Profile::native().with_limits(limits)?);
    /// let mut spool = truncator.spool(Context::tool("bash"));
    /// spool.observe("a line\n".repeat(2000).as_bytes());
    /// let failed = CommandEnd { exit_code: Some(1), ..CommandEnd::default() };
    /// assert!(spool.finish_with(failed).content().len() <= 10_000);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_limits(self, limits: ReaderLimits) -> Result<Profile, LimitError> {
        let ReaderLimits { success, failure, preview, char_convention } = limits;
        Ok(Profile {
            limits: success.check(self.floor)?,
            failure_limits: Some(failure.check(self.floor)?),
            keep: preview.check(self.floor)?,
            conventions: ConventionNames { chars: char_convention, ..self.conventions },
            ..self
        })
    }

    /// The name by which it is chosen.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line about it.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// How many days stored outputs are kept; `None` keeps them for ever.
    pub fn retention_days(&self) -> Option<u32> {
        self.retention_days
    }

    /// The same as an entry records it.
    pub fn retention(&self) -> Retention {
        self.retention_days.into()
    }

    pub(crate) fn set_retention(&mut self, retention: Retention) {
        self.retention_days = match retention {
            Retention::Days(days) => Some(days),
            Retention::Forever => None,
        };
    }

    /// The directory of the profile's source document, with `{data}`, `{home}` and `{project}`; used only on request.
    pub fn seed_directory(&self) -> Option<&str> {
        self.seed_directory.as_deref()
    }

    /// Which files the original tool left in that directory; used only on request.
    pub fn leftovers(&self) -> Option<&Leftovers> {
        self.leftovers.as_ref()
    }

    /// Whether paths below the root of the project are shown relative to it ([`Truncator::project_root`]).
    ///
    /// [`Truncator::project_root`]: crate::Truncator::project_root
    pub fn has_relative_paths(&self) -> bool {
        self.relative_paths
    }

    /// Environment variables of the profile's source document, and the configuration key that each one sets.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// How tool results are treated.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// The wording of the profile's source document; `None` for offcut's own notices.
    pub fn wording(&self) -> Option<&Frames> {
        self.wording.as_ref()
    }

    /// The template for names of stored files.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Whether a preview says why its output was not stored.
    pub fn reports_store_errors(&self) -> bool {
        self.wording.as_ref().is_none_or(|frames| {
            let text =
                frames.not_saved.as_ref().map_or(&frames.hint_not_saved, |not_saved| &not_saved.failure);
            text.contains("{error}")
        })
    }

    /// The settings for an output of `tool`. For each key, the caller's rule comes before the profile's rule for the tool,
    /// and that before the profile's own value.
    pub fn settings(&self, tool: Option<&str>, caller: Rule) -> Result<Settings, LimitError> {
        Ok(self.resolve(tool, self.check(caller)?))
    }

    /// Checks that the profile accepts the limits of a rule.
    ///
    /// A merged rule needs no further check: each of its limits comes from a rule that was checked.
    pub(crate) fn check(&self, rule: Rule) -> Result<CheckedRule, LimitError> {
        rule.limits.check(self.floor)?;
        rule.keep.check(self.floor)?;
        Ok(CheckedRule(rule))
    }

    /// Like [`settings`](Profile::settings), for a rule that was checked.
    pub(crate) fn resolve(&self, tool: Option<&str>, CheckedRule(caller): CheckedRule) -> Settings {
        let of_tool = tool.and_then(|tool| self.tools.get(tool)).copied().unwrap_or_default();
        let rule = caller.or(of_tool);
        let limits = rule.limits.or(self.limits).without_unlimited();
        let failure_limits = rule.limits.or(self.failure_limits.unwrap_or(self.limits)).without_unlimited();
        let keep = rule.keep.or(self.keep).without_unlimited().or(limits).at_most(limits);
        Settings {
            // Without any limit, every output fits.
            enabled: rule.enabled.unwrap_or(true)
                && (limits != Limits::default() || failure_limits != Limits::default()),
            limits,
            failure_limits,
            keep,
            strategy: rule.strategy.unwrap_or(self.strategy),
            split: rule.split.unwrap_or(self.split),
            edges: self.edges,
            conventions: Conventions { lines: self.conventions.lines, chars: self.conventions.chars },
            task: rule.task.unwrap_or_default(),
            terminal: rule.terminal.unwrap_or(self.terminal),
            trailer: TrailingLines::AsChosen,
        }
    }
}
