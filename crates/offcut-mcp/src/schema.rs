//! What may be shortened in a value so that it still matches the schema that its tool advertises.
//!
//! No validator: a schema is followed as far as its words are known not to mind. Where any other word stands, the value
//! under it stays whole.

use offcut::json::Node;
use std::collections::BTreeMap;

/// The schema of one value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schema<'s> {
    /// Nothing is said of it.
    Open,
    /// This holds for it; references start at the root.
    Says { root: Node<'s>, here: Node<'s> },
    /// More is said than we know of.
    Frozen,
}

/// Words that never forbid a shorter value.
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

/// References followed in a row.
const REFERENCES: usize = 16;

impl<'s> Schema<'s> {
    pub(crate) fn new(root: Node<'s>) -> Schema<'s> {
        Schema::Says { root, here: root }
    }

    /// The part of the schema that speaks of this very value: references followed, the branch of its type chosen.
    fn settle(self, value: Node<'_>) -> Schema<'s> {
        let mut settled = self;
        for _ in 0..REFERENCES {
            let Schema::Says { root, here } = settled else { return settled };
            if here.is_true() {
                return Schema::Open;
            }
            if let Some(reference) = here.get("$ref") {
                settled =
                    match (allows(here, &["$ref"]), reference.text().and_then(|path| follow(root, &path))) {
                        (true, Some(here)) => Schema::Says { root, here },
                        _ => Schema::Frozen,
                    };
                continue;
            }
            let Some(branches) = here.get("anyOf").or_else(|| here.get("oneOf")) else { return settled };
            let fitting: Vec<Node<'s>> =
                branches.elements().into_iter().filter(|branch| may_hold(*branch, value)).collect();
            settled = match (allows(here, &["anyOf", "oneOf"]), fitting.as_slice()) {
                (true, &[here]) => Schema::Says { root, here },
                _ => Schema::Frozen,
            };
        }
        Schema::Frozen
    }

    /// The least characters that a string must keep; nothing if it must stay.
    pub(crate) fn least_text(self, value: Node<'_>) -> Option<usize> {
        match self.settle(value) {
            Schema::Open => Some(0),
            Schema::Says { here, .. } if allows(here, &["minLength", "maxLength"]) => {
                Some(number(here, "minLength").unwrap_or(0))
            }
            Schema::Says { .. } | Schema::Frozen => None,
        }
    }

    /// The least elements that an array must keep, if some may go, and the schema of each.
    pub(crate) fn elements(self, value: Node<'_>) -> (Option<usize>, Schema<'s>) {
        match self.settle(value) {
            Schema::Open => (Some(0), Schema::Open),
            Schema::Says { root, here }
                if allows(here, &["items", "minItems", "maxItems", "uniqueItems"]) =>
            {
                let least = number(here, "minItems").unwrap_or(0);
                // Two different texts can become the same one.
                let is_unique = here.get("uniqueItems").is_some_and(|unique| unique.is_true());
                let each = match here.get("items") {
                    _ if is_unique => Schema::Frozen,
                    Some(here) => Schema::Says { root, here },
                    None => Schema::Open,
                };
                (Some(least), each)
            }
            Schema::Says { .. } | Schema::Frozen => (None, Schema::Frozen),
        }
    }

    /// The schemas of the members of an object.
    pub(crate) fn members(self, value: Node<'_>) -> Members<'s> {
        match self.settle(value) {
            Schema::Says { root, here } if allows(here, OBJECT) => {
                let says = |here: Node<'s>| Schema::Says { root, here };
                let known = here.get("properties").map(|known| known.members()).unwrap_or_default();
                Members {
                    known: known.into_iter().map(|(name, here)| (name, says(here))).collect(),
                    others: here.get("additionalProperties").map_or(Schema::Open, says),
                }
            }
            Schema::Open => Members { known: BTreeMap::new(), others: Schema::Open },
            Schema::Says { .. } | Schema::Frozen => {
                Members { known: BTreeMap::new(), others: Schema::Frozen }
            }
        }
    }

    /// Whether an object may have one more member of this name, with any value.
    pub(crate) fn takes(self, value: Node<'_>, name: &str) -> bool {
        match self.settle(value) {
            Schema::Open => true,
            Schema::Says { here, .. } => {
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
}

impl<'s> Members<'s> {
    pub(crate) fn of(&self, name: &[u8]) -> Schema<'s> {
        self.known.get(name).copied().unwrap_or(self.others)
    }
}

const OBJECT: &[&str] = &["properties", "required", "additionalProperties", "minProperties", "maxProperties"];

/// Whether all that a schema says is harmless or among these words.
fn allows(schema: Node<'_>, words: &[&str]) -> bool {
    schema.is_object()
        && schema
            .members()
            .iter()
            .all(|(key, _)| HARMLESS.iter().chain(words).any(|known| known.as_bytes() == key.as_slice()))
}

/// Whether a branch could be the one for a value, by its type alone.
fn may_hold(branch: Node<'_>, value: Node<'_>) -> bool {
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
