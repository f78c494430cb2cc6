//! Results of tools written in Rust, bounded without a conversion to JSON.

use crate::context::Context;
use crate::profile::{Marking, Rule, Treatment};
use crate::results::shape::ToolReport;
use crate::results::{Middleware, ResultOutcome, SkipReason};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The result of a tool: `{success, output, metadata}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// Whether the tool succeeded.
    pub status: ToolStatus,
    /// What it printed, in any encoding.
    pub output: Vec<u8>,
    /// Other fields. `truncated` means that the tool has bounded its output itself.
    pub metadata: Map<String, Value>,
}

/// Whether a tool succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolStatus {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
}

impl ToolOutput {
    /// The output of a tool that succeeded.
    pub fn succeeded(output: impl Into<Vec<u8>>) -> ToolOutput {
        ToolOutput { status: ToolStatus::Succeeded, output: output.into(), metadata: Map::new() }
    }

    /// The output of a tool that failed.
    pub fn failed(output: impl Into<Vec<u8>>) -> ToolOutput {
        ToolOutput { status: ToolStatus::Failed, ..ToolOutput::succeeded(output) }
    }

    /// The result as JSON, for the caller's decision.
    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Form<'a> {
            success: bool,
            output: Cow<'a, str>,
            metadata: &'a Map<String, Value>,
        }
        let output = String::from_utf8_lossy(&self.output);
        let form = Form { success: self.status == ToolStatus::Succeeded, output, metadata: &self.metadata };
        serde_json::to_string(&form).unwrap_or_default()
    }

    /// Marks a count, if the profile has a name for it.
    fn mark_count(&mut self, key: &Option<String>, count: Option<u64>) {
        if let (Some(key), Some(count)) = (key, count) {
            self.mark(key, count);
        }
    }

    fn mark(&mut self, key: &str, value: impl Into<Value>) {
        self.metadata.insert(key.to_owned(), value.into());
    }
}

impl Middleware {
    /// Bounds what a tool returned, with the tool's own options over the profile's.
    ///
    /// The metadata of a truncated result has `truncated`, its path (if it is stored) and how much was removed, by the names
    /// of the profile's source document ([`MetadataNames`](crate::profile::MetadataNames)).
    #[must_use]
    pub fn bound_output(
        &self,
        result: ToolOutput,
        context: &Context,
        tool: Rule,
    ) -> (ToolOutput, ResultOutcome) {
        self.bound_output_within(result, context, tool, None)
    }

    /// Whether bounding an output may take long, because it may have to be stored.
    #[cfg(any(feature = "layer", feature = "registry"))]
    pub(crate) fn may_store(&self, output: &[u8], context: &Context, tool: Rule, share: Option<u64>) -> bool {
        let settings = self.settings(context, tool, share);
        self.decide.is_some() || !self.truncator.passes(output, &settings)
    }

    /// Like [`bound_output`](Middleware::bound_output), with a share of a total.
    pub(crate) fn bound_output_within(
        &self,
        mut result: ToolOutput,
        context: &Context,
        tool: Rule,
        share: Option<u64>,
    ) -> (ToolOutput, ResultOutcome) {
        let report = ToolReport {
            is_error: result.status == ToolStatus::Failed,
            is_truncated: result.metadata.contains_key("truncated"),
        };
        let planned = self.call_rule(report, context, &|| Cow::Owned(result.json())).and_then(|rule| {
            let settings = self.settings(context, rule.or(tool), share);
            if !settings.enabled && self.truncator.profile.results.disabled == Treatment::Passed {
                return Err(SkipReason::Disabled);
            }
            let passes = self.truncator.passes(&result.output, &settings);
            match !passes && self.is_own_preview(&result.output, &settings) {
                true => Err(SkipReason::OwnPreview),
                false => Ok(settings),
            }
        });
        let settings = match planned {
            Ok(settings) => settings,
            Err(reason) => {
                self.truncator.report_skipped(context, result.output.len() as u64);
                return (result, ResultOutcome::Skipped(reason));
            }
        };
        let preview = self.truncator.apply_with(&result.output, context, settings).into_preview();
        let Some(preview) = preview else {
            if self.truncator.profile.results.whole == Marking::Marked && !result.output.is_empty() {
                result.mark("truncated", false);
            }
            return (result, ResultOutcome::Fits);
        };
        let names = &self.truncator.profile.results.metadata;
        result.mark("truncated", true);
        if let Some(entry) = preview.entry() {
            result.mark(&names.path, entry.location_from(self.truncator.base_of_paths()));
        }
        let removed = preview.reported_removed();
        result.mark_count(&names.removed_lines, removed.lines);
        result.mark_count(&names.removed_bytes, removed.bytes);
        result.output.clone_from(&preview.content);
        (result, ResultOutcome::Truncated(preview))
    }
}
