//! Looks for single entries in the store, and remembers what was found.

use crate::engine::{Answer, Client, Wait};
use crate::fleet::{Shared, lock, not_found};
use crate::landmarks::Landmarks;
use crate::layout;
use crate::remote;
use crate::trouble;
use bytes::Bytes;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use object_store::path::Path as Key;
use offcut::store::{Entry, Id, Pin, StoreError, UploadState};
use std::sync::Arc;
use std::time::Instant;

/// Requests under way at once when many entries are looked at.
const PARALLEL: usize = 32;

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
        let reason = self.notes.trouble().unwrap_or_else(|| "it waits to be uploaded".to_owned());
        Entry {
            path: None,
            host: self.options.host.clone(),
            upload_state: UploadState::LocalOnly { reason },
            ..entry
        }
    }

    fn request_of(&self, id: &Id) -> (Option<Key>, String, Key) {
        let layout = &self.engine.layout;
        let beginning = layout.entries_like(&layout::day(id), &format!("{id}."));
        (lock(&self.keys).get(id).cloned(), beginning, layout.pin(id))
    }

    /// Looks at entries in the store, many at once.
    pub(crate) fn remote_entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
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
    pub(crate) fn remote_entry(&self, id: &Id) -> Result<Entry, StoreError> {
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

    pub(crate) fn size(&self, id: &Id) -> Result<u64, StoreError> {
        let known = lock(&self.sizes).get(id).copied();
        known.map_or_else(|| self.remote_entry(id).map(|entry| entry.bytes), Ok)
    }

    pub(crate) fn index(&self, id: &Id) -> Result<Arc<Landmarks>, StoreError> {
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
    pub(crate) fn described(&self, id: &Id) -> Result<Key, StoreError> {
        let (key, beginning, _) = self.request_of(id);
        if let Some(key) = key {
            return Ok(key);
        }
        let found = self.engine.run(move |client| async move { remote::first(&client, &beginning).await })?;
        found.ok_or_else(|| not_found(id))
    }

    pub(crate) fn forget(&self, id: &Id) {
        lock(&self.keys).remove(id);
        lock(&self.sizes).remove(id);
        lock(&self.indexes).remove(id);
    }
}
