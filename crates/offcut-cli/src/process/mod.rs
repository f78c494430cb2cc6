//! Runs a command so that it behaves as without offcut.
//!
//! `launch` starts it, `watch` reads its output until it ends, and `drain_in_background` keeps reading if a background
//! process still holds the output open.

mod drain;
mod launch;
mod platform;
mod signals;
mod status_line;
mod watch;

pub(crate) use drain::{DRAIN, LaterOutput, drain, drain_in_background};
pub(crate) use launch::{Launch, LaunchError, Outputs, exit_code, launch};
pub(crate) use platform::{
    InheritedState, catch_file_size_signal, catch_interrupt, die_of, enlarge_pipe, pipe_identity,
};
pub(crate) use signals::Signals;
pub(crate) use status_line::StatusLine;
pub(crate) use watch::{CommandExit, ExitCause, Observer, OpenOutput, Stream, watch};
