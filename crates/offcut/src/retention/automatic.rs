//! Cleaning by a truncator: on request, and automatically when a process stores its first output in a directory.

use crate::builder::Storage;
use crate::outcome::Saved;
use crate::profile::Profile;
use crate::retention::{self, Policy};
use crate::store::{Retention, Store, StoreError};
use crate::truncator::Truncator;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Whether a truncator removes expired outputs by itself.
///
/// ```
/// use offcut::{Truncator, retention::Cleaning};
/// use std::time::SystemTime;
///
/// let truncator = Truncator::in_directory("outputs", SystemTime::now).cleaning(Cleaning::Manual);
/// let removed = truncator.cleanup(SystemTime::now())?;
/// assert_eq!(removed, 0);
/// # Ok::<(), offcut::store::StoreError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cleaning {
    /// Once per process and directory, when the first output is stored: on another thread, so that no call waits or fails.
    ///
    /// This is the default for every truncator, however it is made: an output is kept as long as its profile promises and
    /// no longer, and a program that has its own directory need not do anything. It applies to stores in a directory
    /// ([`Store::local_directory`]). Other stores are cleaned with [`Truncator::cleanup`], and so is the rest if the process
    /// ends before the thread does. A truncator whose profile keeps outputs forever starts no cleaning.
    #[default]
    Automatic,
    /// Only [`Truncator::cleanup`] removes outputs.
    Manual,
}

/// The directories that this process has cleaned.
static CLEANED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

impl Truncator {
    /// Removes the outputs in the store whose retention has ended at `now`, and returns how many it removed.
    ///
    /// Each output has the retention under which it was stored, not that of this truncator's profile. Pinned outputs,
    /// outputs that are being written and those of profiles that keep outputs forever stay. An output that cannot be removed
    /// stays too, and is not counted.
    pub fn cleanup(&self, now: SystemTime) -> Result<u64, StoreError> {
        match &self.storage {
            Storage::Off => Ok(0),
            Storage::Unavailable(reason) => Err(StoreError::Refused { reason: reason.clone() }),
            Storage::To(store) => clean(&**store, &self.profile, now),
        }
    }

    /// Starts automatic cleaning if this output is the first that the process stores in its directory.
    pub(crate) fn clean_after(&self, saved: &Saved) {
        let (Saved::Complete(entry) | Saved::Running(entry)) = saved else { return };
        if self.cleaning == Cleaning::Automatic
            && self.profile.retention_days.is_some()
            && let Storage::To(store) = &self.storage
            && let Some(directory) = store.local_directory()
            && CLEANED.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned())
        {
            let (truncator, now) = (self.clone(), entry.created);
            // Without a thread the directory is not cleaned now: the next process does it.
            let _ = std::thread::Builder::new().name("offcut-cleaning".to_owned()).spawn(move || {
                let _ = truncator.clean_automatically(now);
            });
        }
    }
}

impl Truncator {
    /// Like [`Truncator::cleanup`], but a clock that is far ahead does not empty the store.
    fn clean_automatically(&self, now: SystemTime) -> Result<(), StoreError> {
        let Storage::To(store) = &self.storage else { return Ok(()) };
        let now = retention::trusted_time(&store.ids()?, now);
        clean(&**store, &self.profile, now).map(drop)
    }
}

/// Removes the expired entries. `profile` and the built-in profiles say how long entries of version 1 are kept; those of
/// another profile stay.
fn clean(store: &dyn Store, profile: &Profile, now: SystemTime) -> Result<u64, StoreError> {
    let retention_of = |name: &str| {
        if name == profile.name { profile.retention() } else { built_in(name).unwrap_or(Retention::Forever) }
    };
    let plan = retention::plan(store, &Policy::default(), retention_of, now)?;
    let removed = plan.execute(store, &mut |_| {}).remove.len() as u64;
    retention::remove_remnants(store, now)?;
    Ok(removed)
}

/// How long a built-in profile keeps its outputs.
#[cfg(feature = "profiles")]
fn built_in(name: &str) -> Option<Retention> {
    Profile::named(name).ok().map(|profile| profile.retention())
}

#[cfg(not(feature = "profiles"))]
fn built_in(_name: &str) -> Option<Retention> {
    None
}
