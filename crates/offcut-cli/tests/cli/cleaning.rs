//! `clean`, automatic cleaning, and how long outputs are kept.

use crate::harness::{Sandbox, feed, finish, numbered, until};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Stores an output and returns its file.
fn cut(sandbox: &Sandbox, arguments: &[&str]) -> PathBuf {
    cut_with(sandbox, arguments, &[])
}

/// The same with environment variables.
fn cut_with(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> PathBuf {
    let mut command = sandbox.command();
    command.args(["cut", "--format", "json"]).args(arguments).envs(variables.iter().copied());
    let result = feed(command, numbered(5000).as_bytes()).json();
    PathBuf::from(result["saved"]["path"].as_str().unwrap())
}

/// Makes the stored output in `path` this many days older, and returns its file.
fn age(path: &Path, sandbox: &Sandbox, days: u64) -> PathBuf {
    let store = sandbox.store();
    let name = path.file_name().unwrap().to_str().unwrap();
    let metadata = fs::read_dir(store.join(".offcut"))
        .unwrap()
        .map(|item| item.unwrap().path())
        .find(|item| fs::read_to_string(item).unwrap().contains(&format!("{name:?}")))
        .unwrap();
    // The id contains the time, so renaming an entry makes it older.
    let id = metadata.file_stem().unwrap().to_str().unwrap().to_owned();
    let alphabet = b"0123456789abcdefghjkmnpqrstvwxyz";
    let time = id.bytes().take(8).fold(0_u64, |value, byte| {
        value << 5 | alphabet.iter().position(|&known| known == byte).unwrap() as u64
    });
    let mut older = time - days * 24 * 60 * 60 * 1000;
    let mut text = [0; 8];
    for place in text.iter_mut().rev() {
        *place = alphabet[(older & 31) as usize];
        older >>= 5;
    }
    let old = format!("{}{}", String::from_utf8(text.to_vec()).unwrap(), &id[8..]);
    let text = fs::read_to_string(&metadata).unwrap().replace(&id, &old);
    fs::write(store.join(format!(".offcut/{old}.json")), text).unwrap();
    fs::remove_file(metadata).unwrap();
    let renamed = store.join(name.replace(&id, &old));
    fs::rename(path, &renamed).unwrap();
    renamed
}

/// Lets automatic cleaning run, and waits until it has removed what it removes.
fn clean_automatically(sandbox: &Sandbox) {
    // The newest entry that has expired is removed last.
    let last = age(&cut(sandbox, &["--profile", "native"]), sandbox, 8);
    let mark = sandbox.store().join(".offcut/cleaned");
    let file = fs::OpenOptions::new().write(true).open(&mark).unwrap();
    file.set_modified(SystemTime::now() - DAY - DAY).unwrap();
    cut(sandbox, &[]);
    until(|| !last.exists());
}

/// Saves a profile of the user that keeps outputs for this many days.
fn save_profile(sandbox: &Sandbox, name: &str, days: u32) {
    let directory = sandbox.path().join(".config/offcut/profiles");
    fs::create_dir_all(&directory).unwrap();
    let text = sandbox.run(&["profiles", "native"], b"").text();
    let text = text
        .replace("name = \"native\"", &format!("name = {name:?}"))
        .replace("retention_days = 7", &format!("retention_days = {days}"));
    fs::write(directory.join(format!("{name}.toml")), text).unwrap();
}

fn configure(sandbox: &Sandbox, text: &str) {
    let directory = sandbox.path().join(".config/offcut");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("config.toml"), text).unwrap();
}

/// Removes the recorded retention, as in an entry of version 1.
fn forget_retention(sandbox: &Sandbox) {
    for item in fs::read_dir(sandbox.store().join(".offcut")).unwrap() {
        let path = item.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if let Ok(serde_json::Value::Object(mut metadata)) = serde_json::from_str(&text) {
            metadata.remove("retention");
            metadata.insert("version".to_owned(), 1.into());
            fs::write(&path, serde_json::to_vec(&metadata).unwrap()).unwrap();
        }
    }
}

#[test]
fn automatic_cleaning_keeps_output_of_profile_with_30_days() {
    let sandbox = Sandbox::new();
    save_profile(&sandbox, "monthly", 30);
    let kept = age(&cut(&sandbox, &["--profile", "monthly"]), &sandbox, 9);
    let expired = age(&cut(&sandbox, &["--profile", "monthly"]), &sandbox, 31);
    clean_automatically(&sandbox);
    assert!(kept.exists() && !expired.exists());
}

#[test]
fn automatic_cleaning_removes_output_after_days_of_unified_variable() {
    let sandbox = Sandbox::new();
    let unified =
        |days| cut_with(&sandbox, &["--profile", "unified"], &[("TOOL_OUTPUT_RETENTION_DAYS", days)]);
    let short = age(&unified("1"), &sandbox, 10);
    let long = age(&unified("60"), &sandbox, 30);
    clean_automatically(&sandbox);
    assert!(!short.exists() && long.exists());
}

