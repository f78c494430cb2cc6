//! Reads by range, further and further ahead of whoever reads on.
//!
//! One read fetches what it asks for; a second one that goes on where it ended fetches twice as much, and so on up to a
//! bound. So a page costs little and a search costs few requests.

use bytes::Bytes;
use offcut::store::{Id, StoreError};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

const LEAST: u64 = 64 << 10;
const MOST: u64 = 8 << 20;

/// Windows that are kept, for several readers at once.
const WINDOWS: usize = 4;

/// What was fetched, for each of the last readers.
#[derive(Debug, Default)]
pub(crate) struct Ahead(Mutex<Vec<Window>>);

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

impl Ahead {
    /// Fills the buffer with what an output of `total` bytes has from `offset` on; `fetch` gets a part of it.
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
                    let reads_on = known.as_ref().filter(|known| known.end() == at);
                    let ahead = reads_on.map_or(0, |known| 2 * known.bytes.len() as u64);
                    let length = ahead.clamp(LEAST, MOST).max((wanted - filled) as u64);
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

    /// The window that holds the byte at `offset`, or ends there. Nobody else uses it until it is put back.
    fn take(&self, id: &Id, offset: u64) -> Option<Window> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |window: &Window| window.id == *id && window.start <= offset && offset <= window.end();
        let place = windows.iter().rposition(is_it)?;
        Some(windows.remove(place))
    }

    fn put_back(&self, window: Window) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() == WINDOWS {
            windows.remove(0);
        }
        windows.push(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// One door: reads of (offset, length) in a text of a million bytes, and the ranges that are fetched for them.
    #[track_caller]
    fn check(reads: &[(u64, usize)], fetches: &[(u64, u64)]) {
        let text: Bytes = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (ahead, id) = (Ahead::default(), Id::new(std::time::UNIX_EPOCH, 1));
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
    fn whoever_reads_on_fetches_more() {
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
