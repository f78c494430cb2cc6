//! Checks a store: the metadata, size and digests of every entry, what belongs to no entry, and permissions.
//!
//! The check reads every byte and changes nothing.

use crate::retention::PROTECTED_AGE;
use crate::retrieve::{ChecksumMismatch, VerifiedReader};
use crate::store::{BLOCK, Entry, EntryState, FsStore, Id, Store, StoreError, Stray, StrayKind};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many entries are read at a time.
const BATCH: usize = 4096;

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The id of an entry, or a path or key.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: Remedy,
}

/// What to do about a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Remove the entry.
    RemoveEntry(Id),
    /// Remove the file or object, if it is not needed: cleaning does not.
    RemoveFile(String),
    /// Clean the store.
    Clean,
    /// Make the file or directory private.
    MakePrivate(PathBuf),
    /// Find out why it cannot be read.
    Examine,
}

/// How much was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes read.
    pub bytes: u64,
    /// The number of entries that were left out: they are being written, or from a newer version of offcut.
    pub skipped: u64,
}

/// Checks these entries; `report` is called once for each, with its problem if it has one. Fails if the store cannot be used.
///
/// ```
/// use offcut::fsck;
/// use offcut::store::{MemoryStore, Store};
/// use std::time::SystemTime;
///
/// let store = MemoryStore::new(SystemTime::now);
/// let mut problems = Vec::new();
/// fsck::check_entries(&store, &store.ids()?, &mut |problem| problems.extend(problem))?;
/// fsck::check_surroundings(&store, SystemTime::now(), &mut |problem| problems.push(problem))?;
/// assert!(problems.is_empty());
/// # Ok::<(), offcut::store::StoreError>(())
/// ```
pub fn check_entries(
    store: &dyn Store,
    ids: &[Id],
    report: &mut dyn FnMut(Option<Problem>),
) -> Result<Checked, StoreError> {
    let mut checked = Checked::default();
    for batch in ids.chunks(BATCH) {
        for (id, entry) in batch.iter().zip(store.entries(batch)) {
            let wrong = match entry {
                // It was removed meanwhile.
                Err(StoreError::NotFound { .. }) => None,
                Err(StoreError::Damaged { reason, .. }) => {
                    Some((format!("cannot read the metadata: {reason}"), Remedy::RemoveEntry(*id)))
                }
                Err(error @ StoreError::Io { .. }) => Some((error.to_string(), Remedy::Examine)),
                Err(error) => return Err(error),
                Ok(entry) => {
                    checked.entries += 1;
                    match entry.state {
                        EntryState::Running | EntryState::Unsupported { .. } => {
                            checked.skipped += 1;
                            None
                        }
                        EntryState::Damaged { reason } => Some((reason, Remedy::RemoveEntry(*id))),
                        _ => damage(store, &entry, &mut checked)?
                            .map(|damage| (damage, Remedy::RemoveEntry(*id))),
                    }
                }
            };
            report(wrong.map(|(message, remedy)| Problem { place: id.to_string(), message, remedy }));
        }
    }
    Ok(checked)
}

/// What is wrong with the bytes of an entry.
fn damage(store: &dyn Store, entry: &Entry, checked: &mut Checked) -> Result<Option<String>, StoreError> {
    let reader = VerifiedReader::new(store, entry);
    let mut block = vec![0; entry.bytes.clamp(1, BLOCK) as usize];
    let mut offset = 0;
    loop {
        match reader.read(offset, &mut block) {
            Ok(0) => break,
            Ok(count) => offset += count as u64,
            Err(StoreError::NotFound { .. }) => return Ok(Some("the bytes are missing".to_owned())),
            Err(error @ StoreError::Io { .. }) => return Ok(Some(error.to_string())),
            Err(error) => return Err(error),
        }
    }
    checked.bytes += offset;
    if offset != entry.bytes {
        return Ok(Some(format!("it has {offset} bytes instead of {}", entry.bytes)));
    }
    Ok(reader.mismatches().first().map(|ChecksumMismatch { start, end, .. }| {
        format!("checksum mismatch in bytes {start}:{end}: modified after it was stored")
    }))
}

/// Checks what is beside the entries of a store: files or objects of no entry, except those that a writer may be at work on, and
/// permissions.
pub fn check_surroundings(
    store: &dyn Store,
    now: SystemTime,
    report: &mut dyn FnMut(Problem),
) -> Result<(), StoreError> {
    let is_old = |stray: &Stray| {
        let age = stray.modified.and_then(|modified| now.duration_since(modified).ok());
        age.is_none_or(|age| age > PROTECTED_AGE)
    };
    for stray in store.strays(StrayKind::Remnant)?.into_iter().filter(is_old) {
        let message = "left by a process that ended early".to_owned();
        report(Problem { place: stray.place, message, remedy: Remedy::Clean });
    }
    for stray in store.strays(StrayKind::Unknown)? {
        let message = "belongs to no stored output".to_owned();
        let remedy = Remedy::RemoveFile(stray.place.clone());
        report(Problem { place: stray.place, message, remedy });
    }
    if let Some(directory) = store.local_directory() {
        for path in FsStore::new(directory, || UNIX_EPOCH).exposed()? {
            let message = "other users can read or change it".to_owned();
            let place = path.display().to_string();
            report(Problem { place, message, remedy: Remedy::MakePrivate(path) });
        }
    }
    Ok(())
}
