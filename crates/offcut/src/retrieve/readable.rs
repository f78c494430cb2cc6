//! JSON as a person reads it: indented, with the line breaks inside its strings shown as line breaks.
//!
//! A result that is one long line cannot be paged or searched by lines; its readable form can. The conversion is one
//! pass over the tokens at any depth. Numbers, order and duplicates are unchanged, and so is text that is not JSON,
//! apart from its white space.

use crate::json::{Lexer, Token, TokenKind};
use crate::store::{
    Entry, Id, Item, LineCheckpoint, NewEntry, Pin, Reading, Selection, Store, StoreError, Writer,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The readable form of a JSON text.
pub fn readable(json: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(json.len() + json.len() / 8);
    let mut depth = 0_usize;
    let mut tokens = Lexer::new(json).peekable();
    while let Some(Token { kind, start, end }) = tokens.next() {
        let bytes = &json[start..end];
        match kind {
            TokenKind::ObjectStart | TokenKind::ArrayStart => {
                text.extend_from_slice(bytes);
                let is_object = kind == TokenKind::ObjectStart;
                let closing = if is_object { TokenKind::ObjectEnd } else { TokenKind::ArrayEnd };
                if let Some(end) = tokens.next_if(|next| next.kind == closing) {
                    text.push(json[end.start]);
                } else {
                    depth += 1;
                    new_line(&mut text, depth);
                }
            }
            TokenKind::ObjectEnd | TokenKind::ArrayEnd => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.extend_from_slice(bytes);
            }
            TokenKind::Comma => {
                text.extend_from_slice(bytes);
                new_line(&mut text, depth);
            }
            TokenKind::Colon => text.extend_from_slice(b": "),
            TokenKind::String | TokenKind::OpenString => string(bytes, &mut text),
            TokenKind::Word | TokenKind::Other => text.extend_from_slice(bytes),
        }
    }
    text
}

/// The deepest indentation: without a limit the text could grow with the square of the depth.
const DEEPEST_INDENTATION: usize = 64;

fn new_line(text: &mut Vec<u8>, depth: usize) {
    text.push(b'\n');
    text.resize(text.len() + 2 * depth.min(DEEPEST_INDENTATION), b' ');
}

/// Writes a string with its quotes. Only line breaks and printable characters are decoded, so that a backslash in the
/// decoded text remains distinguishable from an escape.
fn string(mut json: &[u8], text: &mut Vec<u8>) {
    while let Some(plain) = memchr::memchr(b'\\', json) {
        text.extend_from_slice(&json[..plain]);
        let escape = &json[plain..];
        let (printable, length) = match escape.get(1) {
            Some(b'n') => (Some('\n'), 2),
            Some(b'u') => printable(escape).map_or((None, 2), |char| (Some(char), 6 * char.len_utf16())),
            _ => (None, escape.len().min(2)),
        };
        match printable {
            Some(char) => text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            None => text.extend_from_slice(&escape[..length]),
        }
        json = &escape[length..];
    }
    text.extend_from_slice(json);
}

/// The character of a `\u` escape, or of a surrogate pair, if it is printable without an escape.
fn printable(escape: &[u8]) -> Option<char> {
    let unit = |at: usize| {
        let digits = escape.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let units = [unit(0), unit(6)].into_iter().map_while(|unit| unit);
    let char = char::decode_utf16(units).next()?.ok()?;
    (!char.is_control() && char != '"' && char != '\\').then_some(char)
}

/// A store as its reader sees it: entries that are read in their readable form have that form here.
///
/// One of them is held in memory at a time; all others are the store's own.
pub struct View {
    store: Arc<dyn Store>,
    /// The entry that was asked for last.
    latest: Mutex<Option<Latest>>,
}

/// An entry, and its readable form if it has one.
type Latest = (Id, Option<Arc<[u8]>>);

impl View {
    /// The view of a store.
    pub fn new(store: Arc<dyn Store>) -> View {
        View { store, latest: Mutex::new(None) }
    }

    fn readable(&self, id: &Id) -> Result<Option<Arc<[u8]>>, StoreError> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, text)) = &*latest
            && known == id
        {
            return Ok(text.clone());
        }
        let entry = self.store.entry(id)?;
        let text = match entry.reading {
            Reading::Plain => None,
            Reading::Readable => {
                let mut json = vec![0; usize::try_from(entry.bytes).unwrap_or(usize::MAX)];
                let count = self.store.read(id, 0, &mut json)?;
                Some(Arc::from(readable(&json[..count])))
            }
        };
        *latest = Some((*id, text.clone()));
        Ok(text)
    }
}

impl Store for View {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.store.create(draft)
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.store.ids()
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let entry = self.store.entry(id)?;
        Ok(match self.readable(id)? {
            Some(text) => Entry { bytes: text.len() as u64, ..entry },
            None => entry,
        })
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Some(text) = self.readable(id)? else { return self.store.read(id, offset, buffer) };
        let rest = usize::try_from(offset).ok().and_then(|offset| text.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.store.pin(id, pin)
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.store.remove(id)
    }

    fn select(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        self.store.select(selection)
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        self.store.newest(count)
    }

    fn ids_beginning(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        self.store.ids_beginning(beginning)
    }

    fn landmark(&self, id: &Id, line: u64) -> Result<LineCheckpoint, StoreError> {
        match self.readable(id)? {
            Some(_) => Ok(LineCheckpoint::START),
            None => self.store.landmark(id, line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn readable_indents_and_decodes_printable_escapes() {
        let check = |json: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&readable(json.as_bytes())), expected, "{json}");
        };
        check(
            r#"{"a":[1,1e2, {} , [ ]],"b":"x\ny","a":null}"#,
            "{\n  \"a\": [\n    1,\n    1e2,\n    {},\n    []\n  ],\n  \"b\": \"x\ny\",\n  \"a\": null\n}",
        );
        check(
            r#""C:\\new \" \u00e9\ud83d\ude00 \u0041\t\u001b \ud800""#,
            "\"C:\\\\new \\\" é😀 A\\t\\u001b \\ud800\"",
        );
        check("\"cut off \\", "\"cut off \\");
        check("[", "[\n  ");
        check("}}", "\n}\n}");
        let deep = "[".repeat(100_000);
        assert!(readable(deep.as_bytes()).len() < 100_000 * 140);
    }
}
