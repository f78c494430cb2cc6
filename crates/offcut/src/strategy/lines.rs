//! Assembles lines from segments. The result does not depend on how the text was divided into segments.
//!
//! Markup whose lines are too long to read is divided at its tags as well: then a line is an element up to the next one.

use super::fingerprint::FoldedText;
use crate::cut::{LinePosition, PieceKind, Segment};

/// One line of the text, or a part of it where lines are divided at tags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Its first bytes; all of them, with the line feed, if the line is short enough.
    pub(super) text: &'a [u8],
    pub(super) extent: Extent,
    /// The hash of its text with the digits folded; zero if lines are read without fingerprints.
    pub(super) fingerprint: u64,
    /// The offset of `text` in the segment, unless it was copied.
    pub(super) offset: Option<usize>,
}

/// Where a line, or a range of whole lines, is in the original, and what is known of its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The offset of its first byte.
    pub(super) start: u64,
    /// Where in its line that is: inside only if lines are divided at tags.
    pub(super) begins: LinePosition,
    /// The offset after its last byte, line feed included.
    pub(super) end: u64,
    /// The number of its first line, counted from 1.
    pub(super) number: u64,
    /// How much of the text is known.
    pub(super) coverage: Coverage,
    /// Whether the text is from the original, or what a terminal would show of it.
    pub(super) form: PieceKind,
}

/// How many bytes are folded at a time: a block fits into the L1 cache.
const BLOCK: usize = 12 << 10;

/// Where a text is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Division {
    /// After each line feed.
    #[default]
    Lines,
    /// After each line feed, before the tags that [`begins_element`] recognises, and before the end tags of an element that is
    /// not kept whole.
    Tags,
}

/// The names of elements that are part of a sentence or of a row.
const INLINE: [&[u8]; 24] = [
    b"a", b"abbr", b"b", b"br", b"cite", b"code", b"em", b"font", b"i", b"img", b"kbd", b"mark", b"q", b"s",
    b"samp", b"small", b"span", b"strong", b"sub", b"sup", b"td", b"th", b"u", b"var",
];

/// With this many bytes of a tag, it is known whether it begins an element: more than the longest of these names.
const TAG_BYTES: usize = 8;

/// Whether a text begins with a tag that is not part of a sentence or of a row. An end tag and a quoted text (`<![CDATA[`)
/// belong to the element before it.
fn begins_element(text: &[u8]) -> bool {
    match text {
        [b'<', b'!', next, ..] => *next != b'[',
        [b'<', b'?', ..] => true,
        [b'<', name @ ..] if name.first().is_some_and(u8::is_ascii_alphabetic) => {
            let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            !INLINE.iter().any(|inline| name[..length].eq_ignore_ascii_case(inline))
        }
        _ => false,
    }
}

/// The length of a text up to the first place where it is divided; nothing if there is none.
pub(super) fn first_division(text: &[u8], division: Division) -> Option<usize> {
    match division {
        Division::Lines => memchr::memchr(b'\n', text).map(|feed| feed + 1),
        Division::Tags => memchr::memchr2_iter(b'<', b'\n', text).find_map(|at| match text[at] {
            b'\n' => Some(at + 1),
            _ => Some(at).filter(|&at| at > 0 && begins_element(&text[at..])),
        }),
    }
}

/// How much of a line is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// All of it.
    Whole,
    /// Only its beginning.
    Beginning,
}

/// Assembles lines. Of a long line only the beginning is kept.
pub(super) struct Lines {
    open: Vec<u8>,
    /// The full length of the open line, and the kind of its first segment.
    open_length: usize,
    open_form: PieceKind,
    open_start: u64,
    open_end: u64,
    number: u64,
    max_line_bytes: usize,
    /// Only if lines have fingerprints.
    folded: Option<FoldedText>,
    division: Division,
    /// Where in its line the open one begins.
    open_begins: LinePosition,
    /// Text that is not divided yet, because it may begin with a tag.
    pending: Vec<u8>,
}

impl Lines {
    /// Keeps at most `max_line_bytes` bytes of a line, and computes its fingerprint.
    pub(super) fn with_fingerprints(max_line_bytes: usize) -> Lines {
        Lines { folded: Some(FoldedText::default()), ..Lines::new(max_line_bytes) }
    }

