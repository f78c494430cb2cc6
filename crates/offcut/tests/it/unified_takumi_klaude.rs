//! The documents whose systems are not OpenCode's: unified (seed 002), takumi (003), klaude (004).

use crate::common::{Fault, Faulty, noon};
use offcut::store::{FsStore, Store};
use offcut::strategy::{Split, StrategyName};
use offcut::{Context, Kept, Limits, Profile, Rule, Shown, Storage, TaskTool, Truncator};
use std::sync::Arc;

struct Segment {
    content: String,
    paths: Vec<String>,
}

/// One door: the same text so many times through a profile into one directory, in one second.
fn run_times(profile: &str, rule: Rule, text: &str, times: usize) -> Segment {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), noon));
    let truncator =
        Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store)).rule(rule).unwrap();
    let context = Context { tool: Some("Read".into()), call_id: Some("call_7".into()), session: None };
    let mut run = Segment { content: String::new(), paths: Vec::new() };
    for _ in 0..times {
        let shown = truncator.apply(text.as_bytes(), &context);
        run.content = String::from_utf8(shown.content().to_vec()).unwrap();
        if let Some(Kept::Whole(entry)) = shown.preview().map(|preview| &preview.kept) {
            let path = entry.path.clone().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            run.paths.push(path.display().to_string());
        }
    }
    run
}

fn run(profile: &str, rule: Rule, text: &str) -> Segment {
    run_times(profile, rule, text, 1)
}

fn failing(profile: &str, text: &str) -> String {
    let store: Arc<dyn Store> = Faulty::new(Fault::Create);
    let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store));
    let Shown::Cut(preview) = truncator.apply(text.as_bytes(), &Context::default()) else { panic!() };
    assert!(matches!(preview.kept, Kept::NotWhole { .. }));
    String::from_utf8(preview.content).unwrap()
}

fn names(run: &Segment) -> Vec<&str> {
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
    let error = "No space left on device (os error 28) (could not write /the/store)";
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
    // At the edge nothing is cut; a trailing newline counts one more line.
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
    // A write that fails: the cut text without a path.
    let content = failing("takumi", &numbered(2000));
    assert_eq!(content, format!("{}\n\n...1 lines truncated...", numbered(2000).trim_end()));
    assert_eq!(Profile::named("takumi").unwrap().retention_days, None, "never cleaned");
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

#[test]
fn seed_004_saving_fails() {
    let text = "x".repeat(50_000);
    let ends = "x".repeat(10_000);
    assert_eq!(
        failing("klaude", &text),
        klaude(30_000, ", the full output could not be saved.", &ends, &ends)
    );
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
    // Ends that together exceed the text never repeat it and never hide a negative number.
    let cut = run("klaude", rule(1000, 1, 1), &text);
    assert!(cut.content.contains(&format!("\n\n{}\n\n... (50 characters truncated) ...\n\n", &text[..50])));
    assert!(cut.content.ends_with(&format!("[Last 50 chars below]\n{}", &text[100..])));
    // No tail is no tail, not the whole text.
    let cut = run("klaude", rule(20, 20, 0), &text);
    let saved = format!(", full output saved to {}. Use Read tool or rg to get details.", cut.paths[0]);
    assert_eq!(cut.content, klaude(130, &saved, &text[..20], ""));
}

#[test]
fn hostile_names_stay_in_the_store_in_every_profile() {
    let hostile = [
        "../../x",
        "a\nb",
        "-rf",
        "nul\0",
        "漢字",
        "",
        ".",
        "..",
        "/etc/passwd",
        "{call_id}",
        "con",
        &"x".repeat(2000),
    ];
    for profile in Profile::names() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("store");
        let store = Arc::new(FsStore::new(&directory, noon));
        let truncator = Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store));
        let text = "line\n".repeat(60_000);
        for name in hostile {
            let context =
                Context { tool: Some(name.into()), call_id: Some(name.into()), session: Some(name.into()) };
            let shown = truncator.apply(text.as_bytes(), &context);
            let Some(Kept::Whole(entry)) = shown.preview().map(|preview| &preview.kept) else {
                panic!("{profile} {name:?}")
            };
            let path = entry.path.as_ref().unwrap();
            assert_eq!(path.parent(), Some(directory.as_path()), "{profile} {name:?}");
            let file = path.file_name().unwrap().to_str().unwrap();
            assert!(file.bytes().all(|byte| byte.is_ascii_graphic()) && !file.starts_with('-'), "{file:?}");
        }
        let outside: Vec<_> =
            std::fs::read_dir(home.path()).unwrap().map(|item| item.unwrap().file_name()).collect();
        assert_eq!(outside, ["store"], "{profile}");
    }
}

#[test]
fn limits_change_while_running() {
    let mut truncator = Truncator::new(Profile::named("coding-agent").unwrap());
    let text = numbered(50);
    let cut = |truncator: &Truncator, tool: &str| {
        truncator.apply(text.as_bytes(), &Context::tool(tool)).preview().is_some()
    };
    let lines = |most| Rule { limits: Limits { lines: Some(most), ..Limits::default() }, ..Rule::default() };
    assert!(!cut(&truncator, "bash"));
    // Seed 000 §4.1 setToolConfig: the tool's direction stays when only its lines are set.
    truncator.update_tool("bash", lines(10)).unwrap();
    assert!(cut(&truncator, "bash") && !cut(&truncator, "other"));
    assert_eq!(truncator.settings(&Context::tool("bash")).strategy, StrategyName::Tail);
    // Seed 000 §4.1 updateConfig.
    truncator.update(lines(20)).unwrap();
    assert!(cut(&truncator, "other"));
    assert!(truncator.update(lines(0)).is_err() && truncator.update_tool("bash", lines(0)).is_err());
    assert!(cut(&truncator, "other"), "a refused change changes nothing");
}

#[test]
fn a_runaway_output_is_capped_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(home.path().join("store"), noon));
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone())).cap(100_000);
    let mut spool = truncator.spool(Context::default());
    for _ in 0..100 {
        spool.observe(&b"0123456789\n".repeat(1000));
    }
    let shown = spool.finish();
    let Some(Kept::NotWhole { error, part: Some(part) }) = shown.preview().map(|preview| &preview.kept)
    else {
        panic!()
    };
    let id = store.ids().unwrap()[0];
    assert_eq!(error, "one output may have at most 100000 bytes (max_output)");
    assert_eq!(*part, offcut::Part { id, bytes: 100_000 });
    let entry = store.entry(&id).unwrap();
    assert_eq!((entry.bytes, entry.summary.unwrap().original.bytes), (100_000, 1_100_000));
}
