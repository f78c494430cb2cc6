//! Listings of more than one page of a thousand keys.

use crate::harness::{Place, put};
use crate::proxy::Proxy;
use offcut::store::{EntryFilter, Id, Store};

#[test]
fn lists_selects_and_pages_more_entries_than_one_page_has() {
    let place = Place::new();
    let mut ids: Vec<Id> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let place = place.elsewhere(if thread == 0 { "first" } else { "others" });
                scope.spawn(move || {
                    let store = place.store();
                    let tool = if thread % 2 == 0 { "even" } else { "odd" };
                    (0..140).map(|_| put(&store, tool, b"x").id).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    ids.sort_unstable();
    let proxy = Proxy::new();
    let store = place.elsewhere("reader").store_through(&proxy);
    assert_eq!(store.ids().unwrap(), ids);
    let everything = EntryFilter::default();
    let of = |selection: &EntryFilter| {
        store.select(selection).unwrap().into_iter().map(|item| item.id).collect::<Vec<_>>()
    };
    assert_eq!(of(&EntryFilter { tool: Some("odd".to_owned()), ..everything.clone() }).len(), 560);
    assert_eq!(of(&EntryFilter { host: Some("first".to_owned()), ..everything.clone() }).len(), 140);
    let newest: Vec<Id> = ids.iter().rev().copied().collect();
    // Page after page.
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let page = of(&EntryFilter { before, limit: Some(300), ..everything.clone() });
        seen.extend_from_slice(&page);
        match page.last() {
            Some(last) => before = Some(*last),
            None => break,
        }
    }
    assert_eq!(seen, newest);
    let text = newest[700].as_str();
    for length in [8, 10, 16] {
        let expected: Vec<Id> =
            ids.iter().filter(|id| id.as_str().starts_with(&text[..length])).copied().collect();
        assert_eq!(store.ids_with_prefix(&text[..length]).unwrap(), expected);
    }
    proxy.take_received();
    assert_eq!(place.elsewhere("reader").store_through(&proxy).newest(1).unwrap(), newest[..1]);
}
