//! Edits settings in TOML. All other bytes of the file stay the same.

use super::edit::{Edit, EditTarget, EditedText, Presence};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

pub(super) fn apply(text: &str, edits: &[Edit]) -> Result<EditedText, String> {
    let mut warnings = Vec::new();
    let text = edit_text(text, |table| {
        for edit in edits {
            match edit.presence {
                Presence::Absent => drop(undo_one(table, &edit.path, edit)),
                Presence::Present if apply_one(table, &edit.path, edit) => {}
                Presence::Present => warnings.push(edit.conflict()),
            }
        }
    })?;
    Ok(EditedText { text, warnings })
}

pub(super) fn undo(text: &str, edits: &[Edit]) -> Result<String, String> {
    edit_text(text, |table| {
        for edit in edits.iter().rev() {
            undo_one(table, &edit.path, edit);
        }
    })
}

/// The value that offcut wrote for an edit, as JSON.
pub(super) fn find(text: &str, edit: &Edit) -> Option<String> {
    let document: DocumentMut = text.parse().ok()?;
    let mut item = document.as_item();
    for key in &edit.path {
        item = item.get(key)?;
    }
    let values = match (&edit.target, value_of(item)) {
        (EditTarget::Element(_), Value::Array(elements)) => elements,
        (EditTarget::Member { key, .. }, _) => vec![value_of(item.get(key)?)],
        (EditTarget::Element(_), _) => Vec::new(),
    };
    values.iter().map(Value::to_string).find(|value| edit.is_from_offcut(value))
}

/// Applies a change and keeps the line endings. Returns the same text if nothing has changed.
fn edit_text(text: &str, change: impl FnOnce(&mut Table)) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let before = document.to_string();
    change(document.as_table_mut());
    let after = document.to_string();
    Ok(match (after == before, text.contains("\r\n")) {
        (true, _) => text.to_owned(),
        (false, false) => after,
        (false, true) => after.replace("\r\n", "\n").replace('\n', "\r\n"),
    })
}

fn apply_one(table: &mut dyn TableLike, path: &[&'static str], edit: &Edit) -> bool {
    match (&edit.target, path) {
        (EditTarget::Member { key, value }, []) => put_member(table, key, value, edit),
        (EditTarget::Element(element), [last]) => put_element(table, last, element, edit),
        (_, [key, rest @ ..]) => {
            if !table.contains_key(key) {
                let mut inner = Table::new();
                // A table without members of its own needs no header.
                inner.set_implicit(true);
                table.insert(key, Item::Table(inner));
            }
            table
                .get_mut(key)
                .and_then(Item::as_table_like_mut)
                .is_some_and(|inner| apply_one(inner, rest, edit))
        }
        (EditTarget::Element(_), []) => false,
    }
}

fn put_member(table: &mut dyn TableLike, key: &str, wanted: &Value, edit: &Edit) -> bool {
    match table.get(key).map(value_of) {
        Some(found) if found == *wanted => true,
        Some(found) if !edit.is_from_offcut(&found.to_string()) => false,
        _ => {
            table.insert(key, Item::Value(toml_value(wanted)));
            true
        }
    }
}

fn put_element(table: &mut dyn TableLike, key: &str, wanted: &Value, edit: &Edit) -> bool {
    if !table.contains_key(key) {
        table.insert(key, Item::ArrayOfTables(ArrayOfTables::new()));
    }
    let Some(item) = table.get_mut(key) else { return false };
    let Value::Array(found) = value_of(item) else { return false };
    let own = found.iter().position(|element| edit.is_from_offcut(&element.to_string()));
    match (own, item) {
        (Some(index), _) if found.get(index) == Some(wanted) => true,
        (Some(index), Item::ArrayOfTables(tables)) => {
            tables.get_mut(index).map(|found| *found = as_table(wanted)).is_some()
        }
        (None, Item::ArrayOfTables(tables)) => {
            tables.push(as_table(wanted));
            true
        }
        (Some(index), Item::Value(toml_edit::Value::Array(array))) => {
            array.replace(index, toml_value(wanted));
            true
        }
        (None, Item::Value(toml_edit::Value::Array(array))) => {
            array.push(toml_value(wanted));
            true
        }
        _ => false,
    }
}

/// Removes a setting of offcut and the tables that are empty then. Returns whether there was one.
fn undo_one(table: &mut dyn TableLike, path: &[&'static str], edit: &Edit) -> bool {
    match (&edit.target, path) {
        (EditTarget::Member { key, .. }, []) => {
            let is_from_offcut =
                table.get(key).is_some_and(|found| edit.is_from_offcut(&value_of(found).to_string()));
            is_from_offcut && table.remove(key).is_some()
        }
        (EditTarget::Element(_), [last]) => {
            let (before, after) = match table.get_mut(last) {
                Some(Item::ArrayOfTables(tables)) => {
                    let before = tables.len();
                    tables.retain(|found| !edit.is_from_offcut(&value_of_table(found).to_string()));
                    (before, tables.len())
                }
                Some(Item::Value(toml_edit::Value::Array(array))) => {
                    let before = array.len();
                    array.retain(|found| !edit.is_from_offcut(&found.to_string()));
                    (before, array.len())
                }
                _ => return false,
            };
            if after == 0 && before > 0 {
                table.remove(last);
            }
            after < before
        }
        (_, [key, rest @ ..]) => {
            let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) else { return false };
            let is_undone = undo_one(inner, rest, edit);
            if is_undone && inner.is_empty() {
                table.remove(key);
            }
            is_undone
        }
        (EditTarget::Element(_), []) => false,
    }
}

/// The value of an item, regardless of its formatting.
fn value_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_of_value(value),
        Item::Table(table) => value_of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| value_of_table(table)).collect(),
    }
}

fn value_of_table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), value_of(item))).collect())
}

fn value_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(is_true) => (*is_true.value()).into(),
        toml_edit::Value::Array(array) => array.iter().map(value_of_value).collect(),
        toml_edit::Value::InlineTable(table) => value_of_table(table),
        // offcut writes no fractions or dates.
        other => other.to_string().trim().into(),
    }
}

fn as_table(wanted: &Value) -> Table {
    let mut table = Table::new();
    for (key, member) in wanted.as_object().into_iter().flatten() {
        let item = match member {
            Value::Array(elements) if elements.iter().all(Value::is_object) => {
                let mut tables = ArrayOfTables::new();
                elements.iter().for_each(|element| tables.push(as_table(element)));
                Item::ArrayOfTables(tables)
            }
            member => Item::Value(toml_value(member)),
        };
        table.insert(key, item);
    }
    table
}

fn toml_value(wanted: &Value) -> toml_edit::Value {
    match wanted {
        Value::Bool(is_true) => (*is_true).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => toml_edit::Value::Array(elements.iter().map(toml_value).collect::<Array>()),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.as_str(), toml_value(member)));
            toml_edit::Value::InlineTable(members.collect::<InlineTable>())
        }
        // TOML has no null, and offcut writes none.
        Value::Null => "".into(),
    }
}
