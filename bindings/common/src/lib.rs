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
mod options;
mod place;
mod report;
mod spool;
mod value;

pub use archive::Archive;
pub use engine::{Answer, BoundedResult, CallerRequest, Engine, Reported};
pub use fault::Fault;
pub use foreign::{Saved, StrategyOutput};
pub use offcut::Context;
pub use options::CallOptions;
pub use report::Report;
pub use spool::OwnedSpool;

use offcut::systems::unified::Variables;
use serde_json::json;

/// The settings in the variables of the unified document (seed 002 §9): options of an engine and `dir`, as JSON.
pub fn unified_variables(variables: impl IntoIterator<Item = (String, String)>) -> Result<String, Fault> {
    let Variables { max_lines, max_bytes, truncate_direction: strategy, dir, retention_days } =
        Variables::from_variables(variables).map_err(|error| Fault::Invalid(error.to_string()))?;
    let settings = json!({
        "max_lines": max_lines,
        "max_bytes": max_bytes,
        "strategy": strategy,
        "dir": dir,
        "retention_days": retention_days,
    });
    Ok(settings.to_string())
}
