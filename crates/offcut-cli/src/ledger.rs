//! The ledger: what happened to each output on this machine, one line of JSON each. `offcut stats` adds it up.
//!
//! Cleaning does not remove it. It contains sizes and names, but no command lines and no output. Writers only append, each
//! record with one system call, so several can write at once. If a writer was killed in the middle, the next one starts a new
//! line, so that only the record of the first is lost.

use crate::agents::{self, Agent, CommandOutcome, ToolKind};
use etcetera::{BaseStrategy, choose_base_strategy};
use jiff::{Timestamp, tz::TimeZone};
use offcut::store::Entry;
use offcut::{Context, Event, EventSink};
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Outputs that could not be stored longer ago are not mentioned without being asked for.
const LATELY: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What happened to one output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Seconds since 1970.
    pub(crate) time: i64,
    pub(crate) event: RecordedEvent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    /// The stored output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// The size of the output; of a reading, how much was read.
    pub(crate) bytes: u64,
    /// How much was shown of it.
    pub(crate) shown: u64,
    /// How much the agent would have shown without offcut, if that is known.
    #[serde(default, rename = "alone", skip_serializing_if = "Option::is_none")]
    pub(crate) without_offcut: Option<u64>,
    /// The sizes in tokens, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shown_tokens: Option<u64>,
    /// Why it was not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecordedEvent {
    /// It was within the limits, or exempt.
    #[default]
    Passed,
    /// It was cut.
    Cut,
    /// It was cut, and could not be stored.
    NotKept,
    /// A part of a stored output was read.
    Read,
}

/// Appends to the ledger. Errors are ignored: an output matters more than its record.
pub(crate) struct Ledger {
    pub(crate) directory: PathBuf,
    /// Who reads the outputs.
    pub(crate) agent: Option<&'static Agent>,
    pub(crate) tool: ToolKind,
    pub(crate) host: Option<String>,
}

impl Ledger {
    /// Records an event at this time.
    fn record(&self, event: &Event<'_>, time: Timestamp) -> Option<Record> {
        let call = |event, context: &Context, bytes, shown| Record {
            time: time.as_second(),
            event,
            agent: self.agent.map(|agent| agent.name.to_owned()).or_else(|| context.agent.clone()),
            host: self.host.clone(),
            session: context.session.clone(),
            tool: context.tool.clone(),
            bytes,
            shown,
            ..Record::default()
        };
        Some(match *event {
            // The shell has recorded it, before the agent called the hook.
            Event::Passed { context, .. } | Event::Skipped { context, .. } if self.is_of_shell(context) => {
                return None;
            }
            Event::Passed { context, bytes } | Event::Skipped { context, bytes } => {
                call(RecordedEvent::Passed, context, bytes, bytes)
            }
            Event::Truncated { context, original, content, entry, .. } => {
                let record = call(RecordedEvent::Cut, context, original, content);
                match entry {
                    Some(entry) => record.with_entry(entry, self.tool),
                    None => record.with_size(original, None, CommandOutcome::Success, self.tool),
                }
            }
            Event::Error { context, original, content, error } => Record {
                error: Some(error.chars().take(200).collect()),
                ..call(RecordedEvent::NotKept, context, original, content).with_size(
                    original,
                    None,
                    CommandOutcome::Success,
                    self.tool,
                )
            },
            Event::Retrieved { id, start, end } => {
                let bytes = end.saturating_sub(start);
                let record = call(RecordedEvent::Read, &Context::default(), bytes, bytes);
                Record { id: Some(id.to_string()), ..record }
            }
            _ => return None,
        })
    }

    /// Whether a hook got the output of the agent's shell.
    fn is_of_shell(&self, context: &Context) -> bool {
        let hooks = self.agent.and_then(|agent| agent.hooks.as_ref());
        self.tool == ToolKind::Other
            && hooks.is_some_and(|hooks| context.tool.as_deref() == Some(hooks.shell_tool))
    }

    fn append(&self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let mut file = self.open(record.time).or_else(|error| match error.kind() {
            ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
                self.open(record.time)
            }
            _ => Err(error),
        })?;
        if !ends_with_line_feed(&file)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line)
    }

    fn open(&self, time: i64) -> io::Result<File> {
        let name = file_name(Timestamp::from_second(time).map_err(io::Error::other)?);
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(self.directory.join(name))
    }
}

impl EventSink for Ledger {
    fn emit(&self, event: &Event<'_>) {
        if let Some(record) = self.record(event, now()) {
            let _ = self.append(&record);
        }
    }
}

