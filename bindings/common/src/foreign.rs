//! The caller's own store and strategy, in another language: their results as a store and a strategy of the library.

use crate::fault::Fault;
use offcut::Limits;
use offcut::store::{Backend, CustomStore, Id, NewEntry, Store, StoreError};
use offcut::strategy::Opaque;
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

/// The result of the caller's strategy for one text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StrategyResult {
    /// The text to show.
    pub content: String,
    /// The number of lines that are not shown.
    #[serde(alias = "removedLines")]
    pub removed_lines: Option<f64>,
    /// The number of bytes that are not shown.
    #[serde(alias = "removedBytes")]
    pub removed_bytes: Option<f64>,
    /// The end is shown, not the beginning.
    pub tail: bool,
    /// The result of the caller's store, if there is one.
    pub saved: Option<Saved>,
}

impl StrategyResult {
    /// Parses JSON.
    pub fn parse(json: &str) -> Result<StrategyResult, Fault> {
        Ok(serde_json::from_str(json)?)
    }
}

/// The texts that the caller's strategy has to cut, and the budget for each.
pub(crate) type StrategyCalls = Arc<Mutex<Vec<(Vec<u8>, Limits)>>>;

/// A strategy that shows nothing and records its calls.
pub(crate) fn recording_strategy(calls: &StrategyCalls) -> Opaque {
    let calls = Arc::clone(calls);
    Opaque::new(move |text, room| {
        lock(&calls).push((text.to_vec(), room.limits));
        Vec::new()
    })
}

/// A strategy that shows these results of the caller's strategy, in order.
pub(crate) fn strategy_of_results(results: &[String]) -> Opaque {
    let results: Mutex<VecDeque<String>> = Mutex::new(results.iter().cloned().collect());
    Opaque::new(move |_, _| lock(&results).pop_front().unwrap_or_default().into_bytes())
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
