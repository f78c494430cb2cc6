//! Writes to a store, in a background thread once the output is large.
//!
//! Most of the time for a large output is spent in the system call that writes the file. Meanwhile the next bytes can be
//! read, scanned and hashed.

use crate::store::{StoreError, Writer};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// An output of at least this many bytes is written in the background.
const LARGE: u64 = 4 << 20;

/// The most blocks that wait to be written. They bridge a short delay of the disk, and memory stays bounded.
const QUEUE: usize = 3;

/// A writer, in this thread or in the background.
pub(crate) struct BackgroundWriter(Place);

enum Place {
    Foreground { writer: Box<dyn Writer>, written: u64 },
    Background(Thread),
    Gone,
}

struct Thread {
    blocks: SyncSender<Vec<u8>>,
    /// Blocks that were written, for reuse.
    empty: Receiver<Vec<u8>>,
    handle: JoinHandle<Option<Written>>,
}

/// The writer when all blocks were written, or the error.
type Written = (Box<dyn Writer>, Result<(), StoreError>);

impl BackgroundWriter {
    pub(crate) fn new(writer: Box<dyn Writer>) -> BackgroundWriter {
        BackgroundWriter(Place::Foreground { writer, written: 0 })
    }

    /// Writes a chunk, now or later. An error can be that of an earlier chunk; nothing is written after an error.
    pub(crate) fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        match &mut self.0 {
            Place::Foreground { writer, written } => {
                writer.write(chunk)?;
                *written += chunk.len() as u64;
                if *written >= LARGE {
                    self.start_thread();
                }
                Ok(())
            }
            Place::Background(thread) => {
                let mut block = thread.empty.try_recv().unwrap_or_default();
                block.clear();
                block.extend_from_slice(chunk);
                match thread.blocks.send(block) {
                    Ok(()) => Ok(()),
                    // The thread has given up; its error is waiting.
                    Err(_) => self.wait(),
                }
            }
            Place::Gone => Err(gone()),
        }
    }

    fn start_thread(&mut self) {
        let Place::Foreground { writer, .. } = std::mem::replace(&mut self.0, Place::Gone) else { return };
        // The thread takes the writer. If there is no thread, it is taken back.
        let slot = Arc::new(Mutex::new(Some(writer)));
        let (blocks, queue) = sync_channel(QUEUE);
        let (used, empty) = channel();
        let thread_slot = slot.clone();
        let work = move || work(take(&thread_slot)?, queue, &used);
        if let Ok(handle) = Builder::new().name("store".to_owned()).spawn(work) {
            self.0 = Place::Background(Thread { blocks, empty, handle });
        } else if let Some(writer) = take(&slot) {
            self.0 = Place::Foreground { writer, written: 0 };
        }
    }

    /// Waits until all is written.
    pub(crate) fn wait(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.0, Place::Gone) {
            Place::Background(Thread { blocks, empty, handle }) => {
                drop((blocks, empty));
                let (writer, result) = handle.join().ok().flatten().ok_or_else(gone)?;
                self.0 = Place::Foreground { writer, written: 0 };
                result
            }
            here => {
                self.0 = here;
                Ok(())
            }
        }
    }

    /// The writer, when it has come back.
    pub(crate) fn get_mut(&mut self) -> Option<&mut (dyn Writer + 'static)> {
        match &mut self.0 {
            Place::Foreground { writer, .. } => Some(&mut **writer),
            Place::Background(_) | Place::Gone => None,
        }
    }

    pub(crate) fn into_writer(mut self) -> Result<Box<dyn Writer>, StoreError> {
        self.wait()?;
        match self.0 {
            Place::Foreground { writer, .. } => Ok(writer),
            Place::Background(_) | Place::Gone => Err(gone()),
        }
    }
}

fn take(slot: &Mutex<Option<Box<dyn Writer>>>) -> Option<Box<dyn Writer>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn work(mut writer: Box<dyn Writer>, queue: Receiver<Vec<u8>>, empty: &Sender<Vec<u8>>) -> Option<Written> {
    for block in queue {
        if let Err(error) = writer.write(&block) {
            return Some((writer, Err(error)));
        }
        let _ = empty.send(block);
    }
    Some((writer, Ok(())))
}

fn gone() -> StoreError {
    StoreError::Refused { reason: "the thread that writes to the store panicked".to_owned() }
}
