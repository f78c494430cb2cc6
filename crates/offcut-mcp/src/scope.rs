//! A store of which only one session's outputs can be seen.

use offcut::store::{Entry, Id, NewEntry, Pin, Store, StoreError, Writer};
use std::sync::Arc;

/// Shows the entries of one session; all others do not exist here.
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
            // The same words as for an id that was never given: what exists elsewhere is not told.
            false => Err(StoreError::NotFound { id: id.to_string() }),
        }
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.entry(id).and_then(|_| self.store.read(id, offset, buffer))
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.entry(id).and_then(|_| self.store.pin(id, pin))
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.entry(id).and_then(|_| self.store.remove(id))
    }
}
