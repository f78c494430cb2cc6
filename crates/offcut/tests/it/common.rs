//! What several tests need.

use offcut::store::{Draft, Entry, Id, MemoryStore, Pin, Store, StoreError, Summary, Writer};
use offcut::{Limits, Profile, Rule, Storage, Truncator};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock that stands still, so that two stores make the same ids.
pub(crate) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_771_860_645)
}

pub(crate) fn memory() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(noon))
}

pub(crate) fn native(rule: Rule, store: Arc<dyn Store>) -> Truncator {
    Truncator::new(Profile::native()).storage(Storage::To(store)).rule(rule).unwrap()
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

/// Where a store fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Create,
    WriteAfter(u64),
    Commit,
}

/// A memory store that fails where it is told to.
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
        tried: "write",
        place: "/the/store".to_owned(),
        error: std::io::Error::from_raw_os_error(28),
    }
}

impl Store for Faulty {
    fn create(&self, draft: &Draft<'_>) -> Result<Box<dyn Writer>, StoreError> {
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
    fn commit(self: Box<Self>, summary: &Summary) -> Result<Entry, StoreError> {
        if matches!(self.fault, Fault::Commit) {
            return Err(full());
        }
        self.inner.commit(summary)
    }
}
