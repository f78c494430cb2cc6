//! Trees and lists of paths: the entries near the root, and the number of entries.

use super::table::is_total;
use super::{Contents, Format, Gaps, REGULAR_PERCENT, Row, count, is_majority, is_path, later};
use crate::strategy::fingerprint;
use std::collections::HashSet;

/// `npm ls`, `cargo tree`, `tree`; `ls -R`; `find`.
#[derive(Default)]
pub(super) struct Tree {
    lines: u64,
    /// Lines of a tree drawing.
    branches: u64,
    /// Directory headings, as `ls -R` prints them, and the names below them.
    directories: u64,
    names: u64,
    /// Lines of a listing that are neither: totals and errors.
    remarks: u64,
    /// How many lines of the current directory there were.
    lines_in_directory: u64,
    /// Lines that are certainly paths, and all that may be.
    paths: u64,
    likely_paths: u64,
    others: u64,
    /// The directory of the last path, and how many paths in a row are in it.
    directory: Vec<u8>,
    siblings: u64,
    /// For each level, how many directories in a row differ from the one before at that level.
    directories_at: Vec<u64>,
    /// The directories of all paths, by hash.
    known: HashSet<u64>,
    after_blank: bool,
}

/// Whether hardly anything but a list of paths begins with this line.
pub(super) fn is_clear_start(line: &[u8]) -> bool {
    // A comment may begin with slashes.
    line == b"." || (line.contains(&b'/') && !line.contains(&b' ') && is_path(line))
}

