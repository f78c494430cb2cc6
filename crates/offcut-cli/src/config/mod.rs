//! The configuration: built-in < user's file < project's file < environment < flags, merged key by key.
//!
//! A source with a mistake in it is left out whole, and the mistake is told on standard error: a wrong line in a
//! file must never keep a tool's output from being bounded. `offcut config check` turns mistakes into a failure.

mod keys;
mod layer;

pub(crate) use keys::{KEYS, Key, Kind, Project};
pub(crate) use layer::{Layer, Origin, Problem, Setting, Trust, Value};

use etcetera::{BaseStrategy, choose_base_strategy};
use offcut::{Limits, Profile, ProfileError, Rule};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of a project's file, looked for from the working directory upwards.
pub(crate) const PROJECT_FILE: &str = ".offcut.toml";

/// Everything that was found, in the order of precedence.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) user: Layer,
    pub(crate) project: Layer,
    pub(crate) environment: Layer,
    pub(crate) problems: Vec<Problem>,
}

/// Where the user's own configuration lives.
pub(crate) fn user_directory() -> Option<PathBuf> {
    choose_base_strategy().ok().map(|base| base.config_dir().join("offcut"))
}

pub(crate) fn user_file() -> Option<PathBuf> {
    user_directory().map(|directory| directory.join("config.toml"))
}

/// The root of the repository that the working directory lies in; the working directory itself without one.
pub(crate) fn project_directory() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = here.ancestors().find(|directory| directory.join(".git").exists()).map(Path::to_owned);
    Some(root.unwrap_or(here))
}

/// The project's file: in the working directory or above it, up to the root of the repository.
pub(crate) fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let root = project_directory()?;
    here.ancestors()
        .take_while(|directory| directory.starts_with(&root))
        .map(|directory| directory.join(PROJECT_FILE))
        .find(|file| file.is_file())
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
        configuration
    }

    fn file(&mut self, path: Option<PathBuf>, trust: Trust) -> Layer {
        let Some(path) = path else { return Layer::default() };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Layer::default(),
            Err(error) => {
                self.problems.push(Problem(format!("cannot read {}: {error}", path.display())));
                return Layer::default();
            }
        };
        Layer::parse(&path, &text, trust).unwrap_or_else(|problem| {
            self.problems.push(problem);
            Layer::default()
        })
    }

    fn variable(&mut self, layer: &mut Layer, name: &str, path: &str) {
        if let Some(text) = std::env::var_os(name).filter(|text| !name.is_empty() && !text.is_empty())
            && let Err(problem) = layer.variable(name, path, &text.to_string_lossy())
        {
            self.problems.push(problem);
        }
    }

    /// Takes in the variables that belong to the chosen profile's document.
    pub(crate) fn with_variables_of(mut self, profile: &Profile) -> Configuration {
        let mut layer = Layer::default();
        for (name, path) in &profile.environment {
            self.variable(&mut layer, name, path);
        }
        // offcut's own variables win over a document's.
        layer.settings.append(&mut self.environment.settings);
        self.environment = layer;
        self
    }

    /// The last value of a general key.
    pub(crate) fn get(&self, name: &str) -> Option<&Setting> {
        [&self.environment, &self.project, &self.user].into_iter().find_map(|layer| layer.get(name))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)?.value {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// What applies to a tool: later sources win, and within one the tool's own settings do.
    ///
    /// A source whose limits the profile cannot use is left out, and only that one: a project's file must not be
    /// able to undo what the user has set by asking for something absurd.
    pub(crate) fn rule(&self, tool: Option<&str>, profile: &Profile) -> Rule {
        self.checked_rule(tool, profile).0
    }

    /// The rule, and what was wrong with the sources that were left out.
    pub(crate) fn checked_rule(&self, tool: Option<&str>, profile: &Profile) -> (Rule, Vec<String>) {
        let mut rule = Rule::default();
        let mut problems = Vec::new();
        for (name, layer, trust) in [
            ("your configuration file", &self.user, Trust::User),
            ("the project file", &self.project, Trust::Project),
            ("the environment", &self.environment, Trust::User),
        ] {
            let mut asked = layer.rule(tool);
            if let (Trust::Project, Ok(without)) = (trust, profile.settings(tool, rule)) {
                asked.limits = tighten(asked.limits, without.limits);
                asked.keep = tighten(asked.keep, without.keep);
            }
            match profile.settings(tool, asked.or(rule)) {
                Ok(_) => rule = asked.or(rule),
                Err(error) => {
                    let whose =
                        layer.settings.first().map_or_else(String::new, |setting| match &setting.origin {
                            Origin::File { path, .. } => format!(" ({})", path.display()),
                            _ => String::new(),
                        });
                    problems.push(format!("ignoring the limits of {name}{whose}: {error}"));
                }
            }
        }
        (rule, problems)
    }

    pub(crate) fn tools(&self) -> BTreeSet<&str> {
        [&self.user, &self.project, &self.environment].into_iter().flat_map(Layer::tools).collect()
    }
}

fn tighten(asked: Limits, without: Limits) -> Limits {
    asked.zip_with(without, |asked, without| match (asked, without) {
        (Some(asked), Some(without)) => Some(asked.min(without)),
        (asked, _) => asked,
    })
}

/// A profile by name: a built-in one, or a file in the configuration folder.
pub(crate) fn profile(name: &str) -> Result<Profile, anyhow::Error> {
    let text = match Profile::text(name) {
        Some(_) => return Profile::named(name).map_err(anyhow::Error::from),
        None => user_profile(name),
    };
    match text {
        Some((path, text)) => Profile::parse(&text).map_err(|error| {
            anyhow::Error::new(error).context(format!("invalid profile {}", path.display()))
        }),
        None => {
            let known: Vec<String> = Profile::names().map(str::to_owned).chain(user_profiles()).collect();
            Err(ProfileError::Unknown { name: name.chars().take(80).collect(), known: known.join(", ") }
                .into())
        }
    }
}

/// The text of one of the user's own profiles.
pub(crate) fn user_profile(name: &str) -> Option<(PathBuf, String)> {
    // A name is not a path.
    let plain = Path::new(name).file_name().is_some_and(|file| file == name);
    let path = user_directory()?.join("profiles").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path).ok().filter(|_| plain)?;
    Some((path, text))
}

/// The names of the user's own profiles.
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
