//! The output of `git log`: the newest commits in full, the subjects of more, and the number of commits.

use super::{Format, IRREGULAR_VALUE, count, is_majority, is_path};

/// The value of the newest commit. Each older one has a little less.
const NEWEST_VALUE: i32 = 1_000_000;

/// `commit …` with author, date and message; or one line per commit, with or without its files.
#[derive(Default)]
pub(super) struct Commits {
    lines: u64,
    regular: u64,
    commits: u64,
    /// Commits that are one line each, and how many of their hashes contain a letter.
    short: u64,
    lettered: u64,
    /// The hash of the last of them.
    hash: Vec<u8>,
    /// Whether the next line is the subject of the commit.
    awaits_subject: bool,
}

pub(super) fn is_commit(line: &[u8]) -> bool {
    line.strip_prefix(b"commit ").is_some_and(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        digits >= 7 && matches!(rest.get(digits), None | Some(b' '))
    })
}

/// The hash in `27d9225 subject`. A number with leading zeros is an offset, and two spaces separate columns.
fn short_commit(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    let (hash, rest) = line.split_at(digits);
    let is_hash = matches!(digits, 7..=14 | 40) && !hash.starts_with(b"000");
    let is_subject = matches!(rest, [b' ', first, ..] if !matches!(first, b' ' | b'*'))
        && memchr::memmem::find(rest, b"@{").is_none();
    (is_hash && is_subject).then_some(hash)
}

/// A line without the branches that `--graph` draws before it.
fn strip_graph(line: &[u8]) -> &[u8] {
    let mut rest = line;
    while let [b'*' | b'|' | b'/' | b'\\' | b'_', after @ ..] = rest
        && matches!(line[0], b'*' | b'|')
    {
        rest = after.strip_prefix(b" ").unwrap_or(after);
    }
    rest
}

impl Commits {
    /// Counts the line if it starts a commit, and returns whether it does.
    fn count_commit(&mut self, line: &[u8]) -> bool {
        if is_commit(line) {
            self.commits += 1;
            self.awaits_subject = true;
            return true;
        }
        let Some(hash) = short_commit(line) else { return false };
        // In a history each commit occurs once. If a hash repeats, this is the output of `git blame`.
        if hash == self.hash {
            return false;
        }
        self.commits += 1;
        self.short += 1;
        self.lettered += u64::from(!hash.iter().all(u8::is_ascii_digit));
        self.hash = hash.to_vec();
        true
    }
}

impl Format for Commits {
    fn value(&mut self, line: &[u8]) -> i32 {
        self.lines += 1;
        self.regular += 1;
        let line = strip_graph(line);
        let subject =
            NEWEST_VALUE.saturating_sub(i32::try_from(self.commits).unwrap_or(NEWEST_VALUE)).max(700);
        if self.count_commit(line) {
            return subject - 1;
        }
        let names: [&[u8]; 6] =
            [b"Author: ", b"Date: ", b"Merge: ", b"AuthorDate: ", b"Commit: ", b"CommitDate: "];
        if names.iter().any(|name| line.starts_with(name)) {
            return 60;
        }
        match line {
            [b' ', b' ', b' ', b' ', ..] if self.awaits_subject => {
                self.awaits_subject = false;
                subject
            }
            [] => 0,
            [b' ', b' ', b' ', b' ', ..] => 50,
            // The statistics of a commit.
            [b' ', ..] => 40,
            // The files of a commit, with or without a status letter.
            _ if self.short > 0 && (is_path(line) || !line.contains(&b' ')) => 40,
            _ => {
                self.regular -= 1;
                IRREGULAR_VALUE
            }
        }
    }

    fn is_match(&self) -> bool {
        self.commits >= 3 && self.lettered * 2 >= self.short && is_majority(self.regular, self.lines, 97)
    }

    fn remark(&self) -> String {
        format!("history of {}", count(self.commits, "commit", "commits"))
    }

    fn ends(&self) -> (u32, u32) {
        (40, 6)
    }
}
