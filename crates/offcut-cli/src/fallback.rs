//! Stores outputs in a temporary directory if the store cannot be written to, as in an agent's sandbox, and moves them to the
//! store later.
//!
//! The entries of both are read as those of one store, inside the sandbox and outside. The first call outside that opens the
//! store starts a process that moves them, and their ids stay the same. A temporary directory belongs to one user and one
//! store: `/tmp/offcut-1000-5f2e…`.

use crate::housekeeping::STAMP;
use offcut::retention;
use offcut::store::{Entry, FsStore, Id, NewEntry, Pin, Store, StoreError, Stray, StrayKind, Writer};
use rustix::fs::Access;
use rustix::process::geteuid;
use std::cmp::Reverse;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Ids may be this much ahead of the clock.
const AHEAD: Duration = Duration::from_secs(2);

/// How often the creation of an entry is tried: a process that has moved the last entry removes the directory.
const ATTEMPTS: u32 = 3;

/// A directory of outputs, and temporary directories for when it cannot be written to.
pub(crate) struct StoreWithFallback {
    store: FsStore,
    /// In the order in which they are tried.
    temporary: Vec<FsStore>,
}

impl StoreWithFallback {
    pub(crate) fn new(directory: &Path) -> StoreWithFallback {
        StoreWithFallback { store: open(directory), temporary: temporary_stores(directory).collect() }
    }

    /// The store and the temporary directories that exist.
    fn stores(&self) -> impl Iterator<Item = &FsStore> {
        std::iter::once(&self.store).chain(self.temporary.iter().filter(|store| is_private(store)))
    }

    /// The result of the first directory that has the entry.
    fn first<T>(&self, mut get: impl FnMut(&FsStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        for store in self.stores() {
            match get(store) {
                Err(StoreError::NotFound { .. }) => {}
                result => return result,
            }
        }
        // Another process may have moved the entry meanwhile.
        get(&self.store)
    }

    /// Changes the entry in every directory that has it: it may be in two while it is moved.
    fn all(&self, change: impl Fn(&FsStore) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let results = self.stores().map(&change).filter(|result| !is_not_found(result));
        results.reduce(Result::and).unwrap_or_else(|| change(&self.store))
    }
}

impl Store for StoreWithFallback {
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.store.create(new).or_else(|error| {
            let is_denied = matches!(&error, StoreError::Io { error, .. } if is_denied(error));
            let writer = is_denied.then(|| self.temporary.iter().find_map(|store| create(store, new)));
            // If no directory can be used, the reason why the store cannot is what the user can change.
            writer.flatten().ok_or(error)
        })
    }

    fn local_directory(&self) -> Option<&Path> {
        self.store.local_directory()
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        // The temporary directories first: an entry that is moved meanwhile must not be missing.
        let temporary = self.stores().skip(1).filter_map(|store| store.ids().ok());
        let mut ids = temporary.reduce(|one, other| [one, other].concat()).unwrap_or_default();
        if ids.is_empty() {
            return self.store.ids();
        }
        ids.extend(self.store.ids()?);
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        let mut newest: Vec<Id> = Vec::new();
        for store in self.stores() {
            newest.extend(store.newest(count)?);
        }
        // As in a directory, an entry from a clock that was ahead is not the newest.
        let latest = SystemTime::now() + AHEAD;
        newest.sort_unstable_by_key(|id| (id.time() > latest, Reverse(*id)));
        newest.dedup();
        newest.truncate(count);
        Ok(newest)
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.first(|store| store.entry(id))
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.first(|store| store.read(id, offset, buffer))
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.all(|store| store.pin(id, pin))
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.all(|store| store.remove(id))
    }

    fn strays(&self, kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        self.store.strays(kind)
    }

    fn remove_stray(&self, stray: &Stray) -> Result<(), StoreError> {
        self.store.remove_stray(stray)
    }
}

/// Whether there are entries to move, and the store can be written to.
pub(crate) fn is_move_due(directory: &Path) -> bool {
    let has_entries = |store: FsStore| is_private(&store) && store.ids().is_ok_and(|ids| !ids.is_empty());
    temporary_stores(directory).any(has_entries) && is_writable(directory)
}

/// The temporary directories that replace the store because it cannot be written to.
pub(crate) fn directories_in_use(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let in_use = temporary_stores(directory).filter(is_private).filter(|_| !is_writable(directory));
    in_use.map(|store| store.directory().to_owned())
}

fn is_writable(directory: &Path) -> bool {
    let existing = directory.ancestors().find(|path| path.exists());
    existing.is_some_and(|path| rustix::fs::access(path, Access::WRITE_OK).is_ok())
}

/// Moves the entries of at most `cap` bytes into the store. Entries that are being written and those that cannot be moved stay.
pub(crate) fn move_entries(directory: &Path, cap: u64) {
    let store = open(directory);
    for temporary in temporary_stores(directory).filter(is_private) {
        // Only one process moves entries.
        let Ok(lock) = File::open(temporary.directory()) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        for id in temporary.ids().unwrap_or_default() {
            // A command in the sandbox can change these files: it must not fill the disk with a file of any size.
            if temporary.entry(&id).is_ok_and(|entry| entry.bytes <= cap) {
                let _ = store.move_from(&temporary, &id);
            }
        }
        let _ = retention::remove_remnants(&temporary, SystemTime::now());
        // The directories are removed only if they are empty.
        let _ = std::fs::remove_file(temporary.directory().join(STAMP));
        let _ = std::fs::remove_dir(temporary.directory().join(".offcut"));
        let _ = std::fs::remove_dir(temporary.directory());
    }
}

/// The first temporary directory that can be used, which is created if necessary.
pub(crate) fn usable_directory(directory: &Path) -> Option<PathBuf> {
    temporary_stores(directory).find(is_prepared).map(|store| store.directory().to_owned())
}

/// Whether the system refuses to write here, as a sandbox does.
pub(crate) fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Opens a new entry in a temporary directory; `None` if that is not possible.
fn create(store: &FsStore, new: &NewEntry<'_>) -> Option<Box<dyn Writer>> {
    (0..ATTEMPTS).find_map(|_| is_prepared(store).then(|| store.create(new).ok()).flatten())
}

/// Creates the directory of a temporary store if it does not exist. Returns whether it can be used.
fn is_prepared(store: &FsStore) -> bool {
    let _ = DirBuilder::new().mode(0o700).create(store.directory());
    is_private(store)
}

/// Whether the directory exists and only this user has access: another user may have created something with its name.
fn is_private(store: &FsStore) -> bool {
    store
        .directory()
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0)
}

/// The temporary stores for the store in `directory`. In `/tmp`, every process finds the outputs, and they outlive the session;
/// some sandboxes only have the directory in `TMPDIR`.
fn temporary_stores(directory: &Path) -> impl Iterator<Item = FsStore> {
    let digest = blake3::hash(directory.as_os_str().as_bytes()).to_hex();
    let name = format!("offcut-{}-{}", geteuid().as_raw(), &digest[..16]);
    let usual = PathBuf::from("/tmp");
    let own = Some(std::env::temp_dir()).filter(|own| *own != usual && own.is_absolute());
    std::iter::once(usual).chain(own).map(move |parent| open(&parent.join(&name)))
}

fn open(directory: &Path) -> FsStore {
    FsStore::new(directory, SystemTime::now)
}

fn is_not_found(result: &Result<(), StoreError>) -> bool {
    matches!(result, Err(StoreError::NotFound { .. }))
}
