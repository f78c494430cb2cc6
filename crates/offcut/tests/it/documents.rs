//! The examples and numbers of the source documents, and a reference implementation of their loop.
//!
//! Each test names the seed document and its section.

use crate::common::{Fault, Faulty, bytes, lines, noon};
use offcut::profile::TaskTool;
use offcut::store::{FsStore, Store};
use offcut::strategy::StrategyName;
use offcut::{Context, Limits, Outcome, Profile, Rule, Saved, Storage, Truncator};
use proptest::prelude::*;
use std::sync::Arc;

const HINT: &str = "Use Grep to search the full content or Read with offset/limit to view specific sections.";

struct Segment {
    content: String,
    path: Option<String>,
    stored: Option<Vec<u8>>,
}

/// Cuts a text with a source document's profile and a store in a real directory.
fn run(profile: &str, tool: &str, rule: Rule, text: &str) -> Segment {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(FsStore::new(directory.path().join("store"), noon));
    let truncator =
        Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(store)).rule(rule).unwrap();
    let shown = truncator.apply(text.as_bytes(), &Context::tool(tool));
    let path = shown.preview().and_then(|preview| match preview.saved() {
        Saved::Complete(entry) => entry.path.clone(),
        _ => None,
    });
    Segment {
        content: String::from_utf8(shown.content().to_vec()).unwrap(),
        stored: path.as_ref().map(|path| std::fs::read(path).unwrap()),
        path: path.map(|path| path.display().to_string()),
    }
}

fn opencode(rule: Rule, text: &str) -> Segment {
    run("opencode", "bash", rule, text)
}

fn coding_agent(tool: &str, rule: Rule, text: &str) -> Segment {
    run("coding-agent", tool, rule, text)
}

fn with(strategy: StrategyName, limits: Limits) -> Rule {
    Rule { strategy: Some(strategy), limits, ..Rule::default() }
}

