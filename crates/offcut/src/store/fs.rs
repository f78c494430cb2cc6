//! The local store: a directory of plain files.
//!
//! ```text
//! DIR/1m3k9q2zab7xk4pd.txt            the bytes, unchanged; the profile chooses the name
//! DIR/.offcut/1m3k9q2zab7xk4pd.json   the metadata
//! DIR/.offcut/1m3k9q2zab7xk4pd.pin    exists if the entry is pinned
//! DIR/.offcut/1m3k9q2zab7xk4pd.preview    what the reader got instead of the output
//! ```
//!
//! The metadata is written before the first byte, with the state `running`, and replaced atomically when all bytes are
//! written. So a crash at any moment leaves an entry that is known to be incomplete. The writer holds a lock on its file,
//! and the system releases it when the process ends: this distinguishes a running entry from an abandoned one. The lock
//! belongs to the open file, so a process that inherits the file holds it too. The first process that reads the metadata
//! of an abandoned entry completes it.
//!
//! Nothing is synced to disk: an output should survive a crash of the program, but not slow down every call for a loss
//! of power. After such a loss the digest shows whether the bytes are right.

use crate::store::digest::{BLOCK, BlockDigests};
use crate::store::{
    Clock, Entry, EntryFilter, EntryState, Id, NewEntry, Pin, Store, StoreError, Stray, StrayKind, Summary,
    Writer, format, name, platform,
};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const METADATA_DIR: &str = ".offcut";

/// Longer metadata is damaged. That of an output of 500 GiB is shorter.
pub(super) const MAX_METADATA: u64 = 64 << 20;

/// How many file names are tried. Most templates have a random part, so even a second attempt is rare.
const ATTEMPTS: u32 = 10_000;

/// Ids may be ahead of the clock, because those of one millisecond are numbered. A later one is from a clock that was ahead.
const AHEAD: Duration = Duration::from_secs(2);

/// A store in a local directory, which is created with the first entry.
///
/// ```
/// use offcut::store::{FsStore, Store};
/// use std::time::SystemTime;
///
/// # let directory = tempfile::tempdir().unwrap();
/// let store = FsStore::new(directory.path().join("outputs"), SystemTime::now);
/// assert!(store.ids().unwrap().is_empty());
/// assert!(!store.directory().exists());
/// ```
#[derive(Debug)]
pub struct FsStore {
    directory: PathBuf,
    clock: Clock,
    /// The time of the last id in milliseconds: the ids of one store are ordered even within a millisecond.
    last_time: AtomicU64,
    /// Whether reading completes the metadata of abandoned entries.
    repairs: bool,
}

impl FsStore {
    /// The store in `directory`, which is not accessed yet.
    pub fn new(directory: impl Into<PathBuf>, clock: Clock) -> FsStore {
        FsStore { directory: directory.into(), clock, last_time: AtomicU64::new(0), repairs: true }
    }

    /// The same store, for a directory that a hostile process may change: reading does not complete abandoned entries, which
    /// would read a file of any size and write to the directory.
    #[must_use]
    pub fn without_repairs(self) -> FsStore {
        FsStore { repairs: false, ..self }
    }

