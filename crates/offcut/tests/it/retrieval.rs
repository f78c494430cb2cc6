//! Reading parts of a stored output: exact, bounded, and without reading more than necessary.

use crate::common::memory;
use offcut::Context;
use offcut::event::DiscardEvents;
use offcut::retrieve::{PageLimits, Progress, Range, RetrieveError, page, resolve};
use offcut::store::{
    Entry, EntryState, Id, MemoryStore, NewEntry, Pin, Store, StoreError, Summary, Writer, contract,
};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

fn put(store: &dyn Store, bytes: &[u8]) -> Entry {
    let mut writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
    writer.write(bytes).unwrap();
    let lines = offcut::measure::lines(bytes, offcut::measure::LineConvention::Terminated);
    writer.commit(EntryState::Complete, &Summary { lines, ..contract::summary(bytes) }).unwrap()
}

fn get(store: &dyn Store, entry: &Entry, range: Range, limits: PageLimits) -> (String, Progress) {
    let page = page(store, entry, range, limits, &DiscardEvents).unwrap();
    assert_eq!(page.end - page.start, page.content.len() as u64);
    (String::from_utf8_lossy(&page.content).into_owned(), page.progress)
}

#[test]
fn references() {
    let store = memory();
    let ids: Vec<Id> = (0..3_u8).map(|number| put(&*store, &[number]).id).collect();
    let resolve = |reference: &str| resolve(&*store, reference);
    assert_eq!(resolve(ids[1].as_str()).unwrap(), ids[1]);
    assert_eq!(resolve(&format!("offcut://{}", ids[1])).unwrap(), ids[1]);
    assert_eq!(resolve("last").unwrap(), ids[2]);
    assert_eq!(resolve("last-0").unwrap(), ids[2]);
    assert_eq!(resolve("last-2").unwrap(), ids[0]);
    assert!(matches!(resolve("last-3"), Err(RetrieveError::Unknown { .. })));
    assert!(matches!(resolve(&ids[0].as_str()[..8]), Err(RetrieveError::Ambiguous { count: 3, .. })));
    assert_eq!(resolve(&ids[0].as_str()[..9]).ok(), None, "the ids differ in their tenth character");
    assert_eq!(resolve(ids[0].short()).unwrap(), ids[0]);
    assert!(matches!(resolve("zzzz"), Err(RetrieveError::Unknown { .. })));
    assert!(matches!(resolve("0000000000000000"), Err(RetrieveError::Store(StoreError::NotFound { .. }))));
    for hostile in
        ["", "../../etc/passwd", "/etc/passwd", "-rf", "a\0b", "last-", "last-x", &"x".repeat(5000)]
    {
        assert!(matches!(resolve(hostile), Err(RetrieveError::Unknown { .. })), "{hostile:?}");
    }
}

#[test]
fn pages_of_lines() {
    let store = memory();
    let text: String = (1..=100).map(|number| format!("{number}\n")).collect();
    let entry = put(&*store, text.as_bytes());
    let limits = PageLimits { bytes: 1000, lines: 10 };
    let lines = |first, last| Range::Lines { first, last };
    let get = |range| get(&*store, &entry, range, limits);
    assert_eq!(get(lines(3, Some(5))), ("3\n4\n5\n".into(), Progress::Satisfied(lines(6, Some(8)))));
    assert_eq!(get(lines(99, None)), ("99\n100\n".into(), Progress::AtEnd));
    assert_eq!(get(lines(98, Some(500))), ("98\n99\n100\n".into(), Progress::AtEnd));
    assert_eq!(get(Range::LastLines(2)), ("99\n100\n".into(), Progress::AtEnd));
    let (content, progress) = get(Range::ALL);
    assert_eq!((content.lines().count(), progress), (10, Progress::Full(lines(11, None))));
    let (content, progress) = get(lines(20, Some(90)));
    assert_eq!((content.lines().count(), progress), (10, Progress::Full(lines(30, Some(90)))));
    let error = page(&*store, &entry, lines(101, None), limits, &DiscardEvents).unwrap_err();
    assert_eq!(error.to_string(), format!("{} has no line 101: it has 100 lines", entry.id));
}

#[test]
fn pages_inside_one_giant_line() {
    let store = memory();
    let text = "漢".repeat(10_000);
    let entry = put(&*store, text.as_bytes());
    let limits = PageLimits { bytes: 1000, lines: 10 };
    let mut seen = String::new();
    let mut range = Range::ALL;
    loop {
        let (content, progress) = get(&*store, &entry, range, limits);
        assert!(content.len() <= 1000 && !content.is_empty());
        seen += &content;
        match progress {
            Progress::Full(next) | Progress::Satisfied(next) => range = next,
            Progress::AtEnd => break,
        }
    }
    assert_eq!(seen, text, "following the pages gives the whole line");
}

