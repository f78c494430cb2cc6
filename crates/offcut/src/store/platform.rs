//! What the directory store needs from the system: private files, no links, reads at a position.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

pub(super) use system::{
    create_private_directory, is_private, is_same_file, is_shared, open_unless_link, private, read_at,
    temporary_file,
};
