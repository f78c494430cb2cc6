//! What went wrong where nobody would see it: `offcut doctor` shows it.

use etcetera::{BaseStrategy, choose_base_strategy};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// More than this is of no use to anybody; the older half of it goes.
const MOST: u64 = 64 * 1024;

/// The longest remark.
const LONGEST: usize = 500;

/// Where the remarks are.
pub(crate) fn path() -> Option<PathBuf> {
    let base = choose_base_strategy().ok()?;
    let directory = base.state_dir().unwrap_or_else(|| base.data_dir());
    Some(directory.join("offcut").join("hooks.log"))
}

/// Adds a remark. That it cannot be written down is not worth a failure.
pub(crate) fn write(remark: &str) {
    let Some(path) = path() else { return };
    if let Some(directory) = path.parent() {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    }
    if std::fs::metadata(&path).is_ok_and(|found| found.len() > MOST) {
        let _ = std::fs::rename(&path, path.with_extension("old.log"));
    }
    let remark: String =
        remark.chars().take(LONGEST).map(|char| if char.is_control() { ' ' } else { char }).collect();
    let line = format!("{} {remark}\n", jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ"));
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
    let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// The last remarks, the newest at the end.
pub(crate) fn last(count: usize) -> Vec<String> {
    let text = path().and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().rev().take(count).map(str::to_owned).collect();
    lines.reverse();
    lines
}
