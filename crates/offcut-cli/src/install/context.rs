//! The paths and names that agents' settings contain, and the files of offcut that the settings refer to.

use super::edit::Presence;
use super::{Change, Content};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that the prefix of a command line sources.
pub(crate) const LINE: &str = "offcut-line.sh";

/// The file that bash reads before it runs a command line.
pub(crate) const BASH_ENV: &str = "offcut-bash-env.sh";

/// The file that the startup file of a login shell sources in klaude.
pub(crate) const KLAUDE: &str = "offcut-klaude.sh";

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
}

/// How offcut gets the output of command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// offcut is the shell; permission rules see the original command line.
    Shell,
    /// A hook adds a prefix to each command line.
    Rewrite,
}

impl Method {
    /// Whether a setting that belongs to `owner` is wanted.
    pub(crate) fn wants(self, owner: Method) -> Presence {
        if self == owner { Presence::Present } else { Presence::Absent }
    }
}

/// The paths and names that settings contain.
#[derive(Clone, Debug)]
pub(crate) struct InstallContext {
    pub(crate) home: PathBuf,
    /// The working directory, for a project's settings.
    pub(crate) project: PathBuf,
    /// The user's configuration directory.
    pub(crate) config: PathBuf,
    /// Settings directories that agents' own variables have changed, by the name of the agent.
    pub(crate) moved: Vec<(&'static str, PathBuf)>,
    /// This program.
    pub(crate) program: PathBuf,
    /// The directory of the files that settings refer to.
    pub(crate) files: PathBuf,
    pub(crate) store: Option<PathBuf>,
    /// The name of the user's shell: `bash`, `zsh`.
    pub(crate) shell: String,
}

impl InstallContext {
    /// The path of the shell for agents that use the shell of the user.
    pub(crate) fn users_shell(&self) -> PathBuf {
        if self.shell == "zsh" { self.files.join("offcut-zsh") } else { self.bash() }
    }

    /// The path of the shell for agents that always use bash.
    pub(crate) fn bash(&self) -> PathBuf {
        self.files.join("offcut-bash")
    }

    /// The path of the file that bash reads before it runs a command line.
    fn bash_env_path(&self) -> PathBuf {
        self.files.join(BASH_ENV)
    }

    /// The value of `BASH_ENV`, escaped because bash expands variables and commands in it.
    pub(crate) fn bash_env(&self) -> String {
        let path = self.bash_env_path();
        let mut value = String::new();
        for letter in path.to_string_lossy().chars() {
            value.extend("\\$`\"".contains(letter).then_some('\\'));
            value.push(letter);
        }
        value
    }

    /// The command by which notices call this program.
    pub(crate) fn command_in_notices(&self) -> String {
        if is_on_path("offcut") { "offcut".to_owned() } else { shell_quoted(&self.program) }
    }

    /// The command of a hook. Without the program, it changes nothing and reports no error: to some agents, a hook that
    /// fails means that the tool has failed.
    pub(crate) fn hook(&self, agent: &str, event: &str) -> String {
        let program = shell_quoted(&self.program);
        format!("[ ! -x {program} ] || {program} hook {agent} {event}")
    }

    /// The command in the prefix of a command line.
    pub(crate) fn source(&self) -> String {
        source(&self.files)
    }

    /// A line for a startup file of a shell, which sources the file for klaude if a variable is set.
    pub(crate) fn source_if(&self, variable: &str) -> String {
        let file = shell_quoted(&self.files.join(KLAUDE));
        format!("if [ -n \"${{{variable}-}}\" ] && [ -r {file} ]; then . {file}; fi")
    }

    /// The file that the user's shell reads when a terminal opens, if the shell is known.
    pub(crate) fn startup_file(&self) -> Option<PathBuf> {
        match self.shell.as_str() {
            "bash" => Some(self.home.join(".bashrc")),
            "zsh" => Some(self.home.join(".zshrc")),
            _ => None,
        }
    }

    /// A line for a startup file of a shell, which sets a variable to offcut's bash.
    pub(crate) fn export(&self, variable: &str) -> String {
        format!("export {variable}={}", shell_quoted(&self.bash()))
    }

    /// The advice that the prefix works in bash only, for agents that use the shell of the user.
    pub(crate) fn prefix_needs_bash(&self) -> Vec<String> {
        match self.shell.as_str() {
            "bash" => Vec::new(),
            shell => vec![format!(
                "the prefix has no effect in your shell, {shell}: command lines are not shortened"
            )],
        }
    }

    /// The files of offcut for agents that use the shell of the user.
    pub(crate) fn files_for_users_shell(&self, method: Method) -> Vec<Change> {
        match method {
            Method::Shell => vec![self.shell_file(self.users_shell())],
            Method::Rewrite => self.files_for_prefix(),
        }
    }

    /// The files of offcut for agents whose shell can be changed and is always bash.
    pub(crate) fn files_for_bash(&self, method: Method) -> Vec<Change> {
        match method {
            Method::Shell => vec![self.shell_file(self.bash())],
            Method::Rewrite => self.files_for_prefix(),
        }
    }

    /// The files of offcut for agents whose bash cannot be replaced.
    pub(crate) fn files_for_bash_env(&self, method: Method) -> Vec<Change> {
        match method {
            Method::Shell => {
                vec![self.shell_file(self.bash()), self.script(BASH_ENV, include_str!("bash_env.sh"))]
            }
            Method::Rewrite => self.files_for_prefix(),
        }
    }

    /// The files of offcut for klaude.
    pub(crate) fn files_for_klaude(&self) -> Vec<Change> {
        vec![self.shell_file(self.bash()), self.script(KLAUDE, include_str!("klaude.sh"))]
    }

    fn files_for_prefix(&self) -> Vec<Change> {
        vec![self.shell_file(self.bash()), self.script(LINE, include_str!("line.sh"))]
    }

    /// All files of offcut that agents share, for both methods.
    pub(crate) fn shared_files(&self) -> Vec<Change> {
        let mut files = vec![self.shell_file(self.users_shell())];
        files.extend(self.files_for_bash_env(Method::Shell));
        files.extend(self.files_for_klaude());
        files.extend(self.files_for_prefix());
        files
    }

    /// A shell for an agent: a script, because an agent whose shell is missing cannot run anything.
    fn shell_file(&self, path: PathBuf) -> Change {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = include_str!("shell.sh")
            .replace(
                "{interpreter}",
                if Path::new("/bin/bash").exists() { "/bin/bash -p" } else { "/bin/sh" },
            )
            .replace("{shell}", name.trim_start_matches("offcut-"))
            .replace("{program}", &shell_quoted(&self.program));
        Change { path, content: Content::OwnScript(text) }
    }

    /// A script that hands the line of the running bash to offcut.
    fn script(&self, name: &str, text: &str) -> Change {
        let commands = include_str!("handover.sh");
        let text =
            text.replace("  {handover}\n", commands).replace("{program}", &shell_quoted(&self.program));
        Change { path: self.files.join(name), content: Content::OwnFile(text) }
    }
}

/// Whether `offcut` can be called by its name.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| is_executable(&directory.join(program)))
}

/// Whether a path names a program.
pub(crate) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The prefix of command lines, if the file that it sources exists.
pub(crate) fn prefix(files: &Path) -> Option<String> {
    files.join(LINE).is_file().then(|| format!("{}; ", source(files)))
}

fn source(files: &Path) -> String {
    format!(". {}", shell_quoted(&files.join(LINE)))
}

fn shell_quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    shlex::try_quote(&path).map_or_else(|_| path.to_string(), |quoted| quoted.into_owned())
}
