//! How long stored outputs are kept, and who removes them.

use offcut::retention::{Cleaning, trusted_time};
use offcut::retrieve::resolve;
use offcut::store::{EntryFilter, FsStore, Id, MemoryStore, Pin, Retention, Store};
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

fn day_400() -> SystemTime {
    day(400)
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

#[test]
fn automatic_cleaning_keeps_outputs_when_the_clock_is_far_ahead() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = &temporary.path().join("outputs");
    store(&Truncator::in_directory(directory, day_0).cleaning(Cleaning::Manual));
    store(&Truncator::in_directory(directory, day_400));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(count(directory), 2);
    // An explicit request is believed.
    assert_eq!(Truncator::in_directory(directory, day_400).cleanup(day(400)).unwrap(), 1);
}

#[test]
fn time_is_trusted_if_an_output_confirms_it() {
    let ids = |days: &[u64]| days.iter().map(|&number| Id::new(day(number), 1)).collect::<Vec<_>>();
    for (stored, now, trusted) in [
        (&[][..], 400, 400),
        (&[0], 14, 14),
        (&[0], 15, 0),
        (&[0, 400], 400, 0),
        (&[0, 400], 401, 401),
        (&[0, 400], 10, 10),
        (&[0, 400], 500, 400),
    ] {
        assert_eq!(trusted_time(&ids(stored), day(now)), day(trusted), "{stored:?} on day {now}");
    }
}

#[test]
fn last_is_the_newest_output_after_the_clock_was_ahead() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = &temporary.path().join("outputs");
    let manual = |clock| Truncator::in_directory(directory, clock).cleaning(Cleaning::Manual);
    for clock in [day_0, day_400, day_8 as fn() -> SystemTime] {
        store(&manual(clock));
    }
    let ids = FsStore::new(directory, day_8).ids().unwrap();
    let resolve = |reference: &str| resolve(&FsStore::new(directory, day_8), reference).unwrap();
    assert_eq!([resolve("last"), resolve("last-1"), resolve("last-2")], [ids[1], ids[0], ids[2]]);
}

#[test]
fn cleaning_removes_what_killed_writers_left() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = &temporary.path().join("outputs");
    let truncator = Truncator::in_directory(directory, SystemTime::now).cleaning(Cleaning::Manual);
    store(&truncator);
    let metadata = directory.join(".offcut");
    let id = FsStore::new(directory, SystemTime::now).ids().unwrap()[0];
    let old = [metadata.join(".tmpAbCdEf"), metadata.join("1m3k9q2zab7xk4pd.pin")];
    let kept = [metadata.join(".tmpYoung1"), metadata.join(format!("{id}.pin")), metadata.join("other")];
    for path in old.iter().chain(&kept) {
        std::fs::write(path, "").unwrap();
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let age = if path.ends_with(".tmpYoung1") { 1 } else { 25 };
        file.set_modified(SystemTime::now() - Duration::from_secs(age * 60 * 60)).unwrap();
    }
    assert_eq!(truncator.cleanup(SystemTime::now()).unwrap(), 0);
    assert!(old.iter().all(|path| !path.exists()) && kept.iter().all(|path| path.exists()));
}
