//! The words of a line, and the classes of their bytes.

/// Classes of bytes, one bit each. A byte that is in none of them is a mark.
pub(super) type Classes = u16;

pub(super) const LOWER: Classes = 1;
pub(super) const UPPER: Classes = 1 << 1;
pub(super) const DIGIT: Classes = 1 << 2;
pub(super) const DOT: Classes = 1 << 3;
pub(super) const HYPHEN: Classes = 1 << 4;
pub(super) const UNDERSCORE: Classes = 1 << 5;
pub(super) const SLASH: Classes = 1 << 6;
pub(super) const BACKSLASH: Classes = 1 << 7;
/// `@`, `+`, `~` and `%`, which are in words, but not in names.
pub(super) const SIGN: Classes = 1 << 8;
pub(super) const SPACE: Classes = 1 << 9;

static CLASSES: [Classes; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'.' => DOT,
            b'-' => HYPHEN,
            b'_' => UNDERSCORE,
            b'/' => SLASH,
            b'\\' => BACKSLASH,
            b'@' | b'+' | b'~' | b'%' => SIGN,
            b' ' | b'\t' | b'\r' | b'\n' | 0x0C => SPACE,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The class of a byte.
#[inline]
pub(super) fn class(byte: u8) -> Classes {
    CLASSES[usize::from(byte)]
}

/// How many bytes at the start of a text are in one of the classes, and the classes that they are in.
#[inline]
pub(super) fn run(text: &[u8], of: Classes) -> (usize, Classes) {
    let mut found = 0;
    for (length, &byte) in text.iter().enumerate() {
        let class = class(byte);
        if class & of == 0 {
            return (length, found);
        }
        found |= class;
    }
    (text.len(), found)
}

/// Some bytes, looked up in a table.
pub(super) struct ByteSet([bool; 256]);

impl ByteSet {
    pub(super) const fn of(bytes: &[u8]) -> ByteSet {
        let mut set = [false; 256];
        let mut at = 0;
        while at < bytes.len() {
            set[bytes[at] as usize] = true;
            at += 1;
        }
        ByteSet(set)
    }

    /// All letters and digits of ASCII, and `others`.
    pub(super) const fn alphanumeric_and(others: &[u8]) -> ByteSet {
        let ByteSet(mut set) = ByteSet::of(others);
        let mut byte = 0;
        while byte < 256 {
            set[byte] |= (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        ByteSet(set)
    }

    #[inline]
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    /// Divides a text after the bytes at its start that are in the set.
    #[inline]
    pub(super) fn split<'t>(&self, text: &'t [u8]) -> (&'t [u8], &'t [u8]) {
        text.split_at(text.iter().position(|&byte| !self.0[usize::from(byte)]).unwrap_or(text.len()))
    }
}
