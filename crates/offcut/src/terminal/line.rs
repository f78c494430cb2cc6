//! One line while it is rendered: cells, a cursor, and the control sequences that move it or erase.

use super::scan::{is_control, text_length};
use anstyle_parse::state::{Action, State, state_change};

/// The cells of a line that can still be overwritten.
pub(super) const MAX_CELLS: usize = 64 << 10;

/// A cursor that moves right stops here, unless the line is longer: seven bytes must not produce a megabyte of spaces.
const MAX_CURSOR_COLUMN: usize = 256;

/// Text is processed in parts of this length, so that little is scanned again when a line fills up in the middle.
const PART_BYTES: usize = 4096;

/// A character, or with the high bit set a byte that is not part of one.
type Cell = u32;
const NOT_TEXT: Cell = 1 << 31;
const BLANK: Cell = b' ' as Cell;

/// A line that is being rendered. Every character takes one cell, also wide ones, tabs and combining marks.
///
/// The cursor is never further right than the end of the line or [`MAX_CURSOR_COLUMN`], whichever is greater. So the
/// work per byte is bounded.
pub(super) struct Line {
    cells: Vec<Cell>,
    column: usize,
    state: State,
    sequence: Sequence,
    /// The first bytes of an incomplete character.
    partial: Vec<u8>,
}

/// The part of a control sequence that matters here.
#[derive(Default)]
struct Sequence {
    first: usize,
    parameters: usize,
    /// Whether it has private markers or intermediate bytes. Sequences that move the cursor have neither.
    is_private: bool,
}

impl Line {
    pub(super) fn new() -> Line {
        Line {
            cells: Vec::new(),
            column: 0,
            state: State::Ground,
            sequence: Sequence::default(),
            partial: Vec::with_capacity(4),
        }
    }

    /// Renders `bytes`, which contain no line feed, until they end or the line is full. Returns how many were used.
    pub(super) fn render(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && !self.is_full() {
            if self.state != State::Ground || is_control(bytes[at]) {
                let colour = if self.state == State::Ground { colour_length(&bytes[at..]) } else { None };
                at += colour.unwrap_or(1);
                match colour {
                    Some(_) => self.flush_partial(),
                    None => self.control(bytes[at - 1]),
                }
            } else {
                let part = &bytes[at..bytes.len().min(at + PART_BYTES)];
                at += self.print(&part[..text_length(part)]);
            }
        }
        at
    }

    pub(super) fn is_full(&self) -> bool {
        self.cells.len() >= MAX_CELLS
    }

