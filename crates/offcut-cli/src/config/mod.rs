//! The configuration. Precedence, for each key: flags, environment, project file, user file, profile.
//!
//! A setting with an error is ignored, with a warning: an error in the configuration must never prevent shortening.
//! `offcut config check` reports all errors with an exit code.

mod edit;
mod file;
mod keys;
mod layer;

pub(crate) use edit::{Change, edit};
pub(crate) use file::read;
pub(crate) use keys::{KEYS, Key, Kind, OTHER_VARIABLES, PASS_VARIABLE, ProjectAccess, find};
pub(crate) use layer::{Layer, Origin, Problem, Setting, Trust, to_toml};

use crate::suggestion;
use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::limits::UNLIMITED;
use offcut::profile::ProfileError;
use offcut::terminal::printable;
use offcut::{Limits, Profile, Rule};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of the project file.
pub(crate) const PROJECT_FILE: &str = ".offcut.toml";

/// How the names of all variables begin.
const PREFIX: &str = "OFFCUT_";

/// Variables by which processes of offcut recognise each other.
const INTERNAL_VARIABLES: &[&str] = &["OFFCUT_KLAUDE", "OFFCUT_PIPE"];

/// How many unknown variables are reported, and how much of their names.
const MAX_UNKNOWN_VARIABLES: usize = 5;
const MAX_NAME_CHARS: usize = 100;

/// The settings of all sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) user: Layer,
    pub(crate) project: Layer,
    pub(crate) environment: Layer,
    pub(crate) problems: Vec<Problem>,
    /// What the profile's limits are.
    pub(crate) basis: LimitBasis,
}

/// Whose limits a profile has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LimitBasis {
    #[default]
    Profile,
    /// Those of the agent that reads the output. They can be in another unit than a limit of the user.
    Agent,
}

impl LimitBasis {
    /// A rule of the user. If it limits the size of outputs, that limit replaces those of an agent and applies to previews
    /// too.
    pub(crate) fn users_rule(self, rule: Rule) -> Rule {
        let Limits { bytes, chars, .. } = rule.limits;
        if self == LimitBasis::Profile || bytes.or(chars).is_none() {
            return rule;
        }
        let (bytes, chars) = (bytes.or(Some(UNLIMITED)), chars.or(Some(UNLIMITED)));
        let limits = Limits { bytes, chars, ..rule.limits };
        Rule { limits, keep: rule.keep.or(limits), ..rule }
    }
}

/// The directory of the user's configuration.
pub(crate) fn user_directory() -> Option<PathBuf> {
    choose_base_strategy().ok().map(|base| base.config_dir().join("offcut"))
}

pub(crate) fn user_file() -> Option<PathBuf> {
    user_directory().map(|directory| directory.join("config.toml"))
}

/// The root of the repository around the working directory, or the working directory itself.
pub(crate) fn project_directory() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_owned);
    Some(root.unwrap_or(here))
}

/// The working directory and its parents up to the root of the repository, the nearest first.
pub(crate) fn project_directories() -> Vec<PathBuf> {
    let Ok(here) = std::env::current_dir() else { return Vec::new() };
    let root = project_directory().unwrap_or_default();
    here.ancestors().take_while(|directory| directory.starts_with(&root)).map(Path::to_owned).collect()
}

/// The project file, in the working directory or a parent, up to the root of the repository.
pub(crate) fn project_file() -> Option<PathBuf> {
    project_directories().into_iter().map(|directory| directory.join(PROJECT_FILE)).find(|file| file.exists())
}

impl Configuration {
    /// Reads all sources.
    pub(crate) fn load() -> Configuration {
        let mut configuration = Configuration::default();
        configuration.user = configuration.file(user_file(), Trust::User);
        configuration.project = configuration.file(project_file(), Trust::Project);
        let mut environment = Layer::default();
        for key in KEYS {
            configuration.variable(&mut environment, key.variable.unwrap_or_default(), key.name);
        }
        configuration.environment = environment;
        configuration.check_variables();
        configuration
    }

    fn file(&mut self, path: Option<PathBuf>, trust: Trust) -> Layer {
        let Some(path) = path else { return Layer::default() };
        let (layer, problems) = match file::read(&path, trust) {
            Ok(text) => Layer::parse(&path, &text, trust),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Layer::default(),
            Err(error) => {
                (Layer::default(), vec![Problem(format!("cannot use {}: {error}", path.display()))])
            }
        };
        self.problems.extend(problems);
        layer
    }

    /// Reports variables that look like settings of offcut, but are none.
    fn check_variables(&mut self) {
        let others = OTHER_VARIABLES.iter().map(|(name, _)| *name);
        let known: Vec<&str> = KEYS
            .iter()
            .filter_map(|key| key.variable)
            .chain(others)
            .chain(INTERNAL_VARIABLES.iter().copied())
            .collect();
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut unknown: Vec<String> = names
            // OFFCUT_TEST_ variables are for the tests of offcut.
            .filter(|name| name.starts_with(PREFIX) && !name.starts_with("OFFCUT_TEST_"))
            .filter(|name| !known.contains(&name.as_str()))
            .take(MAX_UNKNOWN_VARIABLES)
            .collect();
        unknown.sort();
        self.problems.extend(unknown.into_iter().map(|name| {
            // The prefix, which all have in common, makes none of them similar.
            let own_name = |name| str::strip_prefix(name, PREFIX);
            let nearest = own_name(&name)
                .and_then(|name| suggestion::nearest(name, known.iter().copied().filter_map(own_name)));
            let guess =
                nearest.map_or_else(String::new, |nearest| format!("; did you mean {PREFIX}{nearest}?"));
            Problem(format!("${}: no such variable{guess}", printable(&name, MAX_NAME_CHARS)))
        }));
    }

