//! What is said about how long outputs are kept.

use clap::Args;
use offcut::limits::parse_size;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Pinning {
    /// Ids, unique beginnings of ids, `last`, `last-1`, or paths of kept files
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Let go of them instead
    #[arg(long)]
    pub(crate) remove: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Clean {
    /// Remove what is older: 7d, 36h, 90m
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<Duration>,
    /// Remove the oldest while more bytes than this are kept
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) max_total: Option<u64>,
    /// Remove the oldest while more outputs than this are kept
    #[arg(long, value_name = "N", value_parser = parse_size)]
    pub(crate) max_entries: Option<u64>,
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only if nobody did it today
    #[arg(long, hide = true)]
    pub(crate) auto: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Count tokens instead of estimating them
    #[arg(long)]
    pub(crate) tokens: bool,
}

/// An age such as `7d` or `36h`; a day has 24 hours.
fn parse_age(text: &str) -> Result<Duration, String> {
    let error = || format!("{text:?} is not an age: write 7d, 36h or 90m");
    let span: jiff::Span = text.parse().map_err(|_| error())?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| error())?;
    Duration::try_from(duration).map_err(|_| error())
}

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Ids, unique beginnings of ids, `last`, `last-1`, or paths of kept files
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
}
