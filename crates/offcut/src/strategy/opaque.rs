//! A strategy that returns new text instead of pieces of the original.

use crate::cut::{LinePosition, Piece, PieceKind, Segment};
use crate::limits::PerUnit;
use crate::profile::Settings;
use crate::strategy::{Ends, Room, Selection, Selector, Strategy};
use std::borrow::Cow;
use std::sync::Arc;

/// A function that makes a preview of a whole text, within the room.
type Make = dyn Fn(&[u8], &Room<'_>) -> OwnText + Send + Sync;

/// The text that a strategy made of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnText {
    /// What to show.
    pub content: Vec<u8>,
    /// How much is not shown, as the strategy counts; if all are unset, the engine counts.
    pub removed: PerUnit<Option<u64>>,
}

impl From<Vec<u8>> for OwnText {
    fn from(content: Vec<u8>) -> Self {
        OwnText { content, ..OwnText::default() }
    }
}

/// Shows the text that a function returns.
///
/// This is for strategies in other languages and programs, which return text and not positions. Which parts of the
/// original they show is unknown, so the whole output is marked as one gap. The output is kept in memory until it is
/// complete. A returned text within the room is shown as it is; of a larger one, the first whole lines. With the
/// wording of a source document, the number of its lines is not limited: the strategy decides what a line is.
#[derive(Clone)]
pub struct Opaque(Arc<Make>);

impl Opaque {
    /// A strategy that shows what `make` returns: bytes, or bytes with the strategy's own counts.
    pub fn new<T: Into<OwnText>>(make: impl Fn(&[u8], &Room<'_>) -> T + Send + Sync + 'static) -> Opaque {
        Opaque(Arc::new(move |text, room| make(text, room).into()))
    }
}

impl Strategy for Opaque {
    fn start(&self, _settings: &Settings) -> Box<dyn Selector> {
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
        let OwnText { mut content, removed } = (self.make)(&self.text, &room.less_gaps(1));
        if content.is_empty() {
            // A preview is never empty.
            let room = room.less_gaps(1);
            let length = room.head(&self.text);
            let length = if length > 0 { length } else { room.for_something().head(&self.text) };
            content = self.text[..length].to_vec();
        }
        let (start, end, line, part) = (0, ends.bytes(), 1, LinePosition::Start);
        let piece = Piece { start, end, form: PieceKind::Opaque, line, part, text: Cow::Owned(content) };
        Selection { removed, ..vec![piece].into() }
    }
}
