//! Moves an entry from one directory to another, such as from a temporary one that a sandbox may write to.
//!
//! Bytes, pin and metadata are copied in this order, and each appears under its name at once. So the entry exists in the new
//! directory when all of it is there, and in the old one until then.

use crate::store::fs::{METADATA_DIR, open_file, random, temporary};
use crate::store::{Entry, EntryState, FsStore, Id, Pin, Store, StoreError, platform};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

impl FsStore {
    /// Moves an entry of another directory into this one. Returns its id here: the same, unless another entry has it.
    ///
    /// Nothing in this directory is replaced, and no link is followed. An entry that is being written is refused. If the
    /// process is killed, the entry is still whole in one of the directories, and the next call completes the move. Two
    /// processes must not move the same entry at once.
    pub fn move_from(&self, other: &FsStore, id: &Id) -> Result<Id, StoreError> {
        let Entry { state, pin, .. } = other.entry(id)?;
        if state == EntryState::Running {
            return Err(StoreError::Refused { reason: format!("cannot move {id}: it is being written") });
        }
        let (entry, source) = other.load_supported(id)?;
        let existing = self.load(id);
        if existing.as_ref().is_ok_and(|(existing, _)| is_copy(existing, &entry)) {
            other.remove(id)?;
            return Ok(*id);
        }
        let is_free = matches!(existing, Err(StoreError::NotFound { .. }));
        let entry = Entry { id: if is_free { *id } else { Id::new(entry.created, random()?) }, ..entry };
        self.prepare()?;
        let path = self.copy_bytes(&source, &entry.id)?;
        if pin == Pin::Pinned {
            self.create_pin(&entry.id)?;
        }
        let metadata = self.metadata_path(&entry.id);
        temporary(&metadata, &entry, &path)
            .and_then(|file| Ok(file.persist_noclobber(&metadata)?))
            .map_err(StoreError::io("write the metadata", &metadata))?;
        other.remove(id)?;
        Ok(entry.id)
    }

    /// Copies a file into this directory: under its own name if that is free, otherwise under the id.
    fn copy_bytes(&self, source: &Path, id: &Id) -> Result<PathBuf, StoreError> {
        let failed = || StoreError::io("copy", source);
        let original = open_file(source).map_err(failed())?;
        let found = original.metadata().map_err(failed())?;
        if !found.is_file() {
            return Err(StoreError::Refused { reason: format!("{} is not a file", source.display()) });
        }
        let mut copy = platform::temporary_file(&self.directory().join(METADATA_DIR)).map_err(failed())?;
        io::copy(&mut (&original).take(found.len()), copy.as_file_mut()).map_err(failed())?;
        let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // A name that consists of an id belongs to the entry with that id.
        let stem = name.split('.').next().and_then(Id::parse);
        let own_name = Some(name.to_owned()).filter(|_| stem.is_none_or(|stem| stem == *id));
        for name in own_name.into_iter().chain([format!("{id}.txt"), format!("{id}-2.txt")]) {
            let path = self.directory().join(&name);
            match copy.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => copy = error.file,
                Err(error) => return Err(failed()(error.error)),
            }
            // A call that was killed has copied the file already.
            if name.contains(id.random_part())
                && open_file(&path).is_ok_and(|earlier| is_same(&earlier, &original).unwrap_or(false))
            {
                return Ok(path);
            }
        }
        Err(failed()(ErrorKind::AlreadyExists.into()))
    }
}

/// Whether `existing` is a copy of the entry that a killed process made.
fn is_copy(existing: &Entry, entry: &Entry) -> bool {
    let digest = |entry: &Entry| entry.summary.as_ref().map(|summary| summary.digest.clone());
    existing.created == entry.created && existing.bytes == entry.bytes && digest(existing) == digest(entry)
}

/// Whether two files have the same bytes.
fn is_same(one: &File, other: &File) -> io::Result<bool> {
    let digest = |mut file: &File| {
        io::Seek::rewind(&mut file)?;
        Ok::<_, io::Error>(blake3::Hasher::new().update_reader(file)?.finalize())
    };
    Ok(one.metadata()?.is_file()
        && one.metadata()?.len() == other.metadata()?.len()
        && digest(one)? == digest(other)?)
}
