//! Changes to a JSON text that leave every other byte unchanged.

use super::Node;
use std::borrow::Cow;
use std::ops::Range;

/// Bytes as a JSON string; invalid UTF-8 becomes replacement characters.
pub fn quoted(text: &[u8]) -> String {
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(String::from_utf8_lossy(&without_surrogates(text)).into_owned()),
    };
    serde_json::to_string(&text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Replaces each unpaired surrogate with one replacement character of the same length, so that the text stays within
/// its limit. `from_utf8_lossy` would make three of it.
fn without_surrogates(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let mut from = 0;
    while let Some(found) = memchr::memchr(0xED, &text[from..]) {
        let at = from + found;
        if let Some([_, 0xA0..=0xBF, 0x80..=0xBF]) = text.get(at..at + 3) {
            text[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
        from = at + 1;
    }
    text
}

/// Changes to a document: collected first, then applied together.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces a value.
    pub fn replace(&mut self, node: Node<'_>, json: String) {
        self.0.push((node.span(), json));
    }

    /// Sets members of an object: existing ones are replaced, new ones are added after the last one.
    pub fn set(&mut self, object: Node<'_>, members: &[(&str, String)]) {
        let known = object.members();
        let mut added = String::new();
        for (key, json) in members {
            match known.iter().rfind(|(name, _)| name == key.as_bytes()) {
                Some((_, node)) => self.replace(*node, json.clone()),
                None => {
                    if !known.is_empty() || !added.is_empty() {
                        added.push(',');
                    }
                    added += &format!("{}:{json}", quoted(key.as_bytes()));
                }
            }
        }
        if !added.is_empty() {
            // After the last member and not before the brace, so that the closing indentation is unchanged.
            let at = known.last().map_or(object.span().start + 1, |(_, last)| last.span().end);
            self.0.push((at..at, added));
        }
    }

    /// Inserts `json` before an element of an array.
    pub fn insert_before(&mut self, element: Node<'_>, json: &str) {
        let at = element.span().start;
        self.0.push((at..at, format!("{json},")));
    }

    /// Inserts `json` after an element of an array.
    pub fn insert_after(&mut self, element: Node<'_>, json: &str) {
        let at = element.span().end;
        self.0.push((at..at, format!(",{json}")));
    }

    /// Removes elements of an array, each with one comma.
    pub fn remove(&mut self, elements: &[Node<'_>], is_removed: &dyn Fn(usize) -> bool) {
        let mut kept_before = false;
        for (index, element) in elements.iter().enumerate() {
            let span = element.span();
            match (is_removed(index), kept_before, elements.get(index + 1)) {
                (false, ..) => kept_before = true,
                (true, true, _) => self.0.push((elements[index - 1].span().end..span.end, String::new())),
                (true, false, Some(next)) => self.0.push((span.start..next.span().start, String::new())),
                (true, false, None) => self.0.push((span, String::new())),
            }
        }
    }

    /// Replaces bytes of the document.
    pub(crate) fn replace_range(&mut self, range: Range<usize>, json: &str) {
        self.0.push((range, json.to_owned()));
    }

    /// The document with all changes.
    pub fn apply(self, document: &str) -> String {
        self.apply_from(document, 0)
    }

    /// One value of the document with its changes; all changes must be inside it.
    pub fn apply_within(self, node: Node<'_>) -> String {
        self.apply_from(node.json(), node.span().start)
    }

    /// A part of the document that begins at `origin`, with its changes.
    fn apply_from(mut self, part: &str, origin: usize) -> String {
        // The sort is stable: insertions at one position keep their order.
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let grown: usize = self.0.iter().map(|(_, text)| text.len()).sum();
        let mut text = String::with_capacity(part.len() + grown);
        let mut done = 0;
        for (range, with) in self.0 {
            text.push_str(&part[done..(range.start - origin).max(done)]);
            text.push_str(&with);
            done = (range.end - origin).max(done);
        }
        text.push_str(&part[done..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_leaves_every_other_byte_unchanged() {
        let document = r#" { "n" : 9223372036854775809, "a":1e2 , "o" : {  }, "a" : "\u0041" }"#;
        let node = Node::parse(document).unwrap();
        let mut edits = Edits::default();
        edits.set(node, &[("a", "\"b\"".to_owned()), ("new", "true".to_owned())]);
        edits.set(node.get("o").unwrap(), &[("x", "1".to_owned()), ("y", "2".to_owned())]);
        assert_eq!(
            edits.apply(document),
            r#" { "n" : 9223372036854775809, "a":1e2 , "o" : {"x":1,"y":2  }, "a" : "b","new":true }"#
        );
    }

    #[test]
    fn remove_takes_one_comma_per_element() {
        let check = |document: &str, removed: &[usize], expected: &str| {
            let node = Node::parse(document).unwrap();
            let mut edits = Edits::default();
            edits.remove(&node.elements(), &|index| removed.contains(&index));
            assert_eq!(edits.apply(document), expected, "{removed:?}");
        };
        check("[1, 2, 3, 4]", &[], "[1, 2, 3, 4]");
        check("[1, 2, 3, 4]", &[0, 1], "[3, 4]");
        check("[1, 2, 3, 4]", &[1, 2], "[1, 4]");
        check("[1, 2, 3, 4]", &[0, 2, 3], "[2]");
        check("[ 1 , 2 ]", &[0, 1], "[  ]");
        check("[1]", &[0], "[]");
    }

    #[test]
    fn quoted_replaces_an_unpaired_surrogate_with_one_character() {
        assert_eq!(quoted(b"x\xed\xbf\xbfy\n"), "\"x\u{fffd}y\\n\"");
    }
}
