//! End-to-end tests of the binary: one test target, one file per topic.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod agent_limits;
mod background;
mod bash_env;
mod cleaning;
mod commands;
mod completions;
mod configuration;
mod damage;
mod doctor;
mod events;
mod fallback;
mod faults;
mod fsck;
mod gemini;
mod habits;
mod harness;
mod hints;
mod hooks;
mod hostile;
mod init;
mod klaude;
mod ledger;
mod listing;
mod live;
mod mcp;
mod opencode_plugin;
mod people;
mod removal;
mod removed;
mod rendered;
mod results;
mod rewrite;
mod run;
mod run_faults;
mod shell;
mod shown;
mod signals;
mod stress;
mod terminal;
mod versions;
