//! The text of an entry that pages and search results are taken from.

use crate::measure;
use crate::retrieve::readable::{CHUNK, Conversion};
use crate::retrieve::{ChecksumMismatch, VerifiedReader};
use crate::store::{Entry, EntryState, Id, LineCheckpoint, Reading, Store, StoreError, Summary};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// The index that was made last, because one page after another is read. The digest of the stored bytes identifies it
/// in every store.
static LATEST: Mutex<Option<(String, Arc<Index>)>> = Mutex::new(None);

/// How many chunks are read at once to make an index.
const BLOCK: usize = 64;

/// The bytes of an entry, or the readable form of its JSON if the entry is read that way.
pub(crate) struct Source<'a> {
    store: &'a dyn Store,
    id: Id,
    /// The size of the text.
    pub(crate) total: u64,
    reader: VerifiedReader<'a>,
    readable: Option<Readable>,
}

/// The readable form of an entry. It can be a hundred times longer than the entry, so one chunk of it is in memory.
struct Readable {
    index: Arc<Index>,
    /// The chunk that was converted last.
    latest: RefCell<Option<(usize, Vec<u8>)>>,
}

/// Where the readable form of each chunk of an entry begins.
struct Index {
    chunks: Vec<ChunkStart>,
    total: u64,
}

struct ChunkStart {
    /// The position in the readable form.
    place: LineCheckpoint,
    conversion: Conversion,
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
            let index = source.index(entry)?;
            source.total = index.total;
            source.readable = Some(Readable { index, latest: RefCell::new(None) });
        }
        Ok(source)
    }

    /// The index of the entry's readable form.
    fn index(&self, entry: &Entry) -> Result<Arc<Index>, StoreError> {
        let latest = || LATEST.lock().unwrap_or_else(PoisonError::into_inner);
        let is_identified =
            |summary: &&Summary| entry.state == EntryState::Complete && !summary.digest.is_empty();
        let summary = entry.summary.as_ref().filter(is_identified);
        if let (Some(summary), Some((digest, index))) = (summary, &*latest())
            && *digest == summary.digest
        {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(Index::new(&self.reader)?);
        if let Some(summary) = summary.filter(|_| self.mismatches().is_empty()) {
            *latest() = Some((summary.digest.clone(), Arc::clone(&index)));
        }
        Ok(index)
    }

    /// The blocks read so far that are not as they were stored.
    pub(crate) fn mismatches(&self) -> Vec<ChecksumMismatch> {
        self.reader.mismatches()
    }

    /// Reads from `offset` on; fewer bytes than requested only at the end.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Some(readable) = &self.readable else { return self.reader.read(offset, buffer) };
        let mut filled = 0;
        while filled < buffer.len() && offset + (filled as u64) < self.total {
            match self.read_chunk(readable, offset + filled as u64, &mut buffer[filled..])? {
                // The entry has become shorter.
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// Reads from `offset` to the end of its chunk.
    fn read_chunk(&self, readable: &Readable, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let Readable { index, latest } = readable;
        let number = index.chunks.partition_point(|chunk| chunk.place.offset <= offset).saturating_sub(1);
        let mut latest = latest.borrow_mut();
        if latest.as_ref().is_none_or(|(known, _)| *known != number) {
            *latest = Some((number, self.convert(index, number)?));
        }
        let text = latest.as_ref().map(|(_, text)| &text[..]).unwrap_or_default();
        let start = index.chunks.get(number).map_or(0, |chunk| chunk.place.offset);
        let rest = usize::try_from(offset - start).ok().and_then(|from| text.get(from..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// The readable form of a chunk.
    fn convert(&self, index: &Index, number: usize) -> Result<Vec<u8>, StoreError> {
        let mut json = vec![0; CHUNK];
        let count = self.reader.read((number * CHUNK) as u64, &mut json)?;
        let mut text = Vec::new();
        if let Some(chunk) = index.chunks.get(number) {
            let mut conversion = chunk.conversion.clone();
            conversion.push(&json[..count], &mut text);
            if number + 1 == index.chunks.len() {
                conversion.finish(&mut text);
            }
        }
        Ok(text)
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
        match &self.readable {
            Some(Readable { index, .. }) => Ok(index.before_line(line)),
            None => self.store.checkpoint(&self.id, line),
        }
    }
}

impl Index {
    /// Converts everything once, and keeps where each chunk begins.
    fn new(reader: &VerifiedReader<'_>) -> Result<Index, StoreError> {
        let mut block = vec![0; BLOCK * CHUNK];
        let (mut chunks, mut conversion, mut text) = (Vec::new(), Conversion::default(), Vec::new());
        let (mut position, mut place) = (0, LineCheckpoint::START);
        loop {
            let count = reader.read(position, &mut block)?;
            position += count as u64;
            for chunk in block[..count].chunks(CHUNK) {
                chunks.push(ChunkStart { place, conversion: conversion.clone() });
                text.clear();
                conversion.push(chunk, &mut text);
                place.offset += text.len() as u64;
                place.feeds += measure::newlines(&text);
            }
            if count < block.len() {
                text.clear();
                conversion.finish(&mut text);
                return Ok(Index { chunks, total: place.offset + text.len() as u64 });
            }
        }
    }

    fn before_line(&self, line: u64) -> LineCheckpoint {
        let after = self.chunks.partition_point(|chunk| chunk.place.feeds < line);
        self.chunks.get(after.saturating_sub(1)).map_or(LineCheckpoint::START, |chunk| chunk.place)
    }
}
