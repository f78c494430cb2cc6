//! The five documented systems under their own names, one file per document, tests named after its sections.

mod coding_agent;
mod klaude;
mod opencode;
mod takumi;
mod unified;
