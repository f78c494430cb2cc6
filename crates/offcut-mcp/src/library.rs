//! Parts of kept outputs, for any client: the tools and the resources that are our own.
//!
//! A client names an output by its id and nothing else. What is not an id, the beginning of one, or `last` is refused
//! before the store is asked, so that no text of a client is ever opened as a path.

use crate::message::{Fault, code};
use crate::tools::{ASKED_SIZE, Tool};
use base64::Engine;
use offcut::DiscardEvents;
use offcut::json::quoted;
use offcut::retrieve::{self, Case, Hit, HitKind, PageLimits, Progress, Query, Range, RetrieveError, View};
use offcut::store::{Entry, EntryState, Id, Store};
use serde::Deserialize;
use std::sync::Arc;

/// The beginning of the address of every resource of ours.
pub(crate) const SCHEME: &str = "offcut://";

/// The most that one resource answers with. Some clients drop larger lines.
const LARGEST_RESOURCE: u64 = 12 << 20;

/// The most that a client may ask a page to have.
const LARGEST_PAGE: u64 = 200_000;

/// How many outputs are listed as resources.
const LISTED: usize = 100;

/// The kept outputs that clients may read.
pub struct Library {
    store: Result<Arc<dyn Store>, String>,
    /// The same, with JSON in a form that can be read by lines.
    view: Result<View, String>,
}

/// The arguments of the retrieval tool. Models write numbers as text and text as numbers; both are understood.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments {
    id: Option<String>,
    lines: Option<Loose>,
    bytes: Option<Loose>,
    pattern: Option<String>,
    context: Option<Loose>,
    ignore_case: Option<bool>,
    max_bytes: Option<Loose>,
    limit: Option<Loose>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "numbers are whole and not negative; ranges are texts such as \"100:200\"")]
enum Loose {
    Number(u64),
    Text(String),
}

impl Loose {
    fn text(&self) -> String {
        match self {
            Loose::Number(number) => number.to_string(),
            Loose::Text(text) => text.trim().to_owned(),
        }
    }

    fn number(&self) -> Result<u64, String> {
        match self {
            Loose::Number(number) => Ok(*number),
            Loose::Text(text) => text.trim().parse().map_err(|_| format!("{text:?} is not a number")),
        }
    }
}

/// What a tool of ours answers.
struct Told {
    /// The part that was asked for, as it is.
    content: Option<String>,
    /// What we say of it.
    notice: Option<String>,
}

impl Library {
    /// What may be read of this store; or why there is none.
    pub fn new(store: Result<Arc<dyn Store>, String>) -> Library {
        Library { view: store.clone().map(View::new), store }
    }

