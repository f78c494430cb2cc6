//! Helpers for several tests.

use offcut::results::{BoundedJson, Middleware, ResultOutcome, ShapeChoice};
use offcut::store::{
    Entry, EntryState, FsStore, Id, MemoryStore, NewEntry, Pin, Store, StoreError, Summary, Writer,
};
use offcut::{Context, Limits, Preview, Profile, Reach, Rule, Saved, Storage, Truncator};
use proptest::sample::Index;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A fixed clock, so that two stores create the same ids.
pub(crate) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_771_860_645)
}

pub(crate) fn memory() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(noon))
}

pub(crate) fn native(rule: Rule, store: Arc<dyn Store>) -> Truncator {
    let reach = Reach::Shell { program: "offcut".to_owned() };
    Truncator::new(Profile::native()).storage(Storage::To(store)).reach(reach).rule(rule).unwrap()
}

pub(crate) fn bytes(most: u64) -> Limits {
    Limits { bytes: Some(most), ..Limits::default() }
}

pub(crate) fn lines(most: u64) -> Limits {
    Limits { lines: Some(most), ..Limits::default() }
}

pub(crate) fn read_all(store: &dyn Store, id: &Id) -> Vec<u8> {
    let mut buffer = vec![0; store.entry(id).unwrap().bytes as usize + 1];
    let count = store.read(id, 0, &mut buffer).unwrap();
    buffer.truncate(count);
    buffer
}

/// Where a [`Faulty`] store fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Create,
    WriteAfter(u64),
    Commit,
}

/// A memory store that fails at a chosen operation.
pub(crate) struct Faulty {
    pub(crate) inner: MemoryStore,
    pub(crate) fault: Fault,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Arc<Faulty> {
        Arc::new(Faulty { inner: MemoryStore::new(noon), fault })
    }
}

pub(crate) fn full() -> StoreError {
    StoreError::Io {
        action: "write",
        place: "/the/store".to_owned(),
        error: std::io::Error::from_raw_os_error(28),
    }
}

impl Store for Faulty {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        if matches!(self.fault, Fault::Create) {
            return Err(full());
        }
        Ok(Box::new(FaultyWriter { inner: self.inner.create(draft)?, fault: self.fault, written: 0 }))
    }
    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.inner.ids()
    }
    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.inner.entry(id)
    }
    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.inner.read(id, offset, buffer)
    }
    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.inner.pin(id, pin)
    }
    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.inner.remove(id)
    }
}

struct FaultyWriter {
    inner: Box<dyn Writer>,
    fault: Fault,
    written: u64,
}

impl Writer for FaultyWriter {
    fn id(&self) -> Id {
        self.inner.id()
    }
    fn path(&self) -> Option<&Path> {
        self.inner.path()
    }
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if let Fault::WriteAfter(most) = self.fault
            && self.written + bytes.len() as u64 > most
        {
            let fits = (most - self.written) as usize;
            self.written = most;
            self.inner.write(&bytes[..fits])?;
            return Err(full());
        }
        self.written += bytes.len() as u64;
        self.inner.write(bytes)
    }
    fn commit(self: Box<Self>, state: EntryState, summary: &Summary) -> Result<Entry, StoreError> {
        if matches!(self.fault, Fault::Commit) {
            return Err(full());
        }
        self.inner.commit(state, summary)
    }
}

/// The preview of a text that arrives in chunks, divided at these indices.
pub(crate) fn in_pieces(truncator: &Truncator, text: &[u8], mut places: Vec<Index>) -> String {
    places.sort_by_key(|place| place.index(text.len() + 1));
    let mut spool = truncator.spool(Context::default());
    let mut from = 0;
    for place in places {
        let to = place.index(text.len() + 1);
        spool.observe(&text[from..to]);
        from = to;
    }
    spool.observe(&text[from..]);
    String::from_utf8_lossy(spool.finish().content()).into_owned()
}

pub(crate) fn middleware(profile: &str, rule: Rule) -> (Middleware, Arc<FsStore>, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), noon));
    let truncator = Truncator::new(Profile::named(profile).unwrap())
        .storage(Storage::To(store.clone()))
        .rule(rule)
        .unwrap();
    (Middleware::new(truncator), store, directory)
}

/// Bounds a tool result with a profile. Returns the new value and the outcome.
pub(crate) fn through(middleware: &Middleware, result: &Value, tool: &str) -> (Value, ResultOutcome) {
    let text = result.to_string();
    let BoundedJson { json, mut results, .. } =
        middleware.bound_json(&text, ShapeChoice::Auto, &Context::tool(tool)).unwrap();
    assert_eq!(results.len(), 1, "{}", &text[..text.len().min(200)]);
    (serde_json::from_str(&json).unwrap(), results.remove(0).outcome)
}

#[track_caller]
pub(crate) fn cut(outcome: ResultOutcome) -> Box<Preview> {
    match outcome {
        ResultOutcome::Truncated(preview) => preview,
        other => panic!("not truncated: {other:?}"),
    }
}

pub(crate) fn stored(preview: &Preview) -> Vec<u8> {
    match preview.saved() {
        Saved::Complete(entry) => std::fs::read(entry.path.as_ref().unwrap()).unwrap(),
        other => panic!("not stored: {other:?}"),
    }
}

pub(crate) fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line{number}")).collect::<Vec<_>>().join("\n")
}
