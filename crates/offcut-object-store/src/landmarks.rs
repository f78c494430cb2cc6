//! The sparse line index: a few places of an output of which the line is known.
//!
//! With one place for each mebibyte, a line anywhere in a gigabyte is found by reading one of them.

use offcut::measure;
use offcut::store::LineCheckpoint;
use serde::{Deserialize, Serialize};

/// Smaller outputs have no index: reading all of them costs as much.
pub(crate) const FROM: u64 = 2 << 20;

const STEP: u64 = 1 << 20;

/// More places than this are thinned out, so that an index has at most about 100 KB, whatever the output.
const MOST: usize = 4096;

/// The places of one output, in order.
#[derive(Debug)]
pub(crate) struct Landmarks {
    step: u64,
    places: Vec<LineCheckpoint>,
    offset: u64,
    feeds: u64,
}

/// The index as it is stored: one JSON object, version 1.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// Pairs of an offset and the number of line feeds before it.
    places: Vec<(u64, u64)>,
}

impl Default for Landmarks {
    fn default() -> Self {
        Landmarks { step: STEP, places: Vec::new(), offset: 0, feeds: 0 }
    }
}

impl Landmarks {
    /// Takes in the next bytes.
    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let until = self.step - self.offset % self.step;
            let length = usize::try_from(until).unwrap_or(usize::MAX).min(rest.len());
            let (part, more) = rest.split_at(length);
            self.feeds += measure::newlines(part);
            self.offset += length as u64;
            rest = more;
            if self.offset.is_multiple_of(self.step) {
                self.places.push(LineCheckpoint { offset: self.offset, feeds: self.feeds });
                self.thin_out();
            }
        }
    }

    fn thin_out(&mut self) {
        if self.places.len() > MOST {
            self.step *= 2;
            let step = self.step;
            self.places.retain(|place| place.offset.is_multiple_of(step));
        }
    }

    /// The last place before the beginning of `line`.
    pub(crate) fn before(&self, line: u64) -> LineCheckpoint {
        let behind = self.places.partition_point(|place| place.feeds + 1 < line);
        behind.checked_sub(1).map_or(LineCheckpoint::START, |last| self.places[last])
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let places = self.places.iter().map(|place| (place.offset, place.feeds)).collect();
        serde_json::to_vec(&Stored { version: 1, places }).unwrap_or_default()
    }

    /// What was stored. An index that cannot be read, or is not in order, is as good as none.
    pub(crate) fn from_json(text: &[u8]) -> Landmarks {
        let places: Vec<LineCheckpoint> = serde_json::from_slice::<Stored>(text)
            .map(|stored| stored.places)
            .unwrap_or_default()
            .into_iter()
            .map(|(offset, feeds)| LineCheckpoint { offset, feeds })
            .collect();
        let in_order = places.is_sorted_by_key(|place| (place.offset, place.feeds))
            && places.iter().all(|place| place.feeds <= place.offset);
        Landmarks { places: if in_order { places } else { Vec::new() }, ..Landmarks::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One door: a text in chunks of one size. Every place must be right, and near every line.
    #[track_caller]
    fn check(text: &[u8], chunk: usize) {
        let mut landmarks = Landmarks::default();
        for part in text.chunks(chunk) {
            landmarks.observe(part);
        }
        let again = Landmarks::from_json(&landmarks.to_json());
        assert_eq!(again.places, landmarks.places);
        let mut line_start = 0;
        for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let place = again.before(number as u64 + 1);
            let before = &text[..place.offset as usize];
            if number % 997 == 0 {
                assert_eq!(place.feeds, measure::newlines(before));
            }
            assert!(
                place == LineCheckpoint::START || place.feeds < number as u64,
                "line {number} begins behind it"
            );
            let far = line_start as u64 - place.offset;
            assert!(far <= STEP + line.len() as u64 || number == 0 || place.offset > 0, "{far}");
            line_start += line.len();
        }
    }

    #[test]
    fn places_are_right_whatever_the_chunks() {
        let lines: Vec<u8> =
            (0..300_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
        check(&lines, 777);
        check(&lines, 1 << 20);
        check(&lines, lines.len());
        let one = vec![b'x'; 3 << 20];
        check(&one, 1000);
        let giant = [&one[..], b"\nshort\n", &one[..], b"\nend"].concat();
        check(&giant, 65_536);
        check(b"", 1);
    }

    #[test]
    fn very_long_outputs_have_a_bounded_index() {
        let mut landmarks = Landmarks::default();
        let block = vec![b'\n'; 1 << 20];
        for _ in 0..MOST + 10 {
            landmarks.observe(&block);
        }
        assert!(landmarks.places.len() <= MOST && landmarks.places.len() > MOST / 4);
        let place = landmarks.before(3_000_000_000);
        assert_eq!(place.offset, place.feeds);
        assert!(place.feeds < 2_999_999_999 && place.feeds > 2_999_999_999 - 3 * STEP);
    }

    #[test]
    fn a_damaged_index_is_none() {
        for text in [
            &b""[..],
            b"{}",
            b"[1]",
            b"{\"version\":1,\"places\":[[5,3],[1,1]]}",
            b"{\"version\":1,\"places\":[[5,9]]}",
        ] {
            assert_eq!(Landmarks::from_json(text).before(100), LineCheckpoint::START);
        }
    }
}
