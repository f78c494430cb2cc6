//! offcut: the tool-output layer for coding agents.
//!
//! A tool prints too much; the model gets a preview that fits its budget; every byte is kept; one concrete command
//! gets any part of the rest back.
//!
//! ```
//! use offcut::{Context, Profile, Outcome, Storage, Truncator};
//! use offcut::store::MemoryStore;
//! use std::sync::Arc;
//! use std::time::SystemTime;
//!
//! let store = Arc::new(MemoryStore::new(SystemTime::now));
//! let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
//! let output = "a line of output\n".repeat(10_000);
//! match truncator.apply(output.as_bytes(), &Context::tool("bash")) {
//!     Outcome::Passed(_) => unreachable!("170,000 bytes do not fit"),
//!     Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => assert!(preview.content.len() <= 9500),
//! }
//! ```
//!
//! The library reads no environment, home directory, clock or network: callers pass what it needs.

mod background_writer;
mod binary;
mod boundary;
mod builder;
mod context;
mod cut;
mod event;
pub mod json;
pub mod limits;
pub mod measure;
pub mod notice;
mod profile;
mod recorder;
mod render;
pub mod report;
pub mod results;
pub mod retention;
pub mod retrieve;

mod outcome;
mod spool;
mod stages;
pub mod store;
pub mod strategy;
pub mod terminal;
mod truncator;

pub use builder::{DEFAULT_CAP, Storage};
pub use context::Context;
pub use cut::{Cut, Gap, GapReason, LinePosition, Piece, PieceKind, Segment, Size};
#[cfg(feature = "tracing")]
pub use event::TracingSink;
pub use event::{DiscardEvents, Event, EventSink, JsonLinesSink};
pub use limits::{LimitError, Limits, Unit};
pub use outcome::{Outcome, Preview, Saved, StoredPart};
pub use profile::{
    Frames, Marking, Profile, ProfileError, Removed, Results, Rule, Settings, TaskTool, TrailingLines,
    Treatment, presets,
};
pub use recorder::CommandEnd;
pub use render::{Placed, Reach};
pub use spool::Spool;
pub use terminal::Terminal;
pub use truncator::Truncator;
