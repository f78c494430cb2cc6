//! Edits settings in JSON, with or without comments. All other bytes of the file stay the same.

use super::edit::{Edit, EditTarget, EditedText, Presence};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstContainerNode, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

/// Some editors write this at the beginning of a file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(super) fn apply(text: &str, edits: &[Edit]) -> Result<EditedText, String> {
    let (mark, text) = split_mark(text);
    let root = parse(text)?;
    let mut warnings = Vec::new();
    for edit in edits {
        match edit.presence {
            Presence::Absent => undo_one(&root, edit),
            Presence::Present if apply_one(&root, edit) => {}
            Presence::Present => warnings.push(edit.conflict()),
        }
    }
    Ok(EditedText { text: format!("{mark}{root}"), warnings })
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

/// The JSON of the value that offcut wrote for an edit.
pub(super) fn find(text: &str, edit: &Edit) -> Option<String> {
    let root = parse(split_mark(text).1).ok()?;
    let mut object = root.object_value()?;
    let (last, path) = split_path(edit);
    for key in path {
        object = object.object_value(key)?;
    }
    let values = match (&edit.target, last) {
        (EditTarget::Element(_), Some(last)) => object.array_value(last)?.elements(),
        (EditTarget::Member { key, .. }, _) => object.get(key)?.value().into_iter().collect(),
        (EditTarget::Element(_), None) => Vec::new(),
    };
    values.iter().map(CstNode::to_string).find(|value| edit.is_from_offcut(value))
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

/// Makes an edit. Returns false if another value is in the way.
fn apply_one(root: &CstRootNode, edit: &Edit) -> bool {
    let Some(mut object) = root.object_value() else { return false };
    let (last, path) = split_path(edit);
    for key in path {
        match object.object_value_or_create(key) {
            Some(inner) => object = inner,
            None => return false,
        }
    }
    match (&edit.target, last) {
        (EditTarget::Element(value), Some(last)) => {
            object.array_value_or_create(last).is_some_and(|array| put_element(&array, value, edit))
        }
        (EditTarget::Member { key, value }, _) => put_member(&object, key, value, edit),
        (EditTarget::Element(_), None) => false,
    }
}

/// The key of the array that has the element, and the keys of the objects around it.
fn split_path(edit: &Edit) -> (Option<&'static str>, &[&'static str]) {
    match (&edit.target, edit.path.split_last()) {
        (EditTarget::Element(_), Some((last, path))) => (Some(*last), path),
        _ => (None, edit.path.as_slice()),
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
    let is_from_offcut = edit.is_from_offcut(&text);
    if is_from_offcut {
        found.set_value(input(value));
    }
    is_from_offcut
}

fn put_element(array: &CstArray, value: &Value, edit: &Edit) -> bool {
    let own = array.elements().into_iter().find(|element| edit.is_from_offcut(&element.to_string()));
    match own {
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

/// Whether an element has this value, regardless of its formatting.
fn is_same(element: &CstNode, value: &Value) -> bool {
    serde_json::from_str::<Value>(&element.to_string()).is_ok_and(|found| found == *value)
}

fn undo_one(root: &CstRootNode, edit: &Edit) {
    let Some(mut object) = root.object_value() else { return };
    let mut inside = Vec::new();
    let (last, path) = split_path(edit);
    for key in path {
        let Some(inner) = object.object_value(key) else { return };
        inside.push(std::mem::replace(&mut object, inner));
    }
    match (&edit.target, last) {
        (EditTarget::Member { key, .. }, _) => {
            let own = object
                .get(key)
                .filter(|found| found.value().is_some_and(|value| edit.is_from_offcut(&value.to_string())));
            match own {
                Some(found) => found.remove(),
                None => return,
            }
        }
        (EditTarget::Element(_), Some(last)) => {
            let Some(array) = object.array_value(last) else { return };
            let elements = array.elements();
            let (own, _): (Vec<_>, Vec<_>) =
                elements.into_iter().partition(|found| edit.is_from_offcut(&found.to_string()));
            if own.is_empty() {
                return;
            }
            own.into_iter().for_each(CstNode::remove);
            if array.elements().is_empty() {
                remove_parent(array.parent());
            }
        }
        (EditTarget::Element(_), None) => return,
    }
    // Remove objects that are empty now: offcut created them, or they had no effect.
    while object.properties().is_empty()
        && let Some(outer) = inside.pop()
    {
        remove_parent(object.parent());
        object = outer;
    }
}

/// Removes the member that has this value.
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
