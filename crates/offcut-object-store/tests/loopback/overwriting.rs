//! A server that ignores `If-None-Match` and overwrites, as some do.

use crate::server::{self, Request};
use crate::{put, store};
use offcut::store::UploadState;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    /// Methods and paths, in order.
    requests: Vec<(String, String)>,
}

fn answer(state: &Mutex<State>, request: Request) -> server::Answer {
    let Request { method, path, body, .. } = request;
    let mut state = state.lock().unwrap();
    state.requests.push((method.clone(), path.clone()));
    let found = state.objects.get(&path).cloned();
    match (method.as_str(), found) {
        ("PUT", _) => {
            state.objects.insert(path, body);
            ("200 OK", Vec::new())
        }
        ("GET" | "HEAD", Some(found)) => ("200 OK", found),
        _ => ("404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
    }
}

#[test]
fn looks_up_each_key_first_when_the_server_overwrites() {
    let state = Arc::new(Mutex::new(State::default()));
    let shared = Arc::clone(&state);
    let endpoint = server::start(move |request| answer(&shared, request));
    let spool = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        // The second store remembers what the first one found out.
        let store = store(&endpoint, "s3://bucket/test", spool.path());
        let entry = put(&store, b"some output\n");
        assert_eq!(entry.upload_state, UploadState::Uploaded);
        assert!(store.pending().unwrap().entries == 0);
    }
    let state = state.lock().unwrap();
    let probes =
        state.requests.iter().filter(|(method, key)| method == "PUT" && key.ends_with("/probe")).count();
    assert_eq!(probes, 2, "the same object twice, and only once on this machine");
    let written: Vec<usize> = state
        .requests
        .iter()
        .enumerate()
        .filter(|(_, (method, key))| method == "PUT" && !key.ends_with("/probe"))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(written.len(), 4, "bytes and metadata of each");
    for number in written {
        let key = &state.requests[number].1;
        assert_eq!(
            state.requests[number - 1],
            ("HEAD".to_owned(), key.clone()),
            "looked up before it is written"
        );
    }
}
