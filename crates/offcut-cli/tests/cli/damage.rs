//! Stored outputs that are incomplete or damaged: commands print what they can, and report what cannot be trusted.

use crate::harness::{Ran, Sandbox, numbered, until};
use std::fs;
use std::path::{Path, PathBuf};

/// A stored output.
struct Stored {
    id: String,
    path: PathBuf,
}

impl Stored {
    fn new(sandbox: &Sandbox, text: &str) -> Stored {
        let saved = sandbox.run(&["cut", "--format", "json"], text.as_bytes()).json()["saved"].clone();
        let field = |name: &str| saved[name].as_str().unwrap().to_owned();
        Stored { id: field("id"), path: field("path").into() }
    }

    fn metadata(&self) -> PathBuf {
        self.path.parent().unwrap().join(format!(".offcut/{}.json", self.id))
    }

    /// Replaces text in the metadata.
    fn edit(&self, old: &str, new: &str) {
        replace(&self.metadata(), old, new);
    }
}

#[track_caller]
fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{old} is not in {text}");
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

fn mkfifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A text of 3 MiB: each line has 8 bytes.
fn three_blocks() -> String {
    (0..3 << 17).map(|number| format!("{number:07}\n")).collect()
}

#[test]
fn grep_says_what_it_did_not_search() {
    for (state, reason) in [
        (r#""state":"capped","reason":"disk full""#, "capped, disk full"),
        (r#""state":"abandoned""#, "abandoned, the writing process ended early"),
    ] {
        let sandbox = Sandbox::new();
        let stored = Stored::new(&sandbox, &numbered(5000));
        stored.edit(r#""state":"complete""#, state);
        let bytes = numbered(5000).len();
        let expected = format!("only {bytes} bytes searched: {reason}");
        sandbox.run(&["grep", "nowhere"], b"").failed(1, &expected);
        let found = sandbox.run(&["grep", "^4321$"], b"");
        assert_eq!(found.text(), "4321:4321\n");
        assert!(found.stderr.contains(&expected), "{}", found.stderr);
        let report = sandbox.run(&["grep", "^4321$", "--format", "json"], b"").json();
        assert!(report["incomplete"][0].as_str().unwrap().contains(&expected), "{report}");
    }
}

#[test]
fn grep_says_that_an_output_is_still_being_written() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command();
    command.args(["run", "--", "sh", "-c", "seq 100000; sleep 60"]);
    let mut running = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    until(|| {
        let ran = sandbox.run(&["grep", "nowhere"], b"");
        ran.code == Some(1) && ran.stderr.contains("bytes searched: still being written")
    });
    running.kill().unwrap();
    running.wait().unwrap();
}

#[test]
fn read_past_the_stored_part_says_that_there_was_more() {
    let sandbox = Sandbox::new();
    let config = sandbox.path().join(".config/offcut");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "max_output = 20000\n").unwrap();
    let text = numbered(10_000);
    sandbox.run(&["cut"], text.as_bytes()).text();
    let more = format!("the output had {} bytes, but it is capped after 20000 bytes", text.len());
    sandbox.run(&["read", "last", "--bytes", "30000:"], b"").failed(3, &more);
    sandbox.run(&["read", "last", "--lines", "9000:9001"], b"").failed(3, &more);
}

#[test]
fn commands_fail_and_name_the_block_when_a_byte_was_changed() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &three_blocks());
    // Lines 131072 to 262143 are the second block.
    replace(&stored.path, "0200000\n", "0200001\n");
    let error = format!("checksum mismatch in bytes 1048576:2097152 of {}", stored.id);
    let check = |ran: &Ran, printed: &str| {
        ran.failed(4, &error);
        assert!(ran.stderr.contains(&format!("offcut rm {}", stored.id)), "{}", ran.stderr);
        let text = String::from_utf8_lossy(&ran.stdout);
        assert!(text.contains(printed), "{text}");
    };
    let run = |arguments: &[&str]| sandbox.run(arguments, b"");
    check(&run(&["cat", "last"]), "0393215\n");
    check(&run(&["read", "last", "--lines", "200000:200002"]), "0199999\n0200001\n0200001\n");
    check(&run(&["grep", "^0200001$"]), "200001:0200001\n200002:0200001\n");
    check(&run(&["show", "last"]), "damaged");
    let page = run(&["read", "last", "--lines", "200000:200002", "--format", "json"]);
    check(&page, "checksum mismatch");
    check(&run(&["grep", "nowhere", "--format", "json"]), "checksum mismatch");
    // Other blocks are as they were.
    assert_eq!(run(&["read", "last", "--lines", "3:3"]).text(), "0000002\n");
    assert_eq!(run(&["read", "last", "--lines", "-1:"]).text(), "0393215\n");
}

