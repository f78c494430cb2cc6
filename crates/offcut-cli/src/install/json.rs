//! Settings in JSON, also with comments: everything that is not ours keeps its place and its bytes.

use super::edit::{Edit, Edited, What, Wish};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

/// What some editors put before a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(super) fn make(text: &str, edits: &[Edit]) -> Result<Edited, String> {
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    let mut remarks = Vec::new();
    for edit in edits {
        match edit.wish {
            Wish::Gone => undo_one(&root, edit),
            Wish::There if make_one(&root, edit) => {}
            Wish::There => remarks.push(edit.is_taken()),
        }
    }
    Ok(Edited { text: format!("{mark}{root}"), remarks })
}

pub(super) fn undo(text: &str, edits: &[Edit]) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    for edit in edits.iter().rev() {
        undo_one(&root, edit);
    }
    Ok(format!("{mark}{root}"))
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let root = CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| error.to_string())?;
    match root.value() {
        None => root.set_value(CstInputValue::Object(Vec::new())),
        Some(value) if value.as_object().is_none() => return Err("expected a JSON object".to_owned()),
        Some(_) => {}
    }
    Ok(root)
}

/// Makes a change; false if something else stands in its way.
fn make_one(root: &CstRootNode, edit: &Edit) -> bool {
    let Some(mut object) = root.object_value() else { return false };
    let (last, path) = match (&edit.what, edit.path.split_last()) {
        (What::Element(_), Some((last, path))) => (Some(*last), path),
        _ => (None, edit.path.as_slice()),
    };
    for key in path {
        match object.object_value_or_create(key) {
            Some(inner) => object = inner,
            None => return false,
        }
    }
    match (&edit.what, last) {
        (What::Element(value), Some(last)) => {
            object.array_value_or_create(last).is_some_and(|array| put_element(&array, value, edit))
        }
        (What::Member { key, value }, _) => put_member(&object, key, value, edit),
        (What::Element(_), None) => false,
    }
}

fn put_member(object: &CstObject, key: &str, value: &Value, edit: &Edit) -> bool {
    let Some(found) = object.get(key) else {
        object.append(key, input(value));
        return true;
    };
    let text = found.value().map(|value| value.to_string()).unwrap_or_default();
    let wanted = value.to_string();
    if text == wanted {
        return true;
    }
    let is_ours = edit.is_ours(&text);
    if is_ours {
        found.set_value(input(value));
    }
    is_ours
}

fn put_element(array: &CstArray, value: &Value, edit: &Edit) -> bool {
    let ours = array.elements().into_iter().find(|element| edit.is_ours(&element.to_string()));
    match ours {
        None => {
            array.append(input(value));
        }
        Some(element) if is_same(&element, value) => {}
        Some(element) => {
            let index = element.element_index().unwrap_or_default();
            element.remove();
            array.insert(index, input(value));
        }
    }
    true
}

/// Whether an element says the same, however it is laid out.
fn is_same(element: &CstNode, value: &Value) -> bool {
    serde_json::from_str::<Value>(&element.to_string()).is_ok_and(|found| found == *value)
}

fn undo_one(root: &CstRootNode, edit: &Edit) {
    let Some(mut object) = root.object_value() else { return };
    let mut inside = Vec::new();
    let (last, path) = match (&edit.what, edit.path.split_last()) {
        (What::Element(_), Some((last, path))) => (Some(*last), path),
        _ => (None, edit.path.as_slice()),
    };
    for key in path {
        let Some(inner) = object.object_value(key) else { return };
        inside.push(std::mem::replace(&mut object, inner));
    }
    match (&edit.what, last) {
        (What::Member { key, .. }, _) => {
            let ours = object
                .get(key)
                .filter(|found| found.value().is_some_and(|value| edit.is_ours(&value.to_string())));
            match ours {
                Some(found) => found.remove(),
                None => return,
            }
        }
        (What::Element(_), Some(last)) => {
            let Some(array) = object.array_value(last) else { return };
            let elements = array.elements();
            let (ours, _): (Vec<_>, Vec<_>) =
                elements.into_iter().partition(|found| edit.is_ours(&found.to_string()));
            if ours.is_empty() {
                return;
            }
            ours.into_iter().for_each(CstNode::remove);
            if array.elements().is_empty() {
                remove_parent(array.parent());
            }
        }
        (What::Element(_), None) => return,
    }
    // What nothing but ours was in was made by us, or is as good as not there.
    while object.properties().is_empty()
        && let Some(outer) = inside.pop()
    {
        remove_parent(object.parent());
        object = outer;
    }
}

/// Removes the member whose value this was.
fn remove_parent(parent: Option<CstContainerNode>) {
    if let Some(member) = parent.and_then(|parent| parent.as_object_prop()) {
        member.remove();
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is_true) => CstInputValue::Bool(*is_true),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
