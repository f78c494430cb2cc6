//! offcut for Node: values in and out; everything else is in `offcut-common`.
//!
//! The engine never calls JavaScript, so the work of a promise runs on another thread.

pub mod coding_agent;
mod text;
mod work;

use napi::Result;
use napi::bindgen_prelude::{AsyncTask, Buffer, BufferSlice, ClassInstance, Either};
use napi_derive::napi;
use offcut_common::{
    Answer, Archive, BoundedResult, CallOptions, Context, Engine, Fault, OwnedSpool, Reported,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use text::{Chunk, TextType};
use work::{Work, guarded};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The call whose output is bounded.
#[napi(object)]
pub struct Call {
    pub tool: Option<String>,
    pub call_id: Option<String>,
    pub message_id: Option<String>,
    pub session: Option<String>,
    /// Options for this call, as JSON.
    pub options: Option<String>,
}

impl Call {
    fn parts(call: Option<Call>) -> std::result::Result<(Context, Option<CallOptions>), Fault> {
        let Some(Call { tool, call_id, message_id, session, options }) = call else {
            return Ok((Context::default(), None));
        };
        let options = options.as_deref().map(CallOptions::parse).transpose()?;
        Ok((Context { tool, call_id, message_id, session, ..Context::default() }, options))
    }
}

/// The answer to a cut. There is none for an output that fits without events to report.
#[napi(object)]
#[derive(Default)]
pub struct Reply {
    pub content: Option<Either<String, Buffer>>,
    /// The report, as JSON.
    pub report: Option<String>,
    /// What a custom store has to save.
    pub saves: Option<Vec<Buffer>>,
}

/// The answer to a bounded result.
#[napi(object)]
#[derive(Default)]
pub struct ResultReply {
    /// The JSON, if it changed.
    pub json: Option<String>,
    pub results: String,
    pub report: String,
    pub saves: Option<Vec<Buffer>>,
}

/// A page of an entry.
#[napi(object)]
pub struct PageReply {
    pub content: Buffer,
    pub report: String,
}

fn reply(reported: Reported<Answer>, text_type: TextType) -> Option<Reply> {
    let report = Some(reported.report.json());
    match reported.answer {
        Answer::Whole if !reported.report.has_events() => None,
        Answer::Whole => Some(Reply { report, ..Reply::default() }),
        Answer::Cut(preview) => {
            Some(Reply { content: Some(text_type.to_js(preview.into_content())), report, ..Reply::default() })
        }
        Answer::Ask(request) => {
            let saves = Some(request.save.into_iter().map(Buffer::from).collect());
            Some(Reply { report, saves, ..Reply::default() })
        }
    }
}

/// A long text that arrives in slices.
#[napi]
pub struct Text(Vec<u8>);

#[napi]
impl Text {
    #[napi(constructor)]
    pub fn new(capacity: u32) -> Text {
        Text(Vec::with_capacity(capacity as usize))
    }

    /// Appends the first `length` bytes.
    #[napi]
    pub fn push(&mut self, bytes: BufferSlice<'_>, length: u32) {
        self.0.extend_from_slice(Chunk::of(&bytes, Some(length)).bytes);
    }
}

/// A truncator.
#[napi(js_name = "Engine")]
pub struct NodeEngine(Arc<Engine>);

#[napi]
impl NodeEngine {
    #[napi(constructor)]
    pub fn new(options: String) -> Result<NodeEngine> {
        guarded(|| Engine::new(&options)).map(|engine| NodeEngine(Arc::new(engine)))
    }

    #[napi(getter)]
    pub fn profile(&self) -> &str {
        self.0.profile()
    }

    /// With a length, the first `length` bytes are text in UTF-8, and the answer is text too.
    #[napi]
    pub fn cut_sync(
        &self,
        output: BufferSlice<'_>,
        call: Option<Call>,
        length: Option<u32>,
    ) -> Result<Option<Reply>> {
        guarded(|| {
            let (context, options) = Call::parts(call)?;
            let Chunk { bytes, text_type } = Chunk::of(&output, length);
            Ok(reply(self.0.cut(bytes, &context, options.as_ref())?, text_type))
        })
    }

    #[napi(ts_return_type = "Promise<Reply | null>")]
    pub fn cut(
        &self,
        output: Either<Buffer, ClassInstance<'_, Text>>,
        call: Option<Call>,
    ) -> AsyncTask<Work<Option<Reply>>> {
        let engine = Arc::clone(&self.0);
        let (bytes, text_type) = match output {
            Either::A(bytes) => (Either::A(bytes), TextType::Bytes),
            Either::B(mut text) => (Either::B(std::mem::take(&mut text.0)), TextType::Text),
        };
        Work::task(move || {
            let (context, options) = Call::parts(call)?;
            let bytes: &[u8] = match &bytes {
                Either::A(bytes) => bytes,
                Either::B(bytes) => bytes,
            };
            Ok(reply(engine.cut(bytes, &context, options.as_ref())?, text_type))
        })
    }

    #[napi]
    pub fn result_sync(&self, json: String, call: Option<Call>) -> Result<ResultReply> {
        guarded(|| bounded(&self.0, &json, call))
    }

    #[napi(ts_return_type = "Promise<ResultReply>")]
    pub fn result(&self, json: String, call: Option<Call>) -> AsyncTask<Work<ResultReply>> {
        let engine = Arc::clone(&self.0);
        Work::task(move || bounded(&engine, &json, call))
    }

    /// Shortens data so that it still matches its JSON schema.
    #[napi(ts_return_type = "Promise<ResultReply>")]
    pub fn value(
        &self,
        json: String,
        schema: Option<String>,
        call: Option<Call>,
    ) -> AsyncTask<Work<ResultReply>> {
        let engine = Arc::clone(&self.0);
        Work::task(move || {
            let (context, options) = Call::parts(call)?;
            let reported = engine.value(&json, schema.as_deref(), &context, &options.unwrap_or_default())?;
            Ok(result_reply(reported, "[]".to_owned()))
        })
    }

    #[napi(ts_return_type = "Promise<number>")]
    pub fn cleanup(&self) -> AsyncTask<Work<f64>> {
        let engine = Arc::clone(&self.0);
        Work::task(move || Ok(engine.cleanup()? as f64))
    }

    #[napi]
    pub fn spool(&self, call: Option<Call>) -> Result<Spool> {
        guarded(|| {
            let (context, options) = Call::parts(call)?;
            let spool = OwnedSpool::new(&self.0, context, options.as_ref())?;
            Ok(Spool(Arc::new(Mutex::new(spool))))
        })
    }
}

fn bounded(engine: &Engine, json: &str, call: Option<Call>) -> std::result::Result<ResultReply, Fault> {
    let (context, options) = Call::parts(call)?;
    let (reported, results) = engine.result(json, &context, &options.unwrap_or_default())?;
    Ok(result_reply(reported, results))
}

fn result_reply(reported: Reported<BoundedResult>, results: String) -> ResultReply {
    let report = reported.report.json();
    let same = ResultReply { results, report, ..ResultReply::default() };
    match reported.answer {
        BoundedResult::Same => same,
        BoundedResult::Changed(json) => ResultReply { json: Some(json), ..same },
        BoundedResult::Ask(request) => {
            ResultReply { saves: Some(request.save.into_iter().map(Buffer::from).collect()), ..same }
        }
    }
}

/// An output that arrives in chunks.
#[napi]
pub struct Spool(Arc<Mutex<OwnedSpool>>);

/// How an output ended, and what the answer contains.
#[napi(object)]
pub struct Finish {
    pub exit_code: Option<i32>,
    pub remark: Option<String>,
    /// Options for this call, as JSON.
    pub options: Option<String>,
    /// Return the content also of an output that fits.
    pub whole: Option<bool>,
    /// Return the content as text.
    pub text: Option<bool>,
}

#[napi]
impl Spool {
    /// Writes a chunk, or its first `length` bytes.
    #[napi]
    pub fn write(&self, chunk: BufferSlice<'_>, length: Option<u32>) -> Result<()> {
        guarded(|| {
            lock(&self.0).observe(Chunk::of(&chunk, length).bytes);
            Ok(())
        })
    }

    #[napi]
    pub fn finish_sync(&self, finish: Finish) -> Result<Option<Reply>> {
        guarded(|| finished(&self.0, finish))
    }

    #[napi(ts_return_type = "Promise<Reply | null>")]
    pub fn finish(&self, finish: Finish) -> AsyncTask<Work<Option<Reply>>> {
        let spool = Arc::clone(&self.0);
        Work::task(move || finished(&spool, finish))
    }
}

fn finished(spool: &Mutex<OwnedSpool>, finish: Finish) -> std::result::Result<Option<Reply>, Fault> {
    let options = finish.options.as_deref().map(CallOptions::parse).transpose()?;
    let text_type = if finish.text == Some(true) { TextType::Text } else { TextType::Bytes };
    let ending = offcut::CommandEnd {
        exit_code: finish.exit_code,
        status: finish.remark.unwrap_or_default(),
        ..offcut::CommandEnd::default()
    };
    let (reported, whole) = lock(spool).finish(ending, options.as_ref())?;
    let whole = whole.filter(|_| finish.whole == Some(true)).map(|whole| text_type.to_js(whole));
    match (reply(reported, text_type), whole) {
        (None, None) => Ok(None),
        (reply, None) => Ok(reply),
        (reply, content) => Ok(Some(Reply { content, ..reply.unwrap_or_default() })),
    }
}

/// The outputs in a directory.
#[napi(js_name = "Archive")]
pub struct NodeArchive(Arc<Archive>);

#[napi]
impl NodeArchive {
    #[napi(constructor)]
    pub fn new(directory: Option<String>) -> Result<NodeArchive> {
        guarded(|| Archive::new(directory.as_deref())).map(|archive| NodeArchive(Arc::new(archive)))
    }

    #[napi(getter)]
    pub fn directory(&self) -> &str {
        self.0.directory()
    }

    #[napi(ts_return_type = "Promise<PageReply>")]
    pub fn read(&self, reference: String, options: String) -> AsyncTask<Work<PageReply>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || {
            let (content, report) = archive.read(&reference, &options)?;
            Ok(PageReply { content: content.into(), report })
        })
    }

    #[napi(ts_return_type = "Promise<Buffer>")]
    pub fn cat(&self, reference: String) -> AsyncTask<Work<Buffer>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || Ok(archive.cat(&reference)?.into()))
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn grep(&self, reference: String, options: String) -> AsyncTask<Work<String>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || archive.grep(&reference, &options))
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn list(&self) -> AsyncTask<Work<String>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || archive.list())
    }

    #[napi(ts_return_type = "Promise<string>")]
    pub fn get(&self, reference: String) -> AsyncTask<Work<String>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || archive.get(&reference))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn pin(&self, reference: String, pinned: bool) -> AsyncTask<Work<()>> {
        let archive = Arc::clone(&self.0);
        let pin = if pinned { offcut::store::Pin::Pinned } else { offcut::store::Pin::Loose };
        Work::task(move || archive.pin(&reference, pin))
    }

    /// Saves an output as the storage of the coding agent's document does, and returns its path.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn save(&self, content: String, call: Option<Call>) -> AsyncTask<Work<String>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || archive.save(&content, Call::parts(call)?.0))
    }

    #[napi(ts_return_type = "Promise<void>")]
    pub fn remove(&self, reference: String) -> AsyncTask<Work<()>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || archive.remove(&reference))
    }

    #[napi(ts_return_type = "Promise<number>")]
    pub fn clean(&self, days: f64, profile: Option<String>) -> AsyncTask<Work<f64>> {
        let archive = Arc::clone(&self.0);
        Work::task(move || Ok(archive.clean(days, profile.as_deref())? as f64))
    }
}

/// Whether an OpenCode agent with these permission rules, as JSON, may start a sub-agent. Invalid rules allow nothing.
#[napi]
pub fn has_task_tool(permission: String) -> bool {
    offcut::permission::Permissions::parse(&permission).is_ok_and(|rules| rules.has_task_tool())
}

/// A summary of a truncated result for a terminal, by the lengths that Klaude records.
#[napi]
pub fn truncation_panel(saved_file_path: String, original_length: f64, truncated_length: f64) -> String {
    offcut::results::truncation_panel(&saved_file_path, original_length as u64, truncated_length as u64)
}

/// The version of offcut.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
