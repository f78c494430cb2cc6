//! The contract suite for both stores, and the failures that only a directory can have.

use crate::common::noon;
use offcut::store::contract::{self, PreviewSupport};
use offcut::store::{EntryState, FsStore, MemoryStore, NewEntry, Store, StoreError};
use offcut::{Context, Profile, Saved, Storage, Truncator};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

fn put(store: &FsStore, file_name: &str, context: &Context, bytes: &[u8]) -> offcut::store::Entry {
    let new = NewEntry { file_name, ..NewEntry::new(context, "native") };
    let mut writer = store.create(&new).unwrap();
    writer.write(bytes).unwrap();
    writer.commit(EntryState::Complete, &contract::summary(bytes)).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn memory_store_passes_the_contract_suite() {
    for clock in [SystemTime::now, noon] {
        contract::check(|| MemoryStore::new(clock), PreviewSupport::None);
    }
}

#[test]
fn directory_store_passes_the_contract_suite() {
    let home = tempfile::tempdir().unwrap();
    for clock in [SystemTime::now, noon] {
        let directory = || tempfile::tempdir_in(home.path()).unwrap().keep().join("a/b");
        contract::check(|| FsStore::new(directory(), clock), PreviewSupport::Kept);
    }
}

#[test]
fn directories_and_files_are_private() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("new/store"), noon);
    let entry = put(&store, "{id}.txt", &Context::default(), b"secret");
    let path = entry.path.unwrap();
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(store.directory()), 0o700);
    assert_eq!(mode(&store.directory().join(".offcut")), 0o700);
    assert_eq!(mode(&store.directory().join(format!(".offcut/{}.json", entry.id))), 0o600);
}

#[test]
fn refuses_a_directory_that_others_can_write_to() {
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let store = FsStore::new(home.path(), noon);
    let context = Context::default();
    let refused = store.create(&NewEntry::new(&context, "native"));
    assert!(matches!(refused, Err(StoreError::Refused { .. })));
}

/// In a shared directory another user may have created the link, to anywhere.
#[test]
fn refuses_a_link_in_a_shared_directory() {
    let home = tempfile::tempdir().unwrap();
    let shared = home.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let private = home.path().join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&private, shared.join("link")).unwrap();
    let context = Context::default();
    let new = NewEntry::new(&context, "klaude");
    assert!(matches!(FsStore::new(shared.join("link"), noon).create(&new), Err(StoreError::Refused { .. })));
    assert_eq!(fs::read_dir(&private).unwrap().count(), 0);
    assert!(
        FsStore::new(shared.join("fresh"), noon).create(&new).is_ok(),
        "a new private directory is accepted"
    );
}

#[test]
fn numbers_files_whose_names_are_equal() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let context = Context { tool: Some("Read".into()), call_id: Some("c1".into()), ..Context::default() };
    let names: Vec<String> = (0..3)
        .map(|number| {
            let path = put(&store, "{tool}-{call_id}.txt", &context, &[number]).path.unwrap();
            assert_eq!(fs::read(&path).unwrap(), [number]);
            path.file_name().unwrap().to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["Read-c1.txt", "Read-c1_2.txt", "Read-c1_3.txt"]);
    assert_eq!(store.ids().unwrap().len(), 3);
}

#[test]
fn never_follows_links_and_never_overwrites_files() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("s");
    fs::create_dir(&directory).unwrap();
    let outside = home.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    symlink(&outside, directory.join("taken.txt")).unwrap();
    symlink(home.path().join("dangling"), directory.join("taken_2.txt")).unwrap();
    let store = FsStore::new(&directory, noon);
    let entry = put(&store, "taken.txt", &Context::default(), b"ours");
    assert_eq!(entry.path.unwrap(), directory.join("taken_3.txt"));
    assert_eq!(fs::read(&outside).unwrap(), b"mine");
    assert!(!home.path().join("dangling").exists());

    // A stored file that was replaced by a link is not read.
    let path = directory.join("taken_3.txt");
    fs::remove_file(&path).unwrap();
    symlink(&outside, &path).unwrap();
    assert!(store.read(&entry.id, 0, &mut [0; 10]).is_err());
    assert!(matches!(store.entry(&entry.id).unwrap().state, EntryState::Damaged { .. }));
}

