//! What every store must do, as a test that anybody can run against their own.
//!
//! ```
//! offcut::store::contract::check(|| offcut::store::MemoryStore::new(std::time::SystemTime::now));
//! ```

use crate::context::Context;
use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::store::{
    Entry, EntryState, Id, LineCheckpoint, NewEntry, Pin, Reading, Selection, Store, StoreError, Summary,
    Writer,
};
use std::collections::BTreeSet;

/// Checks a store, made empty by `make` as often as needed. Panics with a message at the first thing that is wrong.
#[expect(clippy::unwrap_used, reason = "a failed expectation of a test suite is a panic")]
pub fn check<S: Store>(make: impl Fn() -> S) {
    an_empty_store(&make());
    bytes_come_back(&make());
    reads_by_range(&make());
    an_open_entry_is_incomplete(&make());
    a_partial_entry_says_why(&make());
    metadata_comes_back(&make());
    entries_are_ordered_and_distinct(&make());
    removed_entries_are_gone(&make());
    pins_hold_until_they_are_taken_away(&make());
    the_newest_and_those_that_begin_alike(&make());
    selections_choose(&make());
    landmarks_are_true(&make());
    many_are_removed_at_once(&make());
    many_writers(&make());
    // The ids of this crate are the only ones there are.
    assert!(make().ids().unwrap().is_empty());
}

fn draft(context: &Context) -> NewEntry<'_> {
    NewEntry { context, profile: "native", file_name: "{id}.txt", reading: Reading::Plain }
}

/// A summary of `bytes` that were all shown.
pub fn summary(bytes: &[u8]) -> Summary {
    let size =
        Size { bytes: bytes.len() as u64, lines: crate::measure::newlines(bytes), chars: None, tokens: None };
    Summary {
        original: size,
        lines: size.lines,
        digest: blake3::hash(bytes).to_hex().to_string(),
        completeness: EntryState::Complete,
        exit_code: None,
        shown: size,
        gaps: Vec::new(),
    }
}

#[track_caller]
fn ok<T>(result: Result<T, StoreError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store failed: {error}"),
    }
}

#[track_caller]
fn put(store: &dyn Store, bytes: &[u8]) -> Entry {
    let mut writer = open(store);
    ok(writer.write(bytes));
    ok(writer.commit(&summary(bytes)))
}

#[track_caller]
fn open(store: &dyn Store) -> Box<dyn Writer> {
    ok(store.create(&draft(&Context::tool("contract"))))
}

#[track_caller]
fn all(store: &dyn Store, id: &Id) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1000];
    loop {
        let count = ok(store.read(id, bytes.len() as u64, &mut buffer));
        bytes.extend_from_slice(&buffer[..count]);
        if count < buffer.len() {
            return bytes;
        }
    }
}

fn an_empty_store(store: &dyn Store) {
    assert_eq!(ok(store.ids()), []);
    let unknown = Id::new(std::time::UNIX_EPOCH, 7);
    assert!(matches!(store.entry(&unknown), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.read(&unknown, 0, &mut [0; 8]), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.remove(&unknown), Err(StoreError::NotFound { .. })));
}

fn bytes_come_back(store: &dyn Store) {
    let every_byte: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for bytes in [&b""[..], b"\0", b"no feed", b"\xFF\xFE\r\n\x1B[0m", &every_byte] {
        let entry = put(store, bytes);
        assert_eq!(all(store, &entry.id), bytes);
        assert_eq!(entry.bytes, bytes.len() as u64);
        let found = ok(store.entry(&entry.id));
        assert_eq!(found, entry, "what commit returns is what the store says later");
        if let Some(path) = &entry.path {
            assert_eq!(
                std::fs::read(path).ok().as_deref(),
                Some(bytes),
                "a path names a plain file of these bytes"
            );
        }
    }
    let mut writer = open(store);
    for chunk in every_byte.chunks(777) {
        ok(writer.write(chunk));
    }
    let entry = ok(writer.commit(&summary(&every_byte)));
    assert_eq!(all(store, &entry.id), every_byte, "many writes make one entry");
}

fn reads_by_range(store: &dyn Store) {
    let entry = put(store, b"0123456789");
    let read = |offset, length| {
        let mut buffer = vec![0; length];
        let count = ok(store.read(&entry.id, offset, &mut buffer));
        buffer.truncate(count);
        buffer
    };
    assert_eq!(read(0, 3), b"012");
    assert_eq!(read(7, 3), b"789");
    assert_eq!(read(7, 100), b"789");
    assert_eq!(read(10, 5), b"");
    assert_eq!(read(1 << 40, 5), b"");
    assert_eq!(read(3, 0), b"");
}

