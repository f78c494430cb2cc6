//! `offcut fsck`: what is wrong with a store, and the command that removes it.

use crate::harness::{Sandbox, numbered};
use std::fs;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

fn store(sandbox: &Sandbox) -> (String, PathBuf) {
    let saved = sandbox.run(&["cut", "--format", "json"], numbered(5000).as_bytes()).json()["saved"].clone();
    (saved["id"].as_str().unwrap().to_owned(), saved["path"].as_str().unwrap().into())
}

#[test]
fn fsck_finds_nothing_wrong_with_a_new_store() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["fsck"], b"").text(), "");
    store(&sandbox);
    store(&sandbox);
    let ran = sandbox.run(&["fsck"], b"");
    assert_eq!(ran.text(), "");
    let bytes = 2 * numbered(5000).len();
    assert!(ran.stderr.contains(&format!("checked 2 outputs, {bytes} bytes: no problems")), "{}", ran.stderr);
    let report = sandbox.run(&["fsck", "--format", "json"], b"").json();
    assert_eq!((&report["entries"], &report["problems"]), (&2.into(), &serde_json::json!([])));
}

/// Damages an entry, given its id, its file and the directory of the metadata.
type Damage = fn(&str, &PathBuf, &PathBuf);

/// Each problem is reported, and its command solves it.
#[test]
fn fsck_reports_problems_and_commands_that_solve_them() {
    let sandbox = Sandbox::new();
    let metadata = sandbox.store().join(".offcut");
    let damages: [(&str, Damage); 7] = [
        ("checksum mismatch in bytes 0:", |_, path, _| {
            fs::write(path, numbered(5000).replace("4321", "1234")).unwrap();
        }),
        ("modified", |_, path, _| fs::write(path, "short").unwrap()),
        ("cannot be read", |_, path, _| fs::remove_file(path).unwrap()),
        ("cannot read the metadata", |id, _, metadata| {
            fs::write(metadata.join(format!("{id}.json")), "{").unwrap();
        }),
        ("belongs to no stored output", |id, _, metadata| {
            fs::remove_file(metadata.join(format!("{id}.json"))).unwrap();
        }),
        ("left by a process that ended early", |_, _, metadata| {
            let path = metadata.join(".tmpAbCdEf");
            let file = fs::File::options().write(true).create_new(true).mode(0o600).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(25 * 60 * 60)).unwrap();
        }),
        ("other users can read or change it", |_, path, _| {
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }),
    ];
    for (message, damage) in damages {
        let (id, path) = store(&sandbox);
        damage(&id, &path, &metadata);
        let ran = sandbox.run(&["fsck"], b"");
        let text = String::from_utf8(ran.stdout.clone()).unwrap();
        assert_eq!(ran.code, Some(1), "{message}: {ran:?}");
        assert!(text.contains(message) && text.lines().count() == 1, "{message}: {text}");
        assert!(ran.stderr.contains("1 problem"), "{}", ran.stderr);
        let (_, command) = text.trim_end().trim_end_matches('`').split_once("; run `").unwrap();
        let mut solved = std::process::Command::new("/bin/sh");
        let path = format!(
            "{}:/usr/bin:/bin",
            std::path::Path::new(crate::harness::binary()).parent().unwrap().display()
        );
        solved.args(["-c", command]).env_clear().env("HOME", sandbox.path()).env("PATH", path);
        crate::harness::feed(solved, b"").text();
        assert_eq!(sandbox.run(&["fsck"], b"").text(), "", "{message}");
    }
}

#[test]
fn fsck_checks_only_the_named_outputs() {
    let sandbox = Sandbox::new();
    let (damaged, path) = store(&sandbox);
    fs::remove_file(path).unwrap();
    store(&sandbox);
    assert_eq!(sandbox.run(&["fsck", "last"], b"").text(), "");
    assert_eq!(sandbox.run(&["fsck", &damaged], b"").code, Some(1));
    sandbox.run(&["fsck", "0000000000000000"], b"").failed(3, "no stored output");
}
