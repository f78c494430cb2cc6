//! The library's integration tests: one binary, one file per topic.

#![expect(clippy::unwrap_used, reason = "a failed expectation of a test is a panic")]

mod auto_outlines;
mod cleaning;
#[cfg(feature = "smart")]
mod cliff;
mod commands;
mod common;
mod document_index;
mod document_results;
mod documents;
mod events;
mod failures;
mod json;
#[cfg(all(feature = "profiles", feature = "smart"))]
mod line_budgets;
mod live;
mod native;
mod ordinary_outputs;
mod outcome_limits;
mod precedence;
mod profiles;
mod properties;
mod rare_lines;
mod read_tool;
#[cfg(all(feature = "registry", feature = "layer"))]
mod registry;
mod relocation;
mod rendered;
mod repeats;
mod result_properties;
mod results;
mod retrieval;
mod smart;
mod store_model;
mod stores;
#[cfg(feature = "smart")]
mod structured;
mod successes;
#[cfg(feature = "profiles")]
mod systems;
mod unified_takumi_klaude;
#[cfg(feature = "search")]
mod versions;
