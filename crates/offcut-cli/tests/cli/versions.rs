//! Entries that other versions of offcut wrote.

use crate::harness::Sandbox;
use std::path::Path;

/// A copy of the store that build afbdb45 wrote, with metadata of version 1.
fn version_1(sandbox: &Sandbox) -> String {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../offcut/tests/fixtures/store-v1");
    let store = sandbox.path().join("store");
    copy(&fixture, &store);
    store.to_str().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for item in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match item.file_type().unwrap().is_dir() {
            true => copy(&item.path(), &to.join(item.file_name())),
            false => drop(std::fs::copy(item.path(), to.join(item.file_name())).unwrap()),
        }
    }
    // A store is used only if no other user can read it.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(to, mode).unwrap();
}

#[test]
fn entries_of_version_1_can_be_listed_read_searched_and_removed() {
    let sandbox = Sandbox::new();
    let store = version_1(&sandbox);
    let run = |arguments: &[&str]| sandbox.run(&[&["--store", &store], arguments].concat(), b"");
    let listed = run(&["ls", "--format", "json"]).json();
    let entries = listed.as_array().unwrap();
    assert_eq!(entries.len(), 7);
    for entry in entries {
        let id = entry["id"].as_str().unwrap();
        assert_eq!(run(&["show", id]).code, Some(0), "{entry}");
        if entry["bytes"].as_u64() > Some(0) {
            assert_eq!(run(&["read", id]).code, Some(0), "{entry}");
            assert_eq!(run(&["cat", id]).stdout.len() as u64, entry["bytes"].as_u64().unwrap(), "{entry}");
        }
    }
    assert_eq!(run(&["grep", "-m", "1", ".", "all"]).code, Some(0));
    for entry in entries {
        assert_eq!(run(&["rm", "--force", entry["id"].as_str().unwrap()]).code, Some(0), "{entry}");
    }
    assert_eq!(run(&["ls", "--format", "json"]).json(), serde_json::json!([]));
}

#[test]
fn entries_of_a_newer_version_are_listed_and_left_alone() {
    let sandbox = Sandbox::new();
    let store = version_1(&sandbox);
    let id = "1q43346ta0kc891g";
    let metadata = Path::new(&store).join(".offcut").join(format!("{id}.json"));
    let text = std::fs::read_to_string(&metadata).unwrap().replace("\"version\":1", "\"version\":99");
    std::fs::write(&metadata, &text).unwrap();
    let run = |arguments: &[&str]| sandbox.run(&[&["--store", &store], arguments].concat(), b"");
    let listed = run(&["ls", "--format", "json"]).json();
    let entry = listed.as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
    assert_eq!(entry["state"], "unsupported", "{entry}");
    assert_ne!(run(&["read", id]).code, Some(0));
    assert_eq!(run(&["grep", "-m", "1", ".", "all"]).code, Some(0), "the other entries are searched");
    run(&["clean", "--older-than", "0s"]);
    assert_eq!(std::fs::read_to_string(&metadata).unwrap(), text, "cleaning leaves it alone");
    assert_eq!(run(&["rm", id]).code, Some(0));
    assert!(!metadata.exists());
}
