//! The history that `git log` prints: the newest commits in full, the subjects of more, and how many there are.

use super::{Shape, are_most, count};

/// `commit …`, its author and date, its message.
#[derive(Default)]
pub(super) struct Commits {
    lines: u64,
    alike: u64,
    commits: u64,
    /// Whether the subject of the commit is to come.
    awaits_subject: bool,
}

pub(super) fn is_commit(line: &[u8]) -> bool {
    line.strip_prefix(b"commit ").is_some_and(|rest| {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        digits >= 7 && matches!(rest.get(digits), None | Some(b' '))
    })
}

impl Shape for Commits {
    fn worth(&mut self, line: &[u8]) -> u32 {
        self.lines += 1;
        self.alike += 1;
        if is_commit(line) {
            self.commits += 1;
            self.awaits_subject = true;
            return 700;
        }
        let names: [&[u8]; 6] =
            [b"Author: ", b"Date: ", b"Merge: ", b"AuthorDate: ", b"Commit: ", b"CommitDate: "];
        if names.iter().any(|name| line.starts_with(name)) {
            return 60;
        }
        match line {
            [b' ', b' ', b' ', b' ', ..] if self.awaits_subject => {
                self.awaits_subject = false;
                700
            }
            [] => 0,
            [b' ', b' ', b' ', b' ', ..] => 50,
            // The statistics of a commit: files, and how many of them.
            [b' ', ..] => 40,
            _ => {
                self.alike -= 1;
                0
            }
        }
    }

    fn is_met(&self) -> bool {
        self.commits >= 3 && are_most(self.alike, self.lines, 97)
    }

    fn remark(&self) -> String {
        format!("history of {}", count(self.commits, "commit", "commits"))
    }

    fn ends(&self) -> (u32, u32) {
        (40, 6)
    }
}
