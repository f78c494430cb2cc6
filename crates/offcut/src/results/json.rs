//! Positions in a JSON text, and edits that leave every other byte as it was.
//!
//! A result is never taken apart and written anew: numbers keep their digits, keys their order, duplicates and unknown
//! fields stay. What is edited is the text itself, at the places where the values stand.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// A value, where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    document: &'a str,
    raw: &'a RawValue,
}

impl<'a> Node<'a> {
    /// The value that `document` is. Nothing is looked at that is not asked for, so depth does not matter.
    pub fn parse(document: &'a str) -> Result<Node<'a>, serde_json::Error> {
        Ok(Node { document, raw: serde_json::from_str(document)? })
    }

    /// Where it stands in the document.
    pub fn span(&self) -> Range<usize> {
        let text = self.raw.get();
        // The raw value borrows from the document, so the difference of the addresses is its offset.
        let start = text.as_ptr() as usize - self.document.as_ptr() as usize;
        start..start + text.len()
    }

    /// Its text in the document.
    pub fn json(&self) -> &'a str {
        self.raw.get()
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.json().starts_with('{')
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.json().starts_with('[')
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        self.json().starts_with('"')
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.json() == "null"
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        self.json() == "true"
    }

    /// The members of an object, in order, duplicates included; none of anything else.
    pub fn members(&self) -> Vec<(Vec<u8>, Node<'a>)> {
        let members: Members<'a> = serde_json::from_str(self.json()).unwrap_or_default();
        members.0.into_iter().map(|(key, raw)| (key.0, Node { raw, ..*self })).collect()
    }

    /// The elements of an array, in order; none of anything else.
    pub fn elements(&self) -> Vec<Node<'a>> {
        let elements: Elements<'a> = serde_json::from_str(self.json()).unwrap_or_default();
        elements.0.into_iter().map(|raw| Node { raw, ..*self }).collect()
    }

    /// The member of that name. Of several the last one counts, as for everybody who reads such a text.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.members().into_iter().rfind(|(name, _)| name == key.as_bytes()).map(|(_, node)| node)
    }

    /// The text of a string, decoded. Half a surrogate pair, which JSON can write and UTF-8 cannot, is three bytes
    /// that are not UTF-8.
    pub fn text(&self) -> Option<Vec<u8>> {
        self.is_text().then(|| serde_json::from_str::<Decoded>(self.json()).ok().map(|text| text.0)).flatten()
    }

    /// Every string inside that is a value and not a key, in order: one pass, whatever the depth.
    pub(crate) fn strings(&self) -> Vec<Node<'a>> {
        let json = self.json();
        let (mut strings, mut at) = (Vec::new(), 0);
        while let Some(found) = memchr::memchr(b'"', &json.as_bytes()[at..]) {
            let start = at + found;
            let end = string_end(json.as_bytes(), start);
            at = end;
            let is_key = json[end..].trim_ascii_start().starts_with(':');
            if let (false, Ok(raw)) = (is_key, serde_json::from_str(&json[start..end])) {
                strings.push(Node { raw, ..*self });
            }
        }
        strings
    }

    /// Whether it is the string `text`.
    pub fn says(&self, text: &str) -> bool {
        self.text().is_some_and(|found| found == text.as_bytes())
    }
}

/// Behind the string that begins at `start` of a valid JSON text.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &json[at..]) {
        match json[at + found] {
            b'"' => return at + found + 1,
            // An escape takes the next byte with it, also a quote.
            _ => at = (at + found + 2).min(json.len()),
        }
    }
    json.len()
}

/// The decoded text of a string.
struct Decoded(Vec<u8>);

