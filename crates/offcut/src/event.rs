//! Events: what happened to each output, for logs and metrics.

use crate::context::Context;
use crate::limits::Unit;
use crate::store::{Entry, Id};
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use crate::store::Clock;
use serde::Serialize;

/// What happened to an output: one event for each decision.
///
/// ```
/// use offcut::{Context, Event, EventSink, Profile, Truncator};
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
///
/// /// Counts the bytes that previews saved.
/// #[derive(Clone, Default)]
/// struct BytesSaved(Arc<AtomicU64>);
///
/// impl EventSink for BytesSaved {
///     fn emit(&self, event: &Event<'_>) {
///         if let Event::Truncated { original, content, .. } = event {
///             self.0.fetch_add(original.saturating_sub(*content), Ordering::Relaxed);
///         }
///     }
/// }
///
/// let saved = BytesSaved::default();
/// let truncator = Truncator::new(Profile::native()).sink(saved.clone());
/// let output = "a line\n".repeat(100_000);
/// let outcome = truncator.apply(&output, &Context::default());
/// assert_eq!(saved.0.load(Ordering::Relaxed), 700_000 - outcome.content().len() as u64);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// It is within the limits: it passed as it came.
    Passed {
        /// The call.
        context: &'a Context,
        /// The size of its text in bytes; data counts in its readable form, as in all events.
        bytes: u64,
    },
    /// It was not measured, because its tool or this call is exempt or its tool bounded it: it passed as it came.
    Skipped {
        /// The call.
        context: &'a Context,
        /// Its size in bytes.
        bytes: u64,
    },
    /// It was cut; all of it is stored, unless no store is set.
    Truncated {
        /// The call.
        context: &'a Context,
        /// The original size in bytes.
        original: u64,
        /// The size of the preview in bytes, notices included.
        content: u64,
        /// The limit that it exceeded first.
        limited_by: Unit,
        /// The entry with all of it.
        entry: Option<&'a Entry>,
    },
    /// It was cut, and not all of it could be stored.
    Error {
        /// The call.
        context: &'a Context,
        /// The original size in bytes.
        original: u64,
        /// The size of the preview in bytes, notices included.
        content: u64,
        /// What went wrong.
        error: &'a str,
    },
    /// A part of a stored output was read.
    Retrieved {
        /// The entry.
        id: &'a Id,
        /// The offset of the first byte.
        start: u64,
        /// The offset after the last byte.
        end: u64,
    },
}

/// Receives events. It must not fail: outputs are bounded whatever it does.
pub trait EventSink: Send + Sync {
    /// Receives one event.
    fn emit(&self, event: &Event<'_>);
}

/// Ignores every event.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiscardEvents;

impl EventSink for DiscardEvents {
    fn emit(&self, _event: &Event<'_>) {}
}

impl<F: Fn(&Event<'_>) + Send + Sync> EventSink for F {
    fn emit(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Writes one line of JSON per event.
pub struct JsonLinesSink<W> {
    writer: Mutex<W>,
    clock: Clock,
}

impl<W: Write + Send> JsonLinesSink<W> {
    /// A sink that writes to `writer`.
    pub fn new(writer: W, clock: Clock) -> JsonLinesSink<W> {
        JsonLinesSink { writer: Mutex::new(writer), clock }
    }
}

#[derive(Default, Serialize)]
struct Line<'a> {
    event: &'static str,
    /// Milliseconds since 1970.
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limited_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(event: &Event<'a>, timestamp: u64) -> Line<'a> {
        let call = |name, context: &'a Context| Line {
            event: name,
            timestamp,
            tool: context.tool.as_deref(),
            call_id: context.call_id.as_deref(),
            session: context.session.as_deref(),
            ..Line::default()
        };
        match *event {
            Event::Passed { context, bytes } => {
                Line { original_bytes: Some(bytes), content_bytes: Some(bytes), ..call("passed", context) }
            }
            Event::Skipped { context, bytes } => {
                Line { original_bytes: Some(bytes), content_bytes: Some(bytes), ..call("skipped", context) }
            }
            Event::Truncated { context, original, content, limited_by, entry } => Line {
                id: entry.map(|entry| entry.id.as_str()),
                path: entry.map(Entry::location),
                original_bytes: Some(original),
                content_bytes: Some(content),
                limited_by: Some(limited_by.to_string()),
                ..call("truncated", context)
            },
            Event::Error { context, original, content, error } => Line {
                original_bytes: Some(original),
                content_bytes: Some(content),
                error: Some(error),
                ..call("error", context)
            },
            Event::Retrieved { id, start, end } => Line {
                event: "retrieved",
                timestamp,
                id: Some(id.as_str()),
                start: Some(start),
                end: Some(end),
                ..Line::default()
            },
        }
    }
}

impl<W: Write + Send> EventSink for JsonLinesSink<W> {
    fn emit(&self, event: &Event<'_>) {
        let timestamp = (self.clock)().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let Ok(mut line) = serde_json::to_vec(&Line::of(event, timestamp)) else { return };
        line.push(b'\n');
        // One write per line, so that processes that append to one file do not mix their lines.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(&line);
        let _ = writer.flush();
    }
}

/// Emits every event through `tracing`, target `offcut`.
#[cfg(feature = "tracing")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink;

#[cfg(feature = "tracing")]
impl EventSink for TracingSink {
    fn emit(&self, event: &Event<'_>) {
        match *event {
            Event::Passed { context, bytes } => {
                tracing::debug!(target: "offcut", tool = context.tool.as_deref(), bytes, "passed");
            }
            Event::Skipped { context, bytes } => {
                tracing::debug!(target: "offcut", tool = context.tool.as_deref(), bytes, "skipped");
            }
            Event::Truncated { context, original, content, limited_by, entry } => {
                let location = entry.map(Entry::location);
                tracing::info!(target: "offcut", tool = context.tool.as_deref(), original, content, %limited_by, location, "truncated");
            }
            Event::Error { context, original, content, error } => {
                tracing::warn!(target: "offcut", tool = context.tool.as_deref(), original, content, error, "error");
            }
            Event::Retrieved { id, start, end } => {
                tracing::debug!(target: "offcut", %id, start, end, "retrieved");
            }
        }
    }
}
