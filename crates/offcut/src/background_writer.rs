//! Writes to a store, on a thread of its own once an output turns out to be large.
//!
//! Most of the time that a large output costs is the system's, for taking in the bytes of the file. Meanwhile the next
//! bytes can be read, scanned and hashed.

use crate::store::{StoreError, Writer};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// From here on a thread pays.
const LARGE: u64 = 4 << 20;

/// Blocks that wait to be written at the most: enough to bridge a hiccup, and a bound on memory.
const QUEUE: usize = 3;

/// A writer, and where it is at work.
pub(crate) struct BackgroundWriter(Place);

enum Place {
    Here { writer: Box<dyn Writer>, written: u64 },
    Away(Thread),
    Gone,
}

struct Thread {
    blocks: SyncSender<Vec<u8>>,
    /// Blocks that have been written, to be filled again.
    spares: Receiver<Vec<u8>>,
    handle: JoinHandle<Option<Written>>,
}

/// The writer when it has done what it was given, and how that went.
type Written = (Box<dyn Writer>, Result<(), StoreError>);

impl BackgroundWriter {
    pub(crate) fn new(writer: Box<dyn Writer>) -> BackgroundWriter {
        BackgroundWriter(Place::Here { writer, written: 0 })
    }

    /// Writes a chunk, now or soon. An error may be that of an earlier chunk; nothing is written after it.
    pub(crate) fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        match &mut self.0 {
            Place::Here { writer, written } => {
                writer.write(chunk)?;
                *written += chunk.len() as u64;
                if *written >= LARGE {
                    self.move_away();
                }
                Ok(())
            }
            Place::Away(thread) => {
                let mut block = thread.spares.try_recv().unwrap_or_default();
                block.clear();
                block.extend_from_slice(chunk);
                match thread.blocks.send(block) {
                    Ok(()) => Ok(()),
                    // The thread has given up; its error is waiting.
                    Err(_) => self.come_back(),
                }
            }
            Place::Gone => Err(gone()),
        }
    }

    fn move_away(&mut self) {
        let (give, take) = sync_channel(1);
        let (blocks, queue) = sync_channel(QUEUE);
        let (empty, spares) = channel();
        let Ok(handle) = Builder::new().name("store".to_owned()).spawn(move || work(&take, queue, &empty))
        else {
            return;
        };
        if let Place::Here { writer, .. } = std::mem::replace(&mut self.0, Place::Gone) {
            let _ = give.send(writer);
            self.0 = Place::Away(Thread { blocks, spares, handle });
        }
    }

    /// Waits until all is written.
    pub(crate) fn come_back(&mut self) -> Result<(), StoreError> {
        match std::mem::replace(&mut self.0, Place::Gone) {
            Place::Away(Thread { blocks, spares, handle }) => {
                drop((blocks, spares));
                let (writer, result) = handle.join().ok().flatten().ok_or_else(gone)?;
                self.0 = Place::Here { writer, written: 0 };
                result
            }
            here => {
                self.0 = here;
                Ok(())
            }
        }
    }

    /// The writer, when it has come back.
    pub(crate) fn writer(&self) -> Option<&dyn Writer> {
        match &self.0 {
            Place::Here { writer, .. } => Some(&**writer),
            Place::Away(_) | Place::Gone => None,
        }
    }

    pub(crate) fn writer_mut(&mut self) -> Option<&mut (dyn Writer + 'static)> {
        match &mut self.0 {
            Place::Here { writer, .. } => Some(&mut **writer),
            Place::Away(_) | Place::Gone => None,
        }
    }

    pub(crate) fn into_writer(mut self) -> Result<Box<dyn Writer>, StoreError> {
        self.come_back()?;
        match self.0 {
            Place::Here { writer, .. } => Ok(writer),
            Place::Away(_) | Place::Gone => Err(gone()),
        }
    }
}

fn work(
    take: &Receiver<Box<dyn Writer>>,
    queue: Receiver<Vec<u8>>,
    empty: &Sender<Vec<u8>>,
) -> Option<Written> {
    let mut writer = take.recv().ok()?;
    for block in queue {
        if let Err(error) = writer.write(&block) {
            return Some((writer, Err(error)));
        }
        let _ = empty.send(block);
    }
    Some((writer, Ok(())))
}

fn gone() -> StoreError {
    StoreError::Refused { reason: "the store's writer broke down".to_owned() }
}
