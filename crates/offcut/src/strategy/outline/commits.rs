//! The output of `git log`: the newest commits in full, the subjects of more, and the number of commits.

use super::{Contents, Format, Gaps, Row, WHOLE_LINE, count, is_path, is_regular};

/// The value of the lines that name the newest commit, and that of any other commit at least: all of them are shown before
/// any message, the newest first.
const NEWEST_SUBJECT: i32 = 700;
const SUBJECT: i32 = 300;

/// A history has at least this many commits.
const MIN_COMMITS: u64 = 3;

/// What authors, dates and blank lines are worth more. Every commit has them.
const DATE: i32 = -60;

/// `commit …` with author, date and message; or one line per commit, with or without its files.
#[derive(Default)]
pub(super) struct Commits {
    lines: u64,
    irregular: u64,
    commits: u64,
    /// Commits that are one line each, and how many of their hashes contain a letter.
    short: u64,
    lettered: u64,
    /// The hash of the last of them.
    hash: Vec<u8>,
    /// Whether the subject of the commit has not been read yet, and whether its author or date was.
    awaits_subject: bool,
    is_after_author: bool,
    /// Whether the next line is the first one after a subject.
    is_after_subject: bool,
    /// The line with the author of the last commit.
    author: Vec<u8>,
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
            (self.awaits_subject, self.is_after_author) = (true, false);
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

impl Commits {
    /// Reads a line between the one that names a commit and its message. All of them up to the subject are one unit, so that
    /// no author is shown without the subject; an author who also made the commit before is hidden in it.
    fn read_header(&mut self, line: &[u8], subject: i32) -> Option<Row> {
        let is_author = line.starts_with(b"Author: ");
        let names: [&[u8]; 6] =
            [b"Date: ", b"Merge: ", b"AuthorDate: ", b"Commit: ", b"CommitDate: ", b"Reflog"];
        let is_subject = line.starts_with(b"    ");
        if !is_author && !is_subject && !line.is_empty() && !names.iter().any(|name| line.starts_with(name)) {
            return None;
        }
        if is_subject {
            (self.awaits_subject, self.is_after_subject) = (false, true);
        }
        let is_same = is_author && line == self.author;
        if is_author {
            self.author = line.to_vec();
        }
        Some(match std::mem::replace(&mut self.is_after_author, true) {
            true => Row::part(),
            false => Row::valued(subject).repeating(if is_same { WHOLE_LINE } else { 0 }),
        })
    }
}

impl Format for Commits {
    fn read(&mut self, line: &[u8]) -> Row {
        self.lines += 1;
        let line = strip_graph(line);
        let subject =
            NEWEST_SUBJECT.saturating_sub(i32::try_from(self.commits).unwrap_or(i32::MAX)).max(SUBJECT);
        if self.count_commit(line) {
            return Row::valued(subject);
        }
        if self.awaits_subject
            && let Some(row) = self.read_header(line, subject)
        {
            return row;
        }
        match line {
            // A message is one unit, and so are the files of a commit.
            [] => Row::unit(DATE),
            [b' ', ..] if std::mem::take(&mut self.is_after_subject) => Row::unit(0),
            [b' ', ..] => Row::part(),
            // The files of a commit: `src/a.rs`, `M\tsrc/a.rs`.
            _ if is_path(line) || line.contains(&b'\t') || !line.contains(&b' ') => Row::unit(0),
            _ => {
                self.irregular += 1;
                Row::irregular()
            }
        }
    }

    fn gaps(&self) -> Gaps {
        Gaps::AsNeeded
    }

    fn contents(&self) -> Contents {
        [self.commits, 0, 0, 0, 0]
    }

    fn nouns(&self) -> &'static [&'static str] {
        &["commit"]
    }

    fn can_match(&self, lines_left: u64) -> bool {
        self.commits + lines_left >= MIN_COMMITS
            && (self.lettered + lines_left) * 2 >= self.short
            && is_regular(self.irregular, self.lines + lines_left)
    }

    fn remark(&self) -> String {
        format!("history of {}", count(self.commits, "commit"))
    }
}