    /// The directory with the outputs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn metadata_directory(&self) -> PathBuf {
        self.directory.join(METADATA_DIR)
    }

    pub(super) fn metadata_path(&self, id: &Id) -> PathBuf {
        self.metadata_directory().join(format!("{id}.json"))
    }

    fn pin_path(&self, id: &Id) -> PathBuf {
        self.metadata_directory().join(format!("{id}.pin"))
    }

    /// Pins an entry by a separate file: pinning must not rewrite metadata that another process may be replacing.
    pub(super) fn create_pin(&self, id: &Id) -> Result<(), StoreError> {
        let path = self.pin_path(id);
        let mut options = OpenOptions::new();
        platform::private(options.write(true).create(true).truncate(false));
        platform::open_unless_link(&mut options, &path).map(drop).map_err(StoreError::io("create", &path))
    }

    pub(super) fn prepare(&self) -> Result<(), StoreError> {
        if let Ok(found) = fs::metadata(&self.directory) {
            self.refuse_if_shared(&found)?;
        }
        let metadata = self.metadata_directory();
        platform::create_private_directory(&metadata)
            .map_err(StoreError::io("create the directory", &metadata))
    }

    /// Refuses a directory in which another user could replace what the model will read.
    pub(super) fn refuse_if_shared(&self, found: &fs::Metadata) -> Result<(), StoreError> {
        if platform::is_shared(&self.directory, found) {
            return Err(StoreError::Refused {
                reason: format!(
                    "cannot use the store directory {}: other users can write to it; \
                     choose a private one with --store, or run `chmod 700`",
                    self.directory.display()
                ),
            });
        }
        Ok(())
    }

    fn next_time(&self) -> SystemTime {
        let now = (self.clock)().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX / 2);
        let ahead = AHEAD.as_millis() as u64;
        // After a clock that was ahead is corrected, ids follow it back.
        let next = |last: u64| if last > now + ahead { now } else { now.max(last + 1) };
        let before = self
            .last_time
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)))
            .unwrap_or_default();
        UNIX_EPOCH + Duration::from_millis(next(before))
    }

    /// The entry as its metadata describes it, and the file with its bytes.
    pub(super) fn load(&self, id: &Id) -> Result<(Entry, PathBuf), StoreError> {
        let path = self.metadata_path(id);
        let text = match read_small(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::NotFound { id: id.to_string() });
            }
            Err(error) => return Err(StoreError::io("read the metadata", &path)(error)),
        };
        let (entry, file) = format::decode(id, &text)?;
        // The name comes from a file that anything may have written: it must name a file in this directory.
        if !is_file_name(&file) {
            return Err(StoreError::Damaged { id: *id, reason: format!("{file:?} is not a file name") });
        }
        // Nor may it name the file of another entry, which would be removed with this one.
        let stem = file.split('.').next().and_then(Id::parse);
        if let Some(other) = stem.filter(|other| other != id && self.metadata_path(other).exists()) {
            return Err(StoreError::Damaged { id: *id, reason: format!("{file} belongs to {other}") });
        }
        Ok((entry, self.directory.join(file)))
    }

    /// The same for an entry whose bytes this version understands.
    pub(super) fn load_supported(&self, id: &Id) -> Result<(Entry, PathBuf), StoreError> {
        match self.load(id)? {
            (Entry { state: EntryState::Unsupported { version }, .. }, _) => {
                Err(StoreError::Unsupported { id: *id, version })
            }
            supported => Ok(supported),
        }
    }

    /// Whether the file that the metadata of an entry names is the entry's. A name without a part of the id may be that of
    /// another entry: then the bytes decide, and if they are not those that were stored, the metadata of all others.
    fn owns(&self, entry: &Entry, path: &Path) -> Result<bool, StoreError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(entry.id.random_part()) || self.has_stored_start(entry, path) {
            return Ok(true);
        }
        let names_it = |other: &Id| self.load(other).is_ok_and(|(_, named)| named == path);
        Ok(!self.ids()?.iter().any(|other| *other != entry.id && names_it(other)))
    }

    /// Whether a file has the size of an entry and its first block.
    fn has_stored_start(&self, entry: &Entry, path: &Path) -> bool {
        let has_size = fs::symlink_metadata(path).is_ok_and(|found| found.len() == entry.bytes);
        let mut start = vec![0; entry.bytes.min(BLOCK) as usize];
        has_size
            && self.read(&entry.id, 0, &mut start).is_ok_and(|count| count == start.len())
            && BlockDigests::of(entry).is_some_and(|digests| digests.matches(0, &start))
    }

    /// An entry that is running according to its metadata: only a living writer holds the lock.
    fn check_writer(&self, entry: Entry, path: &Path) -> Entry {
        let Ok(file) = open_file(path) else { return entry.with_state(EntryState::Abandoned) };
        if file.try_lock_shared().is_err() {
            return entry;
        }
        // The writer has ended. It may have committed the entry after its metadata was read here.
        let entry = self.load(&entry.id).map_or(entry, |(entry, _)| entry);
        let has_bytes = file.metadata().is_ok_and(|found| found.len() > 0);
        match entry.state {
            EntryState::Running if has_bytes && self.repairs => self.repair(entry, path, &file),
            EntryState::Running => entry.with_state(EntryState::Abandoned),
            _ => entry,
        }
    }

    /// The entry with what its files say: its size, and whether it is running, damaged or pinned.
    fn examine(&self, entry: Entry, path: PathBuf) -> Entry {
        let entry = match entry.state {
            EntryState::Running => self.check_writer(entry, &path),
            _ => entry,
        };
        let found = fs::symlink_metadata(&path);
        let bytes = found.as_ref().ok().filter(|found| found.is_file()).map(fs::Metadata::len);
        let damage = match (&entry.state, bytes) {
            (EntryState::Complete | EntryState::Capped { .. }, None) => {
                let cause = found.err().map_or_else(|| "not a file".to_owned(), |error| error.to_string());
                Some(format!("the file cannot be read: {cause}"))
            }
            (EntryState::Complete | EntryState::Capped { .. }, Some(bytes)) if bytes != entry.bytes => {
                let than = if bytes < entry.bytes { "shorter" } else { "longer" };
                Some(format!(
                    "the file was modified after it was stored: it is {than} than recorded, {bytes} instead of {} bytes",
                    entry.bytes
                ))
            }
            _ => None,
        };
        let entry = match damage {
            Some(reason) => entry.with_state(EntryState::Damaged { reason }),
            None => entry,
        };
        let pin = if self.pin_path(&entry.id).exists() { Pin::Pinned } else { Pin::Loose };
        Entry { path: Some(path), bytes: bytes.unwrap_or(0), pin, ..entry }
    }
}

