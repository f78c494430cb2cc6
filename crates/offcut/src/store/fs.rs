//! The local store: a directory of plain files.
//!
//! ```text
//! DIR/1m3k9q2zab7xk4pd.txt            the bytes, as they came; named by the profile
//! DIR/.offcut/1m3k9q2zab7xk4pd.json   what is known about them
//! DIR/.offcut/1m3k9q2zab7xk4pd.pin    there if the entry is pinned
//! ```
//!
//! The metadata is written before the first byte and says `writing`; it is replaced, atomically, when all bytes are
//! there. So a crash at any moment leaves an entry that says it is incomplete. The writer holds a lock on its file,
//! which the system drops when the process dies: that tells an entry in the making from an abandoned one. The lock
//! belongs to the open file, so a process that is handed the file holds it too. Whoever meets an abandoned entry first
//! writes down what it holds.
//!
//! Nothing is synced to disk: an output is worth keeping through a crash of the program, not slowing every call for
//! a loss of power. The digest tells after such a loss whether the bytes are right.

use crate::store::format::Metadata;
use crate::store::{
    Clock, Entry, EntryState, Id, NewEntry, Pin, Store, StoreError, Summary, UploadState, Writer, name,
};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const METADATA_DIR: &str = ".offcut";

/// Names are tried this often before the store gives up; a random part makes even the second try rare.
const ATTEMPTS: u32 = 10_000;

/// A store in a local directory. It is made when the first entry is.
#[derive(Debug)]
pub struct FsStore {
    directory: PathBuf,
    clock: Clock,
    /// The time of the last id in milliseconds: ids made by one store are ordered even within a millisecond.
    last_time: AtomicU64,
}

impl FsStore {
    /// The store in `directory`. Nothing is touched yet.
    pub fn new(directory: impl Into<PathBuf>, clock: Clock) -> FsStore {
        FsStore { directory: directory.into(), clock, last_time: AtomicU64::new(0) }
    }

    /// The directory that holds the outputs.
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

    fn prepare(&self) -> Result<(), StoreError> {
        if let Ok(found) = fs::metadata(&self.directory) {
            self.refuse_if_shared(&found)?;
        }
        let metadata = self.metadata_directory();
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&metadata)
            .map_err(StoreError::io("create the directory", &metadata))
    }

    /// Whoever can write here can replace what the model will read, so only a directory of our own is used; below
    /// one that anybody can write to, such as the system's temporary directory, only a private one.
    fn refuse_if_shared(&self, found: &fs::Metadata) -> Result<(), StoreError> {
        let mode = found.mode();
        let anybody_above = self
            .directory
            .parent()
            .and_then(|parent| fs::metadata(parent).ok())
            .is_some_and(|parent| parent.mode() & 0o002 != 0);
        let others = if anybody_above { 0o077 } else { 0o022 };
        // Where anybody can make a link, a link may be anybody's.
        let is_link = fs::symlink_metadata(&self.directory).is_ok_and(|found| found.is_symlink());
        if (anybody_above && is_link)
            || found.is_dir() && (mode & others != 0 || found.uid() != rustix::process::geteuid().as_raw())
        {
            return Err(StoreError::Refused {
                reason: format!(
                    "the store directory {} is open to others; choose a private one with --store, or run `chmod 700`",
                    self.directory.display()
                ),
            });
        }
        Ok(())
    }

    fn next_time(&self) -> SystemTime {
        let now = (self.clock)().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX / 2);
        let before = self
            .last_time
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)))
            .unwrap_or_default();
        UNIX_EPOCH + Duration::from_millis(now.max(before + 1))
    }

    pub(super) fn read_metadata(&self, id: &Id) -> Result<Metadata, StoreError> {
        let path = self.metadata_path(id);
        let text = match read_small(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(StoreError::NotFound { id: id.to_string() });
            }
            Err(error) => return Err(StoreError::io("read the metadata", &path)(error)),
        };
        let metadata: Metadata = serde_json::from_slice(&text)
            .map_err(|error| StoreError::Damaged { id: *id, reason: error.to_string() })?;
        // A name from a file is foreign data: only a plain file of this directory may be opened by it.
        let mut components = Path::new(&metadata.file).components();
        match (components.next(), components.next()) {
            (Some(std::path::Component::Normal(_)), None) => Ok(metadata),
            _ => Err(StoreError::Damaged {
                id: *id,
                reason: format!("{:?} is not a file name", metadata.file),
            }),
        }
    }

    /// Whether an entry that was never committed is still being written: only a living writer holds the lock.
    fn unfinished(&self, id: &Id, metadata: Metadata) -> (EntryState, Metadata) {
        match self.open_file(&metadata) {
            Ok(file) if file.try_lock_shared().is_err() => (EntryState::Writing, metadata),
            // Only a writer that has ended leaves bytes without a lock.
            Ok(file) if file.metadata().is_ok_and(|found| found.size() > 0) => {
                (EntryState::Abandoned, self.repaired(id, metadata, &file))
            }
            _ => (EntryState::Abandoned, metadata),
        }
    }

    pub(super) fn open_file(&self, metadata: &Metadata) -> io::Result<File> {
        OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NOFOLLOW.bits() as i32)
            .open(self.directory.join(&metadata.file))
    }
}

