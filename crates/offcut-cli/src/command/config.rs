//! `offcut config`: prints the effective settings and their origins, checks for errors, and changes one key.

mod edit;

use crate::agents::{self, ToolKind};
use crate::arguments::{ConfigCommand, Format, GlobalOptions};
use crate::config::{self, Change, Configuration, KEYS, Key, Layer, Origin, Problem, Trust, to_toml};
use crate::diagnostic;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use anyhow::Context;
use offcut::Profile;
use offcut::profile::{Settings, TaskTool};
use offcut::terminal::Terminal;
use serde::Serialize;
use serde_json::{Value, json};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

pub(crate) fn config(global: &GlobalOptions, command: &ConfigCommand) -> CommandResult {
    match command {
        ConfigCommand::Show { origin } => show(global, *origin),
        ConfigCommand::Path => path(),
        ConfigCommand::Check => check(global),
        ConfigCommand::Edit => edit::edit(global),
        ConfigCommand::Set { key, value, project } => change(global, key, Change::Set(value), *project),
        ConfigCommand::Unset { key, project } => change(global, key, Change::Unset, *project),
    }
}

#[derive(Serialize)]
struct Row {
    key: String,
    value: Option<Value>,
    origin: String,
}

fn show(global: &GlobalOptions, with_origin: bool) -> CommandResult {
    let setup = Setup::new(global)?.with_reader(agents::caller(), ToolKind::Shell);
    let rows = rows(global, &setup);
    match global.format {
        Format::Json => super::print_json(&rows),
        Format::Text => {
            let line = |row: &Row| match &row.value {
                Some(value) => format!("{} = {}", row.key, to_toml(value)),
                None => format!("# {} is not set", row.key),
            };
            let width = rows.iter().map(|row| line(row).chars().count()).max().unwrap_or(0);
            let text: String = rows
                .iter()
                .map(|row| match with_origin {
                    true => format!("{:width$}  # {}\n", line(row), row.origin),
                    false => format!("{}\n", line(row)),
                })
                .collect();
            super::print(text.as_bytes())
        }
    }
}

fn rows(global: &GlobalOptions, setup: &Setup) -> Vec<Row> {
    let Setup { configuration, profile, .. } = setup;
    let settings = profile.settings(None, configuration.rule(None, profile)).ok();
    let mut rows: Vec<Row> = KEYS
        .iter()
        .map(|key| {
            let (value, origin) = effective(key, global, setup, settings.as_ref());
            Row { key: key.name.to_owned(), value, origin: origin.to_string() }
        })
        .collect();
    for tool in configuration.tools() {
        rows.extend(tool_rows(tool, setup));
    }
    rows
}

/// The effective values of the keys that are set for a tool.
fn tool_rows(tool: &str, setup: &Setup) -> Vec<Row> {
    let Setup { configuration, profile, .. } = setup;
    let Ok(settings) = profile.settings(Some(tool), configuration.rule(Some(tool), profile)) else {
        return Vec::new();
    };
    let layers = [&configuration.environment, &configuration.project, &configuration.user];
    let set_for = |key: &Key, wanted: Option<&str>, layer: &Layer| {
        layer
            .settings
            .iter()
            .rev()
            .find(|setting| setting.key.name == key.name && setting.tool.as_deref() == wanted)
            .cloned()
    };
    let mut rows = Vec::new();
    for key in KEYS.iter().filter(|key| layers.iter().any(|layer| set_for(key, Some(tool), layer).is_some()))
    {
        let value = value_in(key.name, &settings);
        // Within one source, the setting for the tool takes precedence over the general one.
        let setter = layers
            .iter()
            .flat_map(|layer| [set_for(key, Some(tool), layer), set_for(key, None, layer)])
            .flatten()
            .find(|setting| Some(&setting.value) == value.as_ref());
        let origin =
            setter.map_or_else(|| origin_of_default(key.name, &settings, setup), |setting| setting.origin);
        let name = format!("tools.{}.{}", bare_or_quoted(tool), key.name);
        rows.push(Row { key: name, value, origin: origin.to_string() });
    }
    rows
}