#[test]
fn commands_fail_when_a_file_is_shorter_longer_or_missing() {
    let text = three_blocks();
    for contents in [&text[..2 << 20], &text[..100], &format!("{text}more\n")] {
        let sandbox = Sandbox::new();
        let stored = Stored::new(&sandbox, &text);
        fs::write(&stored.path, contents).unwrap();
        for arguments in [&["cat", "last"][..], &["show", "last"], &["grep", "0000001"], &["read", "last"]] {
            let ran = sandbox.run(arguments, b"");
            ran.failed(4, &format!("offcut rm {}", stored.id));
            assert!(!ran.stdout.is_empty(), "{arguments:?}");
        }
        fs::remove_file(&stored.path).unwrap();
        sandbox.run(&["grep", "x"], b"").failed(4, &stored.id);
        let shown = sandbox.run(&["show", "last"], b"");
        shown.failed(4, &stored.id);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("damaged"));
    }
}

#[test]
fn truncated_file_is_reported_as_shorter_than_recorded() {
    let state = r#""state":"capped","reason":"disk full""#;
    for state in [r#""state":"complete""#, state] {
        let sandbox = Sandbox::new();
        let stored = Stored::new(&sandbox, &three_blocks());
        stored.edit(r#""state":"complete""#, state);
        fs::write(&stored.path, &three_blocks()[..2_000_000]).unwrap();
        let reason = "it is shorter than recorded, 2000000 instead of 3145728 bytes";
        for arguments in [&["cat", "last"][..], &["show", "last"], &["grep", "0000001"], &["read", "last"]] {
            let ran = sandbox.run(arguments, b"");
            ran.failed(4, reason);
            assert!(!ran.stderr.contains("checksum mismatch"), "{arguments:?}: {}", ran.stderr);
        }
        let report = sandbox.run(&["read", "last", "--format", "json"], b"");
        let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
        assert!(report["errors"][0].as_str().unwrap().contains(reason), "{report}");
        let checked = sandbox.run(&["fsck"], b"");
        assert!(String::from_utf8_lossy(&checked.stdout).contains(reason), "{checked:?}");
    }
}

#[test]
fn large_entry_with_one_digest_is_verified_when_all_of_it_is_read() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &three_blocks());
    // As version 1 stored it.
    let mut metadata: serde_json::Value =
        serde_json::from_slice(&fs::read(stored.metadata()).unwrap()).unwrap();
    assert!(metadata["output"].as_object_mut().unwrap().remove("block_digests").is_some());
    fs::write(stored.metadata(), metadata.to_string()).unwrap();
    assert_eq!(sandbox.run(&["cat", "last"], b"").text(), three_blocks());
    assert_eq!(sandbox.run(&["grep", "^0200001$"], b"").code, Some(0));
    replace(&stored.path, "0200000\n", "0200001\n");
    let error = format!("checksum mismatch in bytes 0:3145728 of {}", stored.id);
    sandbox.run(&["cat", "last"], b"").failed(4, &error);
    sandbox.run(&["grep", "^0200001$"], b"").failed(4, &error);
    assert_eq!(sandbox.run(&["fsck"], b"").code, Some(1));
    // A part cannot be compared.
    assert_eq!(sandbox.run(&["read", "last", "--lines", "3:3"], b"").text(), "0000002\n");
}

#[test]
fn one_unreadable_entry_does_not_hide_the_others() {
    let sandbox = Sandbox::new();
    let first = Stored::new(&sandbox, &numbered(5000));
    let second = Stored::new(&sandbox, &numbered(5000));
    let expected = format!("{}:4321:4321\n", second.id);
    let damages: [fn(&Stored); 4] = [
        |stored| fs::write(stored.metadata(), "{").unwrap(),
        |stored| fs::write(stored.metadata(), "").unwrap(),
        |stored| fs::remove_file(&stored.path).unwrap(),
        |stored| {
            fs::remove_file(stored.metadata()).unwrap();
            mkfifo(&stored.metadata());
        },
    ];
    for damage in damages {
        damage(&first);
        for references in [&["all"][..], &[&first.id, &second.id]] {
            let ran = sandbox.run(&[&["grep", "^4321$"], references].concat(), b"");
            ran.failed(4, &first.id);
            assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
        }
    }
    sandbox.run(&["rm", &first.id], b"").text();
    assert_eq!(sandbox.run(&["grep", "^4321$", "all"], b"").text(), expected);
    sandbox.run(&["grep", "^4321$", &first.id, &second.id], b"").failed(3, &first.id);
}

