//! The store: a bucket, and a folder on this machine for what is on its way there.

use crate::access::Access;
use crate::ahead::Ahead;
use crate::engine::Engine;
use crate::landmarks::{self, Landmarks};
use crate::location::Location;
use crate::notes::Notes;
use crate::remote::{self, Guard};
use crate::writer::FleetWriter;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use offcut::store::{
    Clock, Entry, FsStore, Id, Item, LineCheckpoint, NewEntry, Pin, Selection, Store, StoreError, Writer,
};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// What a store needs to know besides its place.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of this machine, as others will see it.
    pub host: Option<String>,
    /// The longest that a writer waits for the store when its output has ended.
    pub deadline: Duration,
    /// Tells the time.
    pub clock: Clock,
}

/// A store that many machines share.
///
/// An output is written to a folder on this machine and uploaded at the same time; when all of it has arrived the file
/// goes. A store that is away or slow costs no more than the deadline and loses nothing: the file stays, the entry says
/// so ([`offcut::store::UploadState::LocalOnly`]), and [`FleetStore::move_up`] moves it later.
pub struct FleetStore(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) local: FsStore,
    pub(crate) notes: Notes,
    pub(crate) options: Options,
    pub(crate) guard: Arc<OnceLock<Guard>>,
    /// What this process has begun and not yet described: nobody else can know of it.
    pub(crate) fresh: Mutex<HashSet<Id>>,
    /// The keys of descriptions, as listings told them.
    pub(crate) keys: Mutex<HashMap<Id, Key>>,
    /// The sizes of entries, which never change.
    pub(crate) sizes: Mutex<HashMap<Id, u64>>,
    pub(crate) indexes: Mutex<HashMap<Id, Arc<Landmarks>>>,
    ahead: Ahead,
}

impl FleetStore {
    /// The store at `location`, with `spool` for what is on its way there. Nothing is touched and nobody is asked yet.
    pub fn new(
        location: Location,
        access: Access,
        spool: impl Into<PathBuf>,
        options: Options,
    ) -> FleetStore {
        let local = FsStore::new(spool, options.clock);
        FleetStore(Arc::new(Shared {
            engine: Engine::new(location, access),
            notes: Notes::new(local.directory()),
            local,
            options,
            guard: Arc::default(),
            fresh: Mutex::default(),
            keys: Mutex::default(),
            sizes: Mutex::default(),
            indexes: Mutex::default(),
            ahead: Ahead::default(),
        }))
    }

    /// Where the outputs are.
    pub fn location(&self) -> &Location {
        &self.0.engine.location
    }

    /// The folder for what is on its way.
    pub fn spool(&self) -> &Path {
        self.0.local.directory()
    }
}

/// A panic elsewhere leaves at worst a cache without an entry.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn not_found(id: &Id) -> StoreError {
    StoreError::NotFound { id: id.to_string() }
}

