//! offcut for Python: values in and out; everything else is in `offcut-common`.
//!
//! The engine never calls Python, so the interpreter lock is released while it works.

mod input;
mod pipe;

use input::{Input, TextType};
use offcut_common::{
    Answer, Archive, BoundedResult, CallOptions, Context, Engine, Fault, OwnedSpool, Reported,
};
use pipe::Pipe;
use pyo3::create_exception;
use pyo3::exceptions::{PyLookupError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

create_exception!(offcut, StoreError, PyOSError, "The store failed.");
create_exception!(offcut, NotFound, PyLookupError, "No such stored output.");

/// Below this many bytes, releasing the interpreter lock costs more than the work.
const SMALL: usize = 16 << 10;

fn raise(fault: Fault) -> PyErr {
    match fault {
        Fault::Invalid(text) => PyValueError::new_err(text),
        Fault::NotFound(text) => NotFound::new_err(text),
        Fault::Store(text) => StoreError::new_err(text),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn call_options(call: Option<&str>) -> PyResult<Option<CallOptions>> {
    call.map(CallOptions::parse).transpose().map_err(raise)
}

fn saves<'py>(py: Python<'py>, save: &[Vec<u8>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, save.iter().map(|content| PyBytes::new(py, content)))
}

/// The content, the report, and what the caller's store has to save.
type Reply<'py> = (Option<Bound<'py, PyAny>>, Option<String>, Option<Bound<'py, PyList>>);

fn reply<'py>(py: Python<'py>, reported: &Reported<Answer>, text_type: TextType) -> PyResult<Reply<'py>> {
    match &reported.answer {
        Answer::Whole => Ok((None, reported.report.has_events().then(|| reported.report.json()), None)),
        Answer::Cut(preview) => {
            Ok((Some(text_type.to_python(py, preview.content())?), Some(reported.report.json()), None))
        }
        Answer::Ask(request) => Ok((None, Some(reported.report.json()), Some(saves(py, &request.save)?))),
    }
}

#[pyclass(name = "Engine", frozen, module = "offcut._native")]
struct PyEngine(Arc<Engine>);

#[pymethods]
impl PyEngine {
    #[new]
    fn new(options: &str) -> PyResult<PyEngine> {
        Engine::new(options).map(|engine| PyEngine(Arc::new(engine))).map_err(raise)
    }

    #[getter]
    fn profile(&self) -> &str {
        self.0.profile()
    }

    /// No content for an output that fits.
    #[expect(clippy::too_many_arguments, reason = "as Python passes them")]
    #[pyo3(signature = (text, tool=None, call_id=None, session=None, message_id=None, call=None))]
    fn cut<'py>(
        &self,
        py: Python<'py>,
        text: Input<'py>,
        tool: Option<String>,
        call_id: Option<String>,
        session: Option<String>,
        message_id: Option<String>,
        call: Option<&str>,
    ) -> PyResult<Reply<'py>> {
        let context = Context { tool, call_id, message_id, session, ..Context::default() };
        let call = call_options(call)?;
        let bytes = text.bytes();
        let reported = match bytes.len() {
            ..SMALL => self.0.cut(bytes, &context, call.as_ref()),
            _ => py.detach(|| self.0.cut(bytes, &context, call.as_ref())),
        };
        reply(py, &reported.map_err(raise)?, text.text_type())
    }

    /// The JSON if it changed, the report on each result, the report on the call, and what the caller's store has to save.
    #[pyo3(signature = (json, tool=None, call_id=None, session=None, message_id=None, call="{}"))]
    #[expect(
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "as Python passes them; a tuple in Python"
    )]
    fn result<'py>(
        &self,
        py: Python<'py>,
        json: &str,
        tool: Option<String>,
        call_id: Option<String>,
        session: Option<String>,
        message_id: Option<String>,
        call: &str,
    ) -> PyResult<(Option<String>, String, String, Option<Bound<'py, PyList>>)> {
        let context = Context { tool, call_id, message_id, session, ..Context::default() };
        let call = CallOptions::parse(call).map_err(raise)?;
        let (reported, results) = py.detach(|| self.0.result(json, &context, &call)).map_err(raise)?;
        let report = reported.report.json();
        match reported.answer {
            BoundedResult::Same => Ok((None, results, report, None)),
            BoundedResult::Changed(json) => Ok((Some(json), results, report, None)),
            BoundedResult::Ask(request) => Ok((None, results, report, Some(saves(py, &request.save)?))),
        }
    }

    /// The JSON if it changed, the report on the call, and what the caller's store has to save.
    #[expect(clippy::too_many_arguments, reason = "as Python passes them")]
    #[pyo3(signature = (json, schema, tool=None, call_id=None, session=None, message_id=None, call="{}"))]
    fn value<'py>(
        &self,
        py: Python<'py>,
        json: &str,
        schema: Option<&str>,
        tool: Option<String>,
        call_id: Option<String>,
        session: Option<String>,
        message_id: Option<String>,
        call: &str,
    ) -> PyResult<(Option<String>, String, Option<Bound<'py, PyList>>)> {
        let context = Context { tool, call_id, message_id, session, ..Context::default() };
        let call = CallOptions::parse(call).map_err(raise)?;
        let reported = py.detach(|| self.0.value(json, schema, &context, &call)).map_err(raise)?;
        let report = reported.report.json();
        match reported.answer {
            BoundedResult::Same => Ok((None, report, None)),
            BoundedResult::Changed(json) => Ok((Some(json), report, None)),
            BoundedResult::Ask(request) => Ok((None, report, Some(saves(py, &request.save)?))),
        }
    }

    fn cleanup(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.0.cleanup()).map_err(raise)
    }

    #[pyo3(signature = (tool=None, call_id=None, session=None, message_id=None, call=None))]
    fn spool(
        &self,
        tool: Option<String>,
        call_id: Option<String>,
        session: Option<String>,
        message_id: Option<String>,
        call: Option<&str>,
    ) -> PyResult<PySpool> {
        let context = Context { tool, call_id, message_id, session, ..Context::default() };
        let spool = OwnedSpool::new(&self.0, context, call_options(call)?.as_ref()).map_err(raise)?;
        Ok(PySpool {
            process: std::process::id(),
            spool: Arc::new(Mutex::new(spool)),
            pipe: Mutex::new(None),
        })
    }
}

