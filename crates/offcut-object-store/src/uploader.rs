//! Outputs that are only on this machine, and how they are uploaded.

use crate::connection::Pending;
use crate::errors::{Failure, explained};
use crate::fleet::{FleetStore, Shared};
use crate::line_index::{self, LineIndex};
use crate::local_index::try_lock_within;
use crate::location::Location;
use crate::transfer::{PART_SIZE, Progress, Source, upload};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::multipart::MultipartStore;
use offcut::store::{Entry, EntryFilter, EntryState, Id, Pin, Store, StoreError, UploadState};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The longest that a writer waits for a store that failed recently.
const SHORT_WAIT: Duration = Duration::from_secs(1);

/// The longest that the background uploader waits until an entry is published.
const PUBLISH_LIMIT: Duration = Duration::from_secs(60);

/// The longest that one process waits for another that works on the same output.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// The outputs that only this machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PendingUploads {
    /// The number of outputs.
    pub entries: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The store's last failure, if nothing succeeded since.
    pub reason: Option<String>,
}

/// What [`FleetStore::upload_pending`] uploaded.
#[derive(Debug, Default)]
pub struct UploadReport {
    /// The number of outputs.
    pub entries: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// The first failure. Outputs that are still being written are no failure.
    pub error: Option<StoreError>,
}

/// Why an output could not be uploaded.
pub(crate) struct UploadFailure {
    pub(crate) error: StoreError,
    /// Whether the store may accept another output.
    is_of_output: bool,
}

impl UploadFailure {
    fn new(location: &Location, error: &object_store::Error) -> UploadFailure {
        UploadFailure { error: explained(location, error), is_of_output: Failure::of(error).is_of_object() }
    }
}

impl From<StoreError> for UploadFailure {
    fn from(error: StoreError) -> Self {
        UploadFailure { error, is_of_output: false }
    }
}

impl FleetStore {
    /// The outputs that only this machine has. Makes no request.
    pub fn pending(&self) -> Result<PendingUploads, StoreError> {
        let items = self.pending_items(&EntryFilter::default())?;
        Ok(PendingUploads {
            entries: items.len() as u64,
            bytes: items.iter().map(|item| item.bytes).sum(),
            reason: self.0.local_index.last_failure(),
        })
    }

    /// Whether this machine has outputs that the store does not have. Reads one directory and makes no request.
    pub fn has_pending(&self) -> bool {
        self.0.local.ids().is_ok_and(|ids| !ids.is_empty())
    }

    /// The selected outputs that only this machine has, newest first. Makes no request.
    pub fn pending_items(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        self.0.pending_items(selection)
    }

    /// Uploads the outputs that only this machine has. Stops when the store is unavailable; an output that it refuses does
    /// not keep the others.
    ///
    /// Several processes may call this at once; one of them does the work.
    pub fn upload_pending(&self) -> Result<UploadReport, StoreError> {
        let mut report = UploadReport::default();
        let local_index = &self.0.local_index;
        // The records are read before the ids: an upload that starts in between has an entry.
        let mut interrupted = local_index.uploads();
        let ids = self.0.local.ids()?;
        interrupted.retain(|id| ids.binary_search(id).is_err());
        if ids.is_empty() && interrupted.is_empty() {
            return Ok(report);
        }
        // One process uploads and one waits for it, because the first may have read the spool before the last output.
        let Some(next) = local_index.lock("next", Duration::ZERO)? else { return Ok(report) };
        let Some(_uploading) = local_index.lock("moving", LOCK_WAIT)? else { return Ok(report) };
        drop(next);
        for id in &interrupted {
            self.0.abort_interrupted_upload(id)?;
        }
        for id in self.0.local.ids()? {
            let Ok(entry) = self.0.local.entry(&id) else { continue };
            // What a newer version wrote is left to that version.
            if matches!(entry.state, EntryState::Running | EntryState::Unsupported { .. }) {
                continue;
            }
            match self.0.upload_entry(&entry) {
                Ok(true) => {
                    // What failed before the settings were corrected is no longer the reason.
                    if report.error.is_none() {
                        local_index.clear_failure();
                    }
                    report.entries += 1;
                    report.bytes += entry.bytes;
                }
                Ok(false) => {}
                Err(UploadFailure { error, is_of_output }) => {
                    local_index.record_failure(&error.to_string());
                    report.error.get_or_insert(error);
                    if !is_of_output {
                        return Ok(report);
                    }
                }
            }
        }
        if report.error.is_none() {
            local_index.clear_failure();
        }
        Ok(report)
    }
}

impl Shared {
    /// When a writer whose output has just ended stops waiting. Soon, if the store failed recently.
    pub(crate) fn deadline(&self) -> Instant {
        let has_failed = self.local_index.has_recent_failure((self.options.clock)());
        let wait = self.options.deadline;
        Instant::now() + if has_failed { wait.min(SHORT_WAIT) } else { wait }
    }

