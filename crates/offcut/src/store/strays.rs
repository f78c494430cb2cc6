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
        let is_exposed = |path: &Path| {
            fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink() && !platform::is_private(&found))
        };
        exposed.extend(Some(metadata.clone()).filter(|path| is_exposed(path)));
        exposed.extend(list(&metadata, is_exposed)?);
        let paths = self.ids()?.into_iter().filter_map(|id| self.load(&id).ok().map(|(_, path)| path));
        exposed.extend(paths.filter(|path| is_exposed(path)));
        Ok(exposed)
    }

    /// Temporary files of metadata, and pins and previews of entries that do not exist.
    fn remnants(&self) -> Result<Vec<PathBuf>, StoreError> {
        let directory = self.directory().join(METADATA_DIR);
        list(&directory, |path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let id = name.strip_suffix(".pin").or_else(|| name.strip_suffix(".preview")).and_then(Id::parse);
            name.starts_with(".tmp") || id.is_some_and(|id| !self.metadata_path(&id).exists())
        })
    }

    /// Files beside those of entries. The metadata of an entry exists before its file, so the files are listed first.
    fn unknown_files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let files = list(self.directory(), |path| {
            let stem = path.file_stem().and_then(|stem| Id::parse(stem.to_str()?));
            !path.ends_with(METADATA_DIR) && stem.is_none_or(|id| self.file_of(&id).as_deref() != Some(path))
        })?;
        if files.is_empty() {
            return Ok(files);
        }
        // The profile may have chosen a name without the id.
        let mut files: BTreeSet<PathBuf> = files.into_iter().collect();
        for id in self.ids()? {
            if let Some(path) = self.file_of(&id) {
                files.remove(&path);
            }
        }
        Ok(files.into_iter().collect())
    }

    /// The file of an entry, if the entry exists.
    fn file_of(&self, id: &Id) -> Option<PathBuf> {
        match self.load(id) {
            Ok((_, path)) => Some(path),
            Err(StoreError::NotFound { .. }) => None,
            // Of an entry with damaged metadata, only the usual file name is known.
            Err(_) => Some(self.directory().join(format!("{id}.txt"))),
        }
    }
}

/// What a directory contains and `is_wanted` selects, in order; nothing if it does not exist.
fn list(directory: &Path, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, StoreError> {
    let listing = match fs::read_dir(directory) {
        Ok(listing) => listing,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", directory)(error)),
    };
    let mut paths = Vec::new();
    for item in listing {
        let path = item.map_err(StoreError::io("list", directory))?.path();
        // A large store has millions of files: only those that are wanted stay in memory.
        paths.extend(Some(path).filter(|path| is_wanted(path)));
    }
    paths.sort_unstable();
    Ok(paths)
}
