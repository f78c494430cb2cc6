//! A store that is down, hangs or refuses: nothing is lost, no call waits long, and the reason is reported.

use crate::harness::{Place, access, all, put, text, variable};
use crate::proxy::{Mode, Proxy};
use offcut::Context;
use offcut::store::{EntryState, NewEntry, Pin, Store, StoreError, UploadState, contract};
use offcut_object_store::{Access, FleetStore, Location};
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn new_entry(context: &Context) -> NewEntry<'_> {
    NewEntry::new(context, "native")
}

#[track_caller]
fn reason(upload_state: &UploadState) -> &str {
    match upload_state {
        UploadState::LocalOnly { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_outage_loses_nothing_and_a_later_upload_succeeds() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let (store, elsewhere) = (place.store_through(&proxy), place.elsewhere("other").store());
    proxy.set(Mode::Down);
    let entries: Vec<_> = (0..3).map(|number| (put(&store, "bash", &text(number, 30_000)), number)).collect();
    for (entry, number) in &entries {
        assert!(reason(&entry.upload_state).contains("the endpoint is down"), "{entry:?}");
        assert!(all(&store, &entry.id) == text(*number, 30_000), "this machine can read it");
        assert_eq!(store.entry(&entry.id).unwrap().state, EntryState::Complete);
    }
    store.pin(&entries[0].0.id, Pin::Pinned).unwrap();
    let pending = store.pending().unwrap();
    assert_eq!((pending.entries, pending.bytes), (3, 90_000));
    assert!(pending.reason.unwrap().contains("the endpoint is down"));
    assert!(store.upload_pending().unwrap().error.is_some());
    assert_eq!(store.pending().unwrap().entries, 3, "a failed attempt loses nothing");

    proxy.set(Mode::Open);
    let report = store.upload_pending().unwrap();
    assert_eq!((report.entries, report.bytes, report.error.is_none()), (3, 90_000, true));
    assert_eq!(store.pending().unwrap(), Default::default());
    for (entry, number) in &entries {
        assert!(all(&elsewhere, &entry.id) == text(*number, 30_000), "others can read it");
        assert_eq!(elsewhere.entry(&entry.id).unwrap().host.as_deref(), Some("machine"));
    }
    assert_eq!(elsewhere.entry(&entries[0].0.id).unwrap().pin, Pin::Pinned, "the pin is uploaded too");
}

#[test]
fn a_hanging_server_is_not_waited_for_after_the_deadline() {
    let (mut place, proxy) = (Place::new(), Proxy::new());
    place.deadline = Duration::from_secs(2);
    let store = place.store_through(&proxy);
    proxy.set(Mode::Silent);
    let begun = Instant::now();
    let entry = put(&store, "bash", &text(1, 30_000));
    assert!(reason(&entry.upload_state).contains("in time"), "{entry:?}");
    // The server would not have answered for minutes.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    proxy.set(Mode::Open);
    let store = place.store();
    assert_eq!(store.upload_pending().unwrap().entries, 1);
    assert!(all(&store, &entry.id) == text(1, 30_000));
}

#[test]
fn an_outage_during_an_upload_leaves_the_output_on_this_machine() {
    let (mut place, proxy) = (Place::new(), Proxy::new());
    place.deadline = Duration::from_secs(3);
    let bytes = text(5, 50 << 20);
    let store = place.store_through(&proxy);
    let mut writer = store.create(&new_entry(&Context::tool("bash"))).unwrap();
    let id = writer.id();
    let (first, rest) = bytes.split_at(30 << 20);
    writer.write(first).unwrap();
    // Some parts are uploaded, others are not.
    while proxy.sent() < 9 << 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.set(Mode::Down);
    writer.write(rest).unwrap();
    let entry = writer.commit(EntryState::Complete, &contract::summary(&bytes)).unwrap();
    assert!(matches!(entry.upload_state, UploadState::LocalOnly { .. }), "not reported as uploaded");
    assert!(matches!(place.elsewhere("other").store().entry(&id), Err(StoreError::NotFound { .. })));
    assert!(all(&store, &id) == bytes);
    drop(store);
    let store = place.store();
    assert_eq!(store.upload_pending().unwrap().entries, 1);
    assert!(all(&place.elsewhere("other").store(), &id) == bytes);
}

#[test]
fn a_short_outage_during_a_long_output_has_no_effect() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let bytes = text(6, 40 << 20);
    let store = place.store_through(&proxy);
    let mut writer = store.create(&new_entry(&Context::tool("bash"))).unwrap();
    let (first, rest) = bytes.split_at(25 << 20);
    writer.write(first).unwrap();
    while proxy.sent() < 1 << 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.set(Mode::Down);
    std::thread::sleep(Duration::from_millis(1500));
    proxy.set(Mode::Open);
    writer.write(rest).unwrap();
    let entry = writer.commit(EntryState::Complete, &contract::summary(&bytes)).unwrap();
    assert_eq!(entry.upload_state, UploadState::Uploaded);
    assert!(all(&place.elsewhere("other").store(), &entry.id) == bytes);
}

#[test]
fn uploads_what_a_dead_process_left() {
    let place = Place::new();
    let store = place.store();
    let mut writer = store.create(&new_entry(&Context::tool("bash"))).unwrap();
    writer.write(b"the beginning of\nsomething").unwrap();
    let id = writer.id();
    assert_eq!(
        place.store().upload_pending().unwrap().entries,
        0,
        "an output that is being written is skipped"
    );
    drop((writer, store));
    assert_eq!(place.store().upload_pending().unwrap().entries, 1);
    let elsewhere = place.elsewhere("other").store();
    let entry = elsewhere.entry(&id).unwrap();
    assert_eq!((entry.state, entry.bytes), (EntryState::Abandoned, 26));
    assert_eq!(all(&elsewhere, &id), b"the beginning of\nsomething");
}

#[test]
fn an_output_that_continues_is_not_uploaded_yet() {
    let place = Place::new();
    let store = place.store();
    let mut writer = store.create(&new_entry(&Context::tool("bash"))).unwrap();
    writer.write(b"so far").unwrap();
    let locked = writer.file();
    let entry = writer.commit(EntryState::Running, &contract::summary(b"so far")).unwrap();
    assert!(reason(&entry.upload_state).contains("captured"));
    assert_eq!(store.entry(&entry.id).unwrap().state, EntryState::Running);
    assert_eq!(store.upload_pending().unwrap().entries, 0);
    drop(locked);
}

/// Checks what an unusable store reports for an output and for a listing.
#[track_caller]
fn check(store: &FleetStore, expected: &str) {
    let entry = put(store, "bash", &text(1, 20_000));
    let reason = reason(&entry.upload_state);
    assert!(reason.contains(expected), "{expected:?} is not in {reason:?}");
    assert!(!reason.contains("testkey") && !reason.contains("testsecret"), "{reason}");
    assert!(all(store, &entry.id) == text(1, 20_000), "the output can be read on this machine");
    let error = store.ids().unwrap_err().to_string();
    assert!(error.contains(expected), "{expected:?} is not in {error:?}");
}

fn keys(key: &str, secret: &str, endpoint: &str) -> Access {
    let variables =
        [("AWS_ACCESS_KEY_ID", key), ("AWS_SECRET_ACCESS_KEY", secret), ("AWS_ENDPOINT_URL", endpoint)];
    Access::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())), None)
}

#[test]
fn each_failure_of_a_real_server_is_classified() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let store = |access: Access| Place::new().store_with(access);
    check(&store(keys("testkey", "wrong", &endpoint)), "wrong credentials (SignatureDoesNotMatch)");
    check(&store(keys("nobody", "testsecret", &endpoint)), "wrong credentials (InvalidAccessKeyId)");
    check(&store(keys("", "", &endpoint)), "no credentials found");
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(&store(access(&format!("http://{nowhere}"))), "the endpoint is down");
    check(&store(access(&endpoint.replace("http:", "https:"))), "TLS error: the server does not speak TLS");
    check(&store(access("http://no-such-host.invalid")), "unknown host");
    let mut place = Place::new();
    place.location = Location::parse("s3://there-is-no-such-bucket/x").unwrap();
    check(&place.store(), "there is no such bucket");
}
