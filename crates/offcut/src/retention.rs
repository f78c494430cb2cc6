//! Which entries cleaning removes: a pure decision, from entries and a time.
//!
//! Each entry has its own retention, recorded when it was stored. [`crate::Truncator::cleanup`] is the simplest way to clean.

mod automatic;

pub use automatic::Cleaning;

use crate::store::{
    Entry, EntryFilter, EntryState, Id, Pin, Retention, Store, StoreError, Stray, StrayKind, UploadState,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

/// Size limits never remove entries younger than this: their reader may still be at work.
pub const PROTECTED_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A time is confirmed by an output that was stored at least this long before it: a clock that is wrong is corrected sooner.
const CONFIRMATION: Duration = Duration::from_secs(24 * 60 * 60);

/// A longer time without any output may be a clock that is ahead.
const LONGEST_PAUSE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// How many entries are removed at a time.
const BATCH: usize = 1000;

/// How much may stay. By default, each entry stays as long as its own retention says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Entries older than this are removed, even if their own retention is longer.
    pub age: Option<Duration>,
    /// The oldest entries are removed while there are more bytes than this. Entries that are kept forever do not count.
    pub bytes: Option<u64>,
    /// The oldest entries are removed while there are more entries than this. Entries that are kept forever do not count.
    pub entries: Option<u64>,
}

/// What cleaning needs to know about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The entry.
    pub id: Id,
    /// Its size.
    pub bytes: u64,
    /// How long cleaning leaves it alone.
    pub retention: Retention,
    /// Whether it may be removed at all.
    pub protection: Protection,
}

/// Whether an entry may be removed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// It may.
    None,
    /// It is pinned.
    Pinned,
    /// It is being written, or not yet uploaded.
    InUse,
    /// It was written by a newer version of offcut.
    Unsupported,
}

/// The decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleaningPlan {
    /// The entries to remove, oldest first.
    pub remove: Vec<Candidate>,
    /// The number of bytes that stay.
    pub bytes_left: u64,
    /// The number of entries that stay.
    pub entries_left: u64,
    /// How many of them exceed the quota and stay only because they are young or protected.
    pub over_quota: u64,
}

impl CleaningPlan {
    /// The number of bytes to remove.
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
        let mut not_removed = BTreeSet::new();
        for batch in self.remove.chunks(BATCH) {
            let ids: Vec<Id> = batch.iter().map(|candidate| candidate.id).collect();
            store.remove_all(&ids, &mut |id, result| {
                if result.is_err() {
                    not_removed.insert(*id);
                }
                report(match result {
                    Err(StoreError::NotFound { .. }) => Ok(()),
                    result => result,
                });
            });
        }
        self.remove.retain(|candidate| !not_removed.contains(&candidate.id));
        self
    }
}

/// Plans the cleaning of a store. For entries of version 1, which do not record their retention, `retention_of` returns that
/// of the profile with this name.
///
/// ```
/// use offcut::retention::{self, Policy};
/// use offcut::store::{MemoryStore, Retention};
/// use std::time::SystemTime;
///
/// let store = MemoryStore::new(SystemTime::now);
/// let policy = Policy { bytes: Some(1 << 30), ..Policy::default() };
/// let plan = retention::plan(&store, &policy, |_profile| Retention::Days(7), SystemTime::now())?;
/// let removed = plan.execute(&store, &mut |_| {}).remove;
/// assert!(removed.is_empty());
/// # Ok::<(), offcut::store::StoreError>(())
/// ```
pub fn plan(
    store: &dyn Store,
    policy: &Policy,
    mut retention_of: impl FnMut(&str) -> Retention,
    now: SystemTime,
) -> Result<CleaningPlan, StoreError> {
    let mut by_profile = BTreeMap::new();
    let mut candidates = Vec::new();
    store.visit(&EntryFilter::default(), &mut |entry| {
        let candidate = Candidate::from(&entry);
        let of_profile = || *by_profile.entry(entry.profile).or_insert_with_key(|name| retention_of(name));
        candidates.push(Candidate { retention: entry.retention.unwrap_or_else(of_profile), ..candidate });
    })?;
    candidates.reverse();
    Ok(decide_all(candidates, policy, now))
}

