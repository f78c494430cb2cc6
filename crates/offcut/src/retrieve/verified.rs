//! Reads the bytes of an entry and compares each block with the digest that was recorded when it was stored.

use crate::store::{BLOCK, BlockDigests, Digester, Entry, EntryState, Id, Store, StoreError};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Bytes of an entry that are not those that were stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "checksum mismatch in bytes {start}:{end} of {id}: the file was modified after it was stored; \
     run the tool again, or remove the entry with `offcut rm {id}`"
)]
pub struct ChecksumMismatch {
    /// The entry.
    pub id: Id,
    /// The offset of the first byte of the block.
    pub start: u64,
    /// The offset after its last byte.
    pub end: u64,
}

/// Reads an entry in blocks of 1 MiB, and notes those whose digest is wrong. Their bytes are returned all the same, because a
/// reader may have nothing better.
///
/// An entry that is being written has no digests yet: its bytes are returned as they are.
///
/// ```
/// use offcut::Context;
/// use offcut::retrieve::VerifiedReader;
/// use offcut::store::{EntryState, MemoryStore, NewEntry, Store, Summary};
/// use std::time::SystemTime;
///
/// let store = MemoryStore::new(SystemTime::now);
/// let mut writer = store.create(&NewEntry::new(&Context::default(), "native"))?;
/// writer.write(b"output")?;
/// let entry = writer.commit(EntryState::Complete, &Summary::of_whole(b"output"))?;
///
/// let reader = VerifiedReader::new(&store, &entry);
/// let mut buffer = [0; 100];
/// assert_eq!(reader.read(0, &mut buffer)?, 6);
/// assert!(reader.mismatches().is_empty());
/// # Ok::<(), offcut::store::StoreError>(())
/// ```
pub struct VerifiedReader<'a> {
    store: &'a dyn Store,
    entry: &'a Entry,
    digests: Option<BlockDigests<'a>>,
    /// The block that was read last.
    current: RefCell<Block>,
    /// The numbers of the blocks whose digest is wrong.
    modified: RefCell<BTreeSet<u64>>,
    /// The bytes read so far, as long as they are read in order, if only the digest of all of them is known.
    whole: RefCell<Option<Digester>>,
}

#[derive(Default)]
struct Block {
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl<'a> VerifiedReader<'a> {
    /// A reader of this entry, which must be in the store.
    pub fn new(store: &'a dyn Store, entry: &'a Entry) -> VerifiedReader<'a> {
        let digests = BlockDigests::of(entry);
        let whole = (digests.is_none() && whole_digest(entry).is_some()).then(Digester::new);
        VerifiedReader {
            store,
            entry,
            digests,
            current: RefCell::default(),
            modified: RefCell::default(),
            whole: RefCell::new(whole),
        }
    }

    /// A reader that compares nothing.
    pub(crate) fn unverified(store: &'a dyn Store, entry: &'a Entry) -> VerifiedReader<'a> {
        VerifiedReader { digests: None, whole: RefCell::default(), ..VerifiedReader::new(store, entry) }
    }

    /// Reads bytes from `offset` on; fewer than requested only at the end of the entry.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Some(digests) = &self.digests else {
            let count = self.store.read(&self.entry.id, offset, buffer)?;
            let mut whole = self.whole.borrow_mut();
            *whole = whole.take().filter(|digester| digester.count() == offset);
            if let Some(digester) = &mut *whole {
                digester.update(&buffer[..count]);
            }
            return Ok(count);
        };
        let mut current = self.current.borrow_mut();
        let mut filled = 0;
        while filled < buffer.len() {
            let position = offset + filled as u64;
            let number = position / BLOCK;
            if current.number != Some(number) {
                self.load(number, digests, &mut current)?;
            }
            let within = usize::try_from(position % BLOCK).unwrap_or(usize::MAX);
            let rest = current.bytes.get(within..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            let count = rest.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&rest[..count]);
            filled += count;
        }
        Ok(filled)
    }

    fn load(&self, number: u64, digests: &BlockDigests<'_>, block: &mut Block) -> Result<(), StoreError> {
        // After an error the bytes are those of no block.
        block.number = None;
        // One more byte than expected shows whether the entry has grown.
        let length = self.entry.bytes.saturating_sub(number * BLOCK).saturating_add(1).min(BLOCK);
        block.bytes.resize(length as usize, 0);
        let count = self.store.read(&self.entry.id, number * BLOCK, &mut block.bytes)?;
        block.bytes.truncate(count);
        block.number = Some(number);
        if count > 0 && !digests.matches(number, &block.bytes) {
            self.modified.borrow_mut().insert(number);
        }
        Ok(())
    }

    /// The blocks read so far whose digest is wrong; adjacent ones are reported together. Of an entry of version 1 that has
    /// several blocks only the whole has a digest, which is compared if all bytes were read in order.
    pub fn mismatches(&self) -> Vec<ChecksumMismatch> {
        let mut mismatches: Vec<ChecksumMismatch> = Vec::new();
        let bytes = self.entry.bytes;
        if let Some(digester) = self.whole.borrow().as_ref().filter(|digester| digester.count() == bytes)
            && whole_digest(self.entry) != Some(&*digester.clone().finish().0)
        {
            mismatches.push(ChecksumMismatch { id: self.entry.id, start: 0, end: bytes });
        }
        for &number in &*self.modified.borrow() {
            let (start, end) = (number * BLOCK, ((number + 1) * BLOCK).min(self.entry.bytes));
            match mismatches.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => mismatches.push(ChecksumMismatch { id: self.entry.id, start, end }),
            }
        }
        mismatches
    }
}

/// The digest that all bytes of an entry must have, if it is known.
fn whole_digest(entry: &Entry) -> Option<&str> {
    let summary = entry.summary.as_ref().filter(|summary| !summary.digest.is_empty())?;
    let is_current = match entry.state {
        EntryState::Complete | EntryState::Capped { .. } => true,
        EntryState::Abandoned => summary.original.bytes == entry.bytes,
        _ => false,
    };
    is_current.then_some(&summary.digest)
}
