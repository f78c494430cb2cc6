//! Combines flags, configuration, home directory and clock into a [`Setup`]. The library reads none of these itself.

use crate::agents::{self, Agent, ToolKind};
use crate::arguments::{Cut, GlobalOptions};
use crate::config::{self, Configuration, LimitBasis, Origin, Problem};
use crate::diagnostic;
use crate::failure::Failure;
use crate::fallback::{StoreWithFallback, is_temporary_directory};
use crate::fleet::{self, FleetStore, Location};
use crate::housekeeping;
use crate::install;
use crate::ledger::{self, Ledger};
use crate::pass;
use crate::tokens::TokenCounter;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::event::{EventSink, JsonLinesSink};
use offcut::retention::Cleaning;
use offcut::store::{FsStore, Id, Retention, Store};
use offcut::{Event, Profile, Reach, ReaderLimits, Rule, Storage, Truncator};
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The profile, the configuration and the store that a command works with.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) configuration: Configuration,
    pub(crate) profile: Profile,
    location: StoreLocation,
    /// Whether outputs go to a temporary directory if the store cannot be written to: unless this call names the store.
    has_fallback: bool,
    /// The open shared store, if the location is one.
    fleet: Option<Arc<FleetStore>>,
    /// Who reads the output, and which tool has it.
    reader: (Option<&'static Agent>, ToolKind),
    /// The command that runs offcut with the same store from another shell; `None` if the path cannot be written in one line.
    program: Option<String>,
}

/// Where outputs are stored.
#[derive(Clone)]
enum StoreLocation {
    None,
    Directory(PathBuf),
    Shared(Location),
    /// Why the store cannot be used.
    Invalid(String),
}

impl Setup {
    /// Applies flags, environment and files in order of precedence, and prints warnings about errors in them.
    pub(crate) fn new(global: &GlobalOptions) -> Result<Setup, Failure> {
        let setup = Setup::without_warnings(global)?;
        // A file with many errors must not bury the output.
        match &setup.configuration.problems[..] {
            [] => {}
            [problem] => diagnostic::warn(&problem.0),
            [first, others @ ..] => diagnostic::warn(format_args!(
                "{} ({} more: run `offcut config check`)",
                first.0,
                others.len()
            )),
        }
        Ok(setup)
    }

    /// Like `new`, without warnings, for commands that report them in their own way.
    pub(crate) fn without_warnings(global: &GlobalOptions) -> Result<Setup, Failure> {
        let mut configuration = Configuration::load();
        let profile = match (&global.profile, configuration.text("profile")) {
            (Some(name), _) => config::profile(name).map_err(Failure::Usage)?,
            (None, None) => Profile::native(),
            // An invalid flag is an error of this call; an invalid configuration must not prevent shortening.
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
        let configuration = configuration.for_profile(&profile);
        let configured = configuration
            .get("store.path")
            .map(|setting| (setting.value.as_str().unwrap_or_default(), &setting.origin));
        let layout = configuration.text("store.layout");
        let location = match (&global.store, configured, layout) {
            (Some(chosen), ..) => parse_location(chosen, None),
            (None, Some((chosen, Origin::File { path, .. })), _) => parse_location(chosen, path.parent()),
            // A variable of the profile's source document is relative to the root of the project, as the document says.
            (None, Some((chosen, Origin::Variable(name))), _) if profile.environment().contains_key(name) => {
                parse_location(chosen, config::project_directory().as_deref())
            }
            (None, Some((chosen, _)), _) => parse_location(chosen, None),
            (None, None, Some("seed")) => {
                profile.seed_directory().map_or_else(default_location, seed_location)
            }
            (None, None, _) => default_location(),
        };
        let has_fallback = match (&global.store, configured, layout) {
            (Some(_), ..) | (None, None, Some("seed")) => false,
            (None, Some((_, origin)), _) => matches!(origin, Origin::File { .. }),
            (None, None, _) => true,
        };
        // Commands in notices run with the same configuration, but without these flags and in another directory.
        let relative = configuration.text("store.path").is_some_and(|path| Path::new(path).is_relative());
        let is_named = global.store.is_some() || relative || layout == Some("seed");
        let program = match &location {
            StoreLocation::Directory(directory) if is_named => program_for(directory),
            StoreLocation::Shared(location) if global.store.is_some() => {
                Some(format!("offcut --store {location}"))
            }
            _ => Some("offcut".to_owned()),
        };
        let (location, fleet) = match location {
            StoreLocation::Shared(bucket) => match fleet::open(bucket.clone(), &configuration) {
                Ok(store) => (StoreLocation::Shared(bucket), Some(Arc::new(store))),
                Err(reason) => (StoreLocation::Invalid(reason), None),
            },
            other => (other, None),
        };
        let reader = (agents::caller(), ToolKind::Shell);
        Ok(Setup { configuration, profile, location, has_fallback, fleet, reader, program })
    }

    /// The same setup for an output that an agent reads: with the limits of the agent, if it is known.
    pub(crate) fn with_reader(self, agent: Option<&'static Agent>, tool: ToolKind) -> Setup {
        self.with_limits(agent, tool, agent.and_then(|agent| agent.limits(tool)))
    }

    /// The same setup with these limits of an agent, unless the profile has a document with its own limits.
    pub(crate) fn with_limits(
        mut self,
        agent: Option<&'static Agent>,
        tool: ToolKind,
        limits: Option<ReaderLimits>,
    ) -> Setup {
        self.reader = (agent, tool);
        if let Some(limits) = limits.filter(|_| self.profile.wording().is_none())
            && let Ok(profile) = self.profile.clone().with_limits(limits)
        {
            self.profile = profile;
            self.configuration.basis = LimitBasis::Agent;
        }
        self
    }

    /// The agent whose limits the profile has.
    pub(crate) fn limiting_agent(&self) -> Option<&'static Agent> {
        self.reader.0.filter(|_| self.configuration.basis == LimitBasis::Agent)
    }

