//! Writes one output: to a file on this machine, and from there to the store.

use crate::connection::Pending;
use crate::errors::explained;
use crate::fleet::{Shared, lock};
use crate::line_index::LineIndex;
use crate::transfer::{PART_SIZE, Progress};
use offcut::store::{Entry, EntryState, Id, NewEntry, Store, StoreError, Summary, UploadState, Writer};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

pub(crate) struct FleetWriter {
    shared: Arc<Shared>,
    id: Id,
    local: Box<dyn Writer>,
    written: u64,
    progress: watch::Sender<Progress>,
    upload: Upload,
    /// When waiting for the upload ends; set when the output has ended.
    deadline: Option<Instant>,
}

enum Upload {
    NotStarted,
    InProgress(Pending<LineIndex>),
    Done(LineIndex),
    Failed(String),
}

impl FleetWriter {
    pub(crate) fn open(shared: &Arc<Shared>, new: &NewEntry<'_>) -> Result<FleetWriter, StoreError> {
        // Nobody reads the file by its name.
        let local = shared.local.create(&NewEntry { file_name: "{id}.txt", ..*new })?;
        lock(&shared.unpublished).insert(local.id());
        Ok(FleetWriter {
            shared: Arc::clone(shared),
            id: local.id(),
            local,
            written: 0,
            progress: watch::Sender::new(Progress::default()),
            upload: Upload::NotStarted,
            deadline: None,
        })
    }

    fn start(&mut self) {
        let (path, progress) = (self.local.path().unwrap_or(Path::new("")), self.progress.subscribe());
        self.upload = match self.shared.start_upload(&self.id, path, progress, PART_SIZE) {
            Ok(pending) => Upload::InProgress(pending),
            Err(error) => Upload::Failed(error.to_string()),
        };
    }

    /// Waits for the upload, until the deadline.
    fn wait(&mut self, deadline: Instant) {
        let Upload::InProgress(pending) = &self.upload else { return };
        self.upload = match pending.wait_until(deadline) {
            Some(Ok(lines)) => Upload::Done(lines),
            Some(Err(error)) => {
                Upload::Failed(explained(&self.shared.connection.location, &error).to_string())
            }
            None => Upload::Failed(self.shared.deadline_reason()),
        };
    }
}

impl Writer for FleetWriter {
    fn id(&self) -> Id {
        self.id
    }

    /// The file is removed when the output is uploaded, so its path is not for readers.
    fn path(&self) -> Option<&Path> {
        None
    }

    fn file(&self) -> Option<File> {
        self.local.file()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.local.write(bytes)?;
        self.written += bytes.len() as u64;
        let written = self.written;
        self.progress.send_modify(|progress| progress.written = written);
        if written > PART_SIZE && matches!(self.upload, Upload::NotStarted) {
            self.start();
        }
        Ok(())
    }

    fn flush(&mut self) -> UploadState {
        let deadline = *self.deadline.get_or_insert_with(|| self.shared.deadline());
        self.progress.send_modify(|progress| progress.is_complete = true);
        let was_started = !matches!(self.upload, Upload::NotStarted);
        if !was_started {
            self.start();
        }
        self.wait(deadline);
        // An upload that failed while the output still grew may succeed now.
        if was_started && matches!(self.upload, Upload::Failed(_)) && Instant::now() < deadline {
            self.start();
            self.wait(deadline);
        }
        match &self.upload {
            Upload::Failed(reason) => {
                self.shared.local_index.record_failure(reason);
                UploadState::LocalOnly { reason: reason.clone() }
            }
            _ => UploadState::Uploading,
        }
    }

    fn commit(mut self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError> {
        let upload_state = match state {
            EntryState::Running => {
                UploadState::LocalOnly { reason: "more of it is still being captured".to_owned() }
            }
            _ => self.flush(),
        };
        let FleetWriter { shared, id, local, upload, deadline, .. } = *self;
        // The lock on the file keeps other processes from uploading it at the same time.
        let _locked = local.file();
        let entry = local.commit(state, summary)?;
        lock(&shared.unpublished).remove(&id);
        let entry = Entry { path: None, host: shared.options.host.clone(), upload_state, ..entry };
        let (UploadState::Uploading, Upload::Done(lines), Some(deadline)) =
            (&entry.upload_state, upload, deadline)
        else {
            return Ok(entry);
        };
        match shared.publish(&entry, &lines, deadline) {
            Ok(()) => {
                shared.local_index.clear_failure();
                // If this fails the entry is in both places, and the background uploader removes it here.
                let _ = shared.local.remove(&id);
                Ok(shared.as_uploaded(&entry))
            }
            Err(failure) => {
                let reason = failure.error.to_string();
                shared.local_index.record_failure(&reason);
                Ok(Entry { upload_state: UploadState::LocalOnly { reason }, ..entry })
            }
        }
    }
}
