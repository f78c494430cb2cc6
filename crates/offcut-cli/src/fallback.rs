//! Stores outputs in a temporary directory if the store cannot be written to, as in an agent's sandbox, and moves them to the
//! store later.
//!
//! The entries of both are read as those of one store, inside the sandbox and outside. The first call outside that opens the
//! store starts a process that moves them, and their ids stay the same. A temporary directory belongs to one user and one
//! store: `/tmp/offcut-1000-5f2e…`.
//!
//! A command in the sandbox can put anything into a temporary directory. So the process that moves entries, which may change
//! the store, never follows a path in there: see `FsStore::move_from`.

use crate::housekeeping::STAMP;
use offcut::store::{
    Entry, EntryFilter, FsStore, Id, NewEntry, Pin, Store, StoreError, Stray, StrayKind, Writer, newest,
};
use rustix::fs::{Access, AtFlags, Dir, Mode, OFlags, openat, statat, statvfs, unlinkat};
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The directory with the metadata.
const METADATA: &str = ".offcut";

/// How often the creation of an entry is tried: a process that has moved the last entry removes the directory.
const ATTEMPTS: u32 = 3;

/// How many entries a call examines to find one that can be moved: a sandbox may have left any number of others.
const EXAMINED: usize = 100;

/// Moving leaves this many bytes of the disk free.
const RESERVE: u64 = 256 << 20;

/// The age at which a file of a killed writer is removed.
const REMNANT_AGE: Duration = Duration::from_secs(24 * 60 * 60);

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

    /// Reads from the first directory that has the entry. A store that cannot be read is like one without the entry: so the
    /// entries of the temporary directories are found by another user too.
    fn read_first<T>(
        &self,
        mut read: impl FnMut(&FsStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        for store in self.stores() {
            match read(store) {
                Err(error) if is_missing(&error) => {}
                result => return result,
            }
        }
        // Another process may have moved the entry meanwhile.
        read(&self.store)
    }

    /// Changes the entry in every directory that has it: it may be in two while it is moved.
    fn change_everywhere(
        &self,
        change: impl Fn(&FsStore) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let results = self.stores().map(&change).filter(|result| !result.as_ref().is_err_and(is_missing));
        results.reduce(Result::and).unwrap_or_else(|| change(&self.store))
    }

    /// The ids in the store and in the temporary directories, in ascending order. `list` lists one of them.
    fn merge(&self, list: impl Fn(&FsStore) -> Result<Vec<Id>, StoreError>) -> Result<Vec<Id>, StoreError> {
        // The temporary directories first: an entry that is moved meanwhile must not be missing.
        let mut ids: Vec<Id> = self.stores().skip(1).filter_map(|store| list(store).ok()).flatten().collect();
        match list(&self.store) {
            Err(error) if !(is_missing(&error) && self.stores().nth(1).is_some()) => return Err(error),
            own => ids.extend(own.unwrap_or_default()),
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
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
        self.merge(Store::ids)
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        let ids = self.merge(|store| store.newest(count))?;
        Ok(newest(&ids, count, SystemTime::now()))
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.read_first(|store| store.entry(id))
    }

    fn entry_matching(&self, id: &Id, filter: &EntryFilter) -> Result<Option<Entry>, StoreError> {
        self.read_first(|store| store.entry_matching(id, filter))
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.read_first(|store| store.read(id, offset, buffer))
    }

    fn save_preview(&self, id: &Id, preview: &[u8]) -> Result<(), StoreError> {
        self.change_everywhere(|store| store.save_preview(id, preview))
    }

    fn preview(&self, id: &Id) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_first(|store| store.preview(id))
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.change_everywhere(|store| store.pin(id, pin))
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.change_everywhere(|store| store.remove(id))
    }

    fn strays(&self, kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        self.store.strays(kind)
    }

    fn remove_stray(&self, stray: &Stray) -> Result<(), StoreError> {
        self.store.remove_stray(stray)
    }
}

/// Whether there are entries to move, and the store can be written to. Entries of more than `cap` bytes stay.
pub(crate) fn is_move_due(directory: &Path, cap: u64) -> bool {
    let has_movable = |temporary: FsStore| {
        let (store, limit) = (open(directory), movable_bytes(directory, cap));
        let ids = temporary.newest(EXAMINED).unwrap_or_default();
        ids.iter().any(|id| store.can_move_from(&temporary, id, limit))
    };
    temporary_stores(directory).filter(is_private).any(has_movable) && is_writable(directory)
}

/// The temporary directories that replace the store because it cannot be written to.
pub(crate) fn directories_in_use(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let in_use = temporary_stores(directory).filter(is_private).filter(|_| !is_writable(directory));
    in_use.map(|store| store.directory().to_owned())
}

fn is_writable(directory: &Path) -> bool {
    existing(directory).is_some_and(|path| rustix::fs::access(path, Access::WRITE_OK).is_ok())
}

/// The directory, or the nearest one above it that exists.
fn existing(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|path| path.exists())
}

