//! Moving entries from one directory to another.

use crate::common::noon;
use offcut::Context;
use offcut::store::{Entry, EntryState, FsStore, Id, NewEntry, Pin, Store, StoreError, StrayKind, contract};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The maximum size of an entry.
const LIMIT: u64 = 1 << 20;

/// Two stores, as in a sandbox and outside.
struct Stores {
    home: TempDir,
    from: FsStore,
    to: FsStore,
}

impl Stores {
    fn new() -> Stores {
        let home = tempfile::tempdir().unwrap();
        let store = |name| FsStore::new(home.path().join(name), noon);
        Stores { from: store("from"), to: store("to"), home }
    }

    fn put(&self, file_name: &str, bytes: &[u8]) -> Entry {
        put(&self.from, file_name, bytes)
    }

    fn move_entry(&self, id: &Id) -> Result<Id, StoreError> {
        let can_move = self.to.can_move_from(&self.from, id, LIMIT);
        let moved = self.to.move_from(&self.from, id, LIMIT);
        assert_eq!(can_move, moved.is_ok());
        moved.map(|entry| entry.id)
    }

    /// Checks that the entry is refused, and that nothing is changed in the new directory or outside.
    #[track_caller]
    fn expect_refused(&self, id: &Id) {
        let before = snapshot(self.home.path());
        assert!(self.move_entry(id).is_err());
        assert_eq!(snapshot(self.home.path()), before);
    }

    #[track_caller]
    fn expect_moved(&self, id: &Id, bytes: &[u8]) {
        assert_eq!(self.move_entry(id).unwrap(), *id);
        self.expect_only_in_new(id, bytes);
    }

    #[track_caller]
    fn expect_only_in_new(&self, id: &Id, bytes: &[u8]) {
        expect_bytes(&self.to, id, bytes);
        assert_eq!(self.to.entry(id).unwrap().state, EntryState::Complete);
        assert!(self.from.ids().unwrap().is_empty());
        let files = |store: &FsStore| fs::read_dir(store.directory()).unwrap().count();
        assert_eq!(
            (files(&self.from), files(&self.to)),
            (1, 2),
            "only the metadata directory and one file remain"
        );
        for kind in [StrayKind::Remnant, StrayKind::Unknown] {
            assert_eq!(self.to.strays(kind).unwrap(), []);
        }
    }
}

fn put(store: &FsStore, file_name: &str, bytes: &[u8]) -> Entry {
    let context = Context::default();
    let new = NewEntry { file_name, ..NewEntry::new(&context, "native") };
    let mut writer = store.create(&new).unwrap();
    writer.write(bytes).unwrap();
    writer.commit(EntryState::Complete, &contract::summary(bytes)).unwrap()
}

#[track_caller]
fn expect_bytes(store: &FsStore, id: &Id, bytes: &[u8]) {
    let mut read = vec![0; bytes.len() + 1];
    let count = store.read(id, 0, &mut read).unwrap();
    assert_eq!(&read[..count], bytes);
}

fn metadata(store: &FsStore, id: &Id) -> PathBuf {
    store.directory().join(format!(".offcut/{id}.json"))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::set_permissions(to.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::copy(from, to).unwrap();
}

/// Every path below a directory, with the bytes of files.
fn snapshot(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory).unwrap().map(|item| item.unwrap()) {
        let kind = item.file_type().unwrap();
        let is_small = item.metadata().unwrap().len() < 2 * LIMIT;
        let bytes = if kind.is_file() && is_small { fs::read(item.path()).unwrap() } else { Vec::new() };
        found.push((item.path(), bytes));
        if kind.is_dir() {
            found.extend(snapshot(&item.path()));
        }
    }
    found.sort();
    found
}

fn make_pipe(path: &Path) {
    let _ = fs::remove_file(path);
    rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
}

