//! offcut: the tool-output layer for coding agents.
//!
//! A tool prints too much. The model gets a preview that fits its budget, every byte is stored, and any part of the rest
//! can be read back. Output within the limits passes byte for byte.
//!
//! # Bound a text and read a part back
//!
//! ```
//! use offcut::{Context, Truncator};
//! use std::time::SystemTime;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let directory = tempfile::tempdir()?;
//! let truncator = Truncator::in_directory(directory.path().join("outputs"), SystemTime::now);
//! let output: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
//!
//! let outcome = truncator.apply(&output, &Context::tool("bash"));
//! assert!(outcome.text().len() <= 9500);
//! let preview = outcome.preview().expect("the output does not fit");
//! assert!(outcome.text().starts_with("[offcut: "));
//!
//! let entry = preview.entry().expect("it was stored");
//! let path = entry.path.as_ref().expect("a directory store has files");
//! assert_eq!(std::fs::read_to_string(path)?, output);
//! # Ok(())
//! # }
//! ```
//!
//! # Bound a stream
//!
//! Memory stays within a few times the budget, however long the stream is.
//!
//! ```
//! use offcut::{Context, Profile, Truncator};
//! use std::io::Write;
//!
//! # fn main() -> std::io::Result<()> {
//! let truncator = Truncator::new(Profile::native());
//! let mut spool = truncator.spool(Context::tool("bash"));
//! for number in 1..=100_000 {
//!     writeln!(spool, "{number}")?;
//! }
//! println!("{}", spool.finish().text());
//! # Ok(())
//! # }
//! ```
//!
//! # A tool that runs commands and a tool that reads
//!
//! The preview's last line is a call of the second tool, which reads the next part. `ReadTool::DESCRIPTION` and
//! `ReadTool::schema()` go into the tool list of the model.
//!
//! ```
//! use offcut::retrieve::ReadTool;
//! use offcut::store::FsStore;
//! use offcut::{Context, Profile, Storage, Truncator};
//! use std::{process::Command, sync::Arc, time::SystemTime};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let store = Arc::new(FsStore::new(directory.path().join("outputs"), SystemTime::now));
//! let read_output = ReadTool::new("read_output", store.clone());
//! let truncator =
//!     Truncator::new(Profile::native()).storage(Storage::To(store)).reach(read_output.reach());
//! let bash = |line: &str| -> std::io::Result<String> {
//!     let output = Command::new("sh").args(["-c", line]).output()?;
//!     Ok(truncator.apply(&output.stdout, &Context::tool("bash")).text().into_owned())
//! };
//!
//! let shown = bash("seq 1 100000")?;
//! let hint = shown.lines().last().expect("a footer");
//! assert!(hint.contains("more: read_output {\"id\":\""), "{hint}");
//! let read = read_output.call(r#"{"id": "last", "lines": "50000:50001"}"#);
//! assert!(read.starts_with("50000\n50001\n"));
//! # Ok(())
//! # }
//! ```
//!
//! # In an async program
//!
//! Storing an output takes as long as its store does. A truncator is cheap to clone and to share, so the work can move to a
//! thread that may block. The registry and the layer in [`results`] do this themselves, on any runtime.
//!
//! ```
//! use offcut::{Context, Outcome, Profile, Truncator};
//!
//! async fn bound(truncator: &Truncator, output: Vec<u8>) -> Outcome<'static> {
//!     let truncator = truncator.clone();
//!     let bound = move || truncator.apply(&output, &Context::tool("bash")).into_owned();
//!     tokio::task::spawn_blocking(bound).await.expect("bounding does not panic")
//! }
//!
//! # #[tokio::main]
//! # async fn main() {
//! let outcome = bound(&Truncator::new(Profile::native()), vec![b'x'; 100_000]).await;
//! assert!(outcome.content().len() <= 9500);
//! # }
//! ```
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `smart` | yes | the strategies `smart`, `json` and `auto`, which examine the content; without it, `auto` is `head-tail` |
//! | `profiles` | yes | profiles as TOML: `Profile::parse`, the built-in profiles other than `native`, presets |
//! | `search` | | search in stored outputs: `retrieve::search` |
//! | `registry` | | tools by name, called many at a time, each result bounded: `results::registry` |
//! | `layer` | | a `tower` layer around a service that returns tool output: `results::layer` |
//! | `tracing` | | an event sink that emits `tracing` events |
//!
//! With `default-features = false` the strategies `head`, `tail` and `head-tail`, stores and reading back remain.
//!
//! Stored outputs are removed after 7 days by default, when the first output of a process is stored: see
//! [`Truncator::retention`] and [`Truncator::cleaning`].
//!
//! The library reads no environment, home directory, clock or network: callers pass what it needs.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod background_writer;
mod binary;
mod boundary;
mod builder;
mod context;
pub mod cut;
pub mod event;
pub mod fsck;
pub mod json;
pub mod limits;
pub mod live;
pub mod measure;
pub mod notice;
pub mod outcome;
pub mod permission;
mod precedence;
pub mod profile;
mod recorder;
mod render;
pub mod report;
pub mod results;
pub mod retention;
pub mod retrieve;
mod spool;
mod stages;
pub mod store;
pub mod strategy;
#[cfg(feature = "profiles")]
pub mod systems;
pub mod terminal;
mod timestamp;
mod truncator;
mod unseen;

pub use builder::Storage;
pub use context::Context;
pub use cut::Size;
pub use event::{Event, EventSink};
pub use limits::Limits;
pub use outcome::{Outcome, Preview, Saved};
pub use profile::{Profile, ReaderLimits, Rule};
pub use recorder::CommandEnd;
pub use render::Reach;
pub use spool::Spool;
pub use truncator::Truncator;
pub use unseen::UnseenOutput;
