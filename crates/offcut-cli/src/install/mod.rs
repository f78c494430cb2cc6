//! Putting offcut into agents, and taking it out again.
//!
//! A change is planned as text before anything is written, so that it can be shown. What a file was before, and what
//! we made of it, is kept: if nobody has touched it since, taking us out gives back the very bytes. If somebody has,
//! only what is ours is taken out.

mod agents;
mod edit;
mod json;
mod receipt;
mod toml;

pub(crate) use agents::{Facts, Scope, Way, advice, changes, prefix, shared};
pub(crate) use receipt::Receipts;

use edit::{Edit, Edited, Wish};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// The folder of the files that settings name.
pub(crate) fn files() -> Option<PathBuf> {
    crate::config::user_directory().map(|directory| directory.join("agents"))
}

/// A file that is to be as we need it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Members and elements of somebody's JSON, comments allowed.
    Json(Vec<Edit>),
    /// Members and elements of somebody's TOML.
    Toml(Vec<Edit>),
    /// A line of somebody's file of variables.
    Variable { name: &'static str, value: String, sign: &'static str, wish: Wish },
    /// A file of our own.
    Whole(String),
    /// A link to this program.
    Link(PathBuf),
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: PathBuf,
    pub(crate) before: State,
    pub(crate) after: State,
    pub(crate) owner: Owner,
    pub(crate) remarks: Vec<String>,
}

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Ours,
    Theirs,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Absent,
    Text(String),
    Link(PathBuf),
}

impl Change {
    /// What installing does to the file.
    pub(crate) fn plan(&self) -> Result<Step, String> {
        let before = State::of(&self.path).map_err(|error| self.failed(&error.to_string()))?;
        match (self.owner(), &before) {
            (Owner::Ours, before) if !before.is_ours() => {
                return Err(
                    self.failed("the file was not written by `offcut init`; move it away and try again")
                );
            }
            (Owner::Theirs, State::Link(_)) => {
                return Err(self.failed("the file is a symbolic link whose target does not exist"));
            }
            _ => {}
        }
        let text = before.text().unwrap_or_default();
        let (after, remarks) = match &self.content {
            Content::Whole(text) => (State::Text(text.clone()), Vec::new()),
            Content::Link(target) => (State::Link(target.clone()), Vec::new()),
            edits => {
                let Edited { text: edited, remarks } =
                    edits.make(text).map_err(|error| self.failed(&error))?;
                match edited == text {
                    true => (before.clone(), remarks),
                    false => (State::Text(edited), remarks),
                }
            }
        };
        Ok(Step { path: self.path.clone(), before, after, owner: self.owner(), remarks })
    }

    /// What taking us out does to the file.
    pub(crate) fn plan_removal(&self, receipts: &Receipts) -> Result<Step, String> {
        let before = State::of(&self.path).map_err(|error| self.failed(&error.to_string()))?;
        let after = match (&self.content, receipts.get(&self.path)) {
            (Content::Whole(_) | Content::Link(_), _) if before.is_ours() => State::Absent,
            (Content::Whole(_) | Content::Link(_), _) => before.clone(),
            (_, Some(receipt)) if receipt.after == before => receipt.before,
            (edits, _) => match before.text() {
                None => before.clone(),
                Some(text) => match edits.undo(text).map_err(|error| self.failed(&error))? {
                    rest if rest == text => before.clone(),
                    // A file that we made and nobody used.
                    rest if matches!(rest.trim(), "" | "{}") => State::Absent,
                    rest => State::Text(rest),
                },
            },
        };
        Ok(Step { path: self.path.clone(), before, after, owner: self.owner(), remarks: Vec::new() })
    }

    pub(crate) fn owner(&self) -> Owner {
        match self.content {
            Content::Whole(_) | Content::Link(_) => Owner::Ours,
            Content::Json(_) | Content::Toml(_) | Content::Variable { .. } => Owner::Theirs,
        }
    }

    fn failed(&self, reason: &str) -> String {
        format!("{}: {reason}", self.path.display())
    }
}

