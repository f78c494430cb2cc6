//! The results in a JSON value: their shapes, their calls, and their texts.

use crate::context::Context;
use crate::json::Node;
use crate::profile::Rule;
use crate::results::divide::Joined;
use crate::results::outcome::SkipReason;
use crate::results::shape::{Found, Shape, Text, Texts};
use crate::retrieve::readable;
use std::borrow::Cow;

/// One result to be bounded.
pub(super) struct Job<'a> {
    pub(super) shape: Shape,
    /// The index of its value in an array; 0 without one.
    pub(super) index: usize,
    pub(super) found: Found<'a>,
    pub(super) context: Context,
    /// Its texts, joined; empty for a value that is shown in its readable form, which can be long.
    pub(super) text: Joined,
    pub(super) plan: Plan,
    /// Its share of the total in bytes.
    pub(super) share: Option<u64>,
}

/// What to do with a result.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    Skip(SkipReason),
    Bound(Rule),
}

impl<'a> Job<'a> {
    pub(super) fn new(result: RecognizedResult<'a>, context: &Context) -> Job<'a> {
        let RecognizedResult { index, shape, node } = result;
        let found = shape.read(node);
        let context = Context {
            tool: context.tool.clone().or_else(|| found.tool.clone()),
            call_id: context.call_id.clone().or_else(|| found.call_id.clone()),
            ..context.clone()
        };
        let text = match &found.texts {
            Texts::Missing | Texts::Readable(_) => Joined::new(Vec::new()),
            Texts::Parts { texts, .. } => Joined::new(texts.iter().map(Text::content).collect()),
            Texts::Two(nodes) => Joined::new(nodes.map(|node| node.text().unwrap_or_default()).into()),
        };
        Job { shape, index, found, context, text, plan: Plan::Bound(Rule::default()), share: None }
    }

    /// The size of its text.
    pub(super) fn bytes(&self) -> u64 {
        match self.found.texts {
            Texts::Readable(node) => readable::size(node.json().as_bytes()),
            Texts::Missing | Texts::Parts { .. } | Texts::Two(_) => self.text.text.len() as u64,
        }
    }

    /// The text that may be an earlier preview, if it has at most this many bytes.
    pub(super) fn preview_text(&self, most: u64) -> Option<Cow<'_, [u8]>> {
        let text = match (&self.found.preview_text, &self.found.texts) {
            (Some(text), _) => Cow::Borrowed(&text[..]),
            (None, Texts::Readable(node)) => Cow::Owned(readable::up_to(node.json().as_bytes(), most)?),
            (None, _) => Cow::Borrowed(&self.text.text[..]),
        };
        (text.len() as u64 <= most).then_some(text)
    }
}

/// The results in a value, and the number of values that are not results.
pub(super) struct Recognized<'a> {
    pub(super) results: Vec<RecognizedResult<'a>>,
    pub(super) unknown: usize,
}

pub(super) struct RecognizedResult<'a> {
    /// The index of the value that it is in, in an array; 0 without one.
    index: usize,
    shape: Shape,
    node: Node<'a>,
}

/// The results in a value: the value itself, the elements of an array, or the parts of a message.
pub(super) fn recognize(node: Node<'_>) -> Recognized<'_> {
    let values = if node.is_array() { node.elements() } else { vec![node] };
    let mut recognized = Recognized { results: Vec::new(), unknown: 0 };
    for (index, value) in values.into_iter().enumerate() {
        let found = recognize_one(value);
        recognized.unknown += usize::from(found.is_empty());
        recognized.results.extend(found.into_iter().map(|(shape, node)| RecognizedResult {
            index,
            shape,
            node,
        }));
    }
    recognized
}

/// The results in a value, all of one shape. A response of a tool that follows the unified document is any value.
pub(super) fn take_as(shape: Shape, node: Node<'_>) -> Recognized<'_> {
    let is_envelope = |node: &Node<'_>| Shape::of(*node) == Some(Shape::Unified);
    if shape == Shape::Unified && !(node.is_array() && node.elements().iter().all(is_envelope)) {
        return Recognized { results: vec![RecognizedResult { index: 0, shape, node }], unknown: 0 };
    }
    let values = if node.is_array() { node.elements() } else { vec![node] };
    let all = values.len();
    let objects = values.into_iter().enumerate().filter(|(_, node)| node.is_object());
    let results: Vec<_> = objects.map(|(index, node)| RecognizedResult { index, shape, node }).collect();
    Recognized { unknown: all - results.len(), results }
}

fn recognize_one(node: Node<'_>) -> Vec<(Shape, Node<'_>)> {
    if let Some(shape) = Shape::of(node) {
        return vec![(shape, node)];
    }
    let inside = |key: &str, wanted: Shape| {
        let parts = node.get(key).map(|parts| parts.elements()).unwrap_or_default();
        parts.into_iter().filter(move |part| Shape::of(*part) == Some(wanted)).map(move |part| (wanted, part))
    };
    let blocks = inside("content", Shape::Anthropic).chain(inside("content", Shape::Bedrock));
    blocks.chain(inside("parts", Shape::Gemini)).collect()
}
