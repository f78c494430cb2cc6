//! Listings, newest first, that read names and nothing else.

use crate::fleet::{Shared, lock};
use crate::layout::{self, Listed};
use crate::remote;
use offcut::store::{Id, Item, Pin, Selection, Store, StoreError};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::{Duration, SystemTime};

/// How far back a listing looks for the newest entries before it looks further.
const WINDOWS: [Duration; 5] = [
    Duration::from_secs(60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(24 * 60 * 60),
    Duration::from_secs(7 * 24 * 60 * 60),
    Duration::from_secs(31 * 24 * 60 * 60),
];

impl Shared {
    /// What is in the store and wanted, oldest first; `most` is not looked at.
    pub(crate) fn list(&self, selection: &Selection) -> Result<Vec<Listed>, StoreError> {
        let (layout, prefix) = (self.engine.layout.clone(), self.engine.layout.folder("entry"));
        let after = selection.from.map(|from| {
            let id = Id::new(from, 0);
            layout.entries_like(&layout::day(&id), id.as_str())
        });
        let selection = selection.clone();
        let found = self.engine.run(move |client| async move {
            let mut found = Vec::new();
            remote::list(&client, &prefix, after, |object| {
                let Some(listed) = layout.item(object.location.as_ref()) else { return true };
                let id = listed.item.id;
                // Names are in order: nothing that follows is older.
                let is_behind = selection.before.is_some_and(|before| id >= before)
                    || selection.until.is_some_and(|until| id.time() >= until);
                if listed.is_wanted(&selection) {
                    found.push((listed, object.location));
                }
                !is_behind
            })
            .await?;
            Ok(found)
        })?;
        let mut keys = lock(&self.keys);
        Ok(found
            .into_iter()
            .map(|(listed, key)| {
                keys.insert(listed.item.id, key);
                listed
            })
            .collect())
    }

    pub(crate) fn select(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        let mut items = self.listed_newest(selection)?;
        let pinned = if items.is_empty() { HashSet::new() } else { self.pinned()? };
        for item in &mut items {
            if pinned.contains(&item.id) {
                item.pin = Pin::Pinned;
            }
        }
        let waiting = self.waiting_items(selection)?;
        let here: HashSet<Id> = waiting.iter().map(|item| item.id).collect();
        items.retain(|item| !here.contains(&item.id));
        items.extend(waiting);
        items.sort_unstable_by_key(|item| Reverse(item.id));
        items.truncate(selection.most.unwrap_or(usize::MAX));
        Ok(items)
    }

    /// What only this machine has, newest first.
    pub(crate) fn waiting_items(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        let ids: Vec<Id> = self.local.ids()?.into_iter().rev().filter(|id| selection.covers(id)).collect();
        let entries = self.local.entries(&ids).into_iter().flatten();
        Ok(entries
            .map(|entry| Item::from(&self.waiting(entry)))
            .filter(|item| selection.matches(item))
            .take(selection.most.unwrap_or(usize::MAX))
            .collect())
    }

    /// The newest that are wanted, as many as are wanted, in any order.
    fn listed_newest(&self, selection: &Selection) -> Result<Vec<Item>, StoreError> {
        let newest_first = |listed: Vec<Listed>| listed.into_iter().rev().map(|listed| listed.item);
        let Some(most) = selection.most else {
            return Ok(newest_first(self.list(selection)?).collect());
        };
        // A clock that is behind must not hide what others made.
        let now = (self.options.clock)() + Duration::from_secs(60);
        let end = [selection.until, selection.before.map(|before| before.time()), Some(now)];
        let end = end.into_iter().flatten().min().unwrap_or(now);
        for window in WINDOWS {
            let from = end.checked_sub(window).unwrap_or(SystemTime::UNIX_EPOCH);
            if selection.from.is_some_and(|earliest| earliest >= from) {
                break;
            }
            let listed = self.list(&Selection { from: Some(from), ..selection.clone() })?;
            if listed.len() >= most {
                return Ok(newest_first(listed).take(most).collect());
            }
        }
        Ok(newest_first(self.list(selection)?).take(most).collect())
    }

    fn pinned(&self) -> Result<HashSet<Id>, StoreError> {
        let prefix = self.engine.layout.pins();
        self.engine.run(move |client| async move {
            let mut pinned = HashSet::new();
            remote::list(&client, &prefix, None, |object| {
                pinned.extend(object.location.filename().and_then(Id::parse));
                true
            })
            .await?;
            Ok(pinned)
        })
    }

    pub(crate) fn ids_beginning(&self, beginning: &str) -> Result<Vec<Id>, StoreError> {
        // The beginning of an id is a span of time.
        let fill = |digit: char| {
            let text: String = beginning.chars().chain(std::iter::repeat(digit)).take(Id::WIDTH).collect();
            Id::parse(&text)
        };
        let (Some(first), Some(last)) = (fill('0'), fill('z')) else { return Ok(Vec::new()) };
        let span = Selection {
            from: Some(first.time()),
            until: Some(last.time() + Duration::from_millis(1)),
            ..Selection::default()
        };
        let mut ids: Vec<Id> = match layout::day(&first) == layout::day(&last) {
            false => self.list(&span)?.into_iter().map(|listed| listed.item.id).collect(),
            true => {
                let layout = self.engine.layout.clone();
                let prefix = layout.entries_like(&layout::day(&first), beginning);
                self.engine.run(move |client| async move {
                    let mut ids = Vec::new();
                    remote::list(&client, &prefix, None, |object| {
                        ids.extend(layout.item(object.location.as_ref()).map(|listed| listed.item.id));
                        true
                    })
                    .await?;
                    Ok(ids)
                })?
            }
        };
        ids.extend(self.local.ids()?);
        ids.retain(|id| id.as_str().starts_with(beginning));
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}