    /// Calls a tool of ours. What goes wrong is told to the model, which can do something about it.
    pub(crate) fn call(&self, tool: Tool, name: &str, arguments: Option<&str>) -> String {
        let told = serde_json::from_str(arguments.unwrap_or("{}"))
            .map_err(|error| format!("the arguments cannot be understood: {error}"))
            .and_then(|arguments: Arguments| match tool {
                Tool::Read if arguments.pattern.is_some() => self.search(&arguments),
                Tool::Read => self.read(name, &arguments),
                Tool::Search => self.search(&arguments),
                Tool::List => self.list(&arguments),
            });
        let (texts, failed) = match told {
            Ok(Told { content, notice }) => (content.into_iter().chain(notice).collect(), ""),
            Err(error) => (vec![format!("offcut: {error}")], ",\"isError\":true"),
        };
        let parts: Vec<String> = texts
            .iter()
            .map(|text: &String| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.as_bytes())))
            .collect();
        format!("{{\"content\":[{}]{failed},\"_meta\":{ASKED_SIZE}}}", parts.join(","))
    }

    fn store(&self) -> Result<&View, String> {
        self.view.as_ref().map_err(Clone::clone)
    }

    /// The output that a client names.
    fn find(&self, reference: &str) -> Result<Entry, String> {
        let name = reference.trim();
        let name = name.strip_prefix(SCHEME).unwrap_or(name);
        if !may_be_asked_for(name) {
            let shown: String = name.chars().take(80).collect();
            return Err(format!("{shown:?} is not the id of a kept output"));
        }
        let store = self.store()?;
        let id = retrieve::resolve(store, name).map_err(|error| told(&error))?;
        store.entry(&id).map_err(|error| error.to_string())
    }

    fn read(&self, name: &str, arguments: &Arguments) -> Result<Told, String> {
        let id = arguments.id.as_deref().ok_or("name an output: {\"id\": \"...\"}")?;
        let entry = self.find(id)?;
        let range = range(arguments)?;
        let asked = arguments.max_bytes.as_ref().map_or(Ok(9500), Loose::number)?;
        let bytes = asked.clamp(512, LARGEST_PAGE) - 300;
        let limits = PageLimits { bytes, lines: PageLimits::default().lines.max(bytes / 5) };
        let page = retrieve::page(self.store()?, &entry, range, limits, &DiscardEvents)
            .map_err(|error| told(&error))?;
        let next = |next: &Range| {
            let (unit, range) = in_words(next);
            format!("next: {name} {{\"id\":\"{}\",\"{unit}\":\"{range}\"}}", entry.id)
        };
        let (id, end, total) = (entry.id, page.end, entry.bytes);
        let place = match &page.progress {
            Progress::AtEnd => None,
            Progress::Satisfied(range) => {
                Some(format!("[offcut {id}: to byte {end} of {total}; {}]", next(range)))
            }
            Progress::Full(range) => {
                Some(format!("[offcut {id}: page full at byte {end} of {total}; {}]", next(range)))
            }
        };
        let notice: Vec<String> = place.into_iter().chain(incomplete(&entry)).collect();
        Ok(Told {
            content: Some(offcut::measure::as_text(&page.content).into_owned()),
            notice: (!notice.is_empty()).then(|| notice.join("\n")),
        })
    }

    fn search(&self, arguments: &Arguments) -> Result<Told, String> {
        let pattern = arguments.pattern.clone().ok_or("name a pattern: {\"pattern\": \"...\"}")?;
        let store = self.store()?;
        let ids = match arguments.id.as_deref() {
            Some(id) if id.trim() != "all" => vec![self.find(id)?.id],
            _ => store.ids().map_err(|error| error.to_string())?.into_iter().rev().collect(),
        };
        let context = arguments.context.as_ref().map_or(Ok(0), Loose::number)?;
        let query = Query {
            pattern,
            case: if arguments.ignore_case == Some(true) { Case::Insensitive } else { Case::Sensitive },
            context: usize::try_from(context.min(1000)).unwrap_or(0),
            most: None,
        };
        let found =
            retrieve::search(store, &ids, &query, PageLimits::default()).map_err(|error| told(&error))?;
        let mut text = String::new();
        for Hit { id, line, text: content, kind, .. } in &found.hits {
            let content = offcut::measure::as_text(content);
            let place = if ids.len() > 1 { format!("{id} ") } else { String::new() };
            match kind {
                HitKind::Break => text += "--\n",
                HitKind::Match => text += &format!("{place}{line}:{content}\n"),
                HitKind::Context => text += &format!("{place}{line}-{content}\n"),
            }
        }
        let more = match found.matches - found.shown {
            _ if found.matches == 0 => "[offcut: no line matches]".to_owned(),
            0 => format!("[offcut: {} matching lines]", found.matches),
            // A sample must never pass for the whole.
            missing => format!(
                "[offcut: {} of {} matching lines shown; {missing} more: narrow the pattern, or read around a line]",
                found.shown, found.matches
            ),
        };
        Ok(Told { content: (!text.is_empty()).then_some(text), notice: Some(more) })
    }

    fn list(&self, arguments: &Arguments) -> Result<Told, String> {
        let limit = arguments.limit.as_ref().map_or(Ok(20), Loose::number)?.clamp(1, LISTED as u64);
        let (entries, total) = self.newest(usize::try_from(limit).unwrap_or(LISTED))?;
        let mut text = String::from("id, tool, bytes, lines\n");
        for entry in &entries {
            let lines = entry.lines().map_or_else(|| "incomplete".to_owned(), |lines| lines.to_string());
            text += &format!("{}, {}, {}, {lines}\n", entry.id, tool_of(entry), entry.bytes);
        }
        let notice = format!("[offcut: {} of {total} kept outputs, newest first]", entries.len());
        Ok(Told { content: (!entries.is_empty()).then_some(text), notice: Some(notice) })
    }

    fn newest(&self, limit: usize) -> Result<(Vec<Entry>, usize), String> {
        let store = self.store()?;
        let ids = store.ids().map_err(|error| error.to_string())?;
        let newest: Vec<Id> = ids.iter().rev().take(limit).copied().collect();
        Ok((retrieve::entries(store, &newest).into_iter().flatten().collect(), ids.len()))
    }

    /// `resources/read`: all of an output, or the range that the address names.
    pub(crate) fn resource(&self, uri: &str) -> Result<String, Fault> {
        let (name, query) = uri.split_once('?').unwrap_or((uri, ""));
        let entry = self
            .find(name.trim_end_matches('/'))
            .map_err(|error| Fault::new(code::RESOURCE_NOT_FOUND, error))?;
        let content = self.part(&entry.id, query).map_err(|error| Fault::new(code::INVALID_PARAMS, error))?;
        let body = match std::str::from_utf8(&content) {
            Ok(text) => format!("\"mimeType\":\"text/plain\",\"text\":{}", quoted(text.as_bytes())),
            Err(_) => {
                let blob = base64::engine::general_purpose::STANDARD.encode(&content);
                format!("\"mimeType\":\"application/octet-stream\",\"blob\":\"{blob}\"")
            }
        };
        Ok(format!("{{\"contents\":[{{\"uri\":{},{body}}}]}}", quoted(uri.as_bytes())))
    }

    /// A part of an output as it is kept, also where the tools show a more readable form of it.
    fn part(&self, id: &Id, query: &str) -> Result<Vec<u8>, String> {
        let store = self.store.as_ref().map_err(Clone::clone)?;
        let entry = store.entry(id).map_err(|error| error.to_string())?;
        let mut range = Range::Bytes { start: 0, end: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = value.replace("%3A", ":").replace("%3a", ":");
            range = match name {
                "lines" => Range::lines(&value),
                "bytes" => Range::bytes(&value),
                _ => return Err(format!("{name:?} is unknown: ask for lines=FIRST:LAST or bytes=START:END")),
            }
            .map_err(|error| told(&error))?;
        }
        let most = LARGEST_RESOURCE;
        let too_large =
            || format!("that is more than {most} bytes: ask for a part, {SCHEME}{}?bytes=0:{most}", entry.id);
        if let (Range::Bytes { start: 0, end: None }, true) = (range, entry.bytes > most) {
            return Err(too_large());
        }
        let limits = PageLimits { bytes: most, lines: u64::MAX };
        let page =
            retrieve::page(&**store, &entry, range, limits, &DiscardEvents).map_err(|error| told(&error))?;
        match page.progress {
            Progress::Full(_) => Err(too_large()),
            Progress::AtEnd | Progress::Satisfied(_) => Ok(page.content),
        }
    }

    /// `resources/list`: the newest outputs.
    pub(crate) fn resources(&self) -> Result<String, Fault> {
        let (entries, _) = self.newest(LISTED).map_err(|error| Fault::new(code::SERVER, error))?;
        let rows: Vec<String> = entries
            .iter()
            .map(|entry| {
                let name = format!("{} {}", tool_of(entry), entry.id);
                format!(
                    "{{\"uri\":\"{}\",\"name\":{},\"size\":{}}}",
                    entry.uri(),
                    quoted(name.as_bytes()),
                    entry.bytes
                )
            })
            .collect();
        Ok(format!("{{\"resources\":[{}]}}", rows.join(",")))
    }
}

