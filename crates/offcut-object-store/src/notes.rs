//! What this machine remembers of the store: small files beside the metadata of what waits.

use offcut::store::{Id, StoreError};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How long a failure is remembered.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);

pub(crate) struct Notes {
    folder: PathBuf,
}

impl Notes {
    pub(crate) fn new(spool: &Path) -> Notes {
        Notes { folder: spool.join(".offcut") }
    }

    /// What the store's last failure was, if nothing succeeded since.
    pub(crate) fn trouble(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.away()).ok()?;
        Some(text.chars().filter(|char| !char.is_control()).take(400).collect())
    }

    /// Whether the store failed a short while ago.
    pub(crate) fn is_away(&self, now: SystemTime) -> bool {
        let failed = std::fs::metadata(self.away()).and_then(|found| found.modified());
        failed.is_ok_and(|failed| now.duration_since(failed).is_ok_and(|since| since < REMEMBERED))
    }

    pub(crate) fn went_away(&self, reason: &str) {
        // Without it the next call only waits longer.
        let _ = write(&self.away(), reason);
    }

    pub(crate) fn came_back(&self) {
        let _ = std::fs::remove_file(self.away());
    }

    fn away(&self) -> PathBuf {
        self.folder.join("away")
    }

    /// Where it is written down whether the server overwrites.
    pub(crate) fn overwrites(&self) -> PathBuf {
        self.folder.join("overwrites")
    }

    /// Where the name of an upload in parts is written down while it is under way.
    pub(crate) fn upload(&self, id: &Id) -> PathBuf {
        self.folder.join(format!("{id}.upload"))
    }

    /// Uploads in parts that are under way, or were broken off.
    pub(crate) fn uploads(&self) -> Vec<Id> {
        let listing = std::fs::read_dir(&self.folder).into_iter().flatten();
        listing
            .filter_map(|item| Id::parse(item.ok()?.file_name().to_str()?.strip_suffix(".upload")?))
            .collect()
    }

    /// The right to do something that one process at a time does, if it can be had in time.
    pub(crate) fn turn(&self, name: &str, patience: Duration) -> Result<Option<File>, StoreError> {
        let place = self.folder.join(name);
        let file = private().truncate(false).open(&place).map_err(|error| StoreError::Io {
            tried: "open",
            place: place.display().to_string(),
            error,
        })?;
        Ok(is_locked_within(&file, patience).then_some(file))
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

/// Writes a note that is nobody else's business.
pub(crate) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    private().truncate(true).open(path)?.write_all(text.as_bytes())
}

/// Locks a file, as soon as nobody else does.
pub(crate) fn is_locked_within(file: &File, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    while file.try_lock().is_err() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}
