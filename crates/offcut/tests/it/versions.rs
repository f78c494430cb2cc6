//! Entries of other format versions: version 1 from a fixture that an old build wrote, and one newer than this build's.

use crate::common::noon;
use offcut::cut::GapReason;
use offcut::event::DiscardEvents;
use offcut::retention::{self, Candidate, Policy, Protection};
use offcut::retrieve::{self, PageLimits, Query, Range};
use offcut::store::{EntryFilter, EntryState, FsStore, Id, Pin, Reading, Store, StoreError};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

const COMPLETE: &str = "1q43346ta0kc891g";
const EXIT_CODE: &str = "1q433480pgytkaaq";
const CAPPED: &str = "1q43348wv0qs7j3v";
const READABLE: &str = "1q433dvt7z2jf8xc";
const PINNED: &str = "1q433dw7nb5b5r8w";
const ABANDONED: &str = "1q433dx2psk3s94h";
const UNFINISHED: &str = "1q433vbvwa7frrk0";

const ALL: [&str; 7] = [COMPLETE, EXIT_CODE, CAPPED, READABLE, PINNED, ABANDONED, UNFINISHED];

fn id(text: &str) -> Id {
    Id::parse(text).unwrap()
}

/// A copy of the fixture: reading an unfinished entry completes its metadata.
fn version_1() -> (tempfile::TempDir, FsStore) {
    let directory = tempfile::tempdir().unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/store-v1");
    for folder in ["", ".offcut"] {
        fs::create_dir_all(directory.path().join("s").join(folder)).unwrap();
        for item in fs::read_dir(fixture.join(folder)).unwrap().map(Result::unwrap) {
            if item.file_type().unwrap().is_file() {
                fs::copy(item.path(), directory.path().join("s").join(folder).join(item.file_name()))
                    .unwrap();
            }
        }
    }
    let store = FsStore::new(directory.path().join("s"), noon);
    (directory, store)
}

#[test]
fn lists_version_1_with_states_and_sizes() {
    let (_directory, store) = version_1();
    let entries = store.select(&EntryFilter::default()).unwrap();
    let found: Vec<_> = entries.iter().rev().map(|entry| (entry.id, entry.bytes, entry.lines)).collect();
    let sizes = [
        (5292, Some(300)),
        (3292, Some(200)),
        (2000, None),
        (3694, Some(488)),
        (1812, Some(120)),
        (2742, None),
        (1892, None),
    ];
    let expected: Vec<_> =
        ALL.iter().zip(sizes).map(|(text, (bytes, lines))| (id(text), bytes, lines)).collect();
    assert_eq!(found, expected);
    let state = |text: &str| store.entry(&id(text)).unwrap().state;
    for complete in [COMPLETE, EXIT_CODE, READABLE, PINNED] {
        assert_eq!(state(complete), EntryState::Complete, "{complete}");
    }
    let reason = "one output may have at most 2000 bytes (max_output)".to_owned();
    assert_eq!(state(CAPPED), EntryState::Capped { reason });
    assert_eq!(state(ABANDONED), EntryState::Abandoned);
    assert_eq!(state(UNFINISHED), EntryState::Abandoned);
}

#[test]
fn reads_the_fields_of_version_1() {
    let (_directory, store) = version_1();
    let entry = store.entry(&id(COMPLETE)).unwrap();
    let context = &entry.context;
    assert_eq!(
        [&context.tool, &context.call_id, &context.session].map(Option::as_deref),
        [Some("bash"), Some("call-1"), Some("s-1")]
    );
    assert_eq!((entry.profile.as_str(), entry.strategy, entry.retention), ("native", None, None));
    let summary = entry.summary.unwrap();
    assert_eq!((summary.lines, summary.shown.bytes, summary.block_digests.len()), (300, 102, 0));
    assert_eq!(
        (summary.gaps.len(), summary.gaps[0].start, summary.gaps[0].why),
        (1, 48, GapReason::Repeated)
    );
    let exit_code = store.entry(&id(EXIT_CODE)).unwrap().summary.unwrap().exit_code;
    assert_eq!(exit_code, Some(3));
    assert_eq!(store.entry(&id(PINNED)).unwrap().pin, Pin::Pinned);
    assert_eq!(store.entry(&id(READABLE)).unwrap().reading, Reading::Readable);
    for text in ALL {
        let entry = store.entry(&id(text)).unwrap();
        let bytes = fs::read(entry.path.unwrap()).unwrap();
        let digest = entry.summary.unwrap().digest;
        assert_eq!(digest, blake3::hash(&bytes).to_hex().as_str(), "{text}");
    }
}

