//! Every key that a configuration may set: one table for parsing, help, errors and the documentation.

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A size: `2000`, `"50KiB"`.
    Size,
    /// A number of days; 0 is for ever.
    Days,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Two weights, `[1, 2]`.
    Split,
}

/// What a project's own file may do with a key: a cloned repository is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Project {
    /// Set it.
    May,
    /// Set it, but only to less than what holds without it.
    MayTighten,
    /// Nothing.
    MayNot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) project: Project,
    /// Also below `tools.NAME`.
    pub(crate) per_tool: bool,
    /// The environment variable that sets it.
    pub(crate) variable: Option<&'static str>,
    pub(crate) about: &'static str,
}

const STRATEGIES: &[&str] = &["head", "tail", "head-tail", "smart", "json", "auto"];

/// The keys, in the order in which `config show` prints them.
pub(crate) const KEYS: &[Key] = &[
    general("profile", Kind::Text, Some("OFFCUT_PROFILE"), "the profile: limits, strategy and wording"),
    general(
        "store.path",
        Kind::Text,
        Some("OFFCUT_STORE"),
        "where whole outputs are kept: a directory, s3://bucket/prefix, or none",
    ),
    general(
        "store.layout",
        Kind::Word(&["own", "seed"]),
        None,
        "own: offcut's store; seed: the directory of the profile's document",
    ),
    general(
        "store.spool",
        Kind::Text,
        Some("OFFCUT_SPOOL"),
        "where outputs are on their way to a store elsewhere: an absolute path",
    ),
    general(
        "store.deadline",
        Kind::Size,
        Some("OFFCUT_STORE_DEADLINE"),
        "seconds that a call waits for a store elsewhere before its output stays here",
    ),
    general("host", Kind::Text, Some("OFFCUT_HOST"), "the name of this machine in a store that many share"),
    limit("limits.lines", Some("OFFCUT_MAX_LINES"), "an output with more lines is cut"),
    limit("limits.bytes", Some("OFFCUT_MAX_BYTES"), "an output with more bytes is cut"),
    limit("limits.chars", Some("OFFCUT_MAX_CHARS"), "an output with more characters is cut"),
    limit("limits.tokens", Some("OFFCUT_MAX_TOKENS"), "an output with more tokens is cut"),
    limit("keep.lines", None, "lines shown of an output that is cut, if fewer"),
    limit("keep.bytes", None, "bytes shown of an output that is cut, if fewer"),
    limit("keep.chars", None, "characters shown of an output that is cut, if fewer"),
    limit("keep.tokens", None, "tokens shown of an output that is cut, if fewer"),
    Key {
        name: "strategy",
        kind: Kind::Word(STRATEGIES),
        project: Project::May,
        per_tool: true,
        variable: Some("OFFCUT_STRATEGY"),
        about: "what is shown of an output that is cut",
    },
    Key {
        name: "split",
        kind: Kind::Split,
        project: Project::May,
        per_tool: true,
        variable: None,
        about: "the weights of beginning and end in head-tail",
    },
    Key {
        name: "enabled",
        kind: Kind::Switch,
        project: Project::MayNot,
        per_tool: true,
        variable: None,
        about: "whether outputs are bounded at all",
    },
    Key {
        name: "terminal",
        kind: Kind::Word(&["rendered", "raw"]),
        project: Project::May,
        per_tool: true,
        variable: None,
        about: "an output that is cut: as a terminal shows it, or as it came",
    },
    general("task", Kind::Switch, Some("OFFCUT_TASK"), "the reader has a tool that starts a sub-agent"),
    general(
        "reach",
        Kind::Word(&["shell", "files", "nothing"]),
        Some("OFFCUT_REACH"),
        "what the reader can use to get the rest back",
    ),
    general(
        "mcp.readable",
        Kind::Word(&["store", "session"]),
        None,
        "what MCP clients may read: the whole store, or what their own session kept",
    ),
    general(
        "shell",
        Kind::Text,
        Some("OFFCUT_SHELL"),
        "the shell that runs lines; without it $SHELL, else /bin/sh",
    ),
    general("max_output", Kind::Size, Some("OFFCUT_MAX_OUTPUT"), "the most that is kept of one output"),
    general(
        "retention.days",
        Kind::Days,
        Some("OFFCUT_RETENTION_DAYS"),
        "how long outputs are kept; 0 is for ever",
    ),
    general("retention.max_total", Kind::Size, None, "the oldest go while more bytes are kept"),
    general("retention.max_entries", Kind::Size, None, "the oldest go while more outputs are kept"),
];

const fn general(name: &'static str, kind: Kind, variable: Option<&'static str>, about: &'static str) -> Key {
    Key { name, kind, project: Project::MayNot, per_tool: false, variable, about }
}

const fn limit(name: &'static str, variable: Option<&'static str>, about: &'static str) -> Key {
    Key { name, kind: Kind::Size, project: Project::MayTighten, per_tool: true, variable, about }
}

/// The key that `path` names, and the tool it is for: `limits.lines`, `tools.bash.limits.lines`.
pub(crate) fn find(path: &str) -> Option<(&'static Key, Option<&str>)> {
    if let Some(key) = KEYS.iter().find(|key| key.name == path) {
        return Some((key, None));
    }
    let rest = path.strip_prefix("tools.")?;
    KEYS.iter().filter(|key| key.per_tool).find_map(|key| {
        let tool = rest.strip_suffix(key.name)?.strip_suffix('.')?;
        (!tool.is_empty()).then_some((key, Some(tool)))
    })
}

/// The server of a tool named `mcp__SERVER__TOOL`, as `mcp__SERVER`: a rule of that name is for all of its tools.
pub(crate) fn server_of(tool: &str) -> Option<&str> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some(&tool[.."mcp__".len() + server.len()])
}

/// The real key that looks most like `path`, if one looks like it at all.
pub(crate) fn nearest(path: &str) -> Option<String> {
    let (prefix, name) = match path.strip_prefix("tools.").and_then(|rest| rest.split_once('.')) {
        Some((tool, name)) => (format!("tools.{tool}."), name),
        None => (String::new(), path),
    };
    // Flags say `max-lines` where the configuration says `limits.lines`.
    let name = match name.strip_prefix("max_").or(name.strip_prefix("max-")) {
        Some(unit) => format!("limits.{unit}"),
        None => name.to_owned(),
    };
    KEYS.iter()
        .filter(|key| prefix.is_empty() || key.per_tool)
        .map(|key| (strsim::normalized_damerau_levenshtein(key.name, &name.to_lowercase()), key.name))
        .filter(|&(likeness, _)| likeness >= 0.5)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| format!("{prefix}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_and_guessed() {
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
