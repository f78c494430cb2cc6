//! A value of a JSON text, by its position.

use super::{Lexer, TokenKind};
use serde::de::{Deserializer, IgnoredAny, Visitor};
use std::fmt;
use std::ops::Range;

/// A value: a range of bytes in a document that is valid JSON.
///
/// It is looked into only as far as asked, one level at a time, so the depth of a document does not matter.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    document: &'a str,
    start: usize,
    end: usize,
}

impl<'a> Node<'a> {
    /// The value of a document, after checking that it is valid JSON.
    pub fn parse(document: &'a str) -> Result<Node<'a>, serde_json::Error> {
        serde_json::from_str::<IgnoredAny>(document)?;
        let start = document.len() - document.trim_ascii_start().len();
        Ok(Node { document, start, end: document.trim_ascii_end().len() })
    }

    /// Its position in the document.
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Its text in the document.
    pub fn json(&self) -> &'a str {
        &self.document[self.start..self.end]
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

    /// The members of an object, in order and with duplicates; none for any other value.
    pub fn members(&self) -> Vec<(Vec<u8>, Node<'a>)> {
        self.pairs().map(|(key, value)| (key.text().unwrap_or_default(), value)).collect()
    }

    /// The elements of an array, in order; none for any other value.
    pub fn elements(&self) -> Vec<Node<'a>> {
        if self.is_array() { self.children().collect() } else { Vec::new() }
    }

    /// The last member with this name, because most parsers use the last of several.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        self.pairs().filter(|(name, _)| name.says(key)).last().map(|(_, value)| value)
    }

    /// The keys and values of an object, one after another; none for any other value.
    pub fn pairs(&self) -> impl Iterator<Item = (Node<'a>, Node<'a>)> + use<'a> {
        let mut children = self.is_object().then(|| self.children()).into_iter().flatten();
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// What a container directly contains, one after another; in an object each key is followed by its value.
    pub fn children(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let node = *self;
        let mut lexer = Lexer::new(node.json().as_bytes());
        let (mut depth, mut start) = (0_usize, 0);
        std::iter::from_fn(move || {
            for token in &mut lexer {
                match token.kind {
                    TokenKind::ObjectStart | TokenKind::ArrayStart => {
                        if depth == 1 {
                            start = token.start;
                        }
                        depth += 1;
                    }
                    TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                        depth = depth.saturating_sub(1);
                        if depth == 1 {
                            return Some(node.inner(start, token.end));
                        }
                    }
                    TokenKind::String | TokenKind::Word if depth == 1 => {
                        return Some(node.inner(token.start, token.end));
                    }
                    _ => {}
                }
            }
            None
        })
    }

    /// The decoded text of a string. An unpaired surrogate, which UTF-8 cannot express, becomes three bytes that are
    /// not UTF-8.
    pub fn text(&self) -> Option<Vec<u8>> {
        let decoded = || serde_json::Deserializer::from_str(self.json()).deserialize_bytes(DecodedText).ok();
        self.is_text().then(decoded).flatten()
    }

    /// Whether it is the string `text`.
    pub fn says(&self, text: &str) -> bool {
        let inside = self.json().strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        match inside {
            Some(inside) if inside.contains('\\') => {
                self.text().is_some_and(|found| found == text.as_bytes())
            }
            inside => inside == Some(text),
        }
    }

    /// Every string inside that is a value and not a key, in order, at any depth.
    pub(crate) fn strings(&self) -> Vec<Node<'a>> {
        let mut tokens = Lexer::new(self.json().as_bytes()).peekable();
        let mut strings = Vec::new();
        while let Some(token) = tokens.next() {
            let is_key = tokens.peek().is_some_and(|next| next.kind == TokenKind::Colon);
            if token.kind == TokenKind::String && !is_key {
                strings.push(self.inner(token.start, token.end));
            }
        }
        strings
    }

    /// A value inside, by its position in this one.
    fn inner(&self, start: usize, end: usize) -> Node<'a> {
        Node { document: self.document, start: self.start + start, end: self.start + end }
    }
}

/// Decodes a string into bytes.
struct DecodedText;

impl Visitor<'_> for DecodedText {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_str<E>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn finds_strings_that_are_values_and_not_keys() {
        let node = Node::parse(r#"{"a" : "x\\" , "b":["\"y:", {"k" :"z"}], "":"", "n":1}"#).unwrap();
        let found: Vec<&str> = node.strings().iter().map(Node::json).collect();
        assert_eq!(found, [r#""x\\""#, r#""\"y:""#, r#""z""#, r#""""#]);
        assert_eq!(Node::parse("\"s\"").unwrap().strings()[0].span(), 0..3);
    }

    #[test]
    fn decodes_unpaired_surrogates() {
        let node = Node::parse(r#"{"a\ud800":"x\udfffy","b":"\ud83d\ude00"}"#).unwrap();
        let members = node.members();
        assert_eq!(members.len(), 2);
        assert_eq!(members[0].1.text().unwrap(), b"x\xed\xbf\xbfy");
        assert_eq!(node.get("b").unwrap().text().unwrap(), "😀".as_bytes());
    }

    #[test]
    fn finds_members_and_elements_between_white_space() {
        let node = Node::parse(" {\"a\" : [ 1 , [2,{}] , \"]\" ] , \"b\":{\"c\":null}, \"a\":3}\n").unwrap();
        let members: Vec<(Vec<u8>, &str)> =
            node.members().into_iter().map(|(key, node)| (key, node.json())).collect();
        let expected =
            [("a", "[ 1 , [2,{}] , \"]\" ]"), ("b", "{\"c\":null}"), ("a", "3")].map(|(k, v)| (k.into(), v));
        assert_eq!(members, expected);
        assert_eq!(node.get("a").unwrap().json(), "3");
        let elements = node.members()[0].1.elements();
        assert_eq!(elements.iter().map(Node::json).collect::<Vec<_>>(), ["1", "[2,{}]", "\"]\""]);
        assert!(node.elements().is_empty() && elements[1].members().is_empty());
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(Node::parse(&deep).unwrap().elements().len(), 1);
    }
}
