//! Outputs that wait on this machine, and objects that belong to no output.

use crate::server::{self, Answer, Request};
use crate::{put, store};
use offcut::retention;
use offcut::retrieve::resolve;
use offcut::store::{Store, StrayKind};
use offcut_object_store::FleetStore;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// How the server answers.
#[derive(Default)]
enum Mode {
    /// It denies everything.
    #[default]
    Denied,
    /// It refuses objects whose key contains this text.
    Refused(String),
    /// It does not answer.
    Hanging,
    Working,
}

#[derive(Default)]
struct Bucket {
    mode: Mode,
    objects: BTreeMap<String, Vec<u8>>,
}

fn answer(bucket: &Mutex<Bucket>, request: Request) -> Answer {
    let error = |code: &str| format!("<Error><Code>{code}</Code></Error>").into_bytes();
    let Request { method, path, query, body } = request;
    if matches!(bucket.lock().unwrap().mode, Mode::Hanging) {
        std::thread::sleep(Duration::from_secs(600));
    }
    let mut bucket = bucket.lock().unwrap();
    match &bucket.mode {
        Mode::Denied => return ("403 Forbidden", error("InvalidAccessKeyId")),
        Mode::Refused(text) if method == "PUT" && path.contains(text) => {
            return ("400 Bad Request", error("KeyTooLongError"));
        }
        _ => {}
    }
    let found = bucket.objects.get(&path).cloned();
    match (method.as_str(), found) {
        ("PUT", _) => {
            bucket.objects.insert(path, body);
            ("200 OK", Vec::new())
        }
        ("GET" | "HEAD", Some(found)) => ("200 OK", found),
        ("POST", _) => {
            let body = String::from_utf8(body).unwrap();
            let mut deleted = String::new();
            for part in body.split("<Key>").skip(1) {
                let key = part.split("</Key>").next().unwrap();
                bucket.objects.remove(&format!("/bucket/{key}"));
                deleted += &format!("<Deleted><Key>{key}</Key></Deleted>");
            }
            ("200 OK", format!("<DeleteResult>{deleted}</DeleteResult>").into_bytes())
        }
        ("GET", None) if query.contains("list-type=2") => {
            let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
            let prefix = format!("/bucket/{}", prefix.replace("%2F", "/"));
            let keys = bucket.objects.iter().filter(|(key, _)| key.starts_with(&prefix));
            let rows = keys.map(|(key, bytes)| {
                let (key, size) = (key.strip_prefix("/bucket/").unwrap(), bytes.len());
                format!(
                    "<Contents><Key>{key}</Key><LastModified>2026-01-15T00:00:00.000Z</LastModified>\
                     <Size>{size}</Size></Contents>"
                )
            });
            let rows: String = rows.collect();
            let list = format!("<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>");
            ("200 OK", list.into_bytes())
        }
        _ => ("404 Not Found", error("NoSuchKey")),
    }
}

/// A bucket, its store, and the spool directory.
fn start() -> (Arc<Mutex<Bucket>>, FleetStore, tempfile::TempDir) {
    let bucket = Arc::new(Mutex::new(Bucket::default()));
    let shared = Arc::clone(&bucket);
    let endpoint = server::start(move |request| answer(&shared, request));
    let spool = tempfile::tempdir().unwrap();
    let store = store(&endpoint, "s3://bucket/test", spool.path());
    (bucket, store, spool)
}

#[test]
fn a_refused_output_does_not_keep_the_others() {
    let (bucket, store, _spool) = start();
    let ids = [b"first\n", b"other\n", b"third\n"].map(|bytes| put(&store, bytes).id);
    assert_eq!(store.pending().unwrap().entries, 3);
    bucket.lock().unwrap().mode = Mode::Refused(ids[0].to_string());
    let report = store.upload_pending().unwrap();
    assert_eq!(report.entries, 2);
    assert!(report.error.unwrap().to_string().contains("KeyTooLongError"));
    let pending = store.pending().unwrap();
    assert_eq!(pending.entries, 1);
    assert!(pending.reason.unwrap().contains("KeyTooLongError"), "not the reason of the first attempt");
    bucket.lock().unwrap().mode = Mode::Working;
    assert_eq!(store.upload_pending().unwrap().entries, 1);
    assert_eq!(store.pending().unwrap(), Default::default());
}

#[test]
fn last_is_an_output_of_this_machine_while_the_server_hangs() {
    let (bucket, store, _spool) = start();
    let entry = put(&store, b"output\n");
    bucket.lock().unwrap().mode = Mode::Hanging;
    let start = Instant::now();
    assert_eq!(resolve(&store, "last").unwrap(), entry.id);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn cleaning_removes_objects_whose_entry_is_gone() {
    let (bucket, store, _spool) = start();
    bucket.lock().unwrap().mode = Mode::Working;
    let [gone, kept] = [b"gone\n", b"kept\n"].map(|bytes| put(&store, bytes).id);
    assert_eq!(store.strays(StrayKind::Remnant).unwrap(), []);
    let is_metadata = |key: &str| key.contains("/entry/") && key.contains(gone.as_str());
    bucket.lock().unwrap().objects.retain(|key, _| !is_metadata(key));
    let strays = store.strays(StrayKind::Remnant).unwrap();
    assert_eq!(strays.len(), 1, "{strays:?}");
    assert!(strays[0].place.contains(gone.as_str()) && strays[0].bytes == 5);
    // Younger ones may be in the middle of an upload.
    let young = strays[0].modified.unwrap() + Duration::from_secs(60);
    assert_eq!(retention::remove_remnants(&store, young).unwrap(), 0);
    assert_eq!(retention::remove_remnants(&store, SystemTime::now()).unwrap(), 1);
    assert_eq!(store.ids().unwrap(), [kept]);
    assert!(!bucket.lock().unwrap().objects.keys().any(|key| key.contains(gone.as_str())));
}
