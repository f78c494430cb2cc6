//! Objects in the bucket that belong to no entry: bytes whose metadata was never written or is gone.

use crate::fleet::{Shared, not_found};
use object_store::path::Path as Key;
use offcut::store::{EntryFilter, Id, Store, StoreError, Stray};
use std::collections::HashSet;

/// The kinds of objects that belong to an entry.
const PARTS: [&str; 3] = ["output", "lines", "pin"];

impl Shared {
    /// The parts of entries that do not exist. One that a machine is uploading at this moment is among them.
    pub(crate) fn objects_without_entry(&self) -> Result<Vec<Stray>, StoreError> {
        let mut objects = Vec::new();
        for part in PARTS {
            let prefix = self.connection.layout.folder(part);
            objects.extend(self.connection.run(move |remote| async move {
                let mut found = Vec::new();
                remote.list(&prefix, None, |object| (found.push(object), true).1).await?;
                Ok(found)
            })?);
        }
        // The metadata is written after the parts, so it is listed after them.
        let entries: HashSet<Id> =
            self.list(&EntryFilter::default())?.into_iter().map(|entry| entry.id).collect();
        let local: HashSet<Id> = self.local.ids()?.into_iter().collect();
        let strays = objects.into_iter().filter(|object| {
            id_of(&object.location).is_some_and(|id| !entries.contains(&id) && !local.contains(&id))
        });
        Ok(strays
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

/// The id in the key of a part.
fn id_of(key: &Key) -> Option<Id> {
    let name = key.filename()?;
    Id::parse(name.split('.').next().unwrap_or(name))
}
