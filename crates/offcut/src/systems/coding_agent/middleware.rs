//! §7: bounds the results of tools.

use super::{TruncationOptions, TruncationService};
use crate::results::{Decision, Middleware, ResultCall};

/// What the caller's function decides about a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShouldTruncate {
    /// Leave it as it is.
    No,
    /// Truncate it if it is too large.
    Yes,
    /// Truncate it with these options.
    With(TruncationOptions),
}

/// §7.1: a middleware for results. `should_truncate` is asked for the results of tools that are not in `skip_tools`.
///
/// The settings are those that the service has now.
pub fn truncation_middleware<N: Into<String>>(
    service: &TruncationService,
    skip_tools: impl IntoIterator<Item = N>,
    should_truncate: impl Fn(&ResultCall<'_>) -> ShouldTruncate + Send + Sync + 'static,
) -> Middleware {
    Middleware::new(service.truncator.clone()).skip_tools(skip_tools).decide(
        move |call| match should_truncate(call) {
            ShouldTruncate::No => Decision::Skip,
            ShouldTruncate::Yes => Decision::Bound,
            ShouldTruncate::With(options) => Decision::BoundWith(options.rule()),
        },
    )
}
