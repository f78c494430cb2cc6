//! An entry in a directory that a hostile process may change at any time.
//!
//! Both directories are opened once, without following links, and everything else is relative to their descriptors.
//! Nothing outside of them is read, changed or removed, and nothing waits, with any content.

use crate::store::fs::{MAX_METADATA, METADATA_DIR, is_file_name};
use crate::store::previews::MAX_PREVIEW;
use crate::store::{Entry, EntryState, FsStore, Id, Pin, StoreError, format, platform};
use rustix::fs::{AtFlags, Mode, OFlags, openat, statat, unlinkat};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An entry that can be moved, and the open files that it consists of.
pub(super) struct Source {
    pub(super) entry: Entry,
    /// The name of the file with the bytes.
    pub(super) name: String,
    /// The bytes; `None` if there is no such file.
    pub(super) file: Option<(File, Metadata)>,
    directory: File,
    metadata: File,
    place: PathBuf,
}

impl Source {
    /// Opens an entry of `store` unless it is being written, damaged, or longer than `max_bytes`.
    pub(super) fn open(store: &FsStore, id: &Id, max_bytes: u64) -> Result<Source, StoreError> {
        let place = store.directory().to_owned();
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => StoreError::NotFound { id: id.to_string() },
            _ => StoreError::io("open", &place)(error),
        };
        let directory = open_directory(rustix::fs::CWD, &place).map_err(failed)?;
        let metadata = open_directory(&directory, Path::new(METADATA_DIR)).map_err(failed)?;
        let load = || format::decode(id, &read_metadata(&metadata, id).map_err(failed)?);
        let (mut entry, name) = load()?;
        let damaged = |reason: String| StoreError::Damaged { id: *id, reason };
        if let EntryState::Unsupported { version } = entry.state {
            return Err(StoreError::Unsupported { id: *id, version });
        }
        if !is_file_name(&name) {
            return Err(damaged(format!("{name:?} is not a file name")));
        }
        let file = match open_regular(&directory, &name) {
            Ok(opened) => Some(opened),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::io("open", &place.join(name))(error)),
        };
        if let Some((file, found)) = &file {
            if entry.state == EntryState::Running && file.try_lock_shared().is_err() {
                let reason = format!("cannot move {id}: it is being written");
                return Err(StoreError::Refused { reason });
            }
            if found.len() > max_bytes {
                let reason = format!("cannot move {id}: it has more than {max_bytes} bytes");
                return Err(StoreError::Refused { reason });
            }
            // The writer may have committed the entry after its metadata was read here.
            if entry.state == EntryState::Running {
                (entry, _) = load()?;
            }
            let is_closed = matches!(entry.state, EntryState::Complete | EntryState::Capped { .. });
            if is_closed && found.len() != entry.bytes {
                return Err(damaged(format!("{} instead of {} bytes", found.len(), entry.bytes)));
            }
        }
        Ok(Source { entry, name, file, directory, metadata, place })
    }

    pub(super) fn pin(&self) -> Pin {
        let name = format!("{}.pin", self.entry.id);
        match statat(&self.metadata, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Pin::Pinned,
            Err(_) => Pin::Loose,
        }
    }

    pub(super) fn preview(&self) -> Option<Vec<u8>> {
        let (file, _) = open_regular(&self.metadata, &format!("{}.preview", self.entry.id)).ok()?;
        let mut preview = Vec::new();
        file.take(MAX_PREVIEW).read_to_end(&mut preview).ok()?;
        Some(preview)
    }

    /// Whether the directory with the metadata is the one at `path`.
    pub(super) fn is_in(&self, path: &Path) -> bool {
        let own = self.metadata.metadata();
        path.metadata().is_ok_and(|found| own.is_ok_and(|own| platform::is_same_file(&own, &found)))
    }

    /// Removes the entry: the bytes that were opened, the pin, the metadata, then the preview.
    pub(super) fn remove(&self) -> Result<(), StoreError> {
        let remove = |directory: &File, name: &str| match unlinkat(directory, name, AtFlags::empty()) {
            Err(error) if error != rustix::io::Errno::NOENT => {
                Err(StoreError::io("remove", &self.place.join(name))(error.into()))
            }
            _ => Ok(()),
        };
        if let Some((_, opened)) = &self.file
            && open_regular(&self.directory, &self.name)
                .is_ok_and(|(_, found)| platform::is_same_file(&found, opened))
        {
            remove(&self.directory, &self.name)?;
        }
        for kind in ["pin", "json", "preview"] {
            remove(&self.metadata, &format!("{}.{kind}", self.entry.id))?;
        }
        Ok(())
    }
}

/// Opens a directory of this user, unless it is a link.
fn open_directory(parent: impl std::os::fd::AsFd, path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = File::from(openat(parent, path, flags, Mode::empty())?);
    match directory.metadata()?.uid() == rustix::process::geteuid().as_raw() {
        true => Ok(directory),
        false => Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user")),
    }
}

/// Opens a file of this user, unless it is a link, has a second name, or is something else. Never waits.
fn open_regular(directory: &File, name: &str) -> io::Result<(File, Metadata)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(directory, name, flags, Mode::empty())?);
    let found = file.metadata()?;
    let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.nlink() == 1;
    match found.is_file() && is_own && found.dev() == directory.metadata()?.dev() {
        true => Ok((file, found)),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a file that belongs to one entry")),
    }
}

fn read_metadata(directory: &File, id: &Id) -> io::Result<Vec<u8>> {
    let (file, _) = open_regular(directory, &format!("{id}.json"))?;
    let mut text = Vec::new();
    file.take(MAX_METADATA).read_to_end(&mut text)?;
    Ok(text)
}
