//! A store around the caller's own place for bytes: a database, a cache, a bucket.

use crate::store::{
    Clock, Entry, EntryState, Id, NewEntry, Pin, Store, StoreError, Summary, UploadState, Writer,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

/// The caller's own place for the bytes of outputs.
///
/// ```
/// use offcut::store::contract::{self, PreviewSupport};
/// use offcut::store::{Backend, CustomStore, Id, NewEntry, StoreError};
/// use std::{collections::BTreeMap, io::Write, sync::{Arc, Mutex}, time::SystemTime};
///
/// /// Outputs in a map; a database works in the same way.
/// #[derive(Clone, Default)]
/// struct Cache(Arc<Mutex<BTreeMap<Id, Vec<u8>>>>);
///
/// /// Appends to one output of the map.
/// struct Appender(Cache, Id);
///
/// impl Write for Appender {
///     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
///         self.0.0.lock().unwrap().entry(self.1).or_default().extend_from_slice(bytes);
///         Ok(bytes.len())
///     }
///     fn flush(&mut self) -> std::io::Result<()> {
///         Ok(())
///     }
/// }
///
/// impl Backend for Cache {
///     fn create(&self, id: &Id, _new: &NewEntry<'_>) -> Result<Box<dyn Write + Send>, StoreError> {
///         self.0.lock().unwrap().insert(*id, Vec::new());
///         Ok(Box::new(Appender(self.clone(), *id)))
///     }
///     fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
///         let outputs = self.0.lock().unwrap();
///         let mut rest = outputs[id].get(offset as usize..).unwrap_or_default();
///         Ok(std::io::Read::read(&mut rest, buffer).unwrap_or(0))
///     }
///     fn remove(&self, id: &Id) -> Result<(), StoreError> {
///         self.0.lock().unwrap().remove(id);
///         Ok(())
///     }
/// }
///
/// contract::check(|| CustomStore::new(Cache::default(), SystemTime::now), PreviewSupport::None);
/// ```
pub trait Backend: Send + Sync {
    /// Opens a place for a new output. The writer is flushed when the output is complete.
    fn create(&self, id: &Id, new: &NewEntry<'_>) -> Result<Box<dyn Write + Send>, StoreError>;

    /// The file that contains an output, if readers can open it: previews name it. Asked when the output is complete.
    fn location(&self, id: &Id) -> Option<PathBuf> {
        let _ = id;
        None
    }

    /// Reads bytes of an output from `offset` on; fewer than requested only at the end of what is stored.
    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError>;

    /// Removes an output.
    fn remove(&self, id: &Id) -> Result<(), StoreError>;
}

/// A store whose bytes are in a [`Backend`]. What is known about entries is in memory while the program runs.
pub struct CustomStore<B> {
    backend: Arc<B>,
    clock: Clock,
    index: Arc<Mutex<Index>>,
}

#[derive(Default)]
struct Index {
    /// The number of entries ever created: ids of the same millisecond stay ordered and distinct.
    created: u64,
    entries: BTreeMap<Id, Entry>,
}

impl Index {
    fn entry(&mut self, id: &Id) -> Result<&mut Entry, StoreError> {
        self.entries.get_mut(id).ok_or_else(|| StoreError::NotFound { id: id.to_string() })
    }
}

/// A panic elsewhere cannot leave an entry half changed, so the index stays usable after one.
fn lock(index: &Mutex<Index>) -> MutexGuard<'_, Index> {
    index.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Backend> CustomStore<B> {
    /// A store around `backend`, without entries.
    pub fn new(backend: B, clock: Clock) -> CustomStore<B> {
        CustomStore { backend: Arc::new(backend), clock, index: Arc::default() }
    }
}

impl<B: Backend + 'static> Store for CustomStore<B> {
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        let created = (self.clock)();
        let id = {
            let mut index = lock(&self.index);
            index.created += 1;
            // The nanoseconds distinguish the ids of several stores in one millisecond.
            let nanos = created.duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
            Id::new(created, u64::from(nanos) + index.created)
        };
        let writer = self.backend.create(&id, new)?;
        lock(&self.index).entries.insert(id, Entry::new(id, created, new));
        let (backend, index) = (Arc::clone(&self.backend), Arc::clone(&self.index));
        Ok(Box::new(CustomWriter { id, completed: None, writer, backend, index }))
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        Ok(lock(&self.index).entries.keys().copied().collect())
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        lock(&self.index).entry(id).cloned()
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        lock(&self.index).entry(id)?;
        self.backend.read(id, offset, buffer)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        lock(&self.index).entry(id).map(|entry| entry.pin = pin)
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        lock(&self.index).entry(id)?;
        self.backend.remove(id)?;
        lock(&self.index).entries.remove(id);
        Ok(())
    }
}

struct CustomWriter<B> {
    id: Id,
    /// The file, once the output is complete, or why it could not be completed.
    completed: Option<Result<Option<PathBuf>, StoreError>>,
    writer: Box<dyn Write + Send>,
    backend: Arc<B>,
    index: Arc<Mutex<Index>>,
}

/// Why an output could not be written. Its id means nothing to the caller: it was never in the store.
fn not_written(error: std::io::Error) -> StoreError {
    StoreError::Io { action: "write", place: "the output".to_owned(), error }
}

impl<B: Backend> Writer for CustomWriter<B> {
    fn id(&self) -> Id {
        self.id
    }

    fn path(&self) -> Option<&Path> {
        self.completed.as_ref()?.as_ref().ok()?.as_deref()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.writer.write_all(bytes).map_err(not_written)?;
        lock(&self.index).entry(&self.id).map(|entry| entry.bytes += bytes.len() as u64)
    }

    fn flush(&mut self) -> UploadState {
        if self.completed.is_none() {
            let flushed = self.writer.flush().map_err(not_written);
            self.completed = Some(flushed.map(|()| self.backend.location(&self.id)));
        }
        UploadState::Uploaded
    }

    fn commit(mut self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError> {
        self.flush();
        let path = self.completed.take().transpose()?.flatten();
        let mut index = lock(&self.index);
        let entry = index.entry(&self.id)?;
        *entry = entry.clone().committed(entry.bytes, state, summary.clone());
        entry.path = path;
        Ok(entry.clone())
    }
}

impl<B> Drop for CustomWriter<B> {
    fn drop(&mut self) {
        if let Ok(entry) = lock(&self.index).entry(&self.id)
            && entry.state == EntryState::Running
        {
            entry.state = EntryState::Abandoned;
        }
    }
}
