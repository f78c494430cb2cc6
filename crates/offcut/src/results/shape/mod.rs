//! The shapes of tool results: where the text is in each, and how a cut is marked.
//!
//! [`formats`] has one row per shape; `bedrock`, `gemini` and `unified` need code. [`super`] does the rest for all shapes.

mod bedrock;
mod formats;
mod gemini;
pub(super) mod unified;

use crate::json::{Edits, Node, quoted};
use crate::measure::{self, CharConvention};
use crate::outcome::Preview;
use crate::profile::Settings;
use crate::retrieve::readable;
use formats::Format;
use std::path::Path;

/// A shape of tool results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// A Bedrock `toolResult`.
    Bedrock,
}

impl Shape {
    /// Every shape that can be detected, the most specific first: the first that matches is used.
    pub const ALL: [Shape; 11] = [
        Shape::Anthropic,
        Shape::OpenaiChat,
        Shape::OpenaiResponses,
        Shape::Gemini,
        Shape::Bedrock,
        Shape::Takumi,
        Shape::Unified,
        Shape::Klaude,
        Shape::CodingAgent,
        Shape::Opencode,
        Shape::Mcp,
    ];

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The shape of that name.
    pub fn named(name: &str) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| shape.name() == name)
    }

    fn row(self) -> (&'static str, &'static Format) {
        match self {
            Shape::CodingAgent => ("coding-agent", &formats::CODING_AGENT),
            Shape::Opencode => ("opencode", &formats::OPENCODE),
            Shape::Unified => ("unified", &formats::UNIFIED),
            Shape::Takumi => ("takumi", &formats::TAKUMI),
            Shape::Klaude => ("klaude", &formats::KLAUDE),
            Shape::Mcp => ("mcp", &formats::MCP),
            Shape::McpError => ("mcp-error", &formats::MCP_ERROR),
            Shape::Anthropic => ("anthropic", &formats::ANTHROPIC),
            Shape::OpenaiChat => ("openai-chat", &formats::OPENAI_CHAT),
            Shape::OpenaiResponses => ("openai-responses", &formats::OPENAI_RESPONSES),
            Shape::Gemini => ("gemini", &formats::GEMINI),
            Shape::Bedrock => ("bedrock", &formats::BEDROCK),
        }
    }

    /// The shape of a value.
    pub(crate) fn of(node: Node<'_>) -> Option<Shape> {
        let fields = Fields::of(node);
        Shape::ALL.into_iter().find(|shape| node.is_object() && (shape.row().1.detects)(&fields))
    }

    /// Finds what there is to bound.
    pub(crate) fn read(self, node: Node<'_>) -> Found<'_> {
        match self {
            Shape::Bedrock => return bedrock::read(node),
            Shape::Gemini => return gemini::read(node),
            Shape::Unified => return unified::read(node),
            _ => {}
        }
        let (format, fields) = (self.row().1, Fields::of(node));
        let content = fields.get((format.content)(&fields));
        let texts = match (format.beside)(&fields).zip(content) {
            Some((other, content)) => Texts::Two([content, other]),
            None => Texts::of(content, format.part_text),
        };
        Found {
            report: ToolReport {
                is_error: (format.is_error)(&fields),
                is_truncated: (format.is_truncated)(&fields),
            },
            tool: format.tool.and_then(|key| fields.name(key)),
            call_id: format.call_id.and_then(|key| fields.name(key)),
            ..Found::new(node, texts)
        }
    }

    /// Marks a result that fits, for profiles that mark those.
    pub(crate) fn mark_whole(self, found: &Found<'_>, edits: &mut Edits) {
        (self.row().1.mark_whole)(found, edits);
    }

    /// Marks a result that was cut.
    pub(crate) fn mark_cut(self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        (self.row().1.mark_cut)(found, cut, edits);
    }

    /// What is beside the text and too long for a budget of `most` bytes.
    pub(crate) fn beside<'a>(self, found: &Found<'a>, most: u64) -> Beside<'a> {
        if self == Shape::Unified { unified::beside(found, most) } else { Beside::default() }
    }

    /// Where notices go.
    pub(crate) fn notice(self) -> NoticePlace {
        self.row().1.notice
    }
}

/// The members of an object.
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

    /// The text of a member.
    fn name(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|node| String::from_utf8(node.text()?).ok())
    }
}

/// What is in a result beside its text.
#[derive(Default)]
pub(crate) struct Beside<'a> {
    /// The values that are too long, and their replacements.
    pub(crate) shortened: Vec<(Node<'a>, String)>,
    /// The size of everything, with the replacements.
    pub(crate) bytes: u64,
    /// The size of everything as it came.
    pub(crate) original: u64,
}

/// Where the notice goes in a result of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoticePlace {
    /// In the first and the last part that is shown.
    WithText,
    /// In parts of its own, before the first and after the last.
    OwnParts,
}

