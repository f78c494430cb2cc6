//! A registry of tools with one middleware for their results.

use crate::common::{lines, memory, noon, read_all};
use offcut::results::registry::{ExecutedCall, Registry, Tool, ToolCall, ToolFuture};
use offcut::results::{Middleware, ResultOutcome, ToolOutput, ToolStatus};
use offcut::retrieve::ReadTool;
use offcut::store::{Entry, Id, MemoryStore, NewEntry, Pin, Store, StoreError, Writer};
use offcut::{Context, Profile, Rule, Saved, Storage, Truncator};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Prints its arguments on many lines, after a moment that depends on them.
struct Echo;

impl Tool for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn call<'a>(&'a self, arguments: &'a str) -> ToolFuture<'a> {
        Box::pin(async move {
            let number: u64 = arguments.parse().unwrap();
            tokio::time::sleep(Duration::from_millis(number * 7919 % 20)).await;
            ToolOutput::succeeded(text(number))
        })
    }
}

fn text(number: u64) -> String {
    (0..2000).map(|line| format!("call {number} line {line}\n")).collect()
}

struct Broken;

impl Tool for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn call<'a>(&'a self, _arguments: &'a str) -> ToolFuture<'a> {
        panic!("on purpose")
    }
}

struct Declared;

impl Tool for Declared {
    fn name(&self) -> &str {
        "declared"
    }

    fn call<'a>(&'a self, _arguments: &'a str) -> ToolFuture<'a> {
        Box::pin(async { ToolOutput::failed(text(1)) })
    }

    fn rule(&self) -> Rule {
        Rule { limits: lines(12), ..Rule::default() }
    }
}

fn calls(count: u64) -> Vec<ToolCall> {
    let call = |number: u64| ToolCall {
        id: format!("id-{number}"),
        name: "echo".to_owned(),
        arguments: number.to_string(),
    };
    (0..count).map(call).collect()
}

fn registry(store: Arc<dyn Store>) -> Registry {
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
    Registry::new(Middleware::new(truncator)).tool(Echo).tool(Broken).tool(Declared)
}