impl Record {
    /// The record of an output that is in a store, but not in the ledger: it was stored by another machine or in a sandbox.
    pub(crate) fn of_entry(entry: &Entry) -> Option<Record> {
        // Of an output that nobody was shown, nothing was saved.
        let summary = entry.summary.as_ref().filter(|summary| !summary.is_unseen())?;
        let context = &entry.context;
        let record = Record {
            time: Timestamp::try_from(entry.created).ok()?.as_second(),
            event: RecordedEvent::Cut,
            agent: context.agent.clone(),
            host: entry.host.clone(),
            session: context.session.clone(),
            tool: context.tool.clone(),
            bytes: summary.original.bytes,
            shown: summary.shown.bytes,
            ..Record::default()
        };
        // The name of the tool that agents use for their shell, or none for `offcut run`.
        let tool = match context.tool.as_deref() {
            None | Some("bash") => ToolKind::Shell,
            Some(_) => ToolKind::Other,
        };
        Some(record.with_entry(entry, tool))
    }

    fn with_entry(self, entry: &Entry, tool: ToolKind) -> Record {
        let record = Record { id: Some(entry.id.to_string()), ..self };
        let Some(summary) = &entry.summary else { return record };
        let outcome = match (summary.exit_code, summary.signal) {
            (None | Some(0), None) => CommandOutcome::Success,
            _ => CommandOutcome::Failure,
        };
        let bytes = record.bytes;
        Record {
            tokens: summary.original.tokens,
            shown_tokens: summary.shown.tokens,
            ..record.with_size(bytes, Some(summary.original.lines), outcome, tool)
        }
    }

    fn with_size(self, bytes: u64, lines: Option<u64>, outcome: CommandOutcome, tool: ToolKind) -> Record {
        let agent = self.agent.as_deref().and_then(agents::named);
        Record {
            without_offcut: agent.and_then(|agent| agent.shows_without_offcut(tool, outcome, bytes, lines)),
            ..self
        }
    }
}

/// The directory of the ledger: one file per month.
pub(crate) fn directory() -> Option<PathBuf> {
    let base = choose_base_strategy().ok()?;
    Some(base.state_dir().unwrap_or_else(|| base.data_dir()).join("offcut").join("ledger"))
}

/// The name of the file with the records of this time.
fn file_name(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y-%m.jsonl").to_string()
}

/// Whether a record can follow: the file is empty, or its last line is complete.
fn ends_with_line_feed(file: &File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(end) = file.metadata()?.len().checked_sub(1) {
        file.read_at(&mut last, end)?;
    }
    Ok(last == [b'\n'])
}

/// The time, or 1970 if a wrong clock shows a year after 9999.
pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(SystemTime::now()).unwrap_or_default()
}

/// The time before now.
fn ago(age: Duration) -> Timestamp {
    now().saturating_sub(age).unwrap_or(Timestamp::MIN)
}

/// The day of a time in seconds since 1970, where the user is.
pub(crate) fn local_day(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

/// Says how many outputs could not be stored lately, if there are any.
pub(crate) fn not_kept() -> Option<String> {
    let mut count = 0;
    // Without a ledger, none is known.
    let _ = read(Some(ago(LATELY)), |record| count += u64::from(record.event == RecordedEvent::NotKept));
    let days = LATELY.as_secs() / (24 * 60 * 60);
    (count > 0)
        .then(|| format!("Not kept: {count} (in the last {days} days; see `offcut stats --since {days}d`)"))
}

/// Calls a function for each record since a time, the oldest first. Lines that are no records are ignored.
pub(crate) fn read(since: Option<Timestamp>, each: impl FnMut(Record)) -> io::Result<()> {
    directory().map_or(Ok(()), |directory| read_directory(&directory, since, each))
}

fn read_directory(
    directory: &Path,
    since: Option<Timestamp>,
    mut each: impl FnMut(Record),
) -> io::Result<()> {
    let first = since.map(file_name).unwrap_or_default();
    let mut files: Vec<PathBuf> = match std::fs::read_dir(directory) {
        Ok(files) => files.collect::<io::Result<Vec<_>>>()?.into_iter().map(|file| file.path()).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    files.retain(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.ends_with(".jsonl") && name >= first.as_str()
    });
    files.sort();
    let since = since.map_or(i64::MIN, Timestamp::as_second);
    for file in files {
        let mut lines = BufReader::new(File::open(file)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if let Ok(record) = serde_json::from_slice::<Record>(&line)
                && record.time >= since
            {
                each(record);
            }
            line.clear();
        }
    }
    Ok(())
}
