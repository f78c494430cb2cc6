//! `{title, output, metadata}`: OpenCode's tool results.

use super::{Adapter, Cut, Fields, Found, Texts, handled, set_in};
use crate::json::{Edits, Node};

pub(super) struct Opencode;

impl Adapter for Opencode {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.is_text("output") && (fields.has("title") || fields.has("metadata"))
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        let mark = fields.get("metadata").is_some_and(|metadata| metadata.get("truncated").is_some());
        Found { handled: handled(mark), ..Found::new(node, Texts::of(fields.get("output"), &|_| None)) }
    }

    fn mark_whole(&self, found: &Found<'_>, edits: &mut Edits) {
        set_in(edits, found.node, "metadata", &[("truncated", "false".to_owned())]);
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        let mut members = vec![("truncated", "true".to_owned())];
        if cut.place().is_some() {
            members.push(("outputPath", cut.place_json()));
        }
        set_in(edits, found.node, "metadata", &members);
    }
}