#[test]
fn moved_entry_keeps_id_metadata_and_pin_and_is_private() {
    let stores = Stores::new();
    let entry = stores.put("{id}.txt", b"an output\n");
    stores.from.pin(&entry.id, Pin::Pinned).unwrap();
    let before = stores.from.entry(&entry.id).unwrap();
    stores.expect_moved(&entry.id, b"an output\n");
    let after = stores.to.entry(&entry.id).unwrap();
    assert_eq!(Entry { path: None, ..after.clone() }, Entry { path: None, ..before });
    assert_eq!(after.pin, Pin::Pinned);
    for path in [after.path.unwrap(), metadata(&stores.to, &entry.id)] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(stores.to.directory()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn running_entry_stays_until_it_ends() {
    let stores = Stores::new();
    let context = Context::default();
    let mut writer = stores.from.create(&NewEntry::new(&context, "native")).unwrap();
    writer.write(b"first\n").unwrap();
    let id = writer.id();
    assert!(matches!(stores.move_entry(&id), Err(StoreError::Refused { .. })));
    assert!(stores.to.ids().unwrap().is_empty());
    writer.write(b"last\n").unwrap();
    writer.commit(EntryState::Complete, &contract::summary(b"first\nlast\n")).unwrap();
    stores.expect_moved(&id, b"first\nlast\n");
}

#[test]
fn abandoned_entry_is_moved_with_what_was_written() {
    let stores = Stores::new();
    let context = Context::default();
    let mut writer = stores.from.create(&NewEntry::new(&context, "native")).unwrap();
    writer.write(b"first\n").unwrap();
    let id = writer.id();
    drop(writer);
    stores.move_entry(&id).unwrap();
    expect_bytes(&stores.to, &id, b"first\n");
    assert_eq!(stores.to.entry(&id).unwrap().state, EntryState::Abandoned);
    assert!(stores.from.ids().unwrap().is_empty());
}

/// Every state in which a killed process can leave the two directories.
#[test]
fn interrupted_move_is_completed_by_the_next() {
    let bytes = b"an output\n";
    for name in ["{id}.txt", "output-{random}.log"] {
        // A temporary file is left, which cleaning removes.
        let steps: [fn(&Stores, &Entry); 5] = [
            |_, _| {},
            // The bytes are copied.
            |stores, entry| {
                let from = entry.path.as_ref().unwrap();
                copy(from, &stores.to.directory().join(from.file_name().unwrap()));
            },
            // The metadata is copied too.
            |stores, entry| copy(&metadata(&stores.from, &entry.id), &metadata(&stores.to, &entry.id)),
            // The original bytes are removed.
            |_, entry| fs::remove_file(entry.path.as_ref().unwrap()).unwrap(),
            // The original metadata is removed.
            |stores, entry| fs::remove_file(metadata(&stores.from, &entry.id)).unwrap(),
        ];
        for last in 0..steps.len() {
            let stores = Stores::new();
            let entry = stores.put(name, bytes);
            steps[..=last].iter().for_each(|step| step(&stores, &entry));
            match stores.move_entry(&entry.id) {
                Ok(id) => assert_eq!(id, entry.id),
                Err(error) => assert!(last == 4 && matches!(error, StoreError::NotFound { .. }), "{error}"),
            }
            stores.expect_only_in_new(&entry.id, bytes);
        }
    }
}

#[test]
fn entry_gets_a_new_id_if_another_one_has_its_id() {
    let stores = Stores::new();
    let entry = stores.put("{id}.txt", b"moved\n");
    let other = put(&stores.to, "{id}.txt", b"other\n");
    let text = fs::read_to_string(metadata(&stores.to, &other.id)).unwrap();
    let text = text.replace(other.id.as_str(), entry.id.as_str());
    fs::write(metadata(&stores.to, &entry.id), text).unwrap();
    fs::remove_file(metadata(&stores.to, &other.id)).unwrap();
    fs::rename(other.path.unwrap(), stores.to.directory().join(format!("{}.txt", entry.id))).unwrap();
    let id = stores.move_entry(&entry.id).unwrap();
    assert_ne!(id, entry.id);
    expect_bytes(&stores.to, &id, b"moved\n");
    expect_bytes(&stores.to, &entry.id, b"other\n");
    assert_eq!(stores.to.entry(&id).unwrap().state, EntryState::Complete);
    assert!(stores.from.ids().unwrap().is_empty());
}

#[test]
fn entry_gets_another_file_name_if_its_own_exists() {
    let stores = Stores::new();
    let other = put(&stores.to, "output.txt", b"same\n");
    let entry = stores.put("output.txt", b"same\n");
    assert_eq!(stores.move_entry(&entry.id).unwrap(), entry.id);
    stores.to.remove(&other.id).unwrap();
    expect_bytes(&stores.to, &entry.id, b"same\n");
    // A file that belongs to nobody is not replaced either.
    let entry = stores.put("{id}.txt", b"moved\n");
    fs::write(stores.to.directory().join(format!("{}.txt", entry.id)), "foreign").unwrap();
    stores.move_entry(&entry.id).unwrap();
    expect_bytes(&stores.to, &entry.id, b"moved\n");
    let foreign = fs::read(stores.to.directory().join(format!("{}.txt", entry.id))).unwrap();
    assert_eq!(foreign, b"foreign");
}

/// A command in the sandbox can replace the file of an entry.
#[test]
fn link_is_not_followed() {
    let stores = Stores::new();
    let secret = stores.home.path().join("secret");
    fs::write(&secret, b"12345").unwrap();
    let entry = stores.put("{id}.txt", b"12345");
    let path = entry.path.unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&secret, &path).unwrap();
    assert!(stores.move_entry(&entry.id).is_err());
    assert!(stores.to.ids().unwrap().is_empty());
    assert_eq!(stores.to.strays(StrayKind::Unknown).unwrap(), []);
}

/// A command in the sandbox can replace any file and directory.
#[test]
fn hostile_directory_is_refused_and_changes_nothing_outside() {
    let cases: [fn(&Stores, &Entry); 9] = [
        // The directory with the metadata is that of the new directory.
        |stores, entry| {
            let (from, to) = (stores.from.directory().join(".offcut"), stores.to.directory().join(".offcut"));
            copy(&metadata(&stores.from, &entry.id), &to.join(format!("{}.json", entry.id)));
            let file = entry.path.as_ref().unwrap();
            copy(file, &stores.to.directory().join(file.file_name().unwrap()));
            fs::remove_dir_all(&from).unwrap();
            symlink(&to, &from).unwrap();
        },
        // The directory itself is a link.
        |stores, _| {
            let real = stores.home.path().join("real");
            fs::rename(stores.from.directory(), &real).unwrap();
            symlink(&real, stores.from.directory()).unwrap();
        },
        // The metadata is a link, a pipe, a second name of a file, a directory.
        |stores, entry| {
            let (path, real) = (metadata(&stores.from, &entry.id), stores.home.path().join("real"));
            fs::rename(&path, &real).unwrap();
            symlink(&real, &path).unwrap();
        },
        |stores, entry| make_pipe(&metadata(&stores.from, &entry.id)),
        |stores, entry| {
            fs::hard_link(metadata(&stores.from, &entry.id), stores.home.path().join("second")).unwrap();
        },
        |stores, entry| {
            fs::remove_file(metadata(&stores.from, &entry.id)).unwrap();
            fs::create_dir(metadata(&stores.from, &entry.id)).unwrap();
        },
        // So are the bytes.
        |_, entry| make_pipe(entry.path.as_ref().unwrap()),
        |stores, entry| {
            fs::hard_link(entry.path.as_ref().unwrap(), stores.home.path().join("second")).unwrap();
        },
        // The metadata names a file elsewhere.
        |stores, entry| {
            fs::write(stores.home.path().join("secret"), "an output\n").unwrap();
            let path = metadata(&stores.from, &entry.id);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace(&format!("{}.txt", entry.id), "../secret")).unwrap();
        },
    ];
    for case in cases {
        let stores = Stores::new();
        let entry = stores.put("{id}.txt", b"an output\n");
        put(&stores.to, "{id}.txt", b"another\n");
        case(&stores, &entry);
        stores.expect_refused(&entry.id);
    }
}

