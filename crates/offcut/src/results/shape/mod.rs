//! The shapes of tool results: where the text stands in each, and what is written beside it.
//!
//! A shape is one small module: it recognises a value, finds its texts, and says which fields tell of a cut. What is
//! done with the texts is the same for all of them, in [`super`].

mod anthropic;
mod coding_agent;
mod gemini;
mod klaude;
mod mcp;
mod openai;
mod opencode;
mod takumi;
mod unified;

use crate::json::{Edits, Node, quoted};
use crate::measure::{self, CharConvention};
use crate::profile::Settings;
use crate::shown::{Kept, Preview};
use std::borrow::Cow;

/// A shape of tool results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{success, output, metadata}`.
    CodingAgent,
    /// `{title, output, metadata}`.
    Opencode,
    /// The envelope `{status, data, text, stats, context, error}`.
    Unified,
    /// `{llmContent, isError, truncated, outputPath}`.
    Takumi,
    /// `{output, ui_extra}`.
    Klaude,
    /// An MCP `CallToolResult`.
    Mcp,
    /// The error object of a JSON-RPC answer. It is not detected, and it has no name on the command line.
    McpError,
    /// An Anthropic `tool_result` block.
    Anthropic,
    /// An OpenAI chat message of the role `tool`.
    OpenaiChat,
    /// An OpenAI Responses `function_call_output`.
    OpenaiResponses,
    /// A Gemini `functionResponse`.
    Gemini,
}

impl Shape {
    /// Every shape that can be detected, the most specific first: what several could mean is what the first of them says.
    pub const ALL: [Shape; 10] = [
        Shape::Anthropic,
        Shape::OpenaiChat,
        Shape::OpenaiResponses,
        Shape::Gemini,
        Shape::Takumi,
        Shape::Unified,
        Shape::Klaude,
        Shape::CodingAgent,
        Shape::Opencode,
        Shape::Mcp,
    ];

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Shape::CodingAgent => "coding-agent",
            Shape::Opencode => "opencode",
            Shape::Unified => "unified",
            Shape::Takumi => "takumi",
            Shape::Klaude => "klaude",
            Shape::Mcp => "mcp",
            Shape::McpError => "mcp-error",
            Shape::Anthropic => "anthropic",
            Shape::OpenaiChat => "openai-chat",
            Shape::OpenaiResponses => "openai-responses",
            Shape::Gemini => "gemini",
        }
    }

    /// The shape of that name.
    pub fn named(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.name() == name)
    }

    pub(crate) fn adapter(self) -> &'static dyn Adapter {
        match self {
            Shape::CodingAgent => &coding_agent::CodingAgent,
            Shape::Opencode => &opencode::Opencode,
            Shape::Unified => &unified::Unified,
            Shape::Takumi => &takumi::Takumi,
            Shape::Klaude => &klaude::Klaude,
            Shape::Mcp => &mcp::Mcp,
            Shape::McpError => &mcp::McpError,
            Shape::Anthropic => &anthropic::Anthropic,
            Shape::OpenaiChat => &openai::Chat,
            Shape::OpenaiResponses => &openai::Responses,
            Shape::Gemini => &gemini::Gemini,
        }
    }

    /// The shape that a value has.
    pub(crate) fn of(node: Node<'_>) -> Option<Shape> {
        if !node.is_object() {
            return None;
        }
        let fields = Fields { members: node.members() };
        Shape::ALL.into_iter().find(|shape| shape.adapter().recognises(&fields))
    }
}

/// The members of an object, for whoever looks for several.
pub(crate) struct Fields<'a> {
    members: Vec<(Vec<u8>, Node<'a>)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(node: Node<'a>) -> Fields<'a> {
        Fields { members: node.members() }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.members.iter().rfind(|(name, _)| name == key.as_bytes()).map(|&(_, node)| node)
    }

    /// The member, if it is not `null`.
    pub(crate) fn some(&self, key: &str) -> Option<Node<'a>> {
        self.get(key).filter(|node| !node.is_null())
    }

    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn says(&self, key: &str, text: &str) -> bool {
        self.get(key).is_some_and(|node| node.says(text))
    }

    fn is_true(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| node.is_true())
    }

    fn is_text(&self, key: &str) -> bool {
        self.get(key).is_some_and(|node| node.is_text())
    }

    /// A name, for the context of a call.
    fn name(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|node| String::from_utf8(node.text()?).ok())
    }
}

/// What a shape knows and does. Each function is JSON to JSON, without I/O.
pub(crate) trait Adapter: Sync {
    /// Whether a value with these members has this shape.
    fn recognises(&self, fields: &Fields<'_>) -> bool;

    /// What there is to bound.
    fn read<'a>(&self, node: Node<'a>) -> Found<'a>;

    /// Writes what is said of a result that fits, for profiles that say so.
    fn mark_whole(&self, _found: &Found<'_>, _edits: &mut Edits) {}

    /// Writes what is said of a result that was cut.
    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits);

    /// What stands beside the text and is too long for a budget of `most` bytes.
    fn beside<'a>(&self, _found: &Found<'a>, _most: u64) -> Beside<'a> {
        Beside::default()
    }

    /// Whether what we add stands in parts of its own instead of with the text.
    fn notice(&self) -> NoticePlace {
        NoticePlace::WithText
    }
}

/// What stands in a result beside its text.
#[derive(Default)]
pub(crate) struct Beside<'a> {
    /// The values that are too long, and what stands for each.
    pub(crate) shortened: Vec<(Node<'a>, String)>,
    /// How many bytes all of it has then.
    pub(crate) bytes: u64,
}

