//! The text of an entry that pages and search results are taken from.

use crate::retrieve::readable;
use crate::store::{Entry, Id, LineCheckpoint, Reading, Store, StoreError};

/// The bytes of an entry, or the readable form of its JSON if the entry is read that way.
pub(crate) struct Source<'a> {
    store: &'a dyn Store,
    id: Id,
    /// The size of the text.
    pub(crate) total: u64,
    readable: Option<Vec<u8>>,
}

impl<'a> Source<'a> {
    pub(crate) fn open(store: &'a dyn Store, entry: &Entry) -> Result<Source<'a>, StoreError> {
        let (id, total) = (entry.id, entry.bytes);
        let mut source = Source { store, id, total, readable: None };
        if entry.reading == Reading::Readable {
            let text = readable(&source.bytes(0, total)?);
            (source.total, source.readable) = (text.len() as u64, Some(text));
        }
        Ok(source)
    }

    /// Reads from `offset` on; fewer bytes than requested only at the end.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Some(text) = &self.readable else { return self.store.read(&self.id, offset, buffer) };
        let rest = usize::try_from(offset).ok().and_then(|offset| text.get(offset..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// At most `length` bytes from `offset` on.
    pub(crate) fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>, StoreError> {
        let mut buffer = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        let count = self.read(offset, &mut buffer)?;
        buffer.truncate(count);
        Ok(buffer)
    }

    /// A position at or before the start of `line`.
    pub(crate) fn checkpoint(&self, line: u64) -> Result<LineCheckpoint, StoreError> {
        match self.readable {
            Some(_) => Ok(LineCheckpoint::START),
            None => self.store.checkpoint(&self.id, line),
        }
    }
}
