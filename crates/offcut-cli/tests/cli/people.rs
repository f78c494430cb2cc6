//! grep, show, stats, pin, clean, completions, man, and the generated documentation.

use crate::harness::{Sandbox, finish, numbered, until};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

#[test]
fn grep_prints_matches_and_counts() {
    let sandbox = Sandbox::new();
    let text = format!("{}FATAL: the needle\n{}", numbered(50_000), numbered(50_000));
    sandbox.run(&["cut", "--tool", "a"], text.as_bytes());
    sandbox.run(&["cut", "--tool", "b"], numbered(20_000).as_bytes());
    assert_eq!(sandbox.run(&["grep", "FATAL", "last-1"], b"").text(), "50001:FATAL: the needle\n");
    assert_eq!(
        sandbox.run(&["grep", "-i", "fatal", "last-1", "-C", "1"], b"").text(),
        "50000-50000\n50001:FATAL: the needle\n50002-1\n"
    );
    assert_eq!(sandbox.run(&["grep", "FATAL"], b"").code, Some(1), "the last output has none");
    assert_eq!(sandbox.run(&["grep", "--count", "^7", "last"], b"").text(), "1111\n");
    let all = sandbox.run(&["grep", "^(FATAL|777)$|needle", "all"], b"").text();
    assert_eq!(all.lines().count(), 4, "{all}");
    assert!(
        all.lines().all(|line| line.as_bytes()[16] == b':'),
        "with several outputs each line names its own: {all}"
    );
    let many = sandbox.run(&["grep", "[0-9]", "last"], b"").text();
    assert!(
        many.len() <= 9500 && many.ends_with("narrow the pattern, or read around a line]\n"),
        "{}",
        many.len()
    );
    assert!(many.contains(" of 20000 matching lines shown; "));
    let json = sandbox.run(&["grep", "needle", "last-1", "--format", "json"], b"").json();
    assert_eq!((&json["matches"], &json["hits"][0]["line"]), (&1.into(), &50_001.into()));
    sandbox.run(&["grep", "((", "last"], b"").failed(2, "not a regular expression");
    sandbox.run(&["grep", "x", "last-9"], b"").failed(3, "no stored output");
    assert_eq!(sandbox.run(&["grep", "-m", "2", "^7", "last"], b"").text().lines().count(), 3);
}

#[test]
fn show_prints_details_without_colour_in_pipe() {
    let sandbox = Sandbox::new();
    sandbox.run(&["cut", "--tool", "x\x1b[31m"], numbered(100_000).as_bytes());
    let text = sandbox.run(&["show", "last"], b"").text();
    assert!(!text.contains('\x1b'), "{text}");
    for part in [
        "complete",
        "tool      x?[31m",
        "588895 bytes, 100000 lines",
        "blake3 ",
        "  lines ",
        " not shown, ",
        "░░░",
        "read it: offcut read ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(sandbox.run(&["show", "last", "--format", "json"], b"").json()["lines"], 100_000);
}

#[test]
fn stats_sums_by_day_and_tool() {
    let sandbox = Sandbox::new();
    for tool in ["bash", "bash", "grep"] {
        sandbox.run(&["cut", "--tool", tool], numbered(10_000).as_bytes());
    }
    let table = sandbox.run(&["stats"], b"").text();
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 4, "{table}");
    let total = rows.last().unwrap();
    assert_eq!((total[0], total[1], total[2]), ("total", "3", "146682"), "{table}");
    let json = sandbox.run(&["stats", "--tokens", "--format", "json"], b"").json();
    let bash = json.as_array().unwrap().iter().find(|row| row["tool"] == "bash").unwrap();
    assert_eq!(bash["outputs"], 2);
    let (bytes, tokens) = (bash["spared_bytes"].as_u64().unwrap(), bash["spared_tokens"].as_u64().unwrap());
    assert!(
        tokens > bytes / 4 && tokens < bytes,
        "numbers cost more than a quarter of their bytes: {tokens} of {bytes}"
    );
}

