//! MCP for offcut.
//!
//! [`proxy`] and [`proxy_http`] pass messages between a client and a server byte for byte. They bound what tools return
//! and add one tool that reads the stored outputs. [`serve`] is a server for the stored outputs.
//!
//! Threads and blocking reads, no runtime: a message waits only for its reader, so nothing has to be queued.

#![deny(clippy::print_stderr, clippy::print_stdout)]

mod bound;
mod call;
mod clients;
#[cfg(fuzzing)]
mod converse;
mod events;
mod http;
mod hub;
mod library;
mod line;
mod message;
mod parts;
mod proxy;
mod relay;
mod scope;
mod serve;
mod tools;

pub use bound::{BoundedStructures, bound_structures};
#[cfg(fuzzing)]
pub use converse::converse;
pub use http::{Address, proxy_http};
pub use library::Library;
pub use proxy::{Proxy, ProxyEnd, proxy};
pub use relay::{MakeMiddleware, ResultKind};
pub use scope::SessionOnly;
pub use serve::serve;
pub use tools::READ_TOOL;

/// The default for the largest message that is held in memory.
pub const LARGEST_MESSAGE: usize = 256 << 20;