#[test]
fn grep_all_lists_the_first_damaged_entries_and_counts_the_rest() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &numbered(5000));
    for number in 0..3000 {
        let id = format!("{}{number:08}", &stored.id[..8]);
        fs::write(stored.metadata().with_file_name(format!("{id}.json")), "{").unwrap();
    }
    let ran = sandbox.run(&["grep", "^4321$", "all"], b"");
    ran.failed(4, "2980 more outputs were not searched as a whole; `offcut fsck` lists the damaged ones");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{}:4321:4321\n", stored.id));
    assert_eq!(ran.stderr.lines().count(), 21, "{}", ran.stderr);
    let ran = sandbox.run(&["grep", "^4321$", "all", "--format", "json"], b"");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((ran.code, &report["unlisted"]), (Some(4), &2980.into()));
    assert_eq!(report["errors"].as_array().unwrap().len(), 20);
    let named: Vec<String> = (0..100).map(|number| format!("{}{number:08}", &stored.id[..8])).collect();
    let arguments: Vec<&str> = ["grep", "x"].into_iter().chain(named.iter().map(String::as_str)).collect();
    let ran = sandbox.run(&arguments, b"");
    ran.failed(4, "80 more errors; `offcut fsck` lists damaged outputs");
    assert_eq!(ran.stderr.lines().count(), 21, "{}", ran.stderr);
}

#[test]
fn a_damaged_entry_decides_the_exit_code_when_another_is_missing() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &numbered(5000));
    fs::write(stored.metadata(), "{").unwrap();
    let missing = "0000000000000000";
    for references in [[missing, &stored.id], [&stored.id, missing]] {
        let ran = sandbox.run(&[&["grep", "x"], &references[..]].concat(), b"");
        ran.failed(4, missing);
        assert!(ran.stderr.contains(&stored.id), "{}", ran.stderr);
    }
}

#[test]
fn rm_removes_a_damaged_entry_and_nothing_else() {
    let sandbox = Sandbox::new();
    let (first, second) = (Stored::new(&sandbox, &numbered(5000)), Stored::new(&sandbox, &numbered(6000)));
    // The metadata of one entry under the id of the other, and metadata that names the file of the other.
    let metadata = fs::read_to_string(first.metadata()).unwrap();
    for claimed in [metadata.clone(), metadata.replacen(&first.id, &second.id, 1), "{".to_owned()] {
        let copy = Stored::new(&sandbox, &numbered(7000));
        fs::write(copy.metadata(), claimed.replace(&second.id, &copy.id)).unwrap();
        for arguments in [&["read", &copy.id][..], &["cat", &copy.id], &["show", &copy.id]] {
            sandbox.run(arguments, b"").failed(4, &format!("offcut rm {}", copy.id));
        }
        sandbox.run(&["rm", &copy.id], b"").text();
        assert!(first.path.exists() && second.path.exists() && !copy.path.exists());
        assert!(!copy.metadata().exists());
    }
    assert_eq!(sandbox.run(&["cat", &first.id], b"").text(), numbered(5000));
}

#[test]
fn metadata_of_version_zero_is_damaged() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &numbered(5000));
    stored.edit(r#""version":2"#, r#""version":0"#);
    sandbox.run(&["read", "last"], b"").failed(4, "version 0");
}

#[test]
fn named_pipes_in_the_store_do_not_block_any_command() {
    let sandbox = Sandbox::new();
    let stored = Stored::new(&sandbox, &numbered(5000));
    let second = Stored::new(&sandbox, &numbered(5000));
    fs::remove_file(&stored.path).unwrap();
    mkfifo(&stored.path);
    fs::remove_file(second.metadata()).unwrap();
    mkfifo(&second.metadata());
    let stamp = sandbox.store().join(".offcut/cleaned");
    let _ = fs::remove_file(&stamp);
    mkfifo(&stamp);
    // What reads the pipe fails and names the entry; everything else succeeds.
    for (arguments, named) in [
        (&["ls"][..], None),
        (&["stats"], None),
        (&["grep", "^no match", "all"], Some(&stored.id)),
        (&["read", &stored.id], Some(&stored.id)),
        (&["cat", &stored.id], Some(&stored.id)),
        (&["show", &stored.id], Some(&stored.id)),
        (&["read", &second.id], Some(&second.id)),
        (&["clean"], None),
        (&["clean", "--auto"], None),
        (&["run", "--", "seq", "100000"], None),
        (&["rm", &stored.id, &second.id], None),
    ] {
        let ran = sandbox.run(arguments, b"");
        match named {
            None => assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}"),
            Some(id) => {
                assert!(ran.code.is_some_and(|code| code > 0), "{arguments:?}: {ran:?}");
                assert!(ran.stderr.contains(&**id), "{arguments:?}: {ran:?}");
            }
        }
    }
    assert_eq!(sandbox.run(&["grep", "^4321$", "all"], b"").code, Some(0));
    // The pipes of both entries are removed with them.
    assert!(!stored.path.exists() && !second.metadata().exists());
}