    /// Keeps at most `max_line_bytes` bytes of a line.
    pub(super) fn new(max_line_bytes: usize) -> Lines {
        Lines::divided(Division::Lines, max_line_bytes)
    }

    /// Keeps at most `max_line_bytes` bytes of what is between two divisions.
    pub(super) fn divided(division: Division, max_line_bytes: usize) -> Lines {
        Lines {
            open: Vec::new(),
            open_length: 0,
            open_form: PieceKind::Verbatim,
            open_start: 0,
            open_end: 0,
            number: 1,
            max_line_bytes,
            folded: None,
            division,
            open_begins: LinePosition::Start,
            pending: Vec::new(),
        }
    }

    /// Calls `each` with every line that `segment` completes.
    pub(super) fn observe(&mut self, segment: Segment<'_>, each: &mut impl FnMut(Line<'_>)) {
        if segment.form != PieceKind::Verbatim {
            self.divide(0, each);
            // A line as a terminal would show it, or part of one. Its bytes are not those of the original.
            if self.open_end == self.open_start {
                self.open_form = segment.form;
            }
            self.extend(segment.text, segment.end);
            if segment.text.ends_with(b"\n") {
                self.flush_line(each);
            }
            return;
        }
        let text = segment.text;
        if self.division == Division::Tags {
            for block in text.chunks(BLOCK) {
                self.pending.extend_from_slice(block);
                self.divide(TAG_BYTES, each);
            }
            return;
        }
        let mut from = 0;
        while from < text.len() {
            let rest = &text[from..];
            let is_open = self.open_end > self.open_start;
            let near = &rest[..rest.len().min(BLOCK)];
            let last = if is_open { None } else { memchr::memrchr(b'\n', near) };
            let length = match last {
                Some(feed) => {
                    self.emit(&near[..=feed], from, each);
                    feed + 1
                }
                // The rest of an open line, or a line longer than a block.
                None => {
                    let feed = memchr::memchr(b'\n', rest);
                    let length = feed.map_or(rest.len(), |feed| feed + 1);
                    self.extend(&rest[..length], segment.start + (from + length) as u64);
                    if feed.is_some() {
                        self.flush_line(each);
                    }
                    length
                }
            };
            from += length;
        }
    }

    /// Divides what is pending at tags. Of the last one, at least `lookahead` bytes must be known.
    fn divide(&mut self, lookahead: usize, each: &mut impl FnMut(Line<'_>)) {
        let mut pending = std::mem::take(&mut self.pending);
        let (mut from, mut searched, mut end) = (0, 0, pending.len());
        while let Some(found) = memchr::memchr2(b'<', b'\n', &pending[searched..]) {
            let at = searched + found;
            searched = at + 1;
            if pending[at] == b'\n' {
                self.extend(&pending[from..=at], self.open_end + (at + 1 - from) as u64);
                self.flush_line(each);
                from = at + 1;
            } else if pending.len() - at < lookahead {
                end = at;
                break;
            } else if begins_element(&pending[at..]) || self.is_end_tag_after_cut(&pending[from..], at - from)
            {
                self.extend(&pending[from..at], self.open_end + (at - from) as u64);
                self.close(each);
                from = at;
            }
        }
        self.extend(&pending[from..end], self.open_end + (end - from) as u64);
        pending.drain(..end);
        self.pending = pending;
    }

    /// Whether an end tag is at this place of a text that continues the open line, of which it is not kept any more.
    fn is_end_tag_after_cut(&self, text: &[u8], at: usize) -> bool {
        text[at..].starts_with(b"</") && self.open_length + at > self.max_line_bytes
    }

    /// Calls `each` with the lines of a block, which is at `offset` in the segment.
    fn emit(&mut self, block: &[u8], offset: usize, each: &mut impl FnMut(Line<'_>)) {
        if let Some(folded) = &mut self.folded {
            folded.fold(block);
        }
        let (mut from, mut number, mut start) = (0, self.number, self.open_start);
        for feed in memchr::memchr_iter(b'\n', block) {
            let length = feed + 1 - from;
            let coverage = if length > self.max_line_bytes { Coverage::Beginning } else { Coverage::Whole };
            let shown = length.min(self.max_line_bytes);
            let end = start + length as u64;
            each(Line {
                text: &block[from..from + shown],
                extent: Extent {
                    start,
                    begins: LinePosition::Start,
                    end,
                    number,
                    coverage,
                    form: PieceKind::Verbatim,
                },
                fingerprint: self.fingerprint(from, shown),
                offset: Some(offset + from),
            });
            (from, number, start) = (feed + 1, number + 1, end);
        }
        (self.number, self.open_start, self.open_end) = (number, start, start);
    }

    /// The last byte that may be kept is left out: whether it is a lone zero depends on a byte that may be missing.
    #[inline]
    fn fingerprint(&self, start: usize, length: usize) -> u64 {
        let end = start + length.min(self.max_line_bytes - 1);
        self.folded.as_ref().map_or(0, |folded| folded.fingerprint(start, end))
    }

    fn extend(&mut self, text: &[u8], end: u64) {
        let fresh = text.len().min(self.max_line_bytes - self.open.len().min(self.max_line_bytes));
        self.open.extend_from_slice(&text[..fresh]);
        self.open_length += text.len();
        self.open_end = end;
    }

    /// The number and the offset of the next line.
    pub(super) fn next(&self) -> (u64, u64) {
        (self.number, self.open_start)
    }

    /// Calls `each` with the open line, if there is one.
    pub(super) fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        self.divide(0, each);
        self.flush_line(each);
    }

    /// Ends the open line.
    fn flush_line(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.open_end > self.open_start {
            self.close(each);
            self.number += 1;
            self.open_begins = LinePosition::Start;
        }
    }

    /// Calls `each` with the open part of a line, if there is one.
    fn close(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.open_end == self.open_start {
            return;
        }
        let (start, end, begins) = (self.open_start, self.open_end, self.open_begins);
        let coverage =
            if self.open_length == self.open.len() { Coverage::Whole } else { Coverage::Beginning };
        if let Some(folded) = &mut self.folded {
            folded.fold(&self.open);
        }
        each(Line {
            text: &self.open,
            extent: Extent { start, begins, end, number: self.number, coverage, form: self.open_form },
            fingerprint: self.fingerprint(0, self.open.len()),
            offset: None,
        });
        self.open.clear();
        (self.open_length, self.open_form) = (0, PieceKind::Verbatim);
        self.open_start = end;
        self.open_begins = LinePosition::Inside;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a text that is divided at tags and comes in chunks of this size, each with its line.
    fn parts(text: &str, chunk: usize) -> Vec<(u64, String)> {
        let mut lines = Lines::divided(Division::Tags, 1000);
        let (mut parts, mut end) = (Vec::new(), 0);
        let mut add = |line: Line<'_>| {
            let (start, inside) = (line.extent.start as usize, line.extent.begins == LinePosition::Inside);
            assert_eq!(start, end, "{text}");
            assert_eq!(inside, start > 0 && text.as_bytes()[start - 1] != b'\n', "{text}");
            end = line.extent.end as usize;
            assert_eq!(line.text, &text.as_bytes()[start..end.min(start + 1000)]);
            parts.push((line.extent.number, text[start..end].to_owned()));
        };
        for (chunk, at) in text.as_bytes().chunks(chunk).zip((0..).step_by(chunk)) {
            lines.observe(Segment::verbatim(chunk, at), &mut add);
        }
        lines.flush(&mut add);
        assert_eq!(end, text.len());
        parts
    }

    #[test]
    fn markup_is_divided_before_elements_however_it_is_chunked() {
        let text = "<?xml?><a1><!-- c --><b1>one <em>two</em> <CODE>3</CODE>\n&lt; <![CDATA[<]]></b1></a1>\n<c1/><d1";
        let expected = [
            (1, "<?xml?>"),
            (1, "<a1>"),
            (1, "<!-- c -->"),
            (1, "<b1>one <em>two</em> <CODE>3</CODE>\n"),
            (2, "&lt; <![CDATA[<]]></b1></a1>\n"),
            (3, "<c1/>"),
            (3, "<d1"),
        ];
        let expected = expected.map(|(number, part)| (number, part.to_owned()));
        for chunk in 1..text.len() {
            assert_eq!(parts(text, chunk), expected, "{chunk}");
        }
        let long = format!("<a1>{}</a1><b1/>", "x".repeat(2000));
        for chunk in [1, 999, 1003, 5000] {
            let parts: Vec<String> = parts(&long, chunk).into_iter().map(|(_, part)| part).collect();
            assert_eq!(parts, [&long[..2004], "</a1>", "<b1/>"], "{chunk}");
        }
        assert_eq!(parts("", 1), []);
    }
}
