//! `offcut doctor`: looks whether everything works, by really doing it, and says what to do.

use crate::arguments::{Everywhere, Format};
use crate::command::init;
use crate::config;
use crate::environment::Setup;
use crate::failure::{Failure, Outcome};
use crate::hook::Host;
use crate::install::{self, Change, Content, Facts, Scope, Way};
use crate::log;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// More than a hook may take: an agent waits for it after every call.
const SLOW: Duration = Duration::from_millis(50);

/// How many remarks of hooks are shown.
const REMARKS: usize = 5;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    state: Verdict,
    what: String,
    says: String,
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
    fn add(&mut self, state: Verdict, what: &str, says: impl Into<String>) {
        self.0.push(Finding { state, what: what.to_owned(), says: says.into() });
    }

    /// Good with a remark, or bad with what to do.
    fn result(&mut self, what: &str, result: Result<String, String>) {
        match result {
            Ok(says) => self.add(Verdict::Good, what, says),
            Err(says) => self.add(Verdict::Bad, what, says),
        }
    }
}

pub(crate) fn doctor(everywhere: &Everywhere) -> Outcome {
    let mut findings = Findings::default();
    let facts = init::facts(everywhere)?;
    program(&mut findings, &facts);
    store(&mut findings, everywhere)?;
    for host in Host::ALL {
        agent(&mut findings, host, &facts);
    }
    for remark in log::last(REMARKS) {
        findings.add(Verdict::Note, "hook", remark);
    }
    match everywhere.format {
        Format::Json => super::print_json(&findings.0)?,
        Format::Text => print(&findings.0)?,
    }
    match findings.0.iter().any(|finding| finding.state == Verdict::Bad) {
        true => Err(Failure::Problems),
        false => Ok(()),
    }
}

fn program(findings: &mut Findings, facts: &Facts) {
    let version = env!("CARGO_PKG_VERSION");
    findings.add(Verdict::Good, "program", format!("offcut {version}, {}", facts.program.display()));
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
    match found.as_deref().map(|file| file.canonicalize().is_ok_and(|file| file == facts.program)) {
        Some(true) => findings.add(Verdict::Good, "path", "`offcut` on your PATH is this program"),
        Some(false) => findings.add(
            Verdict::Bad,
            "path",
            "`offcut` on your PATH is another program; remove it or change the order of PATH",
        ),
        None => findings.add(
            Verdict::Note,
            "path",
            format!("offcut is not on your PATH; notices name {} instead", facts.program.display()),
        ),
    }
}

fn store(findings: &mut Findings, everywhere: &Everywhere) -> Outcome {
    let setup = Setup::quiet(everywhere)?;
    for problem in &setup.configuration.problems {
        findings.add(Verdict::Bad, "configuration", problem.0.clone());
    }
    if setup.configuration.problems.is_empty() {
        let file = config::user_file().filter(|file| file.is_file());
        let says = file.map_or_else(
            || "no configuration file; using defaults".to_owned(),
            |file| file.display().to_string(),
        );
        findings.add(Verdict::Good, "configuration", says);
    }
    let Some(directory) = setup.directory() else {
        findings.add(Verdict::Note, "store", "none: outputs are shortened but not stored");
        return Ok(());
    };
    findings.result("store", writable(directory));
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
        let says = format!("{count} outputs, {bytes} bytes");
        findings.result(
            "quota",
            match most {
                Some(most) if bytes > most => {
                    Err(format!("{says}, more than the limit of {most}; run: offcut clean"))
                }
                Some(most) => Ok(format!("{says} of {most}")),
                None => Ok(says),
            },
        );
    }
    Ok(())
}

/// Whether a file can be put into the store.
fn writable(directory: &Path) -> Result<String, String> {
    let tried = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .and_then(|()| tempfile::Builder::new().prefix(".doctor").tempfile_in(directory))
        .and_then(|mut file| file.write_all(b"x"));
    match tried {
        Ok(()) => Ok(directory.display().to_string()),
        Err(error) => Err(format!("cannot write to {}: {error}", directory.display())),
    }
}