fn an_open_entry_is_incomplete(store: &dyn Store) {
    let mut writer = open(store);
    ok(writer.write(b"so far"));
    let id = writer.id();
    let entry = ok(store.entry(&id));
    assert_eq!(entry.completeness, EntryState::Writing);
    assert_eq!(entry.summary, None);
    assert!(ok(store.ids()).contains(&id));
    drop(writer);
    let entry = ok(store.entry(&id));
    assert_eq!(entry.completeness, EntryState::Abandoned, "a dropped writer leaves an incomplete entry");
    assert_eq!(entry.lines(), None);
    assert_eq!(all(store, &id), b"so far", "what was written can be read");
}

fn a_partial_entry_says_why(store: &dyn Store) {
    let mut writer = open(store);
    ok(writer.write(b"half"));
    let completeness = EntryState::Partial { reason: "the disk is full".to_owned() };
    let summary = Summary { completeness: completeness.clone(), ..summary(b"half of it") };
    let entry = ok(writer.commit(&summary));
    assert_eq!(entry.completeness, completeness);
    assert_eq!(entry.bytes, 4);
    let found = ok(store.entry(&entry.id));
    assert_eq!(found, entry);
    assert_eq!(found.lines(), None, "the lines of a partial entry are not known");
}

fn metadata_comes_back(store: &dyn Store) {
    let context = Context {
        tool: Some("../..\n\0漢".to_owned()),
        call_id: Some("-rf \"quoted\"".to_owned()),
        session: Some("s".repeat(2000)),
    };
    let mut writer = ok(store.create(&NewEntry { profile: "klaude", ..draft(&context) }));
    ok(writer.write(b"a\nb\nc\n"));
    let id = writer.id();
    let amount = |bytes, lines| Size { bytes, lines, chars: Some(u64::MAX >> 1), tokens: Some(3) };
    let summary = Summary {
        original: amount(6, 3),
        exit_code: Some(-9),
        shown: amount(2, 1),
        gaps: vec![Gap {
            start: 2,
            end: 6,
            first_line: 2,
            last_line: 3,
            from: LinePosition::Inside,
            why: GapReason::Repeated,
        }],
        ..summary(b"a\nb\nc\n")
    };
    ok(writer.commit(&summary));
    let entry = ok(store.entry(&id));
    assert_eq!((entry.id, &entry.context, entry.profile.as_str()), (id, &context, "klaude"));
    assert_eq!(entry.summary, Some(summary));
    assert_eq!(entry.lines(), Some(3));
}

fn entries_are_ordered_and_distinct(store: &dyn Store) {
    let made: Vec<Id> = (0..50).map(|number: u32| put(store, number.to_string().as_bytes()).id).collect();
    assert_eq!(ok(store.ids()), made, "ids list oldest first, in the order in which one store made them");
    for (number, id) in made.iter().enumerate() {
        assert_eq!(all(store, id), number.to_string().as_bytes());
    }
}

fn removed_entries_are_gone(store: &dyn Store) {
    let (first, second) = (put(store, b"first"), put(store, b"second"));
    ok(store.remove(&first.id));
    assert!(matches!(store.entry(&first.id), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.remove(&first.id), Err(StoreError::NotFound { .. })));
    assert_eq!(ok(store.ids()), [second.id]);
    assert_eq!(all(store, &second.id), b"second");
}

fn pins_hold_until_they_are_taken_away(store: &dyn Store) {
    let (first, second) = (put(store, b"first"), put(store, b"second"));
    let pin = |entry: &Entry| ok(store.entry(&entry.id)).pin;
    ok(store.pin(&first.id, Pin::Pinned));
    ok(store.pin(&first.id, Pin::Pinned));
    assert_eq!((pin(&first), pin(&second)), (Pin::Pinned, Pin::Loose));
    ok(store.pin(&first.id, Pin::Loose));
    ok(store.pin(&first.id, Pin::Loose));
    assert_eq!(pin(&first), Pin::Loose);
    ok(store.pin(&second.id, Pin::Pinned));
    ok(store.remove(&second.id));
    assert!(matches!(store.pin(&second.id, Pin::Pinned), Err(StoreError::NotFound { .. })));
}

fn the_newest_and_those_that_begin_alike(store: &dyn Store) {
    assert_eq!(ok(store.newest(3)), []);
    let made: Vec<Id> = (0..5_u8).map(|number| put(store, &[number]).id).collect();
    let newest: Vec<Id> = made.iter().rev().copied().collect();
    assert_eq!(ok(store.newest(3)), newest[..3]);
    assert_eq!(ok(store.newest(100)), newest);
    assert_eq!(ok(store.newest(0)), []);
    for length in [1, 3, 8, Id::WIDTH] {
        let beginning = &made[2].as_str()[..length];
        let alike: Vec<Id> = made.iter().filter(|id| id.as_str().starts_with(beginning)).copied().collect();
        assert_eq!(ok(store.ids_beginning(beginning)), alike, "{beginning}");
    }
    assert_eq!(ok(store.ids_beginning("zzzz")), []);
    let unknown = Id::new(std::time::UNIX_EPOCH, 7);
    let entries = store.entries(&[made[1], unknown, made[0]]);
    assert_eq!(entries.len(), 3, "as many as were asked for, in order");
    assert_eq!(entries[0].as_ref().ok().map(|entry| entry.id), Some(made[1]));
    assert!(matches!(entries[1], Err(StoreError::NotFound { .. })));
    assert_eq!(entries[2].as_ref().ok().map(|entry| entry.id), Some(made[0]));
}

