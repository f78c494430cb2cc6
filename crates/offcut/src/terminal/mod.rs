//! Text as a terminal would show it.
//!
//! [`Screen`] takes raw chunks in any division and gives [`Segment`]s that cover the original without a hole. Lines that
//! hold no control pass as they are, borrowed. A line that holds some (colour, the frames of a progress bar,
//! backspaces) becomes one run with what a terminal shows in the end. Two rules keep it bounded and local:
//!
//! - A line feed ends everything, also a sequence that was never finished. Each line is drawn for itself, so lines
//!   keep their numbers, and a stray byte cannot swallow the rest of an output.
//! - The cursor reaches back at most 64 Ki characters. A line whose first control comes later passes as it is up to
//!   there and is drawn from there on; a drawn line that grows longer is given in several runs. So neither a plain
//!   line of any length nor any number of frames is held.
//!
//! Characters have one cell each, wide or not, and so have tabs and combining marks. Movements up and down are left
//! out. Bytes that are not UTF-8 are shown as they are.

mod line;
mod scan;

use crate::cut::{PieceKind, Segment};
use line::{Line, MOST_CELLS};
use serde::Deserialize;

/// A large chunk is taken in blocks, so that who takes the runs finds them in the cache.
const BLOCK: usize = 128 << 10;

/// Whether an output over the limits is shown as its bytes or as a terminal would show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Terminal {
    /// As a terminal would show it: frames collapse, colour is left out, binary output is described.
    Rendered,
    /// As it came.
    #[default]
    Raw,
}

/// Draws a stream of bytes line by line.
pub struct Screen {
    /// The offset of the first byte that has not been given.
    at: u64,
    stage: Stage,
    /// The plain beginning of the line, until it is known whether a control follows.
    held: Vec<u8>,
    line: Line,
    text: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing of the line has been given, or it has no control within reach.
    Plain(Reach),
    /// The same, and the last byte was a carriage return that a line feed may follow.
    Returned(Reach),
    /// The line is being drawn; its next run begins `at` and these many bytes of it have been seen.
    Drawn(u64),
}

/// Whether the beginning of the line is still held.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Held,
    Gone,
}

impl Default for Screen {
    fn default() -> Screen {
        Screen::new()
    }
}

impl Screen {
    /// A screen that has shown nothing.
    pub fn new() -> Screen {
        Screen {
            at: 0,
            stage: Stage::Plain(Reach::Held),
            held: Vec::new(),
            line: Line::new(),
            text: Vec::new(),
        }
    }

    /// Takes in the next chunk and gives what is decided.
    pub fn observe(&mut self, chunk: &[u8], give: &mut dyn FnMut(Segment<'_>)) {
        chunk.chunks(BLOCK).for_each(|block| self.observe_block(block, give));
    }

    fn observe_block(&mut self, block: &[u8], give: &mut dyn FnMut(Segment<'_>)) {
        let mut rest = block;
        while let Some(&first) = rest.first() {
            rest = match self.stage {
                Stage::Plain(reach) => self.pass(rest, reach, give),
                Stage::Returned(reach) => {
                    if first == b'\n' {
                        self.held.push(b'\r');
                        self.stage = Stage::Plain(reach);
                    } else {
                        self.begin(reach, give);
                        self.draw(b"\r", give);
                    }
                    rest
                }
                Stage::Drawn(_) => match memchr::memchr(b'\n', rest) {
                    None => {
                        self.draw(rest, give);
                        &[]
                    }
                    Some(end) => {
                        self.draw(&rest[..end], give);
                        self.end(LineFeed::Seen, give);
                        &rest[end + 1..]
                    }
                },
            };
        }
    }

    /// Gives what is left when nothing more will come.
    pub fn finish(&mut self, give: &mut dyn FnMut(Segment<'_>)) {
        if let Stage::Returned(reach) = self.stage {
            self.begin(reach, give);
            self.draw(b"\r", give);
        }
        match self.stage {
            Stage::Drawn(_) => self.end(LineFeed::Missing, give),
            _ => self.give_held(give),
        }
    }

    /// Passes plain text on and returns what follows it.
    fn pass<'c>(&mut self, chunk: &'c [u8], reach: Reach, give: &mut dyn FnMut(Segment<'_>)) -> &'c [u8] {
        let control = scan::first_control(chunk);
        let (plain, rest) = chunk.split_at(control.unwrap_or(chunk.len()));
        let (lines, open) = plain.split_at(memchr::memrchr(b'\n', plain).map_or(0, |feed| feed + 1));
        let mut reach = reach;
        if !lines.is_empty() {
            self.give_held(give);
            self.give(lines, give);
            reach = Reach::Held;
        }
        if reach == Reach::Held && self.held.len() + open.len() < MOST_CELLS {
            self.held.extend_from_slice(open);
        } else {
            self.give_held(give);
            self.give(open, give);
            reach = Reach::Gone;
        }
        match rest {
            [] => self.stage = Stage::Plain(reach),
            // Whether a line feed follows is not known yet.
            [b'\r'] => {
                self.stage = Stage::Returned(reach);
                return &[];
            }
            _ => self.begin(reach, give),
        }
        rest
    }

    /// Starts to draw the line, from its beginning if that is still there.
    fn begin(&mut self, reach: Reach, give: &mut dyn FnMut(Segment<'_>)) {
        self.stage = Stage::Drawn(0);
        if reach == Reach::Held {
            let held = std::mem::take(&mut self.held);
            self.draw(&held, give);
            self.held = held;
            self.held.clear();
        }
    }

    fn draw(&mut self, mut bytes: &[u8], give: &mut dyn FnMut(Segment<'_>)) {
        while !bytes.is_empty() {
            let taken = self.line.draw(bytes);
            bytes = &bytes[taken..];
            self.seen(taken);
            if self.line.is_full() {
                let pending = self.line.pending() as u64;
                self.line.take(&mut self.text);
                self.give_drawn(pending, give);
            }
        }
    }

    fn end(&mut self, feed: LineFeed, give: &mut dyn FnMut(Segment<'_>)) {
        self.line.end(&mut self.text);
        if feed == LineFeed::Seen {
            self.text.push(b'\n');
            self.seen(1);
        }
        self.give_drawn(0, give);
        self.stage = Stage::Plain(Reach::Held);
    }

    fn seen(&mut self, bytes: usize) {
        if let Stage::Drawn(seen) = &mut self.stage {
            *seen += bytes as u64;
        }
    }

    /// Gives what is drawn, for all bytes seen but the last `pending`.
    fn give_drawn(&mut self, pending: u64, give: &mut dyn FnMut(Segment<'_>)) {
        let Stage::Drawn(seen) = self.stage else { return };
        let end = self.at + seen - pending;
        if end > self.at {
            give(Segment { text: &self.text, start: self.at, end, form: PieceKind::Rendered });
        }
        self.at = end;
        self.stage = Stage::Drawn(pending);
        self.text.clear();
    }

    fn give_held(&mut self, give: &mut dyn FnMut(Segment<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.give(&held, give);
        self.held = held;
        self.held.clear();
    }

    fn give(&mut self, text: &[u8], give: &mut dyn FnMut(Segment<'_>)) {
        if !text.is_empty() {
            let run = Segment::verbatim(text, self.at);
            self.at = run.end;
            give(run);
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
