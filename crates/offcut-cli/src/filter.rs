//! The options by which `offcut ls` and `offcut rm` choose stored outputs.

use crate::arguments::{foreign, parse_age};
use crate::failure::Failure;
use crate::pattern::regex_or_text;
use clap::Args;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use jiff::civil::{Date, DateTime};
use jiff::{Timestamp, Zoned, tz::TimeZone};
use offcut::retrieve;
use offcut::store::{Condition, Entry, EntryFilter, Id, Store};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which outputs are wanted: those that satisfy every option.
#[derive(Debug, Default, PartialEq, Eq, Args)]
#[group(id = "filter", multiple = true)]
#[command(next_help_heading = "Filters")]
pub(crate) struct Filter {
    /// Only outputs whose command failed: exit status other than 0, or ended by a signal
    #[arg(long)]
    failed: bool,
    /// Only outputs whose command line or tool input matches this regular expression; lower case matches upper case too
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    grep: Option<String>,
    /// Only outputs of this agent
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    agent: Option<String>,
    /// Only outputs of this session
    #[arg(long, value_name = "ID", value_parser = foreign(), allow_hyphen_values = true)]
    session: Option<String>,
    /// Only outputs of commands that ran in the current directory or below it
    #[arg(long)]
    here: bool,
    /// Only outputs since then: 1d, 2h, 30m, today, 2026-11-15, or '2026-11-15 14:30'
    #[arg(long, value_name = "AGE|DATE", value_parser = parse_since)]
    since: Option<SystemTime>,
    /// Only outputs of this day: today, yesterday, or 2026-11-15
    #[arg(long, value_name = "DATE", value_parser = parse_day)]
    day: Option<Date>,
    /// Only outputs of this tool
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    tool: Option<String>,
    /// Only outputs of this machine
    #[arg(long, value_name = "NAME", value_parser = foreign(), allow_hyphen_values = true)]
    host: Option<String>,
    /// Only outputs older than this one
    #[arg(long, value_name = "ID")]
    before: Option<String>,
}

impl Filter {
    /// Whether every output is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// The filter as stores apply it.
    pub(crate) fn for_store(&self, store: &dyn Store) -> Result<EntryFilter, Failure> {
        let day = self.day.map(bounds).transpose()?;
        let before = self.before.as_deref().map(|reference| match Id::parse(reference) {
            Some(id) => Ok(id),
            None => retrieve::resolve(store, reference),
        });
        Ok(EntryFilter {
            tool: self.tool.clone(),
            session: self.session.clone(),
            host: self.host.clone(),
            from: day.map(|(from, _)| from).max(self.since),
            until: day.map(|(_, until)| until),
            before: before.transpose()?,
            condition: self.condition()?,
            limit: None,
        })
    }

    /// The options that need the metadata of an entry.
    fn condition(&self) -> Result<Option<Condition>, Failure> {
        if !self.failed && !self.here && self.agent.is_none() && self.grep.is_none() {
            return Ok(None);
        }
        let (is_failed, agent) = (self.failed, self.agent.clone());
        let directory = match self.here {
            true => Some(std::env::current_dir().map_err(|error| {
                Failure::Usage(anyhow::Error::new(error).context("cannot find the current directory"))
            })?),
            false => None,
        };
        let pattern = self.grep.as_deref().map(command_pattern).transpose()?;
        Ok(Some(Condition::new(move |entry| {
            (!is_failed || has_failed(entry))
                && (agent.is_none() || entry.context.agent == agent)
                && directory.as_ref().is_none_or(|directory| is_below(entry, directory))
                && pattern.as_ref().is_none_or(|pattern| matches_command(entry, pattern))
        })))
    }
}

/// When a day begins and ends, where the user is.
fn bounds(day: Date) -> Result<(SystemTime, SystemTime), Failure> {
    let start = day.to_zoned(TimeZone::system());
    let end = start.clone().and_then(|start| start.tomorrow());
    let invalid = |error: jiff::Error| Failure::Usage(anyhow::anyhow!("cannot use the day {day}: {error}"));
    Ok((start.map_err(invalid)?.timestamp().into(), end.map_err(invalid)?.timestamp().into()))
}

/// Whether the command of an entry failed.
pub(crate) fn has_failed(entry: &Entry) -> bool {
    entry
        .summary
        .as_ref()
        .is_some_and(|summary| summary.signal.is_some() || summary.exit_code.is_some_and(|code| code != 0))
}

fn is_below(entry: &Entry, directory: &PathBuf) -> bool {
    entry.context.origin.directory.as_ref().is_some_and(|found| Path::new(found).starts_with(directory))
}

fn matches_command(entry: &Entry, pattern: &RegexMatcher) -> bool {
    let command = entry.context.origin.command.as_deref();
    command.is_some_and(|command| pattern.is_match(command.as_bytes()).unwrap_or(false))
}

fn command_pattern(pattern: &str) -> Result<RegexMatcher, Failure> {
    let matcher = RegexMatcherBuilder::new().case_smart(true).build(&regex_or_text(pattern));
    matcher.map_err(|error| Failure::Usage(error.into()))
}

/// Parses a time: an age such as `2h`, a day, or a local time.
pub(crate) fn parse_since(text: &str) -> Result<SystemTime, String> {
    if let Ok(age) = parse_age(text) {
        return SystemTime::now().checked_sub(age).ok_or_else(|| "this is too long ago".to_owned());
    }
    let local = parse_day(text).map(DateTime::from).or_else(|_| text.parse());
    let time = local.ok().and_then(|time| time.to_zoned(TimeZone::system()).ok());
    time.map(|time| time.timestamp())
        .or_else(|| text.parse::<Timestamp>().ok())
        .map(SystemTime::from)
        .ok_or_else(|| "expected an age or a date, for example 1d, 2h, today or 2026-11-15".to_owned())
}

fn parse_day(text: &str) -> Result<Date, String> {
    let today = || Zoned::now().date();
    match text {
        "today" => Ok(today()),
        "yesterday" => today().yesterday().map_err(|error| error.to_string()),
        _ => {
            text.parse().map_err(|_| "expected a date, for example 2026-11-15, today or yesterday".to_owned())
        }
    }
}
