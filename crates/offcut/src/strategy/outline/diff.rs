//! Diffs: the files, the hunks, some changes of each, and the number of changed lines.

use super::commits::is_commit;
use super::{Format, IRREGULAR_VALUE, count, is_majority};

/// A unified diff, as git and diff print it.
#[derive(Default)]
pub(super) struct Diff {
    lines: u64,
    regular: u64,
    files: u64,
    hunks: u64,
    /// Files and directories on one side only, as `diff -r` reports them.
    on_one_side: u64,
    /// Whether a file was named and none of its changes have been seen yet.
    is_named: bool,
    added: u64,
    removed: u64,
    /// How many lines of the hunk are left, of the old text and of the new.
    old: u64,
    new: u64,
    /// How many changed lines of the hunk there were.
    changes: i32,
    /// How many hunks of the file there were.
    hunks_in_file: i32,
    commits: u64,
    awaits_subject: bool,
}

impl Diff {
    /// Whether this is the first hunk of one of the first files. A few of its changes are always shown, because file names
    /// and hunk headers alone say little.
    fn is_sample(&self) -> bool {
        self.files <= 3 && self.hunks_in_file == 1
    }

    fn value_in_hunk(&mut self, line: &[u8]) -> Option<i32> {
        let (old, new) = match line.first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b' ') | None => (1, 1),
            Some(b'\\') => (0, 0),
            _ => return None,
        };
        (self.old, self.new) = (self.old.checked_sub(old)?, self.new.checked_sub(new)?);
        (self.removed, self.added) = match (old, new) {
            (1, 0) => (self.removed + 1, self.added),
            (0, 1) => (self.removed, self.added + 1),
            _ => return Some(60),
        };
        self.changes += 1;
        if self.is_sample() && self.changes <= 3 {
            return Some(1010);
        }
        // A few lines of each hunk come before more of any, and the first hunks of a file before the others.
        let later = 20 * ((self.changes - 1) / 4) + 5 * self.hunks_in_file;
        Some((400 - later).max(80))
    }
}

impl Format for Diff {
    fn value(&mut self, line: &[u8]) -> i32 {
        self.lines += 1;
        if (self.old, self.new) != (0, 0) || line.starts_with(b"\\ No newline") {
            if let Some(value) = self.value_in_hunk(line) {
                self.regular += 1;
                return value;
            }
            (self.old, self.new) = (0, 0);
        }
        if let Some(value) = self.commit_value(line) {
            return self.regular(value);
        }
        let begins = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| line.starts_with(prefix));
        let value = if let Some((old, new)) = hunk_lengths(line) {
            self.hunks += 1;
            self.hunks_in_file += 1;
            (self.old, self.new, self.changes, self.is_named) = (old, new, 0, false);
            if self.is_sample() { 1010 } else { (700 - 2 * self.hunks_in_file).max(500) }
        } else if begins(&[b"diff --git ", b"diff -", b"Index: "]) {
            self.files += 1;
            (self.hunks_in_file, self.is_named) = (0, true);
            1000
        } else if begins(&[b"Only in "]) {
            self.on_one_side += 1;
            600
        } else if begins(&[b"Binary files "]) {
            // If no other line names the file, this one does.
            self.files += u64::from(!std::mem::take(&mut self.is_named));
            600
        } else if begins(&[b"--- "]) {
            250
        } else if begins(&[b"+++ "]) {
            if self.files == 0 || self.hunks_in_file > 0 {
                self.files += 1;
                self.hunks_in_file = 0;
                return self.regular(1000);
            }
            250
        } else if begins(&[b"rename ", b"copy ", b"new file mode", b"deleted file mode"]) {
            600
        } else if begins(&[b"index ", b"similarity index", b"dissimilarity index", b"old mode", b"new mode"])
        {
            200
        } else if begins(&[b"Author: ", b"Date: ", b"Merge: ", b"    "]) || line.is_empty() {
            150
        } else {
            // Such lines may be in a hunk whose header has the wrong length.
            let may_be_of_hunk = matches!(line.first(), Some(b' ' | b'+' | b'-'));
            return if may_be_of_hunk { 0 } else { IRREGULAR_VALUE };
        };
        self.regular(value)
    }

    fn is_match(&self) -> bool {
        self.hunks > 0 && self.files > 0 && is_majority(self.regular, self.lines, 95)
    }

    fn remark(&self) -> String {
        let Diff { added, removed, .. } = self;
        let (files, hunks) = (count(self.files, "file", "files"), count(self.hunks, "hunk", "hunks"));
        let commits = match self.commits {
            0 => String::new(),
            commits => format!(" in {}", count(commits, "commit", "commits")),
        };
        let on_one_side = match self.on_one_side {
            0 => String::new(),
            count => format!(", {count} only on one side"),
        };
        format!("diff of {files}{commits}: {hunks}, +{added} -{removed} lines{on_one_side}")
    }

    fn ends(&self) -> (u32, u32) {
        (2, 0)
    }
}

impl Diff {
    /// The value of the first line of a commit and of its subject, in a history with changes.
    fn commit_value(&mut self, line: &[u8]) -> Option<i32> {
        if is_commit(line) {
            self.commits += 1;
            self.awaits_subject = true;
            return Some(1100);
        }
        let is_subject = self.awaits_subject && line.starts_with(b"    ");
        self.awaits_subject &= !is_subject;
        is_subject.then_some(1100)
    }

    /// Counts a line as regular and returns its value.
    fn regular(&mut self, value: i32) -> i32 {
        self.regular += 1;
        value
    }
}

/// The lengths in the header of a hunk: `@@ -1,7 +1,9 @@`.
fn hunk_lengths(line: &[u8]) -> Option<(u64, u64)> {
    let ranges = line.strip_prefix(b"@@ -")?;
    let ranges = &ranges[..memchr::memmem::find(ranges, b" @@")?];
    let (old, new) = std::str::from_utf8(ranges).ok()?.split_once(" +")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some((length(old)?, length(new)?))
}
