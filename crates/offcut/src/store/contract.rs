//! The requirements for every store, as a test suite that anybody can run against their own.
//!
//! ```
//! use offcut::store::{MemoryStore, contract::{self, PreviewSupport}};
//!
//! contract::check(|| MemoryStore::new(std::time::SystemTime::now), PreviewSupport::None);
//! ```

use crate::context::{Context, Origin};
use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::store::{
    Condition, Digester, Entry, EntryFilter, EntryState, Id, LineCheckpoint, NewEntry, Pin, Reading,
    Retention, Store, StoreError, Summary, Writer,
};
use std::collections::BTreeSet;
use std::time::{Duration, UNIX_EPOCH};

/// Whether a store keeps previews ([`Store::save_preview`]), which is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewSupport {
    /// It returns the last preview that was saved for an entry.
    Kept,
    /// It accepts previews and returns none.
    None,
}

/// Checks a store. `make` returns a new empty one for each test. Panics with a message at the first failure.
#[expect(clippy::unwrap_used, reason = "a failed expectation of a test suite is a panic")]
pub fn check<S: Store>(make: impl Fn() -> S, previews: PreviewSupport) {
    empty_store_has_no_entries(&make());
    bytes_are_returned_unchanged(&make());
    reads_by_range(&make());
    uncommitted_entry_is_running_then_abandoned(&make());
    capped_entry_has_a_reason(&make());
    metadata_is_returned_unchanged(&make());
    entries_are_ordered_and_distinct(&make());
    removed_entries_are_gone(&make());
    pins_stay_until_removed(&make());
    finds_newest_and_by_prefix(&make());
    filters_select(&make());
    saved_preview_is_returned(&make(), previews);
    checkpoints_are_exact(&make());
    removes_many_at_once(&make());
    many_writers_do_not_mix(&make());
    // Stores from `make` are independent of each other.
    assert!(make().ids().unwrap().is_empty());
}

/// A summary of `bytes` that were all shown.
pub fn summary(bytes: &[u8]) -> Summary {
    let (bytes_count, lines) = (bytes.len() as u64, crate::measure::newlines(bytes));
    let size = Size { bytes: bytes_count, lines, chars: None, tokens: None };
    let mut digester = Digester::new();
    digester.update(bytes);
    let (digest, block_digests) = digester.finish();
    Summary { original: size, lines, digest, block_digests, shown: size, ..Summary::default() }
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
    ok(writer.commit(EntryState::Complete, &summary(bytes)))
}