impl Store for FsStore {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.prepare()?;
        for attempt in 1..=ATTEMPTS {
            let time = self.next_time();
            let id = Id::new(time, random()?);
            let file_name = name::expand(draft.file_name, draft.context, &id, time, attempt);
            let path = self.directory.join(&file_name);
            let metadata = Metadata::opened(&id, file_name, time, draft);
            let metadata_path = self.metadata_path(&id);
            match write_new(&metadata_path, &metadata) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                result => result.map_err(StoreError::io("write the metadata", &metadata_path))?,
            }
            // Exclusive creation never follows a link and never opens what exists.
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => {
                    // Without locks (some network file systems) an entry in the making just looks abandoned.
                    let _ = file.try_lock();
                    return Ok(Box::new(FsWriter { id, path, file, metadata, metadata_path, written: 0 }));
                }
                Err(error) => {
                    let _ = fs::remove_file(&metadata_path);
                    if error.kind() != ErrorKind::AlreadyExists {
                        return Err(StoreError::io("create", &path)(error));
                    }
                }
            }
        }
        Err(StoreError::Refused {
            reason: format!("every name tried in {} was taken", self.directory.display()),
        })
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        let directory = self.metadata_directory();
        let listing = match fs::read_dir(&directory) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &directory)(error)),
        };
        let mut ids: Vec<Id> = listing
            .filter_map(|item| Id::parse(item.ok()?.file_name().to_str()?.strip_suffix(".json")?))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        let mut metadata = self.read_metadata(id)?;
        let path = self.directory.join(&metadata.file);
        let found = fs::symlink_metadata(&path);
        let bytes = found.as_ref().ok().filter(|found| found.is_file()).map(MetadataExt::size);
        let stored = metadata.output.as_ref().map(|output| output.bytes);
        let completeness = match (metadata.completeness(), bytes) {
            (None, _) => {
                let (completeness, known) = self.unfinished(id, metadata);
                metadata = known;
                completeness
            }
            (Some(EntryState::Complete), None) => {
                let why =
                    found.err().map_or_else(|| "it is not a file".to_owned(), |error| error.to_string());
                EntryState::Partial { reason: format!("its file cannot be read: {why}") }
            }
            (Some(EntryState::Complete), bytes) if bytes != stored => {
                EntryState::Partial { reason: "its file was changed after it was stored".to_owned() }
            }
            (Some(completeness), _) => completeness,
        };
        Ok(Entry {
            id: *id,
            path: Some(path),
            created: metadata.created(),
            context: metadata.context(),
            profile: metadata.profile().to_owned(),
            reading: metadata.reading(),
            host: None,
            bytes: bytes.unwrap_or(0),
            summary: metadata.summary(&completeness),
            completeness,
            pin: if self.pin_path(id).exists() { Pin::Pinned } else { Pin::Loose },
            upload_state: UploadState::Uploaded,
        })
    }

    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let metadata = self.read_metadata(id)?;
        let path = self.directory.join(&metadata.file);
        let file = self.open_file(&metadata).map_err(StoreError::io("open", &path))?;
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(StoreError::io("read", &path)(error)),
            }
        }
        Ok(filled)
    }

    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.read_metadata(id)?;
        let path = self.pin_path(id);
        match pin {
            // A file of its own: pinning never has to rewrite metadata that another process may be replacing.
            Pin::Pinned => OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits() as i32)
                .open(&path)
                .map(drop)
                .map_err(StoreError::io("create", &path)),
            Pin::Loose => remove_file(&path),
        }
    }

    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        let file = match self.read_metadata(id) {
            Ok(metadata) => metadata.file,
            // Damaged metadata must not stay for ever; native's name is the only one that can be guessed.
            Err(StoreError::Damaged { .. }) => format!("{id}.txt"),
            Err(error) => return Err(error),
        };
        // The bytes go first: metadata without bytes says so, bytes without metadata would stay for ever.
        remove_file(&self.directory.join(file))?;
        remove_file(&self.pin_path(id))?;
        remove_file(&self.metadata_path(id))
    }
}

