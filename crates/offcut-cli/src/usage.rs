//! Help and usage errors.

use crate::arguments::Arguments;
use crate::{command, diagnostic, suggestion};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Prints help or a usage error and returns the exit code: 2, but 125 for `run`, because 2 may be the code of its command,
/// and 0 for `hook`, because to agents 2 means that the tool must not run. Input that may be meant for `cut` is stored.
pub(crate) fn report(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let named = named_command(error);
    let _ = error.print();
    // After the error, because the input may not end soon.
    if may_be_cut(error, named.as_deref())
        && !command::has_file_argument()
        && command::has_unread_input()
        && let Some(stored) = command::store_unread_input()
    {
        diagnostic::say(stored);
    }
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && named.is_none()
        && let Some(line) = suggestion::with_run(name)
    {
        diagnostic::say(format_args!("hint: to run a program and shorten its output: {line}"));
    }
    match named.or_else(|| suggested_command(error)).as_deref() {
        Some("run") => {
            if error.kind() == ErrorKind::UnknownArgument {
                diagnostic::say("hint: put the options of a command after its name: offcut run CMD ARGS...");
            }
            command::RUN_USAGE
        }
        Some("hook") => command::unknown_hook(&error.to_string()),
        _ => 2,
    }
}

/// Whether the call may be meant to shorten its input. Without any argument, it asks for help.
fn may_be_cut(error: &clap::Error, named: Option<&str>) -> bool {
    let asks_for_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    named.map_or(!asks_for_help, |name| name == "cut")
}

/// The command that a call with a mistake names.
fn named_command(error: &clap::Error) -> Option<String> {
    if let Some(name) = parsed_command() {
        return Some(name);
    }
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // The word in place of the command is the mistake, or the one after `help`.
    if error.kind() == ErrorKind::InvalidSubcommand {
        return arguments.first().filter(|&word| word == "help").map(|_| "help".to_owned());
    }
    let definition = Arguments::definition();
    // Parsing stops at an unknown option before the command. Its value may look like a command too.
    let is_command = |word: &OsString| definition.get_subcommands().any(|known| word == known.get_name());
    let position = (0..arguments.len()).find(|&position| {
        is_command(&arguments[position]) && !arguments.get(position + 1).is_some_and(is_command)
    })?;
    arguments[position].to_str().map(str::to_owned)
}

/// The command that is most similar to a mistyped one.
fn suggested_command(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::SuggestedSubcommand)? {
        ContextValue::String(name) => Some(name.clone()),
        // The most similar is the last.
        ContextValue::Strings(names) => names.last().cloned(),
        _ => None,
    }
}

/// The command before the mistake.
fn parsed_command() -> Option<String> {
    let parsed = Arguments::definition().ignore_errors(true).try_get_matches().ok()?;
    parsed.subcommand_name().map(str::to_owned)
}
