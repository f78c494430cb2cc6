//! grep, show, stats, pin, completions, man, and the generated documentation.

use crate::harness::{Sandbox, numbered};
use crate::terminal::Terminal;

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
    sandbox.run(&["grep", "((", "last"], b"").failed(1, "not a regular expression");
    sandbox.run(&["grep", "x", "last-9"], b"").failed(3, "no stored output");
    assert_eq!(sandbox.run(&["grep", "-m", "2", "^7", "last"], b"").text().lines().count(), 3);
}

#[test]
fn grep_colours_matches_on_terminal() {
    let sandbox = Sandbox::new();
    let id =
        sandbox.run(&["cut", "--format", "json"], numbered(20_000).as_bytes()).json()["saved"]["id"].clone();
    let id = id.as_str().unwrap();
    let (green, magenta, red, reset) = ("\x1b[32m", "\x1b[35m", "\x1b[1m\x1b[31m", "\x1b[0m");
    let line = format!("{green}1234{reset}:{red}1234{reset}\n");
    let context = format!("{green}1233{reset}-1233\n{line}{green}1235{reset}-1235\n");
    let check = |arguments: &str, coloured: &str| {
        let words: Vec<&str> = arguments.split(' ').collect();
        let plain = sandbox.run(&words, b"").text();
        let stripped = [green, magenta, red, reset]
            .iter()
            .fold(coloured.to_owned(), |text, code| text.replace(code, ""));
        assert_eq!(plain, stripped, "{arguments}");
        let always: Vec<&str> = words.iter().copied().chain(["--color", "always"]).collect();
        assert_eq!(sandbox.run(&always, b"").text(), coloured, "{arguments}");
        for (variables, expected) in
            [("", coloured), ("NO_COLOR=1 ", &plain), ("CLAUDECODE=1 ", &plain), ("TERM=dumb ", &plain)]
        {
            let line = format!("{variables}\"$offcut\" {arguments}");
            let (seen, code) = Terminal::open_shell(&sandbox, &line).close();
            assert_eq!((seen.replace("\r\n", "\n").as_str(), code), (expected, Some(0)), "{line}");
        }
    };
    check("grep -w 123[4] -C 1", &context);
    check("grep ^1234$ all", &format!("{magenta}{id}{reset}:{line}"));
    check("grep -l 1234 all", &format!("{magenta}{id}{reset}\n"));
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
    let total = rows.iter().find(|row| row.first() == Some(&"total")).unwrap();
    assert_eq!(total[..5], ["total", "3", "3", "146.7", "kB"], "{table}");
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

#[test]
fn completions_and_manual_are_generated() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(sandbox.run(&["completions", shell], b"").text().contains("offcut"), "{shell}");
    }
    let page = sandbox.run(&["man", "run"], b"").text();
    for part in [
        ".TH offcut-run 1",
        "SH \"EXIT STATUS\"",
        "124",
        "SH ENVIRONMENT",
        "OFFCUT_PASS",
        "SH FILES",
        ".offcut.toml",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    sandbox.run(&["man", "gerp"], b"").failed(2, "did you mean \"grep\"?");
    sandbox.run(&["man", "--directory", "."], b"").text();
    assert!(sandbox.path().join("offcut-grep.1").exists() && sandbox.path().join("offcut.1").exists());
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
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for page in ["cli", "config"] {
        let generated = sandbox.run(&["docs", page], b"").text();
        let written = std::fs::read_to_string(root.join(format!("{page}.md"))).unwrap();
        assert!(
            generated == written,
            "docs/{page}.md is out of date: run `offcut docs {page} > docs/{page}.md`"
        );
    }
}

#[test]
fn profiles_fit_80_columns() {
    let text = Sandbox::new().run(&["profiles"], b"").text();
    assert!(text.lines().count() >= 6 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