fn selections_choose(store: &dyn Store) {
    let long = "long ".repeat(50);
    let contexts =
        [("bash", Some("one")), ("bash", Some("two")), ("Read", Some("one")), (long.as_str(), None)];
    let made: Vec<Entry> = contexts
        .iter()
        .map(|(tool, session)| {
            let context = Context { session: session.map(str::to_owned), ..Context::tool(*tool) };
            let mut writer = ok(store.create(&draft(&context)));
            ok(writer.write(b"some\nlines\n"));
            ok(writer.commit(&summary(b"some\nlines\n")))
        })
        .collect();
    ok(store.pin(&made[1].id, Pin::Pinned));
    let select = |selection: &Selection| ok(store.select(selection));
    let ids = |selection: &Selection| select(selection).iter().map(|item| item.id).collect::<Vec<_>>();
    let all: Vec<Id> = made.iter().rev().map(|entry| entry.id).collect();
    let everything = Selection::default();
    assert_eq!(ids(&everything), all, "newest first");
    let tool = |name: &str| Selection { tool: Some(name.to_owned()), ..Selection::default() };
    assert_eq!(ids(&tool("bash")), [made[1].id, made[0].id]);
    assert_eq!(ids(&tool(&long)), [made[3].id], "names of any length are told apart");
    assert_eq!(ids(&tool(&long[1..])), []);
    let both = Selection { session: Some("one".to_owned()), ..tool("bash") };
    assert_eq!(ids(&both), [made[0].id]);
    assert_eq!(ids(&Selection { host: Some("nobody".to_owned()), ..everything.clone() }), []);
    assert_eq!(ids(&Selection { most: Some(2), ..everything.clone() }), all[..2]);
    assert_eq!(ids(&Selection { most: Some(1), ..tool("bash") }), [made[1].id]);
    assert_eq!(ids(&Selection { before: Some(made[2].id), ..everything.clone() }), all[2..]);
    // Several may be made within one moment.
    let time = made[2].id.time();
    let (later, earlier): (Vec<Id>, Vec<Id>) = all.iter().partition(|id| id.time() >= time);
    assert_eq!(ids(&Selection { from: Some(time), ..everything.clone() }), later);
    assert_eq!(ids(&Selection { until: Some(time), ..everything.clone() }), earlier);
    for (item, entry) in select(&everything).iter().zip(made.iter().rev()) {
        let known = (item.bytes, item.lines, &item.completeness, &item.session, item.profile.as_str());
        let session = &entry.context.session;
        assert_eq!(known, (11, Some(2), &EntryState::Complete, session, "native"));
        let pin = if item.id == made[1].id { Pin::Pinned } else { Pin::Loose };
        assert_eq!(item.pin, pin);
    }
}

fn landmarks_are_true(store: &dyn Store) {
    let text: Vec<u8> = (0..500_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    let entry = put(store, &text);
    for line in [1, 2, 1000, 123_456, 250_000, 499_999, 500_000] {
        let LineCheckpoint { offset, feeds } = ok(store.landmark(&entry.id, line));
        let before = usize::try_from(offset).ok().and_then(|offset| text.get(..offset));
        let feeds_before = before.map(crate::measure::newlines);
        assert_eq!(feeds_before, Some(feeds), "what is said of a place is true");
        assert!(feeds < line, "the line does not begin before its landmark");
    }
}

fn many_are_removed_at_once(store: &dyn Store) {
    let made: Vec<Id> = (0..5_u8).map(|number| put(store, &[number]).id).collect();
    let unknown = Id::new(std::time::UNIX_EPOCH, 7);
    let mut told = Vec::new();
    ok(store.ids());
    store.remove_all(&[made[0], unknown, made[3]], &mut |id, result| told.push((*id, result.is_ok())));
    told.sort_unstable();
    let mut expected = [(made[0], true), (unknown, false), (made[3], true)];
    expected.sort_unstable();
    assert_eq!(told, expected);
    assert_eq!(ok(store.ids()), [made[1], made[2], made[4]]);
    assert!(matches!(store.entry(&made[0]), Err(StoreError::NotFound { .. })));
}

fn many_writers(store: &dyn Store) {
    let ids: Vec<Id> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u8)
            .map(|number| {
                scope.spawn(move || {
                    (0..20).map(|_| put(store, &[number; 3000]).id).map(|id| (id, number)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|_| panic!("a writer panicked")))
            .map(|(id, number)| {
                assert_eq!(all(store, &id), [number; 3000], "entries do not mix");
                id
            })
            .collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 160, "no two entries share an id");
}
