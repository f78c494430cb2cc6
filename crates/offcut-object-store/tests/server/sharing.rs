//! Many machines that share one store.

use crate::harness::{Place, all, number, put, text};
use offcut::store::{EntryFilter, Id, Store, StoreError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tool and the bytes for a seed.
fn output(seed: u64) -> (String, Vec<u8>) {
    // Some are large enough for an upload in parts.
    let size = if seed % 16 == 7 { 12 << 20 } else { 20_000 + 1000 * (seed as usize % 50) };
    (format!("tool-{seed}"), text(seed, size))
}

#[test]
fn many_writers_and_readers_lose_and_mix_nothing() {
    let place = Place::new();
    let (writers, readers, each) = (number("OFFCUT_TEST_WRITERS", 8), number("OFFCUT_TEST_READERS", 4), 8);
    let done = AtomicBool::new(false);
    let ids: Vec<(Id, u64)> = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..readers)
            .map(|_| {
                let (place, done) = (&place, &done);
                scope.spawn(move || {
                    let store = place.elsewhere("reader").store();
                    let mut read = 0;
                    while !done.load(Ordering::SeqCst) || read == 0 {
                        for item in
                            store.select(&EntryFilter { limit: Some(3), ..EntryFilter::default() }).unwrap()
                        {
                            let seed = item.context.tool.unwrap()[5..].parse().unwrap();
                            assert!(
                                all(&store, &item.id) == output(seed).1,
                                "every listed output can be read completely"
                            );
                            read += 1;
                        }
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..writers)
            .map(|writer| {
                let place = &place;
                scope.spawn(move || {
                    let place = place.elsewhere("writer");
                    let store = place.store();
                    let seeds = (0..each).map(|number| writer * each + number);
                    let put = |seed| {
                        let (tool, bytes) = output(seed);
                        (put(&store, &tool, &bytes).id, seed)
                    };
                    let ids: Vec<_> = seeds.map(put).collect();
                    assert!(place.has_nothing_pending());
                    ids
                })
            })
            .collect();
        let ids = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        ids
    });
    let store = place.elsewhere("other").store();
    let listed: BTreeSet<Id> = store.ids().unwrap().into_iter().collect();
    assert_eq!(listed, ids.iter().map(|(id, _)| *id).collect(), "nothing is lost or duplicated");
    assert_eq!(listed.len() as u64, writers * each);
    for (id, seed) in ids {
        assert!(all(&store, &id) == output(seed).1, "nothing is mixed");
    }
}

#[test]
fn cleaners_at_the_same_time_remove_each_entry_once() {
    let place = Place::new();
    let store = place.store();
    let ids: Vec<Id> = (0..40).map(|seed| put(&store, "bash", &text(seed, 1000)).id).collect();
    let (old, new) = ids.split_at(30);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cleaner = place.elsewhere("cleaner").store();
                cleaner.select(&EntryFilter::default()).unwrap();
                cleaner.remove_all(old, &mut |_, result| {
                    assert!(matches!(result, Ok(()) | Err(StoreError::NotFound { .. })), "{result:?}");
                });
            });
        }
    });
    let other = place.elsewhere("other").store();
    assert_eq!(other.ids().unwrap(), new);
    for (id, seed) in new.iter().zip(30..) {
        assert!(all(&other, id) == text(seed, 1000));
    }
    assert!(matches!(other.read(&old[0], 0, &mut [0; 8]), Err(StoreError::NotFound { .. })));
}

#[test]
fn prefixes_do_not_share_entries() {
    let (one, two) = (Place::new(), Place::new());
    let id = put(&one.store(), "bash", b"of one team").id;
    assert!(matches!(two.store().entry(&id), Err(StoreError::NotFound { .. })));
    assert_eq!(two.store().ids().unwrap(), []);
    assert_eq!(one.elsewhere("other").store().ids().unwrap(), [id]);
}
