//! Arguments of the commands that protect, remove and count stored outputs.

use crate::command::GroupBy;
use crate::filter::{Filter, parse_since};
use clap::Args;
use offcut::limits::parse_size;
use std::time::{Duration, SystemTime};

#[derive(Debug, Args)]
pub(crate) struct Pinning {
    /// Ids, unique id prefixes, `last`, `last-1`, or paths of stored files
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Unpin them
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unpinning {
    /// Ids, unique id prefixes, `last`, `last-1`, or paths of stored files
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Remove outputs older than this, also those that their profile keeps longer: 7d, 36h, 90m
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<Duration>,
    /// Remove the oldest outputs until at most this many bytes are stored
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_total: Option<u64>,
    /// Remove the oldest outputs until at most this many are stored
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_entries: Option<u64>,
    /// Also remove expired files that the original tool of the profile left in the store's directory: opencode,
    /// coding-agent
    #[arg(long, conflicts_with = "auto")]
    pub(crate) adopt: bool,
    /// Print what would be removed without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do nothing if the store was cleaned within the last day
    #[arg(long, hide = true)]
    pub(crate) auto: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Count only outputs since then: 30d, 12h, today, 2026-11-15, or '2026-11-15 14:30'
    #[arg(long, value_name = "AGE|DATE", value_parser = parse_since)]
    pub(crate) since: Option<SystemTime>,
    /// Print one row for each of these, instead of each tool and day
    #[arg(long, value_name = "WHAT", default_value = "day-and-tool", hide_default_value = true)]
    pub(crate) by: GroupBy,
    /// Read the stored outputs and count tokens exactly instead of estimating them
    #[arg(long)]
    pub(crate) tokens: bool,
}

/// Parses an age such as `7d` or `36h`; a day has 24 hours.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let error = || "expected an age, for example 7d, 36h or 90m".to_owned();
    let span: jiff::Span = text.parse().map_err(|_| error())?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| error())?;
    Duration::try_from(duration).map_err(|_| error())
}

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Ids, unique id prefixes, `last`, `last-1`, or paths of stored files
    #[arg(value_name = "ID", required_unless_present = "filter", conflicts_with = "filter")]
    pub(crate) ids: Vec<String>,
    /// Also delete outputs that are pinned or still being written
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Delete what the filters choose without asking
    #[arg(short, long, requires = "filter")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) filter: Filter,
}
