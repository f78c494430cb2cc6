//! What the process is given: home, environment and clock. The library reads none of it.

use crate::arguments::Everywhere;
use crate::failure::Failure;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::store::{FsStore, Store};
use offcut::{Reach, Storage};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Where outputs are kept, as the command line and the environment say.
enum Place {
    Nowhere,
    Directory(PathBuf),
    Unknown(String),
}

fn place(everywhere: &Everywhere) -> Place {
    match everywhere.store.as_deref() {
        Some("none") => Place::Nowhere,
        Some("") => Place::Unknown("the store is empty: name a directory with --store, or none".to_owned()),
        Some(uri) if uri.contains("://") => {
            Place::Unknown(format!("this build has no store for {uri:?}: name a directory with --store"))
        }
        Some(directory) => match std::path::absolute(directory) {
            Ok(directory) => Place::Directory(directory),
            Err(error) => Place::Unknown(format!("the store {directory:?} cannot be used: {error}")),
        },
        None => match choose_base_strategy() {
            Ok(base) => Place::Directory(base.data_dir().join("offcut")),
            Err(_) => Place::Unknown("there is no home directory: name a store with --store".to_owned()),
        },
    }
}

fn directory_store(directory: PathBuf) -> FsStore {
    FsStore::new(directory, SystemTime::now)
}

/// Where `cut` keeps outputs. It never fails because of the store.
pub(crate) fn storage(everywhere: &Everywhere) -> Storage {
    match place(everywhere) {
        Place::Nowhere => Storage::Off,
        Place::Directory(directory) => Storage::To(Arc::new(directory_store(directory))),
        Place::Unknown(reason) => Storage::Unavailable(reason),
    }
}

/// The command that runs offcut on the same store from another shell.
pub(crate) fn program(everywhere: &Everywhere) -> String {
    match (place(everywhere), everywhere.store.is_some() && std::env::var_os("OFFCUT_STORE").is_none()) {
        (Place::Directory(directory), true) => {
            let quoted = directory.to_str().and_then(|path| shlex::try_quote(path).ok());
            quoted.map_or_else(|| "offcut".to_owned(), |path| format!("offcut --store {path}"))
        }
        _ => "offcut".to_owned(),
    }
}

pub(crate) fn reach(everywhere: &Everywhere) -> Reach {
    Reach::Shell { program: program(everywhere) }
}

/// The store to read from.
pub(crate) fn store(everywhere: &Everywhere) -> Result<Arc<dyn Store>, Failure> {
    match place(everywhere) {
        Place::Nowhere => Err(Failure::Usage(anyhow::anyhow!("there is nothing to read with --store none"))),
        Place::Directory(directory) => Ok(Arc::new(directory_store(directory))),
        Place::Unknown(reason) => Err(Failure::Store(anyhow::anyhow!(reason))),
    }
}

/// The store that a reference lies in: a path names its own.
pub(crate) fn store_of(everywhere: &Everywhere, reference: &str) -> Result<Arc<dyn Store>, Failure> {
    let path = Path::new(reference);
    if reference.contains('/')
        && !reference.contains("://")
        && let Some(directory) = path.parent().filter(|directory| directory.join(".offcut").is_dir())
        && let Ok(directory) = std::path::absolute(directory)
    {
        return Ok(Arc::new(directory_store(directory)));
    }
    store(everywhere)
}
