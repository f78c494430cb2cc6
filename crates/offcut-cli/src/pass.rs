//! `OFFCUT_PASS=1`: the output of one call is passed on whole, neither shortened nor stored.

use crate::config::PASS_VARIABLE;
use std::ffi::OsStr;

/// Whether the variable is set for this call.
pub(crate) fn is_set() -> bool {
    std::env::var_os(PASS_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether a command line sets the variable itself, as in `OFFCUT_PASS=1 make`: offcut, which starts the shell that does so,
/// does not have it.
pub(crate) fn is_set_in(line: &OsStr) -> bool {
    let assignment = format!("{PASS_VARIABLE}=1");
    line.to_string_lossy().split_whitespace().any(|word| word == assignment)
}
