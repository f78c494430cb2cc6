//! Decides what may be shortened in a value so that it still matches the schema that its tool advertises.
//!
//! This is not a validator: it follows the keywords for which shortening is known to be safe. Where a schema has any other
//! keyword, the value stays unchanged.

use crate::json::Node;
use std::collections::{BTreeMap, BTreeSet};

/// The schema of one value.
#[derive(Clone, Copy, Debug)]
pub enum Schema<'s> {
    /// There is no constraint.
    Open,
    /// `here` applies; references start at `root`.
    At {
        /// The whole schema.
        root: Node<'s>,
        /// The part of it for this value.
        here: Node<'s>,
    },
    /// It has unknown constraints: the value must not change.
    Frozen,
}

/// Keywords that never forbid a shorter value.
const HARMLESS: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "nullable",
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "definitions",
];

/// The most references that are followed in a row.
const REFERENCES: usize = 16;

impl<'s> Schema<'s> {
    /// The schema of a value that has to match all of `root`.
    pub fn new(root: Node<'s>) -> Schema<'s> {
        Schema::At { root, here: root }
    }

    /// The part of the schema for this value: follows references and chooses the branch for its type.
    fn resolve(self, value: Node<'_>) -> Schema<'s> {
        let mut resolved = self;
        for _ in 0..REFERENCES {
            let Schema::At { root, here } = resolved else { return resolved };
            if here.is_true() {
                return Schema::Open;
            }
            if let Some(reference) = here.get("$ref") {
                resolved =
                    match (allows(here, &["$ref"]), reference.text().and_then(|path| follow(root, &path))) {
                        (true, Some(here)) => Schema::At { root, here },
                        _ => Schema::Frozen,
                    };
                continue;
            }
            let Some(branches) = here.get("anyOf").or_else(|| here.get("oneOf")) else { return resolved };
            let branches: Vec<Node<'s>> =
                branches.elements().into_iter().filter(|branch| matches_type(*branch, value)).collect();
            resolved = match (allows(here, &["anyOf", "oneOf"]), branches.as_slice()) {
                (true, &[here]) => Schema::At { root, here },
                _ => Schema::Frozen,
            };
        }
        Schema::Frozen
    }

    /// The fewest characters that a string must keep; nothing if it must not change.
    pub fn least_text(self, value: Node<'_>) -> Option<usize> {
        match self.resolve(value) {
            Schema::Open => Some(0),
            Schema::At { here, .. } if allows(here, &["minLength", "maxLength"]) => {
                Some(number(here, "minLength").unwrap_or(0))
            }
            Schema::At { .. } | Schema::Frozen => None,
        }
    }

    /// The fewest elements that an array must keep, if some may be removed, and the schema of each.
    pub fn elements(self, value: Node<'_>) -> (Option<usize>, Schema<'s>) {
        match self.resolve(value) {
            Schema::Open => (Some(0), Schema::Open),
            Schema::At { root, here } if allows(here, &["items", "minItems", "maxItems", "uniqueItems"]) => {
                let least = number(here, "minItems").unwrap_or(0);
                // Two different strings can become equal when they are shortened.
                let is_unique = here.get("uniqueItems").is_some_and(|unique| unique.is_true());
                let each = match here.get("items") {
                    _ if is_unique => Schema::Frozen,
                    Some(here) => Schema::At { root, here },
                    None => Schema::Open,
                };
                (Some(least), each)
            }
            Schema::At { .. } | Schema::Frozen => (None, Schema::Frozen),
        }
    }

    /// The schemas of the members of an object.
    pub(crate) fn members(self, value: Node<'_>) -> Members<'s> {
        match self.resolve(value) {
            Schema::At { root, here } if allows(here, OBJECT) => {
                let at = |here: Node<'s>| Schema::At { root, here };
                let known = here.get("properties").map(|known| known.members()).unwrap_or_default();
                let required = here.get("required").map(|names| names.elements()).unwrap_or_default();
                Members {
                    known: known.into_iter().map(|(name, here)| (name, at(here))).collect(),
                    others: here.get("additionalProperties").map_or(Schema::Open, at),
                    required: required.iter().filter_map(Node::text).collect(),
                    least: Some(number(here, "minProperties").unwrap_or(0)),
                }
            }
            Schema::Open => Members { least: Some(0), others: Schema::Open, ..Members::FROZEN },
            Schema::At { .. } | Schema::Frozen => Members::FROZEN,
        }
    }

    /// Whether an object may have another member with this name and any value.
    pub fn takes(self, value: Node<'_>, name: &str) -> bool {
        match self.resolve(value) {
            Schema::Open => true,
            Schema::At { here, .. } => {
                allows(here, OBJECT)
                    && here.get("maxProperties").is_none()
                    && here.get("additionalProperties").is_none_or(|more| more.is_true())
                    && here.get("properties").and_then(|known| known.get(name)).is_none()
            }
            Schema::Frozen => false,
        }
    }
}

/// The schemas of the members of an object, by name.
pub(crate) struct Members<'s> {
    known: BTreeMap<Vec<u8>, Schema<'s>>,
    others: Schema<'s>,
    required: BTreeSet<Vec<u8>>,
    /// The fewest members that an object must keep; nothing if it must not change.
    pub(crate) least: Option<usize>,
}

impl<'s> Members<'s> {
    const FROZEN: Members<'s> =
        Members { known: BTreeMap::new(), others: Schema::Frozen, required: BTreeSet::new(), least: None };

    /// Whether readers may rely on the member: the schema names it.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.known.contains_key(name) || self.required.contains(name)
    }

    pub(crate) fn of(&self, name: &[u8]) -> Schema<'s> {
        self.known.get(name).copied().unwrap_or(self.others)
    }
}

const OBJECT: &[&str] = &["properties", "required", "additionalProperties", "minProperties", "maxProperties"];

/// Whether a schema has only harmless keywords and these.
fn allows(schema: Node<'_>, words: &[&str]) -> bool {
    schema.is_object()
        && schema
            .members()
            .iter()
            .all(|(key, _)| HARMLESS.iter().chain(words).any(|known| known.as_bytes() == key.as_slice()))
}

/// Whether the type of a branch matches a value.
fn matches_type(branch: Node<'_>, value: Node<'_>) -> bool {
    let is_kind = |kind: Node<'_>| match value.json().as_bytes().first() {
        Some(b'"') => kind.says("string"),
        Some(b'[') => kind.says("array"),
        Some(b'{') => kind.says("object"),
        Some(b'n') => kind.says("null"),
        Some(b't' | b'f') => kind.says("boolean"),
        _ => kind.says("number") || kind.says("integer"),
    };
    match branch.get("type") {
        Some(kinds) if kinds.is_array() => kinds.elements().into_iter().any(is_kind),
        Some(kind) => is_kind(kind),
        None => true,
    }
}

fn number(schema: Node<'_>, key: &str) -> Option<usize> {
    schema.get(key)?.json().parse().ok()
}

/// A reference inside the same schema: `#/$defs/Row`.
fn follow<'s>(root: Node<'s>, path: &[u8]) -> Option<Node<'s>> {
    let path = std::str::from_utf8(path).ok()?.strip_prefix('#')?;
    path.split('/')
        .filter(|step| !step.is_empty())
        .try_fold(root, |here, step| here.get(&step.replace("~1", "/").replace("~0", "~")))
}
