//! A store as its reader uses it; every answer is JSON, and bytes where bytes are asked for.

use crate::fault::Fault;
use crate::place::Place;
use offcut::DiscardEvents;
use offcut::retention::{self, Candidate, Policy};
use offcut::retrieve::{self, Case, HitKind, PageLimits, Progress, Query, Range, View};
use offcut::store::{Entry, EntryState, Pin, Store};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads, searches and tidies what was kept.
pub struct Archive {
    store: Arc<dyn Store>,
    directory: String,
}

/// Which part of an entry is wanted.
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

/// What to look for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GrepOptions {
    pattern: String,
    #[serde(default, alias = "ignoreCase")]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default, alias = "maxCount")]
    max_count: Option<u64>,
}

#[derive(Serialize)]
struct PageReport {
    id: String,
    start: u64,
    end: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_line: Option<u64>,
    /// All that was asked for is here.
    complete: bool,
    /// What to ask for next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct FoundReport {
    matches: u64,
    shown: u64,
    hits: Vec<HitReport>,
}

#[derive(Serialize)]
struct HitReport {
    id: String,
    line: u64,
    offset: u64,
    text: String,
    is_match: bool,
}

#[derive(Serialize)]
struct EntryReport {
    id: String,
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// Seconds since 1970.
    created: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    profile: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    status: &'static str,
    pinned: bool,
}

impl EntryReport {
    fn of(entry: &Entry) -> EntryReport {
        let since = entry.created.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        EntryReport {
            id: entry.id.to_string(),
            uri: entry.uri(),
            path: entry.path.as_ref().map(|path| path.display().to_string()),
            created: since.as_secs_f64(),
            tool: entry.context.tool.clone(),
            call_id: entry.context.call_id.clone(),
            session: entry.context.session.clone(),
            profile: entry.profile.clone(),
            bytes: entry.bytes,
            lines: entry.lines(),
            exit_code: entry.summary.as_ref().and_then(|summary| summary.exit_code),
            status: match entry.completeness {
                EntryState::Complete => "complete",
                EntryState::Partial { .. } => "partial",
                EntryState::Writing => "writing",
                EntryState::Abandoned => "abandoned",
            },
            pinned: entry.pin == Pin::Pinned,
        }
    }
}

impl Archive {
    /// The store in a directory; without one, the binary's own.
    pub fn new(directory: Option<&str>) -> Result<Archive, Fault> {
        let place = Place::named(directory)?;
        let store = place.store()?;
        let directory = match place {
            Place::Directory(directory) => directory.display().to_string(),
            Place::Nowhere => String::new(),
        };
        Ok(Archive { store, directory })
    }