impl Shared {
    /// Removes objects, a thousand at a time, in order: what describes an entry comes last in `keys`.
    fn delete(&self, keys: Vec<Key>) -> Result<(), StoreError> {
        self.engine.run(move |client| async move {
            let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
            let mut results = client.delete_stream(keys);
            while let Some(result) = results.next().await {
                match result {
                    // Another cleaner was faster.
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }

    fn remove_remote(&self, ids: &[(Id, Key)]) -> Result<(), StoreError> {
        let layout = &self.engine.layout;
        // The bytes go first: a description without bytes says so, bytes without one would stay for ever.
        let parts =
            ids.iter().flat_map(|(id, _)| [layout.output(id), layout.lines(id), layout.pin(id)]).collect();
        self.delete(parts)?;
        self.delete(ids.iter().map(|(_, key)| key.clone()).collect())?;
        for (id, _) in ids {
            self.forget(id);
        }
        Ok(())
    }
}

impl Store for FleetStore {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        FleetWriter::open(&self.0, draft).map(|writer| Box::new(writer) as Box<dyn Writer>)
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        let mut ids: Vec<Id> =
            self.0.list(&Selection::default())?.into_iter().map(|listed| listed.item.id).collect();
        ids.extend(self.0.local.ids()?);
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        match self.0.local.entry(id) {
            Ok(entry) => Ok(self.0.waiting(entry)),
            Err(StoreError::NotFound { .. }) => self.0.remote_entry(id),
            Err(error) => Err(error),
        }
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        match self.0.local.read(id, offset, buffer) {
            Err(StoreError::NotFound { .. }) => {}
            read => return read,
        }
        let total = self.0.size(id)?;
        let key = self.0.engine.layout.output(id);
        self.0.ahead.read(id, offset, buffer, total, |range| {
            let key = key.clone();
            let found = self
                .0
                .engine
                .run(move |client| async move { remote::get_range(&client, &key, range).await })?;
            found.ok_or_else(|| {
                self.0.forget(id);
                not_found(id)
            })
        })
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        match self.0.local.pin(id, pin) {
            Err(StoreError::NotFound { .. }) => {}
            done => return done,
        }
        self.0.described(id)?;
        let key = self.0.engine.layout.pin(id);
        match pin {
            Pin::Pinned => {
                self.0.engine.run(move |client| async move { remote::put(&client, &key, Bytes::new()).await })
            }
            Pin::Loose => self.0.delete(vec![key]),
        }
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        let local = match self.0.local.remove(id) {
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => return Err(error),
            Ok(()) => Some(()),
        };
        if lock(&self.0.fresh).remove(id) {
            // It was never described; what was uploaded of it is of no use to anybody, and nobody waits for that.
            let key = self.0.engine.layout.output(id);
            let _ = self.0.engine.start(move |client| async move { client.delete(&key).await });
            return local.ok_or_else(|| not_found(id));
        }
        match (self.0.described(id), local) {
            (Ok(key), _) => self.0.remove_remote(&[(*id, key)]),
            (Err(_), Some(())) => Ok(()),
            (Err(error), None) => Err(error),
        }
    }

    fn entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        let found: Vec<Option<Result<Entry, StoreError>>> = ids
            .iter()
            .map(|id| match self.0.local.entry(id) {
                Ok(entry) => Some(Ok(self.0.waiting(entry))),
                Err(StoreError::NotFound { .. }) => None,
                Err(error) => Some(Err(error)),
            })
            .collect();
        let elsewhere: Vec<Id> =
            ids.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(id, _)| *id).collect();
        let mut remote = self.0.remote_entries(&elsewhere).into_iter();
        let found = found.into_iter().zip(ids);
        found
            .map(|(found, id)| found.or_else(|| remote.next()).unwrap_or_else(|| Err(not_found(id))))
            .collect()
    }

    fn select(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        self.0.select(selection)
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        let selection = Selection { most: Some(count), ..Selection::default() };
        Ok(self.0.select(&selection)?.into_iter().map(|item| item.id).collect())
    }

    fn ids_beginning(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        self.0.ids_beginning(beginning)
    }

    fn landmark(&self, id: &Id, line: u64) -> Result<LineCheckpoint, StoreError> {
        if self.0.local.entry(id).is_ok() || self.0.size(id)? < landmarks::FROM {
            return Ok(LineCheckpoint::START);
        }
        Ok(self.0.index(id)?.before(line))
    }

    fn remove_all(&self, ids: &[Id], tell: &mut dyn FnMut(&Id, Result<(), StoreError>)) {
        for batch in ids.chunks(1000) {
            // What a listing has told is removed in bulk; what only this machine may have, one by one.
            let mut bulk: Vec<(Id, Key)> = Vec::new();
            let mut single: Vec<Id> = Vec::new();
            for id in batch {
                match lock(&self.0.keys).get(id) {
                    Some(key) if self.0.local.entry(id).is_err() => bulk.push((*id, key.clone())),
                    _ => single.push(*id),
                }
            }
            let removed = self.0.remove_remote(&bulk).map_err(|error| error.to_string());
            for (id, _) in &bulk {
                tell(id, removed.clone().map_err(|reason| StoreError::Refused { reason }));
            }
            for id in &single {
                tell(id, self.remove(id));
            }
        }
    }
}
