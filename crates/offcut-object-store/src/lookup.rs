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
use offcut::store::{Entry, EntryState, Id, Pin, StoreError, UploadState};
use std::sync::Arc;
use std::time::Instant;

/// Entries that are looked up at once.
const PARALLEL_LOOKUPS: usize = 32;

/// What is known about an entry in the bucket.
#[derive(Default)]
pub(crate) struct Known {
    /// The key of its metadata.
    pub(crate) key: Option<Key>,
    /// Its size, which never changes.
    size: Option<u64>,
    lines: Option<Arc<LineIndex>>,
}

/// An entry's metadata, under its key, and whether it is pinned.
type Found = (Key, Bytes, Pin);

async fn find(remote: &Remote, id: Id, key: Option<Key>) -> Answer<Option<Found>> {
    let metadata = async {
        let key = match key {
            Some(key) => Some(key),
            None => remote.first(&remote.layout.entry_prefix(&id)).await?,
        };
        let Some(key) = key else { return Ok::<_, object_store::Error>(None) };
        Ok(remote.get(&key, None).await?.map(|text| (key, text)))
    };
    let pin = remote.layout.pin(&id);
    let (metadata, pinned) = join(metadata, remote.head(&pin)).await;
    let pin = if pinned?.is_some() { Pin::Pinned } else { Pin::Loose };
    Ok(metadata?.map(|(key, text)| (key, text, pin)))
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
        let requests: Vec<_> = ids.iter().map(|id| (*id, self.known_key(id))).collect();
        let answers = self.connection.run(move |remote| async move {
            let lookups = requests.into_iter().map(|(id, key)| find(&remote, id, key));
            Ok(stream::iter(lookups).buffered(PARALLEL_LOOKUPS).collect::<Vec<_>>().await)
        });
        match answers.map_err(|error| error.to_string()) {
            Ok(answers) => ids.iter().zip(answers).map(|(id, answer)| self.remember(id, answer)).collect(),
            Err(reason) => ids.iter().map(|_| Err(StoreError::Refused { reason: reason.clone() })).collect(),
        }
    }

    /// One entry of the bucket, within the deadline.
    pub(crate) fn remote_entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let (id, key) = (*id, self.known_key(id));
        let pending = self.connection.start(move |remote| async move { find(&remote, id, key).await })?;
        match pending.wait_until(Instant::now() + self.options.deadline) {
            Some(answer) => self.remember(&id, answer),
            None => Err(refused(&self.connection.location, "the store does not answer in time")),
        }
    }

    pub(crate) fn known_key(&self, id: &Id) -> Option<Key> {
        lock(&self.known).get(id)?.key.clone()
    }

    fn remember(&self, id: &Id, answer: Answer<Option<Found>>) -> Result<Entry, StoreError> {
        let found = answer.map_err(|error| explained(&self.connection.location, &error))?;
        let (key, text, pin) = found.ok_or_else(|| not_found(id))?;
        let entry = Entry { pin, ..Entry::from_json(id, &text)? };
        let mut known = lock(&self.known);
        let known = known.entry(*id).or_default();
        known.key = Some(key);
        known.size = supported(&entry).ok();
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
        lock(&self.known).entry(*id).or_default().lines = Some(Arc::clone(&lines));
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

/// The size of an entry, if this version can read it.
fn supported(entry: &Entry) -> Result<u64, StoreError> {
    match entry.state {
        EntryState::Unsupported { version } => Err(StoreError::Unsupported { id: entry.id, version }),
        _ => Ok(entry.bytes),
    }
}
