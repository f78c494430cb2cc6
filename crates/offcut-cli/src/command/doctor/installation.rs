//! One installation of offcut in an agent, as its settings describe it.

use crate::agents::Agent;
use crate::install::{self, Change, InstallContext, Method, NamedFile, Owner, Presence, Scope};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(super) struct Installation<'a> {
    pub(super) agent: &'a Agent,
    scope: Scope,
    pub(super) method: Method,
    /// What this program would write for the same scope and method.
    pub(super) changes: Vec<Change>,
}

impl<'a> Installation<'a> {
    /// Finds the settings that `offcut init` wrote, by this program or another one.
    pub(super) fn find(agent: &'a Agent, scope: Scope, context: &InstallContext) -> Option<Installation<'a>> {
        let of =
            |method| Installation { agent, scope, method, changes: agent.changes(scope, method, context) };
        let [shell, rewrite] = [Method::Shell, Method::Rewrite].map(of);
        if shell.named_in_settings(context).is_empty()
            || (scope == Scope::Project && has_only_users_files(agent, context))
        {
            return None;
        }
        let is_of_another_method = |installation: &Installation<'_>| {
            installation.named_in_settings(context).iter().any(|file| file.presence == Presence::Absent)
        };
        let is_rewrite = match (shell.is_current(), rewrite.is_current()) {
            // opencode's settings name nothing for the prefix.
            (false, false) => {
                is_of_another_method(&shell)
                    || (!is_of_another_method(&rewrite) && install::prefix(&context.files).is_some())
            }
            (is_shell, _) => !is_shell,
        };
        Some(if is_rewrite { rewrite } else { shell })
    }

    /// Whether this program would change nothing.
    pub(super) fn is_current(&self) -> bool {
        self.changes.iter().all(|change| change.plan().is_ok_and(|step| !step.is_change()))
    }

    /// The command that repeats the installation.
    pub(super) fn command(&self) -> String {
        let rewrite = if self.method == Method::Rewrite { " --rewrite" } else { "" };
        let project = if self.scope == Scope::Project { " --project" } else { "" };
        format!("offcut init {}{rewrite}{project}", self.agent.name)
    }

    /// Files that do not exist and programs other than this one, to which the agent's settings lead.
    pub(super) fn problems(&self, context: &InstallContext) -> Vec<String> {
        let settings = self.named_in_settings(context);
        let shared = self.changes.iter().filter(|change| is_shared(change, context));
        let named_by_settings = |change: &&Change| settings.iter().any(|file| file.path == change.path);
        let inside = shared.filter(named_by_settings).flat_map(Change::named_files).collect::<Vec<_>>();
        let problem = |NamedFile { place, path, .. }: &NamedFile| match resolved(path) {
            None => Some(format!("{place} names {}, which does not exist", path.display())),
            Some(found) if found == context.program || found.starts_with(&context.files) => None,
            Some(_) => Some(format!("{place} names {}, which is not this program", path.display())),
        };
        settings.iter().chain(&inside).filter_map(problem).collect()
    }

    /// What the agent's own settings name.
    fn named_in_settings(&self, context: &InstallContext) -> Vec<NamedFile> {
        let settings = self.changes.iter().filter(|change| !is_shared(change, context));
        settings.flat_map(Change::named_files).collect()
    }
}

/// Whether agents share the file.
fn is_shared(change: &Change, context: &InstallContext) -> bool {
    change.owner() == Owner::Offcut && change.path.starts_with(&context.files)
}

/// Whether the project's settings are those of the user, as in the home directory.
fn has_only_users_files(agent: &Agent, context: &InstallContext) -> bool {
    let paths = |scope| {
        let changes = agent.changes(scope, Method::Shell, context).into_iter();
        changes.map(|change| change.path.canonicalize().unwrap_or(change.path)).collect::<Vec<_>>()
    };
    let users = paths(Scope::User);
    paths(Scope::Project).iter().all(|path| users.contains(path))
}

/// Why the agent's settings cannot be read, with their files.
pub(super) fn unreadable_settings(agent: &Agent, context: &InstallContext) -> BTreeSet<String> {
    [Scope::User, Scope::Project]
        .into_iter()
        .flat_map(|scope| agent.changes(scope, Method::Shell, context))
        .filter(|change| change.owner() == Owner::User)
        .filter_map(|change| change.plan().err())
        .collect()
}

/// The file that a path or the name of a program leads to.
fn resolved(path: &Path) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&search_path)
        .map(|directory| directory.join(path))
        .find_map(|file| file.canonicalize().ok())
        .or_else(|| path.canonicalize().ok())
}