#[test]
fn cleaning_never_removes_output_of_profile_without_retention_by_age() {
    let sandbox = Sandbox::new();
    // The configured number of days is for profiles that clean at all.
    configure(&sandbox, "retention.days = 1\n");
    let takumi = age(&cut(&sandbox, &["--profile", "takumi"]), &sandbox, 100);
    let klaude = age(&cut(&sandbox, &["--profile", "klaude", "--max-chars", "100"]), &sandbox, 100);
    let native = age(&cut(&sandbox, &[]), &sandbox, 2);
    assert_eq!(sandbox.run(&["clean", "--format", "json"], b"").json()["removed"], 1);
    clean_automatically(&sandbox);
    assert!(takumi.exists() && klaude.exists() && !native.exists());
    assert_eq!(sandbox.run(&["clean", "--older-than", "99d", "--format", "json"], b"").json()["removed"], 2);
}

#[test]
fn clean_applies_days_configured_when_output_was_stored() {
    let sandbox = Sandbox::new();
    configure(&sandbox, "retention.days = 30\n");
    let month = age(&cut(&sandbox, &[]), &sandbox, 20);
    configure(&sandbox, "retention.days = 0\n");
    let unlimited = age(&cut(&sandbox, &[]), &sandbox, 100);
    configure(&sandbox, "retention.days = 2\n");
    let short = age(&cut(&sandbox, &[]), &sandbox, 3);
    configure(&sandbox, "");
    assert_eq!(sandbox.run(&["clean", "--format", "json"], b"").json()["removed"], 1);
    assert!(month.exists() && unlimited.exists() && !short.exists());
    // Without an age, size limits still apply.
    assert_eq!(sandbox.run(&["clean", "--max-entries", "1", "--format", "json"], b"").json()["removed"], 1);
    assert!(month.exists() && !unlimited.exists());
    assert_eq!(sandbox.run(&["clean", "--older-than", "19d", "--format", "json"], b"").json()["removed"], 1);
}

#[test]
fn clean_applies_retention_of_named_profile_to_version_1() {
    let sandbox = Sandbox::new();
    save_profile(&sandbox, "monthly", 30);
    save_profile(&sandbox, "gone", 30);
    let monthly = age(&cut(&sandbox, &["--profile", "monthly"]), &sandbox, 20);
    let gone = age(&cut(&sandbox, &["--profile", "gone"]), &sandbox, 20);
    let takumi = age(&cut(&sandbox, &["--profile", "takumi"]), &sandbox, 20);
    let native = age(&cut(&sandbox, &[]), &sandbox, 20);
    forget_retention(&sandbox);
    fs::remove_file(sandbox.path().join(".config/offcut/profiles/gone.toml")).unwrap();
    // The configured number of days applied to every entry of version 1, and still does.
    let kept = feed_clean(&sandbox, "25");
    assert_eq!(kept["removed"], 0, "{kept}");
    assert_eq!(sandbox.run(&["clean", "--format", "json"], b"").json()["removed"], 2);
    assert!(monthly.exists() && takumi.exists() && !gone.exists() && !native.exists());
}

fn feed_clean(sandbox: &Sandbox, days: &str) -> serde_json::Value {
    let mut command = sandbox.command();
    command.args(["clean", "--format", "json"]).env("OFFCUT_RETENTION_DAYS", days);
    feed(command, b"").json()
}

#[test]
fn clean_removes_old_outputs_only() {
    let sandbox = Sandbox::new();
    let old = age(&cut(&sandbox, &[]), &sandbox, 10);
    let pinned = age(&cut(&sandbox, &[]), &sandbox, 11);
    let young = cut(&sandbox, &[]);
    let store = sandbox.store();
    fs::write(store.join("keep.txt"), "not from offcut").unwrap();
    fs::write(sandbox.path().join("outside"), "mine").unwrap();
    symlink(sandbox.path().join("outside"), store.join("link.txt")).unwrap();
    let id = pinned.file_stem().unwrap().to_str().unwrap();
    assert_eq!(sandbox.run(&["pin", id], b"").code, Some(0));
    // The modification time does not matter.
    fs::File::open(&old).unwrap().set_modified(SystemTime::now()).unwrap();

    let dry = sandbox.run(&["clean", "--dry-run"], b"").text();
    assert!(dry.starts_with("would remove 1 outputs, 23893 bytes; 2 stay"), "{dry}");
    let listed: Vec<&str> = dry.lines().skip(2).collect();
    let name = old.file_stem().unwrap().to_str().unwrap();
    assert!(listed.len() == 1 && listed[0].starts_with(name) && listed[0].ends_with(" 23893"), "{dry}");
    assert!(old.exists());
    let done = sandbox.run(&["clean", "--format", "json"], b"").json();
    assert_eq!((&done["removed"], &done["left"]), (&1.into(), &2.into()));
    assert!(!old.exists() && pinned.exists() && young.exists());
    let quota = sandbox.run(&["clean", "--max-total", "1"], b"").text();
    assert!(quota.contains("2 outputs over the quota stay: they are younger than a day, pinned"), "{quota}");
    assert!(
        store.join("keep.txt").exists()
            && store.join("link.txt").exists()
            && sandbox.path().join("outside").exists()
    );
    assert_eq!(sandbox.run(&["pin", "--remove", id], b"").code, Some(0));
    assert_eq!(sandbox.run(&["clean", "--max-total", "1", "--format", "json"], b"").json()["removed"], 1);
    sandbox
        .run(&["clean", "--older-than", "soon"], b"")
        .failed(2, "expected an age, for example 7d, 36h or 90m");
}

