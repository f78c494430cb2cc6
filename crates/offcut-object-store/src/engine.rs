//! The runtime that talks to the server: two threads, started with the first request, never seen outside.

use crate::access::Access;
use crate::layout::Layout;
use crate::location::Location;
use crate::trouble;
use object_store::aws::AmazonS3;
use offcut::store::StoreError;
use std::future::Future;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

/// The client that requests are made with.
pub(crate) type Client = Arc<AmazonS3>;

/// What a request ends with.
pub(crate) type Answer<T> = Result<T, object_store::Error>;

pub(crate) struct Engine {
    pub(crate) location: Location,
    pub(crate) layout: Layout,
    access: Access,
    started: OnceLock<Result<Started, String>>,
}

struct Started {
    /// Taken away only when the engine is dropped.
    runtime: Option<Runtime>,
    client: Client,
}

/// The end of a request that is under way.
pub(crate) struct Pending<T>(Receiver<Answer<T>>);

/// How far a request has come.
pub(crate) enum Wait<T> {
    Done(Answer<T>),
    TimeIsUp,
}

impl Engine {
    pub(crate) fn new(location: Location, access: Access) -> Engine {
        let layout = Layout::new(location.root());
        Engine { location, layout, access, started: OnceLock::new() }
    }

    fn started(&self) -> Result<&Started, StoreError> {
        self.started
            .get_or_init(|| {
                let client = Arc::new(self.access.client(&self.location)?);
                let runtime = Builder::new_multi_thread()
                    .worker_threads(2)
                    .thread_name("offcut-s3")
                    .enable_all()
                    .build()
                    .map_err(|error| format!("no threads for the network: {error}"))?;
                Ok(Started { runtime: Some(runtime), client })
            })
            .as_ref()
            .map_err(|reason| trouble::refused(&self.location, reason))
    }

    /// Starts a request.
    pub(crate) fn start<T, F>(&self, request: impl FnOnce(Client) -> F) -> Result<Pending<T>, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        let started = self.started()?;
        let Some(runtime) = &started.runtime else {
            return Err(trouble::refused(&self.location, "the store is closed"));
        };
        let (tell, end) = sync_channel(1);
        let request = request(Arc::clone(&started.client));
        runtime.spawn(async move {
            let _ = tell.send(request.await);
        });
        Ok(Pending(end))
    }

    /// Makes a request and waits for its end. Works from any thread, also from one of another runtime.
    pub(crate) fn run<T, F>(&self, request: impl FnOnce(Client) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Answer<T>> + Send + 'static,
    {
        self.start(request)?.wait().map_err(|error| trouble::explained(&self.location, &error))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // What is still under way is not waited for: whoever wanted its end has waited already.
        if let Some(Ok(started)) = self.started.get_mut()
            && let Some(runtime) = started.runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}

impl<T> Pending<T> {
    pub(crate) fn wait(self) -> Answer<T> {
        self.0.recv().unwrap_or_else(|_| Err(broken_off()))
    }

    pub(crate) fn wait_until(&self, until: Instant) -> Wait<T> {
        match self.0.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(answer) => Wait::Done(answer),
            Err(RecvTimeoutError::Timeout) => Wait::TimeIsUp,
            Err(RecvTimeoutError::Disconnected) => Wait::Done(Err(broken_off())),
        }
    }
}

fn broken_off() -> object_store::Error {
    object_store::Error::Generic { store: "S3", source: "the request was broken off".into() }
}
