//! What `offcut doctor` found, printed as it is found.

use crate::arguments::Format;
use crate::failure::{CommandResult, Failure};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::io::Write;

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    state: Verdict,
    #[serde(rename = "what")]
    subject: String,
    #[serde(rename = "says")]
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Good,
    Note,
    Bad,
}

pub(super) struct Findings {
    found: Vec<Finding>,
    format: Format,
    /// Whether the text could be printed so far.
    printed: CommandResult,
}

impl Findings {
    pub(super) fn new(format: Format) -> Findings {
        Findings { found: Vec::new(), format, printed: Ok(()) }
    }

    pub(super) fn add(&mut self, state: Verdict, subject: &str, message: impl Into<String>) {
        let finding = Finding { state, subject: subject.to_owned(), message: message.into() };
        if self.format == Format::Text && self.printed.is_ok() {
            self.printed = finding.print();
        }
        self.found.push(finding);
    }

    /// Adds a good finding, or a bad one with a suggestion.
    pub(super) fn result(&mut self, subject: &str, result: Result<String, String>) {
        match result {
            Ok(message) => self.add(Verdict::Good, subject, message),
            Err(message) => self.add(Verdict::Bad, subject, message),
        }
    }

    /// Prints a summary, and fails if there is a bad finding.
    pub(super) fn finish(self) -> CommandResult {
        self.printed?;
        let count = |state| self.found.iter().filter(|finding| finding.state == state).count();
        let (problems, notes) = (count(Verdict::Bad), count(Verdict::Note));
        match self.format {
            Format::Json => crate::command::print_json(&self.found)?,
            Format::Text => {
                let summary = match problems {
                    0 => format!("\nNo problems found ({notes} notes).\n"),
                    1 => "\n1 problem found: see the line with !!.\n".to_owned(),
                    _ => format!("\n{problems} problems found: see the lines with !!.\n"),
                };
                crate::command::print(summary.as_bytes())?;
            }
        }
        if problems > 0 { Err(Failure::Problems) } else { Ok(()) }
    }
}

impl Finding {
    fn print(&self) -> CommandResult {
        let Finding { state, subject, message } = self;
        let (sign, color) = match state {
            Verdict::Good => ("ok", AnsiColor::Green),
            Verdict::Note => ("--", AnsiColor::Yellow),
            Verdict::Bad => ("!!", AnsiColor::Red),
        };
        let style = Style::new().fg_color(Some(color.into()));
        let message = crate::command::table_cell(message);
        writeln!(anstream::stdout(), "{style}{sign}{style:#} {subject:<14} {message}")?;
        Ok(())
    }
}
