//! Objects in the bucket that belong to no entry: bytes whose metadata was never written or is gone.

use crate::fleet::{Shared, not_found};
use object_store::ObjectMeta;
use object_store::path::Path as Key;
use offcut::store::{Id, StoreError, Stray};
use std::sync::Arc;

/// The kinds of objects that belong to an entry.
const PARTS: [&str; 3] = ["output", "lines", "pin"];

impl Shared {
    /// The parts of entries that do not exist. One that a machine is uploading at this moment is among them.
    pub(crate) fn objects_without_entry(&self) -> Result<Vec<Stray>, StoreError> {
        let mut objects = Vec::new();
        let entries = Arc::new(self.ids()?);
        for part in PARTS {
            let prefix = self.connection.layout.folder(part);
            let entries = Arc::clone(&entries);
            objects.extend(self.connection.run(move |remote| async move {
                let mut found = Vec::new();
                let visit = |object: ObjectMeta| {
                    if is_stray(&object, &entries) {
                        found.push(object);
                    }
                    true
                };
                remote.list(&prefix, None, visit).await?;
                Ok(found)
            })?);
        }
        if !objects.is_empty() {
            // The metadata of an entry is written after its parts, so some of them may have it now.
            let entries = self.ids()?;
            objects.retain(|object| is_stray(object, &entries));
        }
        Ok(objects
            .into_iter()
            .map(|object| Stray {
                place: object.location.to_string(),
                bytes: object.size,
                modified: Some(object.last_modified.into()),
            })
            .collect())
    }

    /// Removes such an object, unless its entry exists now.
    pub(crate) fn remove_object_without_entry(&self, place: &str) -> Result<(), StoreError> {
        let key = Key::from(place);
        let id = id_of(&key).ok_or_else(|| StoreError::NotFound { id: place.to_owned() })?;
        // What this process remembers of the entry may be older than the listing.
        let prefix = self.connection.layout.entry_prefix(&id);
        let entry = self.connection.run(move |remote| async move { remote.first(&prefix).await })?;
        if entry.is_some() { Err(not_found(&id)) } else { self.delete(vec![key]) }
    }
}

/// Whether the object is a part of an entry that is not among these, which are in order.
fn is_stray(object: &ObjectMeta, entries: &[Id]) -> bool {
    id_of(&object.location).is_some_and(|id| entries.binary_search(&id).is_err())
}

/// The id in the key of a part.
fn id_of(key: &Key) -> Option<Id> {
    let name = key.filename()?;
    Id::parse(name.split('.').next().unwrap_or(name))
}
