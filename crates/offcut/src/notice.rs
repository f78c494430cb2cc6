//! The lines that offcut adds to a text.
//!
//! A preview begins with how much is shown and where the whole output is, says in place of each gap what is not shown,
//! and ends with how to read more:
//!
//! ```text
//! [offcut: 138 of 797 lines shown (8 of 61 kB); nothing is lost: /home/you/.local/share/offcut/1q2hzv0gep704m32.txt]
//! ...
//! [offcut: lines 303:961 not shown]
//! ...
//! [offcut 1q2hzv0gep: exit 0 after 2.5 s; more: offcut read 1q2hzv0gep --lines 303:502, or offcut grep PATTERN 1q2hzv0gep]
//! ```
//!
//! A page, a search and a listing end with such a line too. [`Notice`] writes each of these lines with `Display` and reads
//! it back with [`Notice::parse`], so the wording is in `display` alone. Ranges have the form that `offcut read` accepts.
//!
//! What a strategy writes in place of a gap is not a notice but a mark: inside a JSON text only a value is valid.
//!
//! A tool can print a line that looks like a notice. A real one is recognised by its [`Tag`]: it is either text that the
//! output does not contain or the id of an entry that exists.

mod display;
mod parse;

pub(crate) use display::CONTROL_NOT_SHOWN;

use crate::cut::{Gap, GapReason, LinePosition};
use crate::store::{Entry, EntryState, Id};

/// One line that offcut adds to a text, without its line feed.
///
/// ```
/// use offcut::notice::{Message, Notice, Tag};
///
/// let marker = Notice { tag: Tag::Plain, message: Message::Lines { first: 303, last: 961, contents: String::new() } };
/// assert_eq!(marker.to_string(), "[offcut: lines 303:961 not shown]");
/// assert_eq!(Notice::parse("[offcut: lines 303:961 not shown]"), Some(marker));
/// assert_eq!(Notice::parse("[warning: lines 303:961 not shown]"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What tells the notice from the output around it.
    pub tag: Tag,
    /// What it says.
    pub message: Message,
}

/// What tells a notice from the output around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Nothing, for markers of an outline that contains no similar line.
    None,
    /// `offcut`, if the output contains no line that begins like a notice.
    Plain,
    /// `offcut-a`: like [`Tag::Plain`], for an output that contains `[offcut:`.
    Variant(char),
    /// `offcut 1q2hzv0gep`: the id of the stored output, or the beginning of it.
    Entry(String),
}

/// What a notice says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// The first line of a preview.
    Header {
        /// How much of the output is shown.
        shown: Amount,
        /// How much there is.
        total: Amount,
        /// What else is worth saying about the output, such as `212 matches in 14 files`.
        details: Vec<String>,
        /// Where the whole output is.
        place: Place,
    },
    /// The one line of a small preview: how much is not shown, and how to get it.
    Rest {
        /// How much is not shown.
        count: Count,
        /// What else is worth saying about the output; nothing if empty.
        detail: String,
        /// How to read it, or why that is not possible.
        access: Access,
    },
    /// The one line of a small preview that shows everything but terminal control.
    Control(Access),
    /// How much is not shown in a gap of a small preview.
    Count(Count),
    /// A gap of whole lines.
    Lines {
        /// The first line that is not shown.
        first: u64,
        /// The last one.
        last: u64,
        /// What they contain, such as `2 hunks, +9 -4`; nothing if empty.
        contents: String,
    },
    /// A gap of lines that are like lines that are shown.
    Similar {
        /// The first line that is not shown.
        first: u64,
        /// The last one.
        last: u64,
        /// The range of the number in which they differ, such as `score 0…9987`; nothing if empty.
        contents: String,
    },
    /// A gap that begins or ends inside a line.
    Bytes {
        /// The offset of the first byte that is not shown.
        start: u64,
        /// The offset after the last one.
        end: u64,
        /// The line that contains the gap, if it is a single one.
        line: Option<u64>,
        /// What they contain, such as `12 elements`; nothing if empty.
        contents: String,
    },
    /// A custom strategy returned its own text for these lines.
    ChosenFrom {
        /// The first line.
        first: u64,
        /// The last line.
        last: u64,
    },
    /// The preview of an output that is not text.
    Binary {
        /// What it is, such as `image/png`; nothing if unknown.
        media_type: Option<String>,
        /// How large it is.
        bytes: u64,
        /// Where it is.
        place: Place,
    },
    /// The structured content of an MCP result is shortened.
    Structure {
        /// How many bytes it has.
        bytes: u64,
        /// What is not shown, such as `14699 of 15000 items`; nothing if empty.
        not_shown: String,
        /// How to read the rest, or why that is not possible.
        access: Access,
    },
    /// The last line: how the command ended, and how to read more.
    Footer {
        /// How the command ended, such as `exit 0 after 2.5 s`.
        status: Option<String>,
        /// Whether the command is still printing.
        running: Option<Running>,
        /// How to read more.
        more: Option<String>,
    },
    /// How far a command is whose output is withheld.
    Progress {
        /// For how many seconds it has been running.
        seconds: u64,
        /// How many lines it has printed.
        lines: u64,
        /// The last of them; nothing if empty.
        last: String,
    },
    /// The end of a page that a reader asked for, when the output goes on.
    Page {
        /// The offset after the last byte of the page.
        end: u64,
        /// How many bytes the output has.
        total: u64,
        /// How to read on.
        more: String,
    },
    /// The entry that is read does not have the whole output.
    Incomplete {
        /// The state of the entry.
        state: EntryState,
        /// How many bytes it has.
        bytes: u64,
    },
    /// Bytes that were read are not those that were stored.
    Modified {
        /// The offset of the first byte that cannot be trusted.
        start: u64,
        /// The offset after the last one.
        end: u64,
    },
    /// A search did not cover the whole output.
    Searched {
        /// How many bytes were searched.
        bytes: u64,
        /// Why not all.
        reason: String,
    },
    /// A search did not cover several outputs as a whole.
    SearchedInPart {
        /// How many.
        outputs: usize,
    },
    /// The end of the result of a search.
    Matches {
        /// How many of the lines that match are shown.
        shown: u64,
        /// How many lines match.
        total: u64,
    },
    /// The end of a list of stored outputs.
    Listing {
        /// How many are listed.
        shown: usize,
        /// How many there are.
        total: usize,
    },
}

