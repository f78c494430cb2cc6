//! Diffs: the files, then whole hunks, and the number of changed lines.

use super::commits::is_commit;
use super::definitions::definition;
use super::{Contents, Format, Gaps, Row, WHOLE_LINE, count, counts, is_regular};

/// A unified diff, as git and diff print it.
#[derive(Default)]
pub(super) struct Diff {
    lines: u64,
    irregular: u64,
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
    /// How many lines the hunk has, before or after the change.
    hunk_lines: u64,
    commits: u64,
    /// Whether a commit came before the first file.
    begins_with_commit: bool,
    awaits_subject: bool,
    is_settled: bool,
}

/// What the lines that name a commit are worth more than others.
const COMMIT: i32 = 400;

/// What the lines that name one of the first files are worth more: they are shown before any hunk. If there are many, the
/// names of the others count as much as a hunk.
const FIRST_FILE: i32 = 300;
const FIRST_FILES: u64 = 40;
const LATER_FILE: i32 = 30;

/// What lines that say what happened to a whole file are worth more.
const WHOLE_FILE: i32 = 150;

/// A hunk of at most this many lines is shown as a whole or not at all.
const WHOLE_HUNK_LINES: u64 = 12;

/// What the header of a longer hunk is worth more than its lines: it says where they are.
const HUNK_HEADER: i32 = 60;

/// What a changed line of a longer hunk is worth more than a line around it.
const CHANGE: i32 = 20;

impl Diff {
    /// A line of a hunk, if it is one.
    fn read_in_hunk(&mut self, line: &[u8]) -> Option<Row> {
        let (old, new) = match line.first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b' ') | None => (1, 1),
            Some(b'\\') => (0, 0),
            _ => return None,
        };
        (self.old, self.new) = (self.old.checked_sub(old)?, self.new.checked_sub(new)?);
        match (old, new) {
            (1, 0) => self.removed += 1,
            (0, 1) => self.added += 1,
            _ => {}
        }
        if self.hunk_lines <= WHOLE_HUNK_LINES {
            return Some(Row::part());
        }
        let change = if old + new == 1 { CHANGE } else { 0 };
        // Which functions were added or removed is what a reader looks for first.
        let text = line.get(1..).filter(|_| !self.is_settled);
        Some(Row::unit(change + text.and_then(definition).unwrap_or(0)))
    }

    /// The first line of a commit, or its subject, in a history with changes.
    fn is_commit_or_subject(&mut self, line: &[u8]) -> bool {
        if is_commit(line) {
            self.commits += 1;
            self.begins_with_commit |= self.files == 0;
            self.awaits_subject = true;
            return true;
        }
        let is_subject = self.awaits_subject && line.starts_with(b"    ");
        self.awaits_subject &= !is_subject;
        is_subject
    }

    /// The line that names the current file.
    fn file(&self) -> Row {
        Row::unit(if self.files <= FIRST_FILES { FIRST_FILE } else { LATER_FILE })
    }

    /// A line outside of hunks, if a diff has such lines.
    fn read_between_hunks(&mut self, line: &[u8]) -> Option<Row> {
        let begins = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| line.starts_with(prefix));
        Some(if self.is_commit_or_subject(line) {
            Row::unit(COMMIT)
        } else if let Some((old, new)) = hunk_lengths(line) {
            self.hunks += 1;
            (self.old, self.new, self.is_named) = (old, new, false);
            self.hunk_lines = old.max(new);
            Row::unit(if self.hunk_lines > WHOLE_HUNK_LINES { HUNK_HEADER } else { 0 })
        } else if begins(&[b"diff --git ", b"diff -", b"Index: "]) {
            self.files += 1;
            self.is_named = true;
            self.file()
        } else if begins(&[b"Only in "]) {
            self.on_one_side += 1;
            Row::unit(WHOLE_FILE)
        } else if begins(&[b"Binary files "]) {
            // If no other line names the file, this one does.
            self.files += u64::from(!std::mem::take(&mut self.is_named));
            Row::unit(WHOLE_FILE)
        } else if begins(&[b"+++ "]) && !self.is_named {
            self.files += 1;
            self.file()
        } else if begins(&[b"--- ", b"+++ ", b"index ", b"similarity index", b"dissimilarity index"]) {
            // They repeat what the line of the file says, or only git can use them.
            let repeated = if self.is_named { WHOLE_LINE } else { 0 };
            Row::unit(0).repeating(repeated)
        } else if begins(&[b"rename ", b"copy ", b"new file mode", b"deleted file mode"]) {
            Row::unit(WHOLE_FILE)
        } else if line.is_empty()
            || begins(&[b"old mode", b"new mode", b"Author: ", b"Date: ", b"Merge: ", b"    ", b"==="])
        {
            Row::unit(0)
        } else {
            return None;
        })
    }
}

impl Format for Diff {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        if (self.old, self.new) != (0, 0) || line.starts_with(b"\\ No newline") {
            if let Some(row) = self.read_in_hunk(line) {
                return row;
            }
            (self.old, self.new) = (0, 0);
        }
        self.read_between_hunks(line).unwrap_or_else(|| {
            self.irregular += 1;
            // Lines like those of a hunk may be in one whose header has the wrong length.
            match line.first() {
                Some(b' ' | b'+' | b'-') => Row::part(),
                _ => Row::irregular(),
            }
        })
    }

    fn can_match(&self, lines_left: u64) -> bool {
        self.hunks + lines_left > 0
            && self.files + lines_left > 0
            && is_regular(self.irregular, self.lines + lines_left)
    }

    fn remark(&self) -> String {
        let Diff { added, removed, .. } = self;
        let (files, hunks) = (count(self.files, "file"), count(self.hunks, "hunk"));
        let commits = match self.commits {
            0 => String::new(),
            commits if self.begins_with_commit => format!(" in {}", count(commits, "commit")),
            // A history follows the diff.
            commits => format!(" and {}", count(commits, "commit")),
        };
        let on_one_side = match self.on_one_side {
            0 => String::new(),
            count => format!(", {count} only on one side"),
        };
        format!("diff of {files}{commits}: {hunks}, +{added} -{removed} lines{on_one_side}")
    }

    fn settle(&mut self) {
        self.is_settled = true;
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }

    fn contents(&self) -> Contents {
        [self.commits, self.files, self.hunks, self.added, self.removed]
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["commit", "more file", "hunk"]
    }

    fn describe(&self, contents: Contents) -> String {
        let counts = counts(contents, self.nouns());
        match contents {
            [.., 0, 0] => counts,
            [.., added, removed] if counts.is_empty() => format!("+{added} -{removed}"),
            [.., added, removed] => format!("{counts}, +{added} -{removed}"),
        }
    }

    fn ends(&self) -> (u32, u32) {
        (2, 0)
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
