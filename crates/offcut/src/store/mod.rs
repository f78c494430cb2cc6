//! Where whole outputs are kept.
//!
//! A store holds entries: the bytes of one output, as they came, and what is known about them. It does the least a
//! store can do; finding an entry by a prefix, paging and searching are built on top, in [`crate::retrieve`].
//!
//! Every store passes the same suite: [`contract::check`].

pub mod contract;
mod custom;
mod format;
mod fs;
mod id;
mod listing;
mod memory;
mod name;
mod settle;

pub use custom::{Backend, CustomStore, Destination};
pub use fs::FsStore;
pub use id::Id;
pub use listing::{Item, Selection};
pub use memory::MemoryStore;

use crate::context::Context;
use crate::cut::{Gap, Size};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Tells the time. Callers pass one, usually `SystemTime::now`, because the library reads no clock of its own.
pub type Clock = fn() -> SystemTime;

/// Keeps whole outputs.
pub trait Store: Send + Sync {
    /// Opens a new entry. It exists from now on, and says that it is incomplete until it is committed.
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError>;

    /// Every id, oldest first.
    fn ids(&self) -> Result<Vec<Id>, StoreError>;

    /// What is known about an entry.
    fn entry(&self, id: &Id) -> Result<Entry, StoreError>;

    /// Reads bytes of an entry from `offset` on; fewer than asked for only at the end of what is there.
    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError>;

    /// Pins an entry, so that no cleaning removes it, or lets go of it.
    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError>;

    /// Removes an entry.
    fn remove(&self, id: &Id) -> Result<(), StoreError>;

    // What follows is what a store may know a better way to do.

    /// Looks at many entries, in the order given.
    fn entries(&self, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
        listing::look_at(self, ids)
    }

    /// What a listing tells about the entries that are wanted, newest first. No bytes of theirs are read.
    fn select(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        listing::select(self, selection)
    }

    /// The newest ids, newest first.
    fn newest(&self, count: usize) -> Result<Vec<Id>, StoreError> {
        Ok(self.ids()?.into_iter().rev().take(count).collect())
    }

    /// The ids that begin like this, oldest first.
    fn ids_beginning(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        Ok(self.ids()?.into_iter().filter(|id| id.as_str().starts_with(beginning)).collect())
    }

    /// A place before the beginning of `line`, counted from 1, from where it is not far; or the start.
    fn landmark(&self, _id: &Id, _line: u64) -> Result<LineCheckpoint, StoreError> {
        Ok(LineCheckpoint::START)
    }

    /// Removes many entries, and tells of each how that went.
    fn remove_all(&self, ids: &[Id], tell: &mut dyn FnMut(&Id, Result<(), StoreError>)) {
        for id in ids {
            tell(id, self.remove(id));
        }
    }
}

/// A place in an entry of which the line is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCheckpoint {
    /// Where it is.
    pub offset: u64,
    /// How many line feeds there are before it.
    pub feeds: u64,
}

impl LineCheckpoint {
    /// The beginning of every entry.
    pub const START: LineCheckpoint = LineCheckpoint { offset: 0, feeds: 0 };
}

/// Takes in the bytes of one entry.
///
/// A writer that is dropped leaves an incomplete entry with what was written.
pub trait Writer: Send {
    /// The entry's id.
    fn id(&self) -> Id;

    /// The plain file that will hold the bytes, if there is one.
    fn path(&self) -> Option<&Path>;

    /// The open file that takes the bytes, if there is one: another process can go on writing where this one stops.
    fn file(&self) -> Option<File> {
        None
    }

    /// Appends bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Waits, but not for long, until the bytes are where they belong, and tells whether they are.
    fn flush(&mut self) -> UploadState {
        UploadState::Uploaded
    }

    /// Makes the entry what `summary` says it is. [`EntryState::Writing`] says that somebody will go on.
    fn commit(self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError>;
}

/// What is known when an entry is opened.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The call that produced the output.
    pub context: &'a Context,
    /// The profile that cut it.
    pub profile: &'a str,
    /// How a store that keeps plain files names them, for example `{id}.txt`.
    pub file_name: &'a str,
    /// How the bytes are read.
    pub reading: Reading,
}

