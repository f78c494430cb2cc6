//! Document 000, “Coding Agent 截断系统实现设计”.

use crate::common::noon;
use offcut::results::{ShapeChoice, ToolOutput};
use offcut::systems::coding_agent::*;
use offcut::{Context, Rule};
use proptest::prelude::*;
use serde_json::json;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

#[cfg(feature = "registry")]
#[path = "../../../examples/coding_agent.rs"]
mod example;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n")
}

fn in_directory(directory: &Path, global: PartialConfig) -> TruncationServiceConfig {
    let global = PartialConfig { storage_dir: Some(directory.join("data")), ..global };
    TruncationServiceConfig { global, ..TruncationServiceConfig::default() }
}

fn max_lines(most: u64) -> PartialConfig {
    PartialConfig { max_lines: Some(most), ..PartialConfig::default() }
}

#[track_caller]
fn service(config: TruncationServiceConfig) -> TruncationService {
    TruncationService::new(config, noon).unwrap()
}

#[test]
fn s3_2_a_result_is_narrowed_by_match() {
    let directory = tempfile::tempdir().unwrap();
    let service = service(in_directory(directory.path(), max_lines(10)));
    let content = lines(100);
    let TruncationResult::Truncated { content: shown, output_path, removed_lines, removed_bytes } =
        service.output(&content, &TruncationContext::tool("test"))
    else {
        panic!("not truncated");
    };
    let path = output_path.unwrap();
    assert_eq!(
        shown,
        format!(
            "{}\n\n...90 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: {path}\nUse Grep to search the full content or Read with offset/limit to view specific sections.",
            lines(10)
        )
    );
    assert_eq!((removed_lines, removed_bytes), (Some(90), None));
    assert_eq!(std::fs::read_to_string(path).unwrap(), content);
    let small = service.output("small", &TruncationContext::tool("test"));
    assert_eq!(small, TruncationResult::Whole { content: "small".to_owned() });
}

/// Global settings, those of the tool, and those of the call, key by key.
#[test]
fn s4_1_effective_settings() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = in_directory(directory.path(), max_lines(100));
    config.tools.insert("bash".to_owned(), max_lines(10));
    let mut service = service(config);
    let options = |options| TruncationContext { options, ..TruncationContext::tool("bash") };
    let none = TruncationOptions::default();
    let truncated = |service: &TruncationService, context: &TruncationContext| {
        service.output(&lines(50), context).truncated()
    };
    assert!(truncated(&service, &options(none)));
    assert!(!truncated(&service, &TruncationContext::tool("other")));
    assert!(!truncated(&service, &options(TruncationOptions { max_lines: Some(60), ..none })));
    assert!(!truncated(&service, &options(TruncationOptions { skip: Some(true), ..none })));
    service.update_config(&max_lines(20)).unwrap();
    assert!(truncated(&service, &TruncationContext::tool("other")));
    service.set_tool_config("other", &max_lines(70)).unwrap();
    assert!(!truncated(&service, &TruncationContext::tool("other")));
    let off = PartialConfig { enabled: Some(false), ..PartialConfig::default() };
    service.set_tool_config("bash", &off).unwrap();
    assert!(!truncated(&service, &options(none)));
    assert!(truncated(&service, &options(TruncationOptions { skip: Some(false), ..none })));
}

/// `Map.set`: what a new configuration of a tool leaves unset is global again.
#[test]
fn s4_1_set_tool_config_replaces_the_settings_of_the_tool() {
    let directory = tempfile::tempdir().unwrap();
    let mut config = in_directory(directory.path(), max_lines(100));
    config.tools.insert("x".to_owned(), max_lines(10));
    let mut service = service(config);
    assert!(service.output(&lines(50), &TruncationContext::tool("x")).truncated());
    let tail = PartialConfig { direction: Some(TruncationDirection::Tail), ..PartialConfig::default() };
    service.set_tool_config("x", &tail).unwrap();
    assert!(!service.output(&lines(50), &TruncationContext::tool("x")).truncated());
}

#[test]
fn s4_1_limit_of_0_counts_as_1_and_keeps_the_other_options() {
    let directory = tempfile::tempdir().unwrap();
    let service = service(in_directory(directory.path(), max_lines(100)));
    let zero = TruncationOptions { max_lines: Some(0), ..TruncationOptions::default() };
    let output = |options| {
        let context = TruncationContext { options, ..TruncationContext::tool("x") };
        service.output(&lines(50), &context)
    };
    let TruncationResult::Truncated { removed_lines, .. } = output(zero) else { panic!("not truncated") };
    assert_eq!(removed_lines, Some(49));
    assert!(!output(TruncationOptions { skip: Some(true), ..zero }).truncated());
    let config = TruncationConfig { max_lines: 0, ..DEFAULT_TRUNCATION_CONFIG };
    assert!(DefaultTruncationStrategy.needs_truncation(&lines(50), &config));
    assert_eq!(DefaultTruncationStrategy.truncate(&lines(50), &config).content.trim_end(), "line 1");
}