    /// Like `new`, for calls by an agent: without warnings, which nobody would read, and with the full path of this program
    /// in notices if `offcut` is not on PATH.
    pub(crate) fn for_agent(
        global: &GlobalOptions,
        agent: Option<&'static Agent>,
        tool: ToolKind,
    ) -> Result<Setup, Failure> {
        let mut setup = Setup::without_warnings(global)?.with_reader(agent, tool);
        if !install::is_on_path("offcut")
            && let Some(path) = std::env::current_exe().ok().as_deref().and_then(Path::to_str)
            && let Ok(path) = shlex::try_quote(path)
        {
            setup.program = setup.program.map(|program| program.replacen("offcut", &path, 1));
        }
        Ok(setup)
    }

    /// Creates the truncator for one call. A failing store is not an error here.
    pub(crate) fn truncator(&self, cut: &Cut) -> Result<Truncator, Failure> {
        let storage = match &self.location {
            StoreLocation::None => Storage::Off,
            StoreLocation::Directory(directory) => Storage::To(self.directory_store(directory)),
            StoreLocation::Shared(_) => self.fleet.clone().map_or(Storage::Off, |fleet| Storage::To(fleet)),
            StoreLocation::Invalid(reason) => Storage::Unavailable(reason.clone()),
        };
        let reach = match self.configuration.text("reach") {
            Some("files") => Reach::Files,
            Some("nothing") => Reach::Nothing,
            _ => self.program.clone().map_or(Reach::Nothing, |program| Reach::Shell { program }),
        };
        let configured = self.configuration.rule(cut.tool.as_deref(), &self.profile);
        let truncator = Truncator::new(self.profile.clone());
        let truncator = match self.configuration.host() {
            Some(host) => truncator.host(host),
            None => truncator,
        };
        let truncator = truncator
            .storage(storage)
            .reach(reach)
            .cap(self.cap())
            .retention(self.retention(&self.profile))
            // The binary cleans once a day, in another process (`housekeeping`).
            .cleaning(Cleaning::Manual)
            .rule(configured)?;
        let root = config::project_directory().filter(|_| self.profile.has_relative_paths());
        let mut truncator = match root {
            Some(root) => truncator.project_root(root),
            None => truncator,
        };
        // A result may name another tool than the flags do.
        for tool in self.configuration.tools() {
            truncator.update_tool(tool, self.configuration.rule(Some(tool), &self.profile))?;
        }
        let flags = cut.rule();
        let flags = if pass::is_set() { Rule { enabled: Some(false), ..flags } } else { flags };
        // Exact counting loads a large vocabulary, so tokens are only counted if they are limited.
        let counts_tokens = flags.or(configured).limits.tokens.is_some();
        let truncator = if counts_tokens { truncator.tokens(TokenCounter) } else { truncator };
        let (events, ledger) = (self.event_sink(cut.events.as_deref()), self.ledger());
        let truncator = truncator.sink(move |event: &Event<'_>| {
            events.iter().for_each(|events| events.emit(event));
            ledger.iter().for_each(|ledger| ledger.emit(event));
        });
        Ok(truncator.with_options(self.configuration.basis.users_rule(flags))?)
    }

    /// The command line, for notices in data, which always name a command.
    pub(crate) fn command_line(&self) -> Reach {
        Reach::Shell { program: self.program_name() }
    }

    /// The command that runs offcut with this store.
    pub(crate) fn program_name(&self) -> String {
        self.program.clone().unwrap_or_else(|| "offcut".to_owned())
    }

    /// Where events are written: the flag's file, or the configured one. A file that cannot be opened is a warning: no
    /// output is lost because it is not logged.
    fn event_sink(&self, flag: Option<&Path>) -> Option<JsonLinesSink<Box<dyn Write + Send>>> {
        let place = flag.or_else(|| self.configuration.text("events.file").map(Path::new))?;
        let writer: Box<dyn Write + Send> = if place == Path::new("stderr") {
            Box::new(std::io::stderr())
        } else {
            match OpenOptions::new().create(true).append(true).mode(0o600).open(place) {
                Ok(file) => Box::new(file),
                Err(error) => {
                    diagnostic::warn(format_args!("cannot write events to {}: {error}", place.display()));
                    return None;
                }
            }
        };
        Some(JsonLinesSink::new(writer, SystemTime::now))
    }

    /// The ledger, unless it is switched off.
    pub(crate) fn ledger(&self) -> Option<Ledger> {
        let is_off = self.configuration.get("ledger").is_some_and(|_| !self.configuration.switch("ledger"));
        let directory = ledger::directory().filter(|_| !is_off)?;
        let (agent, tool) = self.reader;
        let host = self.configuration.host();
        Some(Ledger { directory, agent, tool, host })
    }

    /// Records that a part of a stored output was printed for an agent. A person who reads it costs a model nothing.
    pub(crate) fn record_reading(&self, id: &Id, bytes: usize) {
        if let Some(ledger) = self.ledger().filter(|ledger| ledger.agent.is_some()) {
            ledger.emit(&Event::Retrieved { id, start: 0, end: bytes as u64 });
        }
    }

    /// The maximum stored size of one output.
    pub(crate) fn cap(&self) -> u64 {
        self.configuration.number("max_output").unwrap_or(offcut::store::DEFAULT_CAP)
    }

    /// How long an output that this profile bounds is kept: as configured, unless the profile keeps its outputs forever.
    pub(crate) fn retention(&self, profile: &Profile) -> Retention {
        match (profile.retention(), self.configuration.number("retention.days")) {
            (Retention::Days(_), Some(days)) => Retention::Days(u32::try_from(days).unwrap_or(u32::MAX)),
            (retention, _) => retention,
        }
    }

    /// The shell that runs command lines: the configured one, the user's, or /bin/sh; never offcut itself.
    pub(crate) fn shell(&self) -> OsString {
        let users = std::env::var_os("SHELL").filter(|shell| !shell.is_empty() && !is_offcut(shell));
        let configured = self.configuration.text("shell").map(OsString::from);
        configured.filter(|shell| !is_offcut(shell)).or(users).unwrap_or_else(|| "/bin/sh".into())
    }

    /// Whether outputs are to be stored.
    pub(crate) fn is_storing(&self) -> bool {
        !matches!(self.location, StoreLocation::None)
    }

    /// The directory of the store, if it is a directory.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match &self.location {
            StoreLocation::Directory(directory) => Some(directory),
            StoreLocation::None | StoreLocation::Shared(_) | StoreLocation::Invalid(_) => None,
        }
    }

    /// The directory of the store, if it has temporary directories for when it cannot be written to.
    pub(crate) fn directory_with_fallback(&self) -> Option<&Path> {
        self.directory().filter(|_| self.has_fallback)
    }

    fn directory_store(&self, directory: &Path) -> Arc<dyn Store> {
        match self.has_fallback {
            true => Arc::new(StoreWithFallback::new(directory)),
            false => Arc::new(FsStore::new(directory, SystemTime::now)),
        }
    }

    /// The shared store, if it is one.
    pub(crate) fn fleet(&self) -> Option<&Arc<FleetStore>> {
        self.fleet.as_ref()
    }

    /// The local directory that files are written to, before a possible upload.
    pub(crate) fn local_directory(&self) -> Option<&Path> {
        self.fleet.as_ref().map(|fleet| fleet.spool()).or_else(|| self.directory())
    }

    /// The store to read from.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Failure> {
        match &self.location {
            StoreLocation::None => Err(Failure::Usage(anyhow::anyhow!(
                "cannot read stored outputs with --store none: give a directory or s3://bucket/prefix"
            ))),
            StoreLocation::Directory(directory) => {
                housekeeping::start_move_if_due(self);
                Ok(self.directory_store(directory))
            }
            StoreLocation::Shared(location) => match &self.fleet {
                Some(fleet) => Ok(Arc::clone(fleet) as Arc<dyn Store>),
                None => Err(Failure::Store(anyhow::anyhow!("cannot open store {location}"))),
            },
            StoreLocation::Invalid(reason) => Err(Failure::Store(anyhow::anyhow!(reason.clone()))),
        }
    }

    /// Returns the store of a reference, which can be a path into another store, and the command that runs offcut with it.
    pub(crate) fn store_of(&self, reference: &str) -> Result<(Arc<dyn Store>, String), Failure> {
        let path = Path::new(reference);
        if reference.contains('/')
            && !reference.contains("://")
            && let Some(directory) = path.parent().filter(|directory| directory.join(".offcut").is_dir())
            && let Ok(directory) = std::path::absolute(directory)
            // An entry in there may have been moved to the store.
            && !self.directory_with_fallback().is_some_and(|store| is_temporary_directory(store, &directory))
        {
            let same = self.directory() == Some(&directory);
            let program = if same { self.program.clone() } else { program_for(&directory) };
            let program = program.unwrap_or_else(|| "offcut".to_owned());
            return Ok((Arc::new(FsStore::new(directory, SystemTime::now)), program));
        }
        Ok((self.store()?, self.program_name()))
    }
}

