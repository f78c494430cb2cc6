//! The text of a preview while it is written: what is ours and what is the original's.

use crate::cut::{Piece, PieceKind};

/// Where a part of the original stands in a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The offset in the preview.
    pub at: usize,
    /// How many bytes of the preview it takes.
    pub length: usize,
    /// The offset in the original.
    pub start: u64,
    /// The offset in the original behind it.
    pub end: u64,
}

/// A text that knows which parts of it are the original's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) text: Vec<u8>,
    pub(crate) placed: Vec<Placed>,
}

impl Content {
    /// Text of ours.
    pub(crate) fn ours(text: impl Into<Vec<u8>>) -> Content {
        Content { text: text.into(), placed: Vec::new() }
    }

    /// Adds text of ours.
    pub(crate) fn add(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    /// Adds a part of the original, or a strategy's words for it.
    pub(crate) fn place(&mut self, piece: &Piece<'_>) {
        if piece.form == PieceKind::Mark {
            return self.add(&piece.text);
        }
        let (at, length) = (self.text.len(), piece.text.len());
        self.placed.push(Placed { at, length, start: piece.start, end: piece.end });
        self.text.extend_from_slice(&piece.text);
    }

    /// Adds another text with all that is known of it.
    pub(crate) fn append(&mut self, other: Content) {
        let shift = self.text.len();
        self.placed.extend(other.placed.into_iter().map(|part| Placed { at: part.at + shift, ..part }));
        self.text.extend(other.text);
    }

    /// Ends a line that is open.
    pub(crate) fn end_line(&mut self) {
        if self.text.last().is_some_and(|&last| last != b'\n') {
            self.text.push(b'\n');
        }
    }
}
