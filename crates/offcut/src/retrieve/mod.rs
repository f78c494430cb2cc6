//! Getting a part of a stored output back.
//!
//! `id | unique prefix | last | last-2 | path ─▶ entry ─▶ a page`: bounded, says where to go on, and is never stored
//! or cut again. Lines end at `\n`; a byte range may lie inside one giant line.

mod page;
mod range;
mod readable;
#[cfg(feature = "search")]
mod search;

#[cfg(feature = "search")]
pub use search::{Case, Found, Hit, HitKind, Query, search};

pub use page::{Page, PageLimits, Progress, page};
pub use range::Range;
pub use readable::{View, readable};

use crate::store::{Entry, Id, Store, StoreError};
use std::path::Path;

/// A part that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The store failed, or has no such entry.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reference names no entry.
    #[error("no stored output {reference:?}; `offcut ls` lists what there is")]
    Unknown {
        /// What was asked for.
        reference: String,
    },
    /// The reference names several.
    #[error(
        "{reference:?} is the beginning of {count} ids, among them {first} and {second}; write more of it"
    )]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// How many entries it could be.
        count: usize,
        /// One of them.
        first: Id,
        /// Another.
        second: Id,
    },
    /// The range is not one.
    #[error("{text:?} is not a range: {expected}")]
    NotARange {
        /// What was given.
        text: String,
        /// What a range looks like.
        expected: &'static str,
    },
    /// The pattern is not a regular expression.
    #[error("the pattern is not a regular expression: {reason}")]
    NotAPattern {
        /// What is wrong with it.
        reason: String,
    },
    /// The range begins behind the end.
    #[error("{id} ends before {what} {asked}: it has {total}")]
    PastTheEnd {
        /// The entry.
        id: Id,
        /// `line` or `byte`.
        what: &'static str,
        /// The first that was asked for.
        asked: u64,
        /// How many there are.
        total: u64,
    },
}

/// Looks at many entries at once, in the order given.
pub fn entries(store: &dyn Store, ids: &[Id]) -> Vec<Result<Entry, StoreError>> {
    store.entries(ids)
}

/// Finds the entry that `reference` names.
pub fn resolve(store: &dyn Store, reference: &str) -> Result<Id, RetrieveError> {
    let unknown = || RetrieveError::Unknown { reference: reference.chars().take(200).collect() };
    let name = reference.strip_prefix("offcut://").unwrap_or(reference);
    if let Some(id) = Id::parse(name) {
        return store.entry(&id).map(|entry| entry.id).map_err(RetrieveError::from);
    }
    if let Some(back) = back(name) {
        return store.newest(back.saturating_add(1))?.get(back).copied().ok_or_else(unknown);
    }
    if Id::is_prefix(name) {
        let ids = store.ids_beginning(name)?;
        let mut found = ids.iter();
        return match (found.next(), found.next()) {
            (None, _) => Err(unknown()),
            (Some(&only), None) => Ok(only),
            (Some(&first), Some(&second)) => Err(RetrieveError::Ambiguous {
                reference: name.to_owned(),
                count: 2 + found.count(),
                first,
                second,
            }),
        };
    }
    by_path(store, &store.ids()?, Path::new(name)).ok_or_else(unknown)
}

/// `last` is 0, `last-2` is 2.
fn back(name: &str) -> Option<usize> {
    match name.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}

/// The entry whose file is `path`; the newest are looked at first.
fn by_path(store: &dyn Store, ids: &[Id], path: &Path) -> Option<Id> {
    let is_it = |entry: &Entry| {
        match &entry.path {
            Some(known) => {
                known == path || known.canonicalize().ok()? == path.canonicalize().ok()? && known.is_file()
            }
            None => false,
        }
        .then_some(entry.id)
    };
    let named = path.file_stem().and_then(|stem| Id::parse(stem.to_str()?)).filter(|id| ids.contains(id));
    named
        .into_iter()
        .chain(ids.iter().rev().copied())
        .find_map(|id| store.entry(&id).ok().as_ref().and_then(is_it))
}