#[test]
fn clean_keeps_outputs_of_profile_without_retention() {
    let sandbox = Sandbox::new();
    let result = sandbox
        .run(
            &["cut", "--profile", "klaude", "--format", "json", "--max-chars", "100"],
            numbered(5000).as_bytes(),
        )
        .json();
    let path = PathBuf::from(result["saved"]["path"].as_str().unwrap());
    assert_eq!(sandbox.run(&["clean", "--max-entries", "1", "--format", "json"], b"").json()["removed"], 0);
    assert_eq!(sandbox.run(&["clean", "--older-than", "0s", "--format", "json"], b"").json()["removed"], 1);
    assert!(!path.exists());
}

#[test]
fn twenty_concurrent_cleaners_do_not_fail() {
    let sandbox = Sandbox::new();
    for _ in 0..30 {
        age(&cut(&sandbox, &[]), &sandbox, 10);
    }
    let young = cut(&sandbox, &[]);
    let cleaners: Vec<_> = (0..20)
        .map(|_| {
            let mut command = sandbox.command();
            command
                .args(["clean"])
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for cleaner in cleaners {
        let ran = finish(cleaner);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    }
    let left = sandbox.run(&["ls", "--format", "json"], b"").json();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert!(young.exists());
}

#[test]
fn cut_starts_cleaning_when_due() {
    let sandbox = Sandbox::new();
    let old = age(&cut(&sandbox, &[]), &sandbox, 10);
    let mark = sandbox.store().join(".offcut/cleaned");
    let yesterday = SystemTime::now() - Duration::from_secs(25 * 60 * 60);
    fs::OpenOptions::new().write(true).open(&mark).unwrap().set_modified(yesterday).unwrap();
    cut(&sandbox, &[]);
    // The cleaner is a separate process. It updates its mark before it removes the old entry.
    until(|| !old.exists());
    assert!(fs::metadata(&mark).unwrap().modified().unwrap() > yesterday);
}

/// Creates a file that was modified this many days ago.
fn create(directory: &Path, name: &str, days: u32) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, "from the original tool").unwrap();
    fs::File::open(&path).unwrap().set_modified(SystemTime::now() - DAY * days).unwrap();
    path
}

/// The name that opencode gave to an output this many days ago.
fn ascending(days: u32) -> String {
    let time = (SystemTime::now() - DAY * days).duration_since(SystemTime::UNIX_EPOCH).unwrap();
    format!("tool_{:012x}0AbCdEfGhIjKlM", (time.as_millis() << 12 | 1) & 0xffff_ffff_ffff)
}

#[test]
fn clean_adopt_removes_files_of_opencode_by_time_in_name() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path().join("tool-output");
    let store = directory.to_str().unwrap();
    cut(&sandbox, &["--profile", "opencode", "--store", store]);
    let outside = create(sandbox.path(), "outside", 100);
    let expired = [create(&directory, "tool_20250220_abc123", 0), create(&directory, &ascending(8), 0)];
    let kept = [
        create(&directory, &ascending(6), 100),
        create(&directory, "tool_20250220_abc123.txt", 100),
        create(&directory, "tool_20251399_abc123", 100),
        create(&directory, "tool_notes", 100),
        create(&directory, "notes.txt", 100),
    ];
    symlink(&outside, directory.join("tool_20250221_abc123")).unwrap();
    fs::create_dir(directory.join("tool_20250222_abc123")).unwrap();
    let clean = ["clean", "--profile", "opencode", "--store", store];
    let run = |flags: &[&str]| sandbox.run(&[&clean[..], flags].concat(), b"");

    assert!(run(&[]).text().starts_with("removed 0 outputs"));
    let dry = run(&["--adopt", "--dry-run"]).text();
    assert!(dry.contains("would remove 2 files of the original tool, 44 bytes\n"), "{dry}");
    assert!(
        expired.iter().all(|path| path.exists() && dry.contains(&format!("{}\n", path.display()))),
        "{dry}"
    );
    let done = run(&["--adopt", "--format", "json"]).json();
    assert_eq!((&done["removed"], &done["leftover_bytes"]), (&0.into(), &44.into()), "{done}");
    assert!(!expired.iter().any(|path| path.exists()));
    assert!(kept.iter().chain([&outside]).all(|path| path.exists()));
    assert!(directory.join("tool_20250221_abc123").is_symlink());
    assert!(directory.join("tool_20250222_abc123").is_dir());
    // An age that is given applies to them too.
    assert_eq!(
        run(&["--adopt", "--older-than", "5d", "--format", "json"]).json()["leftovers"][0],
        kept[0].to_str().unwrap()
    );
}

