//! Cleaning and uploading that happen by themselves: in a process of their own, one at a time.

use crate::environment::Setup;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Once a day is enough for a store that keeps a week.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// The file whose age tells when the store was last cleaned, and whose lock tells that somebody does it now.
const MARK: &str = ".offcut/cleaned";

/// Starts what has to be done now and then, in the background. The call that triggers it does not wait.
pub(crate) fn start_if_due(setup: &Setup) {
    if let Some(fleet) = setup.fleet() {
        // A store that many share is cleaned by the rules of its bucket, not by whoever happens to write to it.
        if fleet.has_pending() {
            start(OsStr::new(&fleet.location().to_string()));
        }
    } else if let Some(directory) = setup.directory()
        && is_due(directory)
    {
        start(directory.as_os_str());
    }
}

fn is_due(directory: &Path) -> bool {
    let mark = directory.join(MARK);
    match std::fs::metadata(&mark).and_then(|found| found.modified()) {
        Ok(modified) => SystemTime::now().duration_since(modified).is_ok_and(|age| age > EVERY),
        // A new store has nothing to clean: the mark starts its clock.
        Err(_) => {
            let _ = open(&mark);
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

/// The right to clean: the lock on the mark, if nobody holds it and it is still time.
pub(crate) fn take_turn(directory: &Path) -> Option<Option<File>> {
    let mark = directory.join(MARK);
    let file = open(&mark).ok()?;
    file.try_lock().ok()?;
    let modified = file.metadata().and_then(|found| found.modified()).ok()?;
    if SystemTime::now().duration_since(modified).is_ok_and(|age| age <= EVERY) {
        return None;
    }
    file.set_modified(SystemTime::now()).ok()?;
    Some(Some(file))
}

fn open(mark: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(mark)
}
