//! `offcut doctor`: checks the installation by running its parts, and suggests fixes.

mod installation;
mod sandbox;

use crate::agents::{self, Agent, ToolKind};
use crate::arguments::{Format, GlobalOptions};
use crate::command::init;
use crate::config;
use crate::environment::Setup;
use crate::failure::{CommandResult, Failure};
use crate::fallback;
use crate::hook::Hooks;
use crate::install::{self, Content, InstallContext, Method, Scope};
use crate::ledger;
use crate::log;
use anstyle::{AnsiColor, Style};
use installation::{Installation, unreadable_settings};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A slower hook gets a warning: agents wait for it after every call.
const SLOW: Duration = Duration::from_millis(50);

/// A command line whose output exceeds the limits of every agent.
const LONG_OUTPUT: &str = "seq 1 300000";

/// How many hook errors to print.
const LOG_LINES: usize = 5;

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    state: Verdict,
    #[serde(rename = "what")]
    subject: String,
    #[serde(rename = "says")]
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    Note,
    Bad,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, state: Verdict, subject: &str, message: impl Into<String>) {
        self.0.push(Finding { state, subject: subject.to_owned(), message: message.into() });
    }

    /// Adds a good finding, or a bad one with a suggestion.
    fn result(&mut self, subject: &str, result: Result<String, String>) {
        match result {
            Ok(message) => self.add(Verdict::Good, subject, message),
            Err(message) => self.add(Verdict::Bad, subject, message),
        }
    }
}

pub(crate) fn doctor(global: &GlobalOptions) -> CommandResult {
    let mut findings = Findings::default();
    let context = init::context(global)?;
    check_program(&mut findings, &context);
    let setup = Setup::without_warnings(global)?;
    check_store(&mut findings, &setup);
    for agent in agents::ALL {
        check_agent(&mut findings, agent, &context, &setup);
        if agent.is_installed(&context) {
            check_limits(&mut findings, agent, &setup);
        }
    }
    if let Some(message) = ledger::not_kept() {
        findings.add(Verdict::Note, "store", message);
    }
    for message in log::last(LOG_LINES) {
        findings.add(Verdict::Note, "hook", message);
    }
    match global.format {
        Format::Json => super::print_json(&findings.0)?,
        Format::Text => print(&findings.0)?,
    }
    match findings.0.iter().any(|finding| finding.state == Verdict::Bad) {
        true => Err(Failure::Problems),
        false => Ok(()),
    }
}

fn check_program(findings: &mut Findings, context: &InstallContext) {
    let version = env!("CARGO_PKG_VERSION");
    findings.add(Verdict::Good, "program", format!("offcut {version}, {}", context.program.display()));
    if cfg!(not(feature = "s3")) {
        findings.add(Verdict::Note, "s3", "built without the feature `s3`: a store is a directory");
    }
    if cfg!(not(feature = "tokens")) {
        findings.add(
            Verdict::Note,
            "tokens",
            "built without the feature `tokens`: token counts are estimates",
        );
    }
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|directory| directory.join("offcut"))
        .find(|file| file.is_file());
    match found.as_deref().map(|file| file.canonicalize().is_ok_and(|file| file == context.program)) {
        Some(true) => findings.add(Verdict::Good, "path", "`offcut` on your PATH is this program"),
        Some(false) => findings.add(
            Verdict::Bad,
            "path",
            "`offcut` on your PATH is another program; remove it or change the order of PATH",
        ),
        None => findings.add(
            Verdict::Note,
            "path",
            format!("offcut is not on your PATH; notices name {} instead", context.program.display()),
        ),
    }
}

