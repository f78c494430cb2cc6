//! A store in memory, for tests and for programs that keep outputs only while they run.

use crate::context::Context;
use crate::store::{
    Clock, Entry, EntryState, Id, NewEntry, Pin, Reading, Store, StoreError, Summary, UploadState, Writer,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// A store in memory.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    clock: Clock,
    entries: Entries,
}

type Entries = Arc<Mutex<Shelf>>;

#[derive(Debug, Default)]
struct Shelf {
    /// How many entries were ever made: ids of the same millisecond stay ordered and distinct.
    made: u64,
    entries: BTreeMap<Id, Kept>,
}

#[derive(Debug)]
struct Kept {
    created: SystemTime,
    context: Context,
    profile: String,
    reading: Reading,
    bytes: Vec<u8>,
    completeness: EntryState,
    pin: Pin,
    summary: Option<Summary>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new(clock: Clock) -> MemoryStore {
        MemoryStore { clock, entries: Entries::default() }
    }
}

/// A panic elsewhere cannot leave an entry half changed, so the entries stay usable after one.
fn lock(entries: &Entries) -> MutexGuard<'_, Shelf> {
    entries.lock().unwrap_or_else(PoisonError::into_inner)
}

fn not_found(id: &Id) -> StoreError {
    StoreError::NotFound { id: id.to_string() }
}

impl Kept {
    fn entry(&self, id: &Id) -> Entry {
        Entry {
            id: *id,
            path: None,
            created: self.created,
            context: self.context.clone(),
            profile: self.profile.clone(),
            reading: self.reading,
            host: None,
            bytes: self.bytes.len() as u64,
            completeness: self.completeness.clone(),
            pin: self.pin,
            upload_state: UploadState::Uploaded,
            summary: self.summary.clone(),
        }
    }
}

impl Store for MemoryStore {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        let created = (self.clock)();
        let mut shelf = lock(&self.entries);
        shelf.made += 1;
        let id = Id::new(created, shelf.made);
        shelf.entries.insert(
            id,
            Kept {
                created,
                context: draft.context.clone(),
                profile: draft.profile.to_owned(),
                reading: draft.reading,
                bytes: Vec::new(),
                completeness: EntryState::Writing,
                pin: Pin::Loose,
                summary: None,
            },
        );
        Ok(Box::new(MemoryWriter { id, entries: Arc::clone(&self.entries) }))
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        Ok(lock(&self.entries).entries.keys().copied().collect())
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        lock(&self.entries).entries.get(id).map(|kept| kept.entry(id)).ok_or_else(|| not_found(id))
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let shelf = lock(&self.entries);
        let bytes = &shelf.entries.get(id).ok_or_else(|| not_found(id))?.bytes;
        let from = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let count = buffer.len().min(bytes.len() - from);
        buffer[..count].copy_from_slice(&bytes[from..from + count]);
        Ok(count)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        lock(&self.entries).entries.get_mut(id).map(|kept| kept.pin = pin).ok_or_else(|| not_found(id))
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        lock(&self.entries).entries.remove(id).map(drop).ok_or_else(|| not_found(id))
    }
}

struct MemoryWriter {
    id: Id,
    entries: Entries,
}

impl Writer for MemoryWriter {
    fn id(&self) -> Id {
        self.id
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let mut shelf = lock(&self.entries);
        let kept = shelf.entries.get_mut(&self.id).ok_or_else(|| not_found(&self.id))?;
        kept.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn commit(self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError> {
        let mut shelf = lock(&self.entries);
        let kept = shelf.entries.get_mut(&self.id).ok_or_else(|| not_found(&self.id))?;
        kept.completeness = summary.completeness.clone();
        kept.summary = Some(summary.clone());
        Ok(kept.entry(&self.id))
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        if let Some(kept) = lock(&self.entries).entries.get_mut(&self.id)
            && kept.completeness == EntryState::Writing
        {
            kept.completeness = EntryState::Abandoned;
        }
    }
}
