//! The caller's own store and strategy, in another language: their results as a store and a strategy of the library.

use crate::report::StrategyRequest;
use offcut::limits::PerUnit;
use offcut::profile::Settings;
use offcut::store::{Backend, CustomStore, Id, NewEntry, Store, StoreError};
use offcut::strategy::{CutDecision, Opaque, OwnText, Room, Selector, Strategy};
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The result of the caller's store for one output.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Saved {
    /// The output is saved: its path or name.
    Path(String),
    /// The output is not saved, and why.
    Error(String),
}

/// How the caller's strategy works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StrategyKind {
    /// It gets a text over the limits and the room for it, and returns the text to show.
    Text,
    /// A strategy of the coding agent's document (seed 000 §3.1): it gets every text and the settings, and decides.
    Decision,
}

/// The result of the caller's strategy for a text that is cut.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum StrategyOutput {
    /// The text to show.
    Text(String),
    /// The text to show, and the strategy's own counts of what is not shown.
    Counted {
        /// The text to show.
        content: String,
        /// Lines.
        #[serde(alias = "removedLines")]
        removed_lines: Option<f64>,
        /// Bytes.
        #[serde(alias = "removedBytes")]
        removed_bytes: Option<f64>,
    },
}

impl From<StrategyOutput> for OwnText {
    fn from(made: StrategyOutput) -> OwnText {
        match made {
            StrategyOutput::Text(content) => content.into_bytes().into(),
            StrategyOutput::Counted { content, removed_lines, removed_bytes } => {
                let count =
                    |given: Option<f64>| given.filter(|count| *count >= 0.0).map(|count| count as u64);
                let (lines, bytes) = (count(removed_lines), count(removed_bytes));
                // The document counts 0 for a strategy that does not count.
                let lines = if bytes.is_none() { lines.or(Some(0)) } else { lines };
                OwnText {
                    content: content.into_bytes(),
                    removed: PerUnit { lines, bytes, ..PerUnit::default() },
                }
            }
        }
    }
}

/// A strategy that shows nothing and records what the caller's strategy has to do.
#[derive(Clone)]
pub(crate) struct RecordingStrategy {
    pub(crate) kind: StrategyKind,
    pub(crate) requests: Arc<Mutex<Vec<StrategyRequest>>>,
}

impl Strategy for RecordingStrategy {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        let Self { kind, requests } = self.clone();
        Opaque::new(move |text, room| {
            if kind == StrategyKind::Text {
                lock(&requests).push(StrategyRequest::within(text, room.limits));
            }
            Vec::new()
        })
        .start(settings)
    }

    fn decide(&self, output: &[u8], settings: &Settings) -> CutDecision {
        if self.kind == StrategyKind::Text {
            return CutDecision::ByLimits;
        }
        lock(&self.requests).push(StrategyRequest::by_settings(output, settings));
        CutDecision::Cut
    }
}

/// A strategy that shows the results of the caller's strategy, in order. A text without a result passes.
pub(crate) struct StrategyOfResults {
    kind: StrategyKind,
    results: Arc<Mutex<VecDeque<Option<StrategyOutput>>>>,
}

impl StrategyOfResults {
    pub(crate) fn new(kind: StrategyKind, results: &[Option<StrategyOutput>]) -> StrategyOfResults {
        StrategyOfResults { kind, results: Arc::new(Mutex::new(results.iter().cloned().collect())) }
    }
}

impl Strategy for StrategyOfResults {
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        let results = Arc::clone(&self.results);
        let next = move |_: &[u8], _: &Room<'_>| {
            lock(&results).pop_front().flatten().map(OwnText::from).unwrap_or_default()
        };
        Opaque::new(next).start(settings)
    }

    fn decide(&self, _output: &[u8], _settings: &Settings) -> CutDecision {
        let mut results = lock(&self.results);
        match (self.kind, results.front()) {
            (StrategyKind::Text, _) => CutDecision::ByLimits,
            (StrategyKind::Decision, Some(Some(_))) => CutDecision::Cut,
            (StrategyKind::Decision, _) => {
                results.pop_front();
                CutDecision::Pass
            }
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The results of the caller's store, which has already saved everything. Its bytes are not needed again.
struct SaveResults {
    results: Mutex<VecDeque<Saved>>,
    locations: Mutex<BTreeMap<Id, PathBuf>>,
}

/// A store that returns these results, in order.
pub(crate) fn store_of_results(saved: &[Saved]) -> impl Store + use<> {
    let results = Mutex::new(saved.iter().cloned().collect());
    CustomStore::new(SaveResults { results, locations: Mutex::default() }, SystemTime::now)
}

impl Backend for SaveResults {
    fn create(&self, id: &Id, _new: &NewEntry<'_>) -> Result<Box<dyn Write + Send>, StoreError> {
        let reason = match lock(&self.results).pop_front() {
            Some(Saved::Path(path)) => {
                lock(&self.locations).insert(*id, path.into());
                return Ok(Box::new(std::io::sink()));
            }
            Some(Saved::Error(reason)) => reason,
            None => "the store returned no result".to_owned(),
        };
        Err(StoreError::Refused { reason })
    }

    fn location(&self, id: &Id) -> Option<PathBuf> {
        lock(&self.locations).get(id).cloned()
    }

    fn read(&self, id: &Id, _offset: u64, _buffer: &mut [u8]) -> Result<usize, StoreError> {
        Err(StoreError::NotFound { id: id.to_string() })
    }

    fn remove(&self, _id: &Id) -> Result<(), StoreError> {
        Ok(())
    }
}
