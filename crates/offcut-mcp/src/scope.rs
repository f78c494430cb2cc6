//! A view of a store that contains only one session's entries.

use offcut::store::{Entry, Id, NewEntry, Pin, Store, StoreError, Writer};
use std::sync::Arc;

/// The entries of one session; all others are reported as not found.
pub struct SessionOnly {
    store: Arc<dyn Store>,
    session: String,
}

impl SessionOnly {
    /// The part of `store` that belongs to `session`.
    pub fn new(store: Arc<dyn Store>, session: impl Into<String>) -> SessionOnly {
        SessionOnly { store, session: session.into() }
    }
}

impl Store for SessionOnly {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.store.create(draft)
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        Ok(self.store.ids()?.into_iter().filter(|id| self.entry(id).is_ok()).collect())
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let entry = self.store.entry(id)?;
        match entry.context.session.as_deref() == Some(self.session.as_str()) {
            true => Ok(entry),
            // The same error as for an unknown id: a session cannot find out which other entries exist.
            false => Err(StoreError::NotFound { id: id.to_string() }),
        }
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.entry(id).and_then(|_| self.store.read(id, offset, buffer))
    }

    fn save_preview(&self, id: &Id, preview: &[u8]) -> Result<(), StoreError> {
        self.entry(id).and_then(|_| self.store.save_preview(id, preview))
    }

    fn preview(&self, id: &Id) -> Result<Option<Vec<u8>>, StoreError> {
        self.entry(id).and_then(|_| self.store.preview(id))
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.entry(id).and_then(|_| self.store.pin(id, pin))
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.entry(id).and_then(|_| self.store.remove(id))
    }
}
