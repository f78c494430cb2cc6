//! Stores and strategies that live in another language: what they gave, as a store and a strategy of ours.

use crate::fault::Fault;
use offcut::store::{
    Entry, EntryState, Id, NewEntry, Pin, Reading, Store, StoreError, Summary, UploadState, Writer,
};
use offcut::strategy::Opaque;
use offcut::{Context, Limits};
use serde::Deserialize;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// What a foreign store said when it was asked to save an output.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Saved {
    /// It is kept there: a path, or whatever names it.
    Path(String),
    /// It is not, and why.
    Error(String),
}

/// What a foreign strategy made of a text, and how much it says is missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Strategist {
    /// The text to show.
    pub content: String,
    /// How many lines it left out.
    #[serde(alias = "removedLines")]
    pub removed_lines: Option<f64>,
    /// How many bytes it left out.
    #[serde(alias = "removedBytes")]
    pub removed_bytes: Option<f64>,
    /// The end is shown, not the beginning.
    pub tail: bool,
    /// What the caller's own store said, if there is one.
    pub saved: Option<Saved>,
}

impl Strategist {
    /// Reads it from JSON.
    pub fn parse(json: &str) -> Result<Strategist, Fault> {
        Ok(serde_json::from_str(json)?)
    }
}

/// Asks a strategy nothing yet, but notes what it would be asked.
pub(crate) type Wanted = Arc<Mutex<Vec<(Vec<u8>, Limits)>>>;

pub(crate) fn noting(wanted: &Wanted) -> Opaque {
    let wanted = Arc::clone(wanted);
    Opaque::new(move |text, room| {
        lock(&wanted).push((text.to_vec(), room.limits));
        Vec::new()
    })
}

/// Shows what a strategy made of each text, in order.
pub(crate) fn given(made: &[String]) -> Opaque {
    let made: Mutex<VecDeque<String>> = Mutex::new(made.iter().cloned().collect());
    Opaque::new(move |_, _| lock(&made).pop_front().unwrap_or_default().into_bytes())
}

/// A store that has kept everything already, or has said why not. It takes no bytes.
pub(crate) struct Given(Mutex<VecDeque<Saved>>);

impl Given {
    pub(crate) fn new(saved: &[Saved]) -> Given {
        Given(Mutex::new(saved.iter().cloned().collect()))
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of an output that a foreign store keeps.
fn entry(id: Id, path: &Path, context: Context, profile: &str, summary: &Summary) -> Entry {
    Entry {
        id,
        path: Some(path.to_owned()),
        host: None,
        upload_state: UploadState::Uploaded,
        created: id.time(),
        context,
        profile: profile.to_owned(),
        reading: Reading::Plain,
        bytes: summary.original.bytes,
        completeness: EntryState::Complete,
        pin: Pin::Loose,
        summary: Some(summary.clone()),
    }
}

impl Store for Given {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        let refused = |reason: String| StoreError::Refused { reason };
        match lock(&self.0).pop_front() {
            None => Err(refused("the store said nothing".to_owned())),
            Some(Saved::Error(reason)) => Err(refused(reason)),
            Some(Saved::Path(path)) => {
                let now = SystemTime::now();
                let random =
                    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).subsec_nanos();
                Ok(Box::new(GivenWriter {
                    id: Id::new(now, u64::from(random)),
                    path: PathBuf::from(path),
                    context: draft.context.clone(),
                    profile: draft.profile.to_owned(),
                }))
            }
        }
    }

    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        Ok(Vec::new())
    }

    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        Err(StoreError::NotFound { id: id.to_string() })
    }

    fn read(&self, id: &Id, _offset: u64, _buffer: &mut [u8]) -> Result<usize, StoreError> {
        Err(StoreError::NotFound { id: id.to_string() })
    }

    fn pin(&self, id: &Id, _pin: Pin) -> Result<(), StoreError> {
        Err(StoreError::NotFound { id: id.to_string() })
    }

    fn remove(&self, _id: &Id) -> Result<(), StoreError> {
        Ok(())
    }
}

struct GivenWriter {
    id: Id,
    path: PathBuf,
    context: Context,
    profile: String,
}

impl Writer for GivenWriter {
    fn id(&self) -> Id {
        self.id
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn write(&mut self, _bytes: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn commit(self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError> {
        Ok(entry(self.id, &self.path, self.context, &self.profile, summary))
    }
}