impl Store for FsStore {
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.prepare()?;
        for attempt in 1..=ATTEMPTS {
            let time = self.next_time();
            let id = Id::new(time, random()?);
            let name = name::expand(new.file_name, new.context, &id, time, attempt);
            if !is_file_name(&name) {
                return Err(StoreError::Refused { reason: format!("{name:?} is not a file name") });
            }
            let path = self.directory.join(name);
            let entry = Entry { path: Some(path.clone()), ..Entry::new(id, time, new) };
            let metadata = self.metadata_path(&id);
            match temporary(&metadata, &entry, &path).and_then(|file| Ok(file.persist_noclobber(&metadata)?))
            {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                result => result.map(drop).map_err(StoreError::io("write the metadata", &metadata))?,
            }
            match create_locked(&self.metadata_directory(), &path) {
                Ok(file) => return Ok(Box::new(FsWriter { entry, path, file, metadata, written: 0 })),
                Err(error) => {
                    let _ = fs::remove_file(&metadata);
                    if error.kind() != ErrorKind::AlreadyExists {
                        return Err(StoreError::io("create", &path)(error));
                    }
                }
            }
        }
        Err(StoreError::Refused {
            reason: format!(
                "cannot create a file in {}: all names that were tried exist",
                self.directory.display()
            ),
        })
    }

    fn local_directory(&self) -> Option<&Path> {
        Some(&self.directory)
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        let directory = self.metadata_directory();
        let listing = match fs::read_dir(&directory) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &directory)(error)),
        };
        let mut ids = Vec::new();
        for item in listing {
            let name = item.map_err(StoreError::io("list", &directory))?.file_name();
            ids.extend(name.to_str().and_then(|name| Id::parse(name.strip_suffix(".json")?)));
        }
        ids.sort_unstable();
        Ok(ids)
    }

    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        Ok(newest(&self.ids()?, count, (self.clock)()))
    }

    fn strays(&self, kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        self.find_strays(kind)
    }

    fn remove_stray(&self, stray: &Stray) -> Result<(), StoreError> {
        self.remove_stray_file(stray)
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let (entry, path) = self.load(id)?;
        Ok(self.examine(entry, path))
    }

    fn entry_matching(&self, id: &Id, filter: &EntryFilter) -> Result<Option<Entry>, StoreError> {
        let (entry, path) = self.load(id)?;
        Ok(filter.matches(&entry).then(|| self.examine(entry, path)))
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let (_, path) = self.load_supported(id)?;
        let file = open_file(&path).map_err(StoreError::io("open", &path))?;
        let mut filled = 0;
        while filled < buffer.len() {
            match platform::read_at(&file, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::io("read", &path)(error)),
            }
        }
        Ok(filled)
    }

    fn save_preview(&self, id: &Id, preview: &[u8]) -> Result<(), StoreError> {
        self.write_preview(id, preview)
    }

    fn preview(&self, id: &Id) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_preview(id)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.load(id)?;
        match pin {
            Pin::Pinned => self.create_pin(id),
            Pin::Loose => remove_file(&self.pin_path(id)),
        }
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        let guess = || self.directory.join(format!("{id}.txt"));
        let is_file = || fs::symlink_metadata(self.metadata_path(id)).is_ok_and(|found| found.is_file());
        let path = match self.load(id) {
            Ok((entry, path)) => self.owns(&entry, &path)?.then_some(path),
            // An entry with damaged metadata must be removable; only the usual file name can be guessed.
            Err(StoreError::Damaged { .. }) => Some(guess()),
            Err(StoreError::Io { .. }) if !is_file() => Some(guess()),
            Err(error) => return Err(error),
        };
        // The bytes first: metadata without bytes is listed as damaged, bytes without metadata would stay forever.
        path.map_or(Ok(()), |path| remove_file(&path))?;
        remove_file(&self.pin_path(id))?;
        remove_file(&self.metadata_path(id))?;
        self.remove_preview(id)
    }
}

