//! The types of the shared store in a build without the feature `s3`. No location parses, so no store exists.

use crate::config::Configuration;
use offcut::store::{Entry, EntryFilter, Id, NewEntry, Pin, Store, StoreError, Writer};
use std::convert::Infallible;
use std::fmt;
use std::path::Path;

#[derive(Clone)]
pub(crate) struct Location(Infallible);

impl Location {
    pub(crate) fn parse(_: &str) -> Result<Location, &'static str> {
        Err(
            "this offcut was built without the feature `s3`: install one that has it, or name a directory with --store",
        )
    }
}

impl fmt::Display for Location {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

pub(crate) struct FleetStore(Infallible);

pub(crate) struct UploadReport {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    pub(crate) error: Option<StoreError>,
}

pub(crate) struct PendingUploads {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
    pub(crate) reason: Option<String>,
}

pub(crate) fn open(location: Location, _: &Configuration) -> Result<FleetStore, String> {
    match location.0 {}
}

macro_rules! unreachable_methods {
    ($($visibility:vis fn $name:ident(&self $(, $argument:ty)*) -> $result:ty;)*) => {
        $($visibility fn $name(&self $(, _: $argument)*) -> $result {
            match self.0 {}
        })*
    };
}

impl FleetStore {
    unreachable_methods! {
        pub(crate) fn location(&self) -> &Location;
        pub(crate) fn spool(&self) -> &Path;
        pub(crate) fn has_pending(&self) -> bool;
        pub(crate) fn pending(&self) -> Result<PendingUploads, StoreError>;
        pub(crate) fn pending_items(&self, &EntryFilter) -> Result<Vec<Entry>, StoreError>;
        pub(crate) fn upload_pending(&self) -> Result<UploadReport, StoreError>;
    }
}

impl Store for FleetStore {
    unreachable_methods! {
        fn create(&self, &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError>;
        fn ids(&self) -> Result<Vec<Id>, StoreError>;
        fn entry(&self, &Id) -> Result<Entry, StoreError>;
        fn read(&self, &Id, u64, &mut [u8]) -> Result<usize, StoreError>;
        fn pin(&self, &Id, Pin) -> Result<(), StoreError>;
        fn remove(&self, &Id) -> Result<(), StoreError>;
    }
}
