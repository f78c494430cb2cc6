//! `offcut doctor`: checks the installation by running its parts, and suggests fixes.

mod findings;
mod installation;
mod sandbox;
mod store;

use crate::agents::{self, Agent, ToolKind};
use crate::arguments::GlobalOptions;
use crate::command::init;
use crate::environment::Setup;
use crate::failure::CommandResult;
use crate::hook::Hooks;
use crate::install::{self, Content, InstallContext, Method, Scope};
use crate::ledger;
use crate::log;
use findings::{Findings, Verdict};
use installation::{Installation, unreadable_settings};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A slower hook gets a warning: agents wait for it after every call.
const SLOW: Duration = Duration::from_millis(50);

/// A command line whose output exceeds the limits of every agent.
const LONG_OUTPUT: &str = "seq 1 300000";

/// How many hook errors to print.
const LOG_LINES: usize = 5;

pub(crate) fn doctor(global: &GlobalOptions) -> CommandResult {
    let mut findings = Findings::new(global.format);
    let context = init::context(global)?;
    check_program(&mut findings, &context);
    let setup = Setup::without_warnings(global)?;
    store::check(&mut findings, &setup);
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
    findings.finish()
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

fn check_agent(findings: &mut Findings, agent: &Agent, context: &InstallContext, setup: &Setup) {
    let name = agent.name;
    let installations: Vec<Installation<'_>> = [Scope::User, Scope::Project]
        .into_iter()
        .filter_map(|scope| Installation::find(agent, scope, context))
        .collect();
    if installations.is_empty() && !agent.is_installed(context) {
        return findings.add(Verdict::Note, name, format!("{} is not installed", agent.title));
    }
    let version = output(Command::new(name).arg("--version"), b"").map_or_else(
        |_| "not on your PATH".to_owned(),
        |text| text.lines().next().unwrap_or_default().to_owned(),
    );
    let unreadable = unreadable_settings(agent, context);
    if installations.is_empty() && unreadable.is_empty() {
        let title = agent.title;
        let message = format!("{version}; offcut is not installed in {title}; run: offcut init {name}");
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
    let rule = setup.configuration.rule(Some("bash"), &setup.profile);
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
