//! Changes to a settings file, in whatever format, that can be made, recognised and taken back.

use serde_json::Value;

/// One thing that we want to stand in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    /// The keys that lead to where it stands.
    pub(crate) path: Vec<&'static str>,
    pub(crate) what: What,
    pub(crate) wish: Wish,
    /// The text by which it is known to be ours.
    pub(crate) sign: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A member of the object there. Another value that is not ours stays.
    Member { key: String, value: Value },
    /// An element of the array there, behind what others have put there.
    Element(Value),
}

/// Whether something is to stand there. What belongs to another way of installing is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    There,
    Gone,
}

/// A file with our changes, and what could not be done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) remarks: Vec<String>,
}

impl Edit {
    /// Whether a value is one that we have put there.
    pub(super) fn is_ours(&self, value: &str) -> bool {
        value.contains(&self.sign)
    }

    /// Where it stands, for people.
    pub(super) fn place(&self) -> String {
        let key = match &self.what {
            What::Member { key, .. } => Some(key.as_str()),
            What::Element(_) => None,
        };
        self.path.iter().copied().chain(key).collect::<Vec<_>>().join(".")
    }

    pub(super) fn is_taken(&self) -> String {
        format!("{} already has another value; left unchanged", self.place())
    }
}