/// How many bytes may be moved at once: a command in the sandbox must not fill the disk of the store, for example with
/// files that need no space where they are.
fn movable_bytes(directory: &Path, cap: u64) -> u64 {
    let disk = existing(directory).and_then(|path| statvfs(path).ok());
    let free = disk.map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    cap.min(free.saturating_sub(RESERVE))
}

/// Moves entries of at most `cap` bytes in all into the store; a later call moves the others. Entries that are being written
/// and those that cannot be moved stay.
pub(crate) fn move_entries(directory: &Path, cap: u64) {
    let store = open(directory);
    let mut rest = movable_bytes(directory, cap);
    for temporary in temporary_stores(directory).filter(is_private) {
        // Only one process moves entries.
        let Ok(opened) = open_directory(rustix::fs::CWD, temporary.directory()) else { continue };
        if opened.try_lock().is_err() {
            continue;
        }
        for id in temporary.ids().unwrap_or_default() {
            if let Ok(moved) = store.move_from(&temporary, &id, rest) {
                rest = rest.saturating_sub(moved.bytes);
            }
        }
        remove_if_empty(&opened);
        let _ = std::fs::remove_dir(temporary.directory());
    }
}

/// Removes the directory with the metadata, if nothing is left in it but the time of the last cleaning and old files of
/// killed writers.
fn remove_if_empty(directory: &File) {
    let Ok(metadata) = open_directory(directory, Path::new(METADATA)) else { return };
    let remove = |name: &OsStr| unlinkat(&metadata, name, AtFlags::empty());
    for item in Dir::read_from(&metadata).into_iter().flatten().flatten() {
        let name = OsStr::from_bytes(item.file_name().to_bytes());
        if Path::new(METADATA).join(name) == Path::new(STAMP)
            || name.as_bytes().starts_with(b".tmp") && is_old(&metadata, name)
        {
            let _ = remove(name);
        }
    }
    let _ = unlinkat(directory, METADATA, AtFlags::REMOVEDIR);
}

fn is_old(directory: &File, name: &OsStr) -> bool {
    statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|found| {
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(found.st_mtime.try_into().unwrap_or(0));
        SystemTime::now().duration_since(modified).is_ok_and(|age| age > REMNANT_AGE)
    })
}

/// Opens a directory, unless it is a link.
fn open_directory(parent: impl AsFd, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(openat(parent, path, flags, Mode::empty())?))
}

/// Whether a directory is one of the temporary directories for the store.
pub(crate) fn is_temporary_directory(store: &Path, directory: &Path) -> bool {
    temporary_stores(store).any(|temporary| temporary.directory() == directory)
}

/// The first temporary directory that can be used, which is created if necessary.
pub(crate) fn usable_directory(directory: &Path) -> Option<PathBuf> {
    temporary_stores(directory).find(prepare).map(|store| store.directory().to_owned())
}

/// Whether the system refuses to write here, as a sandbox does.
pub(crate) fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Opens a new entry in a temporary directory; `None` if that is not possible.
fn create(store: &FsStore, new: &NewEntry<'_>) -> Option<Box<dyn Writer>> {
    (0..ATTEMPTS).find_map(|_| prepare(store).then(|| store.create(new).ok()).flatten())
}

/// Creates the directory of a temporary store if it does not exist. Returns whether it can be used.
fn prepare(store: &FsStore) -> bool {
    let _ = DirBuilder::new().mode(0o700).create(store.directory());
    is_private(store)
}

/// Whether the directory exists and only this user has access: another user may have created something with its name. Nor
/// may a command in the sandbox have replaced the directory with the metadata by a link.
fn is_private(store: &FsStore) -> bool {
    let is_private =
        |found: Metadata| found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0;
    let metadata = store.directory().join(METADATA).symlink_metadata();
    store.directory().symlink_metadata().is_ok_and(is_private)
        && metadata.map_or_else(|error| error.kind() == ErrorKind::NotFound, is_private)
}

/// The temporary stores for the store in `directory`. In `/tmp`, every process finds the outputs, and they outlive the session;
/// some sandboxes only have the directory in `TMPDIR`.
fn temporary_stores(directory: &Path) -> impl Iterator<Item = FsStore> {
    let digest = blake3::hash(directory.as_os_str().as_bytes()).to_hex();
    let name = format!("offcut-{}-{}", geteuid().as_raw(), &digest[..16]);
    let usual = PathBuf::from("/tmp");
    let own = Some(std::env::temp_dir()).filter(|own| *own != usual && own.is_absolute());
    std::iter::once(usual).chain(own).map(move |parent| open(&parent.join(&name)).without_repairs())
}

fn open(directory: &Path) -> FsStore {
    FsStore::new(directory, SystemTime::now)
}

/// Whether a directory does not have an entry, as far as this user can see.
fn is_missing(error: &StoreError) -> bool {
    match error {
        StoreError::NotFound { .. } => true,
        StoreError::Io { error, .. } => error.kind() == ErrorKind::PermissionDenied,
        _ => false,
    }
}