/// A store that counts the bytes requested from it and pretends to contain 5 GB.
struct Counting {
    inner: MemoryStore,
    read: AtomicU64,
}

const GIB: u64 = 1 << 30;

impl Store for Counting {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.inner.create(draft)
    }
    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.inner.ids()
    }
    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.inner.entry(id)
    }
    /// Line n is eight bytes long: seven digits of n and a line feed.
    fn read(&self, _id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        let count = (5 * GIB).saturating_sub(offset).min(buffer.len() as u64) as usize;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        for (place, byte) in (offset..).zip(&mut buffer[..count]) {
            let line = place / 8 + 1;
            *byte = match place % 8 {
                7 => b'\n',
                digit => b'0' + (line / 10_u64.pow(6 - digit as u32) % 10) as u8,
            };
        }
        Ok(count)
    }
    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.inner.pin(id, pin)
    }
    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.inner.remove(id)
    }
}

#[test]
fn the_last_lines_of_five_gigabytes_do_not_read_five_gigabytes() {
    let store = Counting { inner: MemoryStore::new(crate::common::noon), read: AtomicU64::new(0) };
    let mut entry = put(&store, b"x");
    entry.bytes = 5 * GIB;
    let total = 5 * GIB / 8;
    entry.lines = Some(total);
    let first = total - 9;
    for range in [Range::LastLines(10), Range::Lines { first, last: None }] {
        store.read.store(0, Ordering::Relaxed);
        let (content, progress) = get(&store, &entry, range, PageLimits::default());
        let expected: String = (first..=total).map(|line| format!("{:07}\n", line % 10_000_000)).collect();
        assert_eq!((content, progress), (expected, Progress::AtEnd));
        let read = store.read.load(Ordering::Relaxed);
        assert!(read < 1 << 20, "{read} bytes were read");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    /// A page contains exactly the requested lines, and the pages after a full one contain the rest.
    #[test]
    fn every_range_of_lines(
        text in "([a-z漢]{0,30}\n?){0,60}",
        first in 1..70_u64,
        length in 1..70_u64,
        most_bytes in 16..400_u64,
        most_lines in 1..50_u64,
    ) {
        let store = memory();
        let entry = put(&*store, text.as_bytes());
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let last = first + length - 1;
        let mut range = Range::Lines { first, last: Some(last) };
        let limits = PageLimits { bytes: most_bytes, lines: most_lines };
        if first > (all.len() as u64).max(1) {
            let error = page(&*store, &entry, range, limits, &DiscardEvents).unwrap_err();
            prop_assert!(matches!(error, RetrieveError::PastTheEnd { .. }), "past the end");
            return Ok(());
        }
        let wanted: String = all.iter().skip(first as usize - 1).take(length as usize).copied().collect();
        let mut seen = String::new();
        for _ in 0..2000 {
            let (content, progress) = get(&*store, &entry, range, limits);
            prop_assert!(content.len() as u64 <= most_bytes && content.lines().count() as u64 <= most_lines);
            seen += &content;
            match progress {
                Progress::Full(next) if seen.len() < wanted.len() => range = next,
                _ => break,
            }
        }
        prop_assert!(seen.starts_with(&wanted), "{:?} instead of {:?}", seen, wanted);
    }

    /// The range that a satisfied page names fits one page.
    #[test]
    fn next_range_of_a_satisfied_page_is_exactly_one_page(
        text in "([a-z漢]{0,30}\n{0,9}){0,60}",
        start in 0..300_u64,
        length in 1..40_u64,
        most_bytes in 16..400_u64,
        most_lines in 1..50_u64,
    ) {
        let store = memory();
        let entry = put(&*store, text.as_bytes());
        let limits = PageLimits { bytes: most_bytes, lines: most_lines };
        let ranges = [
            Range::Bytes { start, end: Some(start + length) },
            Range::Lines { first: start + 1, last: Some(start + length) },
        ];
        for range in ranges {
            let Ok(first) = page(&*store, &entry, range, limits, &DiscardEvents) else { continue };
            let Progress::Satisfied(next) = first.progress else { continue };
            let page = page(&*store, &entry, next, limits, &DiscardEvents).unwrap();
            prop_assert!(page.progress.is_satisfied(), "{:?} after {:?}: {:?}", next, range, page);
            prop_assert_eq!(page.start, first.end);
            prop_assert!(!page.content.is_empty());
            match next {
                Range::Bytes { end, .. } => prop_assert_eq!(Some(page.end), end),
                Range::Lines { first, last } => prop_assert_eq!(page.lines, last.map(|last| first..=last)),
                _ => prop_assert!(false, "{:?}", next),
            }
        }
    }
}