#[track_caller]
fn open(store: &dyn Store) -> Box<dyn Writer> {
    ok(store.create(&NewEntry::new(&Context::tool("contract"), "native")))
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

fn empty_store_has_no_entries(store: &dyn Store) {
    assert_eq!(ok(store.ids()), []);
    let unknown = Id::new(UNIX_EPOCH, 7);
    assert!(matches!(store.entry(&unknown), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.read(&unknown, 0, &mut [0; 8]), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.remove(&unknown), Err(StoreError::NotFound { .. })));
}

fn bytes_are_returned_unchanged(store: &dyn Store) {
    let every_byte: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    for bytes in [&b""[..], b"\0", b"no feed", b"\xFF\xFE\r\n\x1B[0m", &every_byte] {
        let entry = put(store, bytes);
        assert_eq!(all(store, &entry.id), bytes);
        assert_eq!(entry.bytes, bytes.len() as u64);
        let found = ok(store.entry(&entry.id));
        assert_eq!(found, entry, "entry() returns what commit() returned");
        if let Some(path) = &entry.path {
            assert_eq!(
                std::fs::read(path).ok().as_deref(),
                Some(bytes),
                "the path is a plain file with these bytes"
            );
        }
    }
    let mut writer = open(store);
    for chunk in every_byte.chunks(777) {
        ok(writer.write(chunk));
    }
    let entry = ok(writer.commit(EntryState::Complete, &summary(&every_byte)));
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

fn uncommitted_entry_is_running_then_abandoned(store: &dyn Store) {
    let mut writer = open(store);
    ok(writer.write(b"so far"));
    let id = writer.id();
    let entry = ok(store.entry(&id));
    assert_eq!(entry.state, EntryState::Running);
    assert_eq!(entry.summary, None);
    assert!(ok(store.ids()).contains(&id));
    drop(writer);
    let entry = ok(store.entry(&id));
    assert_eq!(entry.state, EntryState::Abandoned, "a dropped writer leaves an abandoned entry");
    assert_eq!(entry.lines, None);
    assert_eq!(all(store, &id), b"so far", "what was written can be read");
}

fn capped_entry_has_a_reason(store: &dyn Store) {
    let mut writer = open(store);
    ok(writer.write(b"half"));
    let state = EntryState::Capped { reason: "the disk is full".to_owned() };
    let entry = ok(writer.commit(state.clone(), &summary(b"half of it")));
    assert_eq!(entry.state, state);
    assert_eq!(entry.bytes, 4);
    let found = ok(store.entry(&entry.id));
    assert_eq!(found, entry);
    assert_eq!(found.lines, None, "the lines of a capped entry are not known");
}

fn metadata_is_returned_unchanged(store: &dyn Store) {
    let time = UNIX_EPOCH + Duration::from_millis(1_771_860_645_123);
    let context = Context {
        tool: Some("../..\n\0漢".to_owned()),
        call_id: Some("-rf \"quoted\"".to_owned()),
        message_id: Some("message".to_owned()),
        session: Some("s".repeat(2000)),
        agent: Some("agent".to_owned()),
        started: Some(time),
        origin: Origin {
            command: Some("curl -H 'token: secret' \u{1b}".to_owned()),
            directory: Some("/home/user".to_owned()),
            user: Some("user".to_owned()),
        },
    };
    let mut writer = ok(store.create(&NewEntry {
        strategy: Some("auto"),
        retention: Some(Retention::Days(7)),
        reading: Reading::Readable,
        ..NewEntry::new(&context, "klaude")
    }));
    ok(writer.write(b"a\nb\nc\n"));
    let id = writer.id();
    let amount = |bytes, lines| Size { bytes, lines, chars: Some(u64::MAX >> 1), tokens: Some(3) };
    let summary = Summary {
        original: amount(6, 3),
        block_digests: vec!["00".repeat(32), "ff".repeat(32)],
        exit_code: Some(-9),
        signal: Some(9),
        duration: Some(Duration::from_millis(1234)),
        shown: amount(2, 1),
        gaps: vec![Gap {
            start: 2,
            end: 6,
            first_line: 2,
            last_line: 3,
            from: LinePosition::Inside,
            to: LinePosition::Inside,
            why: GapReason::Repeated,
        }],
        ..summary(b"a\nb\nc\n")
    };
    ok(writer.commit(EntryState::Complete, &summary));
    let entry = ok(store.entry(&id));
    // A shared store may leave out the origin, and nothing else.
    let shared = Context { origin: Origin::default(), ..context.clone() };
    assert!([&context, &shared].contains(&&entry.context), "{:?}", entry.context);
    assert_eq!((entry.id, entry.profile.as_str(), entry.strategy.as_deref()), (id, "klaude", Some("auto")));
    assert_eq!((entry.retention, entry.reading), (Some(Retention::Days(7)), Reading::Readable));
    assert_eq!(entry.summary, Some(summary));
    assert_eq!(entry.lines, Some(3));

    let mut writer = ok(store
        .create(&NewEntry { retention: Some(Retention::Forever), ..NewEntry::new(&Context::default(), "") }));
    ok(writer.write(b"x"));
    let entry = ok(writer.commit(EntryState::Complete, &self::summary(b"x")));
    assert_eq!(entry.retention, Some(Retention::Forever));
    assert_eq!(ok(store.entry(&entry.id)), entry);
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

fn pins_stay_until_removed(store: &dyn Store) {
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

fn finds_newest_and_by_prefix(store: &dyn Store) {
    assert_eq!(ok(store.newest(3)), []);
    let made: Vec<Id> = (0..5_u8).map(|number| put(store, &[number]).id).collect();
    let newest: Vec<Id> = made.iter().rev().copied().collect();
    assert_eq!(ok(store.newest(3)), newest[..3]);
    assert_eq!(ok(store.newest(100)), newest);
    assert_eq!(ok(store.newest(0)), []);
    for length in [1, 3, 8, Id::WIDTH] {
        let prefix = &made[2].as_str()[..length];
        let alike: Vec<Id> = made.iter().filter(|id| id.as_str().starts_with(prefix)).copied().collect();
        assert_eq!(ok(store.ids_with_prefix(prefix)), alike, "{prefix}");
    }
    assert_eq!(ok(store.ids_with_prefix("zzzz")), []);
    let unknown = Id::new(UNIX_EPOCH, 7);
    let entries = store.entries(&[made[1], unknown, made[0]]);
    assert_eq!(entries.len(), 3, "one result for each id, in order");
    assert_eq!(entries[0].as_ref().ok().map(|entry| entry.id), Some(made[1]));
    assert!(matches!(entries[1], Err(StoreError::NotFound { .. })));
    assert_eq!(entries[2].as_ref().ok().map(|entry| entry.id), Some(made[0]));
}

fn filters_select(store: &dyn Store) {
    let long = "long ".repeat(50);
    let contexts =
        [("bash", Some("one")), ("bash", Some("two")), ("Read", Some("one")), (long.as_str(), None)];
    let made: Vec<Entry> = contexts
        .iter()
        .map(|(tool, session)| {
            let context = Context { session: session.map(str::to_owned), ..Context::tool(*tool) };
            let mut writer = ok(store.create(&NewEntry::new(&context, "native")));
            ok(writer.write(b"some\nlines\n"));
            ok(writer.commit(EntryState::Complete, &summary(b"some\nlines\n")))
        })
        .collect();
    ok(store.pin(&made[1].id, Pin::Pinned));
    let select = |filter: &EntryFilter| ok(store.select(filter));
    let ids = |filter: &EntryFilter| select(filter).iter().map(|item| item.id).collect::<Vec<_>>();
    let all: Vec<Id> = made.iter().rev().map(|entry| entry.id).collect();
    let everything = EntryFilter::default();
    assert_eq!(ids(&everything), all, "newest first");
    let tool = |name: &str| EntryFilter { tool: Some(name.to_owned()), ..EntryFilter::default() };
    assert_eq!(ids(&tool("bash")), [made[1].id, made[0].id]);
    assert_eq!(ids(&tool(&long)), [made[3].id], "long names are distinguished");
    assert_eq!(ids(&tool(&long[1..])), []);
    let both = EntryFilter { session: Some("one".to_owned()), ..tool("bash") };
    assert_eq!(ids(&both), [made[0].id]);
    assert_eq!(ids(&EntryFilter { host: Some("nobody".to_owned()), ..everything.clone() }), []);
    assert_eq!(ids(&EntryFilter { limit: Some(2), ..everything.clone() }), all[..2]);
    assert_eq!(ids(&EntryFilter { limit: Some(1), ..tool("bash") }), [made[1].id]);
    assert_eq!(ids(&EntryFilter { before: Some(made[2].id), ..everything.clone() }), all[2..]);
    let one = made[1].id;
    let condition = Some(Condition::new(move |entry: &Entry| entry.summary.is_some() && entry.id != one));
    let conditional = EntryFilter { condition, ..tool("bash") };
    assert_eq!(ids(&conditional), [made[0].id], "a condition sees the whole metadata");
    assert_eq!(ok(store.entry_matching(&one, &conditional)), None);
    assert_eq!(ok(store.entry_matching(&made[0].id, &conditional)), Some(ok(store.entry(&made[0].id))));
    assert_eq!(ids(&EntryFilter { tool: None, limit: Some(1), ..conditional }), all[..1]);
    // Several may be made within one moment.
    let time = made[2].id.time();
    let (later, earlier): (Vec<Id>, Vec<Id>) = all.iter().partition(|id| id.time() >= time);
    assert_eq!(ids(&EntryFilter { from: Some(time), ..everything.clone() }), later);
    assert_eq!(ids(&EntryFilter { until: Some(time), ..everything.clone() }), earlier);
    for (item, entry) in select(&everything).iter().zip(made.iter().rev()) {
        let known = (item.bytes, item.lines, &item.state, &item.context.session, item.profile.as_str());
        let session = &entry.context.session;
        assert_eq!(known, (11, Some(2), &EntryState::Complete, session, "native"));
        let pin = if item.id == made[1].id { Pin::Pinned } else { Pin::Loose };
        assert_eq!(item.pin, pin);
    }
}

fn saved_preview_is_returned(store: &dyn Store, previews: PreviewSupport) {
    let (first, second) = (put(store, b"first"), put(store, b"second"));
    let kept = |entry: &Entry| ok(store.preview(&entry.id));
    assert_eq!(kept(&first), None, "no preview was saved");
    for preview in [&b"longer than the next"[..], b"next\0\xff", b""] {
        ok(store.save_preview(&first.id, preview));
        let expected = match previews {
            PreviewSupport::Kept => Some(preview.to_vec()),
            PreviewSupport::None => None,
        };
        assert_eq!(kept(&first), expected, "the last preview replaces the one before");
    }
    assert_eq!(kept(&second), None, "the preview belongs to one entry");
    assert_eq!(ok(store.ids()), [first.id, second.id], "a preview is no entry");
    assert_eq!(all(store, &first.id), b"first", "a preview does not change the output");
}

fn checkpoints_are_exact(store: &dyn Store) {
    let text: Vec<u8> = (0..500_000).flat_map(|number| format!("line {number}\n").into_bytes()).collect();
    let entry = put(store, &text);
    for line in [1, 2, 1000, 123_456, 250_000, 499_999, 500_000] {
        let LineCheckpoint { offset, feeds } = ok(store.checkpoint(&entry.id, line));
        let before = usize::try_from(offset).ok().and_then(|offset| text.get(..offset));
        let feeds_before = before.map(crate::measure::newlines);
        assert_eq!(feeds_before, Some(feeds), "the number of line feeds is exact");
        assert!(feeds < line, "the line does not start before its checkpoint");
    }
}

fn removes_many_at_once(store: &dyn Store) {
    let made: Vec<Id> = (0..5_u8).map(|number| put(store, &[number]).id).collect();
    let unknown = Id::new(UNIX_EPOCH, 7);
    let mut reported = Vec::new();
    ok(store.ids());
    store.remove_all(&[made[0], unknown, made[3]], &mut |id, result| reported.push((*id, result.is_ok())));
    reported.sort_unstable();
    let mut expected = [(made[0], true), (unknown, false), (made[3], true)];
    expected.sort_unstable();
    assert_eq!(reported, expected);
    assert_eq!(ok(store.ids()), [made[1], made[2], made[4]]);
    assert!(matches!(store.entry(&made[0]), Err(StoreError::NotFound { .. })));
}

fn many_writers_do_not_mix(store: &dyn Store) {
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