struct FsWriter {
    id: Id,
    path: PathBuf,
    file: File,
    metadata: Metadata,
    metadata_path: PathBuf,
    written: u64,
}

impl Writer for FsWriter {
    fn id(&self) -> Id {
        self.id
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

    fn commit(self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError> {
        // The name may have been taken away while we wrote: what nobody can open is not kept.
        let found = fs::symlink_metadata(&self.path).map_err(StoreError::io("find", &self.path))?;
        let ours = self.file.metadata().map_err(StoreError::io("look at", &self.path))?;
        if (found.dev(), found.ino()) != (ours.dev(), ours.ino()) {
            return Err(StoreError::Refused {
                reason: format!("{} was replaced while it was written", self.path.display()),
            });
        }
        let metadata = self.metadata.committed(self.written, summary);
        replace(&self.metadata_path, &metadata)
            .map_err(StoreError::io("write the metadata", &self.metadata_path))?;
        Ok(Entry {
            id: self.id,
            path: Some(self.path),
            created: metadata.created(),
            context: metadata.context(),
            profile: metadata.profile().to_owned(),
            reading: metadata.reading(),
            host: None,
            bytes: self.written,
            completeness: summary.completeness.clone(),
            pin: Pin::Loose,
            upload_state: UploadState::Uploaded,
            summary: Some(summary.clone()),
        })
    }
}

/// Reads a file that is nearly always small, with as few calls as possible: listings read very many.
fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 4096];
    let mut file = File::open(path)?;
    let count = file.read(&mut text)?;
    text.truncate(count);
    // A file that filled the buffer may go on; a shorter read is its end.
    if count == 4096 {
        file.read_to_end(&mut text)?;
    }
    Ok(text)
}

/// Removes a file; one that is gone already is as good as removed.
fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

fn write_new(path: &Path, metadata: &Metadata) -> io::Result<()> {
    temporary(path, metadata)?.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

pub(super) fn replace(path: &Path, metadata: &Metadata) -> io::Result<()> {
    temporary(path, metadata)?.persist(path).map(drop).map_err(|error| error.error)
}

fn temporary(path: &Path, metadata: &Metadata) -> io::Result<tempfile::NamedTempFile> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(directory)?;
    let mut text = serde_json::to_vec(metadata)?;
    text.push(b'\n');
    file.write_all(&text)?;
    Ok(file)
}

fn random() -> Result<u64, StoreError> {
    getrandom::u64()
        .map_err(|error| StoreError::Refused { reason: format!("the system has no random numbers: {error}") })
}
