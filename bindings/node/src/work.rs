//! Work on another thread, and its errors.

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Error, Result, Status, Task};
use offcut_common::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Job<T> = Box<dyn FnOnce() -> std::result::Result<T, Fault> + Send>;

/// A task that runs once.
pub struct Work<T>(Option<Job<T>>);

impl<T: Send + ToNapiValue + 'static> Work<T> {
    pub(crate) fn task(
        job: impl FnOnce() -> std::result::Result<T, Fault> + Send + 'static,
    ) -> AsyncTask<Work<T>>
    where
        Work<T>: Task,
    {
        AsyncTask::new(Work(Some(Box::new(job))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let job = self.0.take().ok_or_else(|| Error::from_reason("the task has already run"))?;
        guarded(job)
    }

    fn resolve(&mut self, _env: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Runs a job. A fault becomes an exception, and so does a panic, which must not reach the interpreter.
pub(crate) fn guarded<T>(job: impl FnOnce() -> std::result::Result<T, Fault>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(job)) {
        Ok(result) => result.map_err(|fault| match fault {
            Fault::Invalid(text) => Error::new(Status::InvalidArg, text),
            Fault::NotFound(text) | Fault::Store(text) => Error::new(Status::GenericFailure, text),
        }),
        Err(_) => Err(Error::from_reason("offcut panicked; please report this bug")),
    }
}
