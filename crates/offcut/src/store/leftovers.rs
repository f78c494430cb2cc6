//! Files that the original tool of a source document left in its directory: offcut has no metadata for them.
//!
//! A profile says which names such files have and where their age comes from. Files with other names, files whose age is
//! unknown, links, and files that belong to an entry are not changed.

use crate::store::{FsStore, Store, StoreError, name};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How to recognise the files that the original tool of a source document left.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leftovers {
    /// Templates of their names, with the placeholders of a profile's file name and `{ascending}`, the time in an identifier
    /// of opencode.
    names: Vec<String>,
    /// Where their age comes from.
    time: FileTime,
}

/// Where the age of a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileTime {
    /// The time in its name.
    Name,
    /// Its modification time.
    Modified,
}

/// A file that the original tool left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverFile {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

impl LeftoverFile {
    /// Removes the file, if it still exists.
    pub fn remove(&self) -> Result<(), StoreError> {
        super::fs::remove_file(&self.path)
    }
}

impl FsStore {
    /// The files of the original tool that are older than `max_age`, in order of their names.
    pub fn leftovers(
        &self,
        leftovers: &Leftovers,
        max_age: Duration,
        now: SystemTime,
    ) -> Result<Vec<LeftoverFile>, StoreError> {
        let directory = self.directory();
        let listing = match fs::read_dir(directory) {
            Ok(listing) => listing,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", directory)(error)),
        };
        self.refuse_if_shared(&fs::metadata(directory).map_err(StoreError::io("examine", directory))?)?;
        let mut expired = Vec::new();
        for item in listing {
            let item = item.map_err(StoreError::io("list", directory))?;
            // Both describe a link itself, not the file that it points to.
            let (Ok(file), Some(name)) = (item.metadata(), item.file_name().to_str().map(str::to_owned))
            else {
                continue;
            };
            if file.is_file()
                && let Some(time) = leftovers.time(&name, &file, now)
                && now.duration_since(time).is_ok_and(|age| age > max_age)
            {
                expired.push(LeftoverFile { path: item.path(), bytes: file.len() });
            }
        }
        // The metadata of an entry exists before its file, so every listed file of an entry is known now.
        let known = self.files_of_entries()?;
        expired.retain(|file| !known.contains(&file.path));
        expired.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(expired)
    }

    /// The files of all entries. An entry with unreadable metadata is an error, because its file is unknown.
    fn files_of_entries(&self) -> Result<BTreeSet<PathBuf>, StoreError> {
        let mut files = BTreeSet::new();
        for id in self.ids()? {
            match self.load(&id) {
                Ok((_, path)) => drop(files.insert(path)),
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }
}

impl Leftovers {
    /// The time of a file with this name; `None` if it is not one of these files or its time is unknown.
    fn time(&self, name: &str, file: &fs::Metadata, now: SystemTime) -> Option<SystemTime> {
        let parts = self.names.iter().find_map(|template| name::parse(template, name))?;
        match self.time {
            FileTime::Name => parts.time(now),
            FileTime::Modified => file.modified().ok(),
        }
    }
}
