//! What the Python and Node packages share: an engine from options, reports as JSON, and a store to read from.
//!
//! Nothing here calls back into another language. If the caller has a store or strategy, the engine first returns what
//! they have to do ([`Answer::Ask`]), and is called again with their results ([`CallOptions::saved`],
//! [`CallOptions::made`]). Exceptions stay in the language that raised them, and a store may be asynchronous.

mod archive;
mod engine;
mod event_log;
mod fault;
mod foreign;
mod frame;
mod options;
mod place;
mod report;
mod spool;

pub use archive::Archive;
pub use engine::{Answer, BoundedResult, CallerRequest, Engine, Reported};
pub use fault::Fault;
pub use foreign::{Saved, StrategyResult};
pub use offcut::Context;
pub use options::CallOptions;
pub use report::Report;
pub use spool::OwnedSpool;

/// The number of lines of a text as `split("\n")` counts them.
pub fn count_lines(text: &[u8]) -> u64 {
    offcut::measure::lines(text, offcut::measure::LineConvention::Separated)
}