fn check_store(findings: &mut Findings, setup: &Setup) {
    for problem in &setup.configuration.problems {
        findings.add(Verdict::Bad, "configuration", problem.0.clone());
    }
    if setup.configuration.problems.is_empty() {
        let file = config::user_file().filter(|file| file.is_file());
        let message = file.map_or_else(
            || "no configuration file; using defaults".to_owned(),
            |file| file.display().to_string(),
        );
        findings.add(Verdict::Good, "configuration", message);
    }
    let Some(directory) = setup.directory() else {
        return findings.add(Verdict::Note, "store", "none: outputs are shortened but not stored");
    };
    check_writable(findings, directory, setup);
    if let Ok(found) = directory.metadata() {
        let mode = found.permissions().mode() & 0o777;
        findings.result(
            "permissions",
            match mode & 0o077 {
                0 => Ok(format!("readable only by you ({mode:o})")),
                _ => Err(format!(
                    "other users can read the store ({mode:o}); run: chmod 700 {}",
                    directory.display()
                )),
            },
        );
    }
    let entries = setup.store().and_then(|store| {
        let ids = store.ids()?;
        let bytes: u64 = ids.iter().filter_map(|id| store.entry(id).ok()).map(|entry| entry.bytes).sum();
        Ok((ids.len(), bytes))
    });
    if let Ok((count, bytes)) = entries {
        let most = setup.configuration.number("retention.max_total");
        let message = format!("{count} outputs, {bytes} bytes");
        findings.result(
            "quota",
            match most {
                Some(most) if bytes > most => {
                    Err(format!("{message}, more than the limit of {most}; run: offcut clean"))
                }
                Some(most) => Ok(format!("{message} of {most}")),
                None => Ok(message),
            },
        );
    }
}

/// Checks that a file can be written to the store, or to the temporary directory that replaces it in a sandbox.
fn check_writable(findings: &mut Findings, directory: &Path, setup: &Setup) {
    let tried = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| tempfile::Builder::new().prefix(".doctor").tempfile_in(directory))
        .and_then(|mut file| file.write_all(b"x"));
    let Err(error) = tried else {
        return findings.add(Verdict::Good, "store", directory.display().to_string());
    };
    let message = format!("cannot write to {}: {error}", directory.display());
    let temporary = setup.directory_with_fallback().filter(|_| fallback::is_denied(&error));
    match temporary.and_then(fallback::usable_directory) {
        Some(temporary) => findings.add(
            Verdict::Note,
            "store",
            format!(
                "{message}; outputs are stored in {} until a later call can move them",
                temporary.display()
            ),
        ),
        None => findings.add(Verdict::Bad, "store", message),
    }
}

fn check_agent(findings: &mut Findings, agent: &Agent, context: &InstallContext, setup: &Setup) {
    let name = agent.name;
    let installations: Vec<Installation<'_>> = [Scope::User, Scope::Project]
        .into_iter()
        .filter_map(|scope| Installation::find(agent, scope, context))
        .collect();
    if installations.is_empty() && !agent.is_installed(context) {
        return findings.add(Verdict::Note, name, "not installed");
    }
    let version = output(Command::new(name).arg("--version"), b"").map_or_else(
        |_| "not on your PATH".to_owned(),
        |text| text.lines().next().unwrap_or_default().to_owned(),
    );
    let unreadable = unreadable_settings(agent, context);
    if installations.is_empty() && unreadable.is_empty() {
        let message = format!("{version}, offcut is not installed; run: offcut init {name}");
        findings.add(Verdict::Note, name, message);
    }
    for problem in unreadable {
        findings.add(Verdict::Bad, name, format!("cannot check its settings: {problem}"));
    }
    for installation in &installations {
        check_installation(findings, installation, &version, context);
    }
    if installations.iter().any(Installation::is_current)
        && let (Some(arguments), Ok(store)) = (agent.sandbox, setup.store())
    {
        sandbox::check(findings, agent, arguments, &context.bash(), &*store);
    }
}

fn check_installation(
    findings: &mut Findings,
    installation: &Installation<'_>,
    version: &str,
    context: &InstallContext,
) {
    let Installation { agent, method, changes, .. } = installation;
    if !installation.is_current() {
        let command = installation.command();
        let problems = installation.problems(context);
        if problems.is_empty() {
            let message = format!("{version}, configured in part or by another version; run: {command}");
            findings.add(Verdict::Note, agent.name, message);
        }
        for problem in problems {
            findings.add(Verdict::Bad, agent.name, format!("{problem}; run: {command}"));
        }
        return;
    }
    let how = if *method == Method::Rewrite { " with --rewrite" } else { "" };
    findings.add(Verdict::Good, agent.name, format!("{version}, configured{how}"));
    if !version.contains(agent.measured_version) {
        let measured = agent.measured_version;
        findings.add(Verdict::Note, agent.name, format!("its limits were measured with version {measured}"));
    }
    for change in changes {
        for warning in change.plan().into_iter().flat_map(|step| step.warnings) {
            findings.add(Verdict::Note, agent.name, warning);
        }
        match &change.content {
            Content::OwnScript(_) => findings.result(agent.name, test_shell(&change.path)),
            Content::OwnFile(_) => match change.path.file_name().and_then(|name| name.to_str()) {
                Some(install::LINE) => findings.result(agent.name, test_prefix(context)),
                Some(install::BASH_ENV) => findings.result(agent.name, test_bash_env(context)),
                Some(install::KLAUDE) => findings.result(agent.name, test_login_shell()),
                _ => {}
            },
            _ => {}
        }
    }
    if let Some(hooks) = &agent.hooks {
        findings.result(agent.name, test_hook(agent.name, hooks, context));
    }
}

