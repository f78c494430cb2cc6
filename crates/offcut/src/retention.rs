//! What goes and what stays when a store is cleaned. Pure: entries and a time in, a decision out.

use crate::store::{Entry, EntryState, Id, Item, Pin, Selection, Store, StoreError, UploadState};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// Nothing younger than this goes for want of space: somebody may still be reading it.
pub const PROTECTED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// How much may stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Entries older than this go.
    pub age: Option<Duration>,
    /// The oldest go while there are more bytes than this.
    pub bytes: Option<u64>,
    /// The oldest go while there are more entries than this.
    pub entries: Option<u64>,
}

/// What cleaning needs to know of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The entry.
    pub id: Id,
    /// How large it is.
    pub bytes: u64,
    /// Whether it may go at all.
    pub hold: Protection,
}

/// Whether an entry may go at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It may.
    Free,
    /// Somebody pinned it.
    Pinned,
    /// It is being written, or on its way to a store elsewhere.
    Writing,
}

/// The decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleaningPlan {
    /// What goes, oldest first, and its size.
    pub remove: Vec<Candidate>,
    /// How many bytes stay.
    pub bytes_left: u64,
    /// How many entries stay.
    pub entries_left: u64,
    /// How many of them are over the quota and stay only because they are young, pinned or being written.
    pub over_quota: u64,
}

impl CleaningPlan {
    /// How many bytes go.
    pub fn bytes_removed(&self) -> u64 {
        self.remove.iter().map(|candidate| candidate.bytes).sum()
    }

    /// Removes the entries from the store and reports the result of each. The plan that is returned lists what was removed
    /// here: another process may clean at the same time.
    pub fn execute(
        mut self,
        store: &dyn Store,
        report: &mut dyn FnMut(Result<(), StoreError>),
    ) -> CleaningPlan {
        let ids: Vec<Id> = self.remove.iter().map(|candidate| candidate.id).collect();
        let mut removed = BTreeSet::new();
        store.remove_all(&ids, &mut |id, result| match result {
            Err(StoreError::NotFound { .. }) => report(Ok(())),
            result => {
                if result.is_ok() {
                    removed.insert(*id);
                }
                report(result);
            }
        });
        self.remove.retain(|candidate| removed.contains(&candidate.id));
        self
    }
}

/// Plans the cleaning of a store. Entries that `is_protected` names stay, as pinned ones do.
///
/// ```
/// use offcut::retention::{self, Policy};
/// use offcut::store::MemoryStore;
/// use std::time::{Duration, SystemTime};
///
/// let store = MemoryStore::new(SystemTime::now);
/// let policy = Policy { age: Some(Duration::from_secs(7 * 24 * 60 * 60)), ..Policy::default() };
/// let plan = retention::plan(&store, &policy, |_| false, SystemTime::now())?;
/// let removed = plan.execute(&store, &mut |_| {}).remove;
/// assert!(removed.is_empty());
/// # Ok::<(), offcut::store::StoreError>(())
/// ```
pub fn plan(
    store: &dyn Store,
    policy: &Policy,
    mut is_protected: impl FnMut(&Item) -> bool,
    now: SystemTime,
) -> Result<CleaningPlan, StoreError> {
    let items = store.select(&Selection::default())?;
    let oldest_first = items.iter().rev().map(|item| match Candidate::from(item) {
        candidate if candidate.hold == Protection::Free && is_protected(item) => {
            Candidate { hold: Protection::Pinned, ..candidate }
        }
        candidate => candidate,
    });
    Ok(decide(&oldest_first.collect::<Vec<_>>(), policy, now))
}

