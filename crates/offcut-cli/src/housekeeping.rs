//! Automatic cleaning, uploading and moving from temporary directories: in a background process, one at a time.

use crate::environment::Setup;
use crate::fallback;
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// How often a store is cleaned.
const INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// By how much two clocks of one machine may differ.
const TOLERANCE: Duration = Duration::from_secs(60 * 60);

/// The file whose modification time is that of the last cleaning. A cleaning process locks it.
pub(crate) const STAMP: &str = ".offcut/cleaned";

/// Starts cleaning, uploading or moving in the background if it is due. The caller does not wait.
pub(crate) fn start_if_due(setup: &Setup) {
    if let Some(fleet) = setup.fleet() {
        // A shared store is cleaned by the lifecycle rules of its bucket, not by the machines that write to it.
        if fleet.has_pending() {
            start(OsStr::new(&fleet.location().to_string()));
        }
    } else if let Some(directory) = setup.directory().filter(|directory| is_due(directory)) {
        start(directory.as_os_str());
    } else if let Some(directory) = setup.directory_with_fallback() {
        // Where the store is never writable, its temporary directories are cleaned in its place.
        match fallback::directories_in_use(directory).find(|temporary| is_due(temporary)) {
            Some(temporary) => start(temporary.as_os_str()),
            None => start_move_if_due(setup),
        }
    }
}

/// Starts moving outputs from temporary directories to the store if there are any.
pub(crate) fn start_move_if_due(setup: &Setup) {
    let directory = setup.directory_with_fallback();
    if let Some(directory) = directory.filter(|directory| fallback::is_move_due(directory, setup.cap())) {
        start(directory.as_os_str());
    }
}

fn is_due(directory: &Path) -> bool {
    let stamp = directory.join(STAMP);
    match std::fs::metadata(&stamp).and_then(|found| found.modified()) {
        Ok(modified) => {
            SystemTime::now().duration_since(modified).is_ok_and(|age| age > INTERVAL) || is_ahead(modified)
        }
        // A new store has nothing to clean: its first interval starts now.
        Err(_) => {
            let _ = open(&stamp);
            false
        }
    }
}

fn start(store: &OsStr) {
    if let Ok(program) = std::env::current_exe() {
        let _ = Command::new(program)
            .args(["clean", "--auto", "--store"])
            .arg(store)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
    }
}

/// Locks the store for cleaning, unless another process cleans it now or has cleaned it meanwhile.
pub(crate) fn lock_if_due(directory: &Path) -> Option<File> {
    let stamp = directory.join(STAMP);
    let file = open(&stamp).ok()?;
    file.try_lock().ok()?;
    let found = file.metadata().ok()?;
    let (modified, now) = (found.modified().ok()?, SystemTime::now());
    if now.duration_since(modified).is_ok_and(|age| age <= INTERVAL) {
        return None;
    }
    file.set_modified(now).ok()?;
    // The system recorded when that happened. A process whose clock differs must not clean.
    let changed =
        SystemTime::UNIX_EPOCH + Duration::from_secs(file.metadata().ok()?.ctime().try_into().ok()?);
    if now.duration_since(changed).is_ok_and(|ahead| ahead > TOLERANCE) {
        file.set_modified(changed).ok()?;
        return None;
    }
    // After a clock that was ahead is corrected, the first interval starts again.
    (!is_ahead(modified)).then_some(file)
}

/// Whether this time is in the future: the clock was ahead when it was recorded.
fn is_ahead(time: SystemTime) -> bool {
    time.duration_since(SystemTime::now()).is_ok_and(|ahead| ahead > TOLERANCE)
}

/// Opens the file, unless it is a link. Never waits: opening a named pipe would.
fn open(stamp: &Path) -> std::io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(stamp)
}