/// Whether a client's text is one that names an output: never a path.
fn may_be_asked_for(name: &str) -> bool {
    let is_back =
        |rest: &str| rest.is_empty() || rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    Id::is_prefix(name) || name.strip_prefix("last").is_some_and(is_back)
}

fn range(arguments: &Arguments) -> Result<Range, String> {
    let context = arguments.context.as_ref().map(Loose::number).transpose()?;
    let range = match (&arguments.lines, &arguments.bytes) {
        (Some(_), Some(_)) => return Err("ask for lines or for bytes, not for both".to_owned()),
        (Some(lines), None) => Range::lines(&lines.text()),
        (None, Some(bytes)) => Range::bytes(&bytes.text()),
        (None, None) => Ok(Range::ALL),
    };
    match (range.map_err(|error| told(&error))?, context) {
        (Range::Lines { first, last: Some(last) }, Some(context)) if first == last => {
            Ok(Range::Around { line: first, context })
        }
        (range, _) => Ok(range),
    }
}

/// A range as the arguments of the tool write it.
fn in_words(range: &Range) -> (&'static str, String) {
    let end = |end: &Option<u64>| end.map_or_else(String::new, |end| end.to_string());
    match range {
        Range::Lines { first, last } => ("lines", format!("{first}:{}", end(last))),
        Range::LastLines(count) => ("lines", format!("-{count}:")),
        Range::Around { line, context } => {
            ("lines", format!("{}:{}", line.saturating_sub(*context).max(1), line.saturating_add(*context)))
        }
        Range::Bytes { start, end: last } => ("bytes", format!("{start}:{}", end(last))),
    }
}

fn incomplete(entry: &Entry) -> Option<String> {
    let (id, bytes) = (entry.id, entry.bytes);
    match &entry.completeness {
        EntryState::Complete => None,
        EntryState::Writing => Some(format!("[offcut {id}: still being written; {bytes} bytes so far]")),
        EntryState::Abandoned => {
            Some(format!("[offcut {id}: incomplete, its writer ended after {bytes} bytes]"))
        }
        EntryState::Partial { reason } => Some(format!("[offcut {id}: incomplete: {reason}]")),
    }
}

fn tool_of(entry: &Entry) -> &str {
    entry.context.tool.as_deref().unwrap_or("output")
}

/// An error in words for a client, which has no shell.
fn told(error: &RetrieveError) -> String {
    error.to_string().replace("; `offcut ls` lists what there is", "")
}
