//! Puts lines together from runs, however the text was divided.

use crate::cut::{Form, Run};

/// One line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Its first bytes, with the line feed if it is short enough to be held whole.
    pub(super) text: &'a [u8],
    /// The offset of its first byte.
    pub(super) start: u64,
    /// The offset behind its last byte, the line feed included.
    pub(super) end: u64,
    /// Its number, counted from 1.
    pub(super) number: u64,
    /// Whether the text is all of it.
    pub(super) held: Held,
    /// Whether the text is the original's, or what a terminal would show of it.
    pub(super) form: Form,
}

/// How much of a line is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// All of it.
    Whole,
    /// Only the beginning.
    Beginning,
}

/// Assembles lines; of a long one only the beginning is held.
pub(super) struct Lines {
    open: Vec<u8>,
    /// How long the text of the open line is, held or not, and what its beginning is.
    open_length: usize,
    open_form: Form,
    open_start: u64,
    open_end: u64,
    number: u64,
    most: usize,
}

impl Lines {
    /// Holds at most `most` bytes of a line.
    pub(super) fn new(most: usize) -> Lines {
        Lines {
            open: Vec::new(),
            open_length: 0,
            open_form: Form::Verbatim,
            open_start: 0,
            open_end: 0,
            number: 1,
            most,
        }
    }

    /// Gives every line that `run` completes to `each`.
    pub(super) fn observe(&mut self, run: Run<'_>, mut each: impl FnMut(Line<'_>)) {
        if run.form != Form::Verbatim {
            // A line as a terminal would show it, or a part of one: it stands for bytes that are not in the text.
            if self.open_end == self.open_start {
                self.open_form = run.form;
            }
            self.extend(run.text, run.end);
            if run.text.ends_with(b"\n") {
                self.flush(&mut each);
            }
            return;
        }
        let mut from = 0;
        for feed in memchr::memchr_iter(b'\n', run.text) {
            let text = &run.text[from..=feed];
            from = feed + 1;
            let end = run.start + from as u64;
            if self.open_end > self.open_start {
                self.extend(text, end);
                self.flush(&mut each);
            } else {
                let held = if text.len() > self.most { Held::Beginning } else { Held::Whole };
                let text = &text[..text.len().min(self.most)];
                let form = Form::Verbatim;
                each(Line { text, start: self.open_start, end, number: self.number, held, form });
                self.number += 1;
                (self.open_start, self.open_end) = (end, end);
            }
        }
        if from < run.text.len() {
            self.extend(&run.text[from..], run.end);
        }
    }

    fn extend(&mut self, text: &[u8], end: u64) {
        let fresh = text.len().min(self.most - self.open.len().min(self.most));
        self.open.extend_from_slice(&text[..fresh]);
        self.open_length += text.len();
        self.open_end = end;
    }

    /// Gives the line that is still open to `each`.
    pub(super) fn flush(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.open_end == self.open_start {
            return;
        }
        let (start, end) = (self.open_start, self.open_end);
        let held = if self.open_length == self.open.len() { Held::Whole } else { Held::Beginning };
        each(Line { text: &self.open, start, end, number: self.number, held, form: self.open_form });
        self.open.clear();
        (self.open_length, self.open_form) = (0, Form::Verbatim);
        self.number += 1;
        self.open_start = end;
    }
}
