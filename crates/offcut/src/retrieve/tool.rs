//! The tool by which a model reads stored outputs.

use crate::event::{DiscardEvents, EventSink};
use crate::measure;
use crate::notice::{Message, Notice};
use crate::render::Reach;
use crate::retrieve::{self, PageLimits, Range, RetrieveError};
use crate::store::{Entry, Id, Store, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The size of a page, unless the model requests another.
const PAGE: u64 = 9500;

/// The largest page that a model may request, unless the program sets another.
const LARGEST_PAGE: u64 = 200_000;

/// The smallest page.
const SMALLEST_PAGE: u64 = 512;

/// The part of a page that its notice needs.
const NOTICE: u64 = 300;

/// A tool that an agent offers to its model, so that the model can read what a preview does not show.
///
/// The name, the [description](ReadTool::DESCRIPTION) and the [schema](ReadTool::schema) go into the tool list of any model
/// API, and the arguments that the model writes go into [`call`](ReadTool::call). A truncator with
/// [`reach`](ReadTool::reach) writes calls of this tool into its previews.
///
/// The tool returns one page of an output: a range of lines or bytes, or, with the feature `search`, the lines that match a
/// pattern. A model names an output by its id, a prefix of it, or `last`; what it writes is never opened as a path.
///
/// ```
/// use offcut::retrieve::ReadTool;
/// use offcut::store::MemoryStore;
/// use offcut::{Context, Profile, Storage, Truncator};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let tool = ReadTool::new("read_output", store.clone());
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store)).reach(tool.reach());
///
/// let output: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
/// let preview = truncator.apply(&output, &Context::tool("bash"));
/// assert!(preview.text().contains("more: read_output {\"id\":"));
/// assert!(tool.call(r#"{"id": "last", "lines": "5000:5001"}"#).starts_with("5000\n5001\n"));
/// assert_eq!(tool.call(r#"{"id": "none"}"#), "offcut: \"none\" is not the id of a stored output");
/// ```
#[derive(Clone)]
pub struct ReadTool {
    name: String,
    store: Arc<dyn Store>,
    largest: u64,
    sink: Arc<dyn EventSink>,
}

/// What the tool returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// The requested part of the output, unchanged; `None` if no line matches.
    pub content: Option<String>,
    /// What offcut adds: the call that reads on, the number of matches, or that the output is incomplete.
    pub notice: Option<String>,
}

impl ToolAnswer {
    /// The content, then the notice on a line of its own.
    pub fn into_text(self) -> String {
        let mut text = self.content.unwrap_or_default();
        if let Some(notice) = self.notice {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text += &notice;
        }
        text
    }
}

/// Why the tool could not answer, for the model to correct its call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// The arguments are not what the schema says.
    #[error("{0}")]
    Arguments(String),
    /// The output cannot be read or searched.
    #[error(transparent)]
    Retrieve(#[from] RetrieveError),
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        ToolError::Retrieve(error.into())
    }
}

/// The arguments of a call. Models write numbers as text and text as numbers; both are accepted. They also fill in what
/// they do not need: an empty text and a page of 0 bytes are the same as no argument.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Arguments {
    id: Option<String>,
    lines: Option<Loose>,
    bytes: Option<Loose>,
    pattern: Option<String>,
    context: Option<Loose>,
    #[cfg(feature = "search")]
    ignore_case: Option<bool>,
    max_bytes: Option<Loose>,
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

    fn number(&self) -> Result<u64, ToolError> {
        match self {
            Loose::Number(number) => Ok(*number),
            Loose::Text(text) => {
                text.trim().parse().map_err(|_| ToolError::Arguments(format!("{text:?} is not a number")))
            }
        }
    }
}

impl ReadTool {
    /// What it does, for the model.
    pub const DESCRIPTION: &str = if cfg!(feature = "search") {
        "Print any part of a tool output that was shown only in part: a range of lines or bytes, or the lines that \
         match a pattern. The default is the beginning. Returns one page; its notice names the next one."
    } else {
        "Print any part of a tool output that was shown only in part: a range of lines or bytes. The default is the \
         beginning. Returns one page; its notice names the next one."
    };

