//! What is only on this machine, and how it gets to the store.

use crate::engine::{Answer, Client, Pending, Wait};
use crate::fleet::{FleetStore, Shared};
use crate::landmarks::{self, Landmarks};
use crate::layout;
use crate::notes::{self, is_locked_within};
use crate::remote::{self, Guard};
use crate::trouble;
use crate::upload::{End, PART, Progress, Source, upload};
use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use offcut::store::{Entry, EntryState, Id, Item, Pin, Selection, Store, StoreError, UploadState};
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// While the store is known to be away, a writer waits no longer than this for it to be back.
const IMPATIENT: Duration = Duration::from_secs(1);

/// One description is written within this, when nobody waits.
const UNHURRIED: Duration = Duration::from_secs(60);

/// How long somebody else may take for what they are at.
const OTHERS: Duration = Duration::from_secs(30);

/// What only this machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many outputs.
    pub entries: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// What the store's last failure was, if it is not over.
    pub reason: Option<String>,
}

/// What was moved to the store.
#[derive(Debug, Default)]
pub struct Moved {
    /// How many outputs.
    pub entries: u64,
    /// How many bytes they had.
    pub bytes: u64,
    /// Why not all of them, if it is not because they are being written.
    pub error: Option<StoreError>,
}

impl FleetStore {
    /// What only this machine has. Asks nobody else.
    pub fn waiting(&self) -> Result<Waiting, StoreError> {
        let items = self.waiting_items(&Selection::default())?;
        Ok(Waiting {
            entries: items.len() as u64,
            bytes: items.iter().map(|item| item.bytes).sum(),
            reason: self.0.notes.trouble(),
        })
    }

    /// Whether this machine has anything that the store has not. Costs no more than looking into a folder.
    pub fn has_waiting(&self) -> bool {
        self.0.local.ids().is_ok_and(|ids| !ids.is_empty())
    }

    /// Those of the wanted outputs that only this machine has, newest first. Asks nobody else.
    pub fn waiting_items(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        self.0.waiting_items(selection)
    }

    /// Moves what has waited to the store. Stops at the first failure: the store is away then.
    ///
    /// Several processes may do this at once; one of them does the work.
    pub fn move_up(&self) -> Result<Moved, StoreError> {
        let mut moved = Moved::default();
        let uploads = self.0.notes.uploads();
        // Looked for in this order: what has begun since has an entry.
        let ids = self.0.local.ids()?;
        let orphans: Vec<Id> = uploads.into_iter().filter(|id| ids.binary_search(id).is_err()).collect();
        if ids.is_empty() && orphans.is_empty() {
            return Ok(moved);
        }
        // One moves, and one waits to do so: whoever was first may have begun before the store was back.
        let Some(waits) = self.0.notes.turn("next", Duration::ZERO)? else { return Ok(moved) };
        let Some(_moves) = self.0.notes.turn("moving", OTHERS)? else { return Ok(moved) };
        drop(waits);
        for id in &orphans {
            self.0.abort_what_was_left(id)?;
        }
        for id in self.0.local.ids()? {
            let Ok(entry) = self.0.local.entry(&id) else { continue };
            if entry.completeness == EntryState::Writing {
                continue;
            }
            match self.0.move_one(&entry) {
                Ok(Some(())) => {
                    moved.entries += 1;
                    moved.bytes += entry.bytes;
                }
                Ok(None) => {}
                Err(error) => {
                    self.0.notes.went_away(&error.to_string());
                    moved.error = Some(error);
                    break;
                }
            }
        }
        if moved.error.is_none() {
            self.0.notes.came_back();
        }
        Ok(moved)
    }
}

impl Shared {
    /// How long a writer may wait: not long again and again for a store that is away.
    pub(crate) fn patience(&self) -> Duration {
        let deadline = self.options.deadline;
        if self.notes.is_away((self.options.clock)()) { deadline.min(IMPATIENT) } else { deadline }
    }

    /// What to say when the time is up: what is known to be wrong, or only that.
    pub(crate) fn too_slow(&self) -> String {
        let location = &self.engine.location;
        self.notes.trouble().unwrap_or_else(|| {
            format!("{location}: the store did not take it in time; it goes up in the background")
        })
    }

    /// Begins to upload a file under this id.
    pub(crate) fn start_upload(
        &self,
        id: &Id,
        file: File,
        progress: watch::Receiver<Progress>,
        part: u64,
    ) -> Result<Pending<Landmarks>, StoreError> {
        let (key, probe) = (self.engine.layout.output(id), self.engine.layout.probe());
        let (known, memo) = (Arc::clone(&self.guard), self.notes.overwrites());
        let (record, root) = (self.notes.upload(id), self.engine.layout.folder("entry"));
        self.engine.start(move |client| async move {
            let uploaded = async {
                let guard = guard(&client, &probe, &known, &memo).await?;
                let client = Arc::clone(&client);
                upload(client, Source { file: Arc::new(file), progress, key, record, guard, part }).await
            };
            match uploaded.await {
                Err(error) => Err(remote::reason(&client, &root, error).await),
                uploaded => uploaded,
            }
        })
    }

