//! Choosing among many entries by what is known about them.

use crate::store::{Entry, EntryState, Id, Store, StoreError};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// How many entries are read at a time. All entries of a large store do not fit into memory.
const BATCH: usize = 4096;

/// The most threads that read metadata, and the fewest entries for which one pays off.
const THREADS: usize = 16;
const ENTRIES_PER_THREAD: usize = 256;

/// Which entries are wanted: all, unless a field restricts them.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Those of this tool.
    pub tool: Option<String>,
    /// Those of this session.
    pub session: Option<String>,
    /// Those of this machine.
    pub host: Option<String>,
    /// Those created at this time or later.
    pub from: Option<SystemTime>,
    /// Those created before this time.
    pub until: Option<SystemTime>,
    /// Those older than this one.
    pub before: Option<Id>,
    /// Those that satisfy this condition.
    pub condition: Option<Condition>,
    /// At most this many, the newest.
    pub limit: Option<usize>,
}

/// A condition on what was recorded about an entry: the call, the profile, the machine and the summary.
///
/// A store may check it before it knows whether the entry is pinned and whether its bytes are still there: path, size, pin
/// and the states that depend on them are not reliable.
///
/// ```
/// use offcut::store::{Condition, EntryFilter};
///
/// let failed = Condition::new(|entry| {
///     entry.summary.as_ref().is_some_and(|summary| summary.exit_code.is_some_and(|code| code != 0))
/// });
/// let filter = EntryFilter { condition: Some(failed), limit: Some(10), ..EntryFilter::default() };
/// ```
#[derive(Clone)]
pub struct Condition(Arc<dyn Fn(&Entry) -> bool + Send + Sync>);

impl Condition {
    /// The condition that `is_wanted` returns true.
    pub fn new(is_wanted: impl Fn(&Entry) -> bool + Send + Sync + 'static) -> Condition {
        Condition(Arc::new(is_wanted))
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Condition")
    }
}

impl EntryFilter {
    /// Whether the entry with this id can match; the other fields are checked by [`EntryFilter::matches`].
    pub fn covers(&self, id: &Id) -> bool {
        let time = id.time();
        self.from.is_none_or(|from| time >= from)
            && self.until.is_none_or(|until| time < until)
            && self.before.is_none_or(|before| *id < before)
    }

    /// Whether the entry is one of those wanted, by what was recorded about it. The limit is not considered.
    pub fn matches(&self, entry: &Entry) -> bool {
        let fits = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        self.covers(&entry.id)
            && fits(&self.tool, &entry.context.tool)
            && fits(&self.session, &entry.context.session)
            && fits(&self.host, &entry.host)
            && self.condition.as_ref().is_none_or(|Condition(is_wanted)| is_wanted(entry))
    }

    /// How many entries to read for the next `wanted` matches: as many, if the id alone decides.
    fn batch(&self, wanted: usize) -> usize {
        let needs_entry =
            self.tool.is_some() || self.session.is_some() || self.host.is_some() || self.condition.is_some();
        if needs_entry { BATCH } else { wanted.min(BATCH) }
    }
}

/// Reads the metadata of many entries. Each needs a few small reads, so several threads share the work.
pub(super) fn entries<S: Store + ?Sized>(store: &S, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
    in_threads(ids, |id| Some(store.entry(id)))
}

/// Calls a function for each id, in several threads, and returns what it returned, in the order of `ids`.
fn in_threads<T: Send>(ids: &[Id], read: impl Fn(&Id) -> Option<T> + Sync) -> Vec<T> {
    let share = ids.len().div_ceil(THREADS).max(ENTRIES_PER_THREAD);
    let read = &read;
    std::thread::scope(|scope| {
        let parts: Vec<_> = ids
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().filter_map(read).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// Examines entries, newest first, until enough match. One that was removed meanwhile is skipped.
pub(super) fn visit<S: Store + ?Sized>(
    store: &S,
    filter: &EntryFilter,
    visit: &mut dyn FnMut(Entry),
) -> Result<(), StoreError> {
    let mut wanted = filter.limit.unwrap_or(usize::MAX);
    let mut ids = store.ids()?;
    ids.retain(|id| filter.covers(id));
    while wanted > 0 && !ids.is_empty() {
        let mut batch = ids.split_off(ids.len().saturating_sub(filter.batch(wanted)));
        ids.shrink_to_fit();
        batch.reverse();
        let found = in_threads(&batch, |id| match store.entry_matching(id, filter) {
            Ok(found) => found,
            Err(StoreError::NotFound { .. }) => None,
            // An entry with unreadable metadata must stay visible.
            Err(error) => Some(Entry::unknown(*id, EntryState::Damaged { reason: error.to_string() }))
                .filter(|entry| filter.matches(entry)),
        });
        for entry in found.into_iter().take(wanted) {
            visit(entry);
            wanted -= 1;
        }
    }
    Ok(())
}
