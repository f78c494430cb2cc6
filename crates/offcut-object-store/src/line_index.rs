//! The sparse line index of an output: for some offsets, the number of lines before them.
//!
//! With one checkpoint per mebibyte, reading one mebibyte finds any line of a gigabyte.

use offcut::measure;
use offcut::store::LineCheckpoint;
use serde::{Deserialize, Serialize};

/// Smaller outputs have no index: reading all of them costs as much.
pub(crate) const MIN_SIZE: u64 = 2 << 20;

const STEP: u64 = 1 << 20;

/// When there are more checkpoints than this, every other one is dropped: an index has at most about 100 KB.
const MAX_CHECKPOINTS: usize = 4096;

/// The checkpoints of one output, in order.
#[derive(Debug)]
pub(crate) struct LineIndex {
    step: u64,
    checkpoints: Vec<LineCheckpoint>,
    offset: u64,
    feeds: u64,
}

/// The index as it is stored: one JSON object, version 1.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// Pairs of an offset and the number of line feeds before it.
    #[serde(rename = "places")]
    checkpoints: Vec<(u64, u64)>,
}

impl Default for LineIndex {
    fn default() -> Self {
        LineIndex { step: STEP, checkpoints: Vec::new(), offset: 0, feeds: 0 }
    }
}

impl LineIndex {
    /// Adds the next bytes of the output.
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
                self.checkpoints.push(LineCheckpoint { offset: self.offset, feeds: self.feeds });
            }
            if self.checkpoints.len() > MAX_CHECKPOINTS {
                self.step *= 2;
                self.checkpoints.retain(|checkpoint| checkpoint.offset.is_multiple_of(self.step));
            }
        }
    }

    /// The last checkpoint before the start of `line`.
    pub(crate) fn before(&self, line: u64) -> LineCheckpoint {
        let count = self.checkpoints.partition_point(|checkpoint| checkpoint.feeds + 1 < line);
        count.checked_sub(1).map_or(LineCheckpoint::START, |last| self.checkpoints[last])
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let checkpoints =
            self.checkpoints.iter().map(|checkpoint| (checkpoint.offset, checkpoint.feeds)).collect();
        serde_json::to_vec(&Stored { version: 1, checkpoints }).unwrap_or_default()
    }

    /// Parses a stored index. One that cannot be parsed, or is not in order, is replaced by an empty one.
    pub(crate) fn from_json(text: &[u8]) -> LineIndex {
        let checkpoints: Vec<LineCheckpoint> = serde_json::from_slice::<Stored>(text)
            .map(|stored| stored.checkpoints)
            .unwrap_or_default()
            .into_iter()
            .map(|(offset, feeds)| LineCheckpoint { offset, feeds })
            .collect();
        let in_order = checkpoints.is_sorted_by_key(|checkpoint| (checkpoint.offset, checkpoint.feeds))
            && checkpoints.iter().all(|checkpoint| checkpoint.feeds <= checkpoint.offset);
        LineIndex { checkpoints: if in_order { checkpoints } else { Vec::new() }, ..LineIndex::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indexes a text in chunks of one size. Every checkpoint must be right, and near the line it is for.
    #[track_caller]
    fn check(text: &[u8], chunk: usize) {
        let mut index = LineIndex::default();
        for part in text.chunks(chunk) {
            index.observe(part);
        }
        let again = LineIndex::from_json(&index.to_json());
        assert_eq!(again.checkpoints, index.checkpoints);
        let mut line_start = 0;
        for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            let checkpoint = again.before(number as u64 + 1);
            let before = &text[..checkpoint.offset as usize];
            if number % 997 == 0 {
                assert_eq!(checkpoint.feeds, measure::newlines(before));
            }
            assert!(
                checkpoint == LineCheckpoint::START || checkpoint.feeds < number as u64,
                "line {number} starts before it"
            );
            let far = line_start as u64 - checkpoint.offset;
            assert!(far <= STEP + line.len() as u64 || number == 0 || checkpoint.offset > 0, "{far}");
            line_start += line.len();
        }
    }

    #[test]
    fn checkpoints_do_not_depend_on_the_chunks() {
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
    fn bounds_the_index_of_a_very_long_output() {
        let mut index = LineIndex::default();
        let block = vec![b'\n'; 1 << 20];
        for _ in 0..MAX_CHECKPOINTS + 10 {
            index.observe(&block);
        }
        assert!(index.checkpoints.len() <= MAX_CHECKPOINTS && index.checkpoints.len() > MAX_CHECKPOINTS / 4);
        let checkpoint = index.before(3_000_000_000);
        assert_eq!(checkpoint.offset, checkpoint.feeds);
        assert!(checkpoint.feeds < 2_999_999_999 && checkpoint.feeds > 2_999_999_999 - 3 * STEP);
    }

    #[test]
    fn ignores_a_damaged_index() {
        for text in [
            &b""[..],
            b"{}",
            b"[1]",
            b"{\"version\":1,\"places\":[[5,3],[1,1]]}",
            b"{\"version\":1,\"places\":[[5,9]]}",
        ] {
            assert_eq!(LineIndex::from_json(text).before(100), LineCheckpoint::START);
        }
    }
}
