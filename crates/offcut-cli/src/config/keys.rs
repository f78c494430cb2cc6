//! The configuration keys: one table for parsing, help, errors and the documentation.

use crate::suggestion;
use offcut::terminal::printable;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any non-empty text.
    Text,
    /// A size: `2000`, `"50KiB"`.
    Size,
    /// A size, or `none`, which switches the profile's limit off.
    Limit,
    /// A number of days; 0 means forever.
    Days,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Two weights, `[1, 2]`.
    Split,
}

/// A longer name is quoted in part.
const MAX_KEY_CHARS: usize = 100;

/// What a project file, which is not trusted, can do with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectAccess {
    /// Set any value.
    Set,
    /// Lower the value.
    Lower,
    None,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// Another name, from a profile's source document.
    pub(crate) alias: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) project: ProjectAccess,
    /// Whether the key can also be set for a tool, as `tools.NAME.KEY`.
    pub(crate) per_tool: bool,
    /// The environment variable that sets it.
    pub(crate) variable: Option<&'static str>,
    pub(crate) about: &'static str,
}

/// The variable that lets the output of one call through whole (see `pass`).
pub(crate) const PASS_VARIABLE: &str = "OFFCUT_PASS";

/// The variables for users that set no key, and what they do.
pub(crate) const OTHER_VARIABLES: &[(&str, &str)] =
    &[(PASS_VARIABLE, "`1`: pass the output of one call on whole, neither shortened nor stored")];

const STRATEGIES: &[&str] = &["head", "tail", "head-tail", "smart", "json", "auto"];

/// The keys, in the order of `config show`.
pub(crate) const KEYS: &[Key] = &[
    general("profile", Kind::Text, Some("OFFCUT_PROFILE"), "the profile: limits, strategy and notice texts"),
    general(
        "store.path",
        Kind::Text,
        Some("OFFCUT_STORE"),
        "where full outputs are stored: a directory, s3://bucket/prefix, or none",
    ),
    general(
        "store.layout",
        Kind::Word(&["own", "seed"]),
        None,
        "own: offcut's own directory; seed: the directory that the profile's source document names",
    ),
    general(
        "store.spool",
        Kind::Text,
        Some("OFFCUT_SPOOL"),
        "local directory for outputs that are not uploaded yet: an absolute path",
    ),
    general(
        "store.deadline",
        Kind::Size,
        Some("OFFCUT_STORE_DEADLINE"),
        "seconds to wait for an upload before continuing in the background",
    ),
    general(
        "store.share_commands",
        Kind::Switch,
        Some("OFFCUT_SHARE_COMMANDS"),
        "upload command lines, tool inputs, working directories and user names to a shared store; they may contain secrets",
    ),
    general(
        "ledger",
        Kind::Switch,
        Some("OFFCUT_LEDGER"),
        "record the sizes of outputs on this machine, for `offcut stats` (default true)",
    ),
    general("host", Kind::Text, Some("OFFCUT_HOST"), "name of this machine in a shared store"),
    limit("limits.lines", Some("OFFCUT_MAX_LINES"), "shorten outputs with more lines"),
    limit("limits.bytes", Some("OFFCUT_MAX_BYTES"), "shorten outputs with more bytes"),
    limit("limits.chars", Some("OFFCUT_MAX_CHARS"), "shorten outputs with more characters"),
    limit("limits.tokens", Some("OFFCUT_MAX_TOKENS"), "shorten outputs with more tokens"),
    limit("keep.lines", None, "lines in the preview, if fewer than the limit"),
    limit("keep.bytes", None, "bytes in the preview, if fewer than the limit"),
    limit("keep.chars", None, "characters in the preview, if fewer than the limit"),
    limit("keep.tokens", None, "tokens in the preview, if fewer than the limit"),
    Key {
        name: "strategy",
        alias: None,
        kind: Kind::Word(STRATEGIES),
        project: ProjectAccess::Set,
        per_tool: true,
        variable: Some("OFFCUT_STRATEGY"),
        about: "which part of a long output to show",
    },
    Key {
        name: "split",
        alias: None,
        kind: Kind::Split,
        project: ProjectAccess::Set,
        per_tool: true,
        variable: None,
        about: "weights of beginning and end for head-tail",
    },
    Key {
        name: "enabled",
        // The name in takumi's document (seed 003).
        alias: Some("truncation"),
        kind: Kind::Switch,
        project: ProjectAccess::None,
        per_tool: true,
        variable: None,
        about: "false: never shorten outputs; `truncation` is another name",
    },
    Key {
        name: "terminal",
        alias: None,
        kind: Kind::Word(&["rendered", "raw"]),
        project: ProjectAccess::Set,
        per_tool: true,
        variable: None,
        about: "show a long output as a terminal would display it, or with its escape sequences",
    },
    general(
        "task",
        Kind::Switch,
        Some("OFFCUT_TASK"),
        "true: the reader can start a sub-agent, and notices suggest one",
    ),
    general(
        "reach",
        Kind::Word(&["shell", "files", "nothing"]),
        Some("OFFCUT_REACH"),
        "how the reader can get the rest: shell commands, reading files, or not at all",
    ),
    general(
        "mcp.readable",
        Kind::Word(&["store", "session"]),
        None,
        "what MCP clients can read: all stored outputs, or those of their session",
    ),
    general(
        "shell",
        Kind::Text,
        Some("OFFCUT_SHELL"),
        "the shell that runs command lines; default: $SHELL, or /bin/sh",
    ),
    general(
        "events.file",
        Kind::Text,
        Some("OFFCUT_EVENTS"),
        "append one line of JSON per decision to this file; stderr prints it",
    ),
    general(
        "max_output",
        Kind::Size,
        Some("OFFCUT_MAX_OUTPUT"),
        "store at most this many bytes of one output",
    ),
    general(
        "retention.days",
        Kind::Days,
        Some("OFFCUT_RETENTION_DAYS"),
        "keep the next outputs for this many days, 0: without limit; profiles that never clean ignore it",
    ),
    general(
        "retention.max_total",
        Kind::Limit,
        None,
        "remove the oldest outputs while more bytes are stored (default 5 GiB; none in a shared store)",
    ),
    general(
        "retention.max_entries",
        Kind::Size,
        None,
        "remove the oldest outputs while more outputs are stored",
    ),
];