fn numbered(count: usize) -> String {
    (0..count).map(|number| format!("line{number}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn seed_001_section_3_3_limits() {
    // 2000 lines fit; a trailing newline counts one more line, as `split("\n")` counts.
    assert_eq!(opencode(Rule::default(), &numbered(2000)).path, None);
    assert!(opencode(Rule::default(), &numbered(2001)).path.is_some());
    assert!(opencode(Rule::default(), &format!("{}\n", numbered(2000))).path.is_some());
    // 51,200 bytes fit.
    assert_eq!(opencode(Rule::default(), &"a".repeat(51_200)).path, None);
    assert!(opencode(Rule::default(), &"a".repeat(51_201)).path.is_some());
}

#[test]
fn seed_001_section_4_3_head_and_6_4_frame() {
    let run = opencode(with(StrategyName::Head, lines(3)), &numbered(10));
    let path = run.path.unwrap();
    assert_eq!(
        run.content,
        format!(
            "line0\nline1\nline2\n\n...7 lines truncated...\n\nThe tool call succeeded but the output was truncated. \
             Full output saved to: {path}\n{HINT}"
        )
    );
    assert_eq!(run.stored.unwrap(), numbered(10).into_bytes());
}

#[test]
fn seed_001_section_4_4_tail_and_6_4_frame() {
    let run = opencode(with(StrategyName::Tail, lines(3)), &numbered(10));
    let path = run.path.unwrap();
    assert_eq!(
        run.content,
        format!(
            "...7 lines truncated...\n\nThe tool call succeeded but the output was truncated. \
             Full output saved to: {path}\n{HINT}\n\nline7\nline8\nline9"
        )
    );
}

#[test]
fn seed_001_section_4_3_stopped_by_bytes() {
    // Two lines of 4 bytes and the newline between them are 9; a third would make 14.
    let run = opencode(with(StrategyName::Head, bytes(13)), "aaaa\nbbbb\ncccc\ndddd");
    assert!(run.content.starts_with("aaaa\nbbbb\n\n...10 bytes truncated...\n\n"), "{}", run.content);
    let run = opencode(with(StrategyName::Tail, bytes(13)), "aaaa\nbbbb\ncccc\ndddd");
    assert!(run.content.starts_with("...10 bytes truncated...\n\n"), "{}", run.content);
    assert!(run.content.ends_with("\n\ncccc\ndddd"), "{}", run.content);
}

#[test]
fn seed_001_section_6_2_hints() {
    let task = Rule { task: Some(TaskTool::Available), ..with(StrategyName::Head, lines(1)) };
    let run = opencode(task, "a\nb");
    let path = run.path.unwrap();
    assert_eq!(
        run.content,
        format!(
            "a\n\n...1 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved \
             to: {path}\nUse the Task tool to have a subagent process this file with Grep and Read (with \
             offset/limit). \nDo NOT read the full file yourself - delegate to save context."
        )
    );
    let no_task = Rule { task: Some(TaskTool::Absent), ..with(StrategyName::Head, lines(1)) };
    let run = opencode(no_task, "a\nb");
    assert!(run.content.ends_with(HINT) && !run.content.contains("Task"), "{}", run.content);
}

#[test]
fn seed_001_section_5_1_file_name() {
    let path = opencode(with(StrategyName::Head, lines(1)), "a\nb").path.unwrap();
    let name = path.rsplit('/').next().unwrap();
    let rest = name.strip_prefix("tool_20260223_").unwrap_or_else(|| panic!("{name}"));
    assert!(rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{name}");
}

#[test]
fn seed_001_section_8_3_and_10_2_per_call_options() {
    let call =
        with(StrategyName::Tail, Limits { lines: Some(100), bytes: Some(10 * 1024), ..Limits::default() });
    assert_eq!(opencode(call, &numbered(100)).path, None);
    let run = opencode(call, &numbered(101));
    assert!(run.content.starts_with("...1 lines truncated...") && run.content.ends_with("line100"));
}

#[test]
fn seed_000_section_9_1_tools() {
    // bash: the last 500 lines.
    assert_eq!(coding_agent("bash", Rule::default(), &numbered(500)).path, None);
    let run = coding_agent("bash", Rule::default(), &numbered(501));
    assert!(run.content.starts_with("...1 lines truncated...\n\n"), "{}", &run.content[..80]);
    assert!(run.content.ends_with("line500"));
    // grep: 3000 lines, from the head.
    assert_eq!(coding_agent("grep", Rule::default(), &numbered(3000)).path, None);
    let run = coding_agent("grep", Rule::default(), &numbered(3001));
    assert!(run.content.starts_with("line0\n") && run.content.contains("\n\n...1 lines truncated...\n\n"));
    // read: exempt.
    assert_eq!(coding_agent("read", Rule::default(), &numbered(10_000)).content, numbered(10_000));
    // Everything else: 2000 lines.
    assert!(coding_agent("other", Rule::default(), &numbered(2001)).path.is_some());
}

#[test]
fn seed_000_section_4_1_hint_and_5_2_removed() {
    let run = coding_agent("other", with(StrategyName::Head, lines(10)), &numbered(100));
    let path = run.path.unwrap();
    assert_eq!(
        run.content,
        format!(
            "{}\n\n...90 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output \
             saved to: {path}\n{HINT}",
            numbered(10)
        )
    );
    // A text over the byte limit is counted in bytes even when the loop stopped at the line limit.
    let limits = Limits { lines: Some(2), bytes: Some(12), ..Limits::default() };
    let run = coding_agent("other", with(StrategyName::Head, limits), "aaa\nbbb\nccc\nddd");
    assert!(run.content.starts_with("aaa\nbbb\n\n...8 bytes truncated...\n\n"), "{}", run.content);
    // OpenCode counts the same cut in lines.
    let run = opencode(with(StrategyName::Head, limits), "aaa\nbbb\nccc\nddd");
    assert!(run.content.starts_with("aaa\nbbb\n\n...2 lines truncated...\n\n"), "{}", run.content);
}

#[test]
fn seed_000_section_6_1_file_name() {
    let path = coding_agent("my tool/x", with(StrategyName::Head, lines(1)), "a\nb").path.unwrap();
    let name = path.rsplit('/').next().unwrap();
    let random = name.strip_prefix("my_tool_x_1771860645000_").and_then(|rest| rest.strip_suffix(".txt"));
    assert!(
        random.is_some_and(
            |random| random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        ),
        "{name}"
    );
}

#[test]
fn seed_000_section_13_1_disabled() {
    let rule = Rule { enabled: Some(false), ..with(StrategyName::Head, lines(10)) };
    let run = coding_agent("test", rule, &numbered(100));
    assert_eq!((run.content, run.path), (numbered(100), None));
}

/// For one long line, the source documents show nothing and name a file that does not exist. offcut keeps their wording
/// and corrects the behaviour.
#[test]
fn corrects_empty_preview_and_failed_saving() {
    for text in ["a".repeat(61_200), format!("{}\n", "a".repeat(61_200)), format!("\n{}", "a".repeat(61_200))]
    {
        for strategy in [StrategyName::Head, StrategyName::Tail] {
            let run = opencode(with(strategy, Limits::default()), &text);
            assert!(run.content.contains(&"a".repeat(50_000)), "{strategy:?}");
            assert!(run.content.contains(" bytes truncated..."), "{strategy:?}");
        }
    }
    let store: Arc<dyn Store> = Faulty::new(Fault::Create);
    for profile in ["opencode", "coding-agent"] {
        let truncator =
            Truncator::new(Profile::named(profile).unwrap()).storage(Storage::To(Arc::clone(&store)));
        let text = numbered(3000);
        let Some(preview) = truncator.apply(text.as_bytes(), &Context::tool("x")).into_preview() else {
            panic!()
        };
        let content = String::from_utf8(preview.content().to_vec()).unwrap();
        assert!(content.len() < text.len());
        assert!(content.ends_with(
            "The tool call succeeded but the output was truncated. The full output could not be saved: \
             No space left on device (os error 28) (cannot write /the/store)"
        ));
        assert!(!content.contains("saved to"), "{content}");
    }
}

/// The loop of the source documents (seed 001 §4.3 and §4.4, seed 000 §5.2).
fn documented_loop(text: &str, most_lines: usize, most_bytes: usize, head: bool) -> (String, bool) {
    let all: Vec<&str> = text.split('\n').collect();
    let mut kept: Vec<&str> = Vec::new();
    let (mut bytes, mut hit_bytes) = (0, false);
    let order: Vec<&str> = if head { all.clone() } else { all.iter().rev().copied().collect() };
    for line in order {
        if kept.len() >= most_lines {
            break;
        }
        let size = line.len() + usize::from(!kept.is_empty());
        if bytes + size > most_bytes {
            hit_bytes = true;
            break;
        }
        kept.push(line);
        bytes += size;
    }
    if !head {
        kept.reverse();
    }
    (kept.join("\n"), hit_bytes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Where the documented loop shows something visible, offcut shows exactly the same and reports the same counts.
    #[test]
    fn the_documented_loop(
        text in "([a-z漢🙂]{0,12}\r?\n?){0,40}",
        most_lines in 1..45_usize,
        most_bytes in 1..400_usize,
        head in any::<bool>(),
    ) {
        let strategy = if head { StrategyName::Head } else { StrategyName::Tail };
        let limits = Limits { lines: Some(most_lines as u64), bytes: Some(most_bytes as u64), ..Limits::default() };
        let (preview, hit_bytes) = documented_loop(&text, most_lines, most_bytes, head);
        let total = text.split('\n').count();
        let fits = total <= most_lines && text.len() <= most_bytes;
        for profile in ["opencode", "coding-agent"] {
            let truncator = Truncator::new(Profile::named(profile).unwrap())
                .rule(Rule { strategy: Some(strategy), limits, ..Rule::default() }).unwrap();
            let shown = truncator.apply(text.as_bytes(), &Context::default());
            if preview.trim().is_empty() {
                continue;
            }
            prop_assert_eq!(matches!(shown, Outcome::Passed(_)), fits || preview == text);
            let Some(cut) = shown.preview() else { continue };
            let content = String::from_utf8(cut.content().to_vec()).unwrap();
            let in_bytes = hit_bytes || (profile == "coding-agent" && text.len() > most_bytes);
            let removed = if in_bytes {
                format!("...{} bytes truncated...", text.len() - preview.len())
            } else {
                format!("...{} lines truncated...", total - preview.split('\n').count())
            };
            if head {
                prop_assert!(content.starts_with(&format!("{preview}\n\n{removed}\n\nThe tool")), "{content}");
            } else {
                prop_assert!(content.starts_with(&format!("{removed}\n\nThe tool")), "{content}");
                prop_assert!(content.ends_with(&format!("\n\n{preview}")), "{content}");
            }
        }
    }
}
