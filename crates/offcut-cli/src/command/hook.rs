//! `offcut hook AGENT EVENT`: answers an agent's hook call. It never fails: errors are logged.

use crate::agents::{Agent, ToolKind};
use crate::arguments::{Cut, GlobalOptions, Hook};
use crate::environment::Setup;
use crate::hook::{self, Event, Hooks, NEUTRAL, Services};
use crate::{housekeeping, install, log, origin, pass};
use offcut::Context;
use offcut::results::{Middleware, ResultOutcome, ResultReport, Shape, ShapeChoice};
use offcut_mcp::Library;
use std::cell::Cell;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

pub(crate) fn hook(global: &GlobalOptions, hook: &Hook) -> u8 {
    crate::process::catch_file_size_signal();
    let answer = match hook.event {
        Event::Before => hooks(hook).and_then(before),
        Event::After => hooks(hook).and_then(|hooks| after(global, hook.agent, hooks)),
    };
    let answer = answer.unwrap_or_else(|problem| {
        log::write(&format!("hook {} {:?}: {problem}", hook.agent.name, hook.event).to_lowercase());
        None
    });
    let _ = super::print(answer.as_deref().unwrap_or(NEUTRAL).as_bytes());
    0
}

/// Answers a command line from the settings of another version: the agent continues as without offcut.
pub(crate) fn unknown_hook(problem: &str) -> u8 {
    log::write(&format!("hook: {problem}"));
    let _ = super::print(NEUTRAL.as_bytes());
    0
}

fn input() -> Result<String, String> {
    let mut input = String::new();
    std::io::stdin().lock().read_to_string(&mut input).map_err(|error| error.to_string())?;
    Ok(input)
}

fn hooks(hook: &Hook) -> Result<&'static Hooks, String> {
    hook.agent.hooks.as_ref().ok_or_else(|| "this agent has no hooks".to_owned())
}

fn before(hooks: &Hooks) -> hook::Answer {
    let input = input()?;
    // Without the file, command lines stay unchanged.
    match install::files().and_then(|files| install::prefix(&files)) {
        Some(prefix) => hook::before(hooks, &input, &prefix),
        None => Ok(None),
    }
}

fn after(global: &GlobalOptions, agent: &'static Agent, hooks: &Hooks) -> hook::Answer {
    let input = input()?;
    let reason = |failure: crate::failure::Failure| failure.reason().unwrap_or_default();
    let setup = Setup::for_agent(global, Some(agent), ToolKind::Other).map_err(reason)?;
    let middleware = Middleware::new(setup.truncator(&Cut::default()).map_err(reason)?);
    let is_cut = Cell::new(false);
    let is_passed = |context: &Context| {
        let command = context.origin.command.as_deref().unwrap_or_default();
        context.tool.as_deref() == Some(hooks.shell_tool) && pass::is_set_in(command)
    };
    let shorten = |json: &str, shape: Shape, context: &Context| {
        if is_passed(context) {
            return None;
        }
        let context = origin::describe(context.clone(), Some(agent));
        let bounded = middleware.bound_json(json, ShapeChoice::Is(shape), &context).ok()?;
        let structure = offcut_mcp::bound_structures(&middleware, &bounded, None, &setup.command_line()).json;
        let is_truncated = |report: &ResultReport| matches!(report.outcome, ResultOutcome::Truncated(_));
        let is_shortened = structure.is_some() || bounded.results.iter().any(is_truncated);
        is_cut.set(is_cut.get() || is_shortened);
        is_shortened.then(|| structure.unwrap_or_else(|| bounded.json.into_owned()))
    };
    let read_page =
        |tool: &str, arguments: &str| Library::new(Ok(setup.store().ok()?)).part_for(tool, arguments);
    let services = Services { shorten: &shorten, read_page: &read_page, save_text: &save_text };
    let answer = (hooks.after)(&input, &services);
    if is_cut.get() {
        housekeeping::start_if_due(&setup);
    }
    answer
}

/// Writes a text into a new file that only the user can read.
fn save_text(directory: &Path, text: &str) -> Option<PathBuf> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).ok()?;
    let mut file = tempfile::Builder::new().prefix("offcut-").suffix(".txt").tempfile_in(directory).ok()?;
    file.write_all(text.as_bytes()).ok()?;
    Some(file.keep().ok()?.1)
}
