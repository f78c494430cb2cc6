//! What becomes of an output: what the model gets, and where the rest is.

use crate::cut::{Gap, Size};
use crate::limits::Unit;
use crate::render::Placed;
use crate::store::{Entry, Id};
use std::borrow::Cow;

/// What the model gets.
#[derive(Clone, Debug)]
pub enum Shown<'a> {
    /// The output fits: the same bytes.
    Whole(Cow<'a, [u8]>),
    /// The output is over a limit: a preview of it.
    Cut(Box<Preview>),
}

impl Shown<'_> {
    /// The bytes to show.
    pub fn content(&self) -> &[u8] {
        match self {
            Shown::Whole(content) => content,
            Shown::Cut(preview) => &preview.content,
        }
    }

    /// The preview, if the output was cut.
    pub fn preview(&self) -> Option<&Preview> {
        match self {
            Shown::Whole(_) => None,
            Shown::Cut(preview) => Some(preview),
        }
    }
}

/// A bounded preview of an output, and what is known about the rest.
#[derive(Clone, Debug)]
pub struct Preview {
    /// What to show: parts of the original and the text we add.
    pub content: Vec<u8>,
    /// Which parts of it are the original's, in order; the rest is ours.
    pub placed: Vec<Placed>,
    /// The size of the original.
    pub original: Size,
    /// How much of the original is shown.
    pub shown: Size,
    /// What of the original is not.
    pub gaps: Vec<Gap>,
    /// The limit that was exceeded first.
    pub limited_by: Unit,
    /// What became of the whole.
    pub kept: Kept,
}

impl Preview {
    /// How much is missing. A line that is shown in part is not missing.
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

/// What became of an output that is over the limits.
#[derive(Clone, Debug)]
pub enum Kept {
    /// Every byte is in the store.
    Whole(Box<Entry>),
    /// Every byte so far is in the store, and more may come.
    Open(Box<Entry>),
    /// Not every byte is, and why.
    NotWhole {
        /// What went wrong, for people and models.
        error: String,
        /// What was kept all the same.
        part: Option<Part>,
    },
    /// No store was asked for.
    Off,
}

/// The beginning of an output, which is all that could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The entry that holds it.
    pub id: Id,
    /// How many bytes it has.
    pub bytes: u64,
}