#[test]
fn pages_and_searches_version_1() {
    let (_directory, store) = version_1();
    let page = |text: &str, lines: &str| {
        let entry = store.entry(&retrieve::resolve(&store, text).unwrap()).unwrap();
        let range = Range::lines(lines).unwrap();
        let page = retrieve::page(&store, &entry, range, PageLimits::default(), &DiscardEvents).unwrap();
        String::from_utf8(page.content).unwrap()
    };
    assert_eq!(page(COMPLETE, "150:150"), "complete line 150\n");
    assert_eq!(page(CAPPED, "7:7"), "capped line 7\n");
    assert_eq!(page(UNFINISHED, "100:100"), "unfinished line 100\n");
    assert!(page(READABLE, "1:8").contains("\"name\": \"row 0\""));
    let query = Query { pattern: " 7$".to_owned(), ..Query::default() };
    let ids: Vec<Id> = ALL.map(id).to_vec();
    let found = retrieve::search(&store, &ids, &query, PageLimits::default()).unwrap();
    assert_eq!(found.hits.len(), 6, "one in each text");
}

#[test]
fn pins_cleans_and_removes_version_1() {
    let (_directory, store) = version_1();
    let entries = store.select(&EntryFilter::default()).unwrap();
    let candidates: Vec<Candidate> = entries.iter().rev().map(Candidate::from).collect();
    let policy = Policy { age: Some(Duration::ZERO), ..Policy::default() };
    let plan = retention::decide(&candidates, &policy, SystemTime::now() + Duration::from_secs(1 << 32));
    assert_eq!(plan.remove.len(), 6, "all but the pinned one");
    store.pin(&id(PINNED), Pin::Loose).unwrap();
    for text in ALL {
        store.remove(&id(text)).unwrap();
    }
    assert!(store.ids().unwrap().is_empty());
    let left: Vec<_> =
        fs::read_dir(store.directory()).unwrap().map(|item| item.unwrap().file_name()).collect();
    assert_eq!(left, [".offcut"]);
    assert_eq!(fs::read_dir(store.directory().join(".offcut")).unwrap().count(), 0);
}

/// A store with one entry whose metadata has this version, and some fields that this build does not know.
fn newer(version: u32) -> (tempfile::TempDir, FsStore) {
    let (directory, store) = version_1();
    ALL[1..].iter().for_each(|text| store.remove(&id(text)).unwrap());
    let text = format!(
        r#"{{"version":{version},"id":"{COMPLETE}","file":"{COMPLETE}.txt","state":{{"name":"sealed"}},"chunks":[]}}"#
    );
    fs::write(store.directory().join(format!(".offcut/{COMPLETE}.json")), text).unwrap();
    (directory, store)
}

#[test]
fn lists_a_newer_version_and_leaves_it_alone() {
    let (_directory, store) = newer(3);
    let before = fs::read(store.directory().join(format!(".offcut/{COMPLETE}.json"))).unwrap();
    let entries = store.select(&EntryFilter::default()).unwrap();
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((entry.id, entry.bytes), (id(COMPLETE), 5292));
    assert_eq!(entry.state, EntryState::Unsupported { version: 3 });
    assert_eq!(entry.state.reason(), Some("written by a newer version of offcut"));

    let refused = store.read(&entry.id, 0, &mut [0; 10]).unwrap_err();
    assert!(matches!(refused, StoreError::Unsupported { version: 3, .. }));
    assert!(refused.to_string().contains("newer version of offcut"), "{refused}");
    assert!(matches!(store.finalize(&entry.id, EntryState::Complete), Err(StoreError::Unsupported { .. })));
    let candidate = Candidate::from(entry);
    assert_eq!(candidate.protection, Protection::Unsupported);
    let policy = Policy { age: Some(Duration::ZERO), bytes: Some(0), entries: Some(0) };
    let later = SystemTime::now() + Duration::from_secs(1 << 32);
    assert!(retention::decide(&[candidate], &policy, later).remove.is_empty());

    let after = fs::read(store.directory().join(format!(".offcut/{COMPLETE}.json"))).unwrap();
    assert_eq!(before, after);
    store.remove(&entry.id).unwrap();
    assert!(store.ids().unwrap().is_empty());
    assert!(!store.directory().join(format!("{COMPLETE}.txt")).exists());
}

#[test]
fn refuses_metadata_of_another_entry_in_any_version() {
    for version in [1, 2, 3] {
        let (_directory, store) = newer(version);
        let metadata = store.directory().join(format!(".offcut/{COMPLETE}.json"));
        let text = match version {
            3 => fs::read_to_string(&metadata).unwrap(),
            _ => format!(
                r#"{{"version":{version},"id":"{COMPLETE}","file":"{COMPLETE}.txt","created":"2026-11-17T02:34:26Z","profile":"native","state":"complete"}}"#
            ),
        };
        fs::write(&metadata, text.replace(COMPLETE, EXIT_CODE)).unwrap();
        let refused = store.entry(&id(COMPLETE)).unwrap_err();
        assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
        assert!(refused.to_string().contains("belongs to another entry"), "{refused}");
    }
}
