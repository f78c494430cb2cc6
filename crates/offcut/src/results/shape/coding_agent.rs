//! `{success, output, metadata}`: the coding agent's tool results.

use super::{Adapter, Cut, Fields, Found, Texts, ended, handled, set_in};
use crate::json::{Edits, Node};

pub(super) struct CodingAgent;

impl Adapter for CodingAgent {
    fn recognises(&self, fields: &Fields<'_>) -> bool {
        fields.has("success") && fields.is_text("output")
    }

    fn read<'a>(&self, node: Node<'a>) -> Found<'a> {
        let fields = Fields::of(node);
        // In the document `null` is a value: only a field that is not there is undefined.
        let mark = fields.get("metadata").is_some_and(|metadata| metadata.get("truncated").is_some());
        Found {
            handled: handled(mark),
            ended: ended(fields.get("success").is_some_and(|success| success.json() == "false")),
            ..Found::new(node, texts(&fields))
        }
    }

    fn mark_whole(&self, found: &Found<'_>, edits: &mut Edits) {
        // An empty output is not looked at.
        if found.node.get("output").is_some_and(|output| output.json() != "\"\"") {
            set_in(edits, found.node, "metadata", &[("truncated", "false".to_owned())]);
        }
    }

    fn mark_cut(&self, found: &Found<'_>, cut: &Cut<'_>, edits: &mut Edits) {
        let mut members = vec![("truncated", "true".to_owned())];
        if cut.place().is_some() {
            members.push(("truncationPath", cut.place_json()));
        }
        let removed = cut.preview.removed();
        // The document counts in bytes if there were too many of them, also where its loop stopped at a line.
        let too_many_bytes = cut.settings.limits.bytes.is_some_and(|most| cut.preview.original.bytes > most);
        members.push(match too_many_bytes {
            true => ("truncationRemovedBytes", removed.bytes.to_string()),
            false => ("truncationRemovedLines", removed.lines.to_string()),
        });
        set_in(edits, found.node, "metadata", &members);
    }
}

/// The output; a failed tool without any has all it has to say in `error`.
fn texts<'a>(fields: &Fields<'a>) -> Texts<'a> {
    let has_output = fields.get("output").is_some_and(|output| output.json() != "\"\"");
    Texts::of(fields.get(if has_output { "output" } else { "error" }), &|_| None)
}
