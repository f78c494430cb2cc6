//! Backups of the files that offcut changes, from which they are restored.

use super::{FileState, Step};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The directory of backups, with one file per changed file.
pub(crate) struct Backups {
    directory: PathBuf,
}

/// The content of a file before and after the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Backup {
    pub(crate) before: FileState,
    pub(crate) after: FileState,
}

#[derive(Serialize, Deserialize)]
struct BackupFile {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

impl Backups {
    pub(crate) fn new(directory: PathBuf) -> Backups {
        Backups { directory }
    }

    /// The path of the backup of a file.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        let name = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
        self.directory.join(format!("{}.json", &name.as_str()[..16]))
    }

    pub(crate) fn get(&self, file: &Path) -> Option<Backup> {
        let text = std::fs::read_to_string(self.path(file)).ok()?;
        let written: BackupFile = serde_json::from_str(&text).ok()?;
        let state = |text: Option<String>| text.map_or(FileState::Absent, FileState::Text);
        Some(Backup { before: state(written.before), after: state(written.after) })
    }

    pub(crate) fn keep(&self, file: &Path, backup: &Backup) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let text = |state: &FileState| state.text().map(str::to_owned);
        let written =
            BackupFile { path: file.to_owned(), before: text(&backup.before), after: text(&backup.after) };
        let target = self.path(file);
        let _ = std::fs::remove_file(&target);
        // Settings may contain secrets.
        let new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
        serde_json::to_writer(new, &written).map_err(io::Error::from)
    }

    /// The backup for a further change, which keeps the content from before the first one.
    pub(crate) fn next(&self, step: &Step) -> Backup {
        let before = match self.get(&step.path) {
            Some(last) if last.after == step.before => last.before,
            _ => step.before.clone(),
        };
        Backup { before, after: step.after.clone() }
    }

    pub(crate) fn forget(&self, file: &Path) {
        let _ = std::fs::remove_file(self.path(file));
    }

    /// Whether no changed file is left.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.directory).map_or(true, |mut files| files.next().is_none())
    }
}