impl Content {
    fn make(&self, text: &str) -> Result<Edited, String> {
        match self {
            Content::Json(edits) => json::make(text, edits),
            Content::Toml(edits) => toml::make(text, edits),
            Content::Variable { wish: Wish::Gone, .. } => {
                Ok(Edited { text: self.undo(text)?, remarks: Vec::new() })
            }
            Content::Variable { name, value, sign, .. } => {
                let found = text.lines().find(|line| is_variable(line, name));
                let line = format!("{name}={value}");
                let edited = match found {
                    Some(found) if found == line => text.to_owned(),
                    Some(found) if found.contains(sign) => text.replacen(found, &line, 1),
                    Some(_) => {
                        let remark = format!("{name} already has another value; left unchanged");
                        return Ok(Edited { text: text.to_owned(), remarks: vec![remark] });
                    }
                    None if text.is_empty() || text.ends_with('\n') => format!("{text}{line}\n"),
                    None => format!("{text}\n{line}\n"),
                };
                Ok(Edited { text: edited, remarks: Vec::new() })
            }
            Content::Whole(_) | Content::Link(_) => {
                Err("the file is written as a whole and cannot be edited".to_owned())
            }
        }
    }

    fn undo(&self, text: &str) -> Result<String, String> {
        match self {
            Content::Json(edits) => json::undo(text, edits),
            Content::Toml(edits) => toml::undo(text, edits),
            Content::Variable { name, sign, .. } => Ok(text
                .split_inclusive('\n')
                .filter(|line| !(is_variable(line, name) && line.contains(sign)))
                .collect()),
            Content::Whole(_) | Content::Link(_) => Ok(String::new()),
        }
    }
}

fn is_variable(line: &str, name: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
}

impl State {
    fn of(path: &Path) -> io::Result<State> {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Absent),
            Err(error) => return Err(error),
            // A link to somebody's settings is followed: people keep them elsewhere. One to a program is ours.
            Ok(found) if found.is_symlink() && path.metadata().is_ok_and(|found| is_program(&found)) => {
                return std::fs::read_link(path).map(State::Link);
            }
            Ok(_) => {}
        }
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(State::Text(text)),
            // A link to nowhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::read_link(path).map(State::Link)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether nothing is there that `init` has not put there.
    fn is_ours(&self) -> bool {
        match self {
            State::Absent | State::Link(_) => true,
            State::Text(text) => text.lines().take(2).any(|line| line.contains("Written by `offcut init")),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            State::Text(text) => Some(text),
            State::Absent | State::Link(_) => None,
        }
    }
}

fn is_program(found: &std::fs::Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

impl Step {
    pub(crate) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// The change as people read changes.
    pub(crate) fn diff(&self) -> String {
        let name = self.path.display().to_string();
        let shown = |state: &State| match state {
            State::Absent => String::new(),
            State::Text(text) => text.clone(),
            State::Link(target) => format!("-> {}\n", target.display()),
        };
        let header =
            |state: &State| if *state == State::Absent { "/dev/null".to_owned() } else { name.clone() };
        similar::TextDiff::from_lines(shown(&self.before), shown(&self.after))
            .unified_diff()
            .header(&header(&self.before), &header(&self.after))
            .to_string()
    }

    /// Makes the change: whole or not at all, with the rights that the file had.
    pub(crate) fn take(&self) -> io::Result<()> {
        let path = self.path.canonicalize().ok().filter(|_| matches!(self.after, State::Text(_)));
        let path = path.as_deref().unwrap_or(&self.path);
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        match &self.after {
            State::Absent => match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => {
                    // The folder goes with the last file that was put there.
                    let _ = std::fs::remove_dir(folder);
                    Ok(())
                }
            },
            State::Text(text) => {
                std::fs::create_dir_all(folder)?;
                let file = tempfile::Builder::new().prefix(".offcut").tempfile_in(folder)?;
                std::fs::write(file.path(), text)?;
                let mode = std::fs::metadata(path).map_or(0o644, |found| found.permissions().mode());
                std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode))?;
                file.persist(path).map(drop).map_err(|error| error.error)
            }
            State::Link(target) => {
                std::fs::create_dir_all(folder)?;
                let _ = std::fs::remove_file(path);
                symlink(target, path)
            }
        }
    }
}
