//! Document 004, “Smart Truncation Strategy Implementation Plan”.

use crate::common::noon;
use offcut::systems::klaude::*;
use offcut::{Limits, Profile, Rule};
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};

#[path = "../../../examples/klaude.rs"]
mod example;

fn smart(directory: &tempfile::TempDir, max_length: u32, head: u32, tail: u32) -> SmartTruncationStrategy {
    SmartTruncationStrategy::new(max_length, head, tail, directory.path().join("klaude"), noon).unwrap()
}

fn text(length: usize) -> String {
    "漢字 and text\n".chars().cycle().take(length).collect()
}

/// “Truncated Output Format”, written from its text.
fn documented(output: &str, path: &str, head: usize, tail: usize) -> String {
    let chars: Vec<char> = output.chars().collect();
    let hidden = chars.len() - head - tail;
    let (first, last): (String, String) =
        (chars[..head].iter().collect(), chars[chars.len() - tail..].iter().collect());
    format!(
        "[Output truncated: {hidden} chars hidden, full output saved to {path}. Use Read tool or rg to get details. Showing first {head} and last {tail} chars below.]\n\n{first}\n\n... ({hidden} characters truncated) ...\n\n[Last {tail} chars below]\n{last}"
    )
}

#[test]
fn task_1_1_constants_are_those_of_the_profile() {
    let profile = Profile::named("klaude").unwrap();
    let settings = profile.settings(None, Rule::default()).unwrap();
    let chars = |most: u32| Limits { chars: Some(most.into()), ..Limits::default() };
    assert_eq!(settings.limits, chars(TOOL_OUTPUT_MAX_LENGTH));
    assert_eq!(settings.keep, chars(TOOL_OUTPUT_DISPLAY_HEAD + TOOL_OUTPUT_DISPLAY_TAIL));
    assert_eq!(profile.seed_directory(), Some(TOOL_OUTPUT_TRUNCATION_DIR));
    assert_eq!(
        (TOOL_OUTPUT_MAX_LENGTH, TOOL_OUTPUT_DISPLAY_HEAD, TOOL_OUTPUT_DISPLAY_TAIL),
        (40_000, 10_000, 10_000)
    );
    assert_eq!(TOOL_OUTPUT_TRUNCATION_DIR, "/tmp/klaude");
}

/// Task 1.2, and the metrics 1 and 2.
#[test]
fn task_1_2_over_40000_characters_both_ends_are_shown_and_all_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let strategy =
        smart(&directory, TOOL_OUTPUT_MAX_LENGTH, TOOL_OUTPUT_DISPLAY_HEAD, TOOL_OUTPUT_DISPLAY_TAIL);
    let output = text(40_001);
    let result = strategy.truncate(&output, Some("Bash"), Some("call_7"));
    let path = directory.path().join("klaude").join("Bash-call_7-1771860645.txt");
    let path = path.to_str().unwrap();
    assert_eq!(
        result,
        TruncationResult {
            output: documented(&output, path, 10_000, 10_000),
            was_truncated: true,
            saved_file_path: Some(path.to_owned()),
            original_length: 40_001,
            truncated_length: 20_001,
        }
    );
    assert_eq!(std::fs::read_to_string(path).unwrap(), output);
    let output = text(40_000);
    let whole = TruncationResult {
        output: output.clone(),
        was_truncated: false,
        saved_file_path: None,
        original_length: 40_000,
        truncated_length: 0,
    };
    assert_eq!(strategy.truncate(&output, Some("Bash"), None), whole);
    assert_eq!(whole.ui_extra(), None);
}

