//! Runs work that may block on a thread of its own, for a future that must not block its executor.
//!
//! The library does not know the runtime that polls its futures, so it cannot use that runtime's threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::Builder;

/// The future of work on another thread. The work goes on if the future is dropped.
pub(crate) struct OffThread<T>(Arc<Mutex<Shared<T>>>);

struct Shared<T> {
    /// The result of the work, or the value of its panic.
    result: Option<Result<T, Box<dyn Any + Send>>>,
    waker: Option<Waker>,
}

/// Starts `work` on its own thread, or runs it here if no thread can be started.
pub(crate) fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> OffThread<T> {
    let shared = Arc::new(Mutex::new(Shared { result: None, waker: None }));
    let work = Arc::new(Mutex::new(Some(work)));
    let run = {
        let (shared, work) = (Arc::clone(&shared), Arc::clone(&work));
        move || {
            let Some(work) = work.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
            let result = catch_unwind(AssertUnwindSafe(work));
            let waker = {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.result = Some(result);
                shared.waker.take()
            };
            // An executor may poll at once, which needs the lock.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    };
    if Builder::new().name("offcut".to_owned()).spawn(run.clone()).is_err() {
        run();
    }
    OffThread(shared)
}

impl<T> Future for OffThread<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.result.take() {
            Some(Ok(result)) => Poll::Ready(result),
            Some(Err(panic)) => {
                drop(shared);
                resume_unwind(panic)
            }
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