    /// Where it is.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    fn entry(&self, reference: &str) -> Result<Entry, Fault> {
        let id = retrieve::resolve(&*self.store, reference)?;
        Ok(self.store.entry(&id)?)
    }

    /// One page of an entry, and what is known of it.
    pub fn read(&self, reference: &str, options: &str) -> Result<(Vec<u8>, String), Fault> {
        let options: ReadOptions = serde_json::from_str(options)?;
        let range = match (&options.lines, &options.bytes, options.around) {
            (None, None, None) => Range::ALL,
            (Some(lines), None, None) => Range::lines(lines)?,
            (None, Some(bytes), None) => Range::bytes(bytes)?,
            (None, None, Some(line)) => {
                Range::Around { line: line.max(1), context: options.context.unwrap_or(20) }
            }
            _ => return Err(Fault::Invalid("lines, bytes and around exclude each other".to_owned())),
        };
        let usual = PageLimits::default();
        let limits = PageLimits {
            bytes: options.max_bytes.unwrap_or(usual.bytes).max(1),
            lines: options.max_lines.unwrap_or(usual.lines).max(1),
        };
        let view = View::new(Arc::clone(&self.store));
        let entry = view.entry(&retrieve::resolve(&view, reference)?)?;
        let page = retrieve::page(&view, &entry, range, limits, &DiscardEvents)?;
        let (complete, next) = match page.progress {
            Progress::AtEnd => (true, None),
            Progress::Satisfied(next) => (true, Some(next.option())),
            Progress::Full(next) => (false, Some(next.option())),
        };
        let report = PageReport {
            id: entry.id.to_string(),
            start: page.start,
            end: page.end,
            first_line: page.lines.as_ref().map(|lines| *lines.start()),
            last_line: page.lines.as_ref().map(|lines| *lines.end()),
            complete,
            next,
        };
        Ok((page.content, serde_json::to_string(&report)?))
    }

    /// All bytes of an entry.
    pub fn cat(&self, reference: &str) -> Result<Vec<u8>, Fault> {
        let entry = self.entry(reference)?;
        let size = usize::try_from(entry.bytes).map_err(|_| Fault::Invalid("it is too large".to_owned()))?;
        let mut content = vec![0; size];
        let mut read = 0;
        while read < size {
            match self.store.read(&entry.id, read as u64, &mut content[read..])? {
                0 => break,
                count => read += count,
            }
        }
        content.truncate(read);
        Ok(content)
    }

    /// Searches one entry, or with `all` every one.
    pub fn grep(&self, reference: &str, options: &str) -> Result<String, Fault> {
        let options: GrepOptions = serde_json::from_str(options)?;
        let ids = match reference {
            "all" => self.store.ids()?,
            one => vec![retrieve::resolve(&*self.store, one)?],
        };
        let query = Query {
            pattern: options.pattern,
            case: if options.ignore_case { Case::Insensitive } else { Case::Sensitive },
            context: options.context,
            most: options.max_count,
        };
        let view = View::new(Arc::clone(&self.store));
        let found = retrieve::search(&view, &ids, &query, PageLimits::default())?;
        let hits = found.hits.iter().filter(|hit| hit.kind != HitKind::Break).map(|hit| HitReport {
            id: hit.id.to_string(),
            line: hit.line,
            offset: hit.offset,
            text: offcut::measure::as_text(&hit.text).into_owned(),
            is_match: hit.kind == HitKind::Match,
        });
        let report = FoundReport { matches: found.matches, shown: found.shown, hits: hits.collect() };
        Ok(serde_json::to_string(&report)?)
    }

    /// Every entry, the newest first. What vanishes meanwhile, or cannot be read, is passed over.
    pub fn list(&self) -> Result<String, Fault> {
        let entries = retrieve::entries(&*self.store, &self.store.ids()?);
        let reports: Vec<_> = entries.iter().rev().flatten().map(EntryReport::of).collect();
        Ok(serde_json::to_string(&reports)?)
    }

    /// What is known of one entry.
    pub fn get(&self, reference: &str) -> Result<String, Fault> {
        Ok(serde_json::to_string(&EntryReport::of(&self.entry(reference)?))?)
    }

    /// Pins an entry, or lets go of it.
    pub fn pin(&self, reference: &str, pin: Pin) -> Result<(), Fault> {
        Ok(self.store.pin(&self.entry(reference)?.id, pin)?)
    }

    /// Removes an entry.
    pub fn remove(&self, reference: &str) -> Result<(), Fault> {
        Ok(self.store.remove(&self.entry(reference)?.id)?)
    }

    /// Removes what is older than so many days, of one profile or of all, and says how many entries went.
    pub fn clean(&self, days: f64, profile: Option<&str>) -> Result<u64, Fault> {
        let age = Duration::try_from_secs_f64(days * 86_400.0)
            .map_err(|_| Fault::Invalid(format!("{days} is not a number of days")))?;
        let entries = retrieve::entries(&*self.store, &self.store.ids()?);
        let wanted = |entry: &&Entry| profile.is_none_or(|profile| entry.profile == profile);
        let candidates: Vec<Candidate> =
            entries.iter().flatten().filter(wanted).map(Candidate::from).collect();
        let policy = Policy { age: Some(age), ..Policy::default() };
        let sweep = retention::decide(&candidates, &policy, SystemTime::now());
        Ok(sweep.remove.iter().filter(|candidate| self.store.remove(&candidate.id).is_ok()).count() as u64)
    }
}
