//! Adds up the records of the ledger by day, agent, host or tool.

use crate::ledger::{Record, RecordedEvent, local_day};
use clap::ValueEnum;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// What the records of one row have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    #[default]
    #[value(hide = true)]
    DayAndTool,
    Day,
    Agent,
    Host,
    Tool,
}

/// The values that distinguish a row; those by which records are not grouped are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Group {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) day: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) agent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) host: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) tool: String,
}

/// The sums of one row. The names in JSON are those of earlier versions: `spared` (saved) and `alone` (without offcut).
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) group: Group,
    /// All outputs, also those that were within the limits.
    pub(super) calls: u64,
    /// The outputs that were cut. The other numbers are about these.
    pub(super) outputs: u64,
    /// Those of them that could not be stored.
    pub(super) not_kept: u64,
    pub(super) original_bytes: u64,
    pub(super) shown_bytes: u64,
    /// How much of them was read later.
    pub(super) read_bytes: u64,
    /// The difference to the whole outputs, less what was read later.
    #[serde(rename = "spared_bytes")]
    pub(super) saved_bytes: i64,
    #[serde(rename = "spared_tokens")]
    pub(super) saved_tokens: i64,
    /// The same for the outputs of known agents, compared with what they show without offcut.
    #[serde(rename = "alone")]
    pub(super) without_offcut: WithoutOffcut,
}

/// What agents would have shown without offcut, and what is saved in comparison.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct WithoutOffcut {
    pub(super) outputs: u64,
    pub(super) bytes: u64,
    pub(super) shown_bytes: u64,
    #[serde(rename = "spared_bytes")]
    pub(super) saved_bytes: i64,
    #[serde(rename = "spared_tokens")]
    pub(super) saved_tokens: i64,
}

impl Row {
    pub(super) fn add(&mut self, other: &Row) {
        self.calls += other.calls;
        self.outputs += other.outputs;
        self.not_kept += other.not_kept;
        self.original_bytes += other.original_bytes;
        self.shown_bytes += other.shown_bytes;
        self.read_bytes += other.read_bytes;
        self.saved_bytes += other.saved_bytes;
        self.saved_tokens += other.saved_tokens;
        self.without_offcut.outputs += other.without_offcut.outputs;
        self.without_offcut.bytes += other.without_offcut.bytes;
        self.without_offcut.shown_bytes += other.without_offcut.shown_bytes;
        self.without_offcut.saved_bytes += other.without_offcut.saved_bytes;
        self.without_offcut.saved_tokens += other.without_offcut.saved_tokens;
    }

    /// The sizes of one output that was cut.
    fn of_output(record: &Record) -> Row {
        Row {
            calls: 1,
            outputs: 1,
            original_bytes: record.bytes,
            shown_bytes: record.shown,
            ..Row::default()
        }
    }

    /// The sums of one output that was cut and stored. `hidden` is the number of tokens that were not shown, if they were counted.
    fn of_cut(record: &Record, hidden: Option<u64>) -> Row {
        let (bytes, shown) = (signed(record.bytes), signed(record.shown));
        let counted = record.tokens.zip(record.shown_tokens).map(|(all, shown)| signed(all) - signed(shown));
        let sums = record.without_offcut.map(|without_offcut| WithoutOffcut {
            outputs: 1,
            bytes: without_offcut,
            shown_bytes: record.shown,
            saved_bytes: signed(without_offcut) - shown,
            saved_tokens: tokens(signed(without_offcut) - shown),
        });
        Row {
            saved_bytes: bytes - shown,
            saved_tokens: hidden.map(signed).or(counted).unwrap_or_else(|| tokens(bytes - shown)),
            without_offcut: sums.unwrap_or_default(),
            ..Row::of_output(record)
        }
    }

    /// What was read later of an output that was cut. An agent that reads it saves less.
    fn of_reading(record: &Record, is_of_agent: bool) -> Row {
        let bytes = signed(record.bytes);
        let sums =
            WithoutOffcut { saved_bytes: -bytes, saved_tokens: -tokens(bytes), ..WithoutOffcut::default() };
        Row {
            read_bytes: record.bytes,
            saved_bytes: -bytes,
            saved_tokens: -tokens(bytes),
            without_offcut: if is_of_agent { sums } else { WithoutOffcut::default() },
            ..Row::default()
        }
    }
}

/// An estimate: a token is about four bytes.
fn tokens(bytes: i64) -> i64 {
    bytes.signum() * signed(bytes.unsigned_abs().div_ceil(4))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The sums of all rows.
pub(super) struct Sums {
    by: GroupBy,
    rows: BTreeMap<Group, Row>,
    /// The group of each output that was cut, for later readings, and whether its agent is known.
    groups: HashMap<String, (Group, bool)>,
}

impl Sums {
    pub(super) fn new(by: GroupBy) -> Sums {
        Sums { by, rows: BTreeMap::new(), groups: HashMap::new() }
    }

    /// Adds a record. `hidden` is the number of tokens of the output that were not shown, if they were counted.
    pub(super) fn add(&mut self, record: &Record, hidden: Option<u64>) {
        let read = record.id.as_ref().filter(|_| record.event == RecordedEvent::Read);
        let known = read.and_then(|id| self.groups.get(id).cloned());
        let (group, is_of_agent) = known.unwrap_or_else(|| (self.group(record), record.agent.is_some()));
        let sums = match record.event {
            RecordedEvent::Passed => Row { calls: 1, ..Row::default() },
            RecordedEvent::Cut => Row::of_cut(record, hidden),
            // What was not shown is lost, which saves nothing.
            RecordedEvent::NotKept => Row { not_kept: 1, ..Row::of_output(record) },
            RecordedEvent::Read => Row::of_reading(record, is_of_agent),
        };
        if let (RecordedEvent::Cut, Some(id)) = (record.event, &record.id) {
            self.groups.insert(id.clone(), (group.clone(), record.without_offcut.is_some()));
        }
        self.rows.entry(group.clone()).or_insert_with(|| Row { group, ..Row::default() }).add(&sums);
    }

    fn group(&self, record: &Record) -> Group {
        let name = |name: &Option<String>| {
            name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| "-".to_owned())
        };
        let day = || local_day(record.time);
        match self.by {
            GroupBy::DayAndTool => Group { day: day(), tool: name(&record.tool), ..Group::default() },
            GroupBy::Day => Group { day: day(), ..Group::default() },
            GroupBy::Agent => Group { agent: name(&record.agent), ..Group::default() },
            GroupBy::Host => Group { host: name(&record.host), ..Group::default() },
            GroupBy::Tool => Group { tool: name(&record.tool), ..Group::default() },
        }
    }

    /// The rows, the newest day first.
    pub(super) fn rows(&self) -> Vec<&Row> {
        match self.by {
            GroupBy::DayAndTool | GroupBy::Day => self.rows.values().rev().collect(),
            GroupBy::Agent | GroupBy::Host | GroupBy::Tool => self.rows.values().collect(),
        }
    }

    pub(super) fn total(&self) -> Row {
        let mut total = Row::default();
        self.rows.values().for_each(|row| total.add(row));
        total
    }
}
