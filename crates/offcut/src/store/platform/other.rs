//! Other systems, with the standard library only.
//!
//! Weaker than on Unix: files have the permissions of their directory, so the caller must choose a directory that belongs
//! to the user; a link is detected before a file is opened, not while; a file that was replaced by one of the same size
//! and creation time is taken for the same file. Where locks are mandatory (Windows), the bytes of an entry cannot be read
//! while it is written.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use tempfile::NamedTempFile;

/// Creates a directory and its parents.
pub(in super::super) fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Whether another user could replace files in the directory `path`: unknown here, so only links are refused.
pub(in super::super) fn is_shared(path: &Path, _found: &Metadata) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// Whether no other user can read or change the file or directory: unknown here.
pub(in super::super) fn is_private(_found: &Metadata) -> bool {
    true
}

/// Options for a new file; its directory decides who can read it.
pub(in super::super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a file, unless it is a link.
pub(in super::super) fn open_unless_link(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(io::Error::new(ErrorKind::InvalidInput, "it is a link")),
        _ => options.open(path),
    }
}

/// Reads bytes from `offset` on. It moves the position of the file, so one thread at a time may use the file.
pub(in super::super) fn read_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(offset))?;
    file.read(buffer)
}

/// Whether both describe one file, as far as size and creation time show it.
pub(in super::super) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.is_file() && one.len() == other.len() && one.created().ok() == other.created().ok()
}

/// A new file in `directory`.
pub(in super::super) fn temporary_file(directory: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().tempfile_in(directory)
}