/// Where the notice of a result with several parts stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticePlace {
    /// In the first and the last part that is kept.
    WithText,
    /// In parts of its own, before the first and behind the last.
    OwnParts,
}

/// What a shape found in a value.
pub(crate) struct Found<'a> {
    /// The value.
    pub(crate) node: Node<'a>,
    /// Its texts, in order.
    pub(crate) texts: Texts<'a>,
    /// Whether the tool says that it has bounded this itself.
    pub(crate) handled: Handled,
    /// Whether the tool failed.
    pub(crate) ended: Ended,
    /// The tool's name, if the result says.
    pub(crate) tool: Option<String>,
    /// The call, if the result says.
    pub(crate) call_id: Option<String>,
    /// What could be a preview of ours, if it is not simply the texts.
    pub(crate) claim: Option<Vec<u8>>,
}

/// Whether a tool says that it has bounded its result itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    ByTool,
    NotYet,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Failed,
    Well,
}

/// The texts of a result.
pub(crate) enum Texts<'a> {
    /// Strings, each by itself or in a part of `elements`.
    Parts { texts: Vec<Text<'a>>, elements: Vec<Node<'a>> },
    /// This value is shown in its readable form, and stored as it is.
    Readable(Node<'a>),
}

/// One string of a result.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) node: Node<'a>,
    /// The element of the array that holds it, if it is in one.
    pub(crate) element: Option<usize>,
}

/// What was done to a result that was over the limits.
pub(crate) struct Cut<'a> {
    pub(crate) preview: &'a Preview,
    pub(crate) settings: &'a Settings,
    /// All of the text.
    text: &'a [u8],
}

impl<'a> Cut<'a> {
    pub(crate) fn new(preview: &'a Preview, settings: &'a Settings, text: &'a [u8]) -> Cut<'a> {
        Cut { preview, settings, text }
    }

    /// How many code points the text has, and how many of them are not shown.
    pub(crate) fn chars(&self) -> (u64, u64) {
        let count = |text: &[u8]| measure::chars(text, CharConvention::CodePoints);
        let Preview { content, placed, .. } = self.preview;
        let shown: u64 = placed.iter().map(|part| count(&content[part.at..part.at + part.length])).sum();
        let all = count(self.text);
        (all, all.saturating_sub(shown))
    }

    /// The place of the whole output, if there is one; never one that does not exist.
    pub(crate) fn place(&self) -> Option<Cow<'_, str>> {
        match &self.preview.kept {
            Kept::Whole(entry) | Kept::Open(entry) => Some(match &entry.path {
                Some(path) => path.to_string_lossy(),
                None => Cow::Owned(entry.uri()),
            }),
            Kept::NotWhole { .. } | Kept::Off => None,
        }
    }

    /// The place as JSON.
    pub(crate) fn place_json(&self) -> String {
        self.place().map_or_else(|| "null".to_owned(), |place| quoted(place.as_bytes()))
    }
}

impl<'a> Found<'a> {
    fn new(node: Node<'a>, texts: Texts<'a>) -> Found<'a> {
        Found {
            node,
            texts,
            handled: Handled::NotYet,
            ended: Ended::Well,
            tool: None,
            call_id: None,
            claim: None,
        }
    }
}

impl<'a> Texts<'a> {
    /// No text at all.
    fn none() -> Texts<'a> {
        Texts::Parts { texts: Vec::new(), elements: Vec::new() }
    }

    /// A string, or an array of parts in which `text_of` finds the strings.
    fn of(content: Option<Node<'a>>, text_of: &dyn Fn(Node<'a>) -> Option<Node<'a>>) -> Texts<'a> {
        match content {
            Some(node) if node.is_text() => {
                Texts::Parts { texts: vec![Text { node, element: None }], elements: Vec::new() }
            }
            Some(node) if node.is_array() => {
                let elements = node.elements();
                let found = |(index, &element): (usize, &Node<'a>)| {
                    let node = if element.is_text() { Some(element) } else { text_of(element) };
                    node.filter(|node| node.is_text()).map(|node| Text { node, element: Some(index) })
                };
                Texts::Parts { texts: elements.iter().enumerate().filter_map(found).collect(), elements }
            }
            Some(node) if node.is_object() => {
                let text = text_of(node).filter(|node| node.is_text());
                let texts = text.map(|node| Text { node, element: None }).into_iter().collect();
                Texts::Parts { texts, elements: Vec::new() }
            }
            _ => Texts::none(),
        }
    }
}

/// The text of a part of one of these types, or of none.
fn text_of_type<'a>(part: Node<'a>, types: &[&str]) -> Option<Node<'a>> {
    let fields = Fields::of(part);
    let is_text = types.iter().any(|kind| fields.says("type", kind)) || !fields.has("type");
    is_text.then(|| fields.get("text")).flatten()
}

fn handled(is_handled: bool) -> Handled {
    if is_handled { Handled::ByTool } else { Handled::NotYet }
}

fn ended(has_failed: bool) -> Ended {
    if has_failed { Ended::Failed } else { Ended::Well }
}

/// Sets members of the object `key`, which is made if it is not there.
fn set_in(edits: &mut Edits, node: Node<'_>, key: &str, members: &[(&str, String)]) {
    match node.get(key) {
        Some(object) if object.is_object() => edits.set(object, members),
        // Something of another kind is the tool's own: the notice in the text has to do.
        Some(other) if !other.is_null() => {}
        _ => {
            let members: Vec<String> =
                members.iter().map(|(key, json)| format!("{}:{json}", quoted(key.as_bytes()))).collect();
            edits.set(node, &[(key, format!("{{{}}}", members.join(",")))]);
        }
    }
}
