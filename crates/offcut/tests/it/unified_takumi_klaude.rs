//! The source documents of the profiles unified (seed 002), takumi (seed 003) and klaude (seed 004).

use crate::common::{Fault, Faulty, noon};
use offcut::profile::TaskTool;
use offcut::store::{FsStore, Store};
use offcut::strategy::{Split, StrategyName};
use offcut::{Context, Limits, Profile, Rule, Saved, Storage, Truncator};
use std::sync::Arc;

struct Previews {
    content: String,
    paths: Vec<String>,
}

/// Applies a profile to a text several times within one second, with one store.
fn run_times(profile: &str, rule: Rule, text: &str, times: usize) -> Previews {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), noon));
    let truncator =
        Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store)).rule(rule).unwrap();
    let context = Context { tool: Some("Read".into()), call_id: Some("call_7".into()), ..Context::default() };
    let mut run = Previews { content: String::new(), paths: Vec::new() };
    for _ in 0..times {
        let shown = truncator.apply(text.as_bytes(), &context);
        run.content = String::from_utf8(shown.content().to_vec()).unwrap();
        if let Some(Saved::Complete(entry)) = shown.preview().map(|preview| preview.saved()) {
            let path = entry.path.clone().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            run.paths.push(path.display().to_string());
        }
    }
    run
}

fn run(profile: &str, rule: Rule, text: &str) -> Previews {
    run_times(profile, rule, text, 1)
}

fn failing(profile: &str, text: &str) -> String {
    failing_at(Fault::Create, profile, Rule::default(), text)
}

fn failing_at(fault: Fault, profile: &str, rule: Rule, text: &str) -> String {
    let store: Arc<dyn Store> = Faulty::new(fault);
    let truncator =
        Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store)).rule(rule).unwrap();
    let Some(preview) = truncator.apply(text.as_bytes(), &Context::default()).into_preview() else {
        panic!()
    };
    assert!(matches!(preview.saved(), Saved::Failed { .. }));
    String::from_utf8(preview.content().to_vec()).unwrap()
}

fn names(run: &Previews) -> Vec<&str> {
    run.paths.iter().map(|path| path.rsplit('/').next().unwrap()).collect()
}

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line{number}\n")).collect()
}

#[test]
fn seed_002_sections_3_and_7_through_plain_cut() {
    assert!(run("unified", Rule::default(), &numbered(2000)).paths.is_empty());
    assert!(run("unified", Rule::default(), &"x".repeat(51_200)).paths.is_empty());
    let cut = run("unified", Rule::default(), &numbered(2001));
    let path = &cut.paths[0];
    assert_eq!(
        cut.content,
        format!(
            "{}\n\n⚠️ 输出过大已截断，完整内容见 {path}\nUse Read with pagination or Grep to search the full output \
             file {path}",
            numbered(2000)
        )
    );
    let task = Rule { task: Some(TaskTool::Available), ..Rule::default() };
    let cut = run("unified", task, &numbered(2001));
    let path = &cut.paths[0];
    assert!(
        cut.content.ends_with(&format!("\nUse Task to have a subagent process the full output file {path}"))
    );
    let tail = Rule { strategy: Some(StrategyName::Tail), ..Rule::default() };
    assert!(run("unified", tail, &numbered(2001)).content.starts_with("line2\n"));
}

#[test]
fn seed_002_saving_fails() {
    let content = failing("unified", &numbered(2001));
    let error = "No space left on device (os error 28) (cannot write /the/store)";
    assert_eq!(content, format!("{}\n\n⚠️ 输出过大已截断，完整内容未能保存: {error}", numbered(2000)));
}

#[test]
fn seed_002_section_4_two_calls_in_the_same_second() {
    let cut = run_times("unified", Rule::default(), &numbered(2001), 3);
    assert_eq!(
        names(&cut),
        [
            "tool_20260223_153045_Read.json",
            "tool_20260223_153045_Read_2.json",
            "tool_20260223_153045_Read_3.json"
        ]
    );
}

