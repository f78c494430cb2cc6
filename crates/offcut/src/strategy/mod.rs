//! Strategies choose which pieces of an output are shown.
//!
//! A strategy reads an output once: the engine starts a [`Selector`], passes it every segment, and at the end asks it
//! which pieces to show in the [`Room`] that is left. A selector does no I/O, and the pieces do not depend on how the
//! output was divided into chunks. A string is an output of one chunk.
//!
//! The engine keeps both ends of the output ([`Ends`]), so a strategy that shows only ends needs to observe nothing.

#[cfg(feature = "smart")]
mod auto;
#[cfg(feature = "smart")]
mod content;
mod edges;
#[cfg(feature = "smart")]
mod eight_bytes;
#[cfg(feature = "smart")]
mod end_lines;
mod ends;
#[cfg(feature = "smart")]
mod fingerprint;
#[cfg(feature = "smart")]
mod json;
#[cfg(feature = "smart")]
mod lines;
#[cfg(feature = "smart")]
mod logarithm;
#[cfg(feature = "smart")]
mod names;
mod opaque;
#[cfg(feature = "smart")]
mod outline;
#[cfg(feature = "smart")]
mod pool;
mod room;
#[cfg(feature = "smart")]
mod rules;
#[cfg(feature = "smart")]
mod select;
#[cfg(feature = "smart")]
mod smart;
mod tool_status;
#[cfg(feature = "smart")]
mod words;

pub use edges::Edges;
pub use ends::Ends;
pub use opaque::{Opaque, OwnText};
pub use room::{Cost, Room};
/// What `offcut rules` prints.
#[cfg(feature = "smart")]
#[doc(hidden)]
pub use rules::{RuleFile, annotated_role};
use tool_status::WithToolStatus;
#[cfg(feature = "smart")]
pub use {auto::Auto, json::Json, rules::Group, smart::Smart};
#[cfg(feature = "smart")]
pub(crate) use {json::find_outliers, smart::ImportantLines};

use crate::cut::{GapNote, Piece, Segment};
use crate::limits::PerUnit;
use crate::profile::{Settings, TrailingLines};
use serde::Deserialize;
use std::ops::Range;

/// Reads one output, then chooses which pieces of it are shown.
pub trait Selector: Send {
    /// Chooses the pieces to show. They should fit into `room`; the engine cuts off what does not.
    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text>;

    /// Reads the next segment.
    fn observe(&mut self, segment: Segment<'_>) {
        let _ = segment;
    }
}

/// What a selector chose.
#[derive(Clone, Debug, Default)]
pub struct Selection<'text> {
    /// The pieces to show.
    pub pieces: Vec<Piece<'text>>,
    /// A short description of the whole output for the notice, such as `212 matches in 14 files`; may be empty. It takes
    /// room from the pieces: see [`Room::less_remark`].
    pub remark: String,
    /// Byte ranges of the original, in order: whole lines, each of which is similar to one that is shown. Gaps inside them
    /// are reported as repeated.
    pub repeats: Vec<Range<u64>>,
    /// What is known about the gaps between the pieces, in order.
    pub notes: Vec<GapNote>,
    /// The strategy's own counts of what is not shown; the engine counts only if all are unset.
    pub removed: PerUnit<Option<u64>>,
}

impl<'text> From<Vec<Piece<'text>>> for Selection<'text> {
    fn from(pieces: Vec<Piece<'text>>) -> Self {
        Selection { pieces, ..Selection::default() }
    }
}

/// Starts a selector for each output that is cut.
///
/// A closure that takes the settings and returns a boxed [`Selector`] is a strategy.
///
/// ```
/// use offcut::profile::Settings;
/// use offcut::strategy::{Ends, Room, Selection, Selector};
/// use offcut::{Context, Profile, Truncator};
///
/// /// Shows as much of the beginning as fits.
/// struct Beginning;
///
/// impl Selector for Beginning {
///     fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
///         ends.first(room.less_gaps(1).head(ends.opening())).into()
///     }
/// }
///
/// let beginning = |_: &Settings| -> Box<dyn Selector> { Box::new(Beginning) };
/// let truncator = Truncator::new(Profile::native()).strategy(beginning);
/// let output: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
/// let outcome = truncator.apply(&output, &Context::default());
/// assert_eq!(outcome.preview().expect("it is too long").gaps().len(), 1);
/// ```
pub trait Strategy: Send + Sync {
    /// Starts a selector for one output. It can show at most `settings.keep`.
    fn start(&self, settings: &Settings) -> Box<dyn Selector>;

    /// The name, as metadata and reports have it.
    fn name(&self) -> &str {
        "custom"
    }

