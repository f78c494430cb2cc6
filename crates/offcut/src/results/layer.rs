//! A `tower` layer that bounds the responses of a service.
//!
//! A response that has to be cut is stored on a thread of its own, so that the runtime is not blocked.

use crate::context::Context;
use crate::profile::Rule;
use crate::results::off_thread::{OffThread, off_thread};
use crate::results::{Middleware, ToolOutput};
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};
use tower_layer::Layer;
use tower_service::Service;

/// A response that contains tool output.
pub trait CarryOutput {
    /// The response with its output bounded.
    fn bounded(self, middleware: &Middleware) -> Self;

    /// Whether this may take long, because the output may have to be stored. It is then done on another thread.
    fn may_store(&self, _middleware: &Middleware) -> bool {
        true
    }
}

impl CarryOutput for ToolOutput {
    fn bounded(self, middleware: &Middleware) -> Self {
        middleware.bound_output(self, &Context::default(), Rule::default()).0
    }

    fn may_store(&self, middleware: &Middleware) -> bool {
        self.output.may_store(middleware)
    }
}

/// The output of a named tool.
impl CarryOutput for (Context, ToolOutput) {
    fn bounded(self, middleware: &Middleware) -> Self {
        let (context, output) = self;
        let (output, _) = middleware.bound_output(output, &context, Rule::default());
        (context, output)
    }

    fn may_store(&self, middleware: &Middleware) -> bool {
        let (context, output) = self;
        middleware.may_store(&output.output, context, Rule::default(), None)
    }
}

impl CarryOutput for Vec<u8> {
    fn bounded(self, middleware: &Middleware) -> Self {
        ToolOutput::succeeded(self).bounded(middleware).output
    }

    fn may_store(&self, middleware: &Middleware) -> bool {
        middleware.may_store(self, &Context::default(), Rule::default(), None)
    }
}

impl CarryOutput for String {
    fn bounded(self, middleware: &Middleware) -> Self {
        let bounded = self.into_bytes().bounded(middleware);
        // A text is cut between characters, so this only checks.
        String::from_utf8(bounded)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn may_store(&self, middleware: &Middleware) -> bool {
        middleware.may_store(self.as_bytes(), &Context::default(), Rule::default(), None)
    }
}

/// Bounds the responses of the services it wraps.
#[derive(Clone)]
pub struct BoundLayer {
    middleware: Arc<Middleware>,
}

impl BoundLayer {
    /// A layer with this middleware.
    pub fn new(middleware: impl Into<Arc<Middleware>>) -> BoundLayer {
        BoundLayer { middleware: middleware.into() }
    }
}

impl<S> Layer<S> for BoundLayer {
    type Service = Bound<S>;

    fn layer(&self, inner: S) -> Bound<S> {
        Bound { inner, middleware: Arc::clone(&self.middleware) }
    }
}

/// A service whose responses are bounded.
#[derive(Clone)]
pub struct Bound<S> {
    inner: S,
    middleware: Arc<Middleware>,
}

impl<S, Request> Service<Request> for Bound<S>
where
    S: Service<Request>,
    S::Response: CarryOutput + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Bounding<S::Future, S::Response>;

    fn poll_ready(&mut self, context: &mut std::task::Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Bounding { answer: self.inner.call(request), middleware: Arc::clone(&self.middleware), storing: None }
    }
}

pin_project! {
    /// The future of a bounded response.
    pub struct Bounding<F, R> {
        #[pin]
        answer: F,
        middleware: Arc<Middleware>,
        storing: Option<OffThread<R>>,
    }
}

impl<F, R, E> Future for Bounding<F, R>
where
    F: Future<Output = Result<R, E>>,
    R: CarryOutput + Send + 'static,
{
    type Output = Result<R, E>;

    fn poll(self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.storing.is_none() {
            let response = ready!(this.answer.poll(context))?;
            if !response.may_store(this.middleware) {
                return Poll::Ready(Ok(response.bounded(this.middleware)));
            }
            let middleware = Arc::clone(this.middleware);
            *this.storing = Some(off_thread(move || response.bounded(&middleware)));
        }
        match this.storing {
            Some(storing) => Pin::new(storing).poll(context).map(Ok),
            None => Poll::Pending,
        }
    }
}
