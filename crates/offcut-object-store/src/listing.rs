//! Listings, newest first, that read keys and no objects.

use crate::fleet::Shared;
use crate::layout::Layout;
use crate::lookup::span;
use object_store::path::Path as Key;
use offcut::store::{Entry, EntryFilter, Id, Pin, Store, StoreError};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

/// How many entries are listed at a time. All entries of a large store do not fit into memory.
const BATCH: usize = 4096;

/// How far back a listing looks for the newest entries before it looks further.
const WINDOWS: [Duration; 5] = [
    Duration::from_secs(60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(24 * 60 * 60),
    Duration::from_secs(7 * 24 * 60 * 60),
    Duration::from_secs(31 * 24 * 60 * 60),
];

impl Shared {
    /// The selected entries of the bucket, oldest first. Their keys are remembered.
    pub(crate) fn list(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let found = self.list_with(selection, |item, key| (item, key))?;
        let remember = |(item, key): (Entry, Key)| {
            self.learn(item.id, |known| known.key = Some(key));
            item
        };
        Ok(found.into_iter().map(remember).collect())
    }

    /// All ids of the bucket, oldest first.
    pub(crate) fn remote_ids(&self) -> Result<Vec<Id>, StoreError> {
        self.list_with(&EntryFilter::default(), |item, _| item.id)
    }

    /// What `take` makes of the selected entries of the bucket and of their keys, oldest first.
    fn list_with<T: Send + 'static>(
        &self,
        selection: &EntryFilter,
        take: fn(Entry, Key) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let layout = &self.connection.layout;
        let after = selection.from.map(|from| layout.entry_start(&Id::new(from, 0)));
        let last = selection.until.and_then(|until| until.checked_sub(Duration::from_nanos(1)));
        let last = last.map(|last| layout.entry_start(&Id::new(last, u64::MAX)));
        let prefix = match (&after, &last) {
            (Some(first), Some(last)) => common_prefix(first, last).to_owned(),
            _ => layout.folder("entry"),
        };
        let selection = selection.clone();
        self.connection.run(move |remote| async move {
            let mut found = Vec::new();
            let visit = |object: object_store::ObjectMeta| {
                let Some(item) = Layout::item(object.location.as_ref()) else { return true };
                let id = item.id;
                // Keys are in order: no later one is selected.
                let is_past = selection.before.is_some_and(|before| id >= before)
                    || selection.until.is_some_and(|until| id.time() >= until);
                if selection.covers(&id) && Layout::is_selected(object.location.as_ref(), &selection) {
                    found.push(take(item, object.location));
                }
                !is_past
            };
            remote.list(&prefix, after, visit).await?;
            Ok(found)
        })
    }

    /// Calls `visit` with the selected entries, newest first, without having all of them in memory.
    pub(crate) fn visit(&self, filter: &EntryFilter, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        if filter.limit.is_some() {
            self.select(filter)?.into_iter().for_each(visit);
            return Ok(());
        }
        let mut ids = self.ids()?;
        ids.retain(|id| filter.covers(id));
        for batch in ids.rchunks(BATCH) {
            let (Some(first), Some(last)) = (batch.first(), batch.last()) else { continue };
            let EntryFilter { from, until, .. } = span(first, last);
            let entries = self.select(&EntryFilter { from, until, ..filter.clone() })?;
            entries.into_iter().filter(|entry| (first..=last).contains(&&entry.id)).for_each(&mut *visit);
        }
        Ok(())
    }

    /// All ids of the bucket and of the spool, oldest first.
    pub(crate) fn ids(&self) -> Result<Vec<Id>, StoreError> {
        let mut ids = self.remote_ids()?;
        ids.extend(self.local.ids()?);
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    pub(crate) fn select(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let mut items = self.newest(selection)?;
        let pinned = if items.is_empty() { HashSet::new() } else { self.pinned()? };
        for item in items.iter_mut().filter(|item| pinned.contains(&item.id)) {
            item.pin = Pin::Pinned;
        }
        let pending = self.pending_items(selection)?;
        let local: HashSet<Id> = pending.iter().map(|item| item.id).collect();
        items.retain(|item| !local.contains(&item.id));
        items.extend(pending);
        items.sort_unstable_by_key(|item| Reverse(item.id));
        items.truncate(selection.limit.unwrap_or(usize::MAX));
        Ok(items)
    }

    /// The selected entries of the spool, newest first.
    pub(crate) fn pending_items(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let ids: Vec<Id> = self.local.ids()?.into_iter().rev().filter(|id| selection.covers(id)).collect();
        let entries = self.local.entries(&ids).into_iter().flatten();
        Ok(entries
            .map(|entry| self.pending_entry(entry))
            .filter(|item| selection.matches(item))
            .take(selection.limit.unwrap_or(usize::MAX))
            .collect())
    }

    /// The newest selected entries of the bucket, at least as many as the selection allows.
    fn newest(&self, selection: &EntryFilter) -> Result<Vec<Entry>, StoreError> {
        let Some(most) = selection.limit else { return self.list(selection) };
        // A clock that is slow must not hide the entries of other machines.
        let now = (self.options.clock)() + Duration::from_secs(60);
        let end = [selection.until, selection.before.map(|before| before.time()), Some(now)];
        let end = end.into_iter().flatten().min().unwrap_or(now);
        for window in WINDOWS {
            let from = end.checked_sub(window).unwrap_or(SystemTime::UNIX_EPOCH);
            if selection.from.is_some_and(|earliest| earliest >= from) {
                break;
            }
            let items = self.list(&EntryFilter { from: Some(from), ..selection.clone() })?;
            if items.len() >= most {
                return Ok(items);
            }
        }
        self.list(selection)
    }

    /// The pinned entries of the bucket.
    pub(crate) fn pinned(&self) -> Result<HashSet<Id>, StoreError> {
        let prefix = self.connection.layout.folder("pin");
        self.connection.run(move |remote| async move {
            let mut pinned = HashSet::new();
            let visit = |object: object_store::ObjectMeta| {
                pinned.extend(object.location.filename().and_then(Id::parse));
                true
            };
            remote.list(&prefix, None, visit).await?;
            Ok(pinned)
        })
    }

    pub(crate) fn ids_with_prefix(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        // The id in a notice must work while the store is unavailable, if the output is still on this machine.
        let mut local = self.local.ids()?;
        local.retain(|id| id.as_str().starts_with(beginning));
        if let [only] = local[..]
            && beginning.len() >= only.short().len()
        {
            return Ok(local);
        }
        // The beginning of an id is a span of time.
        let fill = |digit: char| {
            let text: String = beginning.chars().chain(std::iter::repeat(digit)).take(Id::WIDTH).collect();
            Id::parse(&text)
        };
        let (Some(first), Some(last)) = (fill('0'), fill('z')) else { return Ok(Vec::new()) };
        let mut ids: Vec<Id> = self.list(&span(&first, &last))?.into_iter().map(|item| item.id).collect();
        ids.retain(|id| id.as_str().starts_with(beginning));
        ids.extend(local);
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

/// The longest text that both start with.
fn common_prefix<'a>(one: &'a str, other: &str) -> &'a str {
    let end = one.char_indices().zip(other.chars()).find(|((_, one), other)| one != other);
    end.map_or(one, |((end, _), _)| &one[..end])
}
