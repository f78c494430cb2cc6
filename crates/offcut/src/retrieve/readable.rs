//! JSON as a person reads it: indented, with the line breaks inside its strings shown as line breaks.
//!
//! A result that is one long line cannot be paged or searched by lines; this form of it can. One pass over the bytes,
//! whatever the depth; numbers, order and duplicates stay as they are. What is not JSON comes out as it is, as far
//! as it can be told.

use crate::store::{
    Entry, Id, Item, LineCheckpoint, NewEntry, Pin, Reading, Selection, Store, StoreError, Writer,
};
use std::sync::{Arc, Mutex, PoisonError};

/// The readable form of a JSON text.
pub fn readable(json: &[u8]) -> Vec<u8> {
    let mut layout = Layout { json, at: 0, text: Vec::with_capacity(json.len() + json.len() / 8), depth: 0 };
    layout.write();
    layout.text
}

/// Deeper than this the indentation stays: its sum would grow with the square of the depth.
const DEEPEST_INDENTATION: usize = 64;

struct Layout<'a> {
    json: &'a [u8],
    at: usize,
    text: Vec<u8>,
    depth: usize,
}

impl Layout<'_> {
    fn write(&mut self) {
        while let Some(&byte) = self.json.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => {
                    self.text.push(byte);
                    self.depth += 1;
                    let closing = if byte == b'{' { b'}' } else { b']' };
                    if self.next_is(closing) {
                        self.depth -= 1;
                        self.text.push(closing);
                    } else {
                        self.new_line();
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.new_line();
                    self.text.push(byte);
                }
                b',' => {
                    self.text.push(byte);
                    self.new_line();
                }
                b':' => self.text.extend_from_slice(b": "),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.text.push(byte),
            }
        }
    }

    /// Skips blanks, and `closing` if it comes next.
    fn next_is(&mut self, closing: u8) -> bool {
        let rest = &self.json[self.at..];
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let found = rest.get(blanks) == Some(&closing);
        self.at += if found { blanks + 1 } else { 0 };
        found
    }

    fn new_line(&mut self) {
        self.text.push(b'\n');
        self.text.resize(self.text.len() + 2 * self.depth.min(DEEPEST_INDENTATION), b' ');
    }

    /// A string behind its opening quote. Only what stands for itself is decoded: line breaks and printable
    /// characters, so that a backslash that the text really has stays one.
    fn string(&mut self) {
        self.text.push(b'"');
        loop {
            let rest = &self.json[self.at..];
            let plain = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
            self.text.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match (self.json.get(self.at), self.json.get(self.at + 1)) {
                (Some(b'"'), _) => {
                    self.text.push(b'"');
                    self.at += 1;
                    return;
                }
                (Some(_), Some(b'n')) => {
                    self.text.push(b'\n');
                    self.at += 2;
                }
                (Some(_), Some(b'u')) => self.code_point(),
                (Some(_), Some(&escaped)) => {
                    self.text.extend_from_slice(&[b'\\', escaped]);
                    self.at += 2;
                }
                (Some(&last), None) => {
                    self.text.push(last);
                    self.at += 1;
                    return;
                }
                (None, _) => return,
            }
        }
    }

    fn code_point(&mut self) {
        let unit = |at: usize| {
            let digits = self.json.get(at..at + 6)?.strip_prefix(b"\\u")?;
            u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let units: Vec<u16> = [unit(self.at), unit(self.at + 6)].into_iter().map_while(|unit| unit).collect();
        let first = char::decode_utf16(units).next();
        match first {
            Some(Ok(char)) if !char.is_control() && char != '"' && char != '\\' => {
                self.text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                self.at += 6 * char.len_utf16();
            }
            _ => {
                self.text.extend_from_slice(b"\\u");
                self.at += 2;
            }
        }
    }
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
    fn as_a_person_reads_it() {
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