fn agent(findings: &mut Findings, host: Host, facts: &Facts) {
    let name = host.name();
    if !facts.is_installed(host, &std::env::var("PATH").unwrap_or_default()) {
        return findings.add(Verdict::Note, name, "not installed");
    }
    let version = output(Command::new(name).arg("--version"), b"").map_or_else(
        |_| "not on your PATH".to_owned(),
        |text| text.lines().next().unwrap_or_default().to_owned(),
    );
    let ways = [Scope::User, Scope::Project]
        .into_iter()
        .flat_map(|scope| [(scope, Way::Shell), (scope, Way::Rewrite)])
        .map(|(scope, way)| (way, install::changes(host, scope, way, facts)));
    let is_set_up =
        |changes: &[Change]| changes.iter().all(|change| change.plan().is_ok_and(|step| !step.is_change()));
    let Some((way, changes)) = ways.into_iter().find(|(_, changes)| is_set_up(changes)) else {
        return findings.add(
            Verdict::Note,
            name,
            format!("{version}, offcut is not installed; run: offcut init {name}"),
        );
    };
    let how = if way == Way::Rewrite { " with --rewrite" } else { "" };
    findings.add(Verdict::Good, name, format!("{version}, configured{how}"));
    for change in &changes {
        for remark in change.plan().into_iter().flat_map(|step| step.remarks) {
            findings.add(Verdict::Note, name, remark);
        }
        match &change.content {
            Content::Link(_) => findings.result(name, fire_shell(&change.path)),
            Content::Whole(_) if change.path.extension().is_some_and(|end| end == "sh") => {
                findings.result(name, if way == Way::Rewrite { fire_line(facts) } else { fire_start(facts) });
            }
            _ => {}
        }
    }
    if host != Host::Pi {
        findings.result(name, fire_hook(host, facts));
    }
}

/// The same with what stands before a line.
fn fire_line(facts: &Facts) -> Result<String, String> {
    let prefix = install::prefix(&facts.files).unwrap_or_default();
    fire(
        "command line prefix",
        Command::new("bash").args(["-c", &format!("{prefix}seq 1 3000")]),
        b"",
        SLOW * 10,
    )
}

/// Runs a line that prints too much in the shell that the agent uses.
fn fire_shell(link: &Path) -> Result<String, String> {
    fire("shell", Command::new(link).args(["-c", "seq 1 3000"]), b"", SLOW * 10)
}

/// The same in bash, with the file that it reads before.
fn fire_start(facts: &Facts) -> Result<String, String> {
    fire(
        "bash",
        Command::new("bash").env("BASH_ENV", facts.bash_env()).args(["-c", "seq 1 3000"]),
        b"",
        SLOW * 10,
    )
}

/// Calls the hook with a long result.
fn fire_hook(host: Host, facts: &Facts) -> Result<String, String> {
    let text = "a line of a long result\\n".repeat(1000);
    let part = format!("{{\"type\":\"text\",\"text\":\"{text}\"}}");
    let payload = match host {
        Host::Claude => format!("{{\"tool_name\":\"mcp__doctor__x\",\"tool_response\":[{part}]}}"),
        Host::Codex => {
            format!("{{\"tool_name\":\"mcp__doctor__x\",\"tool_response\":{{\"content\":[{part}]}}}}")
        }
        Host::Gemini => format!("{{\"tool_name\":\"x\",\"tool_response\":{{\"llmContent\":\"{text}\"}}}}"),
        Host::Opencode | Host::Pi => format!("{{\"tool\":\"x\",\"content\":[{part}]}}"),
    };
    let mut command = Command::new(&facts.program);
    fire("hook", command.args(["hook", host.name(), "after"]), payload.as_bytes(), SLOW)
}

/// Whether what comes back is bounded; what is kept of it goes nowhere.
fn fire(what: &str, command: &mut Command, input: &[u8], slow: Duration) -> Result<String, String> {
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
        // Whoever does not read it says so by its answer.
        let _ = stdin.write_all(input);
    }
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stdout).into_owned())
}

fn print(findings: &[Finding]) -> Outcome {
    let mut text = String::new();
    for Finding { state, what, says } in findings {
        let (sign, color) = match state {
            Verdict::Good => ("ok", AnsiColor::Green),
            Verdict::Note => ("--", AnsiColor::Yellow),
            Verdict::Bad => ("!!", AnsiColor::Red),
        };
        let style = Style::new().fg_color(Some(color.into()));
        let _ = writeln!(text, "{style}{sign}{style:#} {what:<14} {}", super::harmless(says));
    }
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(())
}
