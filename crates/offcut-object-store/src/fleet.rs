//! The store: a bucket, and a spool directory on this machine for outputs that are not uploaded yet.

use crate::access::Access;
use crate::connection::Connection;
use crate::line_index;
use crate::local_index::LocalIndex;
use crate::location::Location;
use crate::lookup::Known;
use crate::readahead::ReadAhead;
use crate::writer::FleetWriter;
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path as Key;
use offcut::store::{
    Clock, Entry, EntryFilter, FsStore, Id, LineCheckpoint, NewEntry, Pin, Store, StoreError, Stray,
    StrayKind, Writer,
};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many entries are read at a time to find those that satisfy a condition.
const CONDITION_BATCH: usize = 256;

/// The settings of a store besides its location.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of this machine, as other machines see it.
    pub host: Option<String>,
    /// The longest that a writer waits for the store when its output has ended.
    pub deadline: Duration,
    /// Whether command lines, tool inputs, working directories and user names are uploaded. They may contain secrets.
    pub share_commands: bool,
    /// The clock.
    pub clock: Clock,
}

/// A store that many machines share.
///
/// An output is written to a spool directory on this machine and uploaded at the same time; the local file is removed
/// when everything is uploaded. If the store is unavailable or slow, a call waits no longer than the deadline and nothing
/// is lost: the local file stays, the entry says so ([`offcut::store::UploadState::LocalOnly`]), and
/// [`FleetStore::upload_pending`] uploads it later.
pub struct FleetStore(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) connection: Connection,
    /// The spool directory.
    pub(crate) local: FsStore,
    pub(crate) local_index: LocalIndex,
    pub(crate) options: Options,
    /// Outputs that this process has started and not yet committed: no other process knows them.
    pub(crate) unpublished: Mutex<HashSet<Id>>,
    pub(crate) known: Mutex<HashMap<Id, Known>>,
    readahead: ReadAhead,
}

impl FleetStore {
    /// The store at `location`, with the spool directory `spool`. Touches no file and makes no request yet.
    pub fn new(
        location: Location,
        access: Access,
        spool: impl Into<PathBuf>,
        options: Options,
    ) -> FleetStore {
        let local = FsStore::new(spool, options.clock);
        let local_index = LocalIndex::new(local.directory());
        FleetStore(Arc::new(Shared {
            connection: Connection::new(location, access, local_index.create_mode_file()),
            local,
            local_index,
            options,
            unpublished: Mutex::default(),
            known: Mutex::default(),
            readahead: ReadAhead::default(),
        }))
    }

    /// The bucket and prefix of the store.
    pub fn location(&self) -> &Location {
        &self.0.connection.location
    }

    /// The spool directory.
    pub fn spool(&self) -> &Path {
        self.0.local.directory()
    }
}

/// Locks a cache. A panic in another thread leaves it usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn not_found(id: &Id) -> StoreError {
    StoreError::NotFound { id: id.to_string() }
}

/// The result of an operation on the spool, or nothing if the entry is not there.
fn in_spool<T>(result: Result<T, StoreError>) -> Option<Result<T, StoreError>> {
    match result {
        Err(StoreError::NotFound { .. }) => None,
        result => Some(result),
    }
}

impl Shared {
    pub(crate) fn delete(&self, keys: Vec<Key>) -> Result<(), StoreError> {
        self.connection.run(move |remote| async move { remote.delete(keys).await })
    }

    fn spooled_entry(&self, id: &Id) -> Option<Result<Entry, StoreError>> {
        in_spool(self.local.entry(id).map(|entry| self.pending_entry(entry)))
    }

    fn remove_remote(&self, ids: &[(Id, Key)]) -> Result<(), StoreError> {
        let layout = &self.connection.layout;
        // The metadata is removed last: without it, bytes that could not be removed would stay for ever.
        let parts = ids.iter().flat_map(|(id, _)| [layout.output(id), layout.lines(id), layout.pin(id)]);
        self.delete(parts.collect())?;
        self.delete(ids.iter().map(|(_, key)| key.clone()).collect())?;
        let mut known = lock(&self.known);
        ids.iter().for_each(|(id, _)| drop(known.remove(id)));
        Ok(())
    }
}

