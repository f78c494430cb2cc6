//! Reads ranges of an output, with read-ahead for sequential readers.
//!
//! One read fetches what it asks for; the next read at the end of it fetches twice as much, and so on up to a limit. So a
//! page transfers little and a search makes few requests.

use bytes::Bytes;
use offcut::store::{Id, StoreError};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

const MIN_FETCH: u64 = 64 << 10;
const MAX_FETCH: u64 = 8 << 20;

/// Windows in memory, for several readers at once.
const MAX_WINDOWS: usize = 4;

/// The last range that was fetched for each of the last readers.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead(Mutex<Vec<Window>>);

#[derive(Debug)]
struct Window {
    id: Id,
    start: u64,
    bytes: Bytes,
}

impl Window {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ReadAhead {
    /// Fills the buffer with the bytes from `offset` of an output of `total` bytes; `fetch` requests a range of it.
    pub(crate) fn read(
        &self,
        id: &Id,
        offset: u64,
        buffer: &mut [u8],
        total: u64,
        fetch: impl Fn(Range<u64>) -> Result<Bytes, StoreError>,
    ) -> Result<usize, StoreError> {
        let wanted = usize::try_from(total.saturating_sub(offset)).unwrap_or(usize::MAX).min(buffer.len());
        let mut window = self.take(id, offset);
        let mut filled = 0;
        while filled < wanted {
            let at = offset + filled as u64;
            match &window {
                Some(known) if known.start <= at && at < known.end() => {
                    let from = (at - known.start) as usize;
                    let count = (known.bytes.len() - from).min(wanted - filled);
                    buffer[filled..filled + count].copy_from_slice(&known.bytes[from..from + count]);
                    filled += count;
                }
                known => {
                    let previous = known.as_ref().filter(|known| known.end() == at);
                    let ahead = previous.map_or(0, |known| 2 * known.bytes.len() as u64);
                    let length = ahead.clamp(MIN_FETCH, MAX_FETCH).max((wanted - filled) as u64);
                    let bytes = fetch(at..(at + length).min(total))?;
                    if bytes.is_empty() {
                        break;
                    }
                    window = Some(Window { id: *id, start: at, bytes });
                }
            }
        }
        if let Some(window) = window {
            self.put_back(window);
        }
        Ok(filled)
    }

    /// Takes the window that contains the byte at `offset`, or ends there, until it is put back.
    fn take(&self, id: &Id, offset: u64) -> Option<Window> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |window: &Window| window.id == *id && window.start <= offset && offset <= window.end();
        let position = windows.iter().rposition(matches)?;
        Some(windows.remove(position))
    }

    fn put_back(&self, window: Window) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() == MAX_WINDOWS {
            windows.remove(0);
        }
        windows.push(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Makes these reads (offset, length) in a text of a million bytes, and compares the ranges that are fetched.
    #[track_caller]
    fn check(reads: &[(u64, usize)], fetches: &[(u64, u64)]) {
        let text: Bytes = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (ahead, id) = (ReadAhead::default(), Id::new(std::time::UNIX_EPOCH, 1));
        let fetched = RefCell::new(Vec::new());
        for &(offset, length) in reads {
            let mut buffer = vec![0; length];
            let count = ahead
                .read(&id, offset, &mut buffer, text.len() as u64, |range| {
                    fetched.borrow_mut().push((range.start, range.end));
                    Ok(text.slice(range.start as usize..range.end as usize))
                })
                .unwrap();
            let from = (offset as usize).min(text.len());
            assert_eq!(buffer[..count], text[from..(from + length).min(text.len())]);
        }
        assert_eq!(fetched.into_inner(), fetches);
    }

    #[test]
    fn sequential_reads_fetch_twice_as_much_each_time() {
        check(&[(0, 10), (10, 10), (65_530, 6)], &[(0, 65_536)]);
        check(&[(0, 100_000), (100_000, 10)], &[(0, 100_000), (100_000, 300_000)]);
        check(
            &[(0, 65_536), (65_536, 1), (196_608, 1)],
            &[(0, 65_536), (65_536, 196_608), (196_608, 458_752)],
        );
        check(&[(0, 65_540)], &[(0, 65_540)]);
        check(&[(60_000, 10), (120_000, 20_000)], &[(60_000, 125_536), (125_536, 256_608)]);
        check(&[(999_990, 100), (1_000_000, 5), (2_000_000, 5)], &[(999_990, 1_000_000)]);
        check(&[(500_000, 10), (0, 10)], &[(500_000, 565_536), (0, 65_536)]);
    }
}