    /// The reason to give when the deadline has passed: the last failure if there is one.
    pub(crate) fn deadline_reason(&self) -> String {
        let location = &self.connection.location;
        self.local_index.last_failure().unwrap_or_else(|| {
            format!("{location}: the upload did not finish in time; it continues in the background")
        })
    }

    /// Starts to upload a file under this id.
    pub(crate) fn start_upload(
        &self,
        id: &Id,
        path: &Path,
        progress: watch::Receiver<Progress>,
        part_size: u64,
    ) -> Result<Pending<LineIndex>, StoreError> {
        let file = File::open(path).map_err(|error| StoreError::Io {
            action: "read",
            place: path.display().to_string(),
            error,
        })?;
        let (key, entries) = (self.connection.layout.output(id), self.connection.layout.folder("entry"));
        let record = self.local_index.upload_record(id);
        let source = Source { file: Arc::new(file), progress, key, record, part_size };
        self.connection.start(move |remote| async move {
            match upload(&remote, source).await {
                Err(error) => Err(remote.reason(&entries, error).await),
                uploaded => uploaded,
            }
        })
    }

    /// The entry as other machines see it: without what may contain secrets, unless that is shared.
    pub(crate) fn as_uploaded(&self, entry: &Entry) -> Entry {
        let entry = Entry { upload_state: UploadState::Uploaded, ..entry.clone() };
        if self.options.share_commands { entry } else { entry.without_origin() }
    }

    /// Writes the metadata of an entry whose bytes are uploaded. This is what makes the entry visible to others.
    pub(crate) fn publish(
        &self,
        entry: &Entry,
        lines: &LineIndex,
        deadline: Instant,
    ) -> Result<(), UploadFailure> {
        let layout = &self.connection.layout;
        let entry = self.as_uploaded(entry);
        let (key, text) = (layout.entry(&entry), Bytes::from(entry.to_json()));
        let lines = (entry.bytes >= line_index::MIN_SIZE)
            .then(|| (layout.lines(&entry.id), Bytes::from(lines.to_json())));
        let pin = (entry.pin == Pin::Pinned).then(|| (layout.pin(&entry.id), Bytes::new()));
        let pending = self.connection.start(move |remote| async move {
            for (key, bytes) in lines.into_iter().chain(pin) {
                remote.put(&key, bytes).await?;
            }
            remote.put_new(&key, text).await
        });
        match pending?.wait_until(deadline) {
            Some(answer) => answer.map_err(|error| UploadFailure::new(&self.connection.location, &error)),
            None => Err(StoreError::Refused { reason: self.deadline_reason() }.into()),
        }
    }

    /// Uploads one entry and removes it from the spool. False if another process works on it.
    fn upload_entry(&self, entry: &Entry) -> Result<bool, UploadFailure> {
        let Some(path) = &entry.path else { return Ok(false) };
        let Ok(file) = File::open(path) else { return Ok(false) };
        // Its writer may be about to publish it; then the file is gone when the lock is free.
        if !try_lock_within(&file, LOCK_WAIT) || !path.exists() {
            return Ok(false);
        }
        // It may have been read before its writer had created the file. The next call uploads it.
        if file.metadata().map_or(true, |found| found.len() != entry.bytes) {
            return Ok(false);
        }
        self.abort_interrupted_upload(&entry.id)?;
        self.remove_partial_object(entry)?;
        let (_sender, progress) = watch::channel(Progress { written: entry.bytes, is_complete: true });
        let part_size = PART_SIZE.max(entry.bytes.div_ceil(9000).next_multiple_of(1 << 20));
        let upload = self.start_upload(&entry.id, path, progress, part_size)?;
        let lines = upload.wait().map_err(|error| UploadFailure::new(&self.connection.location, &error))?;
        let entry = Entry { path: None, host: self.options.host.clone(), ..entry.clone() };
        self.publish(&entry, &lines, Instant::now() + PUBLISH_LIMIT)?;
        self.local.remove(&entry.id)?;
        Ok(true)
    }

    /// Removes an unpublished object of another size under this id, which an interrupted attempt left.
    fn remove_partial_object(&self, entry: &Entry) -> Result<(), StoreError> {
        let (id, size) = (entry.id, entry.bytes);
        self.connection.run(move |remote| async move {
            let (key, entries) = (remote.layout.output(&id), remote.layout.entry_prefix(&id));
            match remote.head(&key).await? {
                Some(found) if found.size != size && remote.first(&entries).await?.is_none() => {
                    remote.client.delete(&key).await
                }
                _ => Ok(()),
            }
        })
    }

    /// Aborts an upload in parts whose process has died, so that the server removes the parts.
    fn abort_interrupted_upload(&self, id: &Id) -> Result<(), StoreError> {
        let record = self.local_index.upload_record(id);
        let Ok(upload) = std::fs::read_to_string(&record) else { return Ok(()) };
        let key = self.connection.layout.output(id);
        self.connection.run(move |remote| async move {
            match remote.client.abort_multipart(&key, &upload).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) if Failure::of(&error).has_code("NoSuchUpload") => Ok(()),
                aborted => aborted,
            }
        })?;
        let _ = std::fs::remove_file(&record);
        Ok(())
    }
}