    /// A tool of this name that reads the outputs in `store`.
    pub fn new(name: impl Into<String>, store: Arc<dyn Store>) -> ReadTool {
        ReadTool { name: name.into(), store, largest: LARGEST_PAGE, sink: Arc::new(DiscardEvents) }
    }

    /// Limits every page to this many bytes, even if the model requests more; at least 512.
    ///
    /// Without it, a model may request up to 200 000 bytes. A page has 9500 bytes if the model requests no size.
    #[must_use]
    pub fn budget(self, bytes: u64) -> ReadTool {
        ReadTool { largest: bytes.max(SMALLEST_PAGE), ..self }
    }

    /// Reports to `sink` which parts were read ([`Event::Retrieved`](crate::Event::Retrieved)).
    #[must_use]
    pub fn sink(self, sink: Arc<dyn EventSink>) -> ReadTool {
        ReadTool { sink, ..self }
    }

    /// The name by which the model calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the reader of a preview reads the rest: with this tool.
    pub fn reach(&self) -> Reach {
        Reach::Tool { name: self.name.clone() }
    }

    /// The JSON schema of its arguments; its text is JSON.
    pub fn schema() -> Value {
        let text = |about: &str| json!({"type": "string", "description": about});
        let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
        let mut properties = json!({
            "id": text("the id in the notice, a unique prefix of it, or last"),
            "lines": text("FIRST:LAST, counted from 1, both included; also 100: (from line 100) or -20: (the last 20)"),
            "bytes": text("START:END, counted from 0, END excluded; works inside a long line, too"),
            "context": number("the number of lines before and after each match, or around a single line"),
            "max_bytes": number("the largest size of the page in bytes; default 9500, at most 200000"),
        });
        if cfg!(feature = "search") {
            properties["id"] =
                text("the id in the notice, a unique prefix of it, or last; with a pattern also all");
            properties["pattern"] = text(
                "a regular expression; returns the matching lines with their numbers, without lines and bytes",
            );
            properties["ignore_case"] = json!({"type": "boolean", "description": "ignore the difference between upper and lower case"});
        }
        json!({"type": "object", "properties": properties, "required": ["id"]})
    }

    /// Answers a call. The arguments are the JSON that the model wrote; an error is a text for the model, too.
    pub fn call(&self, arguments: &str) -> String {
        match self.answer(arguments) {
            Err(error) => format!("offcut: {error}"),
            Ok(answer) => answer.into_text(),
        }
    }

    /// Like [`call`](ReadTool::call), with the requested part, the notice and the error apart.
    pub fn answer(&self, arguments: &str) -> Result<ToolAnswer, ToolError> {
        let invalid = |error: serde_json::Error| ToolError::Arguments(format!("invalid arguments: {error}"));
        let arguments: Value = serde_json::from_str(arguments).map_err(invalid)?;
        let mut arguments: Arguments = serde_json::from_value(arguments).map_err(invalid)?;
        let is_given = |range: &Loose| !range.text().is_empty();
        arguments.lines = arguments.lines.filter(is_given);
        arguments.bytes = arguments.bytes.filter(is_given);
        arguments.pattern = arguments.pattern.filter(|pattern| !pattern.is_empty());
        arguments.max_bytes = arguments.max_bytes.filter(|most| !matches!(most.number(), Ok(0)));
        if arguments.pattern.is_some() && (arguments.lines.is_some() || arguments.bytes.is_some()) {
            let reason = "pattern searches whole outputs: leave out lines and bytes, or the pattern";
            return Err(ToolError::Arguments(reason.to_owned()));
        }
        let asked = arguments.max_bytes.as_ref().map_or(Ok(PAGE), Loose::number)?;
        let bytes = asked.min(self.largest).max(SMALLEST_PAGE) - NOTICE;
        let limits = PageLimits { bytes, lines: PageLimits::default().lines.max(bytes / 5) };
        match &arguments.pattern {
            Some(pattern) => self.search(pattern, &arguments, limits),
            None => self.read(&arguments, limits),
        }
    }

    fn find(&self, reference: &str) -> Result<Id, ToolError> {
        Ok(retrieve::resolve_id(&*self.store, reference)?)
    }

