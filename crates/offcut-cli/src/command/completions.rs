//! `offcut completions`: prints a script for a shell.
//!
//! The scripts for bash, zsh and fish run the internal command `offcut __complete WORDS...` for each completion, so that they
//! offer the outputs, sessions and profiles that exist. The words are those of the command line up to the cursor. The first
//! line of the answer is its kind:
//!
//! ```text
//! words        each of the other lines is a value, a tab, and what it is
//! files        the word is the path of a file, which the shell completes
//! command N    the words from N on, counted from 0, are a command line, which the shell completes
//! ```
//!
//! A script in a file may be older or newer than the program, so that the protocol must not change.

mod values;

use crate::arguments::{Arguments, Completions};
use crate::failure::CommandResult;
use clap::ArgMatches;
use clap_complete::{Shell, engine};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The internal command that the scripts run.
pub(crate) const COMPLETE: &str = "__complete";

pub(crate) fn completions(completions: &Completions) -> CommandResult {
    let quoted = |path: &str| shlex::try_quote(path).map_or_else(|_| "offcut".to_owned(), Into::into);
    let script = match completions.shell {
        Shell::Bash => include_str!("completions/offcut.bash").replace("PROGRAM", &quoted(&program())),
        Shell::Zsh => include_str!("completions/offcut.zsh").replace("PROGRAM", &quoted(&program())),
        Shell::Fish => {
            include_str!("completions/offcut.fish").replace("PROGRAM", &quoted_for_fish(&program()))
        }
        other => {
            let mut script = Vec::new();
            clap_complete::generate(other, &mut Arguments::definition(), "offcut", &mut script);
            return super::print(&script);
        }
    };
    super::print(script.as_bytes())
}

/// What the script runs: this program as it was called, from any directory.
fn program() -> String {
    let called = std::env::args_os().next().filter(|name| name.as_encoded_bytes().contains(&b'/'));
    let path = called.and_then(|name| std::path::absolute(Path::new(&name)).ok());
    path.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_else(|| "offcut".to_owned())
}

/// In the single quotes of fish, other characters have to be escaped than in those of a POSIX shell.
fn quoted_for_fish(path: &str) -> String {
    format!("'{}'", path.replace('\\', r"\\").replace('\'', r"\'"))
}

/// Answers a script.
pub(crate) fn complete(words: Vec<OsString>) -> CommandResult {
    super::print(answer(words).as_bytes())
}

fn answer(words: Vec<OsString>) -> String {
    let (positions, words): (Vec<usize>, Vec<OsString>) = without_equals_signs(words).into_iter().unzip();
    let Some(current) = words.last().cloned() else { return "words\n".to_owned() };
    let parsed = Arguments::definition().ignore_errors(true).try_get_matches_from(&words).unwrap_or_default();
    if let Some(first) =
        words.len().checked_sub(command_words(&parsed)).and_then(|first| positions.get(first))
    {
        return format!("command {first}\n");
    }
    let mut definition = values::add_to(Arguments::definition(), &parsed);
    let last = words.len() - 1;
    let found = engine::complete(&mut definition, words, last, None).unwrap_or_default();
    let mut text = "words\n".to_owned();
    for candidate in found {
        let Some(value) = candidate.get_value().to_str() else { continue };
        if value.ends_with(values::FILES) {
            return "files\n".to_owned();
        }
        // Options only where one was begun: they would bury everything else.
        if value.starts_with('-') && !current.as_encoded_bytes().starts_with(b"-") {
            continue;
        }
        let about = candidate.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("{value}\t{}\n", about.lines().next().unwrap_or_default());
    }
    text
}

/// The words with their positions. bash takes the sign in `--option=value` for a word of its own; without it, the value is that
/// of the option too.
fn without_equals_signs(words: Vec<OsString>) -> Vec<(usize, OsString)> {
    let mut kept: Vec<(usize, OsString)> = Vec::new();
    for (position, word) in words.into_iter().enumerate() {
        let is_after_option =
            kept.last().is_some_and(|(_, last)| last.as_encoded_bytes().starts_with(b"--") && last != "--");
        if word != OsStr::new("=") || !is_after_option {
            kept.push((position, word));
        }
    }
    kept
}

/// How many of the words are those of a command that offcut would run. They are the last ones.
fn command_words(parsed: &ArgMatches) -> usize {
    let Some((name, matches)) = parsed.subcommand() else { return 0 };
    match name {
        "run" | "proxy" => matches.get_raw("command").map_or(0, Iterator::count),
        _ => command_words(matches),
    }
}
