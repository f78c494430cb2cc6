//! Changes to a settings file that can be made, recognised and undone, for all formats.

use serde_json::Value;

/// One setting in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    /// The keys of the objects around the setting.
    pub(crate) path: Vec<&'static str>,
    pub(crate) target: EditTarget,
    pub(crate) presence: Presence,
    /// A text that identifies values written by offcut.
    pub(crate) signature: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EditTarget {
    /// A member of an object. A value that was not written by offcut stays.
    Member { key: String, value: Value },
    /// An element of an array, after the existing ones.
    Element(Value),
}

/// Whether the setting is wanted. Settings of the other installation method are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Present,
    Absent,
}

/// A changed text, and warnings about settings that could not be changed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EditedText {
    pub(crate) text: String,
    pub(crate) warnings: Vec<String>,
}

impl Edit {
    /// A member of the object at `path`.
    pub(crate) fn member(path: &[&'static str], key: &str, value: impl Into<Value>, signature: &str) -> Edit {
        let target = EditTarget::Member { key: key.to_owned(), value: value.into() };
        Edit { path: path.to_vec(), target, presence: Presence::Present, signature: signature.to_owned() }
    }

    /// An element of the array at `path`.
    pub(crate) fn element(path: &[&'static str], value: impl Into<Value>, signature: &str) -> Edit {
        let target = EditTarget::Element(value.into());
        Edit { path: path.to_vec(), target, presence: Presence::Present, signature: signature.to_owned() }
    }

    /// The same setting, wanted or not.
    pub(crate) fn with_presence(self, presence: Presence) -> Edit {
        Edit { presence, ..self }
    }

    /// Whether a value was written by offcut.
    pub(super) fn is_from_offcut(&self, value: &str) -> bool {
        value.contains(&self.signature)
    }

    /// The full name of the setting.
    pub(super) fn name(&self) -> String {
        let key = match &self.target {
            EditTarget::Member { key, .. } => Some(key.as_str()),
            EditTarget::Element(_) => None,
        };
        self.path.iter().copied().chain(key).collect::<Vec<_>>().join(".")
    }

    /// The warning that another value is in the way.
    pub(super) fn conflict(&self) -> String {
        format!("{} already has another value; left unchanged", self.name())
    }
}
