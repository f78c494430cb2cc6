//! Takes in one output: into a file on this machine, and from there to the store.

use crate::engine::{Pending, Wait};
use crate::fleet::{Shared, lock};
use crate::landmarks::Landmarks;
use crate::trouble;
use crate::upload::{End, PART, Progress};
use offcut::store::{Entry, EntryState, Id, NewEntry, Store, StoreError, Summary, UploadState, Writer};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

pub(crate) struct FleetWriter {
    shared: Arc<Shared>,
    id: Id,
    path: PathBuf,
    local: Box<dyn Writer>,
    written: u64,
    progress: watch::Sender<Progress>,
    upload: Upload,
    /// When waiting ends; set when the output has.
    until: Option<Instant>,
}

enum Upload {
    NotYet,
    UnderWay(Pending<Landmarks>),
    Done(Landmarks),
    Failed(String),
}

impl FleetWriter {
    pub(crate) fn open(shared: &Arc<Shared>, draft: &NewEntry<'_>) -> Result<FleetWriter, StoreError> {
        // Nobody reads the file by its name, so it needs no better one.
        let local = shared.local.create(&NewEntry { file_name: "{id}.txt", ..*draft })?;
        let path = local.path().map(Path::to_owned).ok_or_else(|| StoreError::Refused {
            reason: "the folder for what is on its way keeps no files".to_owned(),
        })?;
        lock(&shared.fresh).insert(local.id());
        Ok(FleetWriter {
            shared: Arc::clone(shared),
            id: local.id(),
            path,
            local,
            written: 0,
            progress: watch::Sender::new(Progress::default()),
            upload: Upload::NotYet,
            until: None,
        })
    }

    fn start(&mut self) {
        let file = File::open(&self.path).map_err(|error| error.to_string());
        let started = file.and_then(|file| {
            let progress = self.progress.subscribe();
            self.shared.start_upload(&self.id, file, progress, PART).map_err(|error| error.to_string())
        });
        self.upload = match started {
            Ok(pending) => Upload::UnderWay(pending),
            Err(reason) => Upload::Failed(reason),
        };
    }

    /// Waits for the upload, until the time is up.
    fn wait(&mut self, until: Instant) {
        let Upload::UnderWay(pending) = &self.upload else { return };
        self.upload = match pending.wait_until(until) {
            Wait::Done(Ok(landmarks)) => Upload::Done(landmarks),
            Wait::Done(Err(error)) => {
                Upload::Failed(trouble::explained(&self.shared.engine.location, &error).to_string())
            }
            Wait::TimeIsUp => Upload::Failed(self.shared.too_slow()),
        };
    }
}

impl Writer for FleetWriter {
    fn id(&self) -> Id {
        self.id
    }

    /// The file goes when the output has arrived, so nobody is told of it.
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
        if written > PART && matches!(self.upload, Upload::NotYet) {
            self.start();
        }
        Ok(())
    }

    fn flush(&mut self) -> UploadState {
        let until = *self.until.get_or_insert_with(|| Instant::now() + self.shared.patience());
        self.progress.send_modify(|progress| progress.end = End::Reached);
        let began_early = !matches!(self.upload, Upload::NotYet);
        if !began_early {
            self.start();
        }
        self.wait(until);
        // An upload that broke down while the output still came may have met a hiccup that is over.
        if began_early && matches!(self.upload, Upload::Failed(_)) && Instant::now() < until {
            self.start();
            self.wait(until);
        }
        match &self.upload {
            Upload::Failed(reason) => {
                self.shared.notes.went_away(reason);
                UploadState::LocalOnly { reason: reason.clone() }
            }
            _ => UploadState::Uploading,
        }
    }

    fn commit(mut self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError> {
        let goes_on = summary.completeness == EntryState::Writing;
        let upload_state = match goes_on {
            true => UploadState::LocalOnly { reason: "more of it is still being captured".to_owned() },
            false => self.flush(),
        };
        let FleetWriter { shared, id, local, upload, until, .. } = *self;
        // The lock on the file keeps others from moving it while we do.
        let _held = local.file();
        let entry = local.commit(summary)?;
        lock(&shared.fresh).remove(&id);
        let entry = Entry { path: None, host: shared.options.host.clone(), upload_state, ..entry };
        let (UploadState::Uploading, Upload::Done(landmarks), Some(until)) =
            (&entry.upload_state, upload, until)
        else {
            return Ok(entry);
        };
        match shared.publish(&entry, &landmarks, until) {
            Ok(()) => {
                shared.notes.came_back();
                // If this fails the entry is in both places, and whoever moves things up will see that.
                let _ = shared.local.remove(&id);
                Ok(Entry { upload_state: UploadState::Uploaded, ..entry })
            }
            Err(reason) => {
                shared.notes.went_away(&reason);
                Ok(Entry { upload_state: UploadState::LocalOnly { reason }, ..entry })
            }
        }
    }
}