/// Whether the path of a shell is a link to this program.
pub(crate) fn is_offcut(shell: &OsStr) -> bool {
    let name = Path::new(shell).file_name().unwrap_or_default();
    name == "offcut" || name.to_str().is_some_and(|name| name.starts_with("offcut-"))
}

/// The command with the store as an option; `None` for a path with control characters.
fn program_for(directory: &Path) -> Option<String> {
    let path = directory.to_str().filter(|path| !path.contains(char::is_control))?;
    Some(format!("offcut --store {}", shlex::try_quote(path).ok()?))
}

/// Parses the location of a store. Relative paths are relative to `base`, the directory of the configuration file.
fn parse_location(chosen: &str, base: Option<&Path>) -> StoreLocation {
    let home = || choose_base_strategy().ok().map(|base| base.home_dir().to_owned());
    if let Some(rest) = chosen.strip_prefix("~/")
        && let Some(home) = home()
    {
        return absolute(&home.join(rest));
    }
    match chosen {
        home if home.starts_with('~') || home.starts_with('$') => StoreLocation::Invalid(format!(
            "cannot use store {home:?}: variables and ~user are not expanded; give the full path, or ~/ for your home directory"
        )),
        "none" => StoreLocation::None,
        "" => StoreLocation::Invalid(
            "--store is empty: give a directory, s3://bucket/prefix, or none".to_owned(),
        ),
        uri if uri.starts_with("s3://") => match Location::parse(uri) {
            Ok(location) => StoreLocation::Shared(location),
            Err(error) => StoreLocation::Invalid(error.to_string()),
        },
        // The rest of the URL is not shown, because it may contain a password.
        uri if uri.contains("://") => StoreLocation::Invalid(format!(
            "unsupported store \"{}://\": give a directory or s3://bucket/prefix with --store",
            uri.split("://").next().unwrap_or_default()
        )),
        directory => absolute(&base.unwrap_or(Path::new("")).join(directory)),
    }
}

fn absolute(directory: &Path) -> StoreLocation {
    match std::path::absolute(directory) {
        Ok(directory) => StoreLocation::Directory(directory),
        Err(error) => StoreLocation::Invalid(format!("cannot use store {}: {error}", directory.display())),
    }
}

fn default_location() -> StoreLocation {
    match choose_base_strategy() {
        Ok(base) => StoreLocation::Directory(base.data_dir().join("offcut")),
        Err(_) => {
            StoreLocation::Invalid("cannot find your home directory: give a store with --store".to_owned())
        }
    }
}

/// The directory that the source document of the profile names.
fn seed_location(template: &str) -> StoreLocation {
    let Ok(base) = choose_base_strategy() else { return default_location() };
    let path = template
        .replace("{data}", &base.data_dir().to_string_lossy())
        .replace("{home}", &base.home_dir().to_string_lossy())
        .replace("{project}", &config::project_directory().unwrap_or_default().to_string_lossy());
    absolute(Path::new(&path))
}
