//! The values that the arguments complete to.

use crate::agents;
use crate::arguments::GlobalOptions;
use crate::command::entry_table;
use crate::config::{self, KEYS, Kind};
use crate::environment::Setup;
use crate::human;
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate as Candidate};
use offcut::Profile;
use offcut::store::{Entry, Id, Store, newest};
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::SystemTime;

/// In place of a value: the shell completes the path of a file. No argument of a program can contain this.
pub(super) const FILES: &str = "\0files";

/// The most ids that are offered.
const MOST_IDS: usize = 50;

/// How many of the newest outputs are searched for sessions, tools and machines.
const RECENT: usize = 500;

/// The most characters of a description.
const MAX_ABOUT: usize = 60;

/// Words that name an output, and what they mean.
const LAST: &[(&str, &str)] = &[("last", "the last output"), ("last-1", "the output before the last one")];

/// The word that names all outputs.
const ALL: &[(&str, &str)] = &[("all", "all outputs")];

/// What an argument completes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Ids,
    /// Ids, or `all`.
    SearchedIds,
    Sessions,
    Tools,
    Hosts,
    Days,
    Agents,
    Profiles,
    Keys,
    /// The values of the key before it.
    Settings,
    Commands,
    Files,
}

impl Values {
    fn of(command: &str, argument: &Arg) -> Option<Values> {
        Some(match (command, argument.get_id().as_str()) {
            // The definition has the values of these.
            _ if !argument.get_possible_values().is_empty() => return None,
            ("grep", "ids") => Values::SearchedIds,
            (_, "id" | "ids" | "before") => Values::Ids,
            (_, "day" | "since") => Values::Days,
            (_, "session") => Values::Sessions,
            (_, "tool" | "skip_tool") => Values::Tools,
            (_, "host") => Values::Hosts,
            (_, "agent") => Values::Agents,
            ("profiles", "name") | (_, "profile") => Values::Profiles,
            (_, "key") => Values::Keys,
            ("set", "value") => Values::Settings,
            ("man", "command") => Values::Commands,
            (_, "store" | "files" | "events" | "permissions" | "directory" | "arguments") => Values::Files,
            _ => return None,
        })
    }
}

/// The definition of the command line with values to complete. `parsed` is what is known of the line so far.
///
/// They are added here and not in the definition of each argument, because only completions need them.
pub(super) fn add_to(definition: Command, parsed: &ArgMatches) -> Command {
    let line = Line {
        global: GlobalOptions::from_arg_matches(parsed).unwrap_or_default(),
        key: configuration_key(parsed),
    };
    add(definition, &Arc::new(line))
}

fn add(command: Command, line: &Arc<Line>) -> Command {
    let name = command.get_name().to_owned();
    let add_values = |argument: Arg| match Values::of(&name, &argument) {
        Some(values) => {
            let line = Arc::clone(line);
            argument.add(ArgValueCompleter::new(move |current: &OsStr| {
                current.to_str().map_or_else(Vec::new, |current| line.complete(values, current))
            }))
        }
        None => argument,
    };
    command.mut_args(add_values).mut_subcommands(|subcommand| add(subcommand, line))
}

/// What the command line says about a value that is still missing.
struct Line {
    global: GlobalOptions,
    /// The key that `offcut config set` sets.
    key: Option<String>,
}

impl Line {
    fn complete(&self, values: Values, current: &str) -> Vec<Candidate> {
        // A path can name an output too.
        let is_path = values == Values::Files && !current.starts_with('-');
        let is_id = matches!(values, Values::Ids | Values::SearchedIds);
        if is_path || is_id && current.contains('/') {
            return vec![Candidate::new(FILES)];
        }
        let mut found = match values {
            Values::Ids => ids(&self.global, current, LAST),
            Values::SearchedIds => ids(&self.global, current, &[LAST, ALL].concat()),
            Values::Days => ["today", "yesterday"].map(Candidate::new).into(),
            Values::Sessions => recent(&self.global, |entry| entry.context.session.as_ref()),
            Values::Tools => recent(&self.global, |entry| entry.context.tool.as_ref()),
            Values::Hosts => recent(&self.global, |entry| entry.host.as_ref()),
            Values::Agents => agents(),
            Values::Profiles => profiles(),
            Values::Keys => keys(&self.global, current),
            Values::Settings => values_of(self.key.as_deref()),
            Values::Commands => commands(),
            Values::Files => Vec::new(),
        };
        found.retain(|candidate| candidate.get_value().as_encoded_bytes().starts_with(current.as_bytes()));
        found
    }
}

