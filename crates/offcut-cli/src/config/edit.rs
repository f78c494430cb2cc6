//! Sets and removes one key in the text of a configuration file. Everything else stays as it is, comments included.

use crate::config::keys;
use crate::config::layer::{Layer, Problem, Trust, parse, to_toml};
use serde_json::Value;
use std::path::Path;
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, Value as TomlValue};

/// What happens to a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'a> {
    Set(&'a str),
    Unset,
}

/// The text of a file after a change.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) text: String,
    /// The settings in it.
    pub(crate) layer: Layer,
    /// The values of the key before and after, as TOML.
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// Changes the value of the key `name` in the text of the file `path`. The result is a valid file.
pub(crate) fn edit(
    path: &Path,
    text: &str,
    name: &str,
    change: Change<'_>,
    trust: Trust,
) -> Result<Edited, Problem> {
    let (key, tool) = keys::known(name).map_err(Problem)?;
    let mut document: DocumentMut =
        text.parse().map_err(|error| Problem(format!("{}: invalid TOML: {error}", path.display())))?;
    let value = match change {
        Change::Set(given) => Some(
            parse(key.kind, given)
                .map_err(|expected| Problem(format!("{name:?}: expected {expected}, found {given:?}")))?,
        ),
        Change::Unset => None,
    };
    let table = document.as_table_mut();
    let written = name.strip_prefix("tools.").filter(|_| tool.is_some()).unwrap_or(name);
    let written = tool.map_or(written, |tool| &written[tool.len() + 1..]);
    let mut before = None;
    // A key with two names has one value.
    for spelling in key.names().filter(|spelling| *spelling != written) {
        before = remove(table, &segments(tool, spelling)).or(before);
    }
    let place = segments(tool, written);
    let before = match &value {
        Some(value) => put(table, &place, toml_value(value), path)?,
        None => remove(table, &place),
    }
    .or(before);
    let text = document.to_string();
    let layer = match Layer::parse(path, &text, trust) {
        (layer, problems) if problems.is_empty() => layer,
        (_, mut problems) => return Err(problems.remove(0)),
    };
    Ok(Edited { text, layer, before, after: value.as_ref().map(to_toml) })
}

/// The names of the tables around a key, and its own. The name of a tool may contain dots.
fn segments<'a>(tool: Option<&'a str>, name: &'a str) -> Vec<&'a str> {
    tool.into_iter().flat_map(|tool| ["tools", tool]).chain(name.split('.')).collect()
}

/// Sets a value and returns the one before.
fn put(
    table: &mut dyn TableLike,
    place: &[&str],
    mut value: TomlValue,
    path: &Path,
) -> Result<Option<String>, Problem> {
    let [name, rest @ ..] = place else { return Ok(None) };
    if rest.is_empty() {
        let before = table.get(name).and_then(Item::as_value).cloned();
        if let Some(before) = &before {
            // A comment after the value stays.
            *value.decor_mut() = before.decor().clone();
        }
        match table.get_mut(name) {
            Some(item) => *item = Item::Value(value),
            None => drop(table.insert(name, Item::Value(value))),
        }
        return Ok(before.map(|before| plain(&before)));
    }
    if !table.contains_key(name) {
        let mut inner = Table::new();
        // A table without values of its own needs no header.
        inner.set_implicit(true);
        table.insert(name, Item::Table(inner));
    }
    match table.get_mut(name).and_then(Item::as_table_like_mut) {
        Some(inner) => put(inner, rest, value, path),
        None => Err(Problem(format!("{}: {name:?} is not a table", path.display()))),
    }
}

/// Removes a value, and the tables that are empty then; returns the value.
fn remove(table: &mut dyn TableLike, place: &[&str]) -> Option<String> {
    let [name, rest @ ..] = place else { return None };
    if rest.is_empty() {
        return table.remove(name).map(|item| item.as_value().map_or_else(String::new, plain));
    }
    let inner = table.get_mut(name).and_then(Item::as_table_like_mut)?;
    let before = remove(inner, rest)?;
    if inner.is_empty() {
        table.remove(name);
    }
    Some(before)
}

/// A value without the comments and spaces around it.
fn plain(value: &TomlValue) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

fn toml_value(value: &Value) -> TomlValue {
    match value {
        Value::Bool(switch) => (*switch).into(),
        Value::Number(number) => number.as_i64().unwrap_or(i64::MAX).into(),
        Value::Array(items) => TomlValue::Array(items.iter().map(toml_value).collect::<Array>()),
        Value::String(text) => text.as_str().into(),
        // No key has a table or null as its value.
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, change: Change<'_>, expected: &str) {
        let edited = edit(Path::new("config.toml"), text, name, change, Trust::User).unwrap();
        assert_eq!(edited.text, expected);
    }

    #[test]
    fn set_keeps_comments_and_the_form_of_the_file() {
        let text = "# mine\nlimits.lines = 20 # few\n\n[tools.grep]\n# hits\nstrategy = \"head\"\n";
        check(text, "limits.lines", Change::Set("30"), &text.replace("20", "30"));
        check(
            text,
            "limits.bytes",
            Change::Set("8k"),
            &text.replace("# few\n", "# few\nlimits.bytes = 8000\n"),
        );
        check(text, "enabled", Change::Set("false"), &text.replace("\n\n[", "\nenabled = false\n\n["));
        check(
            text,
            "tools.my.tool.limits.lines",
            Change::Set("9"),
            &format!("{text}\n[tools.\"my.tool\".limits]\nlines = 9\n"),
        );
        check("", "split", Change::Set("[1, 2]"), "split = [1, 2]\n");
        check("", "store.path", Change::Set("~/kept"), "[store]\npath = \"~/kept\"\n");
    }

    #[test]
    fn unset_removes_empty_tables_and_both_names() {
        check(
            "[limits]\nlines = 7\n\n[store]\npath = \"x\"\n",
            "limits.lines",
            Change::Unset,
            "\n[store]\npath = \"x\"\n",
        );
        check("truncation = false\n", "enabled", Change::Unset, "");
        check("truncation = false\n", "enabled", Change::Set("true"), "enabled = true\n");
        check("enabled = true\n", "truncation", Change::Set("false"), "truncation = false\n");
        check("task = true\n", "reach", Change::Unset, "task = true\n");
    }

    #[test]
    fn invalid_changes_are_errors() {
        let error = |text: &str, name: &str, change: Change<'_>, trust: Trust| {
            edit(Path::new("f.toml"), text, name, change, trust).unwrap_err().0
        };
        let set = |name, value| error("", name, Change::Set(value), Trust::User);
        assert!(set("limit.lines", "7").contains("did you mean \"limits.lines\"?"));
        assert!(set("limits.lines", "few").contains("expected a positive size"));
        assert!(set("tools.bash.profile", "x").contains("unknown key"));
        assert!(
            error("", "enabled", Change::Set("false"), Trust::Project).contains("a project file cannot set")
        );
        assert!(error("x = ", "task", Change::Set("true"), Trust::User).contains("f.toml: invalid TOML"));
        assert!(error("y = 1", "task", Change::Set("true"), Trust::User).contains("f.toml:1: unknown key"));
    }
}
