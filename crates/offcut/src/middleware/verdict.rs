//! What is asked about a result, and what became of it.

use crate::context::Context;
use crate::middleware::Shape;
use crate::profile::Rule;
use crate::shown::Preview;
use std::borrow::Cow;

/// The result that a decision is about.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The call: the caller's context, with what the result itself says of it.
    pub context: &'a Context,
    /// The result.
    pub json: &'a str,
}

/// What the caller wants done with a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// It is bounded.
    Bound,
    /// It is bounded with these options over all others.
    BoundBy(Rule),
    /// It passes as it is.
    Pass,
}

/// Which shape a result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeChoice {
    /// The one that it looks like.
    Auto,
    /// This one.
    Is(Shape),
}

/// A text with results in it, bounded.
#[derive(Debug)]
pub struct Bounded<'a> {
    /// The text: the same if nothing was changed.
    pub json: Cow<'a, str>,
    /// What became of each result in it, in order; none if nothing in it was recognised.
    pub results: Vec<Judged>,
    /// How many values in it, beside those results, were not recognised.
    pub unknown: usize,
    /// By how many bytes the results together exceed the total, because some pass whole or have the least share.
    pub excess: u64,
}

/// What became of one result.
#[derive(Debug)]
pub struct Judged {
    /// Its shape.
    pub shape: Shape,
    /// The call that it belongs to.
    pub context: Context,
    /// What was done.
    pub verdict: Verdict,
    /// How many bytes of text it has now.
    pub bytes: u64,
}

/// What was done with a result.
#[derive(Debug)]
pub enum Verdict {
    /// It fits.
    Fits,
    /// It was not looked at, and why.
    Passed(Reason),
    /// It was over a limit.
    Cut(Box<Preview>),
}

/// Why a result passes whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its tool is on the list of those that are skipped.
    SkippedTool,
    /// The caller decided so.
    Decided,
    /// Its tool says that it has bounded it, and the profile believes that.
    Handled,
    /// It is an error, and the profile leaves errors alone.
    Failed,
    /// It is a preview or a page of ours.
    Ours,
    /// There is no text where a result of its shape has one.
    NoText,
}

/// A text that cannot be bounded as a result.
#[derive(Debug, thiserror::Error)]
#[error("the result is not JSON: {reason}")]
pub struct NotJson {
    reason: String,
}

impl NotJson {
    pub(super) fn new(error: &serde_json::Error) -> NotJson {
        NotJson { reason: error.to_string() }
    }
}
