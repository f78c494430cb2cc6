//! Strategies choose what is shown.
//!
//! A strategy sees a stream once: the engine starts a [`Selector`], lets it observe every chunk, and asks it at the
//! end which pieces to show in the room that is left. It does no I/O, and the same text gives the same pieces
//! however it was divided into chunks. A string is a stream of one chunk.
//!
//! The engine itself holds both ends of the text ([`Ends`]), so a strategy that shows only ends observes nothing.

mod auto;
mod edges;
mod ends;
mod json;
mod opaque;
mod outline;
mod room;
mod smart;
mod trailer;

pub use auto::Auto;
pub use edges::Edges;
pub use ends::Ends;
pub use json::Json;
pub use opaque::Opaque;
pub use room::{Cost, Room};
pub use smart::{Group, Smart};
pub(crate) use trailer::WithTrailer;

use crate::cut::{Piece, Segment};
use serde::Deserialize;
use std::ops::Range;

/// Watches one text and then chooses what of it is shown.
pub trait Selector: Send {
    /// Chooses the pieces to show. They should fit `room`; the engine cuts what does not.
    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text>;

    /// Sees the next run of the text.
    fn observe(&mut self, run: Segment<'_>) {
        let _ = run;
    }
}

/// What a selector chose, and what there is to say about all of the text.
#[derive(Clone, Debug, Default)]
pub struct Selection<'text> {
    /// The pieces to show.
    pub pieces: Vec<Piece<'text>>,
    /// A few words for the notice, such as `212 matches in 14 files`; nothing if empty. The selector pays for them
    /// out of its room, as [`Room::less_remark`] says.
    pub remark: String,
    /// Bytes of the original, in order: whole lines, each of which is like one that is shown. What is left out of them
    /// is said to be repeated.
    pub repeats: Vec<Range<u64>>,
}

impl<'text> From<Vec<Piece<'text>>> for Selection<'text> {
    fn from(pieces: Vec<Piece<'text>>) -> Self {
        Selection { pieces, ..Selection::default() }
    }
}

/// Starts a selector for each text that is over the limits.
///
/// Any closure that returns a boxed [`Selector`] is one; it is told how many bytes may be shown at the most.
pub trait Strategy: Send + Sync {
    /// A selector for one text.
    fn start(&self, most_bytes: u64) -> Box<dyn Selector>;
}

impl<F> Strategy for F
where
    F: Fn(u64) -> Box<dyn Selector> + Send + Sync,
{
    fn start(&self, most_bytes: u64) -> Box<dyn Selector> {
        self(most_bytes)
    }
}

/// The built-in strategies, as people name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyName {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Both ends.
    HeadTail,
    /// The lines that matter.
    Smart,
    /// A valid, smaller JSON text.
    Json,
    /// Whatever suits the text.
    Auto,
}

impl StrategyName {
    /// Every name, in the order in which help lists them.
    pub const ALL: [StrategyName; 6] = [
        StrategyName::Head,
        StrategyName::Tail,
        StrategyName::HeadTail,
        StrategyName::Smart,
        StrategyName::Json,
        StrategyName::Auto,
    ];

    /// The name as it is written in flags, profiles and metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            StrategyName::Head => "head",
            StrategyName::Tail => "tail",
            StrategyName::HeadTail => "head-tail",
            StrategyName::Smart => "smart",
            StrategyName::Json => "json",
            StrategyName::Auto => "auto",
        }
    }
}

/// How the room is divided between the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "[u32; 2]")]
pub struct Split {
    /// The weight of the beginning.
    pub head: u32,
    /// The weight of the end.
    pub tail: u32,
}

impl From<[u32; 2]> for Split {
    fn from([head, tail]: [u32; 2]) -> Self {
        Split { head, tail }
    }
}

/// Shows the beginning, the end, or both: the whole of `head`, `tail` and `head-tail`.
#[derive(Clone, Copy, Debug)]
pub struct BothEnds(pub Split);

impl BothEnds {
    /// Only the beginning.
    pub const HEAD: BothEnds = BothEnds(Split { head: 1, tail: 0 });
    /// Only the end.
    pub const TAIL: BothEnds = BothEnds(Split { head: 0, tail: 1 });
}

impl Strategy for BothEnds {
    fn start(&self, _most_bytes: u64) -> Box<dyn Selector> {
        Box::new(*self)
    }
}

impl Selector for BothEnds {
    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        self.choose_or_something(ends, room).into()
    }
}

impl BothEnds {
    /// The ends as far as there is room; never nothing.
    fn choose_or_something<'text>(&self, ends: &'text Ends, room: &Room<'_>) -> Vec<Piece<'text>> {
        let room = room.less_gaps(1);
        let pieces = self.choose(ends, &room);
        if pieces.iter().any(|piece| !piece.text.is_empty()) {
            return pieces;
        }
        let one_end = if self.0.head == 0 { BothEnds::TAIL } else { BothEnds::HEAD };
        one_end.choose(ends, &room.for_something())
    }

    fn choose<'text>(&self, ends: &'text Ends, room: &Room<'_>) -> Vec<Piece<'text>> {
        let (opening, closing, BothEnds(split)) = (ends.opening(), ends.closing(), self);
        if split.tail == 0 {
            return ends.first(room.head(opening));
        }
        if split.head == 0 {
            return ends.last(room.tail(closing));
        }
        let head = room.share(split.head, split.tail).head(opening);
        let left = room.less(&opening[..head]);
        if left.is_spent() {
            return ends.first(head);
        }
        let tail = left.tail(closing);
        // What the end could not use goes back to the beginning.
        let head = head.max(room.less(&closing[tail..]).head(opening));
        let mut pieces = ends.first(head);
        pieces.extend(ends.last(tail));
        pieces
    }
}
