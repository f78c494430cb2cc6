//! The commands, one file each.

mod clean;
mod completions;
mod config;
mod cut;
mod doctor;
mod entry_table;
mod fsck;
mod grep;
mod hook;
mod init;
mod list;
mod manual;
mod mcp;
mod pager;
mod profiles;
mod read;
mod remove;
mod result;
mod rules;
mod run;
mod shell;
mod show;
mod stats;
mod unread_input;

pub(crate) use clean::{clean, pin, unpin};
pub(crate) use completions::{COMPLETE, complete, completions};
pub(crate) use config::config;
pub(crate) use cut::cut;
pub(crate) use doctor::doctor;
pub(crate) use fsck::fsck;
pub(crate) use grep::grep;
pub(crate) use hook::{hook, unknown_hook};
pub(crate) use init::init;
pub(crate) use list::{Ls, ls};
pub(crate) use manual::{documentation, manual};
pub(crate) use mcp::mcp;
pub(crate) use profiles::profiles;
pub(crate) use read::{cat, read};
pub(crate) use remove::rm;
pub(crate) use result::result;
pub(crate) use rules::rules;
pub(crate) use run::{USAGE as RUN_USAGE, run};
pub(crate) use shell::{Name as ShellName, shell};
pub(crate) use show::show;
pub(crate) use stats::{GroupBy, stats};
pub(crate) use unread_input::{has_file_argument, has_unread_input, store_unread_input};

use crate::diagnostic;
use crate::failure::{CommandResult, Failure};
use crate::stream::Stdout;
use offcut::terminal::printable;
use offcut::{Outcome, Profile, Saved};
use serde::Serialize;
use std::io::{BufRead, IsTerminal, Write};
use unicode_width::UnicodeWidthStr;

/// Prints a JSON value on one line.
fn print_json(value: &impl Serialize) -> CommandResult {
    let mut line = serde_json::to_vec(value).map_err(std::io::Error::from)?;
    line.push(b'\n');
    print(&line)
}

/// Prints bytes on standard output.
fn print(bytes: &[u8]) -> CommandResult {
    Ok(Stdout.write_all(bytes)?)
}

/// How many failures of one command are printed.
const MOST_FAILURES: usize = 20;

/// Prints the first failures, and how many more there are. The last one with the highest exit code is that of the command.
fn fail_with(mut failures: Vec<Failure>) -> CommandResult {
    let Some(worst) = (0..failures.len()).max_by_key(|&number| failures[number].code()) else {
        return Ok(());
    };
    let worst = failures.remove(worst);
    for reason in failures.iter().take(MOST_FAILURES - 1).filter_map(Failure::reason) {
        diagnostic::say(reason);
    }
    if failures.len() >= MOST_FAILURES {
        let more = failures.len() + 1 - MOST_FAILURES;
        diagnostic::say(format_args!("{more} more errors; `offcut fsck` lists damaged outputs"));
    }
    Err(worst)
}

/// Formats a table. The given columns are aligned to the right.
fn align(rows: &[impl AsRef<[String]>], right: &[usize]) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let width = |column: usize| rows.iter().map(|row| row.as_ref()[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.as_ref().iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            let space = " ".repeat(width - cell.width());
            if right.contains(&column) { space + cell } else { format!("{cell}{space}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// A name that comes from another program, as a table cell.
fn table_cell(name: &str) -> String {
    if name.is_empty() { "-".to_owned() } else { printable(name, 200) }
}

/// Asks a question on the terminal; anything but yes is no.
fn is_confirmed(question: &str) -> bool {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(question.as_bytes()).and_then(|()| stdout.flush());
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    matches!(line.trim(), "y" | "Y" | "yes")
}

/// Prints on standard error what a preview in another profile's words does not say about the stored output.
fn warn_about_store(profile: &Profile, shown: &Outcome<'_>) {
    let Some(preview) = shown.preview() else { return };
    let warning = match preview.saved() {
        Saved::Failed { error, .. } if !profile.reports_store_errors() => {
            format!("the output was not stored: {error}")
        }
        Saved::Complete(entry) if profile.wording().is_some() => match offcut::report::only_local(entry) {
            Some(reason) => format!("{} is only on this machine so far: {reason}", entry.id),
            None => return,
        },
        _ => return,
    };
    diagnostic::say(warning);
}

/// Shows the progress of long work on a terminal.
struct Progress {
    what: &'static str,
    total: usize,
    done: usize,
    visible: bool,
}

impl Progress {
    fn new(what: &'static str, total: usize) -> Progress {
        Progress { what, total, done: 0, visible: std::io::stderr().is_terminal() }
    }

    fn step(&mut self) {
        self.done += 1;
        // Every hundredth step is often enough to see progress, and costs nothing.
        if self.visible && (self.done.is_multiple_of(100) || self.done == self.total) {
            diagnostic::print(&format!("\r\x1b[Koffcut: {} {} of {}", self.what, self.done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.visible {
            diagnostic::print("\r\x1b[K");
        }
    }
}
