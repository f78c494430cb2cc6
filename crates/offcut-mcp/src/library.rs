//! offcut's own tools and resources: parts of stored outputs for any client.
//!
//! A client names an output by its id, a prefix of it, or `last`. Other references are refused before the store is used,
//! so that a client's text is never opened as a path.

use crate::message::{Fault, code};
use crate::tools::{ASKED_SIZE, Tool};
use base64::Engine;
use offcut::event::DiscardEvents;
use offcut::json::quoted;
use offcut::notice::{Message, Notice, Tag};
use offcut::report;
use offcut::retrieve::{self, PageLimits, Query, Range, RetrieveError};
use offcut::store::{Entry, Id, Reading, Store, StoreError};
use serde::Deserialize;
use std::sync::Arc;

/// The scheme of the URIs of stored outputs.
pub(crate) const SCHEME: &str = "offcut://";

/// The largest resource. Some clients drop longer lines.
const LARGEST_RESOURCE: u64 = 12 << 20;

/// The largest page that a client may request, in bytes.
const LARGEST_PAGE: u64 = 200_000;

/// The number of outputs listed as resources.
const LISTED: usize = 100;

/// The stored outputs that clients may read.
pub struct Library {
    store: Result<Arc<dyn Store>, String>,
}

/// The arguments of the tools. Models write numbers as text and text as numbers; both are accepted.
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

/// The result of a tool: at most two text parts.
struct ToolOutput {
    /// The requested part, unchanged.
    content: Option<String>,
    /// What offcut adds.
    notice: Option<String>,
}

impl Library {
    /// The outputs of this store, or why there is none.
    pub fn new(store: Result<Arc<dyn Store>, String>) -> Library {
        Library { store }
    }

