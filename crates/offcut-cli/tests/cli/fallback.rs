//! A store that cannot be written to, as in an agent's sandbox: outputs are stored in a temporary directory, and moved to the
//! store by a later call outside.

use crate::harness::{Ran, Sandbox, binary, feed, numbered, until};
use offcut::store::Id;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Whether the tests can mount: in a namespace of its own, a home directory that nobody can write to.
fn can_confine() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--mount", "mount", "--bind", "/mnt", "/mnt"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The binary in a namespace in which the home directory is read-only.
fn confined(sandbox: &Sandbox, arguments: &[&str]) -> Command {
    let line = "mount --bind \"$HOME\" \"$HOME\" && mount -o remount,bind,ro \"$HOME\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "/bin/sh", "-c", line, "sh", binary()]).args(arguments);
    command.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
    command.current_dir("/");
    command
}

fn run_confined(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    feed(confined(sandbox, arguments), b"")
}

/// The temporary directory for the default store.
fn temporary(sandbox: &Sandbox) -> PathBuf {
    let digest = blake3::hash(sandbox.store().as_os_str().as_bytes()).to_hex();
    PathBuf::from(format!("/tmp/offcut-{}-{}", rustix::process::geteuid().as_raw(), &digest[..16]))
}

/// The id in the notice.
#[track_caller]
fn id(text: &str) -> String {
    let start = text.find("[offcut ").unwrap_or_else(|| panic!("no notice: {text}")) + "[offcut ".len();
    let id = text[start..].split(':').next().unwrap().to_owned();
    assert!(id.len() == 10 && !text.contains("not stored"), "{text}");
    id
}

fn is_in_store(sandbox: &Sandbox, id: &str) -> bool {
    let names = fs::read_dir(sandbox.store().join(".offcut")).into_iter().flatten().flatten();
    names.map(|name| name.file_name()).any(|name| name.to_str().is_some_and(|name| name.starts_with(id)))
}

#[test]
fn outputs_of_a_sandbox_are_readable_at_once_and_moved_by_the_next_call_outside() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let earlier = id(&sandbox.run(&["cut"], numbered(50_000).as_bytes()).text());
    let stored = id(&run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text());
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(temporary(&sandbox)), 0o700);
    // Inside, both directories are one store.
    assert_eq!(run_confined(&sandbox, &["cat", &stored]).text(), numbered(100_000));
    assert_eq!(run_confined(&sandbox, &["cat", &earlier]).text(), numbered(50_000));
    assert_eq!(run_confined(&sandbox, &["cat", "last"]).text(), numbered(100_000));
    assert!(
        run_confined(&sandbox, &["read", &stored, "--lines", "777:778"]).text().starts_with("777\n778\n")
    );
    assert!(run_confined(&sandbox, &["grep", "^99999$", &stored]).text().contains("99999"));
    let listed = run_confined(&sandbox, &["ls"]).text();
    assert!(listed.contains(&stored) && listed.contains(&earlier), "{listed}");
    assert!(!is_in_store(&sandbox, &stored));
    // Outside, it is readable before and after it is moved.
    assert_eq!(sandbox.run(&["cat", &stored], b"").text(), numbered(100_000));
    until(|| is_in_store(&sandbox, &stored) && !temporary(&sandbox).exists());
    assert_eq!(sandbox.run(&["cat", &stored], b"").text(), numbered(100_000));
    assert_eq!(run_confined(&sandbox, &["cat", &stored]).text(), numbered(100_000));
    assert_eq!(sandbox.run(&["fsck"], b"").code, Some(0));
    let json = sandbox.run(&["ls", "--format", "json"], b"").json();
    assert_eq!(json.as_array().map(Vec::len), Some(2), "{json}");
}

/// The store does not exist yet, and a call that stores an output moves the others.
#[test]
fn first_output_of_a_new_store_can_come_from_a_sandbox() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let stored = id(&run_confined(&sandbox, &["shell", "-c", "seq 1 100000; exit 0"]).text());
    assert!(!sandbox.store().exists());
    let listed = run_confined(&sandbox, &["ls"]);
    assert!(listed.text().contains(&stored) && listed.stderr.is_empty(), "{listed:?}");
    id(&sandbox.run(&["run", "--", "seq", "1", "50000"], b"").text());
    until(|| is_in_store(&sandbox, &stored) && !temporary(&sandbox).exists());
    assert_eq!(sandbox.run(&["cat", &stored], b"").text(), numbered(100_000));
}

