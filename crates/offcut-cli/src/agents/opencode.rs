//! opencode: offcut is its shell, and a plugin shortens the results of other tools.
//!
//! - Shell: the setting `shell` names `offcut-bash`, or the same for the shell of the user. With `--rewrite`, the plugin adds a
//!   prefix to command lines.
//! - Other tools: the plugin (`opencode.js`) passes a result to `offcut hook opencode after` and replaces it with the answer. A
//!   built-in tool has `output`, a text that opencode has already truncated; an MCP tool has `content`, as the server sent it.
//! - Reading back: the plugin's tool `offcut`, and `permission.external_directory` for the store.

use super::limits::{AgentSettings, MAX_BYTES, ToolKind, limit, number};
use super::{Agent, Base, McpClient, Options, PassedContent, SettingsPlace, Variables};
use crate::hook::{Answer, Hooks, Services, is_page, quoted, tool_input};
use crate::install::{Change, Content, Edit, InstallContext, Line, Method, Scope};
use offcut::Context;
use offcut::measure::CharConvention;
use offcut::results::Shape;
use offcut::store::Origin;
use offcut::{Limits, ReaderLimits};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;
use std::time::Duration;

/// The names of its settings files, in a project and in the user's directory.
const IN_PROJECT: [&str; 4] =
    ["opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json"];
const OF_USER: [&str; 3] = ["opencode.jsonc", "opencode.json", "config.json"];

/// The plugin, in the directory of the settings.
const PLUGIN: &str = "plugin/offcut.js";

/// The member of a package.json that `offcut init` created.
const PACKAGE_COMMENT: &str = "//offcut";

pub(super) const AGENT: Agent = Agent {
    name: "opencode",
    title: "opencode",
    settings: SettingsPlace { variable: None, user: "opencode", base: Base::Config, project: ".opencode" },
    variables: Variables { own: "OPENCODE", session: None, call: None },
    measured_version: "1.18.33",
    mcp_client: Some(McpClient { name: "opencode", passes: PassedContent::TextsOrData }),
    limits,
    excerpt: |_, _| None,
    options: Options::ALL,
    exit_delay: Duration::from_millis(50),
    changes,
    advice,
    hooks: Some(Hooks { shell_tool: "bash", rewritten, after, sample }),
    sandbox: None,
};

fn limits(_: ToolKind, settings: &AgentSettings) -> ReaderLimits {
    let settings = settings.json(&IN_PROJECT, &OF_USER);
    let configured = |pointer: &str| number(&settings, pointer);
    let limits = Limits {
        bytes: Some(limit(configured("/tool_output/max_bytes"), 51_200, 500).min(MAX_BYTES)),
        lines: Some(limit(configured("/tool_output/max_lines"), 2000, 10)),
        ..Limits::default()
    };
    ReaderLimits {
        success: limits,
        failure: limits,
        preview: Limits::default(),
        char_convention: CharConvention::Utf16,
    }
}

fn changes(scope: Scope, method: Method, context: &InstallContext) -> Vec<Change> {
    let directory = AGENT.settings_directory(scope, context);
    let settings = match scope {
        Scope::User => directory.clone(),
        Scope::Project => context.project.clone(),
    };
    let names = OF_USER.map(|name| settings.join(name));
    let file = names.iter().find(|file| file.is_file()).unwrap_or(&names[1]);
    let mut edits = vec![
        Edit::member(&[], "shell", context.users_shell().to_string_lossy(), "offcut-")
            .with_presence(method.wants(Method::Shell)),
    ];
    if let Some(store) = &context.store {
        let pattern = store.join("*").to_string_lossy().into_owned();
        edits.push(Edit::member(&["permission", "external_directory"], &pattern, "allow", "\"allow\""));
    }
    let program = Value::from(context.program.to_string_lossy()).to_string();
    let plugin = include_str!("opencode.js")
        .replace("\"{program}\"", &program)
        .replace("\"{rewrites}\"", if method == Method::Rewrite { "true" } else { "false" });
    let mut changes = context.files_for_users_shell(method);
    changes.push(Change { path: directory.join(PLUGIN), content: Content::OwnFile(plugin) });
    let user = AGENT.settings_directory(Scope::User, context);
    // A plugin of the user has these settings already, and keeps them when that of the project is removed.
    let needs_users = scope == Scope::Project && !user.join(PLUGIN).is_file();
    changes.extend(npm_settings(&directory));
    changes.extend(needs_users.then(|| npm_settings(&user)).into_iter().flatten());
    changes.push(Change::json(file.clone(), edits));
    changes
}

