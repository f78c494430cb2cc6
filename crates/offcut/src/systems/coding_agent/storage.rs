//! §3.1 and §6: where complete outputs are saved.

use super::{TruncationContext, TruncationOptions, profile};
use crate::context::Context;
use crate::retention::{self, Policy};
use crate::store::{Clock, FsStore, NewEntry, Retention, SaveOutput, Store, StoreError, Summary};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// §6.1: the directory of the files, below the working directory.
pub const DEFAULT_STORAGE_DIR: &str = "data/truncation";

/// Saves complete outputs. Only `save` is required.
pub trait TruncationStorage: Send + Sync {
    /// Saves an output and returns where it is.
    fn save(&self, content: &str, context: &TruncationContext) -> io::Result<String>;

    /// Reads an output back.
    fn read(&self, path: &str) -> io::Result<String> {
        Err(io::Error::new(io::ErrorKind::Unsupported, format!("this storage cannot read {path:?}")))
    }

    /// Removes outputs older than this many days and returns how many.
    fn cleanup(&self, retention_days: u32) -> Result<u64, StoreError> {
        let _ = retention_days;
        Ok(0)
    }

    /// The directory, if outputs are files in one.
    fn storage_dir(&self) -> Option<&Path> {
        None
    }
}

/// A storage of the document as a store of the engine, for calls with these options.
pub(super) fn store(
    storage: Arc<dyn TruncationStorage>,
    options: TruncationOptions,
    clock: Clock,
) -> Arc<dyn Store> {
    Arc::new(Adapter { storage, options }.into_store(clock))
}

struct Adapter {
    storage: Arc<dyn TruncationStorage>,
    options: TruncationOptions,
}

impl SaveOutput for Adapter {
    fn save(&self, content: &[u8], context: &Context) -> io::Result<String> {
        // A storage of text cannot keep other bytes, and it must not seem to.
        let text = std::str::from_utf8(content)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let context = TruncationContext { options: self.options, ..TruncationContext::from_context(context) };
        let save = || self.storage.save(text, &context);
        let saved = panic::catch_unwind(AssertUnwindSafe(save));
        saved.unwrap_or_else(|_| Err(io::Error::other("the storage panicked")))
    }

    fn read(&self, location: &str) -> io::Result<Vec<u8>> {
        self.storage.read(location).map(String::into_bytes)
    }
}

/// §6.1: files in a directory, `{tool}_{milliseconds}_{random}.txt`.
///
/// The document's class is `TruncationStorage`, which is the trait here. What is known about each file is in the folder
/// `.offcut` of the directory.
pub struct FileStorage {
    store: Arc<FsStore>,
    directory: PathBuf,
    clock: Clock,
}

impl FileStorage {
    /// Files in this directory, or in [`DEFAULT_STORAGE_DIR`]. It is created when the first output is saved.
    pub fn new(storage_dir: Option<PathBuf>, clock: Clock) -> FileStorage {
        let directory = storage_dir.unwrap_or_else(|| DEFAULT_STORAGE_DIR.into());
        FileStorage { store: Arc::new(FsStore::new(directory.clone(), clock)), directory, clock }
    }

    /// The store of the engine that has the files.
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }
}

impl TruncationStorage for FileStorage {
    fn save(&self, content: &str, context: &TruncationContext) -> io::Result<String> {
        let (profile, context) = (profile(), context.context());
        let new = NewEntry {
            retention: Some(profile.retention()),
            file_name: profile.file_name(),
            ..NewEntry::new(&context, profile.name())
        };
        let saved = self.store.create(&new).and_then(|mut writer| {
            writer.write(content.as_bytes())?;
            writer.commit(crate::store::EntryState::Complete, &Summary::of_whole(content.as_bytes()))
        });
        saved.map(|entry| entry.location()).map_err(io::Error::other)
    }

    fn read(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn cleanup(&self, retention_days: u32) -> Result<u64, StoreError> {
        let retention = Retention::Days(retention_days);
        let Some(age) = retention.max_age() else { return Ok(0) };
        let policy = Policy { age: Some(age), ..Policy::default() };
        let plan = retention::plan(&*self.store, &policy, |_| retention, (self.clock)())?;
        Ok(plan.execute(&*self.store, &mut |_| {}).remove.len() as u64)
    }

    fn storage_dir(&self) -> Option<&Path> {
        Some(&self.directory)
    }
}