impl Key {
    /// Whether the key is a field of `Rule`.
    pub(crate) fn is_in_rule(&self) -> bool {
        self.per_tool || self.name == "task"
    }

    /// Its name, and the other one if it has two.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name].into_iter().chain(self.alias)
    }
}

const fn general(name: &'static str, kind: Kind, variable: Option<&'static str>, about: &'static str) -> Key {
    Key { name, alias: None, kind, project: ProjectAccess::None, per_tool: false, variable, about }
}

const fn limit(name: &'static str, variable: Option<&'static str>, about: &'static str) -> Key {
    Key {
        name,
        alias: None,
        kind: Kind::Limit,
        project: ProjectAccess::Lower,
        per_tool: true,
        variable,
        about,
    }
}

/// Finds a key and the tool that it is set for: `limits.lines`, `tools.bash.limits.lines`.
pub(crate) fn find(path: &str) -> Option<(&'static Key, Option<&str>)> {
    if let Some(key) = KEYS.iter().find(|key| key.names().any(|name| name == path)) {
        return Some((key, None));
    }
    let rest = path.strip_prefix("tools.")?;
    KEYS.iter().filter(|key| key.per_tool).find_map(|key| {
        let tool = key.names().find_map(|name| rest.strip_suffix(name)?.strip_suffix('.'))?;
        (!tool.is_empty()).then_some((key, Some(tool)))
    })
}

/// Like [`find`], or why there is no such key.
pub(crate) fn known(path: &str) -> Result<(&'static Key, Option<&str>), String> {
    find(path).ok_or_else(|| unknown(path))
}

/// Says that there is no such key.
pub(super) fn unknown(path: &str) -> String {
    let guess = nearest(path).map_or_else(
        || "`offcut config show` lists all keys".to_owned(),
        |nearest| format!("did you mean {nearest:?}?"),
    );
    format!("unknown key {:?}; {guess}", printable(path, MAX_KEY_CHARS))
}

/// The prefix `mcp__SERVER` of a tool `mcp__SERVER__TOOL`: settings for it apply to all tools of the server.
pub(crate) fn server_of(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(&tool[.."mcp__".len() + server.len()])
}

/// The most similar valid key, if one is similar enough.
pub(crate) fn nearest(path: &str) -> Option<String> {
    let (prefix, name) = match path.strip_prefix("tools.").and_then(|rest| rest.split_once('.')) {
        Some((tool, name)) => (format!("tools.{tool}."), name),
        None => (String::new(), path),
    };
    // The flag for `limits.lines` is `--max-lines`.
    let name = match name.strip_prefix("max_").or(name.strip_prefix("max-")) {
        Some(unit) => format!("limits.{unit}"),
        None => name.to_owned(),
    };
    let valid = KEYS.iter().filter(|key| prefix.is_empty() || key.per_tool).map(|key| key.name);
    suggestion::nearest(&name, valid).map(|name| format!("{prefix}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_and_nearest_resolve_keys() {
        assert_eq!(find("limits.lines").map(|(key, tool)| (key.name, tool)), Some(("limits.lines", None)));
        assert_eq!(
            find("tools.my.tool.limits.lines").map(|(key, tool)| (key.name, tool)),
            Some(("limits.lines", Some("my.tool")))
        );
        assert!(find("tools.bash.profile").is_none() && find("tools.limits.lines").is_none());
        for (wrong, right) in [
            ("limit.lines", "limits.lines"),
            ("max_lines", "limits.lines"),
            ("stratgy", "strategy"),
            ("store.dir", "store.path"),
            ("tools.bash.limits.line", "tools.bash.limits.lines"),
            ("tools.bash.stratgy", "tools.bash.strategy"),
            ("retention.day", "retention.days"),
            ("profil", "profile"),
            ("LIMITS.BYTES", "limits.bytes"),
        ] {
            assert_eq!(nearest(wrong).as_deref(), Some(right), "{wrong}");
        }
        for foreign in ["x", "tools", "something.else"] {
            assert_eq!(nearest(foreign), None, "{foreign}");
        }
    }
}
