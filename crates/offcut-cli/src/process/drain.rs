//! Reading on when a command has ended but something it left behind still prints.
//!
//! A copy of this program takes over the pipe and the open file of the entry. It holds the file's lock with it, so the
//! entry is in the making without a break. The pipe is read until nobody can write to it any more, whatever becomes of
//! the bytes: nothing dies of a broken pipe because of us.

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
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

/// The name under which this program is called to read on. Not for people.
pub(crate) const DRAIN: &str = "__drain";

/// Where the rest of an output goes.
pub(crate) struct Rest {
    /// The open file of the entry.
    pub(crate) file: File,
    pub(crate) directory: PathBuf,
    pub(crate) id: Id,
    /// The most that the file may hold.
    pub(crate) cap: u64,
}

/// Leaves a pipe to a process of its own. Without a place for the rest, it is read and thrown away.
pub(crate) fn hand_over(reader: PipeReader, rest: Option<Rest>) {
    if spawn(&reader, rest.as_ref()).is_err() {
        // No process to be had: better a late end than a broken pipe for whoever writes.
        consume(reader, rest);
    }
}

fn spawn(reader: &PipeReader, rest: Option<&Rest>) -> io::Result<()> {
    let mut command = Command::new(platform::own_program()?);
    command.arg0("offcut").arg(DRAIN);
    command.stdin(reader.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(Rest { file, directory, id, cap }) = rest {
        command.arg(directory).arg(id.to_string()).arg(cap.to_string()).stdout(file.try_clone()?);
    }
    // Out of the way of signals that are meant for the command's caller, and of its directory.
    command.process_group(0).current_dir("/").spawn().map(drop)
}

/// What the process does that was started by [`hand_over`].
pub(crate) fn drain(arguments: &[OsString]) {
    platform::survive_large_files();
    // The terminal may go: whoever writes stays, and so must we.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::new(AtomicBool::new(false)));
    let rest = match arguments {
        [directory, id, cap] => {
            let file = io::stdout().as_fd().try_clone_to_owned().ok().map(File::from);
            let id = id.to_str().and_then(Id::parse);
            let cap = cap.to_str().and_then(|cap| cap.parse().ok());
            match (file, id, cap) {
                (Some(file), Some(id), Some(cap)) => {
                    Some(Rest { file, directory: Path::new(directory).to_owned(), id, cap })
                }
                _ => None,
            }
        }
        _ => None,
    };
    consume(io::stdin().lock(), rest);
}

fn consume(mut reader: impl Read, mut rest: Option<Rest>) {
    let mut block = vec![0; BLOCK];
    loop {
        match read_block(&mut reader, &mut block) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                if let Some(open) = &mut rest
                    && let Err(reason) = open.write(&block[..count])
                {
                    open.settle(&EntryState::Partial { reason });
                    rest = None;
                }
            }
        }
    }
    if let Some(open) = rest {
        open.settle(&EntryState::Complete);
    }
}

impl Rest {
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

    fn settle(&self, completeness: &EntryState) {
        // Whoever removed the entry in the meantime does not want to hear of it.
        let _ = FsStore::new(&self.directory, SystemTime::now).settle(&self.id, completeness);
    }
}
