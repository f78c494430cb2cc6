//! A strategy that returns new text instead of pieces of the original.

use crate::cut::{LinePosition, Piece, PieceKind, Segment};
use crate::strategy::{Ends, Room, Selection, Selector, Strategy};
use std::borrow::Cow;
use std::sync::Arc;

/// A function that makes a preview of a whole text, within the room.
type Make = dyn Fn(&[u8], &Room<'_>) -> Vec<u8> + Send + Sync;

/// Shows the text that a function returns.
///
/// This is for strategies in other languages and programs, which return text and not positions. Which parts of the
/// original they show is unknown, so the whole output is marked as one gap. The output is kept in memory until it is
/// complete. A returned text that exceeds the room is cut off.
#[derive(Clone)]
pub struct Opaque(Arc<Make>);

impl Opaque {
    /// A strategy that shows what `make` returns.
    pub fn new(make: impl Fn(&[u8], &Room<'_>) -> Vec<u8> + Send + Sync + 'static) -> Opaque {
        Opaque(Arc::new(make))
    }
}

impl Strategy for Opaque {
    fn start(&self, _most_bytes: u64) -> Box<dyn Selector> {
        Box::new(OpaqueSelector { make: Arc::clone(&self.0), text: Vec::new() })
    }
}

struct OpaqueSelector {
    make: Arc<Make>,
    text: Vec<u8>,
}

impl Selector for OpaqueSelector {
    fn observe(&mut self, segment: Segment<'_>) {
        self.text.extend_from_slice(segment.text);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let mut made = (self.make)(&self.text, &room.less_gaps(1));
        if made.is_empty() {
            // A preview is never empty.
            made = self.text[..room.less_gaps(1).for_something().head(&self.text)].to_vec();
        }
        let (start, end, line, part) = (0, ends.bytes(), 1, LinePosition::Start);
        vec![Piece { start, end, form: PieceKind::Opaque, line, part, text: Cow::Owned(made) }].into()
    }
}
