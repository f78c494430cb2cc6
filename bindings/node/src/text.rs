//! Texts as JavaScript has them: it encodes them itself, into a buffer that is used again and again.

use napi::bindgen_prelude::{Buffer, Either};

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

/// The part of a buffer that is meant.
pub(crate) struct Chunk<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) language: Language,
}

impl<'a> Chunk<'a> {
    /// The first `length` bytes are a text; without a length, all of them are bytes.
    pub(crate) fn of(buffer: &'a [u8], length: Option<u32>) -> Chunk<'a> {
        match length {
            Some(length) => {
                let length = buffer.len().min(length as usize);
                Chunk { bytes: &buffer[..length], language: Language::Text }
            }
            None => Chunk { bytes: buffer, language: Language::Bytes },
        }
    }
}