#[test]
fn clean_adopt_removes_files_of_coding_agent_by_modification_time() {
    let sandbox = Sandbox::new();
    let directory = sandbox.path().join("truncation");
    let store = directory.to_str().unwrap();
    let entry = cut(&sandbox, &["--profile", "coding-agent", "--tool", "bash", "--store", store]);
    fs::File::open(&entry).unwrap().set_modified(SystemTime::now() - DAY * 30).unwrap();
    let expired = create(&directory, "web_search_1771860645123_k3j9x2.txt", 8);
    let young = create(&directory, "web_search_1771860645123_k3j9x3.txt", 6);
    let notes = create(&directory, "my_own_notes.txt", 100);
    let clean = ["clean", "--profile", "coding-agent", "--store", store, "--adopt"];
    assert!(sandbox.run(&clean, b"").text().contains("removed 1 files of the original tool"));
    assert!(!expired.exists() && young.exists() && notes.exists() && entry.exists());
    // The file of an entry with unreadable metadata is unknown, so nothing is removed.
    let damaged = directory.join(".offcut/1m3k9q2zab7xk4pd.json");
    fs::write(&damaged, "{").unwrap();
    let expired = create(&directory, "bash_1771860645123_k3j9x2.txt", 8);
    sandbox.run(&clean, b"").failed(4, "cannot read the metadata of 1m3k9q2zab7xk4pd");
    assert!(expired.exists());
}

#[test]
fn clean_adopt_rejects_profile_and_store_without_such_files() {
    let sandbox = Sandbox::new();
    for profile in ["native", "unified", "takumi", "klaude"] {
        sandbox
            .run(&["clean", "--adopt", "--profile", profile], b"")
            .failed(2, "use --adopt with --profile opencode");
    }
    // A directory that does not exist has no files.
    let none = sandbox.run(&["clean", "--adopt", "--profile", "opencode", "--format", "json"], b"").json();
    assert_eq!(none["leftovers"].as_array().map(Vec::len), Some(0));
}

/// For the store, an output of 20 days ago and a clock that is 20 days ahead are the same.
#[test]
fn automatic_cleaning_keeps_outputs_when_the_clock_may_be_ahead() {
    let sandbox = Sandbox::new();
    let old = age(&cut(&sandbox, &[]), &sandbox, 20);
    let mark = sandbox.store().join(".offcut/cleaned");
    let set = |time| fs::OpenOptions::new().write(true).open(&mark).unwrap().set_modified(time).unwrap();
    let modified = || fs::metadata(&mark).unwrap().modified().unwrap();
    set(SystemTime::now() - DAY - DAY);
    sandbox.run(&["clean", "--auto"], b"").text();
    assert!(SystemTime::now().duration_since(modified()).unwrap() < DAY);
    assert!(old.exists());
    // An output of yesterday confirms the time.
    age(&cut(&sandbox, &[]), &sandbox, 1);
    set(SystemTime::now() - DAY - DAY);
    sandbox.run(&["clean", "--auto"], b"").text();
    assert!(!old.exists());
}

#[test]
fn automatic_cleaning_continues_after_the_clock_was_ahead() {
    let sandbox = Sandbox::new();
    let old = age(&cut(&sandbox, &[]), &sandbox, 10);
    let mark = sandbox.store().join(".offcut/cleaned");
    let set = |time| fs::OpenOptions::new().write(true).open(&mark).unwrap().set_modified(time).unwrap();
    set(SystemTime::now() + DAY * 400);
    cut(&sandbox, &[]);
    until(|| fs::metadata(&mark).unwrap().modified().unwrap() <= SystemTime::now());
    assert!(old.exists(), "the first interval starts again");
    set(SystemTime::now() - DAY - DAY);
    sandbox.run(&["clean", "--auto"], b"").text();
    assert!(!old.exists());
}
