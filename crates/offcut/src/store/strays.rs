//! Files of a store that belong to no entry.

use crate::store::fs::{METADATA_DIR, remove_file};
use crate::store::{FsStore, Id, Store, StoreError, platform};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A file or object that belongs to no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Its path or key.
    pub place: String,
    /// Its size.
    pub bytes: u64,
    /// When it was modified last.
    pub modified: Option<SystemTime>,
}

/// Where a stray comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayKind {
    /// A writer that was killed left it, or a removal that was interrupted. Cleaning removes it when it is a day old: a
    /// younger one may belong to a writer that is at work.
    Remnant,
    /// Anybody may have written it. It is only reported.
    Unknown,
}

impl Stray {
    fn new(path: &Path) -> Option<Stray> {
        // The metadata of a link is that of the link.
        let found = fs::symlink_metadata(path).ok().filter(|found| !found.is_dir())?;
        Some(Stray { place: path.display().to_string(), bytes: found.len(), modified: found.modified().ok() })
    }
}

impl FsStore {
    pub(super) fn find_strays(&self, kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        let paths = match kind {
            StrayKind::Remnant => self.remnants()?,
            StrayKind::Unknown => self.unknown_files()?,
        };
        Ok(paths.iter().filter_map(|path| Stray::new(path)).collect())
    }

    pub(super) fn remove_stray_file(&self, stray: &Stray) -> Result<(), StoreError> {
        remove_file(Path::new(&stray.place))
    }

    /// The files and directories of the store that other users can read or change, although they should be private. The
    /// directory itself may be readable: its files are not.
    pub(crate) fn exposed(&self) -> Result<Vec<PathBuf>, StoreError> {
        let metadata = self.directory().join(METADATA_DIR);
        let mut exposed = Vec::new();
        let is_shared = |found: &fs::Metadata| self.refuse_if_shared(found).is_err();
        if fs::metadata(self.directory()).is_ok_and(|found| is_shared(&found)) {
            exposed.push(self.directory().to_owned());
        }
        let mut paths = vec![metadata.clone()];
        paths.extend(list(&metadata)?);
        for id in self.ids()? {
            paths.extend(self.load(&id).ok().map(|(_, path)| path));
        }
        let is_exposed = |path: &PathBuf| {
            fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink() && !platform::is_private(&found))
        };
        exposed.extend(paths.into_iter().filter(is_exposed));
        Ok(exposed)
    }

    /// Temporary files of metadata, and pins of entries that do not exist.
    fn remnants(&self) -> Result<Vec<PathBuf>, StoreError> {
        let directory = self.directory().join(METADATA_DIR);
        let mut remnants = list(&directory)?;
        remnants.retain(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let pinned = name.strip_suffix(".pin").and_then(Id::parse);
            name.starts_with(".tmp") || pinned.is_some_and(|id| !self.metadata_path(&id).exists())
        });
        Ok(remnants)
    }

    /// Files beside those of entries. The metadata of an entry exists before its file, so the files are listed first.
    fn unknown_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let mut files: BTreeSet<PathBuf> = list(self.directory())?.into_iter().collect();
        for id in self.ids()? {
            files.remove(&match self.load(&id) {
                Ok((_, path)) => path,
                // Of an entry with damaged metadata, only the usual file name is known.
                Err(_) => self.directory().join(format!("{id}.txt")),
            });
        }
        Ok(files.into_iter().collect())
    }
}

/// What a directory contains, in order; nothing if it does not exist.
fn list(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let listing = match fs::read_dir(directory) {
        Ok(listing) => listing,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", directory)(error)),
    };
    let paths = listing.map(|item| item.map(|item| item.path()).map_err(StoreError::io("list", directory)));
    let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
    paths.sort_unstable();
    Ok(paths)
}