#[test]
fn s4_1_events() {
    let directory = tempfile::tempdir().unwrap();
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let on_event: TruncationEventCallback = Arc::new(move |event| log.lock().unwrap().push(event));
    let config = in_directory(directory.path(), max_lines(10));
    let with_events = service(TruncationServiceConfig { on_event: Some(on_event.clone()), ..config.clone() });
    let content = lines(50);
    let shown = with_events.output(&content, &TruncationContext::tool("bash"));
    with_events.output("small", &TruncationContext::tool("grep"));
    with_events.output(&content, &TruncationContext::tool("read"));
    let storage: Arc<dyn TruncationStorage> = Arc::new(Full);
    let failing = TruncationServiceConfig { on_event: Some(on_event), storage: Some(storage), ..config };
    let unsaved = service(failing).output(&content, &TruncationContext::tool("bash"));

    let TruncationResult::Truncated { output_path, .. } = &shown else { panic!() };
    let size = content.len() as u64;
    let event = |kind, tool: &str, original_size, truncated_size| TruncationEvent {
        kind,
        tool_name: tool.to_owned(),
        original_size,
        truncated_size,
        output_path: None,
        error: None,
        timestamp: 1_771_860_645_000,
    };
    let truncated = TruncationEvent {
        output_path: output_path.clone(),
        ..event(TruncationEventType::Truncated, "bash", size, shown.content().len() as u64)
    };
    let error = TruncationEvent {
        error: events.lock().unwrap().last().and_then(|event: &TruncationEvent| event.error.clone()),
        ..event(TruncationEventType::Error, "bash", size, unsaved.content().len() as u64)
    };
    assert_eq!(error.error.as_deref(), Some("no space (cannot write the output)"));
    assert_eq!(
        *events.lock().unwrap(),
        [
            truncated,
            event(TruncationEventType::Skipped, "grep", 5, 5),
            event(TruncationEventType::Skipped, "read", size, size),
            error
        ]
    );
}

struct Full;

impl TruncationStorage for Full {
    fn save(&self, _content: &str, _context: &TruncationContext) -> io::Result<String> {
        Err(io::Error::other("no space"))
    }
}

/// The document returns the whole text when saving fails; here it stays bounded, and the hint says why.
#[test]
fn s4_1_saving_fails() {
    let config = TruncationServiceConfig {
        global: max_lines(10),
        storage: Some(Arc::new(Full)),
        ..TruncationServiceConfig::default()
    };
    let result = service(config).output(&lines(50), &TruncationContext::tool("other"));
    let TruncationResult::Truncated { content, output_path, .. } = result else { panic!() };
    assert_eq!(output_path, None);
    assert!(
        content.contains("The full output could not be saved") && content.contains("no space"),
        "{content}"
    );
}

