//! Finds single entries in the bucket, and remembers what was found.

use crate::errors::{explained, refused};
use crate::fleet::{Shared, lock, not_found};
use crate::line_index::LineIndex;
use crate::remote::Remote;
use bytes::Bytes;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use object_store::Result as Answer;
use object_store::path::Path as Key;
use offcut::store::{Entry, EntryFilter, EntryState, Id, Pin, StoreError, UploadState};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Entries that are looked up at once.
const PARALLEL_LOOKUPS: usize = 64;

/// For more entries than this, a listing finds their keys with fewer requests than a lookup of each.
const FEW: usize = 16;

/// How many entries are remembered.
const MOST_KNOWN: usize = 1 << 15;

/// What is known about an entry in the bucket.
#[derive(Default)]
pub(crate) struct Known {
    /// The key of its metadata.
    pub(crate) key: Option<Key>,
    /// Its size, which never changes.
    size: Option<u64>,
    lines: Option<Arc<LineIndex>>,
}

/// An entry's metadata, under its key, if it exists.
type Found = Answer<Option<(Key, Bytes)>>;

async fn find(remote: &Remote, id: Id, key: Option<Key>) -> Found {
    let key = match key {
        Some(key) => Some(key),
        None => remote.first(&remote.layout.entry_prefix(&id)).await?,
    };
    let Some(key) = key else { return Ok(None) };
    Ok(remote.get(&key, None).await?.map(|text| (key, text)))
}

fn pin_if(is_pinned: bool) -> Pin {
    if is_pinned { Pin::Pinned } else { Pin::Loose }
}

impl Shared {
    /// An entry of the spool as readers see it.
    pub(crate) fn pending_entry(&self, entry: Entry) -> Entry {
        let reason = self.local_index.last_failure().unwrap_or_else(|| "not uploaded yet".to_owned());
        Entry {
            path: None,
            host: self.options.host.clone(),
            upload_state: UploadState::LocalOnly { reason },
            ..entry
        }
    }

    /// Entries of the bucket, many at once.
    pub(crate) fn remote_entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        if ids.is_empty() {
            return Vec::new();
        }
        match self.find_all(ids).map_err(|error| error.to_string()) {
            Ok((answers, pinned)) => {
                let entries = ids.iter().zip(answers);
                entries.map(|(id, answer)| self.remember(id, answer, pin_if(pinned.contains(id)))).collect()
            }
            Err(reason) => ids.iter().map(|_| Err(StoreError::Refused { reason: reason.clone() })).collect(),
        }
    }

    /// The metadata of entries, and which entries of the bucket are pinned.
    fn find_all(&self, ids: &[Id]) -> Result<(Vec<Found>, HashSet<Id>), StoreError> {
        let requests: Vec<_> = ids.iter().copied().zip(self.known_keys(ids)?).collect();
        let answers = self.connection.run(move |remote| async move {
            let lookups = requests.into_iter().map(|(id, key)| find(&remote, id, key));
            Ok(stream::iter(lookups).buffered(PARALLEL_LOOKUPS).collect::<Vec<_>>().await)
        })?;
        Ok((answers, self.pinned()?))
    }

    /// One entry of the bucket, within the deadline.
    pub(crate) fn remote_entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let (id, key) = (*id, self.known_key(id));
        let pending = self.connection.start(move |remote| async move {
            let pin = remote.layout.pin(&id);
            let (found, pinned) = join(find(&remote, id, key), remote.head(&pin)).await;
            Ok((found, pin_if(pinned?.is_some())))
        })?;
        match pending.wait_until(Instant::now() + self.options.deadline) {
            Some(Ok((found, pin))) => self.remember(&id, found, pin),
            Some(Err(error)) => Err(explained(&self.connection.location, &error)),
            None => Err(refused(&self.connection.location, "the store does not answer in time")),
        }
    }

    fn known_key(&self, id: &Id) -> Option<Key> {
        lock(&self.known).get(id)?.key.clone()
    }

    /// The keys of the metadata of entries, as far as they are known or a listing finds them.
    pub(crate) fn known_keys(&self, ids: &[Id]) -> Result<Vec<Option<Key>>, StoreError> {
        let unknown = ids.iter().filter(|id| self.known_key(id).is_none());
        if unknown.clone().count() > FEW
            && let (Some(first), Some(last)) = (unknown.clone().min(), unknown.max())
        {
            self.list(&span(first, last))?;
        }
        Ok(ids.iter().map(|id| self.known_key(id)).collect())
    }

    /// Remembers what was found out about an entry, in limited memory.
    pub(crate) fn learn(&self, id: Id, learn: impl FnOnce(&mut Known)) {
        let mut known = lock(&self.known);
        if known.len() >= MOST_KNOWN && !known.contains_key(&id) {
            known.clear();
        }
        learn(known.entry(id).or_default());
    }

    fn remember(&self, id: &Id, answer: Found, pin: Pin) -> Result<Entry, StoreError> {
        let found = answer.map_err(|error| explained(&self.connection.location, &error))?;
        let (key, text) = found.ok_or_else(|| not_found(id))?;
        let entry = Entry { pin, ..Entry::from_json(id, &text)? };
        self.learn(*id, |known| {
            known.key = Some(key);
            known.size = supported(&entry).ok();
        });
        Ok(entry)
    }

    pub(crate) fn size(&self, id: &Id) -> Result<u64, StoreError> {
        let known = lock(&self.known).get(id).and_then(|known| known.size);
        known.map_or_else(|| supported(&self.remote_entry(id)?), Ok)
    }

    pub(crate) fn line_index(&self, id: &Id) -> Result<Arc<LineIndex>, StoreError> {
        if let Some(lines) = lock(&self.known).get(id).and_then(|known| known.lines.clone()) {
            return Ok(lines);
        }
        let key = self.connection.layout.lines(id);
        let text = self.connection.run(move |remote| async move { remote.get(&key, None).await })?;
        let lines = Arc::new(LineIndex::from_json(&text.unwrap_or_default()));
        self.learn(*id, |known| known.lines = Some(Arc::clone(&lines)));
        Ok(lines)
    }

    /// The key of an entry's metadata, if it is in the bucket.
    pub(crate) fn metadata_key(&self, id: &Id) -> Result<Key, StoreError> {
        if let Some(key) = self.known_key(id) {
            return Ok(key);
        }
        let prefix = self.connection.layout.entry_prefix(id);
        let found = self.connection.run(move |remote| async move { remote.first(&prefix).await })?;
        found.ok_or_else(|| not_found(id))
    }
}

/// The entries from one to another, and others of the same milliseconds.
pub(crate) fn span(first: &Id, last: &Id) -> EntryFilter {
    let until = last.time() + Duration::from_millis(1);
    EntryFilter { from: Some(first.time()), until: Some(until), ..EntryFilter::default() }
}

/// The size of an entry, if this version can read it.
fn supported(entry: &Entry) -> Result<u64, StoreError> {
    match entry.state {
        EntryState::Unsupported { version } => Err(StoreError::Unsupported { id: entry.id, version }),
        _ => Ok(entry.bytes),
    }
}
