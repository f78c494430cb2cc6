//! What the process is given: flags, configuration, home and clock. The library reads none of it.

use crate::arguments::{Cut, Everywhere};
use crate::config::{self, Configuration, Origin, Problem};
use crate::failure::Failure;
use crate::fleet::{self, FleetStore, Location};
use crate::tokens::TokenCounter;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::store::{FsStore, Store};
use offcut::{Profile, Reach, Storage, Truncator};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Everything that is settled before a command does its work.
pub(crate) struct Setup {
    pub(crate) configuration: Configuration,
    pub(crate) profile: Profile,
    place: Place,
    /// The store of a fleet, if that is the place.
    fleet: Option<Arc<FleetStore>>,
    /// The command that runs offcut on the same store from another shell, if one can be written.
    program: Option<String>,
}

/// Where outputs are kept.
enum Place {
    Nowhere,
    Directory(PathBuf),
    Fleet(Location),
    Unknown(String),
}

impl Setup {
    /// Settles flags over environment over files, and tells what was wrong with them.
    pub(crate) fn new(everywhere: &Everywhere) -> Result<Setup, Failure> {
        let setup = Setup::quiet(everywhere)?;
        for problem in &setup.configuration.problems {
            eprintln!("offcut: warning: {}", problem.0);
        }
        Ok(setup)
    }

    /// The same without the warnings, for commands that report them themselves.
    pub(crate) fn quiet(everywhere: &Everywhere) -> Result<Setup, Failure> {
        let mut configuration = Configuration::load();
        let profile = match (&everywhere.profile, configuration.text("profile")) {
            (Some(name), _) => config::profile(name).map_err(Failure::Usage)?,
            (None, None) => Profile::native(),
            // Only a flag can be a mistake of the call; a mistake elsewhere must not cost it its output.
            (None, Some(name)) => match config::profile(name) {
                Ok(profile) => profile,
                Err(error) => {
                    let origin = configuration
                        .get("profile")
                        .map_or_else(String::new, |found| found.origin.to_string());
                    configuration
                        .problems
                        .push(Problem(format!("{origin}: {error:#}; using profile native")));
                    Profile::native()
                }
            },
        };
        let configuration = configuration.with_variables_of(&profile);
        let configured =
            configuration.get("store.path").map(|setting| (setting.value.to_text(), &setting.origin));
        let layout = configuration.text("store.layout");
        let place = match (&everywhere.store, configured, layout) {
            (Some(chosen), ..) => place(chosen, None),
            (None, Some((chosen, Origin::File { path, .. })), _) => place(&chosen, path.parent()),
            (None, Some((chosen, _)), _) => place(&chosen, None),
            (None, None, Some("seed")) => {
                profile.seed_directory.as_deref().map_or_else(own_place, seed_place)
            }
            (None, None, _) => own_place(),
        };
        // Whoever follows a hint has the same configuration, but not the same flags or working directory.
        let relative = configuration.text("store.path").is_some_and(|path| Path::new(path).is_relative());
        let named = everywhere.store.is_some() || relative || layout == Some("seed");
        let program = match &place {
            Place::Directory(directory) if named => program_for(directory),
            Place::Fleet(location) if everywhere.store.is_some() => {
                Some(format!("offcut --store {location}"))
            }
            _ => Some("offcut".to_owned()),
        };
        let (place, fleet) = match place {
            Place::Fleet(location) => match fleet::open(location.clone(), &configuration) {
                Ok(store) => (Place::Fleet(location), Some(Arc::new(store))),
                Err(reason) => (Place::Unknown(reason), None),
            },
            place => (place, None),
        };
        Ok(Setup { configuration, profile, place, fleet, program })
    }

    /// The same for what an agent calls: nobody would read the warnings, and the program in a hint must be found by a
    /// shell whose search path is not ours to choose.
    pub(crate) fn for_agent(everywhere: &Everywhere) -> Result<Setup, Failure> {
        let mut setup = Setup::quiet(everywhere)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_found = std::env::split_paths(&path).any(|directory| directory.join("offcut").is_file());
        if !is_found
            && let Some(ours) = std::env::current_exe().ok().as_deref().and_then(Path::to_str)
            && let Ok(ours) = shlex::try_quote(ours)
        {
            setup.program = setup.program.map(|program| program.replacen("offcut", &ours, 1));
        }
        Ok(setup)
    }

    /// A truncator for one call. It never fails because of the store.
    pub(crate) fn truncator(&self, cut: &Cut) -> Result<Truncator, Failure> {
        let storage = match &self.place {
            Place::Nowhere => Storage::Off,
            Place::Directory(directory) => Storage::To(Arc::new(directory_store(directory.clone()))),
            Place::Fleet(_) => self.fleet.clone().map_or(Storage::Off, |fleet| Storage::To(fleet)),
            Place::Unknown(reason) => Storage::Unavailable(reason.clone()),
        };
        let reach = match self.configuration.text("reach") {
            Some("files") => Reach::Files,
            Some("nothing") => Reach::Nothing,
            _ => self.program.clone().map_or(Reach::Nothing, |program| Reach::Shell { program }),
        };
        let (configured, problems) = self.configuration.checked_rule(cut.tool.as_deref(), &self.profile);
        for problem in problems {
            eprintln!("offcut: warning: {problem}");
        }
        let rule = cut.rule().or(configured);
        let truncator =
            Truncator::new(self.profile.clone()).storage(storage).reach(reach).cap(self.cap()).rule(rule)?;
        // Whoever limits tokens wants them counted, and pays for loading the vocabulary.
        Ok(if rule.limits.tokens.is_some() { truncator.tokens(TokenCounter) } else { truncator })
    }