    /// Decides whether a whole output is cut. A stream that exceeds a limit is cut in any case, because it is not kept in
    /// memory.
    fn decide(&self, output: &[u8], settings: &Settings) -> CutDecision {
        let _ = (output, settings);
        CutDecision::ByLimits
    }
}

/// A strategy's decision about an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutDecision {
    /// It is cut if it exceeds a limit.
    #[default]
    ByLimits,
    /// It is cut, also if it is within the limits.
    Cut,
    /// It passes as it is, also if it exceeds a limit.
    Pass,
}

impl<F> Strategy for F
where
    F: Fn(&Settings) -> Box<dyn Selector> + Send + Sync,
{
    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        self(settings)
    }
}

/// The names of the built-in strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StrategyName {
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Both ends.
    HeadTail,
    /// The lines that matter: failures, what is unusual, and both ends.
    #[cfg(feature = "smart")]
    Smart,
    /// A shorter JSON text.
    #[cfg(feature = "smart")]
    Json,
    /// The strategy that suits the content. Without the feature `smart` it is the same as `HeadTail`.
    Auto,
}

impl StrategyName {
    /// Every name, in the order in which help lists them.
    pub const ALL: &[StrategyName] = &[
        StrategyName::Head,
        StrategyName::Tail,
        StrategyName::HeadTail,
        #[cfg(feature = "smart")]
        StrategyName::Smart,
        #[cfg(feature = "smart")]
        StrategyName::Json,
        StrategyName::Auto,
    ];

    /// The name as it is written in flags, profiles and metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            StrategyName::Head => "head",
            StrategyName::Tail => "tail",
            StrategyName::HeadTail => "head-tail",
            #[cfg(feature = "smart")]
            StrategyName::Smart => "smart",
            #[cfg(feature = "smart")]
            StrategyName::Json => "json",
            StrategyName::Auto => "auto",
        }
    }
}

/// How the room is divided between the beginning and the end.
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

/// Shows the beginning, the end, or both: the strategies `head`, `tail` and `head-tail`.
#[derive(Clone, Copy, Debug)]
pub struct BothEnds(pub Split);

impl BothEnds {
    /// Only the beginning.
    pub const HEAD: BothEnds = BothEnds(Split { head: 1, tail: 0 });
    /// Only the end.
    pub const TAIL: BothEnds = BothEnds(Split { head: 0, tail: 1 });
}

impl Strategy for BothEnds {
    fn start(&self, _settings: &Settings) -> Box<dyn Selector> {
        Box::new(*self)
    }
}

impl Selector for BothEnds {
    fn finish<'text>(&'text mut self, ends: &'text Ends, room: &Room<'_>) -> Selection<'text> {
        self.choose_at_least_something(ends, room).into()
    }
}

impl BothEnds {
    /// The ends as far as they fit, but never an empty preview.
    fn choose_at_least_something<'text>(&self, ends: &'text Ends, room: &Room<'_>) -> Vec<Piece<'text>> {
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
        // Room that the end does not use goes to the beginning.
        let head = head.max(room.less(&closing[tail..]).head(opening));
        let mut pieces = ends.first(head);
        pieces.extend(ends.last(tail));
        pieces
    }
}

/// Without the feature `smart` no content is examined.
#[cfg(not(feature = "smart"))]
pub(crate) fn find_outliers(_: &[u8], _: u64) -> Vec<(usize, u64)> {
    Vec::new()
}

/// A selector for one output: by the custom strategy if there is one, else by the one that the settings name.
pub(crate) fn start(custom: Option<&dyn Strategy>, settings: &Settings) -> Box<dyn Selector> {
    let split = settings.split;
    let selector = match (custom, settings.strategy) {
        (Some(custom), _) => custom.start(settings),
        (None, StrategyName::Head) => BothEnds::HEAD.start(settings),
        (None, StrategyName::Tail) => BothEnds::TAIL.start(settings),
        (None, StrategyName::HeadTail) => BothEnds(split).start(settings),
        #[cfg(feature = "smart")]
        (None, StrategyName::Smart) => Smart::default().start(settings),
        #[cfg(feature = "smart")]
        (None, StrategyName::Json) => Json { split }.start(settings),
        #[cfg(feature = "smart")]
        (None, StrategyName::Auto) => Auto { split }.start(settings),
        #[cfg(not(feature = "smart"))]
        (None, StrategyName::Auto) => BothEnds(split).start(settings),
    };
    match settings.trailer {
        TrailingLines::Kept => Box::new(WithToolStatus(selector)),
        TrailingLines::AsChosen => selector,
    }
}
