//! offcut's own tools and resources: parts of stored outputs for any client.
//!
//! A client names an output as a model does ([`ReadTool`]): its text is never opened as a path.

use crate::message::{Fault, code, limited};
use crate::tools::{ASKED_SIZE, Tool};
use base64::Engine;
use offcut::event::{DiscardEvents, EventSink};
use offcut::json::{Node, quoted};
use offcut::notice::{Message, Notice, Tag};
use offcut::retrieve::{self, PageLimits, Range, ReadTool, ToolAnswer};
use offcut::store::{Entry, Id, Reading, Store};
use std::sync::Arc;

/// The scheme of the URIs of stored outputs.
pub(crate) const SCHEME: &str = "offcut://";

/// The largest resource. Some clients drop longer lines.
const LARGEST_RESOURCE: u64 = 12 << 20;

/// The number of outputs listed as resources.
const LISTED: usize = 100;

/// The stored outputs that clients may read.
pub struct Library {
    store: Result<Arc<dyn Store>, String>,
    sink: Arc<dyn EventSink>,
}

impl Library {
    /// The outputs of this store, or why there is none.
    pub fn new(store: Result<Arc<dyn Store>, String>) -> Library {
        Library { store, sink: Arc::new(DiscardEvents) }
    }

    /// Reports to `sink` which parts were read with the tools.
    #[must_use]
    pub fn sink(self, sink: Arc<dyn EventSink>) -> Library {
        Library { sink, ..self }
    }

    /// Calls a tool. Errors are part of the result, because the model can correct its call.
    pub(crate) fn call(&self, tool: Tool, name: &str, arguments: Option<&str>) -> String {
        let (texts, failed) = match self.answer(tool, name, arguments.unwrap_or("{}")) {
            Ok(ToolAnswer { content, notice }) => (content.into_iter().chain(notice).collect(), ""),
            Err(error) => (vec![limited(format!("offcut: {error}"))], ",\"isError\":true"),
        };
        let parts: Vec<String> = texts
            .iter()
            .map(|text: &String| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.as_bytes())))
            .collect();
        format!("{{\"content\":[{}]{failed},\"_meta\":{ASKED_SIZE}}}", parts.join(","))
    }

    /// What the tool of this name returns for these arguments, without its notice; nothing if there is no such tool or no
    /// such output.
    pub fn part_for(&self, name: &str, arguments: &str) -> Option<String> {
        let (tool, name) = Tool::ALL.into_iter().find(|(_, tool)| *tool == name)?;
        self.answer(tool, name, arguments).ok()?.content
    }

    fn answer(&self, tool: Tool, name: &str, arguments: &str) -> Result<ToolAnswer, String> {
        match tool {
            Tool::Read => self.read(name, arguments),
            Tool::Search => self.search(name, arguments),
            Tool::List => self.list(arguments),
        }
    }

    fn store(&self) -> Result<&Arc<dyn Store>, String> {
        self.store.as_ref().map_err(Clone::clone)
    }

    /// The entry that a client names.
    fn find(&self, reference: &str) -> Result<Entry, String> {
        let store = self.store()?;
        let id = retrieve::resolve_id(&**store, reference).map_err(|error| error.to_string())?;
        store.entry(&id).map_err(|error| error.to_string())
    }

    fn read(&self, name: &str, arguments: &str) -> Result<ToolAnswer, String> {
        let tool = ReadTool::new(name, Arc::clone(self.store()?)).sink(Arc::clone(&self.sink));
        tool.answer(arguments).map_err(|error| error.to_string())
    }

    fn search(&self, name: &str, arguments: &str) -> Result<ToolAnswer, String> {
        match argument(arguments, "pattern")? {
            Some(_) => self.read(name, arguments),
            None => Err("name a pattern: {\"pattern\": \"...\"}".to_owned()),
        }
    }

    fn list(&self, arguments: &str) -> Result<ToolAnswer, String> {
        let number = |limit: Node<'_>| {
            let text = limit.json();
            text.trim_matches('"').trim().parse().map_err(|_| format!("{text} is not a number"))
        };
        let limit = argument(arguments, "limit")?.map_or(Ok(20), number)?.clamp(1, LISTED);
        let (entries, total) = self.newest(limit)?;
        let mut text = String::from("id, tool, bytes, lines\n");
        for entry in &entries {
            let lines = entry.lines.map_or_else(|| "incomplete".to_owned(), |lines| lines.to_string());
            text += &format!("{}, {}, {}, {lines}\n", entry.id, tool_of(entry), entry.bytes);
        }
        let message = Message::Listing { shown: entries.len(), total };
        let notice = Notice { tag: Tag::Plain, message }.to_string();
        Ok(ToolAnswer { content: (!entries.is_empty()).then_some(text), notice: Some(notice) })
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
            .map_err(|error| error.to_string())?;
        }
        let most = LARGEST_RESOURCE;
        let too_large = || {
            format!("more than {most} bytes: request a part, for example {SCHEME}{}?bytes=0:{most}", entry.id)
        };
        if let (Range::Bytes { start: 0, end: None }, true) = (range, entry.bytes > most) {
            return Err(too_large());
        }
        let limits = PageLimits { bytes: most, lines: u64::MAX };
        let page = retrieve::page(&**self.store()?, &entry, range, limits, &DiscardEvents)
            .map_err(|error| error.to_string())?;
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

/// An argument of a tool; `null` is the same as none.
fn argument<'a>(arguments: &'a str, name: &str) -> Result<Option<Node<'a>>, String> {
    let arguments = Node::parse(arguments).map_err(|error| format!("invalid arguments: {error}"))?;
    Ok(arguments.get(name).filter(|value| !value.is_null()))
}

fn tool_of(entry: &Entry) -> &str {
    entry.context.tool.as_deref().unwrap_or("output")
}
