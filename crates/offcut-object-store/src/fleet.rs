//! The store: a bucket, and a folder on this machine for what is on its way there.

use crate::access::Access;
use crate::ahead::Ahead;
use crate::engine::{Answer, Client, Engine, Wait};
use crate::landmarks::{self, Landmarks};
use crate::layout;
use crate::location::Location;
use crate::remote::{self, Guard};
use crate::trouble;
use crate::writer::FleetWriter;
use bytes::Bytes;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use offcut::store::{
    Clock, Draft, Entry, FsStore, Id, Item, Landmark, Pin, Selection, Standing, Store, StoreError, Writer,
};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Requests under way at once when many entries are looked at.
const PARALLEL: usize = 32;

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
/// so ([`Standing::OnlyLocal`]), and [`FleetStore::move_up`] moves it later.
pub struct FleetStore(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) local: FsStore,
    pub(crate) options: Options,
    pub(crate) guard: Arc<OnceLock<Guard>>,
    /// What this process has begun and not yet described: nobody else can know of it.
    pub(crate) fresh: Mutex<HashSet<Id>>,
    /// The keys of descriptions, as listings told them.
    pub(crate) keys: Mutex<HashMap<Id, Key>>,
    /// The sizes of entries, which never change.
    sizes: Mutex<HashMap<Id, u64>>,
    indexes: Mutex<HashMap<Id, Arc<Landmarks>>>,
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
        FleetStore(Arc::new(Shared {
            engine: Engine::new(location, access),
            local: FsStore::new(spool, options.clock),
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

/// An entry's description, under its key, and whether it is pinned.
type Found = (Key, Bytes, Pin);

/// Looks for an entry.
async fn look(client: &Client, key: Option<Key>, beginning: &str, pin: &Key) -> Answer<Option<Found>> {
    let described = async {
        let key = match key {
            Some(key) => Some(key),
            None => remote::first(client, beginning).await?,
        };
        match key {
            Some(key) => Ok(remote::get(client, &key).await?.map(|text| (key, text))),
            None => Answer::Ok(None),
        }
    };
    let (described, pinned) = join(described, remote::head(client, pin)).await;
    let pin = if pinned?.is_some() { Pin::Pinned } else { Pin::Loose };
    Ok(described?.map(|(key, text)| (key, text, pin)))
}

impl Shared {
    /// An entry that only this machine has.
    pub(crate) fn waiting(&self, entry: Entry) -> Entry {
        let reason = self.trouble().unwrap_or_else(|| "it waits to be uploaded".to_owned());
        Entry {
            path: None,
            host: self.options.host.clone(),
            standing: Standing::OnlyLocal { reason },
            ..entry
        }
    }

    fn request_of(&self, id: &Id) -> (Option<Key>, String, Key) {
        let layout = &self.engine.layout;
        let beginning = layout.entries_like(&layout::day(id), &format!("{id}."));
        (lock(&self.keys).get(id).cloned(), beginning, layout.pin(id))
    }

    /// Looks at entries in the store, many at once.
    fn remote_entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        let requests: Vec<_> = ids.iter().map(|id| self.request_of(id)).collect();
        let answers = self.engine.run(move |client| async move {
            let looks = requests.into_iter().map(|(key, beginning, pin)| {
                let client = Arc::clone(&client);
                async move { look(&client, key, &beginning, &pin).await }
            });
            Ok(stream::iter(looks).buffered(PARALLEL).collect::<Vec<_>>().await)
        });
        let answers = match answers {
            Ok(answers) => answers,
            Err(error) => {
                let reason = error.to_string();
                return ids.iter().map(|_| Err(StoreError::Refused { reason: reason.clone() })).collect();
            }
        };
        ids.iter().zip(answers).map(|(id, answer)| self.entry_of(id, answer)).collect()
    }

    /// Looks at one entry, for which somebody may be waiting who has a deadline.
    fn remote_entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let (key, beginning, pin) = self.request_of(id);
        let looked =
            self.engine.start(move |client| async move { look(&client, key, &beginning, &pin).await })?;
        match looked.wait_until(Instant::now() + self.options.deadline) {
            Wait::Done(answer) => self.entry_of(id, answer),
            Wait::TimeIsUp => {
                Err(trouble::refused(&self.engine.location, "the store does not answer in time"))
            }
        }
    }

    fn entry_of(&self, id: &Id, answer: Answer<Option<Found>>) -> Result<Entry, StoreError> {
        let found = answer.map_err(|error| trouble::explained(&self.engine.location, &error))?;
        let (key, text, pin) = found.ok_or_else(|| not_found(id))?;
        let entry = Entry { pin, ..Entry::from_json(id, &text)? };
        lock(&self.keys).insert(*id, key);
        lock(&self.sizes).insert(*id, entry.bytes);
        Ok(entry)
    }

    fn size(&self, id: &Id) -> Result<u64, StoreError> {
        let known = lock(&self.sizes).get(id).copied();
        known.map_or_else(|| self.remote_entry(id).map(|entry| entry.bytes), Ok)
    }

    fn index(&self, id: &Id) -> Result<Arc<Landmarks>, StoreError> {
        if let Some(index) = lock(&self.indexes).get(id) {
            return Ok(Arc::clone(index));
        }
        let key = self.engine.layout.lines(id);
        let text = self.engine.run(move |client| async move { remote::get(&client, &key).await })?;
        let index = Arc::new(text.map_or_else(Landmarks::default, |text| Landmarks::from_json(&text)));
        lock(&self.indexes).insert(*id, Arc::clone(&index));
        Ok(index)
    }

    /// The key of an entry's description, if it is in the store.
    fn described(&self, id: &Id) -> Result<Key, StoreError> {
        let (key, beginning, _) = self.request_of(id);
        if let Some(key) = key {
            return Ok(key);
        }
        let found = self.engine.run(move |client| async move { remote::first(&client, &beginning).await })?;
        found.ok_or_else(|| not_found(id))
    }

    fn forget(&self, id: &Id) {
        lock(&self.keys).remove(id);
        lock(&self.sizes).remove(id);
        lock(&self.indexes).remove(id);
    }

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
    fn create(&self, draft: &Draft<'_>) -> Result<Box<dyn Writer>, StoreError> {
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
        let mut found: Vec<Option<Result<Entry, StoreError>>> = ids
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
        found
            .iter_mut()
            .zip(ids)
            .map(|(found, id)| found.take().or_else(|| remote.next()).unwrap_or_else(|| Err(not_found(id))))
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

    fn landmark(&self, id: &Id, line: u64) -> Result<Landmark, StoreError> {
        if self.0.local.entry(id).is_ok() || self.0.size(id)? < landmarks::FROM {
            return Ok(Landmark::START);
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