/// Decides what goes. Candidates come oldest first; an entry's age is that of its id, not of its file.
pub fn decide(candidates: &[Candidate], policy: &Policy, now: SystemTime) -> CleaningPlan {
    let age = |id: &Id| now.duration_since(id.time()).unwrap_or(Duration::ZERO);
    let mut bytes: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let mut entries = candidates.len() as u64;
    let mut sweep = CleaningPlan::default();
    for candidate in candidates {
        let too_old = policy.age.is_some_and(|most| age(&candidate.id) > most);
        let over = policy.bytes.is_some_and(|most| bytes > most)
            || policy.entries.is_some_and(|most| entries > most);
        let free = candidate.hold == Protection::Free;
        if free && (too_old || (over && age(&candidate.id) > PROTECTED_AGE)) {
            bytes -= candidate.bytes;
            entries -= 1;
            sweep.remove.push(*candidate);
        } else if over {
            sweep.over_quota += 1;
        }
    }
    CleaningPlan { bytes_left: bytes, entries_left: entries, ..sweep }
}

impl From<&Entry> for Candidate {
    fn from(entry: &Entry) -> Self {
        Candidate::from(&Item::from(entry))
    }
}

impl From<&Item> for Candidate {
    fn from(item: &Item) -> Self {
        let hold = match (item.pin, &item.completeness, &item.upload_state) {
            (Pin::Pinned, _, _) => Protection::Pinned,
            (_, EntryState::Writing, _) | (_, _, UploadState::LocalOnly { .. }) => Protection::Writing,
            _ => Protection::Free,
        };
        Candidate { id: item.id, bytes: item.bytes, hold }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::UNIX_EPOCH;

    const DAY: u64 = 24 * 60 * 60;

    fn day(number: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_771_860_645 + number * DAY)
    }

    /// One door: entries as (day, bytes, hold), cleaned on day 100, and the days that go.
    #[track_caller]
    fn check(entries: &[(u64, u64, Protection)], policy: Policy, expected: &[u64], over_quota: u64) {
        let candidates: Vec<Candidate> = entries
            .iter()
            .map(|&(number, bytes, hold)| Candidate { id: Id::new(day(number), number), bytes, hold })
            .collect();
        let sweep = decide(&candidates, &policy, day(100));
        let gone: Vec<u64> = sweep
            .remove
            .iter()
            .filter_map(|gone| candidates.iter().position(|candidate| candidate == gone))
            .map(|place| entries[place].0)
            .collect();
        assert_eq!((gone.as_slice(), sweep.over_quota), (expected, over_quota));
        let left: u64 = entries.iter().filter(|entry| !gone.contains(&entry.0)).map(|entry| entry.1).sum();
        assert_eq!((sweep.bytes_left, sweep.entries_left), (left, (entries.len() - gone.len()) as u64));
    }

    #[test]
    fn by_age_bytes_and_count() {
        use Protection::{Free, Pinned, Writing};
        let entries = [(80, 10, Free), (90, 10, Free), (95, 10, Free), (98, 10, Free), (100, 10, Free)];
        let age = |days: u64| Policy { age: Some(Duration::from_secs(days * DAY)), ..Policy::default() };
        check(&entries, Policy::default(), &[], 0);
        check(&entries, age(7), &[80, 90], 0);
        check(&entries, age(10), &[80], 0);
        check(&entries, Policy { bytes: Some(25), ..Policy::default() }, &[80, 90, 95], 0);
        check(&entries, Policy { bytes: Some(50), ..Policy::default() }, &[], 0);
        check(&entries, Policy { entries: Some(4), ..Policy::default() }, &[80], 0);
        // What is younger than a day stays, and that is told.
        check(&entries, Policy { bytes: Some(5), ..Policy::default() }, &[80, 90, 95, 98], 1);
        let held = [(80, 10, Pinned), (81, 10, Writing), (90, 10, Free), (99, 10, Free)];
        check(&held, age(7), &[90], 0);
        check(&held, Policy { entries: Some(1), ..age(7) }, &[90], 3);
    }

    #[test]
    fn a_clock_that_runs_backwards_removes_nothing() {
        let candidates = [Candidate { id: Id::new(day(200), 1), bytes: 1, hold: Protection::Free }];
        let policy = Policy { age: Some(Duration::ZERO), bytes: Some(0), entries: Some(0) };
        assert!(decide(&candidates, &policy, day(100)).remove.is_empty());
    }
}
