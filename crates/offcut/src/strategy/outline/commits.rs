//! The history that `git log` prints: the newest commits in full, the subjects of more, and how many there are.

use super::{STRAY, Shape, are_most, count, is_path};

/// What the newest commit is worth; each older one is worth a little less.
const NEWEST: u32 = 1_000_000;

/// `commit …`, its author and date, its message; or a line for each commit, with or without its files.
#[derive(Default)]
pub(super) struct Commits {
    lines: u64,
    alike: u64,
    commits: u64,
    /// Commits that have a line each, and how many of their names could not be numbers.
    short: u64,
    lettered: u64,
    /// The name of the last of them.
    name: Vec<u8>,
    /// Whether the subject of the commit is to come.
    awaits_subject: bool,
}

pub(super) fn is_commit(line: &[u8]) -> bool {
    line.strip_prefix(b"commit ").is_some_and(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        digits >= 7 && matches!(rest.get(digits), None | Some(b' '))
    })
}

/// The name in `27d9225 subject`. What counts up from nothing is an offset, and two blanks are those of a column.
fn short_commit(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    let (name, rest) = line.split_at(digits);
    let is_name = matches!(digits, 7..=14 | 40) && !name.starts_with(b"000");
    let is_subject = matches!(rest, [b' ', first, ..] if !matches!(first, b' ' | b'*'))
        && memchr::memmem::find(rest, b"@{").is_none();
    (is_name && is_subject).then_some(name)
}

/// The line without the branches that `--graph` draws before it.
fn undrawn(line: &[u8]) -> &[u8] {
    let mut rest = line;
    while let [b'*' | b'|' | b'/' | b'\\' | b'_', behind @ ..] = rest
        && matches!(line[0], b'*' | b'|')
    {
        rest = behind.strip_prefix(b" ").unwrap_or(behind);
    }
    rest
}

impl Commits {
    /// Whether the line is the commit itself.
    fn enter(&mut self, line: &[u8]) -> bool {
        if is_commit(line) {
            self.commits += 1;
            self.awaits_subject = true;
            return true;
        }
        let Some(name) = short_commit(line) else { return false };
        // In a history no commit stands twice; where it does, each line of a file tells whose it is.
        if name == self.name {
            return false;
        }
        self.commits += 1;
        self.short += 1;
        self.lettered += u64::from(!name.iter().all(u8::is_ascii_digit));
        self.name = name.to_vec();
        true
    }
}

impl Shape for Commits {
    fn worth(&mut self, line: &[u8]) -> u32 {
        self.lines += 1;
        self.alike += 1;
        let line = undrawn(line);
        // The newest first.
        let subject = NEWEST.saturating_sub(u32::try_from(self.commits).unwrap_or(NEWEST)).max(700);
        if self.enter(line) {
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
            // The statistics of a commit: files, and how many of them.
            [b' ', ..] => 40,
            // Its files: names alone, or with a letter and a tab for what became of them.
            _ if self.short > 0 && (is_path(line) || !line.contains(&b' ')) => 40,
            _ => {
                self.alike -= 1;
                STRAY
            }
        }
    }

    fn is_met(&self) -> bool {
        self.commits >= 3 && self.lettered * 2 >= self.short && are_most(self.alike, self.lines, 97)
    }

    fn remark(&self) -> String {
        format!("history of {}", count(self.commits, "commit", "commits"))
    }

    fn ends(&self) -> (u32, u32) {
        (40, 6)
    }
}
