//! The real binary, end to end: one test binary, one file a topic.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod background;
mod commands;
mod configuration;
mod faults;
mod harness;
mod hints;
mod hooks;
mod init;
mod mcp;
mod people;
mod rendered;
mod results;
mod rewrite;
mod run;
mod run_faults;
mod shell;
mod signals;
mod stress;
mod terminal;
