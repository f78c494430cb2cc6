//! Moves an entry from one directory to another, such as from a temporary one that a sandbox may write to.
//!
//! Bytes, pin, metadata and preview are copied in this order, and each appears under its name at once. So the entry exists in the new
//! directory when all of it is there, and in the old one until then.
//!
//! The old directory is hostile: a command in the sandbox can put anything into it, at any time.

mod source;

use crate::store::fs::{METADATA_DIR, open_file, random, temporary};
use crate::store::{Entry, EntryState, FsStore, Id, Pin, Store, StoreError, finalize, platform};
use source::Source;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

impl FsStore {
    /// Moves an entry of another directory, of at most `max_bytes`, into this one. Returns it as it is here: with the same id,
    /// unless another entry has it.
    ///
    /// Another process may change the other directory at any time: no link in it is followed, and nothing outside it is
    /// removed. Nothing in this directory is replaced. An entry that is being written or damaged is refused. If the process
    /// is killed, the entry is still whole in one of the directories, and the next call completes the move. Two processes
    /// must not move the same entry at once.
    pub fn move_from(&self, other: &FsStore, id: &Id, max_bytes: u64) -> Result<Entry, StoreError> {
        let source = Source::open(other, id, max_bytes)?;
        if source.is_in(&self.directory().join(METADATA_DIR)) {
            return Err(StoreError::Refused {
                reason: format!("cannot move {id}: both directories are the same"),
            });
        }
        let existing = self.load(id);
        if existing.as_ref().is_ok_and(|(existing, path)| is_copy(existing, path, &source)) {
            source.remove()?;
            return self.entry(id);
        }
        let Some((file, found)) = &source.file else {
            return Err(StoreError::Damaged { id: *id, reason: "it has no file".to_owned() });
        };
        let entry = match source.entry.state {
            EntryState::Running if found.len() > 0 => {
                finalize::abandoned(&source.entry, file).map_err(StoreError::io("read", other.directory()))?
            }
            EntryState::Running => source.entry.clone().with_state(EntryState::Abandoned),
            _ => source.entry.clone(),
        };
        let is_free = matches!(existing, Err(StoreError::NotFound { .. }));
        let entry = Entry { id: if is_free { *id } else { Id::new(entry.created, random()?) }, ..entry };
        self.prepare()?;
        let path = self.copy_bytes(file, found.len(), &source.name, &entry.id)?;
        if source.pin() == Pin::Pinned {
            self.create_pin(&entry.id)?;
        }
        let metadata = self.metadata_path(&entry.id);
        temporary(&metadata, &entry, &path)
            .and_then(|file| Ok(file.persist_noclobber(&metadata)?))
            .map_err(StoreError::io("write the metadata", &metadata))?;
        // The output is whole without its preview.
        if let Some(preview) = source.preview() {
            let _ = self.write_preview(&entry.id, &preview);
        }
        source.remove()?;
        self.entry(&entry.id)
    }

    /// Whether [`FsStore::move_from`] would move the entry.
    pub fn can_move_from(&self, other: &FsStore, id: &Id, max_bytes: u64) -> bool {
        Source::open(other, id, max_bytes).is_ok_and(|source| {
            !source.is_in(&self.directory().join(METADATA_DIR))
                && (source.file.is_some()
                    || self.load(id).is_ok_and(|(existing, path)| is_copy(&existing, &path, &source)))
        })
    }

    /// Copies the first `length` bytes of a file into this directory: under `name` if that is free, otherwise under the id.
    fn copy_bytes(&self, mut file: &File, length: u64, name: &str, id: &Id) -> Result<PathBuf, StoreError> {
        let place = self.directory().join(name);
        let failed = || StoreError::io("copy", &place);
        let mut copy = platform::temporary_file(&self.directory().join(METADATA_DIR)).map_err(failed())?;
        file.rewind().map_err(failed())?;
        if io::copy(&mut file.take(length), copy.as_file_mut()).map_err(failed())? != length {
            return Err(StoreError::Refused { reason: format!("cannot move {id}: its file became shorter") });
        }
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
            if name.contains(id.random_part()) && is_same(&path, copy.as_file(), length).unwrap_or(false) {
                return Ok(path);
            }
        }
        Err(failed()(ErrorKind::AlreadyExists.into()))
    }
}

/// Whether `existing` is a copy that a killed process made, and the bytes are still the same or already removed.
fn is_copy(existing: &Entry, path: &Path, source: &Source) -> bool {
    existing.created == source.entry.created
        && source.file.as_ref().is_none_or(|(file, found)| is_same(path, file, found.len()).unwrap_or(false))
}

/// Whether the file at `path` has the same bytes as the first `length` of another.
fn is_same(path: &Path, mut other: &File, length: u64) -> io::Result<bool> {
    let digest =
        |file: &File| Ok::<_, io::Error>(blake3::Hasher::new().update_reader(file.take(length))?.finalize());
    let file = open_file(path)?;
    let found = file.metadata()?;
    other.rewind()?;
    Ok(found.is_file() && found.len() == length && digest(&file)? == digest(other)?)
}