#[test]
fn refuses_metadata_that_names_a_file_elsewhere() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let entry = put(&store, "{id}.txt", &Context::default(), b"ours");
    fs::write(home.path().join("outside"), "mine").unwrap();
    let metadata = store.directory().join(format!(".offcut/{}.json", entry.id));
    let text = fs::read_to_string(&metadata).unwrap();
    for name in ["../outside", "/etc/passwd", ".", "..", "a/b"] {
        fs::write(&metadata, text.replace(&format!("{}.txt", entry.id), name)).unwrap();
        assert!(matches!(store.read(&entry.id, 0, &mut [0; 4]), Err(StoreError::Damaged { .. })), "{name}");
        store.remove(&entry.id).unwrap();
        assert!(home.path().join("outside").exists(), "{name}");
    }
    for damaged in ["", "{", "null", "{\"version\":1}"] {
        fs::write(&metadata, damaged).unwrap();
        assert!(matches!(store.entry(&entry.id), Err(StoreError::Damaged { .. })), "{damaged}");
    }
    assert!(home.path().join("outside").exists());
}

/// The metadata of one entry names the file of another.
#[test]
fn removing_an_entry_keeps_the_file_of_another_entry() {
    for template in ["{id}.txt", "tool_{date}_{random}", "{tool}-{call_id}-{seconds}.txt"] {
        let home = tempfile::tempdir().unwrap();
        let store = FsStore::new(home.path().join("s"), noon);
        let [first, second] =
            [&b"first"[..], b"2"].map(|bytes| put(&store, template, &Context::default(), bytes));
        let [file, wrong] = [&first, &second].map(|entry| entry.path.clone().unwrap());
        let metadata = store.directory().join(format!(".offcut/{}.json", second.id));
        let name = |path: &Path| format!("\"{}\"", path.file_name().unwrap().to_str().unwrap());
        let text = fs::read_to_string(&metadata).unwrap();
        fs::write(&metadata, text.replace(&name(&wrong), &name(&file))).unwrap();
        store.remove(&second.id).unwrap();
        assert_eq!(store.ids().unwrap(), [first.id], "{template}");
        assert_eq!(fs::read(&file).unwrap(), b"first", "{template}");
        store.remove(&first.id).unwrap();
        assert!(!file.exists(), "{template}");
    }
}

#[test]
fn removing_an_entry_removes_a_file_that_was_modified() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let entry = put(&store, "output.txt", &Context::default(), b"stored");
    put(&store, "output.txt", &Context::default(), b"another");
    let file = entry.path.unwrap();
    fs::write(&file, "modified").unwrap();
    store.remove(&entry.id).unwrap();
    assert!(!file.exists());
    assert_eq!(store.ids().unwrap().len(), 1);
}

#[test]
fn removing_an_entry_whose_metadata_cannot_be_read_now_fails_and_keeps_it() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let entry = put(&store, "{id}.txt", &Context::default(), b"stored");
    let metadata = store.directory().join(format!(".offcut/{}.json", entry.id));
    fs::set_permissions(&metadata, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&metadata).is_ok() {
        return; // Root may read everything.
    }
    assert!(matches!(store.remove(&entry.id), Err(StoreError::Io { .. })));
    assert!(metadata.exists() && entry.path.unwrap().exists());
}

#[test]
fn removing_an_entry_whose_metadata_is_a_link_removes_the_link() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let entry = put(&store, "{id}.txt", &Context::default(), b"stored");
    let metadata = store.directory().join(format!(".offcut/{}.json", entry.id));
    let outside = home.path().join("outside");
    fs::rename(&metadata, &outside).unwrap();
    symlink(&outside, &metadata).unwrap();
    store.remove(&entry.id).unwrap();
    assert!(store.ids().unwrap().is_empty() && outside.exists());
}

#[test]
fn modified_or_missing_files_make_an_entry_damaged() {
    let home = tempfile::tempdir().unwrap();
    let store = FsStore::new(home.path().join("s"), noon);
    let entry = put(&store, "{id}.txt", &Context::default(), b"0123456789");
    let path = entry.path.clone().unwrap();
    fs::write(&path, "01234").unwrap();
    assert!(matches!(store.entry(&entry.id).unwrap().state, EntryState::Damaged { .. }));
    fs::remove_file(&path).unwrap();
    assert!(matches!(store.entry(&entry.id).unwrap().state, EntryState::Damaged { .. }));
    store.remove(&entry.id).unwrap();
    assert!(store.ids().unwrap().is_empty());
}

