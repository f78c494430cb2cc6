//! Work on another thread, and what happens when it goes wrong.

use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Error, Result, Status, Task};
use offcut_common::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Doing<T> = Box<dyn FnOnce() -> std::result::Result<T, Fault> + Send>;

/// Something to do once.
pub struct Work<T>(Option<Doing<T>>);

impl<T: Send + ToNapiValue + 'static> Work<T> {
    pub(crate) fn task(
        doing: impl FnOnce() -> std::result::Result<T, Fault> + Send + 'static,
    ) -> AsyncTask<Work<T>>
    where
        Work<T>: Task,
    {
        AsyncTask::new(Work(Some(Box::new(doing))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let doing = self.0.take().ok_or_else(|| Error::from_reason("it has already been done"))?;
        guarded(doing)
    }

    fn resolve(&mut self, _env: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

/// Does something; a fault is an exception, and so is a panic, which must not reach the interpreter.
pub(crate) fn guarded<T>(doing: impl FnOnce() -> std::result::Result<T, Fault>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(doing)) {
        Ok(done) => done.map_err(|fault| match fault {
            Fault::Invalid(text) => Error::new(Status::InvalidArg, text),
            Fault::NotFound(text) | Fault::Store(text) => Error::new(Status::GenericFailure, text),
        }),
        Err(_) => Err(Error::from_reason("offcut broke down; this is a mistake in it")),
    }
}
