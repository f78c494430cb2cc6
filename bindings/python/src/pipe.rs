//! A pipe into a spool, for processes.

use offcut_common::OwnedSpool;
use std::io::{self, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The size of one read.
const BLOCK: usize = 256 << 10;

/// The end of a pipe that processes write into; a thread reads the other end.
pub(crate) struct Pipe {
    /// None after it was closed.
    writer: Option<PipeWriter>,
    rest: Rest,
}

/// The output that is still in a pipe whose writing end is closed here.
#[derive(Clone)]
pub(crate) struct Rest(Arc<Mutex<Receiver<()>>>);

impl Pipe {
    pub(crate) fn into(spool: &Arc<Mutex<OwnedSpool>>) -> io::Result<Pipe> {
        let (mut output, writer) = io::pipe()?;
        let spool = Arc::clone(spool);
        let (ended, rest) = mpsc::channel();
        thread::Builder::new().name("offcut-spool".to_owned()).spawn(move || {
            // Dropped when the thread ends for any reason, which wakes `has_ended`.
            let _ended = ended;
            let mut block = vec![0; BLOCK];
            loop {
                match output.read(&mut block) {
                    Ok(0) => break,
                    Ok(count) => {
                        spool.lock().unwrap_or_else(PoisonError::into_inner).observe(&block[..count]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        })?;
        Ok(Pipe { writer: Some(writer), rest: Rest(Arc::new(Mutex::new(rest))) })
    }

    pub(crate) fn number(&self) -> Option<i32> {
        self.writer.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Closes the writing end.
    pub(crate) fn close(&mut self) -> Rest {
        self.writer = None;
        self.rest.clone()
    }
}

impl Rest {
    /// Waits up to 50 ms for the end of the output, and returns whether it has come.
    pub(crate) fn has_ended(&self) -> bool {
        let end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(end.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout))
    }
}
