//! Writes the bounded texts back into a result.

use crate::json::{Edits, Node, quoted};
use crate::outcome::Preview;
use crate::results::divide::{Notices, PartText};
use crate::results::shape::Text;
use std::collections::BTreeSet;

/// Replaces the texts in place.
pub(super) fn texts(texts: &[Text<'_>], elements: &[Node<'_>], divided: &[PartText], edits: &mut Edits) {
    let gone: BTreeSet<usize> = texts
        .iter()
        .zip(divided)
        .filter(|(_, part)| **part == PartText::Gone)
        .filter_map(|(text, _)| text.element)
        .collect();
    for (text, part) in texts.iter().zip(divided) {
        match part {
            PartText::Same => {}
            PartText::Changed(changed) if text.node.is_text() => edits.replace(text.node, quoted(changed)),
            // What is shown of data is a text.
            PartText::Changed(changed) => {
                let part = text.element.and_then(|index| elements.get(index)).copied();
                edits.replace(part.unwrap_or(text.node), format!("{{\"text\":{}}}", quoted(changed)));
            }
            // Some interfaces reject an empty part, so the part is removed; a string outside of parts becomes empty.
            PartText::Gone if text.element.is_some() => {}
            PartText::Gone => edits.replace(text.node, quoted(b"")),
        }
    }
    edits.remove(elements, &|index| gone.contains(&index));
}

/// Adds the header and the footer as parts around the texts that are shown.
pub(super) fn own_parts(
    texts: &[Text<'_>],
    elements: &[Node<'_>],
    divided: &[PartText],
    preview: &Preview,
    edits: &mut Edits,
) {
    let Notices { before, after, .. } = Notices::of(preview);
    let part = |text: &[u8]| format!("{{\"type\":\"text\",\"text\":{}}}", quoted(text.trim_ascii()));
    let mut shown = texts
        .iter()
        .zip(divided)
        .filter(|(_, part)| **part != PartText::Gone)
        .filter_map(|(text, _)| elements.get(text.element?).copied());
    let first = shown.next();
    let last = shown.next_back().or(first);
    if let (Some(first), false) = (first, before.trim_ascii().is_empty()) {
        edits.insert_before(first, &part(before));
    }
    if let (Some(last), false) = (last, after.trim_ascii().is_empty()) {
        edits.insert_after(last, &part(after));
    }
}
