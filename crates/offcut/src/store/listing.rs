//! Choosing among many entries by what is known about them.

use crate::store::{Entry, EntryState, Id, Pin, Store, StoreError, UploadState};
use std::time::SystemTime;

/// Entries are looked at in batches of this many when only some are wanted.
const BATCH: usize = 1024;

/// Which entries are wanted. Everything, unless a field says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Those of this tool.
    pub tool: Option<String>,
    /// Those of this session.
    pub session: Option<String>,
    /// Those of this machine.
    pub host: Option<String>,
    /// Those made at this time or later.
    pub from: Option<SystemTime>,
    /// Those made before this time.
    pub until: Option<SystemTime>,
    /// Those older than this one.
    pub before: Option<Id>,
    /// At most so many, the newest.
    pub most: Option<usize>,
}

/// What a listing tells about an entry: as much as is known without looking at it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The entry.
    pub id: Id,
    /// The tool that produced it.
    pub tool: Option<String>,
    /// The session of the call.
    pub session: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// The profile that cut it.
    pub profile: String,
    /// The number of bytes that are kept.
    pub bytes: u64,
    /// The number of lines, if it was committed whole.
    pub lines: Option<u64>,
    /// Whether these are all. A listing may not know the reason of a partial one.
    pub completeness: EntryState,
    /// Whether cleaning may remove it.
    pub pin: Pin,
    /// Whether it is in the store or still on its way there.
    pub upload_state: UploadState,
}

impl Selection {
    /// Whether an entry may be among those wanted, by its id alone.
    pub fn covers(&self, id: &Id) -> bool {
        let time = id.time();
        self.from.is_none_or(|from| time >= from)
            && self.until.is_none_or(|until| time < until)
            && self.before.is_none_or(|before| *id < before)
    }

    /// Whether more than the id decides.
    fn is_filter(&self) -> bool {
        self.tool.is_some() || self.session.is_some() || self.host.is_some()
    }

    /// Whether an entry is among those wanted.
    pub fn matches(&self, item: &Item) -> bool {
        let fits = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        self.covers(&item.id)
            && fits(&self.tool, &item.tool)
            && fits(&self.session, &item.session)
            && fits(&self.host, &item.host)
    }
}

impl From<&Entry> for Item {
    fn from(entry: &Entry) -> Self {
        Item {
            id: entry.id,
            tool: entry.context.tool.clone(),
            session: entry.context.session.clone(),
            host: entry.host.clone(),
            profile: entry.profile.clone(),
            bytes: entry.bytes,
            lines: entry.lines(),
            completeness: entry.completeness.clone(),
            pin: entry.pin,
            upload_state: entry.upload_state.clone(),
        }
    }
}

/// Looks at each entry: a few small reads each, so a hundred thousand are looked at by several threads.
pub(super) fn look_at<S: Store + ?Sized>(store: &S, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = ids.len().div_ceil(threads).max(256);
    std::thread::scope(|scope| {
        let parts: Vec<_> = ids
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(|id| store.entry(id)).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

/// An entry of which nothing can be read must not be invisible.
fn damaged(id: &Id, error: &StoreError) -> Item {
    Item {
        id: *id,
        tool: None,
        session: None,
        host: None,
        profile: String::new(),
        bytes: 0,
        lines: None,
        completeness: EntryState::Partial { reason: error.to_string() },
        pin: Pin::Loose,
        upload_state: UploadState::Uploaded,
    }
}

/// Looks at entries, newest first, until there are enough. One that is gone meanwhile is passed over.
pub(super) fn select<S: Store + ?Sized>(store: &S, selection: &Selection) -> Result<Vec<Item>, StoreError> {
    let most = selection.most.unwrap_or(usize::MAX);
    let mut ids = store.ids()?;
    ids.retain(|id| selection.covers(id));
    ids.reverse();
    let mut items = Vec::new();
    // Without a filter, as many as are wanted are enough.
    let batch = if selection.is_filter() && most < usize::MAX { BATCH } else { most.max(1) };
    for batch in ids.chunks(batch) {
        let found = batch.iter().zip(store.entries(batch)).filter_map(|(id, entry)| match entry {
            Ok(entry) => Some(Item::from(&entry)),
            Err(StoreError::NotFound { .. }) => None,
            Err(error) => Some(damaged(id, &error)),
        });
        items.extend(found.filter(|item| selection.matches(item)));
        if items.len() >= most {
            items.truncate(most);
            break;
        }
    }
    Ok(items)
}
