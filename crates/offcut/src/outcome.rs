//! What becomes of an output: what the model gets, and where the rest is.

use crate::cut::{Gap, Size};
use crate::limits::Unit;
use crate::render::Placed;
use crate::store::{Entry, Id};
use std::borrow::Cow;

/// What becomes of an output.
#[derive(Clone, Debug)]
#[must_use]
pub enum Outcome<'a> {
    /// It fits: the same bytes.
    Passed(Cow<'a, [u8]>),
    /// It may still grow although its command has ended: a preview of what has come so far.
    StillRunning(Box<Preview>),
    /// It is not text: a description.
    Described(Box<Preview>),
    /// It is over a limit: a preview.
    Truncated(Box<Preview>),
}

impl Outcome<'_> {
    /// The bytes to show.
    pub fn content(&self) -> &[u8] {
        match self {
            Outcome::Passed(content) => content,
            Outcome::StillRunning(preview) | Outcome::Described(preview) | Outcome::Truncated(preview) => {
                &preview.content
            }
        }
    }

    /// The bytes to show as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> Cow<'_, str> {
        crate::measure::as_text(self.content())
    }

    /// The preview, unless the output passed as it came.
    pub fn preview(&self) -> Option<&Preview> {
        match self {
            Outcome::Passed(_) => None,
            Outcome::StillRunning(preview) | Outcome::Described(preview) | Outcome::Truncated(preview) => {
                Some(preview)
            }
        }
    }

    /// The preview, unless the output passed as it came.
    pub fn into_preview(self) -> Option<Box<Preview>> {
        match self {
            Outcome::Passed(_) => None,
            Outcome::StillRunning(preview) | Outcome::Described(preview) | Outcome::Truncated(preview) => {
                Some(preview)
            }
        }
    }
}

/// A bounded preview of an output, and what is known about the rest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Preview {
    /// What to show: parts of the original, and notices.
    pub content: Vec<u8>,
    /// Which parts of it are the original's, in order.
    pub placed: Vec<Placed>,
    /// The size of the original.
    pub original: Size,
    /// How much of the original is shown.
    pub shown: Size,
    /// What is not shown.
    pub gaps: Vec<Gap>,
    /// The limit that was exceeded first.
    pub limited_by: Unit,
    /// What became of the whole output.
    pub saved: Saved,
}

impl Preview {
    /// How much is not shown. A line that is shown in part counts as shown.
    pub fn removed(&self) -> Size {
        let less = |original: Option<u64>, shown: Option<u64>| Some(original?.saturating_sub(shown?));
        Size {
            bytes: self.original.bytes - self.shown.bytes,
            lines: self.original.lines.saturating_sub(self.shown.lines),
            chars: less(self.original.chars, self.shown.chars),
            tokens: less(self.original.tokens, self.shown.tokens),
        }
    }
}

/// What became of the whole output in the store.
#[derive(Clone, Debug)]
pub enum Saved {
    /// Every byte is in the store.
    Complete(Box<Entry>),
    /// Every byte so far is in the store, and more may come.
    Running(Box<Entry>),
    /// Not every byte is in the store.
    Failed {
        /// What went wrong, for people and models.
        error: String,
        /// The beginning, if that was stored.
        part: Option<StoredPart>,
    },
    /// No store is set.
    Disabled,
}

/// The beginning of an output, when only that could be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// The entry that contains it.
    pub id: Id,
    /// How many bytes it has.
    pub bytes: u64,
}