#[test]
fn seed_003_frames_and_edges() {
    // At the limit nothing is cut; a trailing line feed counts as one more line.
    assert!(run("takumi", Rule::default(), numbered(2000).trim_end()).paths.is_empty());
    let cut = run("takumi", Rule::default(), &numbered(2000));
    let path = &cut.paths[0];
    assert_eq!(
        cut.content,
        format!(
            "{}\n\n...1 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved \
             to: {path}\nUse Grep to search the full content or Read with offset/limit to view specific sections.",
            numbered(2000).trim_end()
        )
    );
    // If storing fails, the preview has no path.
    let content = failing("takumi", &numbered(2000));
    assert_eq!(content, format!("{}\n\n...1 lines truncated...", numbered(2000).trim_end()));
    assert_eq!(Profile::named("takumi").unwrap().retention_days(), None, "never cleaned");
}

fn klaude(hidden: usize, saved: &str, head: &str, tail: &str) -> String {
    format!(
        "[Output truncated: {hidden} chars hidden{saved} Showing first {} and last {} chars below.]\n\n{head}\n\n... \
         ({hidden} characters truncated) ...\n\n[Last {} chars below]\n{tail}",
        head.chars().count(),
        tail.chars().count(),
        tail.chars().count()
    )
}

#[test]
fn seed_004_at_40000_and_40001_characters() {
    let text: String = "漢a\n🙂".chars().cycle().take(40_001).collect();
    let exactly: String = text.chars().take(40_000).collect();
    assert_eq!(run("klaude", Rule::default(), &exactly).content, exactly);
    let cut = run("klaude", Rule::default(), &text);
    let head: String = text.chars().take(10_000).collect();
    let tail: String = text.chars().skip(30_001).collect();
    let saved = format!(", full output saved to {}. Use Read tool or rg to get details.", cut.paths[0]);
    assert_eq!(cut.content, klaude(20_001, &saved, &head, &tail));
    assert_eq!(names(&cut), ["Read-call_7-1771860645.txt"]);
    let twice = run_times("klaude", Rule::default(), &text, 2);
    assert_eq!(names(&twice), ["Read-call_7-1771860645.txt", "Read-call_7-1771860645_2.txt"]);
}

/// The risk table: degrade to simple truncation, which shows the first 40,000 characters.
#[test]
fn seed_004_saving_fails() {
    let text: String = "漢a\n🙂".chars().cycle().take(50_000).collect();
    let simple = |text: &str, most: usize| {
        let head: String = text.chars().take(most).collect();
        let hidden = text.chars().count() - most;
        format!("{head}\n... ({hidden} characters truncated; the full output could not be saved)")
    };
    for fault in [Fault::Create, Fault::WriteAfter(100), Fault::Commit] {
        assert_eq!(failing_at(fault, "klaude", Rule::default(), &text), simple(&text, 40_000), "{fault:?}");
    }
    // The first characters up to any limit.
    let chars = |most| Limits { chars: Some(most), ..Limits::default() };
    let rule = Rule { limits: chars(100), keep: chars(20), ..Rule::default() };
    assert_eq!(failing_at(Fault::Create, "klaude", rule, &text), simple(&text, 100));
    let unstored = Truncator::new(Profile::named("klaude").unwrap());
    let without_failure = simple(&text, 40_000).replace("; the full output could not be saved", "");
    assert_eq!(unstored.apply(&text, &Context::default()).text(), without_failure);
}

#[test]
fn seed_004_ends_larger_than_the_text_and_no_tail() {
    let chars = |most| Limits { chars: Some(most), ..Limits::default() };
    let rule = |keep, head, tail| Rule {
        limits: chars(100),
        keep: chars(keep),
        split: Some(Split { head, tail }),
        ..Rule::default()
    };
    let text: String = ('a'..='z').cycle().take(150).collect();
    // Ends that together exceed the text do not overlap, and the number of hidden characters is not negative.
    let cut = run("klaude", rule(1000, 1, 1), &text);
    assert!(cut.content.contains(&format!("\n\n{}\n\n... (50 characters truncated) ...\n\n", &text[..50])));
    assert!(cut.content.ends_with(&format!("[Last 50 chars below]\n{}", &text[100..])));
    // A tail of 0 characters is empty.
    let cut = run("klaude", rule(20, 20, 0), &text);
    let saved = format!(", full output saved to {}. Use Read tool or rg to get details.", cut.paths[0]);
    assert_eq!(cut.content, klaude(130, &saved, &text[..20], ""));
}
