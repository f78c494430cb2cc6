//! Where whole outputs are stored.
//!
//! A store contains entries: the bytes of one output, unchanged, and what is known about them. A store does the minimum;
//! finding an entry by a prefix, paging and searching are built on top, in [`crate::retrieve`].
//!
//! Every store passes the same test suite: [`contract::check`].

pub mod contract;
mod custom;
mod digest;
mod entry;
mod filter;
mod finalize;
mod format;
mod fs;
mod id;
mod leftovers;
mod memory;
mod name;
mod platform;
mod previews;
#[cfg(unix)]
mod relocate;
mod save;
mod strays;

pub use crate::context::Origin;
pub use custom::{Backend, CustomStore};
pub use digest::Digester;
pub(crate) use digest::{BLOCK, BlockDigests};
pub use entry::{Entry, EntryState, NewEntry, Pin, Reading, Retention, Summary, UploadState};
pub use filter::{Condition, EntryFilter};
pub use fs::{FsStore, newest};
pub use id::Id;
pub use leftovers::{LeftoverFile, Leftovers};
pub use memory::MemoryStore;
pub use save::{SaveOutput, Saves};
pub use strays::{Stray, StrayKind};

use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// Returns the time. Callers pass one, usually `SystemTime::now`, because the library reads no clock itself.
pub type Clock = fn() -> SystemTime;

/// The most bytes that are stored of one output by default: enough for any log, not for a runaway command.
pub const DEFAULT_CAP: u64 = 4 << 30;

/// Stores whole outputs.
pub trait Store: Send + Sync {
    /// Opens a new entry. It exists from now on, and it is [`EntryState::Running`] until it is committed.
    fn create(&self, new: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError>;

    /// All ids, oldest first.
    fn ids(&self) -> Result<Vec<Id>, StoreError>;

    /// What is known about an entry.
    fn entry(&self, id: &Id) -> Result<Entry, StoreError>;

    /// Reads bytes of an entry from `offset` on; fewer than requested only at the end of what is stored.
    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError>;

    /// Pins an entry, so that cleaning does not remove it, or unpins it.
    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError>;

    /// Removes an entry.
    fn remove(&self, id: &Id) -> Result<(), StoreError>;

    // The rest has default implementations, which a store may replace by faster ones.

    /// The directory of a store of files on this machine, which truncators clean automatically
    /// ([`crate::retention::Cleaning`]).
    fn local_directory(&self) -> Option<&Path> {
        None
    }

    /// What is known about an entry, if it matches. Most entries do not, so that a store reads no more than it needs to know
    /// this.
    fn entry_matching(&self, id: &Id, filter: &EntryFilter) -> Result<Option<Entry>, StoreError> {
        Ok(Some(self.entry(id)?).filter(|entry| filter.matches(entry)))
    }

    /// What is known about many entries, in the order of `ids`.
    fn entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        filter::entries(self, ids)
    }

    /// The entries that match, newest first. Their bytes are not read, and they may have no summary.
    fn select(&self, filter: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let mut selected = Vec::new();
        self.visit(filter, &mut |entry| selected.push(entry))?;
        Ok(selected)
    }

    /// Calls `visit` with the entries that [`Store::select`] returns, without having all of them in memory.
    fn visit(&self, filter: &EntryFilter, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        filter::visit(self, filter, visit)
    }

    /// Files or objects that belong to no entry.
    fn strays(&self, _kind: StrayKind) -> Result<Vec<Stray>, StoreError> {
        Ok(Vec::new())
    }

    /// Removes what [`Store::strays`] returned.
    fn remove_stray(&self, stray: &Stray) -> Result<(), StoreError> {
        Err(StoreError::NotFound { id: stray.place.clone() })
    }

    /// The newest ids, newest first.
    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        Ok(self.ids()?.into_iter().rev().take(count).collect())
    }

    /// The ids that start with `prefix`, oldest first.
    fn ids_with_prefix(&self, prefix: &str) -> Result<Vec<Id>, StoreError> {
        Ok(self.ids()?.into_iter().filter(|id| id.as_str().starts_with(prefix)).collect())
    }

    /// Keeps what the reader got instead of the output, beside the entry. A later call replaces it. A store may ignore it.
    fn save_preview(&self, _id: &Id, _preview: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    /// What [`Store::save_preview`] kept; nothing if the store keeps no previews or has none of this entry.
    fn preview(&self, _id: &Id) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    /// A position at or before the start of `line` (counted from 1), close to it if the store has an index.
    fn checkpoint(&self, _id: &Id, _line: u64) -> Result<LineCheckpoint, StoreError> {
        Ok(LineCheckpoint::START)
    }

    /// Removes many entries, and reports the result of each.
    fn remove_all(&self, ids: &[Id], report: &mut dyn FnMut(&Id, Result<(), StoreError>)) {
        for id in ids {
            report(id, self.remove(id));
        }
    }
}

/// A position in an entry, and the number of lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCheckpoint {
    /// The position in bytes.
    pub offset: u64,
    /// The number of line feeds before it.
    pub feeds: u64,
}

impl LineCheckpoint {
    /// The start of every entry.
    pub const START: LineCheckpoint = LineCheckpoint { offset: 0, feeds: 0 };
}

/// Writes the bytes of one entry.
///
/// A writer that is dropped leaves an [`EntryState::Abandoned`] entry with what was written.
pub trait Writer: Send {
    /// The entry's id.
    fn id(&self) -> Id;

    /// The plain file that will contain the bytes, if there is one.
    fn path(&self) -> Option<&Path>;

    /// The open file that receives the bytes, if there is one: another process can continue writing there.
    fn file(&self) -> Option<File> {
        None
    }

    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Waits a limited time until the bytes are in the store, and returns whether they are.
    fn flush(&mut self) -> UploadState {
        UploadState::Uploaded
    }

    /// Closes the entry in this state. [`EntryState::Running`] means that another process continues it.
    fn commit(self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError>;
}

/// Why a store could not do something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system reported an error.
    #[error("cannot {action} {place}: {error}")]
    Io {
        /// What failed, as a verb.
        action: &'static str,
        /// The file or directory.
        place: String,
        /// Why it failed. Not the error's source: the message contains it already.
        error: std::io::Error,
    },
    /// There is no such entry.
    #[error("no stored output {id}")]
    NotFound {
        /// The requested id.
        id: String,
    },
    /// The metadata cannot be read.
    #[error(
        "cannot read the metadata of {id}: {reason}; the output may still be in the file of the store that is named after \
         it; `offcut rm {id}` removes both"
    )]
    Damaged {
        /// The entry.
        id: Id,
        /// What is wrong with it.
        reason: String,
    },
    /// The entry was written by a newer version of offcut.
    #[error(
        "cannot read {id}: it was written by a newer version of offcut (entry format {version}); update offcut"
    )]
    Unsupported {
        /// The entry.
        id: Id,
        /// The version of its metadata.
        version: u32,
    },
    /// The store may not be used.
    #[error("{reason}")]
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn io(action: &'static str, place: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        let place = place.display().to_string();
        move |error| StoreError::Io { action, place, error }
    }
}
