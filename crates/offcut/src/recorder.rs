//! Keeps the bytes of one output in a store, and remembers honestly how that went.

use crate::context::Context;
use crate::cut::{Gap, Size};
use crate::profile::Profile;
use crate::store::{Completeness, Draft, Id, Store, StoreError, Summary, Writer};
use crate::truncator::{Kept, Part, Storage};
use std::path::PathBuf;
use std::sync::Arc;

/// How the command ended whose output this is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Its exit code, if it was a command and has one.
    pub exit_code: Option<i32>,
}

/// What will probably become of the output, known before it is committed.
#[derive(Clone, Debug)]
pub(crate) enum Outlook {
    /// It is being written.
    Keeping { id: Id, path: Option<PathBuf> },
    /// It will not be kept, at least not whole.
    Losing { error: String },
    /// Nobody wants it kept.
    Off,
}

pub(crate) struct Recorder {
    state: State,
    hasher: blake3::Hasher,
    written: u64,
    /// The most that is kept of one output.
    cap: u64,
}

enum State {
    Off,
    Writing {
        store: Arc<dyn Store>,
        writer: Box<dyn Writer>,
    },
    /// Writing failed; the writer is still there, so that what was kept can be told.
    Broken {
        store: Arc<dyn Store>,
        writer: Box<dyn Writer>,
        error: String,
    },
    Failed {
        error: String,
    },
}

impl Recorder {
    pub(crate) fn open(storage: &Storage, profile: &Profile, context: &Context, cap: u64) -> Recorder {
        let state = match storage {
            Storage::Off => State::Off,
            Storage::Unavailable(error) => State::Failed { error: error.clone() },
            Storage::To(store) => {
                let draft = Draft { context, profile: &profile.name, file_name: &profile.file_name };
                match store.create(&draft) {
                    Ok(writer) => State::Writing { store: Arc::clone(store), writer },
                    Err(error) => State::Failed { error: one_line(&error) },
                }
            }
        };
        Recorder { state, hasher: blake3::Hasher::new(), written: 0, cap }
    }

    pub(crate) fn write(&mut self, chunk: &[u8]) {
        let State::Writing { writer, .. } = &mut self.state else { return };
        let room = usize::try_from(self.cap - self.written).unwrap_or(usize::MAX);
        let kept = &chunk[..chunk.len().min(room)];
        let result = writer.write(kept);
        if result.is_ok() {
            self.hasher.update(kept);
            self.written += kept.len() as u64;
        }
        match result {
            Err(error) => self.give_up(one_line(&error)),
            Ok(()) if kept.len() < chunk.len() => {
                self.give_up(format!("one output may have at most {} bytes (max_output)", self.cap));
            }
            Ok(()) => {}
        }
    }

    fn give_up(&mut self, error: String) {
        self.state = match std::mem::replace(&mut self.state, State::Off) {
            State::Writing { store, writer } => State::Broken { store, writer, error },
            other => other,
        };
    }

    pub(crate) fn outlook(&self) -> Outlook {
        match &self.state {
            State::Off => Outlook::Off,
            State::Writing { writer, .. } => {
                Outlook::Keeping { id: writer.id(), path: writer.path().map(PathBuf::from) }
            }
            State::Broken { error, .. } | State::Failed { error } => Outlook::Losing { error: error.clone() },
        }
    }

    /// Forgets the entry: the output turned out to be shown whole.
    pub(crate) fn discard(self) {
        if let State::Writing { store, writer } | State::Broken { store, writer, .. } = self.state {
            let id = writer.id();
            drop(writer);
            let _ = store.remove(&id);
        }
    }

    /// Closes the entry. Only a store that took every byte and said so has kept the output.
    pub(crate) fn commit(
        self,
        original: Size,
        lines: u64,
        shown: Size,
        gaps: &[Gap],
        ending: Ending,
    ) -> Kept {
        let summary = |completeness| Summary {
            original,
            lines,
            digest: self.hasher.finalize().to_hex().to_string(),
            completeness,
            exit_code: ending.exit_code,
            shown,
            gaps: gaps.to_vec(),
        };
        match self.state {
            State::Off => Kept::Off,
            State::Failed { error } => Kept::NotWhole { error, part: None },
            State::Writing { writer, .. } => match writer.commit(&summary(Completeness::Complete)) {
                Ok(entry) => Kept::Whole(Box::new(entry)),
                Err(error) => Kept::NotWhole { error: one_line(&error), part: None },
            },
            State::Broken { store, writer, error } => {
                let id = writer.id();
                let entry = writer.commit(&summary(Completeness::Partial { reason: error.clone() }));
                // On a full disk even the metadata may be refused; the bytes are there all the same.
                let bytes = entry.or_else(|_| store.entry(&id)).map_or(0, |entry| entry.bytes);
                if bytes == 0 {
                    let _ = store.remove(&id);
                    return Kept::NotWhole { error, part: None };
                }
                Kept::NotWhole { error, part: Some(Part { id, bytes }) }
            }
        }
    }
}

/// Error texts go into one line of a notice, which may have to be cut: the reason comes first.
fn one_line(error: &StoreError) -> String {
    let text = match error {
        StoreError::Io { tried, place, error } => format!("{error} (could not {tried} {place})"),
        other => other.to_string(),
    };
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