/// The time that automatic cleaning may rely on, given the time of the clock and all ids, oldest first.
///
/// A clock that is far ahead would empty the store. So a time is believed only if an output was stored in the two weeks
/// before it, at least a day earlier; otherwise it is the time of the last such output. See
/// docs/decisions/0032-distrust-a-clock-that-jumps-ahead.md.
///
/// ```
/// use offcut::retention::trusted_time;
/// use offcut::store::Id;
/// use std::time::{Duration, SystemTime};
///
/// let days = |count: u64| SystemTime::UNIX_EPOCH + Duration::from_secs((21_000 + count) * 86_400);
/// let ids = [Id::new(days(0), 1), Id::new(days(400), 2)];
/// assert_eq!(trusted_time(&ids, days(3)), days(3));
/// assert_eq!(trusted_time(&ids[..1], days(400)), days(0));
/// assert_eq!(trusted_time(&ids, days(402)), days(402));
/// ```
#[must_use]
pub fn trusted_time(ids: &[Id], now: SystemTime) -> SystemTime {
    let earlier = ids.partition_point(|id| id.time() + CONFIRMATION <= now);
    match ids[..earlier].last() {
        Some(last) if last.time() + LONGEST_PAUSE < now => last.time(),
        _ => now,
    }
}

/// What killed writers left in the store and no writer can be at work on any more.
pub fn remnants(store: &dyn Store, now: SystemTime) -> Result<Vec<Stray>, StoreError> {
    let is_old = |stray: &Stray| {
        let age = stray.modified.and_then(|modified| now.duration_since(modified).ok());
        age.is_some_and(|age| age > PROTECTED_AGE)
    };
    Ok(store.strays(StrayKind::Remnant)?.into_iter().filter(is_old).collect())
}

