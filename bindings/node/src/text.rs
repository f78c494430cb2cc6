//! Texts as JavaScript has them.

use encoding_rs::mem;
use napi::bindgen_prelude::{Buffer, Either};
use napi::{JsString, Result};

/// How bytes become a value again: as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Text,
    Bytes,
}

impl Language {
    pub(crate) fn speak(self, content: Vec<u8>) -> Either<String, Buffer> {
        match self {
            Language::Bytes => Either::B(content.into()),
            Language::Text => Either::A(match String::from_utf8(content) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }
}

/// Turns UTF-16, whole or in slices, into UTF-8. A surrogate without its other half becomes U+FFFD, as everywhere in
/// Node. This is several times faster than asking the engine of JavaScript for UTF-8.
#[derive(Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    /// The first half of a character whose second is in the next slice.
    half: Option<u16>,
}

impl Encoder {
    pub(crate) fn with_capacity(units: usize) -> Encoder {
        Encoder { bytes: Vec::with_capacity(units + units / 16), half: None }
    }

    /// Appends a slice.
    pub(crate) fn push(&mut self, slice: JsString<'_>) -> Result<()> {
        let units = slice.into_utf16()?;
        // It comes with the zero behind it.
        let units = units.as_slice().split_last().map_or(&[][..], |(_, units)| units);
        self.append(units);
        Ok(())
    }

    /// The bytes of a slice, without those before it.
    pub(crate) fn slice(&mut self, slice: JsString<'_>) -> Result<&[u8]> {
        self.bytes.clear();
        self.push(slice)?;
        Ok(&self.bytes)
    }

    /// The bytes of a whole text.
    pub(crate) fn whole(&mut self, text: JsString<'_>) -> Result<&[u8]> {
        self.push(text)?;
        self.end();
        Ok(&self.bytes)
    }

    /// Everything that was appended.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.end();
        std::mem::take(&mut self.bytes)
    }

    /// What the last slice left open.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        self.bytes.clear();
        self.take()
    }

    fn end(&mut self) {
        if self.half.take().is_some() {
            self.bytes.extend_from_slice("\u{fffd}".as_bytes());
        }
    }

    fn append(&mut self, units: &[u16]) {
        let mut units = units;
        if let (Some(half), Some(&next)) = (self.half.take(), units.first()) {
            if (0xDC00..0xE000).contains(&next) {
                self.convert(&[half, next]);
                units = &units[1..];
            } else {
                self.convert(&[half]);
            }
        }
        if let Some((&last @ 0xD800..0xDC00, before)) = units.split_last() {
            self.half = Some(last);
            units = before;
        }
        self.convert(units);
    }

    fn convert(&mut self, units: &[u16]) {
        let start = self.bytes.len();
        // Most texts are ASCII; the others get the room that they may need.
        self.bytes.resize(start + units.len() + 4, 0);
        let (read, written) = mem::convert_utf16_to_utf8_partial(units, &mut self.bytes[start..]);
        self.bytes.truncate(start + written);
        if read < units.len() {
            let start = self.bytes.len();
            self.bytes.resize(start + (units.len() - read) * 3, 0);
            let written = mem::convert_utf16_to_utf8(&units[read..], &mut self.bytes[start..]);
            self.bytes.truncate(start + written);
        }
    }
}