    /// The most that is kept of one output.
    pub(crate) fn cap(&self) -> u64 {
        self.configuration.number("max_output").unwrap_or(offcut::DEFAULT_CAP)
    }

    /// The shell that runs a line: the configured one, the user's, or the system's; never this program.
    pub(crate) fn shell(&self) -> OsString {
        let users = std::env::var_os("SHELL").filter(|shell| !shell.is_empty() && !is_ours(shell));
        let configured = self.configuration.text("shell").map(OsString::from);
        configured.filter(|shell| !is_ours(shell)).or(users).unwrap_or_else(|| "/bin/sh".into())
    }

    /// The directory of the store, if it is one.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match &self.place {
            Place::Directory(directory) => Some(directory),
            Place::Nowhere | Place::Fleet(_) | Place::Unknown(_) => None,
        }
    }

    /// The store of a fleet, if it is one.
    pub(crate) fn fleet(&self) -> Option<&Arc<FleetStore>> {
        self.fleet.as_ref()
    }

    /// The directory that files are written to at first, wherever they go then.
    pub(crate) fn files(&self) -> Option<&Path> {
        self.fleet.as_ref().map(|fleet| fleet.spool()).or_else(|| self.directory())
    }

    /// The store to read from.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Failure> {
        match &self.place {
            Place::Nowhere => Err(Failure::Usage(anyhow::anyhow!(
                "cannot read stored outputs with --store none: give a directory or s3://bucket/prefix"
            ))),
            Place::Directory(directory) => Ok(Arc::new(directory_store(directory.clone()))),
            Place::Fleet(location) => match &self.fleet {
                Some(fleet) => Ok(Arc::clone(fleet) as Arc<dyn Store>),
                None => Err(Failure::Store(anyhow::anyhow!("cannot open store {location}"))),
            },
            Place::Unknown(reason) => Err(Failure::Store(anyhow::anyhow!(reason.clone()))),
        }
    }

    /// The store that a reference lies in, a path names its own, and the command that runs offcut on it.
    pub(crate) fn store_of(&self, reference: &str) -> Result<(Arc<dyn Store>, String), Failure> {
        let plain = || "offcut".to_owned();
        let path = Path::new(reference);
        if reference.contains('/')
            && !reference.contains("://")
            && let Some(directory) = path.parent().filter(|directory| directory.join(".offcut").is_dir())
            && let Ok(directory) = std::path::absolute(directory)
        {
            let same = self.directory() == Some(&directory);
            let program = if same { self.program.clone() } else { program_for(&directory) };
            return Ok((Arc::new(directory_store(directory)), program.unwrap_or_else(plain)));
        }
        Ok((self.store()?, self.program.clone().unwrap_or_else(plain)))
    }
}

/// Whether a path names this program under a shell's name.
pub(crate) fn is_ours(shell: &OsStr) -> bool {
    let name = Path::new(shell).file_name().unwrap_or_default();
    name == "offcut" || name.to_str().is_some_and(|name| name.starts_with("offcut-"))
}

/// The command with the store named in it; none for a path that cannot stand in one line.
fn program_for(directory: &Path) -> Option<String> {
    let path = directory.to_str().filter(|path| !path.contains(char::is_control))?;
    Some(format!("offcut --store {}", shlex::try_quote(path).ok()?))
}

fn directory_store(directory: PathBuf) -> FsStore {
    FsStore::new(directory, SystemTime::now)
}

/// What a text names as a store. A relative path in a file is relative to that file, `~` is the home directory.
fn place(chosen: &str, beside: Option<&Path>) -> Place {
    let home = || choose_base_strategy().ok().map(|base| base.home_dir().to_owned());
    if let Some(rest) = chosen.strip_prefix("~/")
        && let Some(home) = home()
    {
        return absolute(&home.join(rest));
    }
    match chosen {
        home if home.starts_with('~') || home.starts_with('$') => Place::Unknown(format!(
            "cannot use store {home:?}: variables and ~user are not expanded; give the full path, or ~/ for your home directory"
        )),
        "none" => Place::Nowhere,
        "" => Place::Unknown("--store is empty: give a directory, s3://bucket/prefix, or none".to_owned()),
        uri if uri.starts_with("s3://") => match Location::parse(uri) {
            Ok(location) => Place::Fleet(location),
            Err(error) => Place::Unknown(error.to_string()),
        },
        // The rest is not shown: it may hold a password.
        uri if uri.contains("://") => Place::Unknown(format!(
            "unsupported store \"{}://\": give a directory or s3://bucket/prefix with --store",
            uri.split("://").next().unwrap_or_default()
        )),
        directory => absolute(&beside.unwrap_or(Path::new("")).join(directory)),
    }
}

fn absolute(directory: &Path) -> Place {
    match std::path::absolute(directory) {
        Ok(directory) => Place::Directory(directory),
        Err(error) => Place::Unknown(format!("cannot use store {}: {error}", directory.display())),
    }
}

fn own_place() -> Place {
    match choose_base_strategy() {
        Ok(base) => Place::Directory(base.data_dir().join("offcut")),
        Err(_) => Place::Unknown("cannot find your home directory: give a store with --store".to_owned()),
    }
}

/// The directory that a document names.
fn seed_place(template: &str) -> Place {
    let Ok(base) = choose_base_strategy() else { return own_place() };
    let path = template
        .replace("{data}", &base.data_dir().to_string_lossy())
        .replace("{home}", &base.home_dir().to_string_lossy())
        .replace("{project}", &config::project_directory().unwrap_or_default().to_string_lossy());
    absolute(Path::new(&path))
}
