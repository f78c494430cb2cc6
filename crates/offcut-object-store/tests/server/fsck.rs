//! `offcut fsck` of a bucket: damaged, missing and stray objects.

use crate::bucket::Bucket;
use crate::harness::{Place, put, text};
use offcut::fsck::{self, Problem, Remedy};
use offcut::store::{Id, Store};
use std::time::{Duration, SystemTime};

/// What is wrong with the store, two days from now.
fn problems(place: &Place) -> Vec<Problem> {
    let store = place.elsewhere("reader").store();
    let mut problems = Vec::new();
    fsck::check_entries(&store, &store.ids().unwrap(), &mut |problem| problems.extend(problem)).unwrap();
    let later = SystemTime::now() + Duration::from_secs(2 * 24 * 60 * 60);
    fsck::check_surroundings(&store, later, &mut |problem| problems.push(problem)).unwrap();
    problems
}

/// Damages the objects of an entry.
type Damage = fn(&Bucket, &Id);

fn output(bucket: &Bucket, id: &Id) -> String {
    bucket.key("output", id.as_str())
}

fn metadata(bucket: &Bucket, id: &Id) -> String {
    bucket.key("entry", id.as_str())
}

#[test]
fn fsck_of_a_bucket_reports_each_damaged_missing_and_stray_object() {
    let place = Place::new();
    let bucket = Bucket::new(&place);
    let store = place.store();
    for size in [1, 100, 3 << 20] {
        put(&store, "bash", &text(1, size));
    }
    assert_eq!(problems(&place), []);
    let damages: [(&str, Damage); 6] = [
        ("checksum mismatch in bytes 1048576:2097152", |bucket, id| {
            let key = output(bucket, id);
            let mut bytes = bucket.get(&key);
            bytes[1_500_000] ^= 1;
            bucket.put(&key, bytes);
        }),
        ("bytes instead of 2500000", |bucket, id| {
            let key = output(bucket, id);
            let bytes = bucket.get(&key)[..1_700_000].to_vec();
            bucket.put(&key, bytes);
        }),
        ("bytes instead of 2500000", |bucket, id| bucket.put(&output(bucket, id), Vec::new())),
        ("the bytes are missing", |bucket, id| bucket.remove(&output(bucket, id))),
        ("cannot read the metadata", |bucket, id| bucket.put(&metadata(bucket, id), b"{".to_vec())),
        ("left by a process that ended early", |bucket, id| bucket.remove(&metadata(bucket, id))),
    ];
    for (message, damage) in damages {
        let id = put(&store, "bash", &text(2, 2_500_000)).id;
        damage(&bucket, &id);
        let found = problems(&place);
        assert!(!found.is_empty(), "{message}");
        for problem in &found {
            assert!(
                problem.place.contains(id.as_str()) && problem.message.contains(message),
                "{message}: {found:?}"
            );
        }
        match &found[0].remedy {
            Remedy::RemoveEntry(id) => place.elsewhere("cleaner").store().remove(id).unwrap(),
            Remedy::Clean => {
                let later = SystemTime::now() + Duration::from_secs(2 * 24 * 60 * 60);
                offcut::retention::remove_remnants(&place.elsewhere("cleaner").store(), later).unwrap();
            }
            remedy => panic!("{remedy:?}"),
        }
        assert_eq!(problems(&place), [], "{message}: the remedy solves it");
    }
}

#[test]
fn visits_and_removes_more_entries_than_one_batch() {
    let place = Place::new();
    let bucket = Bucket::new(&place);
    let example = put(&place.store(), "bash", b"x").id;
    let key = metadata(&bucket, &example);
    let text = String::from_utf8(bucket.get(&key)).unwrap();
    let count = 5000;
    let mut ids: Vec<Id> = (0..count)
        .map(|number| Id::new(example.time() - Duration::from_millis(number / 3), number))
        .collect();
    bucket.put_all(ids.iter().map(|id| {
        let name = |text: &str| text.replace(example.as_str(), id.as_str());
        (name(&key), name(&text).into_bytes())
    }));
    ids.push(example);
    ids.sort_unstable();
    let store = place.elsewhere("reader").store();
    let mut seen = Vec::new();
    store.visit(&Default::default(), &mut |entry| seen.push(entry.id)).unwrap();
    seen.reverse();
    assert_eq!(seen, ids);
    assert!(store.entries(&ids).iter().zip(&ids).all(|(entry, id)| entry.as_ref().unwrap().id == *id));
    let mut removed = 0;
    place.elsewhere("cleaner").store().remove_all(&ids, &mut |_, result| {
        result.unwrap();
        removed += 1;
    });
    assert_eq!((removed, store.ids().unwrap().len()), (ids.len(), 0));
}
