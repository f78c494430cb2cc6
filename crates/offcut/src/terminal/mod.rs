//! Renders output as a terminal would show it.
//!
//! [`Screen`] takes raw chunks, however they are divided, and returns [`Segment`]s that cover the original without a
//! gap. Lines without control characters pass unchanged and borrowed. A line with some (colour, the frames of a progress
//! bar, backspaces) becomes one segment with the final state of the line. Two rules bound memory and work:
//!
//! - A line feed ends everything, even an unfinished sequence. Each line is rendered on its own, so lines keep their
//!   numbers, and a stray byte cannot swallow the rest of an output.
//! - The cursor reaches back at most 64 Ki characters. A line whose first control character comes later passes unchanged
//!   up to there and is rendered from there on; a rendered line that grows longer is split into several segments. So
//!   neither a plain line of any length nor any number of frames is kept in memory.
//!
//! Every character takes one cell, also wide ones, tabs and combining marks. Vertical movements are ignored. Bytes that
//! are not UTF-8 are shown unchanged.

mod line;
mod scan;

use crate::cut::{PieceKind, Segment};
use line::{Line, MAX_CELLS};
use serde::Deserialize;

/// A large chunk is processed in blocks, so that a segment is still in the cache when it is used.
const BLOCK: usize = 128 << 10;

/// Whether an output over the limits is shown as its bytes or as a terminal would show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Terminal {
    /// As a terminal would show it: progress frames collapse, colour is removed, binary output is described.
    Rendered,
    /// Unchanged.
    #[default]
    Raw,
}

/// Text from elsewhere as part of one line: line breaks become spaces, characters that could move the cursor or change the
/// text direction become `?`, and a text of more than `max_chars` ends with `…`.
pub fn printable(text: &str, max_chars: usize) -> String {
    let shown = |char: char| match char {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '?',
        char if char.is_control() => '?',
        char => char,
    };
    let mut chars = text.chars();
    let mut line: String = chars.by_ref().take(max_chars).map(shown).collect();
    if chars.next().is_some() {
        line.pop();
        line.push('…');
    }
    line
}

/// The text as a terminal shows it.
pub(crate) fn rendered(bytes: &[u8]) -> Vec<u8> {
    let (mut screen, mut text) = (Screen::new(), Vec::new());
    let mut take = |segment: Segment<'_>| text.extend_from_slice(segment.text);
    screen.observe(bytes, &mut take);
    screen.finish(&mut take);
    text
}

/// Renders a stream of bytes line by line.
pub struct Screen {
    /// The offset of the first byte that is not in a segment yet.
    at: u64,
    stage: Stage,
    /// The plain beginning of the line, until it is known whether a control character follows.
    line_start: Vec<u8>,
    line: Line,
    text: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The line has no control character so far.
    Plain(LineStart),
    /// The same, and the last byte was a carriage return, which a line feed may follow.
    AfterReturn(LineStart),
    /// The line is being rendered. The next segment begins at [`Screen::at`] and has this many bytes so far.
    Rendering(u64),
}

/// What became of the beginning of the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineStart {
    /// It is in [`Screen::line_start`].
    Buffered,
    /// It was passed on.
    Emitted,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen::new()
    }
}

impl Screen {
    /// An empty screen.
    pub fn new() -> Screen {
        Screen {
            at: 0,
            stage: Stage::Plain(LineStart::Buffered),
            line_start: Vec::new(),
            line: Line::new(),
            text: Vec::new(),
        }
    }

