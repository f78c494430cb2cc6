//! `{llmContent: string | parts[], isError, truncated, outputPath}`: Takumi's tool results.

use super::{Adapter, Cut, Fields, Found, Texts, ended, handled, text_of_type};
use crate::json::{Edits, Node};

pub(super) struct Takumi;

impl Adapter for Takumi {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.has("llmContent")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        Found {
            handled: handled(fields.has("truncated")),
            ended: ended(fields.is_true("isError")),
            ..Found::new(node, Texts::of(fields.get("llmContent"), &|part| text_of_type(part, &["text"])))
        }
    }

    fn mark_whole(&self, found: &Found<'_>, edits: &mut Edits) {
        edits.set(found.node, &[("truncated", "false".to_owned())]);
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        let mut members = vec![("truncated", "true".to_owned())];
        if cut.place().is_some() {
            members.push(("outputPath", cut.place_json()));
        }
        edits.set(found.node, &members);
    }
}