/// Checks that a result belongs to its call, is bounded, and is stored if it says so.
fn check(store: &dyn Store, number: u64, executed: &ExecutedCall) -> bool {
    assert_eq!(executed.call_id, format!("id-{number}"));
    let output = String::from_utf8(executed.result.output.clone()).unwrap();
    assert!(output.len() <= 9500);
    assert!(output.contains(&format!("\ncall {number} line 0\n")), "{output:.300}");
    let others = output.lines().filter(|line| line.starts_with("call "));
    assert!(others.into_iter().all(|line| line.starts_with(&format!("call {number} line"))));
    let ResultOutcome::Truncated(preview) = &executed.outcome else { panic!("not cut") };
    assert_eq!(executed.result.metadata["truncated"], true);
    match preview.saved() {
        Saved::Complete(entry) => {
            assert_eq!(read_all(store, &entry.id), text(number).as_bytes());
            assert_eq!(entry.context.call_id.as_deref(), Some(executed.call_id.as_str()));
            assert!(output.contains(entry.id.as_str()));
            true
        }
        Saved::Failed { .. } => {
            assert!(output.contains("not stored"), "{output:.300}");
            assert!(!output.contains("full output"), "{output:.300}");
            false
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_at_once() {
    let store = memory();
    let executed = registry(store.clone()).execute(&calls(1000), Some("s")).await;
    assert_eq!(executed.len(), 1000);
    for (number, executed) in (0..).zip(&executed) {
        assert!(check(&*store, number, executed));
    }
    assert_eq!(store.ids().unwrap().len(), 1000);
}

/// A store that calls a function before it creates an entry.
struct Gate<F>(MemoryStore, F);

impl<F: Fn() -> Result<(), StoreError> + Send + Sync> Store for Gate<F> {
    fn create(&self, draft: &NewEntry<'_>) -> Result<Box<dyn Writer>, StoreError> {
        self.1()?;
        self.0.create(draft)
    }
    fn ids(&self) -> Result<Vec<Id>, StoreError> {
        self.0.ids()
    }
    fn entry(&self, id: &Id) -> Result<Entry, StoreError> {
        self.0.entry(id)
    }
    fn read(&self, id: &Id, offset: u64, buffer: &mut [u8]) -> Result<usize, StoreError> {
        self.0.read(id, offset, buffer)
    }
    fn pin(&self, id: &Id, pin: Pin) -> Result<(), StoreError> {
        self.0.pin(id, pin)
    }
    fn remove(&self, id: &Id) -> Result<(), StoreError> {
        self.0.remove(id)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_for_half_of_them() {
    let count = AtomicU64::new(0);
    let every_other = move || match count.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => Ok(()),
        _ => Err(crate::common::full()),
    };
    let store = Arc::new(Gate(MemoryStore::new(noon), every_other));
    let executed = registry(store.clone()).execute(&calls(1000), None).await;
    let kept = (0..).zip(&executed).filter(|(number, executed)| check(&*store, *number, executed)).count();
    assert_eq!(kept, 500);
}

#[tokio::test]
async fn one_call_never_takes_the_others_with_it() {
    let call =
        |name: &str| ToolCall { id: name.to_owned(), name: name.to_owned(), arguments: "3".to_owned() };
    let executed = registry(memory())
        .execute(&[call("broken"), call("nobody"), call("echo"), call("declared")], None)
        .await;
    let said = |index: usize| String::from_utf8_lossy(&executed[index].result.output).into_owned();
    assert_eq!(said(0), "the tool \"broken\" panicked: on purpose");
    assert_eq!(said(1), "no tool \"nobody\"; available: broken, declared, echo");
    assert_eq!(executed[1].result.status, ToolStatus::Failed);
    assert!(matches!(executed[2].outcome, ResultOutcome::Truncated(_)));
    // A tool's own options take precedence over the profile, for a failure too.
    assert_eq!(executed[3].result.status, ToolStatus::Failed);
    assert!(said(3).lines().count() <= 12);
}

#[tokio::test]
async fn a_batch_shares_a_total() {
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(memory()));
    let registry = Registry::new(Middleware::new(truncator).total(12_000)).tool(Echo);
    let executed = registry.execute(&calls(6), None).await;
    let sizes: Vec<usize> = executed.iter().map(|executed| executed.result.output.len()).collect();
    assert!(sizes.iter().all(|&size| size <= 2000 && size > 200), "{sizes:?}");
}

/// The integration test of the coding agent's source document (seed 000 §13.2).
#[tokio::test]
async fn seed_000_section_13_2() {
    let profile = Profile::named("coding-agent").unwrap();
    let rule = Rule { limits: lines(10), ..Rule::default() };
    let truncator = Truncator::new(profile).storage(Storage::To(memory())).rule(rule).unwrap();
    let registry = Registry::new(Middleware::new(truncator)).tool(Echo);
    let results = registry.execute(&calls(1), None).await;
    assert!(String::from_utf8_lossy(&results[0].result.output).contains("truncated"));
    assert_eq!(results[0].result.metadata["truncated"], true);
}

#[tokio::test]
async fn a_layer_bounds_what_a_service_answers() {
    use offcut::results::layer::BoundLayer;
    use tower::{ServiceBuilder, ServiceExt};
    let middleware = Middleware::new(Truncator::new(Profile::native()).storage(Storage::To(memory())));
    let service = ServiceBuilder::new().layer(BoundLayer::new(middleware)).service(tower::service_fn(
        |lines: usize| async move { if lines == 7 { Err("seven") } else { Ok("a line\n".repeat(lines)) } },
    ));
    assert_eq!(service.clone().oneshot(2).await, Ok("a line\na line\n".to_owned()));
    assert_eq!(service.clone().oneshot(7).await, Err("seven"));
    let answer = service.oneshot(100_000).await.unwrap();
    assert!(answer.len() <= 9500 && answer.starts_with("[offcut: "));
}

/// A store that creates an entry only after a message, and fails without one.
fn waiting_store() -> (Arc<dyn Store>, Sender<()>) {
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let wait = move || {
        let message = receiver.lock().unwrap().recv_timeout(Duration::from_secs(20));
        message.map_err(|_| crate::common::full())
    };
    (Arc::new(Gate(MemoryStore::new(noon), wait)), sender)
}

#[tokio::test(flavor = "current_thread")]
async fn a_registry_does_not_block_other_tasks_while_it_stores() {
    for total in [None, Some(5000)] {
        let (store, sender) = waiting_store();
        let middleware = Middleware::new(Truncator::new(Profile::native()).storage(Storage::To(store)));
        let middleware = match total {
            Some(total) => middleware.total(total),
            None => middleware,
        };
        let registry = Registry::new(middleware).tool(Echo);
        let executing = tokio::spawn(async move { registry.execute(&calls(1), None).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        sender.send(()).unwrap();
        let ResultOutcome::Truncated(preview) = &executing.await.unwrap()[0].outcome else {
            panic!("not cut")
        };
        assert!(matches!(preview.saved(), Saved::Complete(_)), "{:?}", preview.saved());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_layer_does_not_block_other_tasks_while_it_stores() {
    use offcut::results::layer::BoundLayer;
    use tower::{ServiceBuilder, ServiceExt};
    let (store, sender) = waiting_store();
    let middleware = Middleware::new(Truncator::new(Profile::native()).storage(Storage::To(store)));
    let service = ServiceBuilder::new()
        .layer(BoundLayer::new(middleware))
        .service(tower::service_fn(|lines: usize| async move { Ok::<_, ()>("a line\n".repeat(lines)) }));
    let answering = tokio::spawn(service.oneshot(100_000));
    tokio::time::sleep(Duration::from_millis(50)).await;
    sender.send(()).unwrap();
    let answer = answering.await.unwrap().unwrap();
    assert!(answer.starts_with("[offcut: ") && !answer.contains("not stored"), "{answer:.300}");
}

#[tokio::test]
async fn a_store_that_panics_is_a_panic_of_the_caller() {
    let store = Arc::new(Gate(MemoryStore::new(noon), || panic!("on purpose")));
    let registry = registry(store);
    let executed = tokio::spawn(async move { registry.execute(&calls(1), None).await.len() }).await;
    assert!(executed.unwrap_err().is_panic());
}

#[test]
fn a_shared_spool_moves_to_another_thread_and_stores_everything() {
    let store = memory();
    let truncator = Arc::new(Truncator::new(Profile::native()).storage(Storage::To(store.clone())));
    let mut spool = truncator.into_spool(Context::tool("bash"));
    spool.observe(text(1).as_bytes());
    let outcome = std::thread::spawn(move || {
        spool.observe(text(2).as_bytes());
        spool.finish()
    });
    let outcome = outcome.join().unwrap();
    let entry = outcome.preview().unwrap().entry().unwrap();
    assert_eq!(read_all(&*store, &entry.id), [text(1), text(2)].concat().as_bytes());
}

#[tokio::test]
async fn a_page_of_the_read_tool_is_not_cut_again() {
    let store = memory();
    let tool = ReadTool::new("read_output", store.clone());
    let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone())).reach(tool.reach());
    let registry = Registry::new(Middleware::new(truncator)).tool(Echo).tool(tool);
    let _ = registry.execute(&calls(1), None).await;
    let arguments = r#"{"id": "last", "max_bytes": 100000}"#.to_owned();
    let call = ToolCall { id: "2".to_owned(), name: "read_output".to_owned(), arguments };
    let executed = registry.execute(&[call], None).await;
    assert_eq!(String::from_utf8_lossy(&executed[0].result.output), text(0));
    assert_eq!(executed[0].result.status, ToolStatus::Succeeded);
    assert_eq!(store.ids().unwrap().len(), 1);
}

/// Every profile reports a cut by the names of its own document.
#[test]
fn metadata_has_the_names_of_the_profile() {
    for (profile, names) in [
        ("native", &["truncated", "truncationPath", "truncationRemovedLines"][..]),
        ("coding-agent", &["truncated", "truncationPath", "truncationRemovedLines"]),
        ("opencode", &["outputPath", "truncated"]),
        ("takumi", &["outputPath", "truncated"]),
        ("unified", &["full_output_path", "truncated"]),
    ] {
        let rule = Rule { limits: lines(10), ..Rule::default() };
        let (middleware, _store, _directory) = crate::common::middleware(profile, rule);
        let output = ToolOutput::succeeded("x\n".repeat(100));
        let (bounded, _) = middleware.bound_output(output, &offcut::Context::tool("t"), Rule::default());
        assert_eq!(bounded.metadata.keys().collect::<Vec<_>>(), names, "{profile}");
    }
}

/// coding-agent (seed 000 §8.2): `setTruncationMiddleware` on a registry with tools; a call keeps its arguments.
#[tokio::test]
async fn middleware_can_be_replaced_and_calls_keep_their_arguments() {
    let of = |most| {
        let truncator =
            Truncator::new(Profile::named("coding-agent").unwrap()).storage(Storage::To(memory()));
        Middleware::new(truncator.rule(Rule { limits: lines(most), ..Rule::default() }).unwrap())
    };
    let mut registry = Registry::new(of(5000)).tool(Echo);
    let calls = [ToolCall { id: "1".to_owned(), name: "echo".to_owned(), arguments: "7".to_owned() }];
    let run = registry.execute(&calls, None).await.remove(0);
    assert!(matches!(run.outcome, ResultOutcome::Fits));
    assert_eq!(run.arguments, "7");
    registry.set_middleware(of(10));
    let run = registry.execute(&calls, None).await.remove(0);
    assert!(matches!(run.outcome, ResultOutcome::Truncated(_)));
}
