//! A pipe into a spool, for processes.

use offcut_common::OwnedSpool;
use std::io::{self, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// As much as is read at a time.
const BLOCK: usize = 256 << 10;

/// The end of a pipe that processes write into; a thread of its own reads the other.
pub(crate) struct Pipe {
    writer: PipeWriter,
    reader: JoinHandle<()>,
}

impl Pipe {
    pub(crate) fn into(spool: &Arc<Mutex<OwnedSpool>>) -> io::Result<Pipe> {
        let (mut output, writer) = io::pipe()?;
        let spool = Arc::clone(spool);
        let reader = thread::Builder::new().name("offcut-spool".to_owned()).spawn(move || {
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
        Ok(Pipe { writer, reader })
    }

    pub(crate) fn number(&self) -> i32 {
        self.writer.as_raw_fd()
    }

    pub(crate) fn drain(self) {
        drop(self.writer);
        // A reader that broke down has left the spool with what it had.
        let _ = self.reader.join();
    }
}