fn configuration_key(parsed: &ArgMatches) -> Option<String> {
    let set = parsed.subcommand_matches("config")?.subcommand_matches("set")?;
    set.get_one::<String>("key").cloned()
}

/// A value with a description.
fn described(value: impl Into<String>, about: &str) -> Candidate {
    Candidate::new(value.into()).help(Some(about.to_owned().into()))
}

/// A shell may insert a value as it is, so that one from another program must mean nothing to it.
fn is_harmless(value: &str) -> bool {
    let is_allowed =
        |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.' | ':' | '/' | '@' | '+');
    !value.is_empty() && !value.starts_with('-') && value.chars().all(is_allowed)
}

/// The store, unless it is on another machine: a key press must not send requests.
fn local_store(global: &GlobalOptions) -> Option<Arc<dyn Store>> {
    let setup = Setup::without_warnings(global).ok()?;
    if setup.fleet().is_some() { None } else { setup.store().ok() }
}

/// The newest entries whose id begins with `current`.
fn newest_entries(global: &GlobalOptions, current: &str, most: usize) -> Vec<Entry> {
    let Some(store) = local_store(global) else { return Vec::new() };
    let mut ids: Vec<Id> = store.ids().unwrap_or_default();
    ids.retain(|id| id.as_str().starts_with(current));
    store.entries(&newest(&ids, most, SystemTime::now())).into_iter().flatten().collect()
}

/// The newest outputs. Words that can stand for an id are offered once one was begun.
fn ids(global: &GlobalOptions, current: &str, words: &[(&str, &str)]) -> Vec<Candidate> {
    let words = words.iter().filter(|_| !current.is_empty()).map(|(word, about)| described(*word, about));
    let entries = newest_entries(global, current, MOST_IDS);
    words.chain(entries.iter().map(|entry| described(entry.id.as_str(), &about(entry)))).collect()
}

/// What an output is: `3 min  cargo test`
fn about(entry: &Entry) -> String {
    let text = format!("{}  {}", human::age(entry.id.time()), entry_table::command(entry));
    offcut::terminal::printable(&text, MAX_ABOUT)
}

/// The different values of a field in the newest outputs.
fn recent(global: &GlobalOptions, field: fn(&Entry) -> Option<&String>) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for entry in newest_entries(global, "", RECENT) {
        let Some(value) = field(&entry).filter(|value| is_harmless(value)) else { continue };
        if !found.iter().any(|known| known.get_value() == value.as_str()) {
            found.push(described(value, &about(&entry)));
        }
    }
    found
}

fn agents() -> Vec<Candidate> {
    agents::ALL.iter().map(|agent| described(agent.name, agent.title)).collect()
}

fn profiles() -> Vec<Candidate> {
    let names = Profile::names().map(str::to_owned).chain(config::user_profiles());
    let about = |name: &str| {
        config::profile(name).map_or_else(|_| String::new(), |profile| profile.about().to_owned())
    };
    names.filter(|name| is_harmless(name)).map(|name| described(&name, &about(&name))).collect()
}

/// The keys of the configuration; those of a tool, once the word begins with `tools.`
fn keys(global: &GlobalOptions, current: &str) -> Vec<Candidate> {
    if !current.starts_with("tools.") {
        let keys = KEYS.iter().map(|key| described(key.name, key.about));
        return keys.chain([described("tools.", "settings of one tool")]).collect();
    }
    let tools = recent(global, |entry| entry.context.tool.as_ref());
    let tools = tools.iter().filter_map(|tool| tool.get_value().to_str());
    tools
        .flat_map(|tool| {
            let keys = KEYS.iter().filter(|key| key.per_tool);
            keys.map(move |key| described(format!("tools.{tool}.{}", key.name), key.about))
        })
        .collect()
}

/// The values of a key that has a fixed set of them.
fn values_of(key: Option<&str>) -> Vec<Candidate> {
    let Some((key, _)) = key.and_then(config::find) else { return Vec::new() };
    match key.kind {
        _ if key.name == "profile" => profiles(),
        Kind::Word(words) => words.iter().map(|word| Candidate::new(*word)).collect(),
        Kind::Switch => ["true", "false"].map(Candidate::new).into(),
        Kind::Text | Kind::Size | Kind::Limit | Kind::Days | Kind::Split => Vec::new(),
    }
}

/// The commands that have a manual page.
fn commands() -> Vec<Candidate> {
    let definition = crate::arguments::Arguments::definition();
    let visible = definition.get_subcommands().filter(|command| !command.is_hide_set());
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    visible.map(|command| described(command.get_name(), &about(command))).collect()
}
