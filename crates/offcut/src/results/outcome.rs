//! The questions asked about a tool result, and the answers.

use crate::context::Context;
use crate::outcome::Preview;
use crate::profile::Rule;
use crate::results::Shape;
use std::borrow::Cow;

/// A result, passed to the caller's decision.
#[derive(Clone, Copy, Debug)]
pub struct ResultCall<'a> {
    /// The caller's context, completed with the tool name and call id found in the result.
    pub context: &'a Context,
    /// The result as JSON.
    pub json: &'a str,
}

/// The caller's decision about one result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Bound it with the profile's rules.
    Bound,
    /// Bound it, with these options taking precedence over all others.
    BoundWith(Rule),
    /// Leave it unchanged.
    Skip,
}

/// How the shape of a result is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeChoice {
    /// Detect it from the fields of the result.
    Auto,
    /// Use this shape.
    Is(Shape),
}

/// A JSON text after the results in it have been bounded.
#[derive(Debug)]
pub struct BoundedJson<'a> {
    /// The text; borrowed if nothing changed.
    pub json: Cow<'a, str>,
    /// One report per recognized result, in order.
    pub results: Vec<ResultReport>,
    /// The number of values that are not a result of a known shape.
    pub unknown: usize,
    /// The number of bytes by which the results exceed the total, because some are skipped or have the minimum share.
    pub excess: u64,
}

/// What happened to one result.
#[derive(Debug)]
pub struct ResultReport {
    /// Its shape.
    pub shape: Shape,
    /// The index of the value that it is in, in an array of results; 0 without one.
    pub index: usize,
    /// The call that it belongs to.
    pub context: Context,
    /// Whether it was truncated.
    pub outcome: ResultOutcome,
    /// The size of its text in bytes, after bounding.
    pub bytes: u64,
}

/// Whether a result was truncated.
#[derive(Debug)]
pub enum ResultOutcome {
    /// It is within the limits and unchanged.
    Fits,
    /// It is unchanged whatever its size.
    Skipped(SkipReason),
    /// It exceeded a limit and is now a preview.
    Truncated(Box<Preview>),
}

/// Why a result is left unchanged whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// Its tool is one of [`Middleware::skip_tools`](crate::results::Middleware::skip_tools).
    ToolExcluded,
    /// The caller's decision was [`Decision::Skip`].
    CallerDecision,
    /// Its tool reports that it truncated the output, and the profile accepts that.
    TruncatedByTool,
    /// It reports an error, and the profile leaves errors unchanged.
    ErrorResult,
    /// Shortening is switched off for it, and the profile leaves such results unchanged.
    Disabled,
    /// It is a preview or a page that offcut wrote.
    OwnPreview,
    /// It has no text where results of its shape have one.
    NoText,
}

/// The input is not valid JSON.
#[derive(Debug, thiserror::Error)]
#[error("the result is not JSON: {reason}")]
pub struct InvalidJson {
    reason: String,
}

impl InvalidJson {
    pub(super) fn new(error: &serde_json::Error) -> InvalidJson {
        InvalidJson { reason: error.to_string() }
    }
}
