//! Installs offcut in agents and removes it.
//!
//! Changes are planned as text before anything is written, so that they can be printed. A backup holds each file before
//! and after the change. If the file is unmodified since, removal restores it byte for byte; otherwise removal deletes
//! only the settings that offcut added.

mod backup;
mod context;
mod edit;
mod json;
mod line;
mod named;
mod secrets;
mod toml;

pub(crate) use backup::Backups;
pub(crate) use context::{
    BASH_ENV, InstallContext, KLAUDE, LINE, Method, Scope, is_executable, is_on_path, prefix,
};
pub(crate) use edit::{Edit, Presence};
pub(crate) use line::{Line, Position};
pub(crate) use named::NamedFile;

use edit::EditedText;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The directory of the files that settings refer to.
pub(crate) fn files() -> Option<PathBuf> {
    crate::config::user_directory().map(|directory| directory.join("agents"))
}

/// A wanted change to a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Settings in a JSON file of the user, which may have comments.
    Json(Vec<Edit>),
    /// Settings in a TOML file of the user.
    Toml(Vec<Edit>),
    /// A line in an .env or .npmrc file, or in a startup file of the user's shell.
    Line(Line),
    /// A file that belongs to offcut.
    OwnFile(String),
    /// A script that belongs to offcut and can be executed.
    OwnScript(String),
}

/// A planned change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) before: FileState,
    pub(crate) after: FileState,
    pub(crate) owner: Owner,
    pub(crate) warnings: Vec<String>,
}

/// Who owns a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Offcut,
    User,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileState {
    Absent,
    Text(String),
    /// A text that can be executed.
    Script(String),
    /// A link to this program, as earlier versions made it, or a link whose target does not exist.
    Link(PathBuf),
}

impl Change {
    /// Settings in a JSON file of the user.
    pub(crate) fn json(path: PathBuf, edits: Vec<Edit>) -> Change {
        Change { path, content: Content::Json(edits) }
    }

    /// Plans the installation.
    pub(crate) fn plan(&self) -> Result<Step, String> {
        let before = FileState::of(&self.path).map_err(|error| self.failed(&error.to_string()))?;
        match (self.owner(), &before) {
            (Owner::Offcut, before) if !before.is_from_offcut() => {
                return Err(
                    self.failed("the file was not written by `offcut init`; move it away and try again")
                );
            }
            (Owner::User, FileState::Link(_)) => {
                return Err(self.failed("the file is a symbolic link whose target does not exist"));
            }
            _ => {}
        }
        let text = before.text().unwrap_or_default();
        let (after, warnings) = match &self.content {
            Content::OwnFile(text) => (FileState::Text(text.clone()), Vec::new()),
            Content::OwnScript(text) => (FileState::Script(text.clone()), Vec::new()),
            edits => {
                let EditedText { text: edited, warnings } =
                    edits.make(text).map_err(|error| self.failed(&error))?;
                match edited {
                    edited if edited == text => (before.clone(), warnings),
                    // The file contained only a setting of offcut that is no longer wanted.
                    edited if edited.is_empty() => (FileState::Absent, warnings),
                    edited => (FileState::Text(edited), warnings),
                }
            }
        };
        Ok(Step { path: self.path.clone(), before, after, owner: self.owner(), warnings })
    }

    /// Plans the removal.
    pub(crate) fn plan_removal(&self, backups: &Backups) -> Result<Step, String> {
        let before = FileState::of(&self.path).map_err(|error| self.failed(&error.to_string()))?;
        let after = match (&self.content, backups.get(&self.path)) {
            (Content::OwnFile(_) | Content::OwnScript(_), _) if before.is_from_offcut() => FileState::Absent,
            (Content::OwnFile(_) | Content::OwnScript(_), _) => before.clone(),
            (_, Some(backup)) if backup.after == before => backup.before,
            (edits, _) => match before.text() {
                None => before.clone(),
                Some(text) => match edits.undo(text).map_err(|error| self.failed(&error))? {
                    rest if rest == text => before.clone(),
                    // The file contained only settings of offcut.
                    rest if matches!(rest.trim(), "" | "{}") => FileState::Absent,
                    rest => FileState::Text(rest),
                },
            },
        };
        Ok(Step { path: self.path.clone(), before, after, owner: self.owner(), warnings: Vec::new() })
    }

    pub(crate) fn owner(&self) -> Owner {
        match self.content {
            Content::OwnFile(_) | Content::OwnScript(_) => Owner::Offcut,
            Content::Json(_) | Content::Toml(_) | Content::Line(_) => Owner::User,
        }
    }