#[cfg(feature = "tokens")]
#[test]
fn max_tokens_limits_exactly_counted_tokens() {
    let sandbox = Sandbox::new();
    let shown =
        sandbox.run(&["cut", "--max-tokens", "500", "--format", "json"], numbered(10_000).as_bytes()).json();
    assert_eq!(shown["limited_by"], "tokens");
    let content = shown["content"].as_str().unwrap();
    let counted = tiktoken::get_encoding("o200k_base").unwrap().count(content);
    assert!(counted <= 500 && counted > 300, "{counted} tokens");
}

fn age(path: &Path, sandbox: &Sandbox, days: u64) -> PathBuf {
    // The id contains the time, so renaming an entry makes it older.
    let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
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
    let store = sandbox.store();
    let metadata =
        std::fs::read_to_string(store.join(format!(".offcut/{id}.json"))).unwrap().replace(&id, &old);
    std::fs::write(store.join(format!(".offcut/{old}.json")), metadata).unwrap();
    std::fs::remove_file(store.join(format!(".offcut/{id}.json"))).unwrap();
    let renamed = store.join(format!("{old}.txt"));
    std::fs::rename(path, &renamed).unwrap();
    renamed
}

fn cut(sandbox: &Sandbox, arguments: &[&str]) -> PathBuf {
    let mut all = vec!["cut", "--format", "json"];
    all.extend(arguments);
    let result = sandbox.run(&all, numbered(5000).as_bytes()).json();
    PathBuf::from(result["saved"]["path"].as_str().unwrap())
}

#[test]
fn clean_removes_old_outputs_only() {
    let sandbox = Sandbox::new();
    let old = age(&cut(&sandbox, &[]), &sandbox, 10);
    let pinned = age(&cut(&sandbox, &[]), &sandbox, 11);
    let young = cut(&sandbox, &[]);
    let store = sandbox.store();
    std::fs::write(store.join("keep.txt"), "not from offcut").unwrap();
    std::fs::write(sandbox.path().join("outside"), "mine").unwrap();
    symlink(sandbox.path().join("outside"), store.join("link.txt")).unwrap();
    let id = pinned.file_stem().unwrap().to_str().unwrap();
    assert_eq!(sandbox.run(&["pin", id], b"").code, Some(0));
    // The modification time does not matter.
    std::fs::File::open(&old).unwrap().set_modified(std::time::SystemTime::now()).unwrap();

    let dry = sandbox.run(&["clean", "--dry-run"], b"").text();
    assert!(dry.starts_with("would remove 1 outputs, 23893 bytes; 2 stay"), "{dry}");
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
    let yesterday = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 60 * 60);
    std::fs::OpenOptions::new().write(true).open(&mark).unwrap().set_modified(yesterday).unwrap();
    cut(&sandbox, &[]);
    // The cleaner is a separate process. It updates its mark before it removes the old entry.
    until(|| !old.exists());
    assert!(std::fs::metadata(&mark).unwrap().modified().unwrap() > yesterday);
}

#[test]
fn completions_and_manual_are_generated() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.run(&["completions", shell], b"").text().contains("offcut"), "{shell}");
    }
    let manual = sandbox.run(&["man"], b"").text();
    assert!(
        manual.contains(".TH offcut 1") && manual.contains("offcut\\-cut") && manual.contains("max\\-bytes"),
        "{manual}"
    );
}

/// The pages describe a build with the default features.
#[cfg(feature = "tokens")]
#[test]
fn documentation_matches_help() {
    let sandbox = Sandbox::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for page in ["cli", "config"] {
        let generated = sandbox.run(&["docs", page], b"").text();
        let written = std::fs::read_to_string(root.join(format!("{page}.md"))).unwrap();
        assert!(
            generated == written,
            "docs/{page}.md is out of date: run `offcut docs {page} > docs/{page}.md`"
        );
    }
}
