//! Keeps reading the output of background processes after the command itself has ended.
//!
//! A copy of this program takes over the pipe and the open file of the entry. It also inherits the lock on the file, so
//! the entry stays in the state `running` without interruption. The pipe is read until its last writer closes it, even
//! if the bytes cannot be stored: no background process may die of a broken pipe because of offcut.

use crate::process::platform;
use crate::stream::{BLOCK, read_block};
use offcut::store::{EntryState, FsStore, Id};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

/// The internal subcommand that reads the pipe.
pub(crate) const DRAIN: &str = "__drain";

/// The entry that later output is added to.
pub(crate) struct LaterOutput {
    /// The open file of the entry.
    pub(crate) file: File,
    pub(crate) directory: PathBuf,
    pub(crate) id: Id,
    /// The maximum size of the file.
    pub(crate) cap: u64,
}

/// Starts a process that reads the pipe to its end. Without an entry, the bytes are discarded.
pub(crate) fn drain_in_background(reader: PipeReader, entry: Option<LaterOutput>) {
    if spawn(&reader, entry.as_ref()).is_err() {
        // Without a new process, read here: better to end late than to break the pipe of a background process.
        consume(reader, entry);
    }
}

fn spawn(reader: &PipeReader, entry: Option<&LaterOutput>) -> io::Result<()> {
    let mut command = Command::new(platform::own_program()?);
    command.arg0("offcut").arg(DRAIN);
    command.stdin(reader.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(LaterOutput { file, directory, id, cap }) = entry {
        command.arg(directory).arg(id.to_string()).arg(cap.to_string()).stdout(file.try_clone()?);
    }
    // Its own process group, so that signals for the caller do not reach it, and a directory that nobody wants to unmount.
    command.process_group(0).current_dir("/").spawn().map(drop)
}

/// The process started by [`drain_in_background`].
pub(crate) fn drain(arguments: &[OsString]) {
    platform::catch_file_size_signal();
    // The background process may outlive the terminal, and this process must outlive the background process.
    let _ = platform::handle(libc::SIGHUP);
    let entry = match arguments {
        [directory, id, cap] => {
            let file = io::stdout().as_fd().try_clone_to_owned().ok().map(File::from);
            let id = id.to_str().and_then(Id::parse);
            let cap = cap.to_str().and_then(|cap| cap.parse().ok());
            match (file, id, cap) {
                (Some(file), Some(id), Some(cap)) => {
                    Some(LaterOutput { file, directory: Path::new(directory).to_owned(), id, cap })
                }
                _ => None,
            }
        }
        _ => None,
    };
    consume(io::stdin().lock(), entry);
}

fn consume(mut reader: impl Read, mut entry: Option<LaterOutput>) {
    let mut block = vec![0; BLOCK];
    loop {
        match read_block(&mut reader, &mut block) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                if let Some(open) = &mut entry
                    && let Err(reason) = open.write(&block[..count])
                {
                    open.finalize(EntryState::Capped { reason });
                    entry = None;
                }
            }
        }
    }
    if let Some(open) = entry {
        open.finalize(EntryState::Complete);
    }
}

impl LaterOutput {
    fn write(&mut self, chunk: &[u8]) -> Result<(), String> {
        let found = self.file.metadata().map_err(|error| error.to_string())?;
        if found.nlink() == 0 {
            return Err("the entry was removed".to_owned());
        }
        let room = usize::try_from(self.cap.saturating_sub(found.size())).unwrap_or(usize::MAX);
        let kept = &chunk[..chunk.len().min(room)];
        self.file.write_all(kept).map_err(|error| error.to_string())?;
        if kept.len() < chunk.len() {
            return Err(format!("size limit of {} bytes reached", self.cap));
        }
        Ok(())
    }

    fn finalize(&self, state: EntryState) {
        // Fails if the entry was removed in the meantime, which needs no report.
        let _ = FsStore::new(&self.directory, SystemTime::now).finalize(&self.id, state);
    }
}
