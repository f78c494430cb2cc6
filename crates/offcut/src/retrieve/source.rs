//! The text of an entry that pages and search results are taken from.

use crate::retrieve::{ChecksumMismatch, VerifiedReader, readable};
use crate::store::{Entry, EntryState, Id, LineCheckpoint, Reading, Store, StoreError, Summary};
use std::sync::{Arc, Mutex, PoisonError};

/// The readable form that was made last, because one page after another is read. The digest of the stored bytes
/// identifies it in every store.
static LATEST: Mutex<Option<Readable>> = Mutex::new(None);

/// A longer readable form is made again for each page.
const LONGEST_KEPT: usize = 64 << 20;

struct Readable {
    digest: String,
    text: Arc<Vec<u8>>,
}

/// The bytes of an entry, or the readable form of its JSON if the entry is read that way.
pub(crate) struct Source<'a> {
    store: &'a dyn Store,
    id: Id,
    /// The size of the text.
    pub(crate) total: u64,
    reader: VerifiedReader<'a>,
    readable: Option<Arc<Vec<u8>>>,
}

impl<'a> Source<'a> {
    /// The text of an entry that is read as a whole: every block is compared with its digest.
    pub(crate) fn whole(store: &'a dyn Store, entry: &'a Entry) -> Result<Source<'a>, StoreError> {
        Source::new(store, entry, VerifiedReader::new(store, entry))
    }

    /// The text of an entry that is read in part. The blocks of a file are compared with their digests; another store would
    /// have to transfer a whole block for each part.
    pub(crate) fn part(store: &'a dyn Store, entry: &'a Entry) -> Result<Source<'a>, StoreError> {
        match entry.path {
            Some(_) => Source::whole(store, entry),
            None => Source::unverified(store, entry),
        }
    }

    /// The text of an entry for a reader who does not rely on it.
    pub(crate) fn unverified(store: &'a dyn Store, entry: &'a Entry) -> Result<Source<'a>, StoreError> {
        Source::new(store, entry, VerifiedReader::unverified(store, entry))
    }

    fn new(
        store: &'a dyn Store,
        entry: &'a Entry,
        reader: VerifiedReader<'a>,
    ) -> Result<Source<'a>, StoreError> {
        let (id, total) = (entry.id, entry.bytes);
        if let EntryState::Unsupported { version } = entry.state {
            return Err(StoreError::Unsupported { id, version });
        }
        let mut source = Source { store, id, total, reader, readable: None };
        if entry.reading == Reading::Readable {
            let text = source.readable(entry)?;
            (source.total, source.readable) = (text.len() as u64, Some(text));
        }
        Ok(source)
    }

    /// The readable form of the entry.
    fn readable(&self, entry: &Entry) -> Result<Arc<Vec<u8>>, StoreError> {
        let latest = || LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        let is_identified =
            |summary: &&Summary| entry.state == EntryState::Complete && !summary.digest.is_empty();
        let summary = entry.summary.as_ref().filter(is_identified);
        if let (Some(summary), Some(known)) = (summary, &*latest())
            && known.digest == summary.digest
        {
            return Ok(Arc::clone(&known.text));
        }
        let text = Arc::new(readable(&self.bytes(0, entry.bytes)?));
        let is_kept = text.len() <= LONGEST_KEPT && self.mismatches().is_empty();
        if let Some(summary) = summary.filter(|_| is_kept) {
            *latest() = Some(Readable { digest: summary.digest.clone(), text: Arc::clone(&text) });
        }
        Ok(text)
    }

    /// The blocks read so far that are not as they were stored.
    pub(crate) fn mismatches(&self) -> Vec<ChecksumMismatch> {
        self.reader.mismatches()
    }

    /// Reads from `offset` on; fewer bytes than requested only at the end.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Some(text) = &self.readable else { return self.reader.read(offset, buffer) };
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
