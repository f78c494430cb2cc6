//! A pipe into a spool, for processes.

use offcut_common::OwnedSpool;
use std::io::{self, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// As much as is read at a time.
const BLOCK: usize = 256 << 10;

/// The end of a pipe that processes write into; a thread of its own reads the other.
pub(crate) struct Pipe {
    /// Until it is closed.
    writer: Option<PipeWriter>,
    rest: Rest,
}

/// What is still to come out of a pipe that we have closed.
#[derive(Clone)]
pub(crate) struct Rest(Arc<Mutex<Receiver<()>>>);

impl Pipe {
    pub(crate) fn into(spool: &Arc<Mutex<OwnedSpool>>) -> io::Result<Pipe> {
        let (mut output, writer) = io::pipe()?;
        let spool = Arc::clone(spool);
        let (ended, rest) = mpsc::channel();
        thread::Builder::new().name("offcut-spool".to_owned()).spawn(move || {
            // Dropped at the end, whichever it is, and whoever waits is told by that.
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

    /// Closes our end of it.
    pub(crate) fn close(&mut self) -> Rest {
        self.writer = None;
        self.rest.clone()
    }
}

impl Rest {
    /// Waits a moment for the end, and says whether it has come.
    pub(crate) fn has_ended(&self) -> bool {
        let end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(end.recv_timeout(Duration::from_millis(50)), Err(RecvTimeoutError::Timeout))
    }
}
