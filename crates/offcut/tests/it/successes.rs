//! Previews of outputs in which nothing failed: pairs of a text and its preview, to be reviewed by people.
//!
//! `UPDATE=1 cargo test -p offcut --test it successes` updates the previews.

use crate::common::{memory, native};
use offcut::{Context, Limits, Rule};
use std::path::Path;

/// Compares the preview of the text `name` at a limit of `bytes` with the stored one.
#[track_caller]
fn check(name: &str, bytes: u64) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/successes");
    let text = std::fs::read(directory.join(format!("{name}.txt"))).unwrap();
    let limits = Limits { bytes: Some(bytes), ..Limits::default() };
    let truncator = native(Rule { limits, ..Rule::default() }, memory());
    let shown = truncator.apply(&text, &Context::default()).content().to_vec();
    assert!(shown.len() as u64 <= bytes);
    let kept = directory.join(format!("{name}.preview"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&kept, &shown).unwrap();
    }
    let expected = std::fs::read(&kept).unwrap_or_default();
    assert_eq!(String::from_utf8_lossy(&shown), String::from_utf8_lossy(&expected), "{name}");
}

#[test]
fn clean_build() {
    check("cargo_check", 1000);
}

#[test]
fn histories_and_changes() {
    check("git_log", 3000);
    check("git_diff", 6000);
    check("git_log_stat", 4000);
    check("git_log_patch", 3000);
}

#[test]
fn search_hits() {
    check("grep", 3000);
    check("grep_context", 3000);
    check("grep_plain", 3000);
}

#[test]
fn source_code() {
    check("source", 5000);
    check("script.py", 5000);
    check("module.js", 5000);
    check("minified.js", 2000);
    check("script.sh", 3000);
    check("nl", 4000);
}

#[test]
fn outputs_of_several_commands() {
    check("compound", 3000);
    check("head_files", 4000);
    check("sections", 4000);
}

#[test]
fn listings_and_trees() {
    check("ls_long", 3000);
    check("ls_recursive", 1500);
    check("npm_ls", 3000);
    check("cargo_tree", 2500);
    check("find", 3000);
}

#[test]
fn documents() {
    check("document.json", 3000);
    check("lines.jsonl", 3000);
    check("page.md", 4000);
    check("page.html", 3000);
    check("minified.html", 3000);
    check("test_report.xml", 3000);
    check("report.md", 3000);
    check("help", 3000);
    check("config.toml", 2000);
}

#[test]
fn tables() {
    check("table.md", 1500);
    check("pip_list", 1000);
    check("orders.csv", 2000);
    check("processes", 2500);
}