#[pyclass(name = "Spool", frozen, module = "offcut._native")]
struct PySpool {
    /// The process that created it. After a fork, the threads that it needs exist only there.
    process: u32,
    spool: Arc<Mutex<OwnedSpool>>,
    /// What a process writes into, after `fileno` was called.
    pipe: Mutex<Option<Pipe>>,
}

impl PySpool {
    fn is_inherited(&self) -> bool {
        std::process::id() != self.process
    }

    /// Refuses a forked process: it has a copy of the spool, and both would write into one entry of the store.
    fn refuse_inherited(&self) -> PyResult<()> {
        match self.is_inherited() {
            true => Err(PyValueError::new_err(
                "only the process that opened the spool can use it; after a fork, write to its fileno()",
            )),
            false => Ok(()),
        }
    }
}

impl Drop for PySpool {
    fn drop(&mut self) {
        if self.is_inherited() {
            // The output belongs to the other process: dropping it here would end its entry in the store.
            std::mem::forget(Arc::clone(&self.spool));
        }
    }
}

#[pymethods]
impl PySpool {
    fn write(&self, py: Python<'_>, chunk: Input<'_>) -> PyResult<usize> {
        self.refuse_inherited()?;
        let bytes = chunk.bytes();
        py.detach(|| lock(&self.spool).observe(bytes));
        Ok(chunk.length())
    }

    /// The file descriptor that a process can write into.
    fn fileno(&self) -> PyResult<i32> {
        let mut pipe = lock(&self.pipe);
        let pipe = match &mut *pipe {
            Some(pipe) => pipe,
            none => {
                self.refuse_inherited()?;
                none.insert(Pipe::into(&self.spool)?)
            }
        };
        pipe.number().ok_or_else(|| PyValueError::new_err("I/O operation on closed file"))
    }

    /// Closes this end of the pipe.
    fn close(&self) {
        let _ = lock(&self.pipe).as_mut().map(Pipe::close);
    }

    /// Waits until every process that writes into the pipe has closed it, the timeout expires, or a signal handler raises.
    #[pyo3(signature = (timeout=None))]
    fn drain(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let deadline = timeout.map(deadline).transpose()?;
        // No lock is held while the interpreter lock is released: the thread that takes that one may need this one.
        let Some(rest) = lock(&self.pipe).as_mut().map(Pipe::close) else { return Ok(()) };
        if self.is_inherited() {
            return Ok(());
        }
        while !py.detach(|| rest.has_ended()) {
            py.check_signals()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
        }
        Ok(())
    }

