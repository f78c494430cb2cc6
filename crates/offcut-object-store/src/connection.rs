//! The client for a bucket, and a runtime of two threads for its requests. Both start with the first request.

use crate::access::Access;
use crate::errors::{Failure, explained, refused};
use crate::layout::Layout;
use crate::location::Location;
use crate::remote::Remote;
use object_store::Result as Answer;
use offcut::store::StoreError;
use std::future::Future;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

pub(crate) struct Connection {
    pub(crate) location: Location,
    pub(crate) layout: Layout,
    access: Access,
    create_mode_file: PathBuf,
    started: OnceLock<Result<Started, String>>,
}

struct Started {
    /// Taken only when the connection is dropped.
    runtime: Option<Runtime>,
    remote: Arc<Remote>,
}

/// A request in progress.
pub(crate) struct Pending<T>(Receiver<Answer<T>>);

impl Connection {
    pub(crate) fn new(location: Location, access: Access, create_mode_file: PathBuf) -> Connection {
        let layout = Layout::new(location.root());
        Connection { location, layout, access, create_mode_file, started: OnceLock::new() }
    }

    fn started(&self) -> Result<&Started, StoreError> {
        let start = || {
            let client = self.access.client(&self.location)?;
            let remote = Arc::new(Remote::new(client, self.layout.clone(), self.create_mode_file.clone()));
            let runtime = Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name("offcut-s3")
                .enable_all()
                .build()
                .map_err(|error| format!("cannot start threads for the network: {error}"))?;
            Ok(Started { runtime: Some(runtime), remote })
        };
        self.started.get_or_init(start).as_ref().map_err(|reason| refused(&self.location, reason))
    }

    /// Starts a request.
    pub(crate) fn start<T, F>(&self, request: impl FnOnce(Arc<Remote>) -> F) -> Result<Pending<T>, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        let started = self.started()?;
        let Some(runtime) = &started.runtime else {
            return Err(refused(&self.location, "the store is closed"));
        };
        let (sender, receiver) = sync_channel(1);
        let request = request(Arc::clone(&started.remote));
        runtime.spawn(async move {
            let _ = sender.send(request.await);
        });
        Ok(Pending(receiver))
    }

    /// Makes a request and waits for its end. Works on any thread, also on one of another runtime.
    pub(crate) fn run<T, F>(&self, request: impl FnOnce(Arc<Remote>) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        self.start(request)?.wait().map_err(|error| explained(&self.location, &error))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Requests in progress are abandoned: every caller that needs an answer has waited for it.
        if let Some(Ok(started)) = self.started.get_mut()
            && let Some(runtime) = started.runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}

impl<T> Pending<T> {
    pub(crate) fn wait(self) -> Answer<T> {
        self.0.recv().unwrap_or_else(|_| Err(aborted()))
    }

    /// The answer, or nothing if there is none before the deadline.
    pub(crate) fn wait_until(&self, deadline: Instant) -> Option<Answer<T>> {
        match self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => Some(answer),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(aborted())),
        }
    }
}

fn aborted() -> object_store::Error {
    Failure::Other("the request was aborted".to_owned()).into()
}
