//! JavaScript's strings and buffers. JavaScript encodes strings itself, into a buffer that it reuses.

use napi::bindgen_prelude::{Buffer, Either};

/// The JavaScript type of an output, for its preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextType {
    Text,
    Bytes,
}

impl TextType {
    pub(crate) fn to_js(self, content: Vec<u8>) -> Either<String, Buffer> {
        match self {
            TextType::Bytes => Either::B(content.into()),
            TextType::Text => Either::A(match String::from_utf8(content) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }
}

/// The part of a buffer that contains the output.
pub(crate) struct Chunk<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) text_type: TextType,
}

impl<'a> Chunk<'a> {
    /// With a length, the first `length` bytes are a string; without one, all bytes are a buffer.
    pub(crate) fn of(buffer: &'a [u8], length: Option<u32>) -> Chunk<'a> {
        match length {
            Some(length) => {
                let length = buffer.len().min(length as usize);
                Chunk { bytes: &buffer[..length], text_type: TextType::Text }
            }
            None => Chunk { bytes: buffer, text_type: TextType::Bytes },
        }
    }
}