/// What a shape found in a value.
pub(crate) struct Found<'a> {
    /// The value.
    pub(crate) node: Node<'a>,
    /// Its texts, in order.
    pub(crate) texts: Texts<'a>,
    pub(crate) report: ToolReport,
    /// The name of the tool, if the result has it.
    pub(crate) tool: Option<String>,
    /// The id of the call, if the result has it.
    pub(crate) call_id: Option<String>,
    /// The text that may be an earlier preview, if it differs from the texts.
    pub(crate) preview_text: Option<Vec<u8>>,
}

/// What a tool reports about its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolReport {
    pub(crate) is_error: bool,
    /// It has handled truncation.
    pub(crate) is_truncated: bool,
}

/// The texts of a result.
pub(crate) enum Texts<'a> {
    /// None: the result is not of the form that its shape has.
    Missing,
    /// Strings, each alone or in a part of `elements`; none if all parts are images.
    Parts { texts: Vec<Text<'a>>, elements: Vec<Node<'a>> },
    /// Two strings, each bounded and stored alone, that share the limits.
    Two([Node<'a>; 2]),
    /// A value that is shown in its readable form and stored unchanged.
    Readable(Node<'a>),
}

/// One text of a result.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// A string, or a value that is shown in its readable form.
    pub(crate) node: Node<'a>,
    /// The index of its part, if it is in one.
    pub(crate) element: Option<usize>,
}

impl Text<'_> {
    pub(crate) fn content(&self) -> Vec<u8> {
        let json = self.node.json().as_bytes();
        // Deep data has a long readable form, which does not fit anyway.
        let readable = || readable::up_to(json, 2 * json.len() as u64).unwrap_or_else(|| json.to_vec());
        self.node.text().unwrap_or_else(readable)
    }
}

/// A result that was cut.
pub(crate) struct Cut<'a> {
    pub(crate) preview: &'a Preview,
    pub(crate) settings: &'a Settings,
    /// The complete text; empty for a value that is shown in its readable form.
    text: &'a [u8],
    /// The directory to which paths are relative.
    base: Option<&'a Path>,
}

impl<'a> Cut<'a> {
    pub(crate) fn new(
        preview: &'a Preview,
        settings: &'a Settings,
        text: &'a [u8],
        base: Option<&'a Path>,
    ) -> Cut<'a> {
        Cut { preview, settings, text, base }
    }

    /// The number of code points in the text, and how many of them are not shown.
    pub(crate) fn chars(&self) -> (u64, u64) {
        let count = |text: &[u8]| measure::chars(text, CharConvention::CodePoints);
        let Preview { content, placed, .. } = self.preview;
        let shown: u64 = placed.iter().map(|part| count(&content[part.at..part.at + part.length])).sum();
        let all = count(self.text);
        (all, all.saturating_sub(shown))
    }

    /// The path or address of the complete output, if it is stored.
    pub(crate) fn place(&self) -> Option<String> {
        self.preview.entry().map(|entry| entry.location_from(self.base))
    }

    /// The place as JSON.
    pub(crate) fn place_json(&self) -> String {
        self.place().map_or_else(|| "null".to_owned(), |place| quoted(place.as_bytes()))
    }
}

impl<'a> Found<'a> {
    fn new(node: Node<'a>, texts: Texts<'a>) -> Found<'a> {
        let report = ToolReport::default();
        Found { node, texts, report, tool: None, call_id: None, preview_text: None }
    }
}

impl<'a> Texts<'a> {
    /// A string, or an array of parts in which `text_of` finds the strings.
    fn of(content: Option<Node<'a>>, text_of: fn(Node<'a>) -> Option<Node<'a>>) -> Texts<'a> {
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
            Some(node) if node.is_object() => match text_of(node).filter(|node| node.is_text()) {
                Some(node) => Texts::of(Some(node), text_of),
                None => Texts::Missing,
            },
            _ => Texts::Missing,
        }
    }
}

/// The text of a part that has one of these types, or no type.
fn text_of_type<'a>(part: Node<'a>, types: &[&str]) -> Option<Node<'a>> {
    let fields = Fields::of(part);
    let is_text = types.iter().any(|kind| fields.says("type", kind)) || !fields.has("type");
    is_text.then(|| fields.get("text")).flatten()
}

/// Sets members of the object `key`, which is created if it is absent.
fn set_in(edits: &mut Edits, node: Node<'_>, key: &str, members: &[(&str, String)]) {
    match node.get(key) {
        Some(object) if object.is_object() => edits.set(object, members),
        // A value of another type belongs to the tool: the notice in the text has to suffice.
        Some(other) if !other.is_null() => {}
        _ => {
            let members: Vec<String> =
                members.iter().map(|(key, json)| format!("{}:{json}", quoted(key.as_bytes()))).collect();
            edits.set(node, &[(key, format!("{{{}}}", members.join(",")))]);
        }
    }
}
