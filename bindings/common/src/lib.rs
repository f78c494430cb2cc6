//! What both bindings need: an engine from options, answers as plain data, and a store to read from.
//!
//! Nothing here calls back into another language. Where a foreign store or strategy takes part, the engine first says
//! what it needs from them ([`Answer::Ask`]) and is then called again with what they gave ([`CallOptions::saved`],
//! [`CallOptions::made`]). So exceptions stay in the language that threw them, and a store may take its time.

mod archive;
mod engine;
mod fault;
mod foreign;
mod frame;
mod options;
mod place;
mod report;
mod spool;
mod tally;

pub use archive::Archive;
pub use engine::{Answer, Asked, BoundedResult, Engine, Told};
pub use fault::Fault;
pub use foreign::{Saved, Strategist};
pub use offcut::Context;
pub use options::CallOptions;
pub use report::Report;
pub use spool::OwnedSpool;

/// How many lines a text has, as the documents count them: what `split("\n")` gives.
pub fn count_lines(text: &[u8]) -> u64 {
    offcut::measure::lines(text, offcut::measure::LineConvention::Separated)
}