impl Store for FleetStore {
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        FleetWriter::open(&self.0, new).map(|writer| Box::new(writer) as Box<dyn Writer>)
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.0.ids()
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.0.spooled_entry(id).unwrap_or_else(|| self.0.remote_entry(id))
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        if let Some(read) = in_spool(self.0.local.read(id, offset, buffer)) {
            return read;
        }
        let total = self.0.size(id)?;
        let key = self.0.connection.layout.output(id);
        self.0.readahead.read(id, offset, buffer, total, |range| {
            let key = key.clone();
            let bytes =
                self.0.connection.run(move |remote| async move { remote.get(&key, Some(range)).await })?;
            bytes.ok_or_else(|| {
                lock(&self.0.known).remove(id);
                not_found(id)
            })
        })
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        if let Some(done) = in_spool(self.0.local.pin(id, pin)) {
            return done;
        }
        self.0.metadata_key(id)?;
        let key = self.0.connection.layout.pin(id);
        match pin {
            Pin::Pinned => {
                self.0.connection.run(move |remote| async move { remote.put(&key, Bytes::new()).await })
            }
            Pin::Loose => self.0.delete(vec![key]),
        }
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        let local = in_spool(self.0.local.remove(id)).transpose()?;
        if lock(&self.0.unpublished).remove(id) {
            // It was never published. What was uploaded of it is removed without waiting for the result.
            let key = self.0.connection.layout.output(id);
            let _ = self.0.connection.start(move |remote| async move { remote.client.delete(&key).await });
            return local.ok_or_else(|| not_found(id));
        }
        match (self.0.metadata_key(id), local) {
            (Ok(key), _) => self.0.remove_remote(&[(*id, key)]),
            (Err(_), Some(())) => Ok(()),
            (Err(error), None) => Err(error),
        }
    }

    fn entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        let spooled: Vec<_> = ids.iter().map(|id| self.0.spooled_entry(id)).collect();
        let others = ids.iter().zip(&spooled).filter(|(_, entry)| entry.is_none()).map(|(id, _)| *id);
        let mut remote = self.0.remote_entries(&others.collect::<Vec<_>>()).into_iter();
        let entries = spooled.into_iter().zip(ids);
        entries
            .map(|(entry, id)| entry.or_else(|| remote.next()).unwrap_or_else(|| Err(not_found(id))))
            .collect()
    }

    fn select(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        if selection.condition.is_none() {
            return self.0.select(selection);
        }
        // Keys do not say enough: the metadata is read, newest first, until enough entries match.
        let by_key = EntryFilter { condition: None, limit: None, ..selection.clone() };
        let ids: Vec<Id> = self.0.select(&by_key)?.into_iter().map(|item| item.id).collect();
        let most = selection.limit.unwrap_or(usize::MAX);
        let mut selected = Vec::new();
        for batch in ids.chunks(CONDITION_BATCH) {
            for entry in self.entries(batch) {
                match entry {
                    Ok(entry) => selected.extend(Some(entry).filter(|entry| selection.matches(entry))),
                    // It was removed meanwhile, or its metadata says nothing.
                    Err(StoreError::NotFound { .. } | StoreError::Damaged { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            if selected.len() >= most {
                break;
            }
        }
        selected.truncate(most);
        Ok(selected)
    }

    fn visit(&self, filter: &EntryFilter, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        match filter.condition {
            None => self.0.visit(filter, visit),
            Some(_) => self.select(filter).map(|entries| entries.into_iter().for_each(visit)),
        }
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        let selection = EntryFilter { limit: Some(count), ..EntryFilter::default() };
        let ids = |items: Vec<Entry>| items.into_iter().map(|item| item.id).collect();
        let local = self.0.local.newest(count)?;
        if local.len() < count {
            return self.0.select(&selection).map(ids);
        }
        // With outputs on this machine, the store may take no longer than a writer would wait for it.
        let (sender, receiver) = sync_channel(1);
        let (shared, wait) =
            (Arc::clone(&self.0), self.0.deadline().saturating_duration_since(Instant::now()));
        std::thread::spawn(move || drop(sender.send(shared.select(&selection))));
        match receiver.recv_timeout(wait) {
            Ok(Ok(items)) => Ok(ids(items)),
            _ => Ok(local),
        }
    }

    fn strays(&self, kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        let mut strays = self.0.local.strays(kind)?;
        if kind == StrayKind::Remnant {
            strays.extend(self.0.objects_without_entry()?);
        }
        Ok(strays)
    }

    fn remove_stray(&self, stray: &Stray) -> Result<(), StoreError> {
        match Path::new(&stray.place).is_absolute() {
            true => self.0.local.remove_stray(stray),
            false => self.0.remove_object_without_entry(&stray.place),
        }
    }

    fn ids_with_prefix(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        self.0.ids_with_prefix(beginning)
    }

    fn checkpoint(&self, id: &Id, line: u64) -> Result<LineCheckpoint, StoreError> {
        if self.0.local.entry(id).is_ok() || self.0.size(id)? < line_index::MIN_SIZE {
            return Ok(LineCheckpoint::START);
        }
        Ok(self.0.line_index(id)?.before(line))
    }

    fn remove_all(&self, ids: &[Id], report: &mut dyn FnMut(&Id, Result<(), StoreError>)) {
        for batch in ids.chunks(1000) {
            // Entries with a known key are removed in bulk; those that may be in the spool, one by one.
            let keys = self.0.known_keys(batch).unwrap_or_default();
            let bulk: Vec<(Id, Key)> = batch
                .iter()
                .zip(keys)
                .filter(|(id, _)| self.0.local.entry(id).is_err())
                .filter_map(|(id, key)| Some((*id, key?)))
                .collect();
            let removed = self.0.remove_remote(&bulk).map_err(|error| error.to_string());
            let is_removed: HashSet<&Id> = bulk.iter().map(|(id, _)| id).collect();
            for id in batch {
                report(
                    id,
                    match is_removed.contains(id) {
                        true => removed.clone().map_err(|reason| StoreError::Refused { reason }),
                        false => self.remove(id),
                    },
                );
            }
        }
    }
}
