//! Standard input of a call that cannot use it because of a usage error.
//!
//! It is stored, so that a typo in `make | offcut cut --max-byts 100` neither ends `make` nor loses its output.

use crate::agents;
use crate::arguments::{Cut, GlobalOptions};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::Failure;
use crate::pass;
use crate::process::{self, StatusLine};
use crate::stream;
use offcut::store::Id;
use offcut::{Context, Saved};
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
    let prepared = Setup::without_warnings(&global)
        .and_then(|setup| Ok((setup.program_name(), setup.truncator(&Cut::default())?)));
    let (program, truncator) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return Some(format!("the input was not read: {}", failure.reason()?)),
    };
    // An empty input makes no entry.
    let mut output = None;
    let mut status = StatusLine::for_terminal(Instant::now());
    let read = stream::read_all(std::io::stdin().lock(), &mut status, |chunk| {
        output.get_or_insert_with(|| truncator.store_unseen(&describe_call())).observe(chunk);
        ControlFlow::Continue(())
    });
    status.erase();
    let mut output = output?;
    if let Err(error) = read {
        output.fail(format_args!("cannot read all of the input: {error}"));
    }
    let read = |id: Id| format!("{program} read {}", id.short());
    Some(match output.finish() {
        Saved::Complete(entry) | Saved::Running(entry) => {
            format!("the input was stored: {}", read(entry.id))
        }
        Saved::Failed { error, part: Some(part) } => {
            format!("the first {} bytes of the input were stored ({error}): {}", part.bytes, read(part.id))
        }
        Saved::Failed { error, part: None } => format!("the input was read, but not stored: {error}"),
        Saved::Disabled => "the input was read, but not stored: no store is set".to_owned(),
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

/// The call with the mistake, as the entry records it.
fn describe_call() -> Context {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let words = ["offcut".into()].into_iter().chain(arguments.iter().map(|word| word.to_string_lossy()));
    let words: Vec<Cow<'_, str>> = words.collect();
    let line = shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_else(|_| words.join(" "));
    super::run::describe_call(Context::default(), Some(line), agents::caller())
}
