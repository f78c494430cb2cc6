//! Arguments that control how an output is shortened, and those of `offcut run`.

use anyhow::Context as _;
use clap::Args;
use offcut::limits::parse_limit;
use offcut::permission::Permissions;
use offcut::profile::{TaskTool, presets};
use offcut::strategy::StrategyName;
use offcut::terminal::Terminal;
use offcut::{Context, Limits, Rule};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct CutInput {
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// The files to shorten, each to its own preview; `-` is standard input [default: -]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["shell", "command"]))]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// Run this command line in your shell ($SHELL, or /bin/sh)
    #[arg(long, value_name = "LINE", allow_hyphen_values = true)]
    pub(crate) shell: Option<OsString>,
    /// Shorten standard output and standard error separately
    #[arg(long)]
    pub(crate) split: bool,
    /// Stop the command after this time: 30s, 5m, 1h30m, or a number of seconds
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,
    /// Store at most this much of the output of background processes; `max_output` also applies
    #[arg(long, value_name = "N", value_parser = parse_limit, default_value = "1GiB")]
    pub(crate) background_cap: u64,
    /// The command and its arguments; options of offcut come before it
    #[arg(trailing_var_arg = true, value_name = "CMD", value_hint = clap::ValueHint::CommandWithArguments)]
    pub(crate) command: Vec<OsString>,
}

/// Parses a time such as `30s`, `5m`, `1h30m` or `90`. Zero and negative times are errors.
fn parse_time(text: &str) -> Result<Duration, String> {
    let error = || "expected a positive time, for example 30s, 5m, 1h30m, or a number of seconds".to_owned();
    let time = match text.parse::<u32>() {
        Ok(seconds) => Duration::from_secs(u64::from(seconds)),
        Err(_) => {
            let time: jiff::SignedDuration = text.parse().map_err(|_| error())?;
            Duration::try_from(time).map_err(|_| error())?
        }
    };
    if time.is_zero() { Err(error()) } else { Ok(time) }
}

/// Options that control how one output is shortened.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Cut {
    /// Name of the tool that printed the text
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) tool: Option<String>,
    /// Id of the tool call
    #[arg(long, value_name = "ID", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) call_id: Option<String>,
    /// Id of the message that contains the tool call
    #[arg(long, value_name = "ID", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) message_id: Option<String>,
    /// Id of the session
    #[arg(long, value_name = "ID", value_parser = foreign(), allow_hyphen_values = true)]
    pub(crate) session: Option<String>,
    /// Append one line of JSON per decision to this file; `stderr` prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Use the limits for this kind of output: code, log, error
    #[arg(long, value_name = "NAME", value_parser = ["code", "log", "error"])]
    pub(crate) preset: Option<String>,
    /// Choose which part of a longer text to show
    #[arg(long, value_name = "NAME", value_parser = strategy())]
    pub(crate) strategy: Option<StrategyName>,
    /// State that the reader can start a sub-agent; notices then suggest one
    #[arg(long, overrides_with = "no_task")]
    pub(crate) task: bool,
    /// State that the reader cannot start a sub-agent
    #[arg(long, overrides_with = "task")]
    pub(crate) no_task: bool,
    /// Read from an OpenCode agent's permission rules whether the reader can start a sub-agent
    #[arg(long, value_name = "JSON|FILE", value_parser = permissions)]
    pub(crate) permissions: Option<TaskTool>,
    /// Show escape sequences, progress frames and binary bytes as they are
    #[arg(long)]
    pub(crate) raw: bool,
    /// Also shorten outputs of tools that the profile or the configuration exempts
    #[arg(long)]
    pub(crate) force: bool,
    /// Show at most this many lines; `none` switches the limit off
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_hyphen_values = true)]
    pub(crate) max_lines: Option<u64>,
    /// Show at most this many bytes: 9500, 50KiB, 8k
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_hyphen_values = true)]
    pub(crate) max_bytes: Option<u64>,
    /// Show at most this many characters
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_hyphen_values = true)]
    pub(crate) max_chars: Option<u64>,
    #[cfg_attr(feature = "tokens", doc = "Show at most this many tokens")]
    #[cfg_attr(not(feature = "tokens"), doc = "Show at most this many tokens (estimated)")]
    #[arg(long, value_name = "N", value_parser = parse_limit, allow_hyphen_values = true)]
    pub(crate) max_tokens: Option<u64>,
}

impl Cut {
    /// The rule given by the flags; they take precedence over the preset.
    pub(crate) fn rule(&self) -> Rule {
        let preset = self.preset.as_ref().and_then(|name| presets().get(name).copied()).unwrap_or_default();
        let flags = Rule {
            enabled: self.force.then_some(true),
            limits: Limits {
                lines: self.max_lines,
                bytes: self.max_bytes,
                chars: self.max_chars,
                tokens: self.max_tokens,
            },
            strategy: self.strategy,
            task: match (self.task, self.no_task) {
                (true, _) => Some(TaskTool::Available),
                (_, true) => Some(TaskTool::Absent),
                _ => self.permissions,
            },
            terminal: self.raw.then_some(Terminal::Raw),
            ..Rule::default()
        };
        flags.or(preset)
    }

    pub(crate) fn context(&self) -> Context {
        Context {
            tool: self.tool.clone(),
            call_id: self.call_id.clone(),
            message_id: self.message_id.clone(),
            session: self.session.clone(),
            ..Context::default()
        }
    }
}

/// Reads permission rules: JSON, or the path of a file with it.
fn permissions(given: &str) -> Result<TaskTool, anyhow::Error> {
    let is_json = given.trim_start().starts_with(['{', '[', '"']);
    let rules = match is_json {
        true => given.to_owned(),
        false => std::fs::read_to_string(given).with_context(|| format!("cannot read {given}"))?,
    };
    Ok(Permissions::parse(&rules)?.task_tool())
}

/// Accepts any bytes: names come from other programs, and an odd name must not prevent shortening.
pub(crate) fn foreign() -> impl clap::builder::TypedValueParser<Value = String> {
    use clap::builder::{OsStringValueParser, TypedValueParser};
    OsStringValueParser::new().map(|text| text.to_string_lossy().into_owned())
}

fn strategy() -> impl clap::builder::TypedValueParser<Value = StrategyName> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(StrategyName::ALL.iter().map(|name| name.as_str())).map(|name| {
        StrategyName::ALL.iter().copied().find(|known| known.as_str() == name).unwrap_or(StrategyName::Auto)
    })
}