/// How the bytes of an entry are read by whoever wants a part of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// As they are.
    #[default]
    Plain,
    /// They are JSON and their readable form is paged ([`crate::retrieve::readable`]).
    Readable,
}

impl Reading {
    fn is_plain(&self) -> bool {
        *self == Reading::Plain
    }
}

/// What is known when all bytes have been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How large the output was, whether or not all of it was kept.
    pub original: Size,
    /// The lines of it as retrieval counts them, whatever the profile's convention: they end at `\n`.
    pub lines: u64,
    /// The blake3 digest, in hex, of the bytes that were written.
    pub digest: String,
    /// Whether every byte was written.
    pub completeness: EntryState,
    /// The exit code of the command, if it was one.
    pub exit_code: Option<i32>,
    /// How much of it was shown.
    pub shown: Size,
    /// What was not shown.
    pub gaps: Vec<Gap>,
}

/// Whether cleaning may remove an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// It stays until it is removed by name.
    Pinned,
    /// It goes when it is old.
    #[default]
    Loose,
}

/// Whether an entry holds the whole output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// Every byte is there.
    Complete,
    /// Some bytes are missing, and why.
    Partial {
        /// What went wrong.
        reason: String,
    },
    /// It is being written at this moment.
    Writing,
    /// Its writer ended without saying that the entry is complete.
    Abandoned,
}

/// Where an entry is, for a store that is not on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UploadState {
    /// In the store.
    #[default]
    Uploaded,
    /// Its bytes are in the store; what is known about them is not yet, so it may still become [`UploadState::LocalOnly`].
    Uploading,
    /// On this machine alone, because the store could not take it in. It waits to be moved there.
    LocalOnly {
        /// Why.
        reason: String,
    },
}

/// One stored output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: Id,
    /// The plain file that holds the bytes, if there is one.
    pub path: Option<PathBuf>,
    /// When it was opened.
    pub created: SystemTime,
    /// The call that produced it.
    pub context: Context,
    /// The profile that cut it.
    pub profile: String,
    /// How its bytes are read.
    pub reading: Reading,
    /// The machine that produced it, where a store has outputs of many.
    pub host: Option<String>,
    /// The number of bytes that are kept.
    pub bytes: u64,
    /// Whether these are all.
    pub completeness: EntryState,
    /// Whether cleaning may remove it.
    pub pin: Pin,
    /// Whether it is in the store or still on its way there.
    pub upload_state: UploadState,
    /// What is known since all bytes were written; nothing for an entry that was never committed.
    pub summary: Option<Summary>,
}

impl Entry {
    /// The number of lines that end at `\n`, an open end included, if the entry was committed whole.
    pub fn lines(&self) -> Option<u64> {
        match (&self.completeness, &self.summary) {
            (EntryState::Complete, Some(summary)) => Some(summary.lines),
            _ => None,
        }
    }

    /// The metadata of the entry, as a store that keeps it as text writes it: one line of JSON, version 1.
    pub fn to_json(&self) -> Vec<u8> {
        format::encode(self)
    }

    /// The entry that [`Entry::to_json`] wrote: settled, loose and without a path.
    pub fn from_json(id: &Id, text: &[u8]) -> Result<Entry, StoreError> {
        format::decode(id, text)
    }

    /// The name under which any client can ask for it.
    pub fn uri(&self) -> String {
        format!("offcut://{}", self.id)
    }
}

/// Something a store could not do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system refused.
    #[error("could not {tried} {place}: {error}")]
    Io {
        /// What was tried, as a verb.
        tried: &'static str,
        /// What it was tried on.
        place: String,
        /// Why it failed. Not the error's source: it is told in the message already.
        error: std::io::Error,
    },
    /// There is no such entry.
    #[error("no stored output {id}; `offcut ls` lists what there is")]
    NotFound {
        /// The id that was asked for.
        id: String,
    },
    /// The metadata cannot be read.
    #[error("the metadata of {id} is damaged: {reason}")]
    Damaged {
        /// The entry.
        id: Id,
        /// What is wrong with it.
        reason: String,
    },
    /// The store may not be used.
    #[error("{reason}")]
    Refused {
        /// Why, and what to do.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn io(tried: &'static str, place: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        let place = place.display().to_string();
        move |error| StoreError::Io { tried, place, error }
    }
}
