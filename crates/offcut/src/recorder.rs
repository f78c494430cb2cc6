//! Stores the bytes of one output, and keeps track of whether all of them were stored.

use crate::background_writer::BackgroundWriter;
use crate::builder::Storage;
use crate::cut::{Gap, Size};
use crate::outcome::{Saved, StoredPart};
use crate::store::{Digester, EntryState, Id, NewEntry, Store, StoreError, Summary, UploadState};
use crate::terminal::printable;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A longer reason is truncated: a notice quotes it.
const MAX_REASON_CHARS: usize = 1000;

/// How a command ended.
///
/// ```
/// use offcut::{CommandEnd, Context, Profile, Truncator};
///
/// let truncator = Truncator::new(Profile::native());
/// let mut spool = truncator.spool(Context::tool("bash"));
/// spool.observe("a line\n".repeat(100_000).as_bytes());
/// let end = CommandEnd { exit_code: Some(1), status: "exit 1".to_owned(), ..CommandEnd::default() };
/// assert!(spool.finish_with(end).text().contains("exit 1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEnd {
    /// Its exit code, if it has one.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub duration: Option<Duration>,
    /// What the footer of a preview says about it, such as `exit 1 after 2.5 s`; nothing if empty.
    pub status: String,
}

impl CommandEnd {
    /// Whether the command failed: it ended with another exit code than 0, or by a signal.
    pub fn is_failure(&self) -> bool {
        self.exit_code.is_some_and(|code| code != 0) || self.signal.is_some()
    }
}

/// Whether an output is complete when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputState {
    /// Nothing more will come.
    Ended,
    /// A process still has it open, so more may come.
    StillRunning,
}

/// What will become of the output, as far as that is known before it is committed.
#[derive(Clone, Debug)]
pub(crate) enum Outlook {
    /// It is being written.
    Keeping { id: Id, path: Option<PathBuf>, upload_state: UploadState },
    /// Not all of it can be stored.
    Losing { error: String },
    /// No store is set.
    Off,
}

pub(crate) struct Recorder {
    state: State,
    digester: Digester,
    written: u64,
    has_write_error: bool,
    /// The most bytes that are stored of one output.
    cap: u64,
    /// Whether a shared store has the bytes.
    upload_state: UploadState,
}

