//! Standard input of a call that cannot use it because of a usage error.
//!
//! It is stored, so that a typo in `make | offcut cut --max-byts 100` neither ends `make` nor loses its output.

use crate::agents;
use crate::arguments::GlobalOptions;
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::Failure;
use crate::pass;
use crate::process::{self, StatusLine};
use crate::stream;
use offcut::cut::{Gap, GapReason, LinePosition};
use offcut::measure::{LineConvention, LineCounter};
use offcut::store::{Digester, EntryState, Id, NewEntry, StoreError, Summary, Writer};
use offcut::{Context, Size};
use rustix::fs::FileType;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Whether standard input is a pipe, whose writer would lose its output.
pub(crate) fn has_unread_input() -> bool {
    let found = rustix::fs::fstat(rustix::stdio::stdin());
    found.is_ok_and(|found| {
        matches!(FileType::from_raw_mode(found.st_mode), FileType::Fifo | FileType::Socket)
    })
}

/// Stores standard input. Returns what to say about it; nothing if there was no input.
pub(crate) fn store_unread_input() -> Option<String> {
    process::catch_file_size_signal();
    if pass::is_set() {
        return pass_on();
    }
    let global = GlobalOptions { store: store_option(), ..GlobalOptions::default() };
    let mut input = UnreadInput { setup: Setup::without_warnings(&global), state: State::Empty };
    let mut status = StatusLine::for_terminal(Instant::now());
    let read = stream::read_all(std::io::stdin().lock(), &mut status, |chunk| {
        input.observe(chunk);
        ControlFlow::Continue(())
    });
    status.erase();
    let error = read.err().map(|error| format!("cannot read all of the input: {error}"));
    Some(match input.finish(error)? {
        Ok(command) => format!("the input was stored: {command}"),
        Err(reason) => format!("the input was read, but not stored: {reason}"),
    })
}

/// Prints standard input as it comes, because the caller wants nothing shortened or stored.
fn pass_on() -> Option<String> {
    let _ = stream::read_all(std::io::stdin().lock(), &mut StatusLine::none(), |chunk| {
        if super::print(chunk).is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    None
}

/// The store that the arguments name, also after the mistake.
fn store_option() -> Option<String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |pair: &[String]| match pair {
        [option, store, ..] if option == "--store" => Some(store.clone()),
        [option, ..] => option.strip_prefix("--store=").map(str::to_owned),
        [] => None,
    };
    (0..arguments.len()).find_map(|start| named(&arguments[start..]))
}

/// Reports this failure, then stores the input that a command does not read because of it.
pub(super) fn store_after(failure: Failure) -> Failure {
    let Failure::Usage(error) = failure else { return failure };
    if !has_unread_input() {
        return Failure::Usage(error);
    }
    // The input may not end soon.
    diagnostic::say(format_args!("{error:#}"));
    Failure::Usage(anyhow::anyhow!(store_unread_input().unwrap_or_else(|| "nothing was stored".to_owned())))
}

/// Whether an argument names a file: then the input is that file, and standard input may be a pipe that nobody closes.
pub(crate) fn has_file_argument() -> bool {
    std::env::args_os().skip(1).any(|argument| Path::new(&argument).is_file())
}

struct UnreadInput {
    setup: Result<Setup, Failure>,
    state: State,
}

enum State {
    Empty,
    Writing(Box<Entry>),
    Failed(String),
}

struct Entry {
    writer: Box<dyn Writer>,
    digester: Digester,
    lines: LineCounter,
    bytes: u64,
    /// The most bytes that are stored.
    cap: u64,
}

impl UnreadInput {
    fn observe(&mut self, chunk: &[u8]) {
        if let State::Empty = self.state {
            self.state = match self.open() {
                Ok(entry) => State::Writing(Box::new(entry)),
                Err(failure) => State::Failed(failure.reason().unwrap_or_default()),
            };
        }
        if let State::Writing(entry) = &mut self.state
            && let Err(error) = entry.write(chunk)
        {
            self.state = State::Failed(error.to_string());
        }
    }

    fn open(&mut self) -> Result<Entry, Failure> {
        let setup = self
            .setup
            .as_ref()
            .map_err(|failure| Failure::Usage(anyhow::anyhow!(failure.reason().unwrap_or_default())))?;
        let arguments: Vec<_> = std::env::args_os().skip(1).collect();
        let words = ["offcut".into()].into_iter().chain(arguments.iter().map(|word| word.to_string_lossy()));
        let words: Vec<Cow<'_, str>> = words.collect();
        let line = shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_else(|_| words.join(" "));
        let context = super::run::describe_call(Context::default(), Some(line), agents::caller());
        let host = setup.configuration.host();
        let new = NewEntry {
            retention: Some(setup.retention(&setup.profile)),
            host: host.as_deref(),
            ..NewEntry::new(&context, setup.profile.name())
        };
        Ok(Entry {
            writer: setup.store()?.create(&new)?,
            digester: Digester::new(),
            lines: LineCounter::new(LineConvention::Terminated),
            bytes: 0,
            cap: setup.cap(),
        })
    }

    /// The command that reads the input, or why it was not stored. Nothing if there was none.
    fn finish(self, read_error: Option<String>) -> Option<Result<String, String>> {
        let entry = match self.state {
            State::Empty => return None,
            State::Failed(reason) => return Some(Err(reason)),
            State::Writing(entry) => entry,
        };
        let program = self.setup.ok().map_or_else(|| "offcut".to_owned(), |setup| setup.program_name());
        let read = |id: Id| format!("{program} read {}", id.short());
        Some(entry.commit(read_error).map(read).map_err(|error| error.to_string()))
    }
}

impl Entry {
    fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        let room = usize::try_from(self.cap.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        let stored = &chunk[..chunk.len().min(room)];
        self.writer.write(stored)?;
        self.digester.update(stored);
        self.lines.observe(chunk);
        self.bytes += chunk.len() as u64;
        Ok(())
    }

    /// Closes the entry. It is not complete if the input could not be read to its end.
    fn commit(self, read_error: Option<String>) -> Result<Id, StoreError> {
        let Entry { mut writer, digester, lines, bytes, cap } = self;
        let lines = lines.lines();
        let (digest, block_digests) = digester.finish();
        let nothing_shown = Gap {
            start: 0,
            end: bytes,
            first_line: 1,
            last_line: lines.max(1),
            from: LinePosition::Start,
            why: GapReason::Omitted,
        };
        let original = Size { bytes, lines, chars: None, tokens: None };
        let summary = Summary {
            original,
            lines,
            digest,
            block_digests,
            gaps: vec![nothing_shown],
            ..Summary::default()
        };
        let is_capped = bytes > cap;
        let too_large = is_capped.then(|| format!("one output may have at most {cap} bytes (max_output)"));
        let state = match read_error.or(too_large) {
            Some(reason) => EntryState::Capped { reason },
            None => EntryState::Complete,
        };
        writer.flush();
        Ok(writer.commit(state, &summary)?.id)
    }
}
