//! The results in a text: which shape each has, which call it belongs to, and what there is to bound.

use crate::context::Context;
use crate::json::Node;
use crate::profile::Rule;
use crate::results::divide::Joined;
use crate::results::outcome::SkipReason;
use crate::results::shape::{Found, Shape, Texts};
use crate::retrieve;

/// One result on its way.
pub(super) struct Job<'a> {
    pub(super) shape: Shape,
    pub(super) found: Found<'a>,
    pub(super) context: Context,
    /// All that is shown of it, if it fits.
    pub(super) text: Joined,
    /// What is to be done with it.
    pub(super) plan: Plan,
    /// What it may have of the total.
    pub(super) share: Option<u64>,
}

/// What is to be done with a result.
#[derive(Clone, Copy)]
pub(super) enum Plan {
    Pass(SkipReason),
    Bound(Rule),
}

impl<'a> Job<'a> {
    pub(super) fn new(shape: Shape, node: Node<'a>, context: &Context) -> Job<'a> {
        let found = shape.adapter().read(node);
        let context = Context {
            tool: context.tool.clone().or_else(|| found.tool.clone()),
            call_id: context.call_id.clone().or_else(|| found.call_id.clone()),
            session: context.session.clone(),
        };
        let text = match &found.texts {
            Texts::Parts { texts, .. } => {
                Joined::new(texts.iter().map(|text| text.node.text().unwrap_or_default()).collect())
            }
            Texts::Readable(node) => Joined::new(vec![retrieve::readable(node.json().as_bytes())]),
        };
        Job { shape, found, context, text, plan: Plan::Bound(Rule::default()), share: None }
    }

    /// What could be a preview of ours.
    pub(super) fn claim(&self) -> &[u8] {
        self.found.claim.as_deref().unwrap_or(&self.text.text)
    }
}

/// The results in a value, and how many values in it are none.
pub(super) struct Recognised<'a> {
    pub(super) results: Vec<(Shape, Node<'a>)>,
    pub(super) unknown: usize,
}

/// The results in a value: itself, the elements of an array, or the parts of a message.
pub(super) fn recognise(node: Node<'_>) -> Recognised<'_> {
    let values = if node.is_array() { node.elements() } else { vec![node] };
    let mut recognised = Recognised { results: Vec::new(), unknown: 0 };
    for value in values {
        let found = recognise_one(value);
        recognised.unknown += usize::from(found.is_empty());
        recognised.results.extend(found);
    }
    recognised
}

/// The same where the shape is known.
pub(super) fn take_as(shape: Shape, node: Node<'_>) -> Recognised<'_> {
    let values = if node.is_array() { node.elements() } else { vec![node] };
    let all = values.len();
    let results: Vec<_> = values.into_iter().filter(Node::is_object).map(|node| (shape, node)).collect();
    Recognised { unknown: all - results.len(), results }
}

fn recognise_one(node: Node<'_>) -> Vec<(Shape, Node<'_>)> {
    if let Some(shape) = Shape::of(node) {
        return vec![(shape, node)];
    }
    let inside = |key: &str, wanted: Shape| {
        let parts = node.get(key).map(|parts| parts.elements()).unwrap_or_default();
        parts.into_iter().filter(move |part| Shape::of(*part) == Some(wanted)).map(move |part| (wanted, part))
    };
    inside("content", Shape::Anthropic).chain(inside("parts", Shape::Gemini)).collect()
}
