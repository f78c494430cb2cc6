//! A strategy that returns text of its own instead of positions.

use crate::cut::{LinePosition, Piece, PieceKind, Segment};
use crate::strategy::{Ends, Room, Selection, Selector, Strategy};
use std::borrow::Cow;
use std::sync::Arc;

/// What a foreign strategy makes of a whole text, in the room there is.
type Make = dyn Fn(&[u8], &Room<'_>) -> Vec<u8> + Send + Sync;

/// Shows whatever a function makes of the text.
///
/// For strategies from other languages and other programs, which know texts and not positions. Which parts of the
/// original they show cannot be told, so the whole is one gap, marked as such, and the text is held in memory until
/// it is complete. What is returned beyond the room is cut off.
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
        Box::new(Holding { make: Arc::clone(&self.0), text: Vec::new() })
    }
}

struct Holding {
    make: Arc<Make>,
    text: Vec<u8>,
}

impl Selector for Holding {
    fn observe(&mut self, run: Segment<'_>) {
        self.text.extend_from_slice(run.text);
    }

    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        let mut made = (self.make)(&self.text, &room.less_gaps(1));
        if made.is_empty() {
            // Never nothing of something.
            made = self.text[..room.less_gaps(1).for_something().head(&self.text)].to_vec();
        }
        let (start, end, line, part) = (0, ends.bytes(), 1, LinePosition::Start);
        vec![Piece { start, end, form: PieceKind::Opaque, line, part, text: Cow::Owned(made) }].into()
    }
}