#[test]
fn output_is_not_stored_elsewhere_if_the_call_names_the_store() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("named");
    let flag =
        run_confined(&sandbox, &["--store", store.to_str().unwrap(), "run", "--", "seq", "1", "100000"]);
    assert!(flag.text().contains("not stored: Read-only file system"), "{flag:?}");
    let mut command = confined(&sandbox, &["run", "--", "seq", "1", "100000"]);
    command.env("OFFCUT_STORE", &store);
    assert!(feed(command, b"").text().contains("not stored: Read-only file system"));
}

/// Another user can create the directory first, to read or replace outputs.
#[test]
fn temporary_directory_that_is_not_private_is_refused() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let (path, elsewhere) = (temporary(&sandbox), sandbox.path().join("elsewhere"));
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o700)).unwrap();
    let prepare: [fn(&PathBuf, &PathBuf); 4] = [
        |path, elsewhere| symlink(elsewhere, path).unwrap(),
        |path, _| fs::write(path, "").unwrap(),
        |path, _| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        },
        |path, _| {
            fs::create_dir(path).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
        },
    ];
    for prepare in prepare {
        prepare(&path, &elsewhere);
        let ran = run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]);
        assert!(ran.text().contains("not stored: Read-only file system"), "{ran:?}");
        assert_eq!(sandbox.run(&["ls"], b"").code, Some(0));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
    }
}

#[test]
fn running_output_is_moved_after_its_end() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let go = tempfile::NamedTempFile::new().unwrap();
    let line =
        format!("(while test -e {}; do sleep 0.02; done; echo later) & seq 1 100000", go.path().display());
    let stored = id(&run_confined(&sandbox, &["run", "--shell", &line]).text());
    let state = || sandbox.run(&["show", &stored, "--format", "json"], b"").json()["state"].clone();
    assert_eq!(state(), "running");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!is_in_store(&sandbox, &stored));
    drop(go);
    until(|| state() == "complete" && is_in_store(&sandbox, &stored));
    assert_eq!(sandbox.run(&["cat", &stored], b"").text(), numbered(100_000) + "later\n");
}

/// Outputs are created in the temporary directory while others are moved from it and it is removed.
#[test]
fn no_output_is_lost_while_others_are_moved() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let stored: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let ids = (0..15).map(|_| {
                        let text = run_confined(&sandbox, &["run", "--", "seq", "1", "20000"]).text();
                        sandbox.run(&["ls"], b"").text();
                        id(&text)
                    });
                    ids.collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for id in &stored {
        assert_eq!(sandbox.run(&["cat", id], b"").text(), numbered(20_000));
    }
    until(|| {
        sandbox.run(&["ls"], b"").text();
        !temporary(&sandbox).exists()
    });
    assert!(stored.iter().all(|id| is_in_store(&sandbox, id)));
    assert_eq!(sandbox.run(&["fsck"], b"").code, Some(0));
}

/// A killed move is completed by the next one, and the output is readable at any time.
#[test]
fn killed_move_loses_nothing() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    for round in 0..20 {
        let stored = id(&run_confined(&sandbox, &["run", "--", "seq", "1", "200000"]).text());
        let store = sandbox.store();
        let mut mover = sandbox.command().args(["clean", "--auto", "--store"]).arg(store).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(500 * round));
        let _ = mover.kill();
        mover.wait().unwrap();
        assert_eq!(run_confined(&sandbox, &["cat", &stored]).text(), numbered(200_000));
        until(|| {
            sandbox.run(&["ls"], b"").text();
            is_in_store(&sandbox, &stored)
        });
        assert_eq!(run_confined(&sandbox, &["cat", &stored]).text(), numbered(200_000));
    }
    assert_eq!(sandbox.run(&["fsck"], b"").code, Some(0));
    let _ = fs::remove_dir_all(temporary(&sandbox));
}

/// On a machine where the home directory is never writable, nothing is ever moved.
#[test]
fn expired_outputs_in_the_temporary_directory_are_removed() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let store = || id(&run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text());
    store();
    // Make the output ten days old, and the last cleaning two.
    let ago = |days: u64| SystemTime::now() - Duration::from_secs(days * 86_400);
    let (directory, old) = (temporary(&sandbox), Id::new(ago(10), 1));
    let metadata = directory.join(".offcut");
    let names = || fs::read_dir(&metadata).unwrap().flatten().map(|name| name.path());
    let path = names().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let young = path.file_stem().unwrap().to_str().unwrap();
    let text = fs::read_to_string(&path).unwrap().replace(young, old.as_str());
    fs::write(metadata.join(format!("{old}.json")), text).unwrap();
    fs::rename(directory.join(format!("{young}.txt")), directory.join(format!("{old}.txt"))).unwrap();
    fs::remove_file(&path).unwrap();
    let stamp = fs::File::options().write(true).open(metadata.join("cleaned")).unwrap();
    stamp.set_modified(ago(2)).unwrap();
    let young = store();
    until(|| !metadata.join(format!("{old}.json")).exists());
    assert_eq!(run_confined(&sandbox, &["cat", &young]).text(), numbered(100_000));
    fs::remove_dir_all(directory).unwrap();
}

