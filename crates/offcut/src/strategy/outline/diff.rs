//! Differences: which files, where in them, and how many lines.

use super::commits::is_commit;
use super::{STRAY, Shape, are_most, count};

/// A unified diff, as git and diff print it.
#[derive(Default)]
pub(super) struct Diff {
    lines: u64,
    alike: u64,
    files: u64,
    hunks: u64,
    /// Files and directories that are on one side only, as `diff -r` tells.
    alone: u64,
    /// Whether the file was named and nothing of it was seen yet.
    is_named: bool,
    added: u64,
    removed: u64,
    /// How many lines of the hunk are to come, of the old text and of the new.
    old: u64,
    new: u64,
    /// How many changed lines of the hunk were seen.
    changes: u32,
    /// How many hunks of the file were seen.
    place: u32,
    commits: u64,
    awaits_subject: bool,
}

impl Diff {
    /// Whether this is the first hunk of one of the first files: a few changes are shown whatever there is, because the
    /// names of files and the headers of hunks alone say little.
    fn is_sample(&self) -> bool {
        self.files <= 3 && self.place == 1
    }

    fn worth_in_hunk(&mut self, line: &[u8]) -> Option<u32> {
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
        // A few lines of each hunk before more of any, and of the first hunks of a file before the others.
        let later = 20 * ((self.changes - 1) / 4) + 5 * self.place;
        Some(400_u32.saturating_sub(later).max(80))
    }
}

impl Shape for Diff {
    fn worth(&mut self, line: &[u8]) -> u32 {
        self.lines += 1;
        if self.old + self.new > 0 || line.starts_with(b"\\ No newline") {
            if let Some(worth) = self.worth_in_hunk(line) {
                self.alike += 1;
                return worth;
            }
            (self.old, self.new) = (0, 0);
        }
        if let Some(worth) = self.worth_of_commit(line) {
            return self.alike_worth(worth);
        }
        let begins = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| line.starts_with(prefix));
        let worth = if let Some((old, new)) = hunk(line) {
            self.hunks += 1;
            self.place += 1;
            (self.old, self.new, self.changes, self.is_named) = (old, new, 0, false);
            if self.is_sample() { 1010 } else { 700_u32.saturating_sub(2 * self.place).max(500) }
        } else if begins(&[b"diff --git ", b"diff -", b"Index: "]) {
            self.files += 1;
            (self.place, self.is_named) = (0, true);
            1000
        } else if begins(&[b"Only in "]) {
            self.alone += 1;
            600
        } else if begins(&[b"Binary files "]) {
            // Without a line of its own for the file, this one is it.
            self.files += u64::from(!std::mem::take(&mut self.is_named));
            600
        } else if begins(&[b"--- "]) {
            // Without a line of its own for the file, this one is it.
            250
        } else if begins(&[b"+++ "]) {
            if self.files == 0 || self.place > 0 {
                self.files += 1;
                self.place = 0;
                return self.alike_worth(1000);
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
            // Such lines stand in hunks, whose lengths may be wrong.
            let may_be_of_hunk = matches!(line.first(), Some(b' ' | b'+' | b'-'));
            return if may_be_of_hunk { 0 } else { STRAY };
        };
        self.alike_worth(worth)
    }

    fn is_met(&self) -> bool {
        self.hunks > 0 && self.files > 0 && are_most(self.alike, self.lines, 95)
    }

    fn remark(&self) -> String {
        let Diff { added, removed, .. } = self;
        let (files, hunks) = (count(self.files, "file", "files"), count(self.hunks, "hunk", "hunks"));
        let commits = match self.commits {
            0 => String::new(),
            commits => format!(" in {}", count(commits, "commit", "commits")),
        };
        let alone = match self.alone {
            0 => String::new(),
            alone => format!(", {alone} only on one side"),
        };
        format!("diff of {files}{commits}: {hunks}, +{added} -{removed} lines{alone}")
    }

    fn ends(&self) -> (u32, u32) {
        (2, 0)
    }
}

impl Diff {
    /// What the first line of a commit and its subject are worth, where a history shows its changes.
    fn worth_of_commit(&mut self, line: &[u8]) -> Option<u32> {
        if is_commit(line) {
            self.commits += 1;
            self.awaits_subject = true;
            return Some(1100);
        }
        let is_subject = self.awaits_subject && line.starts_with(b"    ");
        self.awaits_subject &= !is_subject;
        is_subject.then_some(1100)
    }

    fn alike_worth(&mut self, worth: u32) -> u32 {
        self.alike += 1;
        worth
    }
}

/// The lengths in the header of a hunk: `@@ -1,7 +1,9 @@`.
fn hunk(line: &[u8]) -> Option<(u64, u64)> {
    let ranges = line.strip_prefix(b"@@ -")?;
    let ranges = &ranges[..memchr::memmem::find(ranges, b" @@")?];
    let (old, new) = std::str::from_utf8(ranges).ok()?.split_once(" +")?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some((length(old)?, length(new)?))
}
