//! Digests of an output and of its blocks, in one pass.
//!
//! BLAKE3 is a tree. The digest of a block here is the chaining value of the block's subtree, so the digest of the
//! whole output follows from those of the blocks, and nothing is hashed twice.

use crate::store::{Entry, EntryState};
use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The size of a block. A power of two, so that every block is one subtree.
pub(crate) const BLOCK: u64 = 1 << 20;

/// Hashes bytes that arrive in chunks of any size.
///
/// ```
/// let mut digester = offcut::store::Digester::new();
/// digester.update(b"output");
/// let (digest, blocks) = digester.finish();
/// assert_eq!((digest.len(), blocks.len()), (64, 0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Digester {
    /// The chaining values of the full blocks before the current one.
    blocks: Vec<ChainingValue>,
    current: Hasher,
}

impl Digester {
    /// A digester that has seen nothing.
    pub fn new() -> Digester {
        Digester::default()
    }

    /// Hashes the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            // The last block is never closed early: if it is the only one, its digest is the whole's.
            if self.current.count() == BLOCK {
                self.blocks.push(self.current.finalize_non_root());
                self.current = Hasher::new();
                self.current.set_input_offset(self.blocks.len() as u64 * BLOCK);
            }
            let room = usize::try_from(BLOCK - self.current.count()).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.current.update(now);
            bytes = later;
        }
    }

    /// The number of bytes hashed so far.
    pub fn count(&self) -> u64 {
        self.blocks.len() as u64 * BLOCK + self.current.count()
    }

    /// The digest of everything, and one for each block if there are several; in hex.
    pub fn finish(mut self) -> (String, Vec<String>) {
        if self.blocks.is_empty() {
            return (self.current.finalize().to_hex().to_string(), Vec::new());
        }
        self.blocks.push(self.current.finalize_non_root());
        let (left, right) = children(&self.blocks);
        let root = merge_subtrees_root(&left, &right, Mode::Hash);
        let blocks = self.blocks.iter().map(|block| blake3::Hash::from(*block).to_hex().to_string());
        (root.to_hex().to_string(), blocks.collect())
    }
}

/// The digests that the blocks of an entry must have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BlockDigests<'a> {
    /// The entry is a single block.
    One(&'a str),
    /// One for each block.
    Several(&'a [String]),
}

impl<'a> BlockDigests<'a> {
    /// Those of an entry; `None` if its bytes may still change, or if only the digest of all its blocks is known.
    pub(crate) fn of(entry: &'a Entry) -> Option<BlockDigests<'a>> {
        let is_closed = matches!(
            entry.state,
            EntryState::Complete | EntryState::Capped { .. } | EntryState::Damaged { .. }
        );
        let summary = entry.summary.as_ref().filter(|summary| is_closed && !summary.digest.is_empty())?;
        // The size of a damaged file is not that of what was stored.
        let stored = match entry.state {
            EntryState::Damaged { .. } => summary.original.bytes,
            _ => entry.bytes,
        };
        match summary.block_digests.as_slice() {
            [] => (stored <= BLOCK).then_some(BlockDigests::One(&summary.digest)),
            several => Some(BlockDigests::Several(several)),
        }
    }

    /// Whether these are the bytes of the block that were stored.
    pub(crate) fn matches(&self, number: u64, bytes: &[u8]) -> bool {
        let (expected, found) = match self {
            BlockDigests::One(digest) => ((number == 0).then_some(*digest), blake3::hash(bytes)),
            BlockDigests::Several(digests) => {
                let expected = usize::try_from(number).ok().and_then(|number| digests.get(number));
                let mut hasher = Hasher::new();
                hasher.set_input_offset(number * BLOCK).update(bytes);
                (expected.map(String::as_str), blake3::Hash::from(hasher.finalize_non_root()))
            }
        };
        expected == Some(found.to_hex().as_str())
    }
}

/// The two subtrees of a tree over several blocks: the left one has the largest power of two that leaves a right one.
fn children(blocks: &[ChainingValue]) -> (ChainingValue, ChainingValue) {
    let (left, right) = blocks.split_at(blocks.len().next_power_of_two() / 2);
    (subtree(left), subtree(right))
}

fn subtree(blocks: &[ChainingValue]) -> ChainingValue {
    match blocks {
        [only] => *only,
        several => {
            let (left, right) = children(several);
            merge_subtrees_non_root(&left, &right, Mode::Hash)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(length: usize, blocks: usize) {
        let bytes: Vec<u8> = (0..length).map(|place| (place * 31 + place / 999) as u8).collect();
        let expected = blake3::hash(&bytes).to_hex().to_string();
        for chunk in [length.max(1), 65_536, 777_777] {
            let mut digester = Digester::new();
            bytes.chunks(chunk).for_each(|chunk| digester.update(chunk));
            assert_eq!(digester.count(), length as u64);
            let (digest, digests) = digester.finish();
            assert_eq!((digest.as_str(), digests.len()), (expected.as_str(), blocks), "{length} by {chunk}");
            for (number, found) in digests.iter().enumerate() {
                let start = number << 20;
                let block = &bytes[start..length.min(start + (1 << 20))];
                let mut hasher = Hasher::new();
                hasher.set_input_offset(start as u64).update(block);
                assert_eq!(found, blake3::Hash::from(hasher.finalize_non_root()).to_hex().as_str());
            }
        }
    }

    #[test]
    fn whole_digest_is_blake3_for_any_number_of_blocks() {
        const MIB: usize = 1 << 20;
        for (length, blocks) in [(0, 0), (1, 0), (MIB, 0), (MIB + 1, 2), (2 * MIB, 2), (3 * MIB - 5, 3)] {
            check(length, blocks);
        }
        for blocks in [4, 5, 6, 7, 8, 9, 11] {
            check(blocks * MIB - 1000, blocks);
        }
    }
}