struct FsWriter {
    entry: Entry,
    path: PathBuf,
    file: File,
    metadata: PathBuf,
    written: u64,
}

impl Writer for FsWriter {
    fn id(&self) -> Id {
        self.entry.id
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn file(&self) -> Option<File> {
        self.file.try_clone().ok()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(StoreError::io("write", &self.path)(ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.written += count as u64;
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::io("write", &self.path)(error)),
            }
        }
        Ok(())
    }

    fn commit(self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError> {
        // The file may have been removed or replaced during writing: what nobody can open is not stored.
        let found = fs::symlink_metadata(&self.path).map_err(StoreError::io("find", &self.path))?;
        let open = self.file.metadata().map_err(StoreError::io("examine", &self.path))?;
        if !platform::is_same_file(&found, &open) {
            return Err(StoreError::Refused {
                reason: format!("cannot store {}: it was replaced while it was written", self.path.display()),
            });
        }
        let entry = self.entry.committed(self.written, state, summary.clone());
        save(&self.metadata, &entry, &self.path)?;
        Ok(entry)
    }
}

/// The newest of some ids, which are in ascending order, newest first. One from a clock that was ahead is not the newest.
#[must_use]
pub fn newest(ids: &[Id], count: usize, now: SystemTime) -> Vec<Id> {
    let latest = now + AHEAD;
    let (past, future) = ids.split_at(ids.partition_point(|id| id.time() <= latest));
    past.iter().rev().chain(future.iter().rev()).take(count).copied().collect()
}

/// Opens a file for reading, unless it is a link.
pub(super) fn open_file(path: &Path) -> io::Result<File> {
    platform::open_unless_link(OpenOptions::new().read(true), path)
}

/// Whether this names a file in a directory, and not one elsewhere.
pub(super) fn is_file_name(name: &str) -> bool {
    let mut components = Path::new(name).components();
    matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
}

/// Reads a file that is usually small, in as few calls as possible: listings read very many.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 4096];
    let mut file = open_file(path)?;
    let count = file.read(&mut text)?;
    text.truncate(count);
    // A shorter read is the end of the file.
    if count == 4096 {
        file.take(MAX_METADATA).read_to_end(&mut text)?;
    }
    Ok(text)
}

/// Removes a file, if it exists.
pub(super) fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Replaces the metadata of an entry, atomically.
pub(super) fn save(metadata: &Path, entry: &Entry, path: &Path) -> Result<(), StoreError> {
    temporary(metadata, entry, path)
        .and_then(|file| Ok(file.persist(metadata)?))
        .map(drop)
        .map_err(StoreError::io("write the metadata", metadata))
}

/// A file with the metadata of an entry, to be renamed to `metadata`.
pub(super) fn temporary(metadata: &Path, entry: &Entry, path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let directory = metadata.parent().unwrap_or(Path::new("."));
    let mut file = platform::temporary_file(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    file.write_all(&format::encode(entry, &name))?;
    Ok(file)
}

/// Creates the file of an output. It is locked when it gets its name: another process that finds an unlocked file takes the
/// entry for abandoned, and a shared store uploads and removes it.
fn create_locked(metadata_directory: &Path, path: &Path) -> io::Result<File> {
    let file = platform::temporary_file(metadata_directory)?;
    // Without locks (on some network file systems) a running entry appears abandoned.
    let _ = file.as_file().try_lock();
    // Never follows a link and never replaces a file.
    Ok(file.persist_noclobber(path)?)
}

pub(super) fn random() -> Result<u64, StoreError> {
    getrandom::u64().map_err(|error| StoreError::Refused {
        reason: format!("cannot get random numbers from the system: {error}"),
    })
}
