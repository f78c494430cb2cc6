//! The name of a stored output.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Digits and letters without `i l o u`: no two look alike, and sorting text sorts by value.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Milliseconds are counted from 2025 on, which keeps the time part at eight characters until 2059.
const EPOCH_MS: u64 = 1_735_689_600_000;

const TIME_BITS: u32 = 40;
const HALF: usize = 8;

/// Sixteen characters: the time in milliseconds, then random bits.
///
/// Ids sort by time, have one width, and hold nothing that a path, a shell or a terminal would interpret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 2 * HALF]);

impl Id {
    /// The number of characters of every id.
    pub const WIDTH: usize = 2 * HALF;

    /// An id for this time, with these random bits.
    pub fn new(time: SystemTime, random: u64) -> Id {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis();
        let milliseconds = u64::try_from(since).unwrap_or(u64::MAX).saturating_sub(EPOCH_MS);
        let mut text = [0; Id::WIDTH];
        write_base32(&mut text[..HALF], milliseconds.min((1 << TIME_BITS) - 1));
        write_base32(&mut text[HALF..], random);
        Id(text)
    }

    /// The id that `text` spells, if it spells one.
    pub fn parse(text: &str) -> Option<Id> {
        let bytes: [u8; Id::WIDTH] = text.as_bytes().try_into().ok()?;
        bytes.iter().all(|byte| ALPHABET.contains(byte)).then_some(Id(bytes))
    }

    /// Whether `text` could be the beginning of an id.
    pub fn is_prefix(text: &str) -> bool {
        !text.is_empty() && text.len() <= Id::WIDTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The beginning of the id, which is enough to name the entry: the time in milliseconds and ten random bits.
    ///
    /// Two outputs of one millisecond share it once in a thousand times; resolving it then reports both.
    pub fn short(&self) -> &str {
        &self.as_str()[..HALF + 2]
    }

    /// The end of the id, for names: thirty random bits.
    pub(super) fn random_part(&self) -> &str {
        &self.as_str()[Id::WIDTH - 6..]
    }

    /// When the id was made, to the millisecond.
    pub fn time(&self) -> SystemTime {
        let milliseconds = self.0[..HALF].iter().fold(0_u64, |value, byte| {
            let digit = ALPHABET.iter().position(|known| known == byte).unwrap_or_default();
            (value << 5) | digit as u64
        });
        UNIX_EPOCH + Duration::from_millis(EPOCH_MS + milliseconds)
    }
}

fn write_base32(into: &mut [u8], mut value: u64) {
    for place in into.iter_mut().rev() {
        *place = ALPHABET[(value & 31) as usize];
        value >>= 5;
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_have_one_width() {
        let at = |milliseconds| UNIX_EPOCH + Duration::from_millis(EPOCH_MS + milliseconds);
        let ids: Vec<Id> = [0, 1, 31, 32, 1 << 20, (1 << 40) - 1]
            .into_iter()
            .map(|time| Id::new(at(time), u64::MAX - time))
            .collect();
        assert!(ids.is_sorted());
        for id in ids {
            assert_eq!(Id::parse(id.as_str()), Some(id));
            assert_eq!(id.as_str().len(), Id::WIDTH);
            assert_eq!(Id::new(id.time(), 0).as_str()[..HALF], id.as_str()[..HALF]);
        }
        assert!(Id::new(UNIX_EPOCH, 0) == Id::new(at(0), 0), "a clock before the epoch still gives an id");
    }

    #[test]
    fn only_ids_are_ids() {
        for text in [
            "",
            "../../etc/passwd",
            "0123456789abcde",
            "0123456789abcdefg",
            "0123456789abcdeI",
            "0123456789abcde\n",
        ] {
            assert_eq!(Id::parse(text), None, "{text:?}");
        }
    }
}