#[test]
fn task_1_2_file_names() {
    let directory = tempfile::tempdir().unwrap();
    let strategy = smart(&directory, 100, 10, 10);
    let name = |tool_name, call_id| {
        let result = strategy.truncate(&text(200), tool_name, call_id);
        let path = result.saved_file_path.unwrap();
        Path::new(&path).file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(name(Some("Bash"), Some("c1")), "Bash-c1-1771860645.txt");
    assert_eq!(name(Some("Bash"), Some("c1")), "Bash-c1-1771860645_2.txt");
    assert_eq!(name(None, None), "unknown-unknown-1771860645.txt");
    assert_eq!(name(Some("../x"), Some("a/b")), "___x-a_b-1771860645.txt");
}

#[test]
fn task_1_2_limits_that_show_nothing_are_errors() {
    for (max_length, head, tail) in [(0, 10, 10), (100, 0, 0)] {
        assert!(SmartTruncationStrategy::new(max_length, head, tail, "unused", noon).is_err());
    }
    assert!(SimpleTruncationStrategy::new(0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Differences: both ends together are at most `max_length`, and a tail of 0 is empty.
    #[test]
    fn task_1_2_agrees_with_the_format_of_the_document(
        output in "[a-z漢é🦀 \n\r]{0,300}",
        head in 0..80_u32,
        tail in 0..80_u32,
        more in 0..80_u32,
    ) {
        prop_assume!(head + tail > 0);
        let (directory, max_length) = (tempfile::tempdir().unwrap(), head + tail + more);
        let result = smart(&directory, max_length, head, tail).truncate(&output, Some("Read"), Some("c1"));
        let length = output.chars().count() as u64;
        prop_assert_eq!(result.original_length, length);
        prop_assert_eq!(result.was_truncated, length > max_length.into());
        if result.was_truncated {
            let path = result.saved_file_path.unwrap();
            prop_assert_eq!(result.output, documented(&output, &path, head as usize, tail as usize));
            prop_assert_eq!(result.truncated_length, length - u64::from(head + tail));
            prop_assert_eq!(std::fs::read_to_string(path).unwrap(), output);
        } else {
            prop_assert_eq!((result.output, result.truncated_length), (output, 0));
        }
    }
}

#[test]
fn task_1_2_ends_that_overlap_repeat_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let output = text(110);
    let result = smart(&directory, 100, 80, 80).truncate(&output, None, None);
    let path = result.saved_file_path.unwrap();
    assert_eq!(result.output, documented(&output, &path, 50, 50));
    assert_eq!(result.truncated_length, 10);
    let result = smart(&directory, 5, 100, 1).truncate("abcdefgh", None, None);
    let path = result.saved_file_path.unwrap();
    assert_eq!(result.output, documented("abcdefgh", &path, 5, 0));
}

#[test]
fn current_state_simple_truncation_shows_the_beginning() {
    let simple = SimpleTruncationStrategy::new(100).unwrap();
    assert_eq!(simple.truncate(&text(100), None, None).output, text(100));
    let result = simple.truncate(&text(130), None, None);
    // It does not try to save anything.
    assert_eq!(result.output, text(100) + "\n... (30 characters truncated)");
    assert_eq!((result.original_length, result.truncated_length), (130, 30));
    assert_eq!((result.was_truncated, result.saved_file_path), (true, None));
}

/// “Risk Assessment”: errors of the directory and the disk are caught, and simple truncation is used.
#[test]
fn risks_saving_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let messages = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&messages);
    let strategy = SmartTruncationStrategy::new(100, 10, 10, file.join("klaude"), noon).unwrap();
    let strategy = strategy.log(move |message| log.lock().unwrap().push(message.to_owned()));
    let result = strategy.truncate(&text(130), Some("Bash"), None);
    let simple = SimpleTruncationStrategy::new(100).unwrap().truncate(&text(130), None, None);
    let notice = "\n... (30 characters truncated; the full output could not be saved)";
    assert_eq!(result, TruncationResult { output: text(100) + notice, ..simple });
    let messages = messages.lock().unwrap();
    assert!(messages.len() == 1 && messages[0].contains("klaude"), "{messages:?}");
    assert_eq!(result.ui_extra(), None);
}

#[test]
fn task_3_2_the_extra_of_a_saved_result() {
    let directory = tempfile::tempdir().unwrap();
    let result = smart(&directory, 100, 10, 10).truncate(&text(200), Some("Bash"), Some("c1"));
    let extra = result.ui_extra().unwrap();
    let json = json!({
        "type": "truncation",
        "truncation": {
            "saved_file_path": result.saved_file_path,
            "original_length": 200,
            "truncated_length": 180,
        },
    });
    assert_eq!(serde_json::to_value(&extra).unwrap(), json);
    assert_eq!(serde_json::from_value::<ToolResultUiExtra>(json).unwrap(), extra);
}

/// Task 4.1, and the metric 3.
#[test]
fn task_4_1_truncation_info() {
    let extra = TruncationUiExtra {
        saved_file_path: "/tmp/klaude/Bash-c1-1771860645.txt".to_owned(),
        original_length: 50_000,
        truncated_length: 30_000,
    };
    assert_eq!(
        render_truncation_info(&extra),
        "╭ output truncated\n\
         │ original    50000 chars\n\
         │ not shown   30000 chars\n\
         │ full output /tmp/klaude/Bash-c1-1771860645.txt\n\
         ╰\n"
    );
}
