//! Reading and searching stored outputs.
//!
//! [`resolve`] finds the entry that an id, a unique prefix, `last`, `last-2` or a path names; [`page`] reads a bounded part
//! of it and names the next one; `search` (feature `search`) finds matching lines. [`ReadTool`] is all of this as a tool for
//! a model. Lines end at `\n`; a byte range may be inside one very long line.

#[cfg(feature = "search")]
mod long_lines;
mod page;
mod range;
pub(crate) mod readable;
#[cfg(feature = "search")]
mod search;
mod source;
mod tool;
mod verified;

#[cfg(feature = "search")]
pub use search::{Hit, HitKind, OutputMatches, Query, Search, SearchResult, search};

pub use page::{Page, PageLimits, Progress, page};
pub use range::Range;
pub use readable::readable;
pub(crate) use source::Source;
pub use tool::{ReadTool, ToolAnswer, ToolError};
pub use verified::{ChecksumMismatch, VerifiedReader};

use crate::store::{Entry, EntryState, Id, Store, StoreError};
use std::path::Path;

/// Why a stored output could not be read or searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetrieveError {
    /// The store failed, or has no such entry.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The reference names no entry.
    #[error("no stored output {reference:?}")]
    Unknown {
        /// The reference.
        reference: String,
    },
    /// The reference cannot be an id.
    #[error("{reference:?} is not the id of a stored output")]
    NotAnId {
        /// The reference.
        reference: String,
    },
    /// The reference names several entries.
    #[error("{reference:?} matches {count} ids, among them {first} and {second}: use a longer prefix")]
    Ambiguous {
        /// The reference.
        reference: String,
        /// The number of entries that match.
        count: usize,
        /// One of them.
        first: Id,
        /// Another.
        second: Id,
    },
    /// The range cannot be parsed.
    #[error("{text:?} is not a range: {expected}")]
    NotARange {
        /// The text.
        text: String,
        /// The expected form.
        expected: &'static str,
    },
    /// More than one range was given.
    #[error("lines, bytes and around exclude each other: use one of them")]
    SeveralRanges,
    /// The pattern is not a regular expression.
    #[error("the pattern is not a regular expression: {reason}")]
    NotAPattern {
        /// What is wrong with it.
        reason: String,
    },
    /// Bytes are not those that were stored.
    #[error(transparent)]
    Mismatch(#[from] ChecksumMismatch),
    /// The file of an entry is missing, or does not have the recorded size.
    #[error("{id} is damaged: {reason}; run the tool again, or remove the entry with `offcut rm {id}`")]
    Damaged {
        /// The entry.
        id: Id,
        /// What is wrong with it.
        reason: String,
    },
    /// The range starts after the end.
    #[error("{id} has no {what} {asked}: it has {total} {what}s{}", rest.as_deref().unwrap_or_default())]
    PastTheEnd {
        /// The entry.
        id: Id,
        /// `line` or `byte`.
        what: &'static str,
        /// The start of the range.
        asked: u64,
        /// How many there are.
        total: u64,
        /// What the message adds if the output had more than the entry: why the rest is not there.
        rest: Option<String>,
    },
}

impl RetrieveError {
    /// What is wrong with an entry of which these blocks were found not to be as they were stored.
    pub fn damage(entry: &Entry, mismatches: Vec<ChecksumMismatch>) -> Vec<RetrieveError> {
        match &entry.state {
            // The digests of a file that is too short or too long say nothing more.
            EntryState::Damaged { reason } => {
                vec![RetrieveError::Damaged { id: entry.id, reason: reason.clone() }]
            }
            _ => mismatches.into_iter().map(RetrieveError::from).collect(),
        }
    }
}

/// Finds the entry that `reference` names: an id, a unique prefix, `last`, `last-2`, `offcut://ID` or a path.
pub fn resolve(store: &dyn Store, reference: &str) -> Result<Id, RetrieveError> {
    let unknown = || RetrieveError::Unknown { reference: reference.chars().take(200).collect() };
    let name = reference.strip_prefix("offcut://").unwrap_or(reference);
    if let Some(id) = Id::parse(name) {
        return match store.entry(&id) {
            Err(error @ StoreError::NotFound { .. }) => Err(error.into()),
            // A damaged entry exists: it can be removed.
            _ => Ok(id),
        };
    }
    if let Some(age) = age(name) {
        return store.newest(age.saturating_add(1))?.get(age).copied().ok_or_else(unknown);
    }
    if Id::is_prefix(name) {
        let ids = store.ids_with_prefix(name)?;
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

/// Like [`resolve`] for a reference from a model or a client: paths are rejected before the store is used.
pub fn resolve_id(store: &dyn Store, reference: &str) -> Result<Id, RetrieveError> {
    let name = reference.trim();
    let name = name.strip_prefix("offcut://").unwrap_or(name);
    if Id::is_prefix(name) || age(name).is_some() {
        return resolve(store, name);
    }
    Err(RetrieveError::NotAnId { reference: name.chars().take(80).collect() })
}

/// How many entries are newer than the one named: 0 for `last`, 2 for `last-2`.
fn age(name: &str) -> Option<usize> {
    match name.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('-')?.parse().ok(),
    }
}

/// The entry whose file is `path`; newer entries are checked first. A file that does not exist any more may have been moved:
/// then the id in its name decides.
fn by_path(store: &dyn Store, ids: &[Id], path: &Path) -> Option<Id> {
    let matching = |entry: &Entry| {
        match &entry.path {
            Some(known) => {
                known == path || known.canonicalize().ok()? == path.canonicalize().ok()? && known.is_file()
            }
            None => false,
        }
        .then_some(entry.id)
    };
    let named = path.file_stem().and_then(|stem| Id::parse(stem.to_str()?)).filter(|id| ids.contains(id));
    if named.is_some() && !path.exists() {
        return named;
    }
    named
        .into_iter()
        .chain(ids.iter().rev().copied())
        .find_map(|id| store.entry(&id).ok().as_ref().and_then(matching))
}
