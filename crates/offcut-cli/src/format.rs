//! The JSON report of `offcut run`; the other reports are the library's ([`offcut::report`]).

use crate::process::ExitCause;
use offcut::report::OutputReport;
use serde::Serialize;
use std::time::Duration;

/// The fields of `cut`, or one object for each output, and how the command ended.
#[derive(Serialize)]
pub(crate) struct RunReport<'a> {
    #[serde(flatten)]
    output: Option<OutputReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<OutputReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<OutputReport<'a>>,
    exit_code: i32,
    signal: Option<i32>,
    timed_out: bool,
    duration_ms: u64,
}

impl<'a> RunReport<'a> {
    pub(crate) fn new(
        outputs: Vec<OutputReport<'a>>,
        cause: ExitCause,
        duration: Duration,
        exit_code: i32,
    ) -> RunReport<'a> {
        let mut outputs = outputs.into_iter();
        let (output, stdout, stderr) = match (outputs.next(), outputs.next()) {
            (first, None) => (first, None, None),
            (first, second) => (None, first, second),
        };
        RunReport {
            output,
            stdout,
            stderr,
            exit_code,
            signal: match cause {
                ExitCause::Killed { signal } => Some(signal),
                ExitCause::Exited(_) | ExitCause::TimedOut => None,
            },
            timed_out: cause == ExitCause::TimedOut,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
