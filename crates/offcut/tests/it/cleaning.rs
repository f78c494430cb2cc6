//! How long stored outputs are kept, and who removes them.

use offcut::retention::Cleaning;
use offcut::store::{EntryFilter, FsStore, MemoryStore, Pin, Retention, Store};
use offcut::{Context, Profile, Storage, Truncator};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn day(number: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_771_860_645 + number * 24 * 60 * 60)
}

fn day_0() -> SystemTime {
    day(0)
}

fn day_8() -> SystemTime {
    day(8)
}

fn profile(name: &str) -> Truncator {
    Truncator::new(Profile::named(name).unwrap())
}

fn in_directory(truncator: Truncator, directory: &Path, clock: fn() -> SystemTime) -> Truncator {
    truncator.storage(Storage::To(Arc::new(FsStore::new(directory, clock))))
}

/// Stores an output.
fn store(truncator: &Truncator) {
    let text = "line\n".repeat(20_000);
    let outcome = truncator.apply(&text, &Context::default());
    assert!(outcome.preview().and_then(|preview| preview.entry()).is_some());
}

fn count(directory: &Path) -> usize {
    FsStore::new(directory, day_0).ids().unwrap().len()
}

/// Waits until the directory has this many entries.
#[track_caller]
fn wait_for(directory: &Path, entries: usize) {
    let start = Instant::now();
    while count(directory) != entries {
        assert!(start.elapsed() < Duration::from_secs(10), "{} entries", count(directory));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn cleanup_removes_outputs_after_their_own_retention() {
    let memory = MemoryStore::new(day_0);
    let storing = |truncator: Truncator| truncator.storage(Storage::To(Arc::new(memory.clone())));
    store(&storing(profile("native")));
    store(&storing(profile("opencode").retention(Retention::Days(30))));
    store(&storing(profile("takumi")));
    store(&storing(profile("coding-agent").retention(Retention::Days(0))));
    let recorded: Vec<_> = memory.select(&EntryFilter::default()).unwrap();
    let recorded: Vec<_> = recorded.iter().rev().map(|entry| entry.retention.unwrap()).collect();
    let days = Retention::Days;
    assert_eq!(recorded, [days(7), days(30), Retention::Forever, days(0)]);
    // The profile of the truncator that cleans does not matter.
    for (now, removed, left) in [(6, 0, 4), (8, 1, 3), (8, 0, 3), (31, 1, 2), (10_000, 0, 2)] {
        assert_eq!(storing(profile("klaude")).cleanup(day(now)).unwrap(), removed, "day {now}");
        assert_eq!(memory.ids().unwrap().len(), left, "day {now}");
    }
}

#[test]
fn cleanup_keeps_pinned_output() {
    let memory = Arc::new(MemoryStore::new(day_0));
    let truncator = profile("native").storage(Storage::To(memory.clone()));
    store(&truncator);
    let id = memory.ids().unwrap()[0];
    memory.pin(&id, Pin::Pinned).unwrap();
    assert_eq!(truncator.cleanup(day(100)).unwrap(), 0);
    memory.pin(&id, Pin::Loose).unwrap();
    assert_eq!(truncator.cleanup(day(100)).unwrap(), 1);
}

#[test]
fn cleanup_without_store_removes_nothing() {
    assert_eq!(profile("native").cleanup(day(8)).unwrap(), 0);
    let unavailable = profile("native").storage(Storage::Unavailable("no home".to_owned()));
    assert_eq!(unavailable.cleanup(day(8)).unwrap_err().to_string(), "no home");
}

#[test]
fn first_stored_output_cleans_directory_once_per_process() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = &temporary.path().join("outputs");
    let old = Truncator::in_directory(directory, day_0).cleaning(Cleaning::Manual);
    store(&old);
    // An output that fits is not stored, so it does not clean.
    let later = Truncator::in_directory(directory, day_8);
    assert!(later.apply("fits", &Context::default()).preview().is_none());
    store(&later);
    wait_for(directory, 1);
    store(&old);
    store(&Truncator::in_directory(directory, day_8));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(count(directory), 3, "cleaned only once");
    assert_eq!(later.cleanup(day(8)).unwrap(), 1);
}

#[test]
fn first_stored_output_does_not_clean_if_turned_off_or_kept_forever() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = &temporary.path().join("outputs");
    store(&Truncator::in_directory(directory, day_0).cleaning(Cleaning::Manual));
    store(&Truncator::in_directory(directory, day_8).cleaning(Cleaning::Manual));
    for name in ["takumi", "klaude"] {
        store(&in_directory(profile(name), directory, day_8));
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(count(directory), 4);
    store(&in_directory(profile("opencode"), directory, day_8));
    wait_for(directory, 4);
}