/// §5.2: the loop of the document, written from its text.
fn documented(content: &str, config: &TruncationConfig) -> Truncated {
    let all: Vec<&str> = content.split('\n').collect();
    let (mut kept, mut bytes, mut hit_bytes) = (Vec::new(), 0, false);
    let order: Vec<&&str> = match config.direction {
        TruncationDirection::Head => all.iter().collect(),
        TruncationDirection::Tail => all.iter().rev().collect(),
    };
    for line in order {
        if kept.len() as u64 >= config.max_lines {
            break;
        }
        let cost = line.len() as u64 + u64::from(!kept.is_empty());
        if bytes + cost > config.max_bytes {
            hit_bytes = true;
            break;
        }
        kept.push(*line);
        bytes += cost;
    }
    let kept_lines = kept.len();
    if config.direction == TruncationDirection::Tail {
        kept.reverse();
    }
    let in_bytes = hit_bytes || content.len() as u64 > config.max_bytes;
    Truncated {
        content: kept.join("\n"),
        removed_lines: (!in_bytes).then_some((all.len() - kept_lines) as u64),
        removed_bytes: in_bytes.then_some(content.len() as u64 - bytes),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Differences: where the document would show nothing, or only an empty line, part of a line or one more is shown.
    #[test]
    fn s5_2_agrees_with_the_loop_of_the_document(
        content in "([a-z漢é ]{0,12}\n?){0,40}",
        most_lines in 1..30_u64,
        most_bytes in 1..200_u64,
        is_tail in any::<bool>(),
    ) {
        let direction = if is_tail { TruncationDirection::Tail } else { TruncationDirection::Head };
        let config = TruncationConfig { max_lines: most_lines, max_bytes: most_bytes, direction, ..DEFAULT_TRUNCATION_CONFIG };
        let strategy = DefaultTruncationStrategy;
        let needs = count_lines(&content) > most_lines || count_bytes(&content) > most_bytes;
        prop_assert_eq!(strategy.needs_truncation(&content, &config), needs);
        let expected = documented(&content, &config);
        if needs && !expected.content.trim().is_empty() {
            prop_assert_eq!(strategy.truncate(&content, &config), expected);
        }
    }
}

#[test]
fn s6_1_file_names_reading_and_cleaning() {
    let directory = tempfile::tempdir().unwrap();
    let storage = FileStorage::new(Some(directory.path().join("data")), noon);
    let path = storage.save("all of it", &TruncationContext::tool("web/fetch")).unwrap();
    let name = Path::new(&path).file_name().unwrap().to_str().unwrap();
    let random =
        name.strip_prefix("web_fetch_1771860645000_").and_then(|rest| rest.strip_suffix(".txt")).unwrap();
    assert!(
        random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    );
    assert_eq!(storage.read(&path).unwrap(), "all of it");
    assert_eq!(storage.storage_dir(), Some(directory.path().join("data").as_path()));
    assert_eq!(storage.cleanup(7).unwrap(), 0);
    assert_eq!(storage.cleanup(0).unwrap(), 0, "0 days: no limit by age");
    let later = || noon() + std::time::Duration::from_secs(8 * 24 * 60 * 60);
    let storage = FileStorage::new(Some(directory.path().join("data")), later);
    assert_eq!(storage.cleanup(7).unwrap(), 1);
    assert!(!Path::new(&path).exists());
}

/// §4.1: `cleanup` applies the retention of the service.
#[test]
fn s4_1_cleanup_removes_outputs_after_the_retention_of_the_service() {
    let directory = tempfile::tempdir().unwrap();
    let config =
        || in_directory(directory.path(), PartialConfig { retention_days: Some(3), ..max_lines(10) });
    let result = service(config()).output(&lines(100), &TruncationContext::tool("bash"));
    let TruncationResult::Truncated { output_path: Some(path), .. } = result else { panic!("{result:?}") };
    assert_eq!(service(config()).cleanup().unwrap(), 0);
    let four_days_later = || noon() + std::time::Duration::from_secs(4 * 24 * 60 * 60);
    let service = TruncationService::new(config(), four_days_later).unwrap();
    assert_eq!(service.cleanup().unwrap(), 1);
    assert!(!Path::new(&path).exists());
}

/// §12.1: one event for each decision of the middleware, also for the results that it leaves as they are.
#[test]
fn s12_1_results_that_the_middleware_skips_emit_one_event() {
    let directory = tempfile::tempdir().unwrap();
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let on_event: TruncationEventCallback =
        Arc::new(move |event| log.lock().unwrap().push((event.kind, event.tool_name, event.original_size)));
    let config = in_directory(directory.path(), max_lines(10));
    let service = service(TruncationServiceConfig { on_event: Some(on_event), ..config });
    let middleware =
        truncation_middleware(&service, ["web_fetch"], |call| match call.context.tool.as_deref() {
            Some("exempt") => ShouldTruncate::No,
            _ => ShouldTruncate::Yes,
        });
    let content = lines(50);
    let size = content.len() as u64;
    let marked = json!({"success": true, "output": content, "metadata": {"truncated": true}});
    for (tool, result) in [
        ("web_fetch", json!({"success": true, "output": content})),
        ("exempt", json!({"success": true, "output": content})),
        ("marked", marked),
        ("small", json!({"success": true, "output": "x"})),
        ("large", json!({"success": true, "output": content})),
    ] {
        let context = Context::tool(tool);
        middleware.bound_json(&result.to_string(), ShapeChoice::Auto, &context).unwrap();
        let output = ToolOutput {
            metadata: result["metadata"].as_object().cloned().unwrap_or_default(),
            ..ToolOutput::succeeded(result["output"].as_str().unwrap())
        };
        let _ = middleware.bound_output(output, &context, Rule::default());
        let kind =
            if tool == "large" { TruncationEventType::Truncated } else { TruncationEventType::Skipped };
        let expected = (kind, tool.to_owned(), if tool == "small" { 1 } else { size });
        assert_eq!(std::mem::take(&mut *events.lock().unwrap()), [expected.clone(), expected]);
    }
}

/// A storage of text does not seem to keep bytes that it cannot keep.
#[test]
fn s7_1_output_that_is_not_text_is_not_saved_as_text() {
    struct Memory;
    impl TruncationStorage for Memory {
        fn save(&self, _content: &str, _context: &TruncationContext) -> io::Result<String> {
            Ok("memory".to_owned())
        }
    }
    let config = TruncationServiceConfig {
        global: max_lines(10),
        storage: Some(Arc::new(Memory)),
        ..TruncationServiceConfig::default()
    };
    let middleware = truncation_middleware(&service(config), ["web_fetch"], |_| ShouldTruncate::Yes);
    let output = ToolOutput::succeeded(b"caf\xe9\n".repeat(50));
    let (bounded, _) = middleware.bound_output(output, &Context::tool("other"), Rule::default());
    assert!(String::from_utf8_lossy(&bounded.output).contains("could not be saved"), "{bounded:?}");
}

/// §12.1: a storage of the caller's own.
#[test]
fn s12_1_custom_storage() {
    #[derive(Default)]
    struct S3(Mutex<Vec<(String, TruncationContext)>>);
    impl TruncationStorage for S3 {
        fn save(&self, content: &str, context: &TruncationContext) -> io::Result<String> {
            self.0.lock().unwrap().push((content.to_owned(), context.clone()));
            Ok("s3://bucket/1".to_owned())
        }
    }
    let storage = Arc::new(S3::default());
    let config = TruncationServiceConfig {
        global: max_lines(10),
        storage: Some(Arc::clone(&storage) as Arc<dyn TruncationStorage>),
        ..TruncationServiceConfig::default()
    };
    let context = TruncationContext { message_id: Some("m1".to_owned()), ..TruncationContext::tool("other") };
    let options = TruncationOptions { max_lines: Some(7), ..TruncationOptions::default() };
    let with_options = TruncationContext { options, ..context.clone() };
    let service = service(config);
    for context in [&context, &with_options] {
        let result = service.output(&lines(50), context);
        assert!(result.content().contains("Full output saved to: s3://bucket/1\n"), "{}", result.content());
    }
    assert_eq!(*storage.0.lock().unwrap(), [(lines(50), context), (lines(50), with_options)]);
}

/// §12.2: the strategy that the document shows, as it is written there.
#[test]
fn s12_2_json_aware_strategy() {
    struct JsonAwareStrategy;
    impl TruncationStrategy for JsonAwareStrategy {
        fn name(&self) -> &str {
            "json-aware"
        }
        fn needs_truncation(&self, content: &str, config: &TruncationConfig) -> bool {
            match serde_json::from_str(content) {
                Ok(serde_json::Value::Array(items)) => items.len() as u64 > config.max_lines,
                _ => DefaultTruncationStrategy.needs_truncation(content, config),
            }
        }
        fn truncate(&self, content: &str, config: &TruncationConfig) -> Truncated {
            match serde_json::from_str(content) {
                Ok(serde_json::Value::Array(items)) => {
                    let kept = &items[..items.len().min(config.max_lines as usize)];
                    Truncated {
                        content: serde_json::to_string_pretty(kept).unwrap(),
                        removed_lines: Some((items.len() - kept.len()) as u64),
                        removed_bytes: None,
                    }
                }
                _ => DefaultTruncationStrategy.truncate(content, config),
            }
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let config = TruncationServiceConfig {
        strategy: Some(Arc::new(JsonAwareStrategy)),
        ..in_directory(directory.path(), max_lines(3))
    };
    let service = service(config);
    let context = TruncationContext::tool("other");
    // 5 items in one line: the default strategy would not cut it.
    let result = service.output(r#"[{"a":1},{"a":2},{"a":3},{"a":4},{"a":5}]"#, &context);
    let TruncationResult::Truncated { content, removed_lines, removed_bytes, .. } = result else { panic!() };
    let kept = "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n  },\n  {\n    \"a\": 3\n  }\n]";
    assert!(content.starts_with(&format!("{kept}\n\n...2 lines truncated...\n\nThe tool call")), "{content}");
    assert_eq!((removed_lines, removed_bytes), (Some(2), None));
    // 3 items in many lines: the default strategy would cut it.
    let spread = "[\n1,\n2,\n\n\n\n3\n]";
    assert_eq!(service.output(spread, &context), TruncationResult::Whole { content: spread.to_owned() });
    let middleware = truncation_middleware(&service, ["web_fetch"], |_| ShouldTruncate::Yes);
    let output = ToolOutput::succeeded(spread);
    let (bounded, _) = middleware.bound_output(output, &Context::tool("other"), Rule::default());
    assert_eq!(String::from_utf8_lossy(&bounded.output), spread, "the middleware asks the strategy, too");
    // Not JSON: the default.
    assert!(
        service.output(&lines(4), &context).content().starts_with("line 1\nline 2\nline 3\n\n...1 lines")
    );
}

/// A strategy made of two functions.
struct Custom {
    needs: fn() -> bool,
    truncate: fn(&TruncationConfig) -> Truncated,
}

impl TruncationStrategy for Custom {
    fn name(&self) -> &str {
        "custom"
    }
    fn needs_truncation(&self, _: &str, _: &TruncationConfig) -> bool {
        (self.needs)()
    }
    fn truncate(&self, _: &str, config: &TruncationConfig) -> Truncated {
        (self.truncate)(config)
    }
}

fn with_strategy(directory: &Path, custom: Custom) -> TruncationService {
    let strategy: Option<Arc<dyn TruncationStrategy>> = Some(Arc::new(custom));
    service(TruncationServiceConfig { strategy, ..in_directory(directory, max_lines(4)) })
}

/// A strategy that shows nothing or panics does not leave the caller without an output: the default takes over.
#[test]
fn s3_1_strategy_that_fails_is_replaced_by_the_default() {
    let directory = tempfile::tempdir().unwrap();
    let nothing = Custom { needs: || true, truncate: |_| Truncated::default() };
    let panics = Custom { needs: || true, truncate: |_| panic!("a mistake") };
    let panics_at_once = Custom { needs: || panic!("a mistake"), truncate: |_| panic!("a mistake") };
    for custom in [nothing, panics, panics_at_once] {
        let service = with_strategy(directory.path(), custom);
        let TruncationResult::Truncated { content, output_path, removed_lines, .. } =
            service.output(&lines(50), &TruncationContext::tool("other"))
        else {
            panic!("not truncated");
        };
        assert!(content.starts_with(&format!("{}\n\n...46 lines truncated...\n\n", lines(4))), "{content}");
        assert_eq!(removed_lines, Some(46));
        assert_eq!(std::fs::read_to_string(output_path.unwrap()).unwrap(), lines(50));
        let bash = service.output(&lines(50), &TruncationContext::tool("bash"));
        assert!(bash.content().ends_with("\n\nline 47\nline 48\nline 49\nline 50"), "{}", bash.content());
    }
}

/// §4.1: `removedBytes || removedLines || 0`.
#[test]
fn s4_1_strategy_that_does_not_count_has_removed_0_lines() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = |_: &TruncationConfig| Truncated { content: lines(60), ..Truncated::default() };
    let longer = with_strategy(directory.path(), Custom { needs: || true, truncate });
    let result = longer.output(&lines(50), &TruncationContext::tool("other"));
    assert!(
        result.content().starts_with(&format!("{}\n\n...0 lines truncated...\n\n", lines(60))),
        "{}",
        result.content()
    );
}

#[test]
fn s4_1_strategy_sees_the_days_of_an_update() {
    let directory = tempfile::tempdir().unwrap();
    let truncate = |config: &TruncationConfig| Truncated {
        content: format!("{} days", config.retention_days),
        ..Truncated::default()
    };
    let mut service = with_strategy(directory.path(), Custom { needs: || true, truncate });
    let output = |service: &TruncationService| {
        service.output(&lines(50), &TruncationContext::tool("other")).content().to_owned()
    };
    assert!(output(&service).starts_with("7 days\n"));
    let config = PartialConfig { retention_days: Some(30), ..PartialConfig::default() };
    service.update_config(&config).unwrap();
    assert!(output(&service).starts_with("30 days\n"));
}

/// §13.1: the document's own test cases.
#[test]
fn s13_1_unit_tests_of_the_document() {
    let directory = tempfile::tempdir().unwrap();
    let off = PartialConfig { enabled: Some(false), ..PartialConfig::default() };
    let test = TruncationContext::tool("test");
    assert!(!service(in_directory(directory.path(), off)).output(&lines(9000), &test).truncated());
    assert!(service(in_directory(directory.path(), max_lines(10))).output(&lines(100), &test).truncated());
    let mut config = in_directory(directory.path(), max_lines(100));
    config.tools.insert("bash".to_owned(), max_lines(10));
    assert!(service(config).output(&lines(50), &TruncationContext::tool("bash")).truncated());
}