/// Formats a part of a key for TOML.
fn bare_or_quoted(part: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if part.bytes().all(is_bare) { part.to_owned() } else { format!("{part:?}") }
}

/// The effective value of a key, and its origin.
fn effective(
    key: &'static Key,
    global: &GlobalOptions,
    setup: &Setup,
    settings: Option<&Settings>,
) -> (Option<Value>, Origin) {
    let Setup { configuration, profile, .. } = setup;
    let text = |text: &str| Some(Value::from(text));
    match (key.name, &global.profile, &global.store) {
        ("profile", Some(name), _) => return (text(name), Origin::Flag("profile")),
        ("store.path", _, Some(path)) => return (text(path), Origin::Flag("store")),
        _ => {}
    }
    if let Some(settings) = settings
        && let Some(value) = value_in(key.name, settings)
    {
        // A project file may request more than it gets, so the origin is the source that set the effective value.
        let origin = [&configuration.environment, &configuration.project, &configuration.user]
            .into_iter()
            .filter_map(|layer| layer.get(key.name))
            .find(|setting| setting.value == value)
            .map_or_else(|| origin_of_default(key.name, settings, setup), |setting| setting.origin.clone());
        return (Some(value), origin);
    }
    match configuration.get(key.name) {
        Some(setting) => (Some(setting.value.clone()), setting.origin.clone()),
        None => default(key.name, setup, profile),
    }
}

/// The origin of a value that is not configured.
fn origin_of_default(name: &str, settings: &Settings, setup: &Setup) -> Origin {
    let is_same = settings.keep == settings.limits;
    match (name.split_once('.'), setup.limiting_agent()) {
        (Some(("keep", "lines")), _) if is_same => Origin::As("limits.lines"),
        (Some(("keep", "bytes")), _) if is_same => Origin::As("limits.bytes"),
        (Some(("keep", "chars")), _) if is_same => Origin::As("limits.chars"),
        (Some(("keep", "tokens")), _) if is_same => Origin::As("limits.tokens"),
        (Some(("limits" | "keep", _)), Some(agent)) => {
            let mut failed = *settings;
            failed.limits = settings.failure_limits;
            failed.keep = settings.keep.at_most(settings.failure_limits);
            let other =
                value_in(name, &failed).filter(|value| Some(value) != value_in(name, settings).as_ref());
            Origin::Agent { name: agent.name, after_failure: other.and_then(|value| value.as_u64()) }
        }
        _ => Origin::Profile(setup.profile.name().to_owned()),
    }
}

fn value_in(name: &str, settings: &Settings) -> Option<Value> {
    let number = |limit: Option<u64>| limit.map(Value::from);
    match name {
        "limits.lines" => number(settings.limits.lines),
        "limits.bytes" => number(settings.limits.bytes),
        "limits.chars" => number(settings.limits.chars),
        "limits.tokens" => number(settings.limits.tokens),
        "keep.lines" => number(settings.keep.lines),
        "keep.bytes" => number(settings.keep.bytes),
        "keep.chars" => number(settings.keep.chars),
        "keep.tokens" => number(settings.keep.tokens),
        "strategy" => Some(settings.strategy.as_str().into()),
        "split" => Some(json!([settings.split.head, settings.split.tail])),
        "enabled" => Some(settings.enabled.into()),
        "terminal" => Some(Value::from(match settings.terminal {
            Terminal::Rendered => "rendered",
            Terminal::Raw => "raw",
        })),
        "task" => Some((settings.task == TaskTool::Available).into()),
        _ => None,
    }
}

fn default(name: &str, setup: &Setup, profile: &Profile) -> (Option<Value>, Origin) {
    let text = |text: String| (Some(Value::from(text)), Origin::Default);
    match name {
        "profile" => text("native".to_owned()),
        "store.path" => match (setup.fleet(), setup.directory()) {
            (Some(fleet), _) => text(fleet.location().to_string()),
            (None, path) => path.map_or((None, Origin::Default), |path| text(path.display().to_string())),
        },
        "store.layout" => text("own".to_owned()),
        "reach" => text("shell".to_owned()),
        "mcp.readable" => text("store".to_owned()),
        "retention.max_total" => (Some(super::clean::MAX_TOTAL.into()), Origin::Default),
        "ledger" => (Some(true.into()), Origin::Default),
        "max_output" => (Some(offcut::store::DEFAULT_CAP.into()), Origin::Default),
        "retention.days" => {
            let days = profile.retention_days().unwrap_or(0);
            (Some(days.into()), Origin::Profile(profile.name().to_owned()))
        }
        _ => (None, Origin::Default),
    }
}

