//! The text of a preview while it is written: which parts are the original's and which are notices.

use crate::cut::{Piece, PieceKind};
use crate::notice::Notice;

/// Where a part of the original is in a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placed {
    /// The offset in the preview.
    pub at: usize,
    /// How many bytes of the preview it takes.
    pub length: usize,
    /// The offset in the original.
    pub start: u64,
    /// The offset in the original after it.
    pub end: u64,
}

/// A text that knows which parts of it are the original's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) text: Vec<u8>,
    pub(crate) placed: Vec<Placed>,
}

impl Content {
    /// A text without any part of the original.
    pub(crate) fn added(text: impl Into<Vec<u8>>) -> Content {
        Content { text: text.into(), placed: Vec::new() }
    }

    /// Adds text that is not the original's.
    pub(crate) fn add(&mut self, text: impl AsRef<[u8]>) {
        self.text.extend_from_slice(text.as_ref());
    }

    /// Adds a part of the original, or a strategy's own marker.
    pub(crate) fn place(&mut self, piece: &Piece<'_>) {
        if piece.form == PieceKind::Mark {
            return self.add(&piece.text);
        }
        if piece.form == PieceKind::PrintedEarlier {
            return;
        }
        let (at, length) = (self.text.len(), piece.text.len());
        self.placed.push(Placed { at, length, start: piece.start, end: piece.end });
        self.text.extend_from_slice(&piece.text);
    }

    /// The text after an open line of the original that ended at `end`: on a new line, unless the original goes on there.
    pub(crate) fn continued(self, end: usize) -> Content {
        if self.placed.first().is_some_and(|first| first.at == 0 && first.start == end as u64) {
            return self;
        }
        let mut text = Content::added("\n");
        text.append(self);
        text
    }

    /// Adds another text, with the places of the original in it.
    pub(crate) fn append(&mut self, other: Content) {
        let shift = self.text.len();
        self.placed.extend(other.placed.into_iter().map(|part| Placed { at: part.at + shift, ..part }));
        self.text.extend(other.text);
    }

    /// Adds a notice on a line of its own, if there is one.
    pub(crate) fn add_line(&mut self, notice: Option<Notice>) {
        let Some(notice) = notice else { return };
        if self.text.last().is_some_and(|&last| last != b'\n') {
            self.text.push(b'\n');
        }
        self.add(format!("{notice}\n"));
    }
}
