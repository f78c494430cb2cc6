//! Reading a configuration file that may come from a cloned repository or lie in a directory that others can write to.

use super::Trust;
use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Result};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Larger files are not used: every call reads them.
const MAX_BYTES: u64 = 256 << 10;

/// Reads a regular file of limited size; that of a project must belong to the user, as git requires of a repository.
pub(crate) fn read(path: &Path, trust: Trust) -> Result<String> {
    // Opening a FIFO must not wait for its writer.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::other("not a regular file"));
    }
    if trust == Trust::Project && !is_own(found.uid()) {
        return Err(Error::other(format!("it belongs to another user ({})", found.uid())));
    }
    limited(file)
}

/// Reads a file of limited size. The size in the metadata is not enough: files in /proc have none.
fn limited(file: File) -> Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::other(format!("it has more than {} KiB", MAX_BYTES >> 10)));
    }
    String::from_utf8(bytes).map_err(|_| Error::other("it is not valid UTF-8"))
}

/// Whether files of this user are the caller's own: root called through sudo also owns those of the calling user.
fn is_own(owner: u32) -> bool {
    let user = rustix::process::geteuid();
    let caller = || std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse::<u32>().ok());
    owner == user.as_raw() || (user.is_root() && caller() == Some(owner))
}