impl<'de> Deserialize<'de> for Decoded {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Decoded;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Decoded, E> {
                Ok(Decoded(bytes.to_vec()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Decoded, E> {
                Ok(Decoded(text.as_bytes().to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// The members of an object. A map type would lose the order and the duplicates.
#[derive(Default)]
struct Members<'a>(Vec<(Decoded, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(Decoded, &'de RawValue)>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

#[derive(Default)]
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<&'de RawValue>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(elements)
            }
        }
        deserializer.deserialize_seq(Collect).map(Elements)
    }
}

/// Bytes as a JSON string; what is not UTF-8 becomes replacement characters.
pub fn quoted(text: &[u8]) -> String {
    let text = match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(String::from_utf8_lossy(&without_surrogates(text)).into_owned()),
    };
    serde_json::to_string(&text).unwrap_or_else(|_| "\"\"".to_owned())
}

/// Half a surrogate pair is one replacement character of the same length, so that no limit is broken by it.
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

/// Changes to a document, collected and then made at once.
#[derive(Debug, Default)]
pub struct Edits(Vec<(Range<usize>, String)>);

impl Edits {
    /// Whether nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts `json` in the place of a value.
    pub fn replace(&mut self, node: Node<'_>, json: String) {
        self.0.push((node.span(), json));
    }

    /// Gives an object these members: those it has are replaced, the others are added at its end.
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
            // Behind the last member rather than before the brace, so that a document's indentation stays together.
            let at = known.last().map_or(object.span().start + 1, |(_, last)| last.span().end);
            self.0.push((at..at, added));
        }
    }

    /// Puts `json` before an element of an array.
    pub fn insert_before(&mut self, element: Node<'_>, json: &str) {
        let at = element.span().start;
        self.0.push((at..at, format!("{json},")));
    }

    /// Puts `json` behind an element of an array.
    pub fn insert_behind(&mut self, element: Node<'_>, json: &str) {
        let at = element.span().end;
        self.0.push((at..at, format!(",{json}")));
    }

    /// Takes elements out of an array, each with the comma that goes with it.
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

    /// The document with all changes made.
    pub fn apply(self, document: &str) -> String {
        self.apply_from(document, 0)
    }

    /// One value of the document with the changes made that lie in it; there must be no others.
    pub fn apply_within(self, node: Node<'_>) -> String {
        self.apply_from(node.json(), node.span().start)
    }

    /// The changes made to a stretch of the document that begins at `origin`.
    fn apply_from(mut self, stretch: &str, origin: usize) -> String {
        // A stable sort: what was inserted first at a place stands first there.
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let grown: usize = self.0.iter().map(|(_, text)| text.len()).sum();
        let mut text = String::with_capacity(stretch.len() + grown);
        let mut done = 0;
        for (range, with) in self.0 {
            text.push_str(&stretch[done..(range.start - origin).max(done)]);
            text.push_str(&with);
            done = (range.end - origin).max(done);
        }
        text.push_str(&stretch[done..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_byte_stays() {
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
    fn strings_that_are_values() {
        let node = Node::parse(r#"{"a" : "x\\" , "b":["\"y:", {"k" :"z"}], "":"", "n":1}"#).unwrap();
        let found: Vec<&str> = node.strings().iter().map(Node::json).collect();
        assert_eq!(found, [r#""x\\""#, r#""\"y:""#, r#""z""#, r#""""#]);
        assert_eq!(Node::parse("\"s\"").unwrap().strings()[0].span(), 0..3);
    }

    #[test]
    fn elements_go_with_their_commas() {
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
    fn half_a_surrogate_pair_is_text() {
        let node = Node::parse(r#"{"a\ud800":"x\udfffy","b":"\ud83d\ude00"}"#).unwrap();
        let members = node.members();
        assert_eq!(members.len(), 2);
        assert_eq!(members[0].1.text().unwrap(), b"x\xed\xbf\xbfy");
        assert_eq!(node.get("b").unwrap().text().unwrap(), "😀".as_bytes());
        assert_eq!(quoted(b"x\xed\xbf\xbfy\n"), "\"x\u{fffd}y\\n\"");
    }
}