    /// Describes an entry whose bytes have arrived: from now on it is in the store.
    pub(crate) fn publish(&self, entry: &Entry, landmarks: &Landmarks, until: Instant) -> Result<(), String> {
        let layout = &self.engine.layout;
        let settled = Entry { upload_state: UploadState::Uploaded, ..entry.clone() };
        let (key, text) = (layout.entry(&settled), Bytes::from(settled.to_json()));
        let index = (entry.bytes >= landmarks::FROM)
            .then(|| (layout.lines(&entry.id), Bytes::from(landmarks.to_json())));
        let pin = (entry.pin == Pin::Pinned).then(|| layout.pin(&entry.id));
        let (probe, known, memo) = (layout.probe(), Arc::clone(&self.guard), self.notes.overwrites());
        let pending = self.engine.start(move |client| async move {
            if let Some((key, text)) = index {
                remote::put(&client, &key, text).await?;
            }
            if let Some(key) = pin {
                remote::put(&client, &key, Bytes::new()).await?;
            }
            let guard = guard(&client, &probe, &known, &memo).await?;
            remote::put_new(&client, &key, text, guard).await
        });
        match pending.map_err(|error| error.to_string())?.wait_until(until) {
            Wait::Done(answer) => {
                answer.map_err(|error| trouble::explained(&self.engine.location, &error).to_string())
            }
            Wait::TimeIsUp => Err(format!("{}: the store did not take it in time", self.engine.location)),
        }
    }

    /// Moves one entry up. Nothing if somebody else is at it.
    fn move_one(&self, entry: &Entry) -> Result<Option<()>, StoreError> {
        let Some(path) = &entry.path else { return Ok(None) };
        let Ok(file) = File::open(path) else { return Ok(None) };
        // Whoever wrote it may still be about to describe it; if that succeeds the file goes.
        if !is_locked_within(&file, OTHERS) || !path.exists() {
            return Ok(None);
        }
        self.abort_what_was_left(&entry.id)?;
        self.clear_the_way(entry)?;
        let refused = |error: &object_store::Error| trouble::explained(&self.engine.location, error);
        let (_keep, progress) = watch::channel(Progress { written: entry.bytes, end: End::Reached });
        let part = PART.max(entry.bytes.div_ceil(9000).next_multiple_of(1 << 20));
        let upload = self.start_upload(
            &entry.id,
            file.try_clone().map_err(|error| StoreError::Io {
                tried: "read",
                place: path.display().to_string(),
                error,
            })?,
            progress,
            part,
        )?;
        let landmarks = upload.wait().map_err(|error| refused(&error))?;
        let entry = Entry { path: None, host: self.options.host.clone(), ..entry.clone() };
        self.publish(&entry, &landmarks, Instant::now() + UNHURRIED)
            .map_err(|reason| StoreError::Refused { reason })?;
        self.local.remove(&entry.id)?;
        Ok(Some(()))
    }

    /// Removes bytes under this id that nobody described and that are not these: of an attempt that was broken off.
    fn clear_the_way(&self, entry: &Entry) -> Result<(), StoreError> {
        let (key, size) = (self.engine.layout.output(&entry.id), entry.bytes);
        let id = entry.id;
        let beginning = self.engine.layout.entries_like(&layout::day(&id), &format!("{id}."));
        self.engine.run(move |client| async move {
            match remote::head(&client, &key).await? {
                Some(found) if found.size != size && remote::first(&client, &beginning).await?.is_none() => {
                    client.delete(&key).await
                }
                _ => Ok(()),
            }
        })
    }

    /// Ends an upload in parts that died with its process, so that the server forgets the parts.
    fn abort_what_was_left(&self, id: &Id) -> Result<(), StoreError> {
        let record = self.notes.upload(id);
        let Ok(upload) = std::fs::read_to_string(&record) else { return Ok(()) };
        let key: Key = self.engine.layout.output(id);
        self.engine.run(move |client| async move {
            match client.abort_multipart(&key, &upload).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                ended => ended,
            }
        })?;
        let _ = std::fs::remove_file(&record);
        Ok(())
    }
}

/// Who keeps objects from being overwritten: asked once, and remembered on this machine.
async fn guard(client: &Client, probe: &Key, known: &OnceLock<Guard>, memo: &Path) -> Answer<Guard> {
    if let Some(guard) = known.get() {
        return Ok(*guard);
    }
    let guard = match std::fs::read_to_string(memo).as_deref() {
        Ok("never") => Guard::Server,
        Ok("always") => Guard::Look,
        _ => {
            let guard = remote::probe(client, probe).await?;
            let _ = notes::write(memo, if guard == Guard::Server { "never" } else { "always" });
            guard
        }
    };
    Ok(*known.get_or_init(|| guard))
}