    fn failed(&self, reason: &str) -> String {
        format!("{}: {reason}", self.path.display())
    }
}

impl Content {
    fn make(&self, text: &str) -> Result<EditedText, String> {
        match self {
            Content::Json(edits) => json::apply(text, edits),
            Content::Toml(edits) => toml::apply(text, edits),
            Content::Line(line) => Ok(line.apply(text)),
            Content::OwnFile(_) | Content::OwnScript(_) => {
                Err("the file is written as a whole and cannot be edited".to_owned())
            }
        }
    }

    fn undo(&self, text: &str) -> Result<String, String> {
        match self {
            Content::Json(edits) => json::undo(text, edits),
            Content::Toml(edits) => toml::undo(text, edits),
            Content::Line(line) => Ok(line.undo(text)),
            Content::OwnFile(_) | Content::OwnScript(_) => Ok(String::new()),
        }
    }
}

impl FileState {
    fn of(path: &Path) -> io::Result<FileState> {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FileState::Absent),
            Err(error) => return Err(error),
            // Links to settings are followed, because users keep them elsewhere. A link to a program was made by offcut.
            Ok(found) if found.is_symlink() && path.metadata().is_ok_and(|found| is_program(&found)) => {
                return std::fs::read_link(path).map(FileState::Link);
            }
            Ok(_) => {}
        }
        match crate::config::read(path, crate::config::Trust::User) {
            Ok(text) if text.starts_with("#!") && path.metadata().is_ok_and(|found| is_program(&found)) => {
                Ok(FileState::Script(text))
            }
            Ok(text) => Ok(FileState::Text(text)),
            // A link whose target does not exist.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::read_link(path).map(FileState::Link)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the file is absent or was written by `offcut init`.
    fn is_from_offcut(&self) -> bool {
        match self {
            FileState::Absent | FileState::Link(_) => true,
            FileState::Text(text) | FileState::Script(text) => {
                text.lines().take(2).any(|line| line.contains("Written by `offcut init"))
            }
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            FileState::Text(text) | FileState::Script(text) => Some(text),
            FileState::Absent | FileState::Link(_) => None,
        }
    }
}

/// Creates a directory that only the user can write to, with any umask: bash executes a file in it.
fn create_directory(directory: &Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o755).create(directory)
}

fn is_program(found: &std::fs::Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

impl Step {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Formats the change as a unified diff, without the values that the user's file had before.
    pub(crate) fn diff(&self) -> String {
        let name = self.path.display().to_string();
        let shown = |state: &FileState| match state {
            FileState::Absent => String::new(),
            FileState::Text(text) | FileState::Script(text) if self.owner == Owner::Offcut => text.clone(),
            FileState::Text(text) | FileState::Script(text) => {
                secrets::hidden(&self.path, self.before.text().unwrap_or_default(), text)
            }
            FileState::Link(target) => format!("-> {}\n", target.display()),
        };
        let header = |state: &FileState| {
            if *state == FileState::Absent { "/dev/null".to_owned() } else { name.clone() }
        };
        similar::TextDiff::from_lines(shown(&self.before), shown(&self.after))
            .unified_diff()
            .header(&header(&self.before), &header(&self.after))
            .to_string()
    }

    /// Makes the change atomically and keeps the permissions of the user's file.
    pub(crate) fn apply(&self) -> io::Result<()> {
        // Users keep their settings elsewhere and link to them. A link of offcut leads to the program.
        let target = self.path.canonicalize().ok().filter(|_| self.owner == Owner::User);
        let path = match &self.after {
            FileState::Absent => &self.path,
            _ => target.as_ref().unwrap_or(&self.path),
        };
        let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let (text, mode) = match &self.after {
            FileState::Absent => {
                return match std::fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => {
                        // Remove the directory if this was its last file.
                        let _ = std::fs::remove_dir(directory);
                        Ok(())
                    }
                };
            }
            FileState::Link(_) => return Ok(()),
            FileState::Script(text) => (text, 0o755),
            FileState::Text(text) => (text, 0o644),
        };
        create_directory(directory)?;
        let file = tempfile::Builder::new().prefix(".offcut").tempfile_in(directory)?;
        std::fs::write(file.path(), text)?;
        let kept = std::fs::metadata(path).ok().filter(|_| self.owner == Owner::User);
        let mode = kept.map_or(mode, |found| found.permissions().mode());
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode))?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}
