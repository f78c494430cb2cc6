//! Finds the first byte that a terminal would interpret instead of showing it.

use multiversion::multiversion;

/// A block is tested as a whole, with vector instructions, before its bytes are tested one by one.
const BLOCK: usize = 128;

/// Whether a terminal interprets `byte`. Line feeds and tabs do not count, nor do the control characters above 0x7F,
/// which are parts of characters in UTF-8.
#[inline(always)]
pub(super) fn is_control(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\n') & (byte != b'\t') | (byte == 0x7F)
}

/// The first control character in `bytes`. The carriage return of a CRLF does not count; one at the end of `bytes` does.
#[multiversion(targets("x86_64+avx2"))]
pub(super) fn first_control(bytes: &[u8]) -> Option<usize> {
    let (&last, all_but_last) = bytes.split_last()?;
    let mut start = 0;
    for block in all_but_last.chunks(BLOCK) {
        // Most blocks have none. Most others have only CRLFs, for which the next byte is needed, too.
        if block.iter().fold(false, |found, &byte| found | is_control(byte)) {
            let pairs = || block.iter().zip(&bytes[start + 1..]);
            if pairs().fold(false, |found, (&byte, &next)| found | is_interpreted(byte, next)) {
                return pairs().position(|(&byte, &next)| is_interpreted(byte, next)).map(|at| start + at);
            }
        }
        start += block.len();
    }
    is_control(last).then_some(start)
}

/// The length of the text at the start of `bytes`. Between two sequences it is a word or two, so blocks are short.
#[inline]
pub(super) fn text_length(bytes: &[u8]) -> usize {
    const BLOCK: usize = 16;
    let has_control = |block: &[u8]| block.iter().fold(false, |found, &byte| found | is_control(byte));
    let blocks = bytes.chunks_exact(BLOCK).take_while(|block| !has_control(block)).count();
    let start = blocks * BLOCK;
    let rest = bytes[start..].iter().position(|&byte| is_control(byte));
    rest.map_or(bytes.len(), |at| start + at)
}

#[inline(always)]
fn is_interpreted(byte: u8, next: u8) -> bool {
    is_control(byte) & !((byte == b'\r') & (next == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::{first_control, text_length};

    #[test]
    fn finds_the_first_control_character() {
        for length in [0, 1, 63, 127, 128, 129, 300] {
            let plain = "a\t漢\r\n".repeat(100).into_bytes();
            let plain = &plain[..length];
            assert_eq!(text_length(&vec![b'x'; length]), length);
            assert_eq!(first_control(plain).filter(|&at| at + 1 < length), None);
            for control in [0, 7, 8, 11, 12, 13, 14, 27, 31, 127] {
                let text = [plain, &[control], b"x"].concat();
                let found = first_control(&text);
                let first = text.iter().position(|&byte| super::is_control(byte));
                assert_eq!(Some(text_length(&text)), first);
                // A carriage return whose line feed was cut off counts, too.
                assert!(found == Some(length) || (found == Some(length - 1) && plain.ends_with(b"\r")));
            }
        }
    }
}