    /// Calls a tool. Errors are part of the result, because the model can correct its call.
    pub(crate) fn call(&self, tool: Tool, name: &str, arguments: Option<&str>) -> String {
        let output = serde_json::from_str(arguments.unwrap_or("{}"))
            .map_err(|error| format!("invalid arguments: {error}"))
            .and_then(|arguments: Arguments| match tool {
                Tool::Read if arguments.pattern.is_some() => self.search(&arguments),
                Tool::Read => self.read(name, &arguments),
                Tool::Search => self.search(&arguments),
                Tool::List => self.list(&arguments),
            });
        let (texts, failed) = match output {
            Ok(ToolOutput { content, notice }) => (content.into_iter().chain(notice).collect(), ""),
            Err(error) => (vec![format!("offcut: {error}")], ",\"isError\":true"),
        };
        let parts: Vec<String> = texts
            .iter()
            .map(|text: &String| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.as_bytes())))
            .collect();
        format!("{{\"content\":[{}]{failed},\"_meta\":{ASKED_SIZE}}}", parts.join(","))
    }

    fn store(&self) -> Result<&dyn Store, String> {
        self.store.as_deref().map_err(Clone::clone)
    }

    /// The entry that a client names.
    fn find(&self, reference: &str) -> Result<Entry, String> {
        let name = reference.trim();
        let name = name.strip_prefix(SCHEME).unwrap_or(name);
        if !retrieve::is_id_reference(name) {
            let shown: String = name.chars().take(80).collect();
            return Err(format!("{shown:?} is not the id of a stored output"));
        }
        let store = self.store()?;
        let id = retrieve::resolve(store, name).map_err(|error| message(&error))?;
        store.entry(&id).map_err(|error| message(&error.into()))
    }

    fn read(&self, name: &str, arguments: &Arguments) -> Result<ToolOutput, String> {
        let id = arguments.id.as_deref().ok_or("name an output: {\"id\": \"...\"}")?;
        let entry = self.find(id)?;
        let range = range(arguments)?;
        let asked = arguments.max_bytes.as_ref().map_or(Ok(9500), Loose::number)?;
        let bytes = asked.clamp(512, LARGEST_PAGE) - 300;
        let limits = PageLimits { bytes, lines: PageLimits::default().lines.max(bytes / 5) };
        let page = retrieve::page(self.store()?, &entry, range, limits, &DiscardEvents)
            .map_err(|error| message(&error))?;
        let id = entry.id.short();
        let position = page.progress.next().map(|next| {
            let (unit, range) = next.unit_and_value();
            let more = format!("{name} {{\"id\":\"{id}\",\"{unit}\":\"{range}\"}}");
            let message = Message::Page { end: page.end, total: page.total, more };
            Notice { tag: Tag::Entry(id.to_owned()), message }.to_string()
        });
        let state = report::incompleteness(&entry).map(|state| format!("[offcut {id}: {state}]"));
        let notice: Vec<String> = position.into_iter().chain(state).collect();
        Ok(ToolOutput {
            content: Some(offcut::measure::as_text(&page.content).into_owned()),
            notice: (!notice.is_empty()).then(|| notice.join("\n")),
        })
    }

    fn search(&self, arguments: &Arguments) -> Result<ToolOutput, String> {
        let pattern = arguments.pattern.clone().ok_or("name a pattern: {\"pattern\": \"...\"}")?;
        let store = self.store()?;
        let ids = match arguments.id.as_deref() {
            Some(id) if id.trim() != "all" => vec![self.find(id)?.id],
            _ => store.ids().map_err(|error| error.to_string())?.into_iter().rev().collect(),
        };
        let context = arguments.context.as_ref().map_or(Ok(0), Loose::number)?;
        let query = Query {
            pattern,
            ignore_case: arguments.ignore_case == Some(true),
            context: usize::try_from(context.min(1000)).unwrap_or(0),
            max_count: None,
        };
        let result =
            retrieve::search(store, &ids, &query, PageLimits::default()).map_err(|error| message(&error))?;
        let text = result.to_text(ids.len() > 1);
        let notice = result.notice().unwrap_or_else(|| match result.matches {
            0 => "[offcut: no line matches]".to_owned(),
            matches => format!("[offcut: {matches} matching lines]"),
        });
        let content = (!text.is_empty()).then(|| offcut::measure::as_text(&text).into_owned());
        Ok(ToolOutput { content, notice: Some(notice) })
    }

    fn list(&self, arguments: &Arguments) -> Result<ToolOutput, String> {
        let limit = arguments.limit.as_ref().map_or(Ok(20), Loose::number)?.clamp(1, LISTED as u64);
        let (entries, total) = self.newest(usize::try_from(limit).unwrap_or(LISTED))?;
        let mut text = String::from("id, tool, bytes, lines\n");
        for entry in &entries {
            let lines = entry.lines.map_or_else(|| "incomplete".to_owned(), |lines| lines.to_string());
            text += &format!("{}, {}, {}, {lines}\n", entry.id, tool_of(entry), entry.bytes);
        }
        let notice = format!("[offcut: {} of {total} stored outputs, newest first]", entries.len());
        Ok(ToolOutput { content: (!entries.is_empty()).then_some(text), notice: Some(notice) })
    }

    fn newest(&self, limit: usize) -> Result<(Vec<Entry>, usize), String> {
        let store = self.store()?;
        let ids = store.ids().map_err(|error| error.to_string())?;
        let newest: Vec<Id> = ids.iter().rev().take(limit).copied().collect();
        Ok((store.entries(&newest).into_iter().flatten().collect(), ids.len()))
    }

    /// `resources/read`: all of an output, or the range that the address names.
    pub(crate) fn resource(&self, uri: &str) -> Result<String, Fault> {
        let (name, query) = uri.split_once('?').unwrap_or((uri, ""));
        let entry = self
            .find(name.trim_end_matches('/'))
            .map_err(|error| Fault::new(code::RESOURCE_NOT_FOUND, error))?;
        let content = self.part(entry, query).map_err(|error| Fault::new(code::INVALID_PARAMS, error))?;
        let body = match std::str::from_utf8(&content) {
            Ok(text) => format!("\"mimeType\":\"text/plain\",\"text\":{}", quoted(text.as_bytes())),
            Err(_) => {
                let blob = base64::engine::general_purpose::STANDARD.encode(&content);
                format!("\"mimeType\":\"application/octet-stream\",\"blob\":\"{blob}\"")
            }
        };
        Ok(format!("{{\"contents\":[{{\"uri\":{},{body}}}]}}", quoted(uri.as_bytes())))
    }

    /// A part of an output as it is stored, also if the tools show its readable form.
    fn part(&self, entry: Entry, query: &str) -> Result<Vec<u8>, String> {
        let entry = Entry { reading: Reading::Plain, ..entry };
        let mut range = Range::Bytes { start: 0, end: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = value.replace("%3A", ":").replace("%3a", ":");
            range = match name {
                "lines" => Range::lines(&value),
                "bytes" => Range::bytes(&value),
                _ => {
                    return Err(format!(
                        "unknown parameter {name:?}: use lines=FIRST:LAST or bytes=START:END"
                    ));
                }
            }
            .map_err(|error| message(&error))?;
        }
        let most = LARGEST_RESOURCE;
        let too_large = || {
            format!("more than {most} bytes: request a part, for example {SCHEME}{}?bytes=0:{most}", entry.id)
        };
        if let (Range::Bytes { start: 0, end: None }, true) = (range, entry.bytes > most) {
            return Err(too_large());
        }
        let limits = PageLimits { bytes: most, lines: u64::MAX };
        let page = retrieve::page(self.store()?, &entry, range, limits, &DiscardEvents)
            .map_err(|error| message(&error))?;
        if page.progress.is_satisfied() { Ok(page.content) } else { Err(too_large()) }
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

fn range(arguments: &Arguments) -> Result<Range, String> {
    let (lines, bytes) =
        (arguments.lines.as_ref().map(Loose::text), arguments.bytes.as_ref().map(Loose::text));
    let context = arguments.context.as_ref().map(Loose::number).transpose()?;
    let range = Range::from_options(lines.as_deref(), bytes.as_deref(), None, 0);
    match (range.map_err(|error| message(&error))?, context) {
        (Range::Lines { first, last: Some(last) }, Some(context)) if first == last => {
            Ok(Range::Around { line: first, context })
        }
        (range, _) => Ok(range),
    }
}

fn tool_of(entry: &Entry) -> &str {
    entry.context.tool.as_deref().unwrap_or("output")
}

/// The message of an error, without the hint for a shell.
fn message(error: &RetrieveError) -> String {
    match error {
        RetrieveError::Store(StoreError::NotFound { id }) => format!("no stored output {id}"),
        error => error.to_string(),
    }
}
