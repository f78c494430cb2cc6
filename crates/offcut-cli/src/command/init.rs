//! `offcut init`: installs offcut in agents and removes it, and prints every change as a diff.

use crate::agents::{self, Agent};
use crate::arguments::{GlobalOptions, Init};
use crate::config;
use crate::environment::Setup;
use crate::failure::{self, CommandResult, Failure};
use crate::install::{self, Backups, InstallContext, Method, Owner, Scope, Step};
use etcetera::{BaseStrategy, choose_base_strategy};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

pub(crate) fn init(global: &GlobalOptions, init: &Init) -> CommandResult {
    let context = context(global)?;
    let found: Vec<&Agent> =
        agents::ALL.iter().copied().filter(|agent| agent.is_installed(&context)).collect();
    let named: Vec<&Agent> = if init.all { found.clone() } else { init.agents.clone() };
    if !named.is_empty() {
        // Continue with the other agents if the settings of one cannot be changed.
        return named
            .into_iter()
            .map(|agent| change_agent(agent, init, &context, init.dry_run))
            .fold(Ok(()), combine);
    }
    if found.is_empty() {
        return Err(Failure::NotFound(anyhow::anyhow!(
            "no agent is installed; to set one up anyway, name it: {}",
            agents::ALL.iter().map(|agent| agent.name).collect::<Vec<_>>().join(", ")
        )));
    }
    let is_interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !init.dry_run;
    for agent in found {
        change_agent(agent, init, &context, true)?;
        if is_interactive && super::is_confirmed(&format!("make these changes for {}? [y/N] ", agent.name)) {
            change_agent(agent, init, &context, false)?;
        }
    }
    if !is_interactive {
        super::print(b"Nothing was changed. To make the changes, name an agent or use --all.\n")?;
    }
    Ok(())
}

/// Combines two outcomes. If both failed, prints the first error and returns the second.
fn combine(first: CommandResult, second: CommandResult) -> CommandResult {
    match (first, second) {
        (Err(first), Err(second)) => {
            failure::exit_code(Err(first));
            Err(second)
        }
        (first, second) => first.and(second),
    }
}

fn change_agent(agent: &Agent, init: &Init, context: &InstallContext, is_dry: bool) -> CommandResult {
    let scope = if init.project { Scope::Project } else { Scope::User };
    let backups = backups()?;
    let method = if init.rewrite { Method::Rewrite } else { Method::Shell };
    if let Some(option) = agent.unsupported(scope, method) {
        let message = format!("{}: {option} does not work with {}", agent.name, agent.title);
        return match init.agents.is_empty() {
            true => super::print(format!("{message}; not changed\n").as_bytes()),
            false => Err(Failure::Usage(anyhow::anyhow!(message))),
        };
    }
    let changes = agent.changes(scope, method, context);
    let usage = |error: String| Failure::Usage(anyhow::anyhow!(error));
    let (shared, settings): (Vec<_>, Vec<_>) = changes
        .into_iter()
        .partition(|change| change.owner() == Owner::Offcut && change.path.starts_with(&context.files));
    let mut steps = Vec::new();
    if init.uninstall {
        for change in &settings {
            steps.push(change.plan_removal(&backups).map_err(usage)?);
        }
        apply(&steps, &backups, is_dry, Direction::Uninstall)?;
        // Remove the shared files only if no other agent uses them.
        if !is_dry && backups.is_empty() {
            let steps: Result<Vec<Step>, String> =
                context.shared_files().iter().map(|change| change.plan_removal(&backups)).collect();
            apply(&steps.map_err(usage)?, &backups, is_dry, Direction::Uninstall)?;
            // The directory of the configuration, unless it has a file of the user.
            let _ = context.files.parent().map(std::fs::remove_dir);
        }
    } else {
        for change in shared.iter().chain(&settings) {
            steps.push(change.plan().map_err(usage)?);
        }
        apply(&steps, &backups, is_dry, Direction::Install)?;
    }
    let is_change = steps.iter().any(Step::is_change);
    let summary = match (is_change, is_dry, init.uninstall) {
        (false, _, false) => "already configured".to_owned(),
        (false, _, true) => "offcut is not installed there".to_owned(),
        (true, true, _) => "would be changed as shown".to_owned(),
        (true, false, false) => format!("configured. Restart {} to apply.", agent.title),
        (true, false, true) => "restored".to_owned(),
    };
    let mut text = format!("{}: {summary}\n", agent.name);
    if !init.uninstall {
        for warning in
            steps.iter().flat_map(|step| &step.warnings).cloned().chain(agent.advice(method, context))
        {
            text += &format!("  {warning}\n");
        }
    }
    super::print(text.as_bytes())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Install,
    Uninstall,
}

/// Prints the changes and, unless this is a dry run, makes them.
fn apply(steps: &[Step], backups: &Backups, is_dry: bool, direction: Direction) -> CommandResult {
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
        if step.is_change() {
            if direction == Direction::Install && step.owner == Owner::User {
                backups.keep(&step.path, &backups.next(step)).map_err(failed)?;
            }
            step.apply().map_err(failed)?;
        }
        if direction == Direction::Uninstall {
            backups.forget(&step.path);
        }
    }
    Ok(())
}

pub(crate) fn backups() -> Result<Backups, Failure> {
    let base = base()?;
    let directory = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(Backups::new(directory.join("offcut").join("init")))
}

fn base() -> Result<impl BaseStrategy, Failure> {
    choose_base_strategy().map_err(|_| Failure::Usage(anyhow::anyhow!("cannot find your home directory")))
}

/// Collects the paths and names that the settings contain.
pub(crate) fn context(global: &GlobalOptions) -> Result<InstallContext, Failure> {
    let base = base()?;
    let setup = Setup::without_warnings(global)?;
    let program = std::env::current_exe().map_err(|error| {
        Failure::Usage(anyhow::Error::new(error).context("cannot find the path of this program"))
    })?;
    let moved = agents::ALL.iter().filter_map(|agent| Some((agent.name, agent.moved_settings()?))).collect();
    let shell = setup.shell();
    let shell = Path::new(&shell).file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(InstallContext {
        home: base.home_dir().to_owned(),
        project: config::project_directory().unwrap_or_default(),
        config: base.config_dir(),
        moved,
        program,
        files: install::files().unwrap_or_else(|| PathBuf::from(".")),
        store: setup.directory().map(Path::to_owned),
        shell,
    })
}