    fn read(&self, arguments: &Arguments, limits: PageLimits) -> Result<ToolAnswer, ToolError> {
        let unusable = |reason: &str| ToolError::Arguments(reason.to_owned());
        let id = match arguments.id.as_deref() {
            None => return Err(unusable("name an output: {\"id\": \"...\"}")),
            Some(id) if is_all(id) => {
                return Err(unusable(
                    "\"all\" is not the id of a stored output: add a pattern to search all",
                ));
            }
            Some(id) => self.find(id)?,
        };
        let entry = self.store.entry(&id)?;
        let range = range(arguments)?;
        let read = retrieve::page(&*self.store, &entry, range, limits, &*self.sink)?;
        let position = read.progress.next().map(|next| {
            let size = Some(limits.bytes + NOTICE).filter(|&size| size != PAGE.min(self.largest));
            let more = self.call_for(&entry, next, size);
            Message::Page { end: read.end, total: read.total, more }
        });
        let modified =
            read.mismatches.first().map(|block| Message::Modified { start: block.start, end: block.end });
        let messages = position.into_iter().chain(modified).chain(Message::incomplete(&entry));
        let notice: Vec<String> =
            messages.map(|message| Notice::of_entry(&entry.id, message).to_string()).collect();
        Ok(ToolAnswer {
            content: Some(measure::as_text(&read.content).into_owned()),
            notice: (!notice.is_empty()).then(|| notice.join("\n")),
        })
    }

    /// The call that reads a range in pages of this size.
    fn call_for(&self, entry: &Entry, range: &Range, size: Option<u64>) -> String {
        let (id, (unit, range)) = (entry.id.short(), range.unit_and_value());
        let size = size.map_or_else(String::new, |size| format!(",\"max_bytes\":{size}"));
        format!("{} {{\"id\":\"{id}\",\"{unit}\":\"{range}\"{size}}}", self.name)
    }

    #[cfg(feature = "search")]
    fn search(
        &self,
        pattern: &str,
        arguments: &Arguments,
        limits: PageLimits,
    ) -> Result<ToolAnswer, ToolError> {
        let ids = match arguments.id.as_deref() {
            Some(id) if !is_all(id) => vec![self.find(id)?],
            _ => self.store.ids()?.into_iter().rev().collect(),
        };
        let context = arguments.context.as_ref().map_or(Ok(0), Loose::number)?;
        let query = retrieve::Query {
            pattern: pattern.to_owned(),
            ignore_case: arguments.ignore_case == Some(true),
            context: usize::try_from(context).unwrap_or(usize::MAX),
            ..retrieve::Query::default()
        };
        let result = retrieve::search(&*self.store, &ids, &query, limits)?;
        let text = measure::as_text(&result.to_text(ids.len() > 1)).into_owned();
        let mut notice = result.notice().to_string();
        // What was not searched in detail if it fits, or else as a number.
        let omissions = [usize::MAX, 0].map(|most| result.omissions(most).join("\n"));
        let room = (limits.bytes + NOTICE).saturating_sub((text.len() + notice.len() + 2) as u64);
        let omissions = omissions.iter().find(|lines| lines.len() as u64 <= room).unwrap_or(&omissions[1]);
        if !omissions.is_empty() {
            notice += &format!("\n{omissions}");
        }
        Ok(ToolAnswer { content: (!text.is_empty()).then_some(text), notice: Some(notice) })
    }

    #[cfg(not(feature = "search"))]
    fn search(&self, _: &str, _: &Arguments, _: PageLimits) -> Result<ToolAnswer, ToolError> {
        Err(ToolError::Arguments("cannot search for a pattern: use lines or bytes".to_owned()))
    }
}

/// Whether every output is meant.
fn is_all(id: &str) -> bool {
    id.trim() == "all"
}

fn range(arguments: &Arguments) -> Result<Range, ToolError> {
    let (lines, bytes) =
        (arguments.lines.as_ref().map(Loose::text), arguments.bytes.as_ref().map(Loose::text));
    let context = arguments.context.as_ref().map(Loose::number).transpose()?;
    match (Range::from_options(lines.as_deref(), bytes.as_deref(), None, 0)?, context) {
        (Range::Lines { first, last: Some(last) }, Some(context)) if first == last => {
            Ok(Range::Around { line: first, context })
        }
        (range, _) => Ok(range),
    }
}
