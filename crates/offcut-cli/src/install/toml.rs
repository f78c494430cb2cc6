//! Settings in TOML: everything that is not ours keeps its place and its bytes.

use super::edit::{Edit, Edited, What, Wish};
use serde_json::Value;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike};

pub(super) fn make(text: &str, edits: &[Edit]) -> Result<Edited, String> {
    let mut remarks = Vec::new();
    let text = edited(text, |table| {
        for edit in edits {
            match edit.wish {
                Wish::Gone => drop(undo_one(table, &edit.path, edit)),
                Wish::There if make_one(table, &edit.path, edit) => {}
                Wish::There => remarks.push(edit.is_taken()),
            }
        }
    })?;
    Ok(Edited { text, remarks })
}

pub(super) fn undo(text: &str, edits: &[Edit]) -> Result<String, String> {
    edited(text, |table| {
        for edit in edits.iter().rev() {
            undo_one(table, &edit.path, edit);
        }
    })
}

/// The text after a change, with the line ends that it has; the very text if nothing has changed.
fn edited(text: &str, change: impl FnOnce(&mut Table)) -> Result<String, String> {
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

fn make_one(table: &mut dyn TableLike, path: &[&'static str], edit: &Edit) -> bool {
    match (&edit.what, path) {
        (What::Member { key, value }, []) => put_member(table, key, value, edit),
        (What::Element(element), [last]) => put_element(table, last, element, edit),
        (_, [key, rest @ ..]) => {
            if !table.contains_key(key) {
                let mut inner = Table::new();
                // Only what has members of its own gets a heading.
                inner.set_implicit(true);
                table.insert(key, Item::Table(inner));
            }
            table
                .get_mut(key)
                .and_then(Item::as_table_like_mut)
                .is_some_and(|inner| make_one(inner, rest, edit))
        }
        (What::Element(_), []) => false,
    }
}

fn put_member(table: &mut dyn TableLike, key: &str, wanted: &Value, edit: &Edit) -> bool {
    match table.get(key).map(meaning) {
        Some(found) if found == *wanted => true,
        Some(found) if !edit.is_ours(&found.to_string()) => false,
        _ => {
            table.insert(key, Item::Value(scalar(wanted)));
            true
        }
    }
}

fn put_element(table: &mut dyn TableLike, key: &str, wanted: &Value, edit: &Edit) -> bool {
    if !table.contains_key(key) {
        table.insert(key, Item::ArrayOfTables(ArrayOfTables::new()));
    }
    let Some(item) = table.get_mut(key) else { return false };
    let Value::Array(found) = meaning(item) else { return false };
    let ours = found.iter().position(|element| edit.is_ours(&element.to_string()));
    match (ours, item) {
        (Some(index), _) if found.get(index) == Some(wanted) => true,
        (Some(index), Item::ArrayOfTables(tables)) => {
            tables.get_mut(index).map(|found| *found = as_table(wanted)).is_some()
        }
        (None, Item::ArrayOfTables(tables)) => {
            tables.push(as_table(wanted));
            true
        }
        (Some(index), Item::Value(toml_edit::Value::Array(array))) => {
            array.replace(index, scalar(wanted));
            true
        }
        (None, Item::Value(toml_edit::Value::Array(array))) => {
            array.push(scalar(wanted));
            true
        }
        _ => false,
    }
}

/// Takes out what is ours, and what nothing else was in; whether there was anything.
fn undo_one(table: &mut dyn TableLike, path: &[&'static str], edit: &Edit) -> bool {
    match (&edit.what, path) {
        (What::Member { key, .. }, []) => {
            let is_ours = table.get(key).is_some_and(|found| edit.is_ours(&meaning(found).to_string()));
            is_ours && table.remove(key).is_some()
        }
        (What::Element(_), [last]) => {
            let (before, after) = match table.get_mut(last) {
                Some(Item::ArrayOfTables(tables)) => {
                    let before = tables.len();
                    tables.retain(|found| !edit.is_ours(&meaning_of_table(found).to_string()));
                    (before, tables.len())
                }
                Some(Item::Value(toml_edit::Value::Array(array))) => {
                    let before = array.len();
                    array.retain(|found| !edit.is_ours(&found.to_string()));
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
        (What::Element(_), []) => false,
    }
}

/// What an item says, whatever it looks like.
fn meaning(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => meaning_of_value(value),
        Item::Table(table) => meaning_of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| meaning_of_table(table)).collect(),
    }
}

fn meaning_of_table(table: &dyn TableLike) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), meaning(item))).collect())
}

fn meaning_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(is_true) => (*is_true.value()).into(),
        toml_edit::Value::Array(array) => array.iter().map(meaning_of_value).collect(),
        toml_edit::Value::InlineTable(table) => meaning_of_table(table),
        // Nothing of ours is a fraction or a date.
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
            member => Item::Value(scalar(member)),
        };
        table.insert(key, item);
    }
    table
}

fn scalar(wanted: &Value) -> toml_edit::Value {
    match wanted {
        Value::Bool(is_true) => (*is_true).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => toml_edit::Value::Array(elements.iter().map(scalar).collect::<Array>()),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.as_str(), scalar(member)));
            toml_edit::Value::InlineTable(members.collect::<InlineTable>())
        }
        // There is no such thing in TOML, and nothing of ours is one.
        Value::Null => "".into(),
    }
}
