//! The log of hook errors, which nobody would see otherwise. `offcut doctor` prints its last lines.

use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::terminal::printable;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// A larger log replaces the old one, which is deleted.
const MAX_BYTES: u64 = 64 * 1024;

/// Longer messages are truncated.
const MAX_MESSAGE_CHARS: usize = 500;

/// The path of the log.
pub(crate) fn path() -> Option<PathBuf> {
    let base = choose_base_strategy().ok()?;
    let directory = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(directory.join("offcut").join("hooks.log"))
}

/// Adds a message. Errors are ignored: a log that cannot be written must not stop a hook.
pub(crate) fn write(message: &str) {
    let Some(path) = path() else { return };
    if let Some(directory) = path.parent() {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    }
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > MAX_BYTES) {
        let _ = std::fs::rename(&path, path.with_extension("old.log"));
    }
    let message = printable(message, MAX_MESSAGE_CHARS);
    let line = format!("{} {message}\n", crate::ledger::now().strftime("%Y-%m-%dT%H:%M:%SZ"));
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Returns the last messages, the newest at the end.
pub(crate) fn last(count: usize) -> Vec<String> {
    let text = path().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().rev().take(count).map(str::to_owned).collect();
    lines.reverse();
    lines
}
