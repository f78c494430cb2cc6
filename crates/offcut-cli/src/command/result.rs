//! `offcut result`: shortens the text in a tool result.

use crate::agents;
use crate::arguments::{GlobalOptions, ToolResult};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::housekeeping;
use crate::origin;
use offcut::Saved;
use offcut::json::Node;
use offcut::results::{BoundedJson, Middleware, ResultOutcome, ResultReport, SkipReason, panel};
use std::io::{IsTerminal, Read};

pub(crate) fn result(global: &GlobalOptions, result: &ToolResult) -> CommandResult {
    crate::process::catch_file_size_signal();
    let setup = Setup::new(global)?;
    let mut middleware = Middleware::new(setup.truncator(&result.cut)?).skip_tools(result.skip_tool.clone());
    if let Some(total) = result.total {
        middleware = middleware.total(total);
    }
    let mut input = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut input);
    let shape = result.shape;
    let context = origin::describe(result.cut.context(), agents::caller());
    let bounded = std::str::from_utf8(&input)
        .map_err(|error| anyhow::anyhow!("the result is not JSON: invalid UTF-8: {error}"))
        .and_then(|json| Ok(middleware.bound_json(json, shape, &context)?));
    let bounded = match bounded {
        Ok(bounded) => bounded,
        // The input is still printed, so that a pipeline gets its data; the exit code reports the error.
        Err(error) => {
            super::print(&input)?;
            return Err(Failure::Usage(match read {
                Ok(_) => {
                    anyhow::anyhow!(
                        "input passed through unchanged: {error}; for plain text, use `offcut cut`"
                    )
                }
                Err(error) => anyhow::anyhow!(
                    "cannot read all of standard input: {error}; only the first {} bytes were passed through",
                    input.len()
                ),
            }));
        }
    };
    let structures = offcut_mcp::bound_structures(&middleware, &bounded, result.total, &setup.command_line());
    let BoundedJson { json, results, unknown, excess: _ } = bounded;
    let json = structures.json.as_deref().unwrap_or(&json);
    super::print(json.as_bytes())?;
    let shown = results.iter().map(|report| report.bytes).sum::<u64>() + structures.bytes;
    let excess = result.total.map_or(0, |total| shown.saturating_sub(total));
    let document = Node::parse(json).ok();
    let has_structure = |report: &ResultReport| {
        let value = document.and_then(|document| match document.is_array() {
            true => document.elements().get(report.index).copied(),
            false => Some(document),
        });
        value.is_some_and(|value| value.get("structuredContent").is_some())
    };
    let without_text = |report: &&ResultReport| {
        matches!(report.outcome, ResultOutcome::Skipped(SkipReason::NoText)) && !has_structure(report)
    };
    let warnings = [
        (unknown > 0).then(|| format!("{unknown} not recognised as a tool result, passed through unchanged")),
        results.iter().find(without_text).map(|report| {
            format!(
                "no text where a result of shape {} has it, passed through unchanged",
                report.shape.name()
            )
        }),
        (excess > 0).then(|| {
            format!(
                "results exceed --total by {excess} bytes: some are exempt or already at the minimum size"
            )
        }),
    ];
    for warning in warnings.into_iter().flatten() {
        diagnostic::warn(format_args!("{warning} (see `offcut result --help`)"));
    }
    let mut cut = structures.json.is_some();
    for report in &results {
        if let ResultOutcome::Truncated(preview) = &report.outcome {
            cut = true;
            if result.panel || std::io::stderr().is_terminal() {
                diagnostic::print(&panel(&report.context, preview));
            } else if let Saved::Failed { error, .. } = preview.saved() {
                diagnostic::say(format_args!("the full output was not stored: {error}"));
            }
        }
    }
    if cut {
        housekeeping::start_if_due(&setup);
    }
    read.map(drop).map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot read all of standard input"))
    })
}