    fn variable(&mut self, layer: &mut Layer, name: &str, path: &str) {
        if let Some(text) = std::env::var_os(name).filter(|text| !name.is_empty() && !text.is_empty())
            && let Err(problem) = layer.variable(name, path, &text.to_string_lossy())
        {
            self.problems.push(problem);
        }
    }

    /// The settings that apply with this profile: with the environment variables that it defines, and without limits that
    /// are too small for it.
    pub(crate) fn for_profile(mut self, profile: &Profile) -> Configuration {
        let mut layer = Layer::default();
        for (name, path) in profile.environment() {
            self.variable(&mut layer, name, path);
        }
        // The OFFCUT_ variables take precedence over those of the profile.
        layer.settings.append(&mut self.environment.settings);
        self.environment = layer;
        for layer in [&mut self.user, &mut self.project, &mut self.environment] {
            self.problems.extend(layer.remove_unusable_limits(profile));
        }
        self
    }

    /// The setting of a general key with the highest precedence.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        [&self.environment, &self.project, &self.user].into_iter().find_map(|layer| layer.get(name))
    }

    /// The name of this machine: as configured, or else its host name.
    pub(crate) fn host(&self) -> Option<String> {
        let host_name = || rustix::system::uname().nodename().to_str().ok().map(str::to_owned);
        self.text("host").map(str::to_owned).or_else(host_name).filter(|name| !name.is_empty())
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.value.as_str()
    }

    /// Whether this key is set to true.
    pub(crate) fn switch(&self, name: &str) -> bool {
        self.get(name).and_then(|setting| setting.value.as_bool()) == Some(true)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.value.as_u64()
    }

    /// The rule for a tool, from all sources.
    pub(crate) fn rule(&self, tool: Option<&str>, profile: &Profile) -> Rule {
        let of_user = self.basis.users_rule(self.user.rule(tool));
        let mut of_project = self.project.rule(tool);
        if let Ok(without) = profile.settings(tool, of_user) {
            let limits = without.limits.at_most(without.failure_limits);
            of_project.limits = lower(of_project.limits, limits);
            of_project.keep = lower(of_project.keep, without.keep);
        }
        let environment = self.basis.users_rule(self.environment.rule(tool));
        environment.or(of_project).or(of_user)
    }

    /// Limits of the project file that have no effect, because they are higher than those that apply without it.
    pub(crate) fn raised_limits(&self, profile: &Profile) -> Vec<String> {
        let is_limit = |setting: &&Setting| setting.key.project == ProjectAccess::Lower;
        let settings = self.project.settings.iter().filter(is_limit);
        let raised = settings.filter_map(|setting| {
            let without =
                profile.settings(setting.tool.as_deref(), self.user.rule(setting.tool.as_deref())).ok()?;
            let (group, unit) = setting.key.name.split_once('.')?;
            let limits =
                if group == "keep" { without.keep } else { without.limits.at_most(without.failure_limits) };
            let allowed = match unit {
                "lines" => limits.lines,
                "bytes" => limits.bytes,
                "chars" => limits.chars,
                _ => limits.tokens,
            }?;
            let requested = setting.value.as_u64().unwrap_or(u64::MAX);
            let (origin, key, value) = (&setting.origin, setting.key.name, to_toml(&setting.value));
            (requested > allowed).then(|| {
                format!(
                    "{origin}: {key} = {value} has no effect: a project file cannot raise a limit ({allowed})"
                )
            })
        });
        raised.collect()
    }

    pub(crate) fn tools(&self) -> BTreeSet<&str> {
        [&self.user, &self.project, &self.environment].into_iter().flat_map(Layer::tools).collect()
    }
}

/// The requested limits where they are lower than the current ones.
fn lower(requested: Limits, current: Limits) -> Limits {
    requested.zip_with(current, |requested, current| match (requested, current) {
        (Some(requested), Some(current)) => Some(requested.min(current)),
        (requested, _) => requested,
    })
}

/// Finds a profile by name: a built-in one, or a file in the configuration directory.
pub(crate) fn profile(name: &str) -> Result<Profile, anyhow::Error> {
    let text = match Profile::text(name) {
        Some(_) => return Profile::named(name).map_err(anyhow::Error::from),
        None => user_profile(name),
    };
    match text {
        Some((path, text)) => Profile::parse(&text).map_err(|error| {
            let reason = match error {
                ProfileError::Invalid(reason) => anyhow::Error::new(reason),
                error => anyhow::Error::new(error),
            };
            reason.context(format!("invalid profile {}", path.display()))
        }),
        None => {
            let known: Vec<String> = Profile::names().map(str::to_owned).chain(user_profiles()).collect();
            let nearest = suggestion::nearest(name, known.iter().map(String::as_str));
            let guess = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest:?}?"));
            let unknown =
                ProfileError::Unknown { name: name.chars().take(80).collect(), known: known.join(", ") };
            Err(anyhow::anyhow!("{unknown}{guess}"))
        }
    }
}

/// The path and text of a profile of the user.
pub(crate) fn user_profile(name: &str) -> Option<(PathBuf, String)> {
    // The name must not be a path.
    let plain = Path::new(name).file_name().is_some_and(|file| file == name);
    let path = user_directory()?.join("profiles").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).ok().filter(|_| plain)?;
    Some((path, text))
}

/// The names of the profiles of the user.
pub(crate) fn user_profiles() -> Vec<String> {
    let Some(listing) =
        user_directory().and_then(|directory| std::fs::read_dir(directory.join("profiles")).ok())
    else {
        return Vec::new();
    };
    let mut names: Vec<String> = listing
        .filter_map(|item| item.ok()?.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .filter(|name| Profile::text(name).is_none())
        .collect();
    names.sort();
    names
}