/// Everything that can be wrong with a directory, and the reason in the preview.
#[test]
fn refuses_a_file_name_that_leads_elsewhere() {
    let directory = tempfile::tempdir().unwrap();
    let store = FsStore::new(directory.path().join("store"), SystemTime::now);
    let context = Context::default();
    for file_name in ["../{id}", "/tmp/{id}", "{id}/x", "..", ""] {
        let new = NewEntry { file_name, ..NewEntry::new(&context, "custom") };
        let refused = store.create(&new).err().unwrap();
        assert!(matches!(refused, StoreError::Refused { .. }), "{file_name:?}: {refused}");
    }
    assert!(store.ids().unwrap().is_empty());
}

/// A reader that finds the metadata of a running entry may see its lock only after the writer has committed.
/// A shared store uploads and removes what is abandoned, so the output of a running process would be lost.
#[test]
fn reading_an_entry_while_it_is_created_does_not_abandon_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = || FsStore::new(directory.path().join("store"), SystemTime::now);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let store = store();
            let mut abandoned = 0;
            while !is_over.load(Ordering::Relaxed) {
                for id in store.ids().unwrap().iter().rev().take(3) {
                    let has_file = store.directory().join(format!("{id}.txt")).exists();
                    let state = store.entry(id).unwrap().state;
                    abandoned += u32::from(has_file && state == EntryState::Abandoned);
                }
            }
            abandoned
        });
        let store = store();
        for _ in 0..2000 {
            let writer = store.create(&NewEntry::new(&Context::default(), "native")).unwrap();
            writer.commit(EntryState::Complete, &contract::summary(b"")).unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(reader.join().unwrap(), 0);
    });
}

#[test]
fn reading_an_entry_while_it_is_committed_does_not_abandon_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = FsStore::new(directory.path().join("store"), SystemTime::now);
    let context = Context::default();
    for _ in 0..400 {
        let mut writer = store.create(&NewEntry::new(&context, "native")).unwrap();
        let id = writer.id();
        writer.write(b"all of it").unwrap();
        let committed = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !committed.load(std::sync::atomic::Ordering::Relaxed) {
                    store.entry(&id).unwrap();
                }
            });
            writer.commit(EntryState::Complete, &Default::default()).unwrap();
            committed.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(store.entry(&id).unwrap().state, EntryState::Complete);
    }
}

#[test]
fn bounds_the_output_and_names_the_reason_when_the_directory_is_unusable() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let long = home.path().join("x".repeat(300));
    for (directory, reason) in [
        (file.clone(), "Not a directory"),
        (file.join("below"), "Not a directory"),
        (long, "File name too long"),
        ("/proc/offcut".into(), "No such file or directory"),
        (home.path().join("nul\0byte"), "nul?byte"),
    ] {
        let store = Arc::new(FsStore::new(&directory, noon));
        let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
        let text = "a line\n".repeat(10_000);
        let Some(preview) = truncator.apply(text.as_bytes(), &Context::default()).into_preview() else {
            panic!()
        };
        assert!(preview.content().len() <= 9500);
        let Saved::Failed { error, .. } = preview.saved() else { panic!("{directory:?}") };
        assert!(error.contains(reason), "{directory:?}: {error}");
        let header = String::from_utf8_lossy(preview.content()).lines().next().unwrap().to_owned();
        assert!(header.contains("the rest was not stored: ") && header.contains(reason), "{header}");
    }
}

#[test]
fn reports_a_directory_that_is_removed_during_writing() {
    let home = tempfile::tempdir().unwrap();
    let directory = home.path().join("s");
    let store = Arc::new(FsStore::new(&directory, noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
    let mut spool = truncator.spool(Context::default());
    spool.observe(&b"line\n".repeat(10_000));
    fs::remove_dir_all(&directory).unwrap();
    spool.observe(&b"line\n".repeat(10_000));
    let shown = spool.finish();
    let preview = shown.preview().unwrap();
    assert!(matches!(preview.saved(), Saved::Failed { .. }), "{:?}", preview.saved());
    assert!(String::from_utf8_lossy(preview.content()).contains("not stored"));
}
