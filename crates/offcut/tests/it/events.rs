//! Tests of events: every step emits one.

use crate::common::{Fault, Faulty, memory, noon};
use offcut::event::JsonLinesSink;
use offcut::limits::UNLIMITED;
use offcut::results::{Middleware, ShapeChoice};
use offcut::retrieve::{Page, PageLimits, Range, page};
use offcut::store::Store;
use offcut::{Context, Limits, Profile, Rule, Storage, Truncator};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn emitted(store: Arc<dyn Store>, texts: &[&[u8]]) -> String {
    let log = Shared::default();
    let truncator = Truncator::new(Profile::native())
        .storage(Storage::To(store))
        .sink(JsonLinesSink::new(log.clone(), noon));
    for text in texts {
        let context =
            Context { tool: Some("bash".into()), call_id: Some("c\"1".into()), ..Context::default() };
        let _ = truncator.apply(text, &context);
    }
    String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn events_are_written_as_json_lines() {
    let large = b"x\n".repeat(20_000);
    let log = emitted(memory(), &[b"small", &large]);
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"event":"passed","timestamp":1771860645000,"tool":"bash","call_id":"c\"1","original_bytes":5,"content_bytes":5}"#
    );
    assert!(lines[1].starts_with(
        r#"{"event":"truncated","timestamp":1771860645000,"tool":"bash","call_id":"c\"1","id":""#
    ));
    for part in
        [r#""path":"offcut:"#, r#""original_bytes":40000,"content_bytes":"#, r#""limited_by":"lines""#]
    {
        assert!(lines[1].contains(part), "{}", lines[1]);
    }
    assert_eq!(lines.len(), 2);
}

#[test]
fn store_failure_emits_one_event() {
    let log = emitted(Faulty::new(Fault::Commit), &[&b"x\n".repeat(20_000)]);
    assert!(log.starts_with(r#"{"event":"error""#) && log.contains("No space left"), "{log}");
    assert!(log.contains(r#""original_bytes":40000,"content_bytes":"#) && log.lines().count() == 1, "{log}");
}

#[test]
fn exempt_outputs_emit_an_event_of_their_own() {
    let log = Shared::default();
    let truncator =
        Truncator::new(Profile::named("coding-agent").unwrap()).sink(JsonLinesSink::new(log.clone(), noon));
    let _ = truncator.apply(&b"x\n".repeat(20_000), &Context::tool("read"));
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert_eq!(
        log,
        "{\"event\":\"skipped\",\"timestamp\":1771860645000,\"tool\":\"read\",\"original_bytes\":40000,\"content_bytes\":40000}\n"
    );
}

/// Data is measured in its readable form, also if it passes or is skipped.
#[test]
fn passed_skipped_and_truncated_data_has_the_same_size() {
    let rows: Vec<_> = (0..1000).map(|row| serde_json::json!({"row": row})).collect();
    let data = serde_json::json!({"rows": rows});
    let json = serde_json::json!({"toolUseId": "t", "content": [{"json": data}]}).to_string();
    let readable = serde_json::to_string_pretty(&data).unwrap().len();
    let bounded = |arrange: fn(Middleware) -> Middleware, bytes: u64| {
        let log = Shared::default();
        let limits = Limits { bytes: Some(bytes), lines: Some(UNLIMITED), ..Limits::default() };
        let truncator = Truncator::new(Profile::native())
            .sink(JsonLinesSink::new(log.clone(), noon))
            .rule(Rule { limits, ..Rule::default() })
            .unwrap();
        let context = Context::tool("x");
        let _ = arrange(Middleware::new(truncator)).bound_json(&json, ShapeChoice::Auto, &context).unwrap();
        String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
    };
    for (event, log) in [
        ("passed", bounded(|middleware| middleware, 1_000_000)),
        ("skipped", bounded(|middleware| middleware.skip_tools(["x"]), 1_000_000)),
        ("truncated", bounded(|middleware| middleware, 9500)),
    ] {
        assert!(log.contains(&format!("\"event\":\"{event}\"")), "{log}");
        assert!(log.contains(&format!("\"original_bytes\":{readable},")), "{readable}: {log}");
    }
}

#[test]
fn retrieval_emits_an_event() {
    let store = memory();
    let _ = Truncator::new(Profile::native())
        .storage(Storage::To(store.clone()))
        .apply(&b"x\n".repeat(20_000), &Context::default());
    let entry = store.entry(&store.ids().unwrap()[0]).unwrap();
    let log = Shared::default();
    let sink = JsonLinesSink::new(log.clone(), noon);
    let range = Range::Lines { first: 3, last: Some(5) };
    let Page { content, .. } = page(&*store, &entry, range, PageLimits::default(), &sink).unwrap();
    assert_eq!(content, b"x\nx\nx\n");
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains(r#""event":"retrieved""#) && log.contains(r#""start":4,"end":10"#), "{log}");
}
