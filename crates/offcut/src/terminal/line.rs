//! One line while a terminal draws it: cells, a cursor, and the sequences that move it or erase.

use super::scan::{is_control, text_length};
use anstyle_parse::state::{Action, State, state_change};

/// The cells of a line that can still be overwritten.
pub(super) const MOST_CELLS: usize = 64 << 10;

/// A cursor that moves right stops here, unless the line is longer: seven bytes must not make a megabyte of blanks.
const WIDTH: usize = 256;

/// Text is taken in parts of this length, so that a line which fills up in the middle of it is not scanned again.
const STRETCH: usize = 4096;

/// A character; or, with the high bit, a byte that is not part of one.
type Cell = u32;
const NOT_TEXT: Cell = 1 << 31;
const BLANK: Cell = b' ' as Cell;

/// A line being drawn. Every character has one cell, also the wide ones, tabs and combining marks.
///
/// The cursor is never further right than the end of the line or [`WIDTH`], whichever is more; so each byte costs a
/// bounded amount of work.
pub(super) struct Line {
    cells: Vec<Cell>,
    column: usize,
    state: State,
    sequence: Sequence,
    /// The beginning of a character.
    partial: Vec<u8>,
}

/// The part of a control sequence that matters here.
#[derive(Default)]
struct Sequence {
    first: usize,
    parameters: usize,
    /// Private markers or intermediate bytes: none of the sequences that move the cursor has them.
    marked: bool,
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

    /// Draws `bytes`, which hold no line feed, until they end or the line is full; says how many it took.
    pub(super) fn draw(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && !self.is_full() {
            if self.state != State::Ground || is_control(bytes[at]) {
                let colour = if self.state == State::Ground { colour(&bytes[at..]) } else { None };
                at += colour.unwrap_or(1);
                match colour {
                    Some(_) => self.give_up_partial(),
                    None => self.act(bytes[at - 1]),
                }
            } else {
                let stretch = &bytes[at..bytes.len().min(at + STRETCH)];
                at += self.print(&stretch[..text_length(stretch)]);
            }
        }
        at
    }

    pub(super) fn is_full(&self) -> bool {
        self.cells.len() >= MOST_CELLS
    }

    /// The cells that memory is held for.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.cells.capacity()
    }

    /// How many of the bytes drawn are the beginning of a character whose rest has not come.
    pub(super) fn pending(&self) -> usize {
        self.partial.len()
    }

    /// Appends what the line shows to `text` and clears the cells. What was begun goes on.
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

    /// The end of the line: a sequence that is still open ends with it, so that it cannot swallow what follows.
    pub(super) fn end(&mut self, text: &mut Vec<u8>) {
        self.give_up_partial();
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
        let text = &text[..text.len().min(MOST_CELLS.saturating_sub(self.column))];
        if self.column > self.cells.len() {
            self.cells.resize(self.column, BLANK);
        }
        let (over, fresh) = text.split_at(text.len().min(self.cells.len() - self.column));
        let under = &mut self.cells[self.column..self.column + over.len()];
        under.iter_mut().zip(over).for_each(|(cell, &byte)| *cell = Cell::from(byte));
        self.cells.extend(fresh.iter().map(|&byte| Cell::from(byte)));
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
                // Only the last byte can be behind what is not text; it may begin a character.
                let next = (length < self.partial.len()).then(|| self.partial.pop()).flatten();
                self.give_up_partial();
                next.into_iter().for_each(|next| self.decode(next));
            }
        }
    }

    fn give_up_partial(&mut self) {
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

    /// A control byte, or a byte of a sequence.
    fn act(&mut self, byte: u8) {
        self.give_up_partial();
        // In UTF-8 such a byte is part of a character, here one inside a title or the like; it ends nothing.
        if byte >= 0x80 {
            return;
        }
        let (next, action) = state_change(self.state, byte);
        match action {
            Action::Execute => self.execute(byte),
            Action::Collect => self.sequence.marked = true,
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
        if self.sequence.marked {
            return;
        }
        let parameter = self.sequence.first;
        match letter {
            b'C' => self.go_to(self.column.saturating_add(parameter.max(1))),
            b'D' => self.column = self.column.saturating_sub(parameter.max(1)),
            b'G' => self.go_to(parameter.max(1) - 1),
            // Of a screen only this line is here.
            b'K' | b'J' => self.erase(parameter),
            _ => {}
        }
    }

    fn go_to(&mut self, column: usize) {
        self.column = column.min(self.cells.len().max(WIDTH));
    }

    fn erase(&mut self, parameter: usize) {
        match parameter {
            0 => self.cells.truncate(self.column),
            1 if self.column < self.cells.len() => {
                // Reaching back further would let four bytes cost a whole line.
                let from = self.column.saturating_sub(WIDTH);
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

/// The length of the sequence for colour or weight that `bytes` begin with: by far the most frequent one, and it does
/// nothing here, so it need not go through the table byte by byte.
fn colour(bytes: &[u8]) -> Option<usize> {
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