    /// Processes the next chunk and calls `each` with every segment that is complete.
    pub fn observe(&mut self, chunk: &[u8], each: &mut dyn FnMut(Segment<'_>)) {
        chunk.chunks(BLOCK).for_each(|block| self.observe_block(block, each));
    }

    fn observe_block(&mut self, block: &[u8], each: &mut dyn FnMut(Segment<'_>)) {
        let mut rest = block;
        while let Some(&first) = rest.first() {
            rest = match self.stage {
                Stage::Plain(start) => self.pass(rest, start, each),
                Stage::AfterReturn(start) => {
                    if first == b'\n' {
                        self.line_start.push(b'\r');
                        self.stage = Stage::Plain(start);
                    } else {
                        self.begin_rendering(start, each);
                        self.render(b"\r", each);
                    }
                    rest
                }
                Stage::Rendering(_) => match memchr::memchr(b'\n', rest) {
                    None => {
                        self.render(rest, each);
                        &[]
                    }
                    Some(end) => {
                        self.render(&rest[..end], each);
                        self.end(LineFeed::Seen, each);
                        &rest[end + 1..]
                    }
                },
            };
        }
    }

    /// Ends the output and calls `each` with the rest.
    pub fn finish(&mut self, each: &mut dyn FnMut(Segment<'_>)) {
        if let Stage::AfterReturn(start) = self.stage {
            self.begin_rendering(start, each);
            self.render(b"\r", each);
        }
        match self.stage {
            Stage::Rendering(_) => self.end(LineFeed::Missing, each),
            _ => self.emit_line_start(each),
        }
    }

    /// Passes plain text on and returns what follows it.
    fn pass<'c>(&mut self, chunk: &'c [u8], start: LineStart, each: &mut dyn FnMut(Segment<'_>)) -> &'c [u8] {
        let control = scan::first_control(chunk);
        let (plain, rest) = chunk.split_at(control.unwrap_or(chunk.len()));
        let (lines, open) = plain.split_at(memchr::memrchr(b'\n', plain).map_or(0, |feed| feed + 1));
        let mut start = start;
        if !lines.is_empty() {
            self.emit_line_start(each);
            self.emit(lines, each);
            start = LineStart::Buffered;
        }
        if start == LineStart::Buffered && self.line_start.len() + open.len() < MAX_CELLS {
            self.line_start.extend_from_slice(open);
        } else {
            self.emit_line_start(each);
            self.emit(open, each);
            start = LineStart::Emitted;
        }
        match rest {
            [] => self.stage = Stage::Plain(start),
            // Whether a line feed follows is not known yet.
            [b'\r'] => {
                self.stage = Stage::AfterReturn(start);
                return &[];
            }
            _ => self.begin_rendering(start, each),
        }
        rest
    }

    /// Starts to render the line, from its beginning if that is still buffered.
    fn begin_rendering(&mut self, start: LineStart, each: &mut dyn FnMut(Segment<'_>)) {
        self.stage = Stage::Rendering(0);
        if start == LineStart::Buffered {
            let line_start = std::mem::take(&mut self.line_start);
            self.render(&line_start, each);
            self.line_start = line_start;
            self.line_start.clear();
        }
    }

    fn render(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Segment<'_>)) {
        while !bytes.is_empty() {
            let taken = self.line.render(bytes);
            bytes = &bytes[taken..];
            self.count(taken);
            if self.line.is_full() {
                let pending = self.line.pending() as u64;
                self.line.take(&mut self.text);
                self.emit_rendered(pending, each);
            }
        }
    }

    fn end(&mut self, feed: LineFeed, each: &mut dyn FnMut(Segment<'_>)) {
        self.line.end(&mut self.text);
        if feed == LineFeed::Seen {
            self.text.push(b'\n');
            self.count(1);
        }
        self.emit_rendered(0, each);
        self.stage = Stage::Plain(LineStart::Buffered);
    }

    fn count(&mut self, bytes: usize) {
        if let Stage::Rendering(seen) = &mut self.stage {
            *seen += bytes as u64;
        }
    }

    /// Emits the rendered text, for all bytes counted but the last `pending`.
    fn emit_rendered(&mut self, pending: u64, each: &mut dyn FnMut(Segment<'_>)) {
        let Stage::Rendering(seen) = self.stage else { return };
        let end = self.at + seen - pending;
        if end > self.at {
            each(Segment { text: &self.text, start: self.at, end, form: PieceKind::Rendered });
        }
        self.at = end;
        self.stage = Stage::Rendering(pending);
        self.text.clear();
    }

    fn emit_line_start(&mut self, each: &mut dyn FnMut(Segment<'_>)) {
        let line_start = std::mem::take(&mut self.line_start);
        self.emit(&line_start, each);
        self.line_start = line_start;
        self.line_start.clear();
    }

    fn emit(&mut self, text: &[u8], each: &mut dyn FnMut(Segment<'_>)) {
        if !text.is_empty() {
            let segment = Segment::verbatim(text, self.at);
            self.at = segment.end;
            each(segment);
        }
    }
}

/// Whether a line ended with a line feed or with the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineFeed {
    Seen,
    Missing,
}

#[cfg(test)]
mod tests;