fn path() -> CommandResult {
    let existing = |path: Option<std::path::PathBuf>| match path {
        Some(path) if path.exists() => format!("{}\n", path.display()),
        Some(path) => format!("{} (does not exist)\n", path.display()),
        None => "none\n".to_owned(),
    };
    let text =
        format!("user     {}project  {}", existing(config::user_file()), existing(config::project_file()));
    super::print(text.as_bytes())
}

/// Changes one key in the user's file or in the project's, and prints what changed.
fn change(global: &GlobalOptions, key: &str, change: Change<'_>, project: bool) -> CommandResult {
    let new_project_file = || Some(config::project_directory()?.join(config::PROJECT_FILE));
    let (path, trust) = match project {
        true => (config::project_file().or_else(new_project_file), Trust::Project),
        false => (config::user_file(), Trust::User),
    };
    let path = path.context("cannot find the directory of the configuration file").map_err(Failure::Usage)?;
    let shown = path.display();
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        read => read.with_context(|| format!("cannot read {shown}")).map_err(Failure::Usage)?,
    };
    let edited = config::edit(&path, &text, key, change, trust)
        .map_err(|Problem(problem)| Failure::Usage(anyhow::anyhow!(problem)))?;
    if let Change::Set(_) = change {
        check_layer(global, &edited.layer)?;
    }
    if edited.text != text {
        write(&path, &edited.text)
            .with_context(|| format!("cannot write {shown}"))
            .map_err(Failure::Usage)?;
    }
    let done = match (edited.before, edited.after) {
        (None, None) => format!("{key} is not set in {shown}\n"),
        (Some(before), None) => format!("Removed {key} = {before} from {shown}\n"),
        (None, Some(after)) => format!("Set {key} = {after} in {shown}\n"),
        (Some(before), Some(after)) => format!("Set {key} = {after} (was {before}) in {shown}\n"),
    };
    super::print(done.as_bytes())
}

/// Checks that the profile exists and accepts the limits of a file.
fn check_layer(global: &GlobalOptions, layer: &Layer) -> CommandResult {
    let configured = Configuration::load();
    let set = layer.get("profile").and_then(|setting| setting.value.as_str());
    let name = global.profile.as_deref().or(set).or(configured.text("profile"));
    let profile = name.map_or_else(|| Ok(Profile::native()), config::profile).map_err(Failure::Usage)?;
    for tool in [None].into_iter().chain(layer.tools().map(Some)) {
        profile.settings(tool, layer.rule(tool)).map_err(|error| Failure::Usage(error.into()))?;
    }
    Ok(())
}

/// Replaces a file atomically. A new one is private to the user; an existing one keeps its permissions and its links.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let file = tempfile::Builder::new().prefix(".offcut").tempfile_in(directory)?;
    std::fs::write(file.path(), text)?;
    if let Ok(found) = std::fs::metadata(&path) {
        std::fs::set_permissions(file.path(), found.permissions())?;
    }
    file.persist(&path).map(drop).map_err(|error| error.error)
}

/// Reports errors in files and variables, and limits that the profile cannot use.
fn check(global: &GlobalOptions) -> CommandResult {
    let setup = Setup::without_warnings(global)?;
    let Setup { configuration, profile, .. } = &setup;
    let mut problems: Vec<String> = configuration.problems.iter().map(|problem| problem.0.clone()).collect();
    problems.extend(configuration.raised_limits(profile));
    match global.format {
        Format::Json => super::print_json(&json!({ "problems": problems }))?,
        Format::Text if problems.is_empty() => super::print(b"No errors found.\n")?,
        Format::Text => {}
    }
    let Some(last) = problems.pop() else { return Ok(()) };
    for problem in problems {
        diagnostic::say(problem);
    }
    Err(Failure::Usage(anyhow::anyhow!(last)))
}
