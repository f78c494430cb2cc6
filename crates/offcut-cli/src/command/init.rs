//! `offcut init`: puts offcut into agents and takes it out again, and shows every change.

use crate::arguments::{Everywhere, Init};
use crate::config;
use crate::environment::Setup;
use crate::failure::{self, Failure, Outcome};
use crate::hook::Host;
use crate::install::{self, Facts, Owner, Receipts, Scope, Step, Way};
use etcetera::{BaseStrategy, choose_base_strategy};
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

pub(crate) fn init(everywhere: &Everywhere, init: &Init) -> Outcome {
    let facts = facts(everywhere)?;
    let found: Vec<Host> =
        Host::ALL.into_iter().filter(|host| facts.is_installed(*host, &variable("PATH"))).collect();
    let named: Vec<Host> = if init.all { found.clone() } else { init.agents.clone() };
    if !named.is_empty() {
        // Settings of one agent that cannot be changed are no reason to leave out the others.
        return named.into_iter().map(|host| one(host, init, &facts, init.dry_run)).fold(Ok(()), later);
    }
    if found.is_empty() {
        return Err(Failure::NotFound(anyhow::anyhow!(
            "no agent is installed; to set one up anyway, name it: claude, opencode, codex, gemini or pi"
        )));
    }
    let is_asked = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !init.dry_run;
    for host in found {
        one(host, init, &facts, true)?;
        if is_asked && says_yes(&format!("make these changes for {}? [y/N] ", host.name())) {
            one(host, init, &facts, false)?;
        }
    }
    if !is_asked {
        super::print(b"Nothing was changed. To make the changes, name an agent or use --all.\n")?;
    }
    Ok(())
}

/// Two outcomes as one: of two failures the first is told here.
fn later(first: Outcome, second: Outcome) -> Outcome {
    match (first, second) {
        (Err(first), Err(second)) => {
            failure::exit_code(Err(first));
            Err(second)
        }
        (first, second) => first.and(second),
    }
}

fn one(host: Host, init: &Init, facts: &Facts, is_dry: bool) -> Outcome {
    let scope = if init.project { Scope::Project } else { Scope::User };
    let receipts = receipts()?;
    let way = if init.rewrite { Way::Rewrite } else { Way::Shell };
    let changes = install::changes(host, scope, way, facts);
    let usage = |error: String| Failure::Usage(anyhow::anyhow!(error));
    let (shared, settings): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .partition(|change| change.owner() == Owner::Ours && change.path.starts_with(&facts.files));
    let mut steps = Vec::new();
    if init.uninstall {
        for change in &settings {
            steps.push(change.plan_removal(&receipts).map_err(usage)?);
        }
        carry_out(&steps, &receipts, is_dry, Direction::Out)?;
        // Other agents may use the files that are not this agent's own.
        if !is_dry && receipts.is_empty() {
            let steps: Result<Vec<Step>, String> =
                install::shared(facts).iter().map(|change| change.plan_removal(&receipts)).collect();
            carry_out(&steps.map_err(usage)?, &receipts, is_dry, Direction::Out)?;
        }
    } else {
        for change in shared.iter().chain(&settings) {
            steps.push(change.plan().map_err(usage)?);
        }
        carry_out(&steps, &receipts, is_dry, Direction::In)?;
    }
    let is_change = steps.iter().any(Step::is_change);
    let summary = match (is_change, is_dry, init.uninstall) {
        (false, _, false) => "already configured".to_owned(),
        (false, _, true) => "offcut is not installed there".to_owned(),
        (true, true, _) => "would be changed as shown".to_owned(),
        (true, false, false) => format!("configured. Restart {} to apply.", host.title()),
        (true, false, true) => "restored".to_owned(),
    };
    let mut text = format!("{}: {summary}\n", host.name());
    if !init.uninstall {
        for remark in
            steps.iter().flat_map(|step| &step.remarks).cloned().chain(install::advice(host, way, facts))
        {
            text += &format!("  {remark}\n");
        }
    }
    super::print(text.as_bytes())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// Shows the steps and, unless it is only for show, takes them.
fn carry_out(steps: &[Step], receipts: &Receipts, is_dry: bool, direction: Direction) -> Outcome {
    for step in steps {
        if step.is_change() {
            super::print(step.diff().as_bytes())?;
        }
        if is_dry {
            continue;
        }
        let failed = |error: std::io::Error| {
            Failure::Store(
                anyhow::Error::new(error).context(format!("cannot change {}", step.path.display())),
            )
        };
        if direction == Direction::Out {
            step.take().map_err(failed)?;
            receipts.forget(&step.path);
        } else if step.is_change() {
            if step.owner == Owner::Theirs {
                receipts.keep(&step.path, &receipts.next(step)).map_err(failed)?;
            }
            step.take().map_err(failed)?;
        }
    }
    Ok(())
}

pub(crate) fn receipts() -> Result<Receipts, Failure> {
    let base = base()?;
    let directory = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(Receipts::new(directory.join("offcut").join("init")))
}

fn base() -> Result<impl BaseStrategy, Failure> {
    choose_base_strategy().map_err(|_| Failure::Usage(anyhow::anyhow!("cannot find your home directory")))
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// What the settings will name.
pub(crate) fn facts(everywhere: &Everywhere) -> Result<Facts, Failure> {
    let base = base()?;
    let setup = Setup::quiet(everywhere)?;
    let program = std::env::current_exe().map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot find the path of this program"))
    })?;
    let moved =
        [(Host::Claude, "CLAUDE_CONFIG_DIR"), (Host::Codex, "CODEX_HOME"), (Host::Pi, "PI_CODING_AGENT_DIR")];
    let moved = moved.into_iter().map(|(host, name)| (host, variable(name)));
    let shell = setup.shell();
    let shell = Path::new(&shell).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Facts {
        home: base.home_dir().to_owned(),
        project: config::project_directory().unwrap_or_default(),
        config: base.config_dir(),
        moved: moved.filter(|(_, path)| !path.is_empty()).map(|(host, path)| (host, path.into())).collect(),
        program,
        files: install::files().unwrap_or_else(|| PathBuf::from(".")),
        store: setup.directory().map(Path::to_owned),
        shell,
    })
}

fn says_yes(question: &str) -> bool {
    print!("{question}");
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    matches!(line.trim(), "y" | "Y" | "yes")
}