enum State {
    Off,
    Writing {
        store: Arc<dyn Store>,
        writer: BackgroundWriter,
        id: Id,
        path: Option<PathBuf>,
    },
    /// Writing failed. The writer remains, so that the entry of the stored part can be closed.
    Broken {
        store: Arc<dyn Store>,
        writer: BackgroundWriter,
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
                Ok(writer) => State::Writing {
                    store: Arc::clone(store),
                    id: writer.id(),
                    path: writer.path().map(PathBuf::from),
                    writer: BackgroundWriter::new(writer),
                },
                Err(error) => State::Failed { error: one_line(&error) },
            },
        };
        Recorder {
            state,
            digester: Digester::new(),
            written: 0,
            has_write_error: false,
            cap,
            upload_state: UploadState::Uploaded,
        }
    }

    pub(crate) fn write(&mut self, chunk: &[u8]) {
        let State::Writing { writer, .. } = &mut self.state else { return };
        let room = usize::try_from(self.cap - self.written).unwrap_or(usize::MAX);
        let kept = &chunk[..chunk.len().min(room)];
        let result = writer.write(kept);
        if result.is_ok() {
            self.digester.update(kept);
            self.written += kept.len() as u64;
        }
        match result {
            Err(error) => self.fail_to_write(&error),
            Ok(()) if kept.len() < chunk.len() => {
                self.give_up(format!("one output may have at most {} bytes (max_output)", self.cap));
            }
            Ok(()) => {}
        }
    }

    fn fail_to_write(&mut self, error: &StoreError) {
        self.has_write_error = true;
        self.give_up(one_line(error));
    }

    /// Stores no more, because of this error.
    pub(crate) fn give_up(&mut self, error: String) {
        self.state = match std::mem::replace(&mut self.state, State::Off) {
            State::Writing { store, writer, .. } => State::Broken { store, writer, error },
            other => other,
        };
    }

    /// Waits until everything is written, so that an error is known. An output that is still running is not uploaded yet.
    pub(crate) fn wait_until_written(&mut self, flow: OutputState) {
        if let State::Writing { writer, .. } | State::Broken { writer, .. } = &mut self.state
            && let Err(error) = writer.wait()
        {
            self.fail_to_write(&error);
        }
        if flow == OutputState::Ended
            && let State::Writing { writer, .. } = &mut self.state
            && let Some(writer) = writer.get_mut()
        {
            self.upload_state = writer.flush();
        }
    }

    pub(crate) fn outlook(&self) -> Outlook {
        match &self.state {
            State::Off => Outlook::Off,
            State::Writing { id, path, .. } => {
                Outlook::Keeping { id: *id, path: path.clone(), upload_state: self.upload_state.clone() }
            }
            State::Broken { error, .. } | State::Failed { error } => Outlook::Losing { error: error.clone() },
        }
    }

    /// Removes the entry, because all of the output is shown.
    pub(crate) fn discard(self) {
        if let State::Writing { store, writer, .. } | State::Broken { store, writer, .. } = self.state
            && let Ok(writer) = writer.into_writer()
        {
            let id = writer.id();
            drop(writer);
            let _ = store.remove(&id);
        }
    }

    /// Closes the entry. Only a store that accepted every byte has the whole output.
    ///
    /// The entry of an output that is still running stays open: the file is for the process that reads the rest.
    pub(crate) fn commit(
        self,
        original: Size,
        lines: u64,
        shown: Size,
        gaps: &[Gap],
        ending: &CommandEnd,
        flow: OutputState,
    ) -> (Saved, Option<File>) {
        let Recorder { state, digester, has_write_error, .. } = self;
        let (store, writer, broken) = match state {
            State::Off => return (Saved::Disabled, None),
            State::Failed { error } => return (Saved::Failed { error, part: None }, None),
            State::Writing { store, writer, .. } => (store, writer, None),
            State::Broken { store, writer, error } => (store, writer, Some(error)),
        };
        let not_whole = |error: &StoreError| (Saved::Failed { error: one_line(error), part: None }, None);
        let writer = match writer.into_writer() {
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
            // If writing failed, only the store knows how much of the last chunk was written.
            let summary = summary(if has_write_error { stored_digest(&*store, &id) } else { digester });
            let entry = writer.commit(EntryState::Capped { reason: error.clone() }, &summary);
            // On a full disk the metadata may be refused although the bytes are there.
            let bytes = entry.or_else(|_| store.entry(&id)).map_or(0, |entry| entry.bytes);
            if bytes == 0 {
                let _ = store.remove(&id);
                return (Saved::Failed { error, part: None }, None);
            }
            return (Saved::Failed { error, part: Some(StoredPart { id, bytes }) }, None);
        }
        let summary = summary(digester);
        match (flow, writer.file()) {
            (OutputState::Ended, _) => match writer.commit(EntryState::Complete, &summary) {
                Ok(entry) => (Saved::Complete(Box::new(entry)), None),
                Err(error) => not_whole(&error),
            },
            (OutputState::StillRunning, Some(file)) => match writer.commit(EntryState::Running, &summary) {
                Ok(entry) => (Saved::Running(Box::new(entry)), Some(file)),
                Err(error) => not_whole(&error),
            },
            (OutputState::StillRunning, None) => {
                let reason = "the output continued after it was shown".to_owned();
                let _ = writer.commit(EntryState::Capped { reason: reason.clone() }, &summary);
                (Saved::Failed { error: reason, part: None }, None)
            }
        }
    }
}

/// The digests of the bytes that an entry has so far.
fn stored_digest(store: &dyn Store, id: &Id) -> Digester {
    let mut digester = Digester::new();
    let mut block = vec![0; 256 << 10];
    while let Ok(count @ 1..) = store.read(id, digester.count(), &mut block) {
        digester.update(&block[..count]);
    }
    digester
}

/// The error in one line for a notice. The cause comes first, because the end may be cut off.
fn one_line(error: &StoreError) -> String {
    let text = match error {
        StoreError::Io { action, place, error } => format!("{error} (cannot {action} {place})"),
        other => other.to_string(),
    };
    printable(&text, MAX_REASON_CHARS)
}
