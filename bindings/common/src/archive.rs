//! Reading, searching and cleaning a store; answers are JSON reports ([`offcut::report`]).

use crate::fault::Fault;
use crate::place::Place;
use crate::report::without_nulls;
use offcut::Context;
use offcut::event::DiscardEvents;
use offcut::report::{EntryReport, PageReport, SearchReport};
use offcut::retention::{self, Candidate, Policy};
use offcut::retrieve::{self, PageLimits, Query, Range};
use offcut::store::{Entry, EntryFilter, Pin, Store};
use offcut::systems::coding_agent::{FileStorage, TruncationContext, TruncationStorage};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The context of `around` unless the caller says otherwise, in lines.
const CONTEXT: u64 = 20;

/// The outputs in a store.
pub struct Archive {
    store: Arc<dyn Store>,
    directory: String,
}

/// Which part of an entry to read.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ReadOptions {
    lines: Option<String>,
    bytes: Option<String>,
    around: Option<u64>,
    context: Option<u64>,
    #[serde(alias = "maxLines")]
    max_lines: Option<u64>,
    #[serde(alias = "maxBytes")]
    max_bytes: Option<u64>,
}

/// The library's report, with the time in seconds since 1970, and `status`, the packages' name for `state`.
fn entry_report(entry: &Entry) -> Value {
    let report = EntryReport::new(entry);
    let created = entry.created.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let status = report.state;
    let mut value = without_nulls(&report);
    value["created"] = created.as_secs_f64().into();
    value["status"] = status.into();
    value
}

impl Archive {
    /// The store in a directory; without one, the store of the command line.
    pub fn new(directory: Option<&str>) -> Result<Archive, Fault> {
        let place = Place::named(directory)?;
        let store = place.store()?;
        let directory = match place {
            Place::Directory(directory) => directory.display().to_string(),
            Place::Nowhere => String::new(),
        };
        Ok(Archive { store, directory })
    }

    /// The directory.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    fn entry(&self, reference: &str) -> Result<Entry, Fault> {
        let id = retrieve::resolve(&*self.store, reference)?;
        Ok(self.store.entry(&id)?)
    }

    /// One page of an entry, and the report on it.
    pub fn read(&self, reference: &str, options: &str) -> Result<(Vec<u8>, String), Fault> {
        let options: ReadOptions = serde_json::from_str(options)?;
        let context = options.context.unwrap_or(CONTEXT);
        let range =
            Range::from_options(options.lines.as_deref(), options.bytes.as_deref(), options.around, context)?;
        let default = PageLimits::default();
        let limits = PageLimits {
            bytes: options.max_bytes.unwrap_or(default.bytes).max(1),
            lines: options.max_lines.unwrap_or(default.lines).max(1),
        };
        let entry = self.entry(reference)?;
        let page = retrieve::page(&*self.store, &entry, range, limits, &DiscardEvents)?;
        let mut report = without_nulls(&PageReport::new(&entry, &page, Range::option));
        // In the packages, a complete page contains the whole requested range.
        report["complete"] = page.progress.is_satisfied().into();
        Ok((page.content, report.to_string()))
    }

    /// All bytes of an entry.
    pub fn cat(&self, reference: &str) -> Result<Vec<u8>, Fault> {
        let entry = self.entry(reference)?;
        let size = usize::try_from(entry.bytes)
            .map_err(|_| Fault::Invalid(format!("{} is too large for the memory", entry.id)))?;
        let mut content = vec![0; size];
        let count = self.store.read(&entry.id, 0, &mut content)?;
        content.truncate(count);
        Ok(content)
    }

    /// Searches one entry, or all entries if the reference is `all`.
    pub fn grep(&self, reference: &str, query: &str) -> Result<String, Fault> {
        let query: Query = serde_json::from_str(query)?;
        let ids = match reference {
            "all" => self.store.ids()?,
            one => vec![retrieve::resolve(&*self.store, one)?],
        };
        let result = retrieve::search(&*self.store, &ids, &query, PageLimits::default())?;
        Ok(serde_json::to_string(&SearchReport::new(&result))?)
    }

    /// All entries, newest first, except those that are removed meanwhile or cannot be read.
    pub fn list(&self) -> Result<String, Fault> {
        let entries = self.store.entries(&self.store.ids()?);
        let reports: Vec<Value> = entries.iter().rev().flatten().map(entry_report).collect();
        Ok(serde_json::to_string(&reports)?)
    }

    /// What is known about one entry.
    pub fn get(&self, reference: &str) -> Result<String, Fault> {
        Ok(entry_report(&self.entry(reference)?).to_string())
    }

    /// Pins or unpins an entry.
    pub fn pin(&self, reference: &str, pin: Pin) -> Result<(), Fault> {
        Ok(self.store.pin(&self.entry(reference)?.id, pin)?)
    }

    /// Saves an output as the storage of the coding agent's document does (seed 000 §6.1), and returns its path.
    pub fn save(&self, content: &str, context: Context) -> Result<String, Fault> {
        let Context { tool, session: session_id, message_id, .. } = context;
        let tool_name = tool.unwrap_or_default();
        let context = TruncationContext { tool_name, session_id, message_id, ..TruncationContext::default() };
        let storage = FileStorage::new(Some(self.directory.clone().into()), SystemTime::now);
        storage.save(content, &context).map_err(|error| Fault::Store(error.to_string()))
    }

    /// Removes an entry.
    pub fn remove(&self, reference: &str) -> Result<(), Fault> {
        Ok(self.store.remove(&self.entry(reference)?.id)?)
    }

    /// Removes entries older than this many days, of one profile or of all, and returns how many it removed.
    pub fn clean(&self, days: f64, profile: Option<&str>) -> Result<u64, Fault> {
        let age = Duration::try_from_secs_f64(days * 86_400.0)
            .map_err(|_| Fault::Invalid(format!("{days} is not a number of days")))?;
        let policy = Policy { age: Some(age), ..Policy::default() };
        let entries = self.store.select(&EntryFilter::default())?;
        let is_meant = |entry: &&Entry| profile.is_none_or(|profile| entry.profile == profile);
        let oldest_first: Vec<_> = entries.iter().rev().filter(is_meant).map(Candidate::from).collect();
        let plan = retention::decide(&oldest_first, &policy, SystemTime::now());
        Ok(plan.execute(&*self.store, &mut |_| {}).remove.len() as u64)
    }
}
