//! What files were before we changed them, and what we made of them: the backup, and the way back.

use super::{State, Step};
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder of the receipts, one file for each file that was changed.
pub(crate) struct Receipts {
    folder: PathBuf,
}

/// One file, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) before: State,
    pub(crate) after: State,
}

#[derive(Serialize, Deserialize)]
struct Written {
    path: PathBuf,
    before: Option<String>,
    after: Option<String>,
}

impl Receipts {
    pub(crate) fn new(folder: PathBuf) -> Receipts {
        Receipts { folder }
    }

    /// Where the receipt of a file is.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        let name = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
        self.folder.join(format!("{}.json", &name.as_str()[..16]))
    }

    pub(crate) fn get(&self, file: &Path) -> Option<Receipt> {
        let text = std::fs::read_to_string(self.path(file)).ok()?;
        let written: Written = serde_json::from_str(&text).ok()?;
        let state = |text: Option<String>| text.map_or(State::Absent, State::Text);
        Some(Receipt { before: state(written.before), after: state(written.after) })
    }

    pub(crate) fn keep(&self, file: &Path, receipt: &Receipt) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let text = |state: &State| state.text().map(str::to_owned);
        let written =
            Written { path: file.to_owned(), before: text(&receipt.before), after: text(&receipt.after) };
        let target = self.path(file);
        let _ = std::fs::remove_file(&target);
        // Settings may have secrets in them.
        let new = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
        serde_json::to_writer(new, &written).map_err(io::Error::from)
    }

    /// The receipt for a further change: what was there before the first of them stays what was there before.
    pub(crate) fn next(&self, step: &Step) -> Receipt {
        let before = match self.get(&step.path) {
            Some(last) if last.after == step.before => last.before,
            _ => step.before.clone(),
        };
        Receipt { before, after: step.after.clone() }
    }

    pub(crate) fn forget(&self, file: &Path) {
        let _ = std::fs::remove_file(self.path(file));
    }

    /// Whether no file is changed any more.
    pub(crate) fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.folder).map_or(true, |mut files| files.next().is_none())
    }
}
