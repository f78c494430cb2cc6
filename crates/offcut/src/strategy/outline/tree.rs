//! Trees and lists of paths: the entries near the root, and the number of entries.

use super::table::is_total;
use super::{Contents, Format, Row, count, is_majority};

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
    /// The first two components of the last path.
    parent: Vec<u8>,
    after_blank: bool,
}

/// The depth of a line in a tree, by the branches drawn before its name.
fn depth(line: &[u8]) -> Option<i32> {
    // Most lines are plain names.
    if !line.iter().any(|&byte| byte == 0xE2 || matches!(byte, b'|' | b'`' | b'+')) {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    let drawn = text.chars().take_while(|char| " │├└─┬|`+-\u{a0}\\".contains(*char));
    let (mut width, mut joints) = (0_i32, 0_i32);
    for char in drawn {
        width += 1;
        joints += i32::from("├└│".contains(char) || (char == '|' || char == '`' || char == '+'));
    }
    let is_branch = text.contains("├─")
        || text.contains("└─")
        || text.starts_with('│')
        || text.starts_with("|   ")
        || text.trim_start_matches([' ', '|']).starts_with("|-- ")
        || text.trim_start_matches([' ', '|']).starts_with("`-- ")
        || text.trim_start_matches([' ', '|']).starts_with("+-- ");
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
        Row::unit(if self.directories == 1 && self.lines_in_directory <= 60 { NEAR_ROOT } else { 0 })
    }
}

/// What a line that reports a problem is worth more than others, the name of a directory, and an entry near the root; and
/// how much less each level further from it.
const PROBLEM: i32 = 400;
const DIRECTORY: i32 = 250;
const NEAR_ROOT: i32 = 90;
const PER_LEVEL: i32 = 20;

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
            return Row::unit(if is_problem { PROBLEM } else { (NEAR_ROOT - PER_LEVEL * depth).max(0) });
        }
        let has_space = line.iter().any(|byte| matches!(byte, b' ' | b'\t'));
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
        if has_space || !line.contains(&b'/') || line.contains(&b':') {
            self.others += 1;
            return match super::is_path(line) {
                true => Row::unit(0),
                // The root of a tree has no branch.
                false if has_space && (after_blank || self.lines == 1) => Row::unit(DIRECTORY),
                false => Row::irregular(),
            };
        }
        self.paths += 1;
        let mut slashes = memchr::memchr_iter(b'/', line.strip_prefix(b"./").unwrap_or(line));
        let end = slashes.nth(1).or(memchr::memrchr(b'/', line)).unwrap_or(line.len());
        let parent = &line[..end.min(line.len())];
        if parent == self.parent {
            return Row::unit(0);
        }
        self.parent = parent.to_vec();
        Row::unit(NEAR_ROOT)
    }

    fn is_match(&self) -> bool {
        let lists = self.directories >= 3 && self.names > 0 && self.others == 0;
        is_majority(self.branches, self.lines, 85)
            || (is_majority(self.paths, self.lines, 97))
            || (lists && is_majority(self.directories * 2 + self.names + self.remarks, self.lines, 90))
    }

    fn remark(&self) -> String {
        if self.directories > 0 {
            let (directories, names) = (self.directories, self.names);
            return format!(
                "listing of {}, {}",
                count(directories, "directory", "directories"),
                count(names, "name", "names")
            );
        }
        if self.branches > 0 {
            format!("tree of {}", count(self.branches, "entry", "entries"))
        } else {
            match self.likely_paths == self.lines {
                true => format!("list of {}", count(self.likely_paths, "path", "paths")),
                false => "list of paths".to_owned(),
            }
        }
    }

    fn contents(&self) -> Contents {
        [self.directories, self.names, self.branches + self.likely_paths, 0, 0]
    }

    fn describe(&self, [directories, names, entries, ..]: Contents) -> String {
        match (directories, names, entries) {
            (0, 0, 0) => String::new(),
            (0, 0, _) => count(entries, "entry", "entries"),
            (0, ..) => count(names, "name", "names"),
            _ => format!(
                "{}, {}",
                count(directories, "directory", "directories"),
                count(names, "name", "names")
            ),
        }
    }
}
