//! A store made of one function: it saves a whole output and returns where it is.

use crate::context::Context;
use crate::store::{Backend, Clock, CustomStore, Id, NewEntry, StoreError};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Saves whole outputs, for callers that have a place for them already.
///
/// ```
/// use offcut::store::SaveOutput;
/// use offcut::{Context, Profile, Storage, Truncator};
/// use std::{io, sync::Arc, time::SystemTime};
///
/// struct Folder(std::path::PathBuf);
///
/// impl SaveOutput for Folder {
///     fn save(&self, content: &[u8], _context: &Context) -> io::Result<String> {
///         let path = self.0.join("output.txt");
///         std::fs::write(&path, content)?;
///         Ok(path.display().to_string())
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let store = Folder(folder.path().to_owned()).into_store(SystemTime::now);
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(Arc::new(store)));
/// let output = "line\n".repeat(10_000);
/// let outcome = truncator.apply(&output, &Context::tool("bash"));
/// assert!(outcome.text().contains("output.txt"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SaveOutput: Send + Sync {
    /// Saves a whole output and returns where it is: a path, a URL, a key.
    fn save(&self, content: &[u8], context: &Context) -> io::Result<String>;

    /// Reads an output back.
    fn read(&self, location: &str) -> io::Result<Vec<u8>> {
        let _ = location;
        Err(io::Error::new(io::ErrorKind::Unsupported, "this storage cannot read"))
    }

    /// Removes an output.
    fn remove(&self, location: &str) -> io::Result<()> {
        let _ = location;
        Err(io::Error::new(io::ErrorKind::Unsupported, "this storage cannot remove"))
    }

    /// A store that keeps each output in memory until it is complete, and saves it then.
    fn into_store(self, clock: Clock) -> CustomStore<Saves<Self>>
    where
        Self: Sized + 'static,
    {
        CustomStore::new(Saves { saver: Arc::new(self), locations: Arc::default() }, clock)
    }
}

/// The backend around a [`SaveOutput`].
pub struct Saves<S: ?Sized> {
    saver: Arc<S>,
    locations: Arc<Mutex<BTreeMap<Id, String>>>,
}

impl<S: SaveOutput + ?Sized> Saves<S> {
    fn known(&self, id: &Id) -> Option<String> {
        self.locations.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn with_location<T>(
        &self,
        id: &Id,
        action: &'static str,
        act: impl FnOnce(&str) -> io::Result<T>,
    ) -> Result<T, StoreError> {
        let place = self.known(id).ok_or_else(|| StoreError::NotFound { id: id.to_string() })?;
        act(&place).map_err(|error| StoreError::Io { action, place, error })
    }
}

impl<S: SaveOutput + ?Sized + 'static> Backend for Saves<S> {
    fn create(&self, id: &Id, new: &NewEntry<'_>) -> Result<Box<dyn Write + Send>, StoreError> {
        Ok(Box::new(Buffer {
            id: *id,
            content: Vec::new(),
            context: new.context.clone(),
            saver: Arc::clone(&self.saver),
            locations: Arc::clone(&self.locations),
        }))
    }

    fn location(&self, id: &Id) -> Option<PathBuf> {
        self.known(id).map(PathBuf::from)
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let content = self.with_location(id, "read", |location| self.saver.read(location))?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = content.get(start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.with_location(id, "remove", |location| self.saver.remove(location))
    }
}

/// An output until it is complete.
struct Buffer<S: ?Sized> {
    id: Id,
    content: Vec<u8>,
    context: Context,
    saver: Arc<S>,
    locations: Arc<Mutex<BTreeMap<Id, String>>>,
}

impl<S: SaveOutput + ?Sized> Write for Buffer<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.content.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let location = self.saver.save(&self.content, &self.context)?;
        self.locations.lock().unwrap_or_else(PoisonError::into_inner).insert(self.id, location);
        Ok(())
    }
}
