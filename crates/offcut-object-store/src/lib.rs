//! One store for a fleet: S3 and whatever speaks like it, shared by many machines.
//!
//! ```text
//! write ─▶ a file on this machine ─▶ uploaded while it grows ─▶ described ─▶ the file goes
//!                  │ the store is away, or slower than the deadline
//!                  └▶ the file stays, the entry says so, and a later run moves it up
//! ```
//!
//! The [`offcut::store::Store`] trait is not asynchronous; the small runtime that talks to the server is started when the
//! first request is made and hidden behind it.

mod access;
mod ahead;
mod engine;
mod fleet;
mod landmarks;
mod layout;
mod listing;
mod location;
mod lookup;
mod mover;
mod notes;
mod remote;
mod trouble;
mod upload;
mod writer;

pub use access::Access;
pub use fleet::{FleetStore, Options};
pub use location::{Location, LocationError};
pub use mover::{Moved, Waiting};