/// Removes the [`remnants`], and returns how many files or objects it removed.
pub fn remove_remnants(store: &dyn Store, now: SystemTime) -> Result<u64, StoreError> {
    let mut removed = 0;
    for stray in remnants(store, now)? {
        match store.remove_stray(&stray) {
            // It belongs to an entry meanwhile, or another process removed it.
            Err(StoreError::NotFound { .. }) => {}
            result => {
                result?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

/// Decides what to remove. Candidates come oldest first; an entry's age is that of its id, not of its file.
#[must_use]
pub fn decide(candidates: &[Candidate], policy: &Policy, now: SystemTime) -> CleaningPlan {
    decide_all(candidates.to_vec(), policy, now)
}

/// The same without a second list of candidates: there may be a million.
fn decide_all(mut candidates: Vec<Candidate>, policy: &Policy, now: SystemTime) -> CleaningPlan {
    let age = |id: &Id| now.duration_since(id.time()).unwrap_or(Duration::ZERO);
    let mut bytes: u64 = candidates.iter().map(|candidate| candidate.bytes).sum();
    let mut entries = candidates.len() as u64;
    let is_kept_forever =
        |candidate: &Candidate| policy.age.is_none() && candidate.retention == Retention::Forever;
    // Quotas do not apply to what is kept forever: it must not displace the rest.
    let forever = candidates.iter().filter(|candidate| is_kept_forever(candidate));
    let (forever_bytes, forever_entries) =
        forever.fold((0, 0), |(bytes, entries), candidate| (bytes + candidate.bytes, entries + 1));
    let mut over_quota = 0;
    candidates.retain(|candidate| {
        let max_age = policy.age.or(candidate.retention.max_age());
        let too_old = max_age.is_some_and(|limit| age(&candidate.id) > limit);
        let over = policy.bytes.is_some_and(|limit| bytes - forever_bytes > limit)
            || policy.entries.is_some_and(|limit| entries - forever_entries > limit);
        let over = over && !is_kept_forever(candidate);
        let removable = candidate.protection == Protection::None && !is_kept_forever(candidate);
        let is_removed = removable && (too_old || (over && age(&candidate.id) > PROTECTED_AGE));
        if is_removed {
            bytes -= candidate.bytes;
            entries -= 1;
        } else if over {
            over_quota += 1;
        }
        is_removed
    });
    CleaningPlan { remove: candidates, bytes_left: bytes, entries_left: entries, over_quota }
}

/// An entry that does not record its retention is kept forever; [`plan`] knows better.
impl From<&Entry> for Candidate {
    fn from(entry: &Entry) -> Self {
        let protection = match (entry.pin, &entry.state, &entry.upload_state) {
            (Pin::Pinned, _, _) => Protection::Pinned,
            (_, EntryState::Unsupported { .. }, _) => Protection::Unsupported,
            (_, EntryState::Running, _) | (_, _, UploadState::LocalOnly { .. }) => Protection::InUse,
            _ => Protection::None,
        };
        let retention = entry.retention.unwrap_or(Retention::Forever);
        Candidate { id: entry.id, bytes: entry.bytes, retention, protection }
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

    /// Checks which days are removed of entries given as (day, bytes, protection), cleaned on day 100.
    #[track_caller]
    fn check(entries: &[(u64, u64, Protection)], policy: Policy, expected: &[u64], over_quota: u64) {
        let candidates: Vec<Candidate> = entries
            .iter()
            .map(|&(number, bytes, protection)| Candidate {
                id: Id::new(day(number), number),
                bytes,
                retention: Retention::Days(0),
                protection,
            })
            .collect();
        let plan = decide(&candidates, &policy, day(100));
        let removed: Vec<u64> = plan
            .remove
            .iter()
            .filter_map(|removed| candidates.iter().position(|candidate| candidate == removed))
            .map(|place| entries[place].0)
            .collect();
        assert_eq!((removed.as_slice(), plan.over_quota), (expected, over_quota));
        let left: u64 = entries.iter().filter(|entry| !removed.contains(&entry.0)).map(|entry| entry.1).sum();
        assert_eq!((plan.bytes_left, plan.entries_left), (left, (entries.len() - removed.len()) as u64));
    }

    /// Entries that are kept forever neither count nor go.
    #[test]
    fn quotas_do_not_apply_to_what_is_kept_forever() {
        let candidate = |number: u64, retention| Candidate {
            id: Id::new(day(number), number),
            bytes: 10,
            retention,
            protection: Protection::None,
        };
        let candidates: Vec<Candidate> = (1..=6)
            .map(|number| candidate(number, if number > 2 { Retention::Forever } else { Retention::Days(0) }))
            .collect();
        for (policy, removed) in [
            (Policy { bytes: Some(20), ..Policy::default() }, 0),
            (Policy { bytes: Some(10), ..Policy::default() }, 1),
            (Policy { entries: Some(1), ..Policy::default() }, 1),
            (Policy { bytes: Some(0), ..Policy::default() }, 2),
        ] {
            let plan = decide(&candidates, &policy, day(100));
            assert_eq!((plan.remove.len(), plan.over_quota), (removed, 0), "{policy:?}");
            assert_eq!(plan.bytes_left, 60 - 10 * removed as u64);
        }
    }

    #[test]
    fn removes_by_age_bytes_and_count() {
        use Protection::{InUse, Pinned, Unsupported};
        const FREE: Protection = Protection::None;
        let entries = [(80, 10, FREE), (90, 10, FREE), (95, 10, FREE), (98, 10, FREE), (100, 10, FREE)];
        let age = |days: u64| Policy { age: Some(Duration::from_secs(days * DAY)), ..Policy::default() };
        check(&entries, Policy::default(), &[], 0);
        check(&entries, age(7), &[80, 90], 0);
        check(&entries, age(10), &[80], 0);
        check(&entries, Policy { bytes: Some(25), ..Policy::default() }, &[80, 90, 95], 0);
        check(&entries, Policy { bytes: Some(50), ..Policy::default() }, &[], 0);
        check(&entries, Policy { entries: Some(4), ..Policy::default() }, &[80], 0);
        // Entries younger than a day stay, and that is reported.
        check(&entries, Policy { bytes: Some(5), ..Policy::default() }, &[80, 90, 95, 98], 1);
        let protected = [(80, 10, Pinned), (81, 10, InUse), (90, 10, FREE), (99, 10, FREE)];
        check(&protected, age(7), &[90], 0);
        check(&protected, Policy { entries: Some(1), ..age(7) }, &[90], 3);
        check(&[(1, 10, Unsupported), (2, 10, FREE)], Policy { bytes: Some(0), ..age(7) }, &[2], 1);
    }

    #[test]
    fn applies_own_retention_unless_an_age_is_given() {
        let entries = [
            (50, Retention::Forever),
            (60, Retention::Days(0)),
            (80, Retention::Days(30)),
            (91, Retention::Days(7)),
            (98, Retention::Days(1)),
            (99, Retention::Days(1)),
        ];
        let candidates = entries.map(|(number, retention)| Candidate {
            id: Id::new(day(number), number),
            bytes: 1,
            retention,
            protection: Protection::None,
        });
        let removed = |policy: Policy| {
            let plan = decide(&candidates, &policy, day(100));
            plan.remove.iter().map(|candidate| candidate.id.time()).collect::<Vec<_>>()
        };
        assert_eq!(removed(Policy::default()), [day(91), day(98)]);
        let age = Some(Duration::from_secs(15 * DAY));
        assert_eq!(removed(Policy { age, ..Policy::default() }), [day(50), day(60), day(80)]);
        // Size limits remove the oldest, but nothing that is kept forever.
        let entries = Some(3);
        assert_eq!(removed(Policy { entries, ..Policy::default() }), [day(60), day(80), day(91), day(98)]);
    }

    #[test]
    fn removes_nothing_when_the_clock_runs_backwards() {
        let (id, retention) = (Id::new(day(200), 1), Retention::Days(1));
        let candidates = [Candidate { id, bytes: 1, retention, protection: Protection::None }];
        let policy = Policy { age: Some(Duration::ZERO), bytes: Some(0), entries: Some(0) };
        assert!(decide(&candidates, &policy, day(100)).remove.is_empty());
    }
}
