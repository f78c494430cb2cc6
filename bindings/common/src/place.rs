//! Where outputs are stored: the same directories as the command line's.

use crate::fault::Fault;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::store::{FsStore, Store};
use offcut::{Reach, Storage};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Where outputs are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere.
    Nowhere,
    /// In a directory.
    Directory(PathBuf),
}

impl Place {
    /// The place that a text names; without one, the command line's.
    pub(crate) fn named(chosen: Option<&str>) -> Result<Place, Fault> {
        let invalid = |reason: String| Err(Fault::Invalid(reason));
        let base = || choose_base_strategy().map_err(|_| no_home());
        match chosen {
            None => Ok(Place::Directory(base()?.data_dir().join("offcut"))),
            Some("none") => Ok(Place::Nowhere),
            Some("") => invalid("the name of the store is empty: expected a directory, or none".to_owned()),
            Some(uri) if uri.contains("://") => {
                invalid(format!("unsupported store {uri:?}: expected a directory"))
            }
            Some(path) => match path.strip_prefix("~/") {
                Some(rest) => absolute(&base()?.home_dir().join(rest)),
                None if path.contains('\0') => invalid(format!("{path:?} is not a path")),
                None => absolute(Path::new(path)),
            },
        }
    }

    pub(crate) fn storage(&self) -> Storage {
        match self {
            Place::Nowhere => Storage::Off,
            Place::Directory(directory) => Storage::To(Arc::new(directory_store(directory))),
        }
    }

    /// The store to read from.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Fault> {
        match self {
            Place::Nowhere => Err(Fault::Invalid("there is no store to read from".to_owned())),
            Place::Directory(directory) => Ok(Arc::new(directory_store(directory))),
        }
    }

    /// The command that reads this place from a shell.
    fn program(&self) -> Option<String> {
        let Place::Directory(directory) = self else { return Some("offcut".to_owned()) };
        if Place::named(None).is_ok_and(|own| own == *self) {
            return Some("offcut".to_owned());
        }
        let path = directory.to_str().filter(|path| !path.contains(char::is_control))?;
        Some(format!("offcut --store {}", shlex::try_quote(path).ok()?))
    }

    /// How the reader of a preview can get the rest. Every reader can open files; `offcut` may not be installed.
    pub(crate) fn reach(&self, chosen: Option<&str>) -> Result<Reach, Fault> {
        match chosen {
            None | Some("files") => Ok(Reach::Files),
            Some("nothing") => Ok(Reach::Nothing),
            Some("shell") => Ok(self.program().map_or(Reach::Nothing, |program| Reach::Shell { program })),
            Some(other) => match other.split_once(':') {
                Some(("tool", name)) if !name.is_empty() => Ok(Reach::Tool { name: name.to_owned() }),
                _ => Err(Fault::Invalid(format!(
                    "unknown reach {other:?}: expected files, shell, tool:NAME or nothing"
                ))),
            },
        }
    }
}

fn no_home() -> Fault {
    Fault::Invalid("there is no home directory: set a store".to_owned())
}

fn directory_store(directory: &Path) -> FsStore {
    FsStore::new(directory, SystemTime::now)
}

fn absolute(path: &Path) -> Result<Place, Fault> {
    std::path::absolute(path)
        .map(Place::Directory)
        .map_err(|error| Fault::Invalid(format!("the store {} cannot be used: {error}", path.display())))
}
