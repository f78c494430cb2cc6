//! What becomes of an output: what the model gets, and where the rest is.

use crate::cut::{Gap, Size};
use crate::limits::{PerUnit, Unit};
pub use crate::render::Placed;
use crate::report::OutputReport;
use crate::store::{Entry, Id};
use std::borrow::Cow;

/// What becomes of an output.
///
/// [`text`](Outcome::text) is what the model gets in every case.
///
/// ```
/// use offcut::{Context, Outcome, Profile, Truncator};
///
/// let truncator = Truncator::new(Profile::native());
/// let outcome = truncator.apply("short\n", &Context::default());
/// assert!(matches!(outcome, Outcome::Passed(_)));
/// assert_eq!(outcome.text(), "short\n");
/// ```
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

    /// The same outcome without a borrow of the output, for a caller on another thread.
    pub fn into_owned(self) -> Outcome<'static> {
        match self {
            Outcome::Passed(content) => Outcome::Passed(Cow::Owned(content.into_owned())),
            Outcome::StillRunning(preview) => Outcome::StillRunning(preview),
            Outcome::Described(preview) => Outcome::Described(preview),
            Outcome::Truncated(preview) => Outcome::Truncated(preview),
        }
    }

    /// The outcome in the form that programs read: `--format json` of the command line, as a value to serialize.
    ///
    /// ```
    /// use offcut::{Context, Profile, Truncator};
    ///
    /// let truncator = Truncator::new(Profile::native());
    /// let outcome = truncator.apply("two\nlines\n", &Context::tool("bash"));
    /// let report = serde_json::to_value(outcome.report()).unwrap();
    /// assert_eq!(report["content"], "two\nlines\n");
    /// assert_eq!(report["truncated"], false);
    /// assert_eq!(report["original"]["lines"], 2);
    /// ```
    pub fn report(&self) -> OutputReport<'_> {
        OutputReport::new(self)
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
///
/// ```
/// use offcut::{Context, Profile, Truncator, limits::Unit};
///
/// let truncator = Truncator::new(Profile::native());
/// let output = "a line\n".repeat(100_000);
/// let outcome = truncator.apply(&output, &Context::default());
/// let preview = outcome.preview().expect("it is too long");
/// assert_eq!(preview.original().lines, 100_000);
/// assert_eq!(preview.shown().lines + preview.removed().lines, 100_000);
/// assert_eq!(preview.limited_by(), Unit::Bytes);
/// ```
#[derive(Clone, Debug)]
pub struct Preview {
    pub(crate) content: Vec<u8>,
    pub(crate) placed: Vec<Placed>,
    pub(crate) original: Size,
    pub(crate) shown: Size,
    pub(crate) removed: PerUnit<Option<u64>>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) limited_by: Unit,
    pub(crate) saved: Saved,
}

impl Preview {
    /// What to show: parts of the original, and notices.
    pub fn content(&self) -> &[u8] {
        &self.content
    }

    /// What to show, without a copy.
    pub fn into_content(self) -> Vec<u8> {
        self.content
    }

    /// Which parts of the content are the original's, in order.
    pub fn placed(&self) -> &[Placed] {
        &self.placed
    }

    /// The size of the original.
    pub fn original(&self) -> Size {
        self.original
    }

    /// How much of the original is shown.
    pub fn shown(&self) -> Size {
        self.shown
    }

    /// What is not shown, in order.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The limit that was exceeded first.
    pub fn limited_by(&self) -> Unit {
        self.limited_by
    }

    /// What became of the whole output in the store.
    pub fn saved(&self) -> &Saved {
        &self.saved
    }

    /// The entry that has every byte of the output so far.
    pub fn entry(&self) -> Option<&Entry> {
        match &self.saved {
            Saved::Complete(entry) | Saved::Running(entry) => Some(entry),
            Saved::Failed { .. } | Saved::Disabled => None,
        }
    }

    /// How much is not shown, in the unit in which the profile counts, or as a custom strategy counted it.
    pub fn reported_removed(&self) -> PerUnit<Option<u64>> {
        self.removed
    }

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
///
/// ```
/// use offcut::{Context, Profile, Saved, Storage, Truncator, store::MemoryStore};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store));
/// let output = "a line\n".repeat(100_000);
/// let outcome = truncator.apply(&output, &Context::default());
/// match outcome.preview().expect("it is too long").saved() {
///     Saved::Complete(entry) => assert_eq!(entry.bytes, 700_000),
///     Saved::Running(_) => unreachable!("only Spool::pause leaves an output open"),
///     Saved::Failed { error, .. } => eprintln!("not stored: {error}"),
///     Saved::Disabled => eprintln!("no store is set"),
/// }
/// ```
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