#[test]
fn file_of_another_size_is_refused() {
    let stores = Stores::new();
    let entry = stores.put("{id}.txt", b"an output\n");
    for length in [0, 5, 11, LIMIT + 1, 1 << 40] {
        fs::File::options().write(true).open(entry.path.as_ref().unwrap()).unwrap().set_len(length).unwrap();
        stores.expect_refused(&entry.id);
    }
    // One that nobody writes to any more has no recorded size.
    let context = Context::default();
    let writer = stores.from.create(&NewEntry::new(&context, "native")).unwrap();
    let (id, path) = (writer.id(), writer.path().unwrap().to_owned());
    drop(writer);
    fs::File::options().write(true).open(path).unwrap().set_len(LIMIT + 1).unwrap();
    stores.expect_refused(&id);
}

/// The entry of the new directory is neither replaced nor taken for a copy.
#[test]
fn forged_entry_with_an_id_of_the_new_directory_gets_another_id() {
    let stores = Stores::new();
    let entry = put(&stores.to, "{id}.txt", b"an output\n");
    let name = format!("{}.txt", entry.id);
    copy(&metadata(&stores.to, &entry.id), &metadata(&stores.from, &entry.id));
    fs::write(stores.from.directory().join(name), b"An output\n").unwrap();
    let id = stores.move_entry(&entry.id).unwrap();
    assert_ne!(id, entry.id);
    expect_bytes(&stores.to, &entry.id, b"an output\n");
    expect_bytes(&stores.to, &id, b"An output\n");
}
