//! Entries that other versions of offcut wrote into a bucket.

use crate::bucket::Bucket;
use crate::harness::{Place, all};
use offcut::event::DiscardEvents;
use offcut::retrieve::{self, PageLimits, Query, Range};
use offcut::store::{EntryFilter, EntryState, Id, Pin, Store};
use std::collections::BTreeMap;

/// The day of all ids of the fixture, as a part of keys.
const DAY: &str = "2026/11/17";

const COMPLETE: &str = "1q43346ta0kc891g";
const PINNED: &str = "1q433dw7nb5b5r8w";

impl Bucket {
    /// The store that build afbdb45 wrote, in the layout that it used in a bucket. Returns the outputs by id.
    fn put_version_1(&self) -> BTreeMap<Id, Vec<u8>> {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../offcut/tests/fixtures/store-v1");
        let mut outputs = BTreeMap::new();
        for item in std::fs::read_dir(format!("{fixture}/.offcut")).unwrap().map(Result::unwrap) {
            let name = item.file_name().into_string().unwrap();
            let Some(id) = name.strip_suffix(".json") else {
                self.put(&format!("pin/{}", name.strip_suffix(".pin").unwrap()), Vec::new());
                continue;
            };
            let text = std::fs::read_to_string(item.path()).unwrap();
            let metadata: serde_json::Value = serde_json::from_str(&text).unwrap();
            let field = |name: &str| metadata[name].as_str().unwrap_or_default();
            // It did not upload an output that was still being written.
            if field("state") == "writing" {
                continue;
            }
            let output = std::fs::read(format!("{fixture}/{}", field("file"))).unwrap();
            let (state, lines) = match (field("state"), field("reason")) {
                ("complete", _) => ('c', metadata["output"]["lines"].to_string()),
                ("partial", reason) if reason != "its writer ended early" => ('p', String::new()),
                _ => ('a', String::new()),
            };
            let (profile, tool, session) = (field("profile"), field("tool"), field("session"));
            let bytes = output.len();
            let key =
                format!("entry/{DAY}/{id}.{state}.{bytes}.{lines}.{profile}.{tool}.{session}.ci-1.json");
            self.put(&format!("output/{DAY}/{id}.txt"), output.clone());
            self.put(&key, text.replace(field("file"), &format!("{id}.txt")).into_bytes());
            outputs.insert(Id::parse(id).unwrap(), output);
        }
        outputs
    }
}

#[test]
fn entries_of_version_1_can_be_listed_read_searched_and_removed() {
    let place = Place::new();
    let outputs = Bucket::new(&place).put_version_1();
    let store = place.store();
    let listed = store.select(&EntryFilter::default()).unwrap();
    assert_eq!(listed.iter().rev().map(|item| item.id).collect::<Vec<_>>(), store.ids().unwrap());
    assert_eq!(store.ids().unwrap(), outputs.keys().copied().collect::<Vec<_>>());
    let selection = EntryFilter { session: Some("s-1".to_owned()), ..EntryFilter::default() };
    let selected: Vec<_> = store.select(&selection).unwrap().iter().map(|item| item.id.to_string()).collect();
    assert_eq!(selected, [COMPLETE]);
    for item in &listed {
        let (id, output) = (&item.id, &outputs[&item.id]);
        let entry = store.entry(id).unwrap();
        assert_eq!(item.bytes, output.len() as u64, "{item:?}");
        assert_eq!((item.lines, item.state.as_str()), (entry.lines, entry.state.as_str()), "{item:?}");
        assert_eq!(entry.pin == Pin::Pinned, id.as_str() == PINNED);
        assert_eq!(&all(&store, id), output);
    }
    let entry = store.entry(&retrieve::resolve(&store, COMPLETE).unwrap()).unwrap();
    let range = Range::lines("150:150").unwrap();
    let page = retrieve::page(&store, &entry, range, PageLimits::default(), &DiscardEvents).unwrap();
    assert_eq!(page.content, b"complete line 150\n");
    let query = Query { pattern: "^c.* line 7$".to_owned(), ..Query::default() };
    let ids: Vec<Id> = outputs.keys().copied().collect();
    let found = retrieve::search(&store, &ids, &query, PageLimits::default()).unwrap();
    assert_eq!(String::from_utf8(found.to_text(false)).unwrap(), "7:complete line 7\n7:capped line 7\n");
    for id in &ids {
        store.remove(id).unwrap();
    }
    assert!(store.ids().unwrap().is_empty() && place.elsewhere("reader").store().ids().unwrap().is_empty());
}

#[test]
fn entries_of_a_newer_version_are_listed_and_left_alone() {
    // With a letter for its state that this version does not know, and with one that it knows.
    for letter in ['n', 'c'] {
        let place = Place::new();
        let bucket = Bucket::new(&place);
        let id = Id::parse(COMPLETE).unwrap();
        let entry_key = format!("entry/{DAY}/{id}.{letter}.7.1.native.bash..ci-1.json");
        let output_key = format!("output/{DAY}/{id}.txt");
        let metadata = format!("{{\"version\":3,\"id\":\"{id}\",\"state\":{{\"new\":true}}}}");
        bucket.put(&output_key, b"encoded".to_vec());
        bucket.put(&entry_key, metadata.clone().into_bytes());
        let store = place.store();
        let listed = store.select(&EntryFilter::default()).unwrap();
        assert_eq!((listed[0].id, listed[0].bytes, listed.len()), (id, 7, 1));
        if letter == 'n' {
            assert_eq!(listed[0].state.as_str(), "unsupported");
        }
        let entry = store.entry(&id).unwrap();
        assert_eq!(entry.state, EntryState::Unsupported { version: 3 });
        let limits = PageLimits::default();
        let page = retrieve::page(&store, &entry, Range::ALL, limits, &DiscardEvents);
        assert!(page.unwrap_err().to_string().contains("version"));
        assert!(store.read(&id, 0, &mut [0; 7]).unwrap_err().to_string().contains("version"));
        let query = Query { pattern: ".".to_owned(), ..Query::default() };
        assert!(retrieve::search(&store, &[id], &query, limits).is_err());
        store.upload_pending().unwrap();
        assert_eq!((bucket.get(&output_key), bucket.get(&entry_key)), (b"encoded".to_vec(), metadata.into()));
        store.remove(&id).unwrap();
        assert!(store.ids().unwrap().is_empty());
    }
}
