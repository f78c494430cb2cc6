//! A store in memory, for tests and for programs that need outputs only while they run.

use crate::store::{Clock, Entry, EntryState, Id, NewEntry, Pin, Store, StoreError, Summary, Writer};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// A store in memory.
///
/// ```
/// use offcut::store::{EntryState, MemoryStore, Store};
/// use offcut::{Context, Profile, Storage, Truncator};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
/// let _ = truncator.apply(&"a line\n".repeat(100_000), &Context::default());
/// let entry = store.entry(&store.ids().unwrap()[0]).unwrap();
/// assert_eq!((entry.bytes, entry.state), (700_000, EntryState::Complete));
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    clock: Clock,
    contents: Arc<Mutex<Contents>>,
}

#[derive(Debug, Default)]
struct Contents {
    /// How many entries were ever created: ids of the same millisecond stay ordered and distinct.
    created: u64,
    /// The time of the newest id: a clock that steps back must not change the order.
    latest: Option<SystemTime>,
    entries: BTreeMap<Id, (Entry, Vec<u8>)>,
}

impl Contents {
    fn get(&mut self, id: &Id) -> Result<&mut (Entry, Vec<u8>), StoreError> {
        self.entries.get_mut(id).ok_or_else(|| StoreError::NotFound { id: id.to_string() })
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new(clock: Clock) -> MemoryStore {
        MemoryStore { clock, contents: Arc::default() }
    }
}

/// A panic elsewhere cannot leave an entry half changed, so the entries stay usable after one.
fn lock(contents: &Mutex<Contents>) -> MutexGuard<'_, Contents> {
    contents.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for MemoryStore {
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        let mut contents = lock(&self.contents);
        let created = contents.latest.map_or((self.clock)(), |latest| latest.max((self.clock)()));
        contents.latest = Some(created);
        contents.created += 1;
        // The counter is at the beginning of the random half, so that short ids differ too.
        let id = Id::new(created, contents.created.rotate_left(30));
        contents.entries.insert(id, (Entry::new(id, created, new), Vec::new()));
        Ok(Box::new(MemoryWriter { id, contents: Arc::clone(&self.contents) }))
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        Ok(lock(&self.contents).entries.keys().copied().collect())
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        lock(&self.contents)
            .get(id)
            .map(|(entry, bytes)| Entry { bytes: bytes.len() as u64, ..entry.clone() })
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let mut contents = lock(&self.contents);
        let (_, bytes) = contents.get(id)?;
        let start = usize::try_from(offset).map_or(bytes.len(), |offset| offset.min(bytes.len()));
        let count = buffer.len().min(bytes.len() - start);
        buffer[..count].copy_from_slice(&bytes[start..start + count]);
        Ok(count)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        lock(&self.contents).get(id).map(|(entry, _)| entry.pin = pin)
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        let mut contents = lock(&self.contents);
        contents.get(id)?;
        contents.entries.remove(id);
        Ok(())
    }
}

struct MemoryWriter {
    id: Id,
    contents: Arc<Mutex<Contents>>,
}

impl Writer for MemoryWriter {
    fn id(&self) -> Id {
        self.id
    }

    fn path(&self) -> Option<&Path> {
        None
    }

    fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        lock(&self.contents).get(&self.id).map(|(_, bytes)| bytes.extend_from_slice(chunk))
    }

    fn commit(self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError> {
        let mut contents = lock(&self.contents);
        let (entry, bytes) = contents.get(&self.id)?;
        *entry = entry.clone().committed(bytes.len() as u64, state, summary.clone());
        Ok(entry.clone())
    }
}

impl Drop for MemoryWriter {
    fn drop(&mut self) {
        if let Ok((entry, _)) = lock(&self.contents).get(&self.id)
            && entry.state == EntryState::Running
        {
            entry.state = EntryState::Abandoned;
        }
    }
}
