//! Comments and documentation in source code, which may extend over several lines.

/// A comment is read over at most this many lines: its end may be missing.
const MAX_LINES: u32 = 400;

/// What begins a line that is a comment.
const MARKS: [&[u8]; 7] = [b"//", b"/*", b"* ", b"*/", b"# ", b"-- ", b"<!--"];

/// What begins a comment of several lines, and what ends it: C, Python, HTML, Perl.
const BLOCKS: [(&[u8], &[u8]); 7] = [
    (b"/*", b"*/"),
    (b"\"\"\"", b"\"\"\""),
    (b"'''", b"'''"),
    (b"<!--", b"-->"),
    (b"=head", b"=cut"),
    (b"=pod", b"=cut"),
    (b"=over", b"=cut"),
];

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Code,
    /// A line with the mark of a comment.
    Comment,
    /// A line within a comment or a string of several lines.
    Quoted,
}

/// Finds comments, one line after the other.
#[derive(Default)]
pub(super) struct Comments {
    /// What ends the comment that is open, and how many more lines may end it.
    end: &'static [u8],
    lines_left: u32,
}

impl Comments {
    /// Reads a line, which has no white space at its ends.
    pub(super) fn read(&mut self, line: &[u8]) -> Text {
        if self.lines_left > 0 {
            let is_end = contains(line, self.end);
            self.lines_left = if is_end { 0 } else { self.lines_left - 1 };
            return Text::Quoted;
        }
        let Some(&first) = line.first() else { return Text::Code };
        // Most lines begin with a letter, which only prefixes of Python's strings do.
        if first.is_ascii_alphabetic() && !matches!(line.get(1), Some(b'"' | b'\'')) {
            return Text::Code;
        }
        let line = if matches!(first, b'r' | b'b' | b'u') { &line[1..] } else { line };
        let block = BLOCKS.iter().find(|(start, _)| line.starts_with(start));
        if let Some((start, end)) = block {
            let is_closed = contains(&line[start.len()..], end);
            (self.end, self.lines_left) = (end, if is_closed { 0 } else { MAX_LINES });
            return Text::Comment;
        }
        if MARKS.iter().any(|mark| line.starts_with(mark)) { Text::Comment } else { Text::Code }
    }
}

/// Whether a line contains a mark. Preparing a search for more than one byte would take longer than most searches.
fn contains(line: &[u8], mark: &[u8]) -> bool {
    mark.first().is_some_and(|&first| memchr::memchr_iter(first, line).any(|at| line[at..].starts_with(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[(&str, Text)]) {
        let mut comments = Comments::default();
        for (line, expected) in lines {
            assert_eq!(comments.read(line.trim().as_bytes()), *expected, "{line}");
        }
    }

    #[test]
    fn comments_end_where_their_language_ends_them() {
        use Text::{Code, Comment, Quoted};
        check(&[("// a", Comment), ("let a = 1;", Code), ("# a", Comment), ("#define A", Code)]);
        check(&[("/* a", Comment), ("error: b", Quoted), ("c */", Quoted), ("int a;", Code)]);
        check(&[("/* a */", Comment), ("int a;", Code)]);
        check(&[("\"\"\"Adds.", Comment), ("ValueError: b", Quoted), ("\"\"\"", Quoted), ("return", Code)]);
        check(&[("r'''Adds.'''", Comment), ("return", Code), ("run('a')", Code)]);
        check(&[("=head1 NAME", Comment), ("Error - b", Quoted), ("=cut", Quoted), ("sub a {", Code)]);
    }

    #[test]
    fn a_comment_without_an_end_ends_after_many_lines() {
        let mut comments = Comments::default();
        comments.read(b"/* a");
        assert!((0..MAX_LINES).all(|_| comments.read(b"b") == Text::Quoted));
        assert_eq!(comments.read(b"b"), Text::Code);
    }
}
