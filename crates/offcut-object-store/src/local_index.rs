//! What this machine remembers about the store between processes: small files in the spool directory.

use offcut::store::{Id, StoreError};
use offcut::terminal::printable;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How long a failure shortens the wait for the store.
const RECENT: Duration = Duration::from_secs(10 * 60);

pub(crate) struct LocalIndex {
    folder: PathBuf,
}

impl LocalIndex {
    pub(crate) fn new(spool: &Path) -> LocalIndex {
        LocalIndex { folder: spool.join(".offcut") }
    }

    /// The store's last failure, if nothing succeeded since.
    pub(crate) fn last_failure(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.failure_file()).ok()?;
        Some(printable(text.trim_end(), 400))
    }

    /// Whether the store failed in the last minutes.
    pub(crate) fn has_recent_failure(&self, now: SystemTime) -> bool {
        let failed = std::fs::metadata(self.failure_file()).and_then(|found| found.modified());
        failed.is_ok_and(|failed| now.duration_since(failed).is_ok_and(|since| since < RECENT))
    }

    pub(crate) fn record_failure(&self, reason: &str) {
        // If this fails, the next call waits longer.
        let _ = write(&self.failure_file(), reason);
    }

    pub(crate) fn clear_failure(&self) {
        let _ = std::fs::remove_file(self.failure_file());
    }

    fn failure_file(&self) -> PathBuf {
        self.folder.join("away")
    }

    /// The file that records whether the server overwrites objects.
    pub(crate) fn create_mode_file(&self) -> PathBuf {
        self.folder.join("overwrites")
    }

    /// The file that records the id of an upload in parts while it is in progress.
    pub(crate) fn upload_record(&self, id: &Id) -> PathBuf {
        self.folder.join(format!("{id}.upload"))
    }

    /// Outputs with an upload in parts that is in progress or was interrupted.
    pub(crate) fn uploads(&self) -> Vec<Id> {
        let listing = std::fs::read_dir(&self.folder).into_iter().flatten();
        listing
            .filter_map(|item| Id::parse(item.ok()?.file_name().to_str()?.strip_suffix(".upload")?))
            .collect()
    }

    /// A lock that one process at a time holds, if it is free within `wait`.
    pub(crate) fn lock(&self, name: &str, wait: Duration) -> Result<Option<File>, StoreError> {
        let place = self.folder.join(name);
        let file = private().truncate(false).open(&place).map_err(|error| StoreError::Io {
            action: "open",
            place: place.display().to_string(),
            error,
        })?;
        Ok(try_lock_within(&file, wait).then_some(file))
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

/// Writes a file that only this user can read.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    private().truncate(true).open(path)?.write_all(text.as_bytes())
}

/// Locks a file as soon as no other process has the lock, and returns whether that was within `wait`.
pub(crate) fn try_lock_within(file: &File, wait: Duration) -> bool {
    let until = Instant::now() + wait;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}