/// An amount of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Lines.
    pub lines: u64,
    /// Bytes. They are written in kB, MB or GB if there are many.
    pub bytes: u64,
}

/// How much is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Whole lines.
    Lines(u64),
    /// Bytes, where no whole line is missing.
    Bytes(u64),
}

/// Whether an output that is still being printed is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Running {
    /// What it prints later is added to the stored output.
    Stored,
    /// It is not.
    NotStored {
        /// Why; nothing if empty.
        reason: String,
    },
}

/// Where the whole output is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// All of it is here.
    Stored(String),
    /// All of it so far is here; more may come.
    Growing(String),
    /// All that was received is here; a part may have been lost before.
    Incomplete(String),
    /// All of it is here, on this machine alone, because the shared store could not be reached.
    LocalOnly {
        /// Where.
        location: String,
        /// Why; nothing if empty.
        reason: String,
    },
    /// Only the beginning was stored.
    Beginning {
        /// How many bytes were stored.
        bytes: u64,
        /// Why not all; nothing if empty.
        reason: String,
    },
    /// It was not stored.
    NotStored {
        /// Why; nothing if empty.
        reason: String,
    },
}

/// How a reader gets what a small preview does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// By this command, path or URI.
    By(String),
    /// Not at all.
    NotStored {
        /// Why; nothing if empty.
        reason: String,
    },
}

impl Tag {
    /// The first tag that occurs in none of `texts`, so that none of them can be taken for a notice.
    ///
    /// A text that contains every tag gets the last one; its real notices are still known by the id of the entry.
    pub fn unused_in<'a>(texts: impl Iterator<Item = &'a [u8]> + Clone) -> Tag {
        let tags = std::iter::once(Tag::Plain).chain(('a'..='z').map(Tag::Variant));
        let is_used = |tag: &Tag| {
            let beginning = format!("[{tag}");
            texts.clone().any(|text| memchr::memmem::find(text, beginning.as_bytes()).is_some())
        };
        // Every tag begins with the plain one: a text without that contains none.
        tags.clone().find(|tag| !is_used(tag)).unwrap_or(Tag::Variant('z'))
    }
}

impl Notice {
    /// A notice that names the entry it is about.
    pub fn of_entry(id: &Id, message: Message) -> Notice {
        Notice { tag: Tag::Entry(id.short().to_owned()), message }
    }

    /// The id, or the beginning of the id, of the stored output that the notice names.
    pub fn entry(&self) -> Option<&str> {
        if let Tag::Entry(id) = &self.tag {
            return Some(id);
        }
        let location = match &self.message {
            Message::Header { place, .. } | Message::Binary { place, .. } => match place {
                Place::Stored(location)
                | Place::Growing(location)
                | Place::Incomplete(location)
                | Place::LocalOnly { location, .. } => location,
                Place::Beginning { .. } | Place::NotStored { .. } => return None,
            },
            Message::Rest { access: Access::By(access), .. } | Message::Control(Access::By(access)) => access,
            _ => return None,
        };
        let name = location.rsplit('/').next().unwrap_or(location);
        let name = name.split_once('.').map_or(name, |(stem, _)| stem);
        Id::is_prefix(name).then_some(name)
    }
}

impl Message {
    /// What is not shown at a gap.
    pub fn gap(gap: &Gap) -> Message {
        let Gap { start, end, first_line: first, last_line: last, .. } = *gap;
        let contents = String::new();
        match gap.why {
            GapReason::Opaque => Message::ChosenFrom { first, last },
            GapReason::Line => Message::Bytes { start, end, line: Some(first), contents },
            _ if (first < last && !gap.is_of_whole_lines()) || gap.from == LinePosition::Inside => {
                Message::Bytes { start, end, line: None, contents }
            }
            GapReason::Repeated if first < last => Message::Similar { first, last, contents },
            _ => Message::Lines { first, last, contents },
        }
    }

    /// What a reader of the entry must know if it does not have the whole output.
    pub fn incomplete(entry: &Entry) -> Option<Message> {
        let Entry { state, bytes, .. } = entry;
        (*state != EntryState::Complete).then(|| Message::Incomplete { state: state.clone(), bytes: *bytes })
    }

    /// What a reader must know about a search of `bytes` bytes of an entry in this state.
    #[cfg(feature = "search")]
    pub(crate) fn searched(state: &EntryState, bytes: u64) -> Option<Message> {
        let reason = match (state, state.reason()) {
            (EntryState::Complete, _) => return None,
            (EntryState::Unsupported { .. }, Some(reason)) => reason.to_owned(),
            (_, Some(reason)) => format!("{}, {reason}", state.as_str()),
            (_, None) => "still being written".to_owned(),
        };
        Some(Message::Searched { bytes, reason })
    }
}
