//! Against servers in this process that answer as the test says. Needs no S3 server.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod failures;
mod overwriting;
mod queue;
mod server;

use offcut::Context;
use offcut::store::{Entry, EntryState, NewEntry, Store, contract};
use offcut_object_store::{Access, FleetStore, Location, Options};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A store at this endpoint, with credentials, and its spool below this directory.
fn store(endpoint: &str, location: &str, spool: &Path) -> FleetStore {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "testkey"),
        ("AWS_SECRET_ACCESS_KEY", "testsecret"),
        ("AWS_ENDPOINT_URL", endpoint),
    ];
    let access = Access::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())), None);
    let options = Options {
        host: None,
        deadline: Duration::from_secs(60),
        share_commands: false,
        clock: SystemTime::now,
    };
    FleetStore::new(Location::parse(location).unwrap(), access, spool.join("spool"), options)
}

fn put(store: &FleetStore, bytes: &[u8]) -> Entry {
    let context = Context::tool("bash");
    let new = NewEntry::new(&context, "native");
    let mut writer = store.create(&new).unwrap();
    writer.write(bytes).unwrap();
    writer.commit(EntryState::Complete, &contract::summary(bytes)).unwrap()
}