/// The ids and bytes of all outputs in the store.
fn stored(sandbox: &Sandbox) -> Vec<(PathBuf, Vec<u8>)> {
    let names = [sandbox.store(), sandbox.store().join(".offcut")].map(|path| fs::read_dir(path).unwrap());
    let paths = names.into_iter().flatten().flatten().map(|name| name.path());
    let mut found: Vec<_> = paths.filter_map(|path| Some((path.clone(), fs::read(path).ok()?))).collect();
    found.retain(|(path, _)| !path.ends_with("cleaned"));
    found.sort();
    found
}

/// Moves entries as the process in the background does.
fn run_mover(sandbox: &Sandbox) {
    sandbox.run(&["clean", "--auto", "--store", sandbox.store().to_str().unwrap()], b"");
}

/// A command in the sandbox makes the temporary directory look like the store.
#[test]
fn hostile_link_in_the_temporary_directory_does_not_change_the_store() {
    let sandbox = Sandbox::new();
    let output = id(&sandbox.run(&["cut"], numbered(50_000).as_bytes()).text());
    let before = stored(&sandbox);
    let directory = temporary(&sandbox);
    let link = |target: &PathBuf, name: &str| symlink(target, directory.join(name)).unwrap();
    let store = sandbox.store();
    for with_files in [false, true] {
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, PermissionsExt::from_mode(0o700)).unwrap();
        link(&store.join(".offcut"), ".offcut");
        if with_files {
            for (path, bytes) in before.iter().filter(|(path, _)| path.parent() == Some(&store)) {
                fs::write(directory.join(path.file_name().unwrap()), bytes).unwrap();
            }
        }
        assert!(sandbox.run(&["ls"], b"").text().contains(&output));
        run_mover(&sandbox);
        assert_eq!(stored(&sandbox), before);
        assert!(store.join(".offcut/cleaned").exists());
        assert_eq!(sandbox.run(&["cat", &output], b"").text(), numbered(50_000));
        fs::remove_dir_all(&directory).unwrap();
    }
}

/// An entry that cannot be moved stays, and does not start a process with every call.
#[test]
fn unmovable_entry_starts_no_process() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(50_000).as_bytes()).text();
    run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text();
    let directory = temporary(&sandbox);
    let files = || fs::read_dir(&directory).unwrap().flatten().map(|name| name.path());
    let path = files().find(|path| path.is_file()).unwrap();
    let stamp = directory.join(".offcut/cleaned");
    let expect_unmoved = || {
        // The process in the background would remove this file.
        fs::write(&stamp, "").unwrap();
        sandbox.run(&["ls"], b"").text();
        std::thread::sleep(Duration::from_millis(300));
        assert!(stamp.exists(), "a process was started");
    };
    let set_length = |length| fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    set_length(7);
    expect_unmoved();
    set_length(1 << 43);
    expect_unmoved();
    fs::remove_dir_all(directory).unwrap();
}

/// The entry looks as if its writer had been killed, and a file of this size takes years to read.
#[test]
fn listing_does_not_read_the_files_of_a_sandbox() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let stored = id(&run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text());
    let directory = temporary(&sandbox);
    for path in [directory.clone(), directory.join(".offcut")] {
        for path in fs::read_dir(path).unwrap().flatten().map(|name| name.path()) {
            if path.extension().is_some_and(|end| end == "json") {
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("\"complete\"", "\"running\"")).unwrap();
            } else if path.extension().is_some_and(|end| end == "txt") {
                fs::File::options().write(true).open(&path).unwrap().set_len(1 << 43).unwrap();
            }
        }
    }
    assert!(sandbox.run(&["ls"], b"").text().contains(&stored));
    run_mover(&sandbox);
    assert!(!is_in_store(&sandbox, &stored));
    fs::remove_dir_all(directory).unwrap();
}