/// Compares the limits that the user has set with those of the agent, which would cut a longer preview again.
fn check_limits(findings: &mut Findings, agent: &Agent, setup: &Setup) {
    let Some(limits) = agent.limits(ToolKind::Shell) else { return };
    let (rule, _) = setup.configuration.checked_rule(Some("bash"), &setup.profile);
    let size = |limits: offcut::Limits| limits.bytes.into_iter().chain(limits.chars).min();
    let (users, success, failure) = (size(rule.limits), size(limits.success), size(limits.failure));
    if let (Some(users), Some(success), Some(failure)) = (users, success, failure)
        && users > failure
    {
        let title = agent.title;
        let message = format!(
            "your limit of {users} is more than {title} passes on: about {success}, and {failure} of a failed command"
        );
        findings.add(Verdict::Note, agent.name, message);
    }
}

/// Runs a command line with the prefix in bash.
fn test_prefix(context: &InstallContext) -> Result<String, String> {
    let prefix = install::prefix(&context.files).unwrap_or_default();
    test(
        "command line prefix",
        Command::new("bash").args(["-c", &format!("{prefix}{LONG_OUTPUT}")]),
        b"",
        SLOW * 10,
    )
}

/// Runs a command line with long output in the agent's shell.
fn test_shell(shell: &Path) -> Result<String, String> {
    test("shell", Command::new(shell).args(["-c", LONG_OUTPUT]), b"", SLOW * 10)
}

/// Runs a command line with long output in bash with `BASH_ENV`.
fn test_bash_env(context: &InstallContext) -> Result<String, String> {
    test(
        "bash",
        Command::new("bash").env("BASH_ENV", context.bash_env()).args(["-c", LONG_OUTPUT]),
        b"",
        SLOW * 10,
    )
}

/// Runs a command line with long output in a login shell, as klaude does.
fn test_login_shell() -> Result<String, String> {
    let mut command = Command::new("bash");
    command.env("KLAUDE_SESSION_ID", "doctor").env_remove("OFFCUT_KLAUDE");
    test("login shell", command.args(["-lc", "seq 1 3000"]), b"", SLOW * 10)
}

/// Calls the hook with a long result.
fn test_hook(agent: &str, hooks: &Hooks, context: &InstallContext) -> Result<String, String> {
    let payload = (hooks.sample)(&"a line of a long result\\n".repeat(10_000));
    let mut command = Command::new("sh");
    test("hook", command.args(["-c", &context.hook(agent, "after")]), payload.as_bytes(), SLOW)
}

/// Runs a command with a temporary store and checks that its output is shortened.
fn test(what: &str, command: &mut Command, input: &[u8], slow: Duration) -> Result<String, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let started = Instant::now();
    let text = output(command.env("OFFCUT_STORE", folder.path().join("store")), input)
        .map_err(|error| format!("cannot run {what}: {error}; run `offcut init` again"))?;
    let took = started.elapsed();
    match text.contains("[offcut") {
        false => Err(format!(
            "{what} does not shorten output; it printed: {}",
            text.chars().take(100).collect::<String>()
        )),
        true if took > slow => Ok(format!("{what} works, but is slow ({took:.0?})")),
        true => Ok(format!("{what} works ({took:.1?})")),
    }
}

fn output(command: &mut Command, input: &[u8]) -> Result<String, std::io::Error> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its input shows that by its answer.
        let _ = stdin.write_all(input);
    }
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
}

fn print(findings: &[Finding]) -> CommandResult {
    let mut text = String::new();
    for Finding { state, subject, message } in findings {
        let (sign, color) = match state {
            Verdict::Good => ("ok", AnsiColor::Green),
            Verdict::Note => ("--", AnsiColor::Yellow),
            Verdict::Bad => ("!!", AnsiColor::Red),
        };
        let style = Style::new().fg_color(Some(color.into()));
        let _ = writeln!(text, "{style}{sign}{style:#} {subject:<14} {}", super::table_cell(message));
    }
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(())
}
