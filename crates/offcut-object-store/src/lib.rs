//! A store that many machines share: a bucket of S3 or of a compatible server.
//!
//! ```text
//! write ─▶ local file ─▶ uploaded while it grows ─▶ metadata published ─▶ local file removed
//!              │ the store is unavailable, or slower than the deadline
//!              └▶ the file stays, the entry says so, and a later process uploads it
//! ```
//!
//! The [`offcut::store::Store`] trait is synchronous; the runtime for requests starts with the first one and is private.

mod access;
mod connection;
mod errors;
mod fleet;
mod http;
mod layout;
mod line_index;
mod listing;
mod local_index;
mod location;
mod lookup;
mod readahead;
mod remote;
mod strays;
mod transfer;
mod uploader;
mod writer;

pub use access::Access;
pub use fleet::{FleetStore, Options};
pub use location::{Location, LocationError};
pub use uploader::{PendingUploads, UploadReport};
