//! The previews of a store of files: what the reader got instead of each output.
//!
//! A preview has a file of its own, because it is known only after the metadata is written: its notice says whether the
//! output was stored. Listings, which read all metadata, do not read it.
//!
//! Another process may remove or move the entry before its preview is written. So a preview is removed after the metadata,
//! and its writer removes it if the metadata is gone: the later of the two removes it.

use crate::store::fs::{METADATA_DIR, open_file, remove_file};
use crate::store::{FsStore, Id, StoreError, platform};
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;

/// A longer preview is not read.
pub(super) const MAX_PREVIEW: u64 = 64 << 20;

impl FsStore {
    fn preview_path(&self, id: &Id) -> PathBuf {
        self.directory().join(METADATA_DIR).join(format!("{id}.preview"))
    }

    /// Writes a preview under its name at once: one that exists is whole.
    pub(super) fn write_preview(&self, id: &Id, preview: &[u8]) -> Result<(), StoreError> {
        if !self.metadata_path(id).exists() {
            return Err(StoreError::NotFound { id: id.to_string() });
        }
        let path = self.preview_path(id);
        let write = || -> io::Result<()> {
            let mut file = platform::temporary_file(&self.directory().join(METADATA_DIR))?;
            file.write_all(preview)?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(StoreError::io("write the preview", &path))?;
        if self.metadata_path(id).exists() { Ok(()) } else { remove_file(&path) }
    }

    pub(super) fn read_preview(&self, id: &Id) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.metadata_path(id).exists() {
            return Err(StoreError::NotFound { id: id.to_string() });
        }
        let path = self.preview_path(id);
        let mut preview = Vec::new();
        match open_file(&path).and_then(|file| file.take(MAX_PREVIEW).read_to_end(&mut preview)) {
            Ok(_) => Ok(Some(preview)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read the preview", &path)(error)),
        }
    }

    pub(super) fn remove_preview(&self, id: &Id) -> Result<(), StoreError> {
        remove_file(&self.preview_path(id))
    }
}
