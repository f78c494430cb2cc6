//! Keeps the bytes of one output in a store, and remembers honestly how that went.

use crate::background_writer::BackgroundWriter;
use crate::builder::Storage;
use crate::cut::{Gap, Size};
use crate::outcome::{Saved, StoredPart};
use crate::store::{Digester, EntryState, Id, NewEntry, Store, StoreError, Summary, UploadState};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How the command ended whose output this is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEnd {
    /// Its exit code, if it was a command and has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub duration: Option<Duration>,
    /// What the last line of a preview says about it, such as `exit code 1 after 2.5 s`; nothing if empty.
    pub remark: String,
}

/// Whether an output is over when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Nothing more will come.
    Ended,
    /// Somebody still holds it open.
    GoesOn,
}

/// What will probably become of the output, known before it is committed.
#[derive(Clone, Debug)]
pub(crate) enum Outlook {
    /// It is being written.
    Keeping { id: Id, path: Option<PathBuf>, upload_state: UploadState },
    /// It will not be kept, at least not whole.
    Losing { error: String },
    /// Nobody wants it kept.
    Off,
}

pub(crate) struct Recorder {
    state: State,
    digester: Digester,
    written: u64,
    /// The most that is kept of one output.
    cap: u64,
    /// Where the bytes are, as far as that is known.
    upload_state: UploadState,
}

enum State {
    Off,
    Writing {
        store: Arc<dyn Store>,
        pen: BackgroundWriter,
    },
    /// Writing failed; the writer is still there, so that what was kept can be told.
    Broken {
        store: Arc<dyn Store>,
        pen: BackgroundWriter,
        error: String,
    },
    Failed {
        error: String,
    },
}

impl Recorder {
    pub(crate) fn open(storage: &Storage, new: &NewEntry<'_>, cap: u64) -> Recorder {
        let state = match storage {
            Storage::Off => State::Off,
            Storage::Unavailable(error) => State::Failed { error: error.clone() },
            Storage::To(store) => match store.create(new) {
                Ok(writer) => State::Writing { store: Arc::clone(store), pen: BackgroundWriter::new(writer) },
                Err(error) => State::Failed { error: one_line(&error) },
            },
        };
        Recorder { state, digester: Digester::new(), written: 0, cap, upload_state: UploadState::Uploaded }
    }

    pub(crate) fn write(&mut self, chunk: &[u8]) {
        let State::Writing { pen, .. } = &mut self.state else { return };
        let room = usize::try_from(self.cap - self.written).unwrap_or(usize::MAX);
        let kept = &chunk[..chunk.len().min(room)];
        let result = pen.write(kept);
        if result.is_ok() {
            self.digester.update(kept);
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
            State::Writing { store, pen } => State::Broken { store, pen, error },
            other => other,
        };
    }

    /// Waits until everything is written, so that how it went is known.
    ///
    /// What goes on is not yet anybody's to have: it is not brought to where it belongs.
    pub(crate) fn catch_up(&mut self, flow: Flow) {
        if let State::Writing { pen, .. } | State::Broken { pen, .. } = &mut self.state
            && let Err(error) = pen.come_back()
        {
            self.give_up(one_line(&error));
        }
        if flow == Flow::Ended
            && let State::Writing { pen, .. } = &mut self.state
            && let Some(writer) = pen.writer_mut()
        {
            self.upload_state = writer.flush();
        }
    }

    pub(crate) fn outlook(&self) -> Outlook {
        match &self.state {
            State::Off => Outlook::Off,
            State::Writing { pen, .. } => match pen.writer() {
                Some(writer) => Outlook::Keeping {
                    id: writer.id(),
                    path: writer.path().map(PathBuf::from),
                    upload_state: self.upload_state.clone(),
                },
                None => Outlook::Losing { error: "the store's writer broke down".to_owned() },
            },
            State::Broken { error, .. } | State::Failed { error } => Outlook::Losing { error: error.clone() },
        }
    }

    /// Forgets the entry: the output turned out to be shown whole.
    pub(crate) fn discard(self) {
        if let State::Writing { store, pen } | State::Broken { store, pen, .. } = self.state
            && let Ok(writer) = pen.into_writer()
        {
            let id = writer.id();
            drop(writer);
            let _ = store.remove(&id);
        }
    }

    /// Closes the entry. Only a store that took every byte and said so has kept the output.
    ///
    /// The entry of an output that goes on stays open: the file is for whoever takes in the rest.
    pub(crate) fn commit(
        self,
        original: Size,
        lines: u64,
        shown: Size,
        gaps: &[Gap],
        ending: &CommandEnd,
        flow: Flow,
    ) -> (Saved, Option<File>) {
        let Recorder { state, digester, .. } = self;
        let (store, pen, broken) = match state {
            State::Off => return (Saved::Disabled, None),
            State::Failed { error } => return (Saved::Failed { error, part: None }, None),
            State::Writing { store, pen } => (store, pen, None),
            State::Broken { store, pen, error } => (store, pen, Some(error)),
        };
        let not_whole = |error: &StoreError| (Saved::Failed { error: one_line(error), part: None }, None);
        let writer = match pen.into_writer() {
            Ok(writer) => writer,
            Err(error) => return not_whole(&error),
        };
        let summary = |digester: Digester| {
            let (digest, block_digests) = digester.finish();
            let CommandEnd { exit_code, signal, duration, .. } = *ending;
            let gaps = gaps.to_vec();
            Summary { original, lines, digest, block_digests, exit_code, signal, duration, shown, gaps }
        };
        if let Some(error) = broken {
            let id = writer.id();
            // How much of the last chunk was written, only the store knows.
            let summary = summary(stored_digest(&*store, &id));
            let entry = writer.commit(EntryState::Capped { reason: error.clone() }, &summary);
            // On a full disk even the metadata may be refused; the bytes are there all the same.
            let bytes = entry.or_else(|_| store.entry(&id)).map_or(0, |entry| entry.bytes);
            if bytes == 0 {
                let _ = store.remove(&id);
                return (Saved::Failed { error, part: None }, None);
            }
            return (Saved::Failed { error, part: Some(StoredPart { id, bytes }) }, None);
        }
        let summary = summary(digester);
        match (flow, writer.file()) {
            (Flow::Ended, _) => match writer.commit(EntryState::Complete, &summary) {
                Ok(entry) => (Saved::Complete(Box::new(entry)), None),
                Err(error) => not_whole(&error),
            },
            (Flow::GoesOn, Some(file)) => match writer.commit(EntryState::Running, &summary) {
                Ok(entry) => (Saved::Running(Box::new(entry)), Some(file)),
                Err(error) => not_whole(&error),
            },
            (Flow::GoesOn, None) => {
                let reason = "the output went on after it was shown".to_owned();
                let _ = writer.commit(EntryState::Capped { reason: reason.clone() }, &summary);
                (Saved::Failed { error: reason, part: None }, None)
            }
        }
    }
}

/// The digests of what is stored of an entry so far.
fn stored_digest(store: &dyn Store, id: &Id) -> Digester {
    let mut digester = Digester::new();
    let mut block = vec![0; 256 << 10];
    while let Ok(count @ 1..) = store.read(id, digester.count(), &mut block) {
        digester.update(&block[..count]);
    }
    digester
}

/// Error texts go into one line of a notice, which may have to be cut: the reason comes first.
fn one_line(error: &StoreError) -> String {
    let text = match error {
        StoreError::Io { action, place, error } => format!("{error} (cannot {action} {place})"),
        other => other.to_string(),
    };
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
