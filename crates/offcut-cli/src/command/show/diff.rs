//! An output with what was not shown of it: dimmed, or with a sign before each line.

use anstream::adapter::StripBytes;
use anstyle::Style;
use offcut::cut::{Gap, GapReason};
use offcut::terminal::printable;
use std::io::{self, Write};
use std::ops::Range;

/// How parts that were not shown are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marking {
    /// Dimmed.
    Colour,
    /// A sign before each line: `-` if nothing of it was shown, `~` if a part was.
    Signs,
}

pub(super) struct Diff<'a> {
    /// What was not shown and does not end before the next line.
    gaps: &'a [Range<u64>],
    marking: Marking,
    /// The position of the next line.
    at: u64,
}

/// What was not shown, as ranges of bytes in order, without overlaps, which metadata of another program can have. A line of
/// which a terminal shows something else was shown.
pub(super) fn hidden(gaps: &[Gap]) -> Vec<Range<u64>> {
    let hidden = gaps.iter().filter(|gap| gap.why != GapReason::Control);
    let mut hidden: Vec<Range<u64>> = hidden.map(|gap| gap.start..gap.end).collect();
    hidden.sort_by_key(|gap| gap.start);
    hidden.dedup_by(|next, last| {
        let is_overlap = next.start < last.end;
        last.end = if is_overlap { last.end.max(next.end) } else { last.end };
        is_overlap
    });
    hidden
}

impl<'a> Diff<'a> {
    pub(super) fn new(gaps: &'a [Range<u64>], marking: Marking) -> Diff<'a> {
        Diff { gaps, marking, at: 0 }
    }

    /// Writes the next line, which may have no line feed.
    pub(super) fn line(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let (start, end) = (self.at, self.at + line.len() as u64);
        self.at = end;
        let passed = self.gaps.partition_point(|gap| gap.end <= start);
        self.gaps = &self.gaps[passed..];
        let mut parts: Vec<(bool, &[u8])> = Vec::new();
        let mut at = start;
        let slice = |from: u64, to: u64| &line[(from - start) as usize..(to - start) as usize];
        for gap in self.gaps.iter().take_while(|gap| gap.start < end) {
            let (from, to) = (gap.start.max(at), gap.end.min(end));
            parts.push((false, slice(at, from)));
            parts.push((true, slice(from, to)));
            at = to;
        }
        parts.push((false, slice(at, end)));
        parts.retain(|(_, part)| !part.is_empty());
        self.write(&parts, out)?;
        out.write_all(b"\n")
    }

    fn write(&self, parts: &[(bool, &[u8])], out: &mut dyn Write) -> io::Result<()> {
        if self.marking == Marking::Signs {
            // The line feed alone is no part of a line that matters.
            let texts = || parts.iter().filter(|(_, part)| !matches!(part, [b'\n'] | [b'\r', b'\n']));
            let is_any_hidden = parts.iter().any(|(is_hidden, _)| *is_hidden);
            let sign = match texts().all(|(is_hidden, _)| *is_hidden) {
                true if is_any_hidden => "- ",
                false if texts().any(|(is_hidden, _)| *is_hidden) => "~ ",
                _ => "  ",
            };
            out.write_all(sign.as_bytes())?;
        }
        // An escape sequence can begin in one part and end in the next.
        let mut strip = StripBytes::new();
        for (is_hidden, part) in parts {
            let text: Vec<u8> = strip.strip_next(part).flatten().copied().collect();
            let text = String::from_utf8_lossy(&text);
            let text = text.trim_end_matches(['\r', '\n']);
            let style = match (self.marking, is_hidden) {
                (Marking::Colour, true) => Style::new().dimmed(),
                _ => Style::new(),
            };
            let fields: Vec<String> = text.split('\t').map(|field| printable(field, usize::MAX)).collect();
            write!(out, "{style}{}{style:#}", fields.join("\t"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, gaps: &[(u64, u64)], marking: Marking, expected: &str) {
        let gaps: Vec<Range<u64>> = gaps.iter().map(|&(start, end)| start..end).collect();
        let mut diff = Diff::new(&gaps, marking);
        let mut out = Vec::new();
        for line in text.split_inclusive('\n') {
            diff.line(line.as_bytes(), &mut out).unwrap();
        }
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn overlapping_gaps_in_any_order_are_merged() {
        let gap = |start, end| Gap {
            start,
            end,
            first_line: 1,
            last_line: 1,
            from: offcut::cut::LinePosition::Start,
            to: offcut::cut::LinePosition::Start,
            why: GapReason::Omitted,
        };
        let gaps = [gap(700, 800), gap(0, 600), gap(200, 402), gap(800, 900), gap(10, 650)];
        assert_eq!(hidden(&gaps), [0..650, 700..800, 800..900]);
    }

    #[test]
    fn marks_lines_that_were_not_shown() {
        let text = "one\ntwo\nthree\n\nfour";
        check(text, &[(4, 8)], Marking::Signs, "  one\n- two\n  three\n  \n  four\n");
        check(text, &[(5, 8), (14, 16)], Marking::Signs, "  one\n~ two\n  three\n- \n~ four\n");
        check(text, &[(0, 19)], Marking::Signs, "- one\n- two\n- three\n- \n- four\n");
        check(text, &[], Marking::Signs, "  one\n  two\n  three\n  \n  four\n");
        check("one\ntwo\n", &[(2, 5)], Marking::Colour, "on\x1b[2me\x1b[0m\n\x1b[2mt\x1b[0mwo\n");
    }

    #[test]
    fn no_control_sequence_of_the_output_is_printed() {
        check("\x1b[31mred\x1b[0m\tx\x07\u{202e}\r\n", &[], Marking::Signs, "  red\tx?\n");
        check("\x1b]0;title\x07x\x1b[2Jy\n", &[(2, 9)], Marking::Signs, "~ xy\n");
    }
}
