//! MCP for offcut.
//!
//! [`proxy`] stands between a client and a server: every message passes as the bytes it came in, but what a tool returns
//! is bounded and can be had whole by one tool more. [`serve`] gives any client what was kept, without a server behind.
//!
//! Threads and blocking reads, no runtime: a message waits for nobody but its reader, so nothing has to be queued.

mod bound;
#[cfg(fuzzing)]
mod converse;
mod events;
mod http;
mod hub;
mod library;
mod line;
mod message;
mod proxy;
mod relay;
mod schema;
mod scope;
mod serve;
mod structured;
mod tools;

#[cfg(fuzzing)]
pub use converse::converse;
pub use http::{Address, proxy_http};
pub use library::Library;
pub use proxy::{Ended, Proxy, proxy};
pub use relay::{Bounding, Call};
pub use scope::SessionOnly;
pub use serve::serve;
pub use tools::READ_TOOL;

/// The largest message that is held, unless another size is asked for.
pub const LARGEST_MESSAGE: usize = 256 << 20;
