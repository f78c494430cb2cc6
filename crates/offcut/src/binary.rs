//! Detects binary output, and describes it.

/// How many bytes at the start of an output are examined.
pub(crate) const OPENING: usize = 64 << 10;

/// Output is binary if more than one byte in this many is an unused control character. NUL-separated lists stay text.
const BYTES_PER_UNUSED: usize = 10;

/// The same for invalid UTF-8: text in an older encoding is still text.
const BYTES_PER_INVALID: usize = 3;

/// The same for output with the signature of a binary format, because some signatures are only two letters.
const BYTES_PER_NON_TEXT_WITH_SIGNATURE: usize = 100;

/// A kind of binary output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It has the signature of this media type.
    Known(&'static str),
    /// It has no known signature.
    Unknown,
}

/// The kind of the output that begins with `opening`, if it is not text.
///
/// NUL, other control characters that no terminal uses, and invalid UTF-8 are not text. A few of them are tolerated: they
/// do not make a log unreadable.
pub(crate) fn kind(opening: &[u8]) -> Option<Kind> {
    let opening = &opening[..opening.len().min(OPENING)];
    let unused = opening.chunks(COUNTED_TOGETHER).map(count_unused).sum::<usize>();
    // The check of a whole text is much faster than the search for its invalid parts.
    let invalid = match std::str::from_utf8(opening) {
        Ok(_) => 0,
        Err(_) => opening.utf8_chunks().map(|chunk| chunk.invalid().len()).sum(),
    };
    let known = infer::get(opening)
        .filter(|_| (unused + invalid) * BYTES_PER_NON_TEXT_WITH_SIGNATURE > opening.len())
        .map(|kind| kind.mime_type())
        .filter(|media| !media.starts_with("text/"));
    match known {
        Some(media) => Some(Kind::Known(media)),
        None => {
            let is_binary = unused * BYTES_PER_UNUSED + invalid * BYTES_PER_INVALID > opening.len();
            is_binary.then_some(Kind::Unknown)
        }
    }
}

/// How many bytes are counted together: the count fits into a byte, so that the compiler vectorizes it.
const COUNTED_TOGETHER: usize = u8::MAX as usize;

/// The number of control characters that are used neither in text nor in terminal sequences: 00 to 06, 10 to 17, 19, 1C to
/// 1F.
fn count_unused(bytes: &[u8]) -> usize {
    let is_unused = |byte: u8| {
        (byte < 0x07) | (byte.wrapping_sub(0x10) < 8) | (byte == 0x19) | (byte.wrapping_sub(0x1C) < 4)
    };
    usize::from(bytes.iter().map(|&byte| u8::from(is_unused(byte))).sum::<u8>())
}

/// A hex dump of the first `lines` lines of `bytes`, sixteen bytes per line.
pub(crate) fn hex(bytes: &[u8], lines: usize) -> String {
    let mut text = String::new();
    for (number, row) in bytes.chunks(16).take(lines).enumerate() {
        let pairs: Vec<String> =
            row.chunks(2).map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
        let printable: String = row
            .iter()
            .map(|&byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' })
            .collect();
        text.push_str(&format!("{:08x}: {:<39}  {printable}\n", number * 16, pairs.join(" ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_output_is_detected() {
        let check = |opening: &[u8], expected: Option<Kind>| {
            assert_eq!(kind(opening), expected, "{:?}", opening.escape_ascii().to_string());
        };
        check(b"", None);
        check("a log\nwith colour \x1b[31mred\x1b[0m and \r frames, 漢字\n".as_bytes(), None);
        check(&[b"a log of one byte too many\n".as_slice(), b"\0"].concat(), None);
        check(&b"./a/name/of/some/length\0".repeat(100), None);
        check(&b"caf\xE9 au lait, si\n".repeat(100), None);
        check(&b"gr\xF6\xDFer f\xFCr \xDCber\n".repeat(100), None);
        check(&(0..=255).collect::<Vec<u8>>().repeat(100), Some(Kind::Unknown));
        check(&b"\x01\x02\x00\xFF".repeat(100), Some(Kind::Unknown));
        check(&b"\0".repeat(100), Some(Kind::Unknown));
        check(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01", Some(Kind::Known("image/png")));
        let executable = [&b"\x7fELF\x02\x01\x01"[..], &[0; 60]].concat();
        check(&executable, Some(Kind::Known("application/x-executable")));
        check(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n1 0 obj\n", Some(Kind::Known("application/pdf")));
        check(b"%PDF-1.7 is what the header of the file says\n", None);
        check(b"\x1f\x8b\x08\0\0\0\0\0\0\x03abc", Some(Kind::Known("application/gzip")));
        check(b"#!/bin/sh\necho hello\n", None);
    }

    #[test]
    fn hex_dump_has_offsets_and_printable_characters() {
        assert_eq!(
            hex(b"\x89PNG\r\n\x1a\n0123456789", 9),
            "00000000: 8950 4e47 0d0a 1a0a 3031 3233 3435 3637  .PNG....01234567\n\
             00000010: 3839                                     89\n"
        );
        assert_eq!(hex(b"0123456789abcdef0", 1).lines().count(), 1);
        assert_eq!(hex(b"", 3), "");
    }
}
