//! Unix: modes, owners, inodes and `O_NOFOLLOW`.

use rustix::fs::OFlags;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// Creates a directory and its parents, for this user only.
pub(in super::super) fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Whether another user could replace files in the directory `path`. Below a directory that everybody can write to, such
/// as the system's temporary directory, every directory is shared that is not private.
pub(in super::super) fn is_shared(path: &Path, found: &Metadata) -> bool {
    let parent_is_shared = path
        .parent()
        .and_then(|parent| fs::metadata(parent).ok())
        .is_some_and(|parent| parent.mode() & 0o002 != 0);
    let others = if parent_is_shared { 0o077 } else { 0o022 };
    // In a shared directory a link may have been created by another user.
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    (parent_is_shared && is_link)
        || found.is_dir()
            && (found.mode() & others != 0 || found.uid() != rustix::process::geteuid().as_raw())
}

/// Whether no other user can read or change the file or directory.
pub(in super::super) fn is_private(found: &Metadata) -> bool {
    found.mode() & 0o077 == 0
}

/// Options for a new file that only this user can read.
pub(in super::super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// Opens a file, unless it is a link. Never waits: opening a named pipe would.
pub(in super::super) fn open_unless_link(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32).open(path)
}

/// Reads bytes from `offset` on.
pub(in super::super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Whether both describe one file.
pub(in super::super) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// A new file in `directory` that only this user can read.
pub(in super::super) fn temporary_file(directory: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o600)).tempfile_in(directory)
}
