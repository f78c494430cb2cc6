//! Running a command without changing it.
//!
//! `launch ─▶ watch ─▶ (what still holds the output open: hand over)`

mod drain;
mod launch;
mod platform;
mod signals;
mod status;
mod watch;

pub(crate) use drain::{DRAIN, Rest, drain, hand_over};
pub(crate) use launch::{Launch, Outputs, exit_code, launch};
pub(crate) use platform::{Inherited, enlarge_pipe, identity, survive_large_files};
pub(crate) use signals::Signals;
pub(crate) use watch::{Fate, Open, Stream, Watched, watch};