    #[pyo3(signature = (exit_code=None, remark="", call=None))]
    #[expect(clippy::type_complexity, reason = "a tuple in Python")]
    fn finish<'py>(
        &self,
        py: Python<'py>,
        exit_code: Option<i32>,
        remark: &str,
        call: Option<&str>,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<String>, Option<Bound<'py, PyList>>)> {
        self.refuse_inherited()?;
        let call = call_options(call)?;
        let ending =
            offcut::CommandEnd { exit_code, status: remark.to_owned(), ..offcut::CommandEnd::default() };
        let (reported, whole) =
            py.detach(|| lock(&self.spool).finish(ending, call.as_ref())).map_err(raise)?;
        let report = Some(reported.report.json());
        match reported.answer {
            Answer::Whole => {
                let report = reported.report.has_events().then_some(report).flatten();
                Ok((PyBytes::new(py, &whole.unwrap_or_default()), report, None))
            }
            Answer::Cut(preview) => Ok((PyBytes::new(py, preview.content()), report, None)),
            Answer::Ask(request) => Ok((PyBytes::new(py, b""), report, Some(saves(py, &request.save)?))),
        }
    }
}

fn deadline(seconds: f64) -> PyResult<Instant> {
    let wait = Duration::try_from_secs_f64(seconds).ok();
    wait.and_then(|wait| Instant::now().checked_add(wait))
        .ok_or_else(|| PyValueError::new_err(format!("{seconds} is not a number of seconds")))
}

#[pyclass(name = "Archive", frozen, module = "offcut._native")]
struct PyArchive(Archive);

#[pymethods]
impl PyArchive {
    #[new]
    #[pyo3(signature = (directory=None))]
    fn new(directory: Option<&str>) -> PyResult<PyArchive> {
        Archive::new(directory).map(PyArchive).map_err(raise)
    }

    #[getter]
    fn directory(&self) -> &str {
        self.0.directory()
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        reference: &str,
        options: &str,
    ) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let (content, report) = py.detach(|| self.0.read(reference, options)).map_err(raise)?;
        Ok((PyBytes::new(py, &content), report))
    }

    fn cat<'py>(&self, py: Python<'py>, reference: &str) -> PyResult<Bound<'py, PyBytes>> {
        let content = py.detach(|| self.0.cat(reference)).map_err(raise)?;
        Ok(PyBytes::new(py, &content))
    }

    fn grep(&self, py: Python<'_>, reference: &str, options: &str) -> PyResult<String> {
        py.detach(|| self.0.grep(reference, options)).map_err(raise)
    }

    fn list(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.0.list()).map_err(raise)
    }

    fn get(&self, py: Python<'_>, reference: &str) -> PyResult<String> {
        py.detach(|| self.0.get(reference)).map_err(raise)
    }

    fn pin(&self, py: Python<'_>, reference: &str) -> PyResult<()> {
        py.detach(|| self.0.pin(reference, offcut::store::Pin::Pinned)).map_err(raise)
    }

    fn unpin(&self, py: Python<'_>, reference: &str) -> PyResult<()> {
        py.detach(|| self.0.pin(reference, offcut::store::Pin::Loose)).map_err(raise)
    }

    fn remove(&self, py: Python<'_>, reference: &str) -> PyResult<()> {
        py.detach(|| self.0.remove(reference)).map_err(raise)
    }

    #[pyo3(signature = (days, profile=None))]
    fn clean(&self, py: Python<'_>, days: f64, profile: Option<&str>) -> PyResult<u64> {
        py.detach(|| self.0.clean(days, profile)).map_err(raise)
    }
}

/// A summary of a truncated result for a terminal, by the lengths that Klaude records.
#[pyfunction]
fn truncation_panel(saved_file_path: &str, original_length: u64, truncated_length: u64) -> String {
    offcut::results::truncation_panel(saved_file_path, original_length, truncated_length)
}

/// The settings in the variables of the unified document (seed 002 §9): options of a truncator and `dir`, as JSON.
#[pyfunction]
fn unified_variables(variables: BTreeMap<String, String>) -> PyResult<String> {
    offcut_common::unified_variables(variables).map_err(raise)
}

/// The native part of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("StoreError", module.py().get_type::<StoreError>())?;
    module.add("NotFound", module.py().get_type::<NotFound>())?;
    module.add_class::<PyEngine>()?;
    module.add_class::<PySpool>()?;
    module.add_class::<PyArchive>()?;
    module.add_function(wrap_pyfunction!(truncation_panel, module)?)?;
    module.add_function(wrap_pyfunction!(unified_variables, module)?)
}
