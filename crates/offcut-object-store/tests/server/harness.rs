//! A prefix of the test bucket and a spool directory for each test.

use crate::proxy::Proxy;
use offcut::Context;
use offcut::store::{Entry, EntryFilter, EntryState, Id, NewEntry, Store, contract};
use offcut_object_store::{Access, FleetStore, Location, Options};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(crate) struct Place {
    pub(crate) location: Location,
    spool: TempDir,
    pub(crate) deadline: Duration,
    pub(crate) host: &'static str,
    pub(crate) share_commands: bool,
}

/// A variable that `scripts/with-seaweedfs` sets.
#[track_caller]
pub(crate) fn variable(name: &str) -> String {
    std::env::var(name)
        .unwrap_or_else(|_| panic!("{name} is not set: run the test with scripts/with-seaweedfs"))
}

/// The address of the server.
pub(crate) fn server() -> String {
    variable("AWS_ENDPOINT_URL").strip_prefix("http://").unwrap().to_owned()
}

/// Valid credentials, with this endpoint.
pub(crate) fn access(endpoint: &str) -> Access {
    let keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"]
        .map(|name| (name.to_owned(), variable(name)));
    Access::new(keys.into_iter().chain([("AWS_ENDPOINT_URL".to_owned(), endpoint.to_owned())]), None)
}

impl Place {
    pub(crate) fn new() -> Place {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let uri = format!("s3://{}/test/{since}-{number}", variable("OFFCUT_TEST_BUCKET"));
        Place {
            location: Location::parse(&uri).unwrap(),
            spool: tempfile::tempdir().unwrap(),
            deadline: Duration::from_secs(120),
            host: "machine",
            share_commands: false,
        }
    }

    /// The same bucket and prefix, seen from another machine.
    pub(crate) fn elsewhere(&self, host: &'static str) -> Place {
        Place { location: self.location.clone(), spool: tempfile::tempdir().unwrap(), host, ..*self }
    }

    pub(crate) fn store(&self) -> FleetStore {
        self.store_with(access(&variable("AWS_ENDPOINT_URL")))
    }

    pub(crate) fn store_through(&self, proxy: &Proxy) -> FleetStore {
        self.store_with(access(&proxy.endpoint()))
    }

    pub(crate) fn store_with(&self, access: Access) -> FleetStore {
        let options = Options {
            host: Some(self.host.to_owned()),
            deadline: self.deadline,
            share_commands: self.share_commands,
            clock: SystemTime::now,
        };
        FleetStore::new(self.location.clone(), access, self.spool.path().join("spool"), options)
    }

    /// Whether the spool has nothing but outputs that were abandoned on purpose.
    pub(crate) fn has_nothing_pending(&self) -> bool {
        let items = self.store().pending_items(&EntryFilter::default()).unwrap();
        items.iter().all(|item| item.state == EntryState::Abandoned)
    }
}

pub(crate) fn put(store: &FleetStore, tool: &str, bytes: &[u8]) -> Entry {
    let context = Context { session: Some(format!("session of {tool}")), ..Context::tool(tool) };
    let mut writer = store.create(&NewEntry::new(&context, "native")).unwrap();
    for chunk in bytes.chunks(1 << 20) {
        writer.write(chunk).unwrap();
    }
    writer.commit(EntryState::Complete, &contract::summary(bytes)).unwrap()
}

pub(crate) fn all(store: &dyn Store, id: &Id) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = store.read(id, bytes.len() as u64, &mut buffer).unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        if count < buffer.len() {
            return bytes;
        }
    }
}

/// Lines that differ from each other and from those of another seed.
pub(crate) fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes + 64);
    let mut number = 0_u64;
    while text.len() < bytes {
        number += 1;
        text.extend_from_slice(format!("{seed}: line {number} of what a tool printed\n").as_bytes());
    }
    text.truncate(bytes);
    text
}

/// The number in this variable, or the default.
pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