/// Settings for npm in a directory of opencode's settings.
///
/// With a plugin, opencode waits at each start until it has installed a package in each of these directories, or until npm gives
/// up: without a network, after 80 seconds. With this setting, npm tries as often, but without long pauses.
fn npm_settings(directory: &Path) -> Vec<Change> {
    let pause = Line::variable("fetch-retry-mintimeout", "20", "fetch-retry-mintimeout=20");
    let mut changes = vec![Change { path: directory.join(".npmrc"), content: Content::Line(pause) }];
    // npm reads the file in the nearest directory that has a package.json.
    let package = directory.join("package.json");
    if std::fs::read_to_string(&package).map_or(true, |text| text.contains(PACKAGE_COMMENT)) {
        let comment = Edit::member(&[], PACKAGE_COMMENT, "npm reads the .npmrc next to this file", ".npmrc");
        changes.push(Change::json(package, vec![comment]));
    }
    changes
}

fn advice(method: Method, context: &InstallContext) -> Vec<String> {
    match method {
        Method::Shell => Vec::new(),
        Method::Rewrite => context.prefix_needs_bash(),
    }
}

fn rewritten(input: &str) -> String {
    format!("{{\"args\":{input}}}")
}

fn sample(text: &str) -> String {
    format!("{{\"tool\":\"x\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}")
}

/// Tools whose results the agent pages through itself or needs exactly; instructions, which must be whole; and the shell,
/// whose output is shortened before opencode gets it.
const EXACT: &[&str] = &[
    "read",
    "edit",
    "write",
    "patch",
    "apply_patch",
    "todowrite",
    "todoread",
    "skill",
    "plan_enter",
    "plan_exit",
    "question",
    "bash",
    "offcut",
];

#[derive(Deserialize)]
struct Call<'a> {
    tool: String,
    #[serde(rename = "sessionID", default)]
    session: Option<String>,
    #[serde(rename = "callID", default)]
    call: Option<String>,
    #[serde(default, borrow)]
    args: Option<&'a RawValue>,
    #[serde(default, borrow)]
    output: Option<&'a RawValue>,
    #[serde(default, borrow)]
    content: Option<&'a RawValue>,
}

fn after(input: &str, services: &Services<'_>) -> Answer {
    let Services { shorten, read_page, .. } = services;
    let call: Call<'_> = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let result = call.content.or(call.output);
    let is_page = result.is_some_and(|result| is_page(&call.tool, call.args, result.get(), read_page));
    if EXACT.contains(&call.tool.as_str()) || is_page {
        return Ok(None);
    }
    let context = Context {
        tool: Some(call.tool.clone()),
        call_id: call.call.clone(),
        session: call.session.clone(),
        origin: Origin { command: call.args.map(tool_input), ..Origin::default() },
        ..Context::default()
    };
    match (call.content, call.output) {
        (Some(content), _) => {
            let json = format!("{{\"content\":{}}}", content.get());
            Ok(shorten(&json, Shape::Mcp, &context))
        }
        (None, Some(output)) => {
            let json = format!("{{\"title\":{},\"output\":{}}}", quoted(&call.tool)?, output.get());
            Ok(shorten(&json, Shape::Opencode, &context))
        }
        (None, None) => Err(format!("neither output nor content for {}", call.tool)),
    }
}
