//! Tests the eight bytes of a word at once. Most cells, keys and numbers are so short that a loop over their bytes costs
//! more in branches that are predicted wrongly than in instructions.

/// How many bytes a word has. The first one is the lowest.
pub(super) const BYTES: usize = 8;

/// A word of equal bytes.
pub(super) const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; BYTES])
}

/// The highest bit of each byte that is at least `least`, which is at most 128.
#[inline]
pub(super) fn at_least(word: u64, least: u8) -> u64 {
    // Without the highest bit, no sum reaches the next byte.
    (((word & each(0x7F)) + each(0x80 - least)) | word) & each(0x80)
}

/// The highest bit of each byte that is equal to `byte`.
#[inline]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    at_least(word ^ each(byte), 1) ^ each(0x80)
}

/// The highest bit of each byte that is no digit.
#[inline]
pub(super) fn no_digits(word: u64) -> u64 {
    // Digits become 0 to 9. Zeros after the end of a short text become something else.
    at_least(word ^ each(b'0'), 10)
}

/// The position of the first byte in which a bit is set.
#[inline]
pub(super) fn position(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// The positions of the first two bytes in which a bit is set.
#[inline]
pub(super) fn two_positions(bits: u64) -> (usize, usize) {
    (position(bits), position(bits & bits.wrapping_sub(1)))
}
