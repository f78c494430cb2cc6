//! How many bytes are transferred for a part of an output.

use crate::harness::{Place, all, number, put, text};
use crate::proxy::Proxy;
use offcut::event::DiscardEvents;
use offcut::retrieve::{PageLimits, Range, page};
use offcut::store::Store;

/// Large enough for a line index; the slow suite uses a larger one.
const LARGE: u64 = 100 << 20;

#[test]
fn a_part_of_a_large_output_transfers_less_than_4_mib() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let bytes = text(1, number("OFFCUT_TEST_LARGE", LARGE) as usize);
    let id = put(&place.store(), "bash", &bytes).id;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let total = lines.len() as u64;
    for range in [
        Range::Lines { first: total / 2, last: Some(total / 2 + 99) },
        Range::Lines { first: 1, last: Some(100) },
        Range::Lines { first: total - 99, last: None },
        Range::LastLines(100),
        Range::Around { line: total / 3, context: 40 },
        Range::Bytes { start: bytes.len() as u64 / 2, end: Some(bytes.len() as u64 / 2 + 5000) },
    ] {
        // A new store each time, so that nothing is cached.
        let store = place.elsewhere("reader").store_through(&proxy);
        let entry = store.entry(&id).unwrap();
        let page = page(&store, &entry, range, PageLimits::default(), &DiscardEvents).unwrap();
        assert_eq!(page.content, bytes[page.start as usize..page.end as usize], "{range:?}");
        if let Range::Lines { first, .. } = range {
            let before: usize = lines[..first as usize - 1].iter().map(|line| line.len()).sum();
            assert_eq!(page.start, before as u64, "{range:?}");
        }
        let received = proxy.take_received();
        assert!(received < 4 << 20, "{received} bytes for {range:?}");
    }
}

#[test]
fn reading_everything_transfers_each_byte_once() {
    let (place, proxy) = (Place::new(), Proxy::new());
    let bytes = text(2, 40 << 20);
    let id = put(&place.store(), "bash", &bytes).id;
    let store = place.elsewhere("reader").store_through(&proxy);
    assert!(all(&store, &id) == bytes);
    let received = proxy.take_received();
    assert!(received < (bytes.len() + (2 << 20)) as u64, "{received}");
}