/// How many names at the beginning of two directories are the same.
fn shared_levels(one: &[u8], other: &[u8]) -> usize {
    let [one, other] = [one, other].map(|path| path.split(|&byte| byte == b'/'));
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// The depth of a line in a tree, by the branches drawn before its name.
fn depth(line: &[u8]) -> Option<i32> {
    // Most lines are plain names.
    memchr::memchr2(0xE2, b'|', line).or_else(|| memchr::memchr2(b'`', b'+', line))?;
    let text = String::from_utf8_lossy(line);
    let drawn = text.chars().take_while(|char| " │├└─┬|`+-\u{a0}\\".contains(*char));
    let (mut width, mut joints) = (0_i32, 0_i32);
    for char in drawn {
        width += 1;
        joints += i32::from("├└│".contains(char) || (char == '|' || char == '`' || char == '+'));
    }
    let entry = text.trim_start_matches([' ', '|']);
    let is_branch = ["├─", "└─"].iter().any(|branch| text.contains(branch))
        || ["│", "|   "].iter().any(|branch| text.starts_with(branch))
        || ["-- ", "`-- ", "+-- "].iter().any(|branch| entry.starts_with(branch));
    (is_branch && joints > 0).then_some(width / 2)
}

impl Tree {
    /// A line below a directory heading.
    fn read_name(&mut self, line: &[u8], after_blank: bool) -> Row {
        if line.starts_with(b"ls: ") {
            self.remarks += 1;
            return Row::unit(PROBLEM);
        }
        // In a listing, only a directory heading follows a blank line.
        if after_blank {
            self.others += 1;
            return Row::irregular();
        }
        self.lines_in_directory += 1;
        if self.lines_in_directory == 1 && is_total(line) {
            self.remarks += 1;
            return Row::unit(0);
        }
        self.names += 1;
        // Few names contain spaces; most other lines do.
        if line.contains(&b' ') {
            return Row::irregular();
        }
        // The contents of the root come before directories far from it.
        let near = if self.directories == 1 { NEAR_ROOT } else { 0 };
        Row::unit(near - later(self.lines_in_directory))
    }

    /// A path of a list. The first one in a directory says more than its neighbours, the more so the nearer to the root the
    /// directory differs from the one before it: so every part of a large tree is shown before much of any.
    fn read_path(&mut self, line: &[u8]) -> Row {
        let directory = &line[..memchr::memrchr(b'/', line).unwrap_or(0)];
        if directory == self.directory {
            self.siblings += 1;
            return Row::unit(-later(self.siblings));
        }
        let level = shared_levels(directory, &self.directory);
        self.directory.clear();
        self.directory.extend_from_slice(directory);
        self.siblings = 1;
        if self.known.len() < MAX_DIRECTORIES {
            self.known.insert(fingerprint::exact(directory));
        }
        self.directories_at.resize(level + 1, 0);
        self.directories_at[level] += 1;
        Row::unit((DIRECTORY - PER_LEVEL * level as i32 - later(self.directories_at[level])).max(0))
    }
}

/// What a line that reports a problem is worth more than others, the name of a directory, and an entry of the root; and how
/// much less each level further from the root, and each two columns of a drawn branch.
const PROBLEM: i32 = 400;
const DIRECTORY: i32 = 250;
const NEAR_ROOT: i32 = 90;
const PER_LEVEL: i32 = 45;
const PER_BRANCH: i32 = 50;

/// At least these percentages of the lines of a tree are drawn branches, and those of a listing have its form.
const BRANCHES_PERCENT: u64 = 85;
const LISTED_PERCENT: u64 = 90;

/// A listing has at least this many directories.
const MIN_DIRECTORIES: u64 = 3;

/// How many directories of paths are counted. With more, gaps do not say how many they contain.
const MAX_DIRECTORIES: usize = 65_536;

/// Words for problems in a dependency tree.
const PROBLEMS: [&[u8]; 5] = [b"UNMET", b"invalid", b"extraneous", b"missing:", b"ERR!"];

impl Format for Tree {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        let after_blank = std::mem::replace(&mut self.after_blank, line.is_empty());
        if line.is_empty() {
            return Row::unit(0);
        }
        if let Some(depth) = depth(line) {
            self.branches += 1;
            let is_problem = PROBLEMS.iter().any(|word| memchr::memmem::find(line, word).is_some());
            return Row::unit(if is_problem { PROBLEM } else { (DIRECTORY - PER_BRANCH * depth).max(0) });
        }
        let has_space = memchr::memchr2(b' ', b'\t', line).is_some();
        if let Some(directory) = line.strip_suffix(b":")
            && (after_blank || self.lines == 1)
            && (self.directories > 0 || !has_space)
        {
            self.directories += 1;
            self.lines_in_directory = 0;
            let depth = directory.iter().filter(|&&byte| byte == b'/').count() as i32;
            return Row::unit((DIRECTORY - PER_LEVEL * depth.min(9)).max(NEAR_ROOT));
        }
        if self.directories > 0 {
            return self.read_name(line, after_blank);
        }
        self.likely_paths += u64::from(super::is_path(line));
        // A tag of a page has a slash, too.
        let is_tag = line.first() == Some(&b'<');
        if is_tag || has_space || memchr::memchr(b'/', line).is_none() || memchr::memchr(b':', line).is_some()
        {
            self.others += 1;
            return match super::is_path(line) {
                true => Row::unit(0),
                // The root of a tree has no branch.
                false if has_space && (after_blank || self.lines == 1) => Row::unit(DIRECTORY),
                false => Row::irregular(),
            };
        }
        self.paths += 1;
        self.read_path(line)
    }

    fn can_match(&self, lines_left: u64) -> bool {
        let has = |lines, percent| is_majority(lines + lines_left, self.lines + lines_left, percent);
        // A blank line comes before each directory.
        let listed = self.directories * 2 + self.names + self.remarks;
        let is_listing = self.directories + lines_left >= MIN_DIRECTORIES
            && self.names + lines_left > 0
            && self.others == 0;
        has(self.branches, BRANCHES_PERCENT)
            || has(self.paths, REGULAR_PERCENT)
            || (is_listing && has(listed, LISTED_PERCENT))
    }

    fn remark(&self) -> String {
        if self.directories > 0 {
            return format!("listing of {}", self.describe(self.contents()));
        }
        match self.branches {
            0 if self.likely_paths == self.lines => {
                format!("list of {}", count(self.likely_paths, "path"))
            }
            0 => "list of paths".to_owned(),
            branches => format!("tree of {}", count(branches, "entry")),
        }
    }

    fn contents(&self) -> Contents {
        [self.directories, self.names, self.branches + self.likely_paths, self.known.len() as u64, 0]
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }

    fn nouns(&self) -> &'static [&'static str] {
        match self.known.len() < MAX_DIRECTORIES {
            true => &["directory", "name", "entry", "more directory"],
            false => &["directory", "name", "entry"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_branches_have_a_depth() {
        for (line, expected) in [
            ("├── src", Some(2)),
            ("│   └── main.rs", Some(4)),
            ("|-- src", Some(2)),
            ("|   `-- main.rs", Some(4)),
            ("|   |-- lib.rs", Some(4)),
            ("+-- express@4.18.2", Some(2)),
            ("src", None),
            ("-- a comment", None),
            ("a | b", None),
        ] {
            assert_eq!(depth(line.as_bytes()), expected, "{line}");
        }
    }
}
