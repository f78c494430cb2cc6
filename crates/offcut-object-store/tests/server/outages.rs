//! A store that is away, silent or unwilling: nothing is lost, nobody waits long, and the reason is told.

use crate::harness::{Place, access, all, put, text, variable};
use crate::proxy::{Mode, Proxy};
use offcut::Context;
use offcut::store::{EntryState, NewEntry, Pin, Reading, Store, StoreError, Summary, UploadState, contract};
use offcut_object_store::{Access, FleetStore, Location};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn draft(context: &Context) -> NewEntry<'_> {
    NewEntry { context, profile: "native", file_name: "x", reading: Reading::Plain }
}

#[track_caller]
fn reason(upload_state: &UploadState) -> &str {
    match upload_state {
        UploadState::LocalOnly { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_outage_loses_nothing() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let (store, elsewhere) = (place.store_through(&proxy), place.elsewhere("other").store());
    proxy.set(Mode::Away);
    let made: Vec<_> = (0..3).map(|number| (put(&store, "bash", &text(number, 30_000)), number)).collect();
    for (entry, number) in &made {
        assert!(reason(&entry.upload_state).contains("the endpoint is down"), "{entry:?}");
        assert!(all(&store, &entry.id) == text(*number, 30_000), "this machine can read it");
        assert_eq!(store.entry(&entry.id).unwrap().completeness, EntryState::Complete);
    }
    store.pin(&made[0].0.id, Pin::Pinned).unwrap();
    let waiting = store.waiting().unwrap();
    assert_eq!((waiting.entries, waiting.bytes), (3, 90_000));
    assert!(waiting.reason.unwrap().contains("the endpoint is down"));
    assert!(store.move_up().unwrap().error.is_some());
    assert_eq!(store.waiting().unwrap().entries, 3, "a failed attempt loses nothing either");

    proxy.set(Mode::Open);
    let moved = store.move_up().unwrap();
    assert_eq!((moved.entries, moved.bytes, moved.error.is_none()), (3, 90_000, true));
    assert_eq!(store.waiting().unwrap(), Default::default());
    for (entry, number) in &made {
        assert!(all(&elsewhere, &entry.id) == text(*number, 30_000), "others can read it");
        assert_eq!(elsewhere.entry(&entry.id).unwrap().host.as_deref(), Some("machine"));
    }
    assert_eq!(elsewhere.entry(&made[0].0.id).unwrap().pin, Pin::Pinned, "a pin moves with it");
}

#[test]
fn a_silent_server_is_not_waited_for() {
    let (mut place, proxy) = (Place::new(), Proxy::new());
    place.deadline = Duration::from_secs(2);
    let store = place.store_through(&proxy);
    proxy.set(Mode::Silent);
    let begun = Instant::now();
    let entry = put(&store, "bash", &text(1, 30_000));
    assert!(reason(&entry.upload_state).contains("in time"), "{entry:?}");
    // The server would have been silent for minutes.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    proxy.set(Mode::Open);
    let store = place.store();
    assert_eq!(store.move_up().unwrap().entries, 1);
    assert!(all(&store, &entry.id) == text(1, 30_000));
}

#[test]
fn a_server_that_dies_in_the_middle() {
    let (mut place, proxy) = (Place::new(), Proxy::new());
    place.deadline = Duration::from_secs(3);
    let bytes = text(5, 50 << 20);
    let store = place.store_through(&proxy);
    let mut writer = store.create(&draft(&Context::tool("bash"))).unwrap();
    let id = writer.id();
    let (first, rest) = bytes.split_at(30 << 20);
    writer.write(first).unwrap();
    // Some parts have arrived, others have not.
    while proxy.sent() < 9 << 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.set(Mode::Away);
    writer.write(rest).unwrap();
    let entry = writer.commit(&contract::summary(&bytes)).unwrap();
    assert!(matches!(entry.upload_state, UploadState::LocalOnly { .. }), "never called kept where it is not");
    assert!(matches!(place.elsewhere("other").store().entry(&id), Err(StoreError::NotFound { .. })));
    assert!(all(&store, &id) == bytes);
    drop(store);
    let store = place.store();
    assert_eq!(store.move_up().unwrap().entries, 1);
    assert!(all(&place.elsewhere("other").store(), &id) == bytes);
}

#[test]
fn a_hiccup_in_the_middle_is_not_noticed() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let bytes = text(6, 40 << 20);
    let store = place.store_through(&proxy);
    let mut writer = store.create(&draft(&Context::tool("bash"))).unwrap();
    let (first, rest) = bytes.split_at(25 << 20);
    writer.write(first).unwrap();
    while proxy.sent() < 1 << 20 {
        std::thread::sleep(Duration::from_millis(5));
    }
    proxy.set(Mode::Away);
    std::thread::sleep(Duration::from_millis(1500));
    proxy.set(Mode::Open);
    writer.write(rest).unwrap();
    let entry = writer.commit(&contract::summary(&bytes)).unwrap();
    assert_eq!(entry.upload_state, UploadState::Uploaded);
    assert!(all(&place.elsewhere("other").store(), &entry.id) == bytes);
}

#[test]
fn what_a_dead_process_left_is_moved_up_too() {
    let place = Place::new();
    let store = place.store();
    let mut writer = store.create(&draft(&Context::tool("bash"))).unwrap();
    writer.write(b"the beginning of\nsomething").unwrap();
    let id = writer.id();
    assert_eq!(place.store().move_up().unwrap().entries, 0, "what is being written is left alone");
    drop((writer, store));
    assert_eq!(place.store().move_up().unwrap().entries, 1);
    let elsewhere = place.elsewhere("other").store();
    let entry = elsewhere.entry(&id).unwrap();
    assert_eq!((entry.completeness, entry.bytes), (EntryState::Abandoned, 26));
    assert_eq!(all(&elsewhere, &id), b"the beginning of\nsomething");
}

#[test]
fn an_output_that_goes_on_stays_here_until_it_ends() {
    let place = Place::new();
    let store = place.store();
    let mut writer = store.create(&draft(&Context::tool("bash"))).unwrap();
    writer.write(b"so far").unwrap();
    let summary = Summary { completeness: EntryState::Writing, ..contract::summary(b"so far") };
    let held = writer.file();
    let entry = writer.commit(&summary).unwrap();
    assert!(reason(&entry.upload_state).contains("captured"));
    assert_eq!(store.entry(&entry.id).unwrap().completeness, EntryState::Writing);
    assert_eq!(store.move_up().unwrap().entries, 0);
    drop(held);
}

/// One door: a store that cannot be used, and what is said about it.
#[track_caller]
fn check(store: &FleetStore, says: &str) {
    let entry = put(store, "bash", &text(1, 20_000));
    let reason = reason(&entry.upload_state);
    assert!(reason.contains(says), "{says:?} is not in {reason:?}");
    assert!(!reason.contains("testkey") && !reason.contains("testsecret"), "{reason}");
    assert!(all(store, &entry.id) == text(1, 20_000), "the output is there all the same");
    let error = store.ids().unwrap_err().to_string();
    assert!(error.contains(says), "{says:?} is not in {error:?}");
}

fn keys(key: &str, secret: &str, endpoint: &str) -> Access {
    let variables =
        [("AWS_ACCESS_KEY_ID", key), ("AWS_SECRET_ACCESS_KEY", secret), ("AWS_ENDPOINT_URL", endpoint)];
    Access::new(variables.map(|(name, value)| (name.to_owned(), value.to_owned())), None)
}

#[test]
fn each_failure_is_told_by_its_name() {
    let endpoint = variable("AWS_ENDPOINT_URL");
    let store = |access: Access| Place::new().store_by(access);
    check(&store(keys("testkey", "wrong", &endpoint)), "wrong credentials (SignatureDoesNotMatch)");
    check(&store(keys("nobody", "testsecret", &endpoint)), "wrong credentials (InvalidAccessKeyId)");
    check(&store(keys("", "", &endpoint)), "there are no keys");
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(&store(access(&format!("http://{nowhere}"))), "the endpoint is down");
    check(&store(access(&endpoint.replace("http:", "https:"))), "TLS error: the server does not speak TLS");
    check(&store(access("http://no-such-host.invalid")), "the endpoint's name is not known");
    let mut place = Place::new();
    place.location = Location::parse("s3://there-is-no-such-bucket/x").unwrap();
    check(&place.store(), "there is no such bucket");
}

#[test]
fn a_wrong_clock_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let body = "<Error><Code>RequestTimeTooSkewed</Code></Error>";
            let mut request = [0; 4096];
            let _ = client.read(&mut request);
            let length = body.len();
            let head =
                format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = client.write_all(format!("{head}{body}").as_bytes());
            // Whatever else is sent is read, so that the answer is not lost by a reset.
            let _ = client.shutdown(std::net::Shutdown::Write);
            let _ = std::io::copy(&mut client, &mut std::io::sink());
        }
    });
    check(&Place::new().store_by(access(&endpoint)), "this machine's clock is wrong");
}