    /// The number of cells that memory is allocated for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.cells.capacity()
    }

    /// How many of the bytes so far are the beginning of an incomplete character.
    pub(super) fn pending(&self) -> usize {
        self.partial.len()
    }

    /// Appends the visible text to `text` and clears the cells. Unfinished characters and sequences stay.
    pub(super) fn take(&mut self, text: &mut Vec<u8>) {
        if self.cells.iter().fold(true, |ascii, &cell| ascii & (cell < 0x80)) {
            text.extend(self.cells.iter().map(|&cell| cell as u8));
        } else {
            for &cell in &self.cells {
                match char::from_u32(cell) {
                    Some(char) => text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => text.push(cell as u8),
                }
            }
        }
        self.cells.clear();
        self.column = 0;
    }

    /// Ends the line, and an unfinished sequence with it, so that it cannot swallow what follows.
    pub(super) fn end(&mut self, text: &mut Vec<u8>) {
        self.flush_partial();
        self.take(text);
        self.state = State::Ground;
    }

    fn print(&mut self, text: &[u8]) -> usize {
        if self.partial.is_empty() && text.is_ascii() {
            return self.print_ascii(text);
        }
        if self.partial.is_empty()
            && let Ok(text) = std::str::from_utf8(text)
        {
            for (place, char) in text.char_indices() {
                self.put_char(char);
                if self.is_full() {
                    return place + char.len_utf8();
                }
            }
            return text.len();
        }
        for (place, &byte) in text.iter().enumerate() {
            self.decode(byte);
            if self.is_full() {
                return place + 1;
            }
        }
        text.len()
    }

    fn print_ascii(&mut self, text: &[u8]) -> usize {
        let text = &text[..text.len().min(MAX_CELLS.saturating_sub(self.column))];
        if self.column > self.cells.len() {
            self.cells.resize(self.column, BLANK);
        }
        let (overwriting, appended) = text.split_at(text.len().min(self.cells.len() - self.column));
        let under = &mut self.cells[self.column..self.column + overwriting.len()];
        under.iter_mut().zip(overwriting).for_each(|(cell, &byte)| *cell = Cell::from(byte));
        self.cells.extend(appended.iter().map(|&byte| Cell::from(byte)));
        self.column += text.len();
        text.len()
    }

    fn decode(&mut self, byte: u8) {
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial).map(|text| text.chars().next()) {
            Ok(char) => {
                self.partial.clear();
                char.into_iter().for_each(|char| self.put_char(char));
            }
            Err(error) => {
                let Some(length) = error.error_len() else { return };
                // Only the last byte can follow an invalid sequence; it may begin a character.
                let next = (length < self.partial.len()).then(|| self.partial.pop()).flatten();
                self.flush_partial();
                next.into_iter().for_each(|next| self.decode(next));
            }
        }
    }

    fn flush_partial(&mut self) {
        for place in 0..self.partial.len() {
            self.put(NOT_TEXT | Cell::from(self.partial[place]));
        }
        self.partial.clear();
    }

    fn put_char(&mut self, char: char) {
        if !char.is_control() || char == '\t' {
            self.put(Cell::from(char));
        }
    }

    fn put(&mut self, cell: Cell) {
        if self.column < self.cells.len() {
            self.cells[self.column] = cell;
        } else {
            self.cells.resize(self.column, BLANK);
            self.cells.push(cell);
        }
        self.column += 1;
    }

    /// Processes a control byte, or a byte of a sequence.
    fn control(&mut self, byte: u8) {
        self.flush_partial();
        // In UTF-8 such a byte is part of a character, for example in a window title. It ends nothing.
        if byte >= 0x80 {
            return;
        }
        let (next, action) = state_change(self.state, byte);
        match action {
            Action::Execute => self.execute(byte),
            Action::Collect => self.sequence.is_private = true,
            Action::Param => self.sequence.parameter(byte),
            Action::CsiDispatch => self.dispatch(byte),
            _ => {}
        }
        match next {
            State::Anywhere => return,
            State::Escape | State::CsiEntry | State::DcsEntry => self.sequence = Sequence::default(),
            _ => {}
        }
        self.state = next;
    }

    fn execute(&mut self, control: u8) {
        match control {
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            _ => {}
        }
    }

    fn dispatch(&mut self, letter: u8) {
        if self.sequence.is_private {
            return;
        }
        let parameter = self.sequence.first;
        match letter {
            b'C' => self.go_to(self.column.saturating_add(parameter.max(1))),
            b'D' => self.column = self.column.saturating_sub(parameter.max(1)),
            b'G' => self.go_to(parameter.max(1) - 1),
            // Only this line of the screen is known.
            b'K' | b'J' => self.erase(parameter),
            _ => {}
        }
    }

    fn go_to(&mut self, column: usize) {
        self.column = column.min(self.cells.len().max(MAX_CURSOR_COLUMN));
    }

    fn erase(&mut self, parameter: usize) {
        match parameter {
            0 => self.cells.truncate(self.column),
            1 if self.column < self.cells.len() => {
                // Erasing more would make four bytes cost as much as a whole line.
                let from = self.column.saturating_sub(MAX_CURSOR_COLUMN);
                self.cells[from..=self.column].fill(BLANK);
            }
            1 | 2 => {
                self.cells.clear();
                self.go_to(self.column);
            }
            _ => {}
        }
    }
}

/// The length of the sequence for colour or weight at the start of `bytes`. It is by far the most frequent one and has no
/// effect here, so it is skipped as a whole.
fn colour_length(bytes: &[u8]) -> Option<usize> {
    let parameters = bytes.strip_prefix(b"\x1b[")?;
    let end = parameters.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    (parameters[end] == b'm').then_some(end + 3)
}

impl Sequence {
    fn parameter(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' if self.parameters == 0 => {
                self.first = self.first.saturating_mul(10).saturating_add(usize::from(byte - b'0'));
            }
            b'0'..=b'9' => {}
            _ => self.parameters += 1,
        }
    }
}