/// Files without content on the disk could fill that of the store.
#[test]
fn one_call_moves_at_most_the_size_of_one_output() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    for _ in 0..3 {
        run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text();
    }
    let count = || fs::read_dir(sandbox.store()).map_or(0, |names| names.count().saturating_sub(1));
    let move_some = || {
        let mut command = sandbox.command();
        command.args(["clean", "--auto", "--store"]).arg(sandbox.store()).env("OFFCUT_MAX_OUTPUT", "1000000");
        feed(command, b"");
    };
    for moved in 1..=3 {
        move_some();
        assert_eq!(count(), moved);
    }
    assert!(!temporary(&sandbox).exists());
}

/// Another user cannot read the store, but finds what was stored in the temporary directory instead.
#[test]
fn output_is_readable_if_the_store_is_not() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(&["cut"], numbered(50_000).as_bytes()).text();
    fs::set_permissions(sandbox.store(), PermissionsExt::from_mode(0o700)).unwrap();
    fs::set_permissions(sandbox.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let user = 65_533;
    let run = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        let user = user.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups", binary()]).args(arguments);
        command.env_clear().env("HOME", sandbox.path()).env("PATH", "/usr/bin:/bin").current_dir("/");
        feed(command, b"")
    };
    let stored = id(&run(&["run", "--", "seq", "1", "100000"]).text());
    assert_eq!(run(&["cat", &stored]).text(), numbered(100_000));
    assert_eq!(run(&["cat", "last"]).text(), numbered(100_000));
    assert!(run(&["ls"]).text().contains(&stored));
    let digest = blake3::hash(sandbox.store().as_os_str().as_bytes()).to_hex();
    fs::remove_dir_all(format!("/tmp/offcut-{user}-{}", &digest[..16])).unwrap();
    assert_ne!(run(&["ls"]).code, Some(0));
}

/// The path is in the notice, and the model may use it after the move.
#[test]
fn path_of_a_moved_output_still_names_it() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    run_confined(&sandbox, &["run", "--", "seq", "1", "100000"]).text();
    let names = fs::read_dir(temporary(&sandbox)).unwrap().flatten().map(|name| name.path());
    let path = names.into_iter().find(|path| path.is_file()).unwrap();
    let path = path.to_str().unwrap();
    run_mover(&sandbox);
    assert_eq!(sandbox.run(&["cat", path], b"").text(), numbered(100_000));
    // The directory exists again, with another output.
    run_confined(&sandbox, &["run", "--", "seq", "1", "50000"]).text();
    assert_eq!(run_confined(&sandbox, &["cat", path]).text(), numbered(100_000));
    let _ = fs::remove_dir_all(temporary(&sandbox));
}

/// A program in the place of Codex, which starts the sandbox as it does.
#[test]
fn doctor_reports_whether_outputs_of_the_sandbox_are_stored() {
    if !can_confine() {
        return;
    }
    let sandbox = Sandbox::new();
    let bin = sandbox.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::create_dir(sandbox.path().join(".codex")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command();
        command.args(arguments).env("PATH", format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", bin.display()));
        command.env("SHELL", "/bin/bash");
        feed(command, b"")
    };
    run(&["init", "codex"]).text();
    let confine = "mount --bind \"$HOME\" \"$HOME\" && mount -o remount,bind,ro \"$HOME\"";
    let read_only = format!("{confine} && mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp");
    let script = |line: &str| {
        format!(
            "#!/bin/sh\n[ \"$1 $2\" = 'sandbox -c' ] || exec echo codex-cli 1\nshift 4\n\
             exec unshare --mount sh -c '{line} && exec \"$@\"' sh \"$@\"\n"
        )
    };
    let cases = [
        (script(confine), 0, "ok codex          outputs of commands in its sandbox are stored"),
        (
            script(&read_only),
            1,
            "!! codex          outputs of commands in its sandbox are not stored: Read-only",
        ),
        (
            script("echo no permission >&2; false"),
            0,
            "-- codex          cannot test its sandbox: no permission",
        ),
    ];
    for (script, code, message) in cases {
        fs::write(bin.join("codex"), script).unwrap();
        fs::set_permissions(bin.join("codex"), PermissionsExt::from_mode(0o755)).unwrap();
        let ran = run(&["doctor"]);
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.code == Some(code) && text.contains(message), "{message}: {text}{}", ran.stderr);
        let listed = run(&["ls", "--format", "json"]).json();
        assert_eq!(listed, serde_json::json!([]), "the output of the test is removed");
    }
    // In the sandbox itself.
    let ran = run_confined(&sandbox, &["doctor"]);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(text.contains("outputs are stored in /tmp/offcut-"), "{text}");
    fs::remove_dir_all(temporary(&sandbox)).unwrap();
}
