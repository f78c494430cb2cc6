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
//! [`Notice`] writes each of these lines with `Display` and reads it back with [`Notice::parse`], so the wording is in
//! this file alone. Ranges have the form that `offcut read` accepts.
//!
//! A tool can print a line that looks like a notice. A real one is recognised by its [`Tag`]: it is either text that the
//! output does not contain or the id of an entry that exists.

mod parse;

use std::fmt::{self, Display, Formatter};

/// One line that offcut adds to a text, without its line feed.
///
/// ```
/// use offcut::notice::{Message, Notice, Tag};
///
/// let marker = Notice { tag: Tag::Plain, message: Message::Lines { first: 303, last: 961 } };
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
    },
    /// A gap of lines that are like lines that are shown.
    Similar {
        /// The first line that is not shown.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// A gap that begins or ends inside a line.
    Bytes {
        /// The offset of the first byte that is not shown.
        start: u64,
        /// The offset after the last one.
        end: u64,
        /// The line that contains the gap, if it is a single one.
        line: Option<u64>,
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
        /// How to read all of it, or why that is not possible.
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
    /// The end of a page that a reader asked for, when the output goes on.
    Page {
        /// The offset after the last byte of the page.
        end: u64,
        /// How many bytes the output has.
        total: u64,
        /// How to read on.
        more: String,
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

/// How every tag begins.
const NAME: &str = "offcut";

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
    /// The id, or the beginning of the id, of the stored output that the notice names.
    pub fn entry(&self) -> Option<&str> {
        if let Tag::Entry(id) = &self.tag {
            return Some(id);
        }
        let location = match &self.message {
            Message::Header { place, .. } | Message::Binary { place, .. } => match place {
                Place::Stored(location) | Place::Growing(location) | Place::LocalOnly { location, .. } => {
                    location
                }
                Place::Beginning { .. } | Place::NotStored { .. } => return None,
            },
            Message::Rest { access: Access::By(access), .. } | Message::Control(Access::By(access)) => access,
            _ => return None,
        };
        let name = location.rsplit('/').next().unwrap_or(location);
        let name = name.split_once('.').map_or(name, |(stem, _)| stem);
        crate::store::Id::is_prefix(name).then_some(name)
    }
}

impl Display for Notice {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match &self.tag {
            Tag::None => write!(formatter, "[{}]", self.message),
            tag => write!(formatter, "[{tag}: {}]", self.message),
        }
    }
}

impl Display for Tag {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Tag::None => Ok(()),
            Tag::Plain => formatter.write_str(NAME),
            Tag::Variant(letter) => write!(formatter, "{NAME}-{letter}"),
            Tag::Entry(id) => write!(formatter, "{NAME} {id}"),
        }
    }
}

impl Display for Message {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Message::Header { shown, total, details, place } => {
                write_shown(formatter, *shown, *total)?;
                details.iter().try_for_each(|detail| write!(formatter, "; {detail}"))?;
                write!(formatter, "; {place}")
            }
            Message::Rest { count, detail, access } => {
                write!(formatter, "{count} not shown")?;
                if !detail.is_empty() {
                    write!(formatter, " ({detail})")?;
                }
                write!(formatter, "{access}")
            }
            Message::Control(access) => write!(formatter, "{CONTROL_NOT_SHOWN}{access}"),
            Message::Count(count) => write!(formatter, "{count} not shown"),
            Message::Lines { first, last } if first == last => write!(formatter, "line {first} not shown"),
            Message::Lines { first, last } => write!(formatter, "lines {first}:{last} not shown"),
            Message::Similar { first, last } => {
                write!(
                    formatter,
                    "{} similar lines {first}:{last} not shown",
                    (last + 1).saturating_sub(*first)
                )
            }
            Message::Bytes { start, end, line: Some(line) } => {
                write!(formatter, "bytes {start}:{end} of line {line} not shown")
            }
            Message::Bytes { start, end, line: None } => write!(formatter, "bytes {start}:{end} not shown"),
            Message::ChosenFrom { first, last } => write!(formatter, "chosen from lines {first}:{last}"),
            Message::Binary { media_type, bytes, place } => {
                formatter.write_str("binary output")?;
                if let Some(media_type) = media_type {
                    write!(formatter, " ({media_type})")?;
                }
                write!(formatter, ", {bytes} bytes, not shown; {place}")
            }
            Message::Structure { bytes, access } => {
                write!(formatter, "{STRUCTURE}{bytes}{STRUCTURE_PART}{access}")
            }
            Message::Footer { status, running, more } => {
                let running = running.as_ref().map(|running| match running {
                    Running::Stored => STILL_RUNNING.to_owned(),
                    Running::NotStored { reason } => format!("{RUNNING_NOT_STORED}{}", Because(reason)),
                });
                let more = more.as_ref().map(|more| format!("{MORE}{more}"));
                let parts: Vec<String> = [status.clone(), running, more].into_iter().flatten().collect();
                formatter.write_str(&parts.join("; "))
            }
            Message::Page { end, total, more } => {
                write!(formatter, "page ends at byte {end} of {total}; {MORE}{more}")
            }
        }
    }
}

const MORE: &str = "more: ";
pub(crate) const CONTROL_NOT_SHOWN: &str = "terminal control not shown";
const STRUCTURE: &str = "structuredContent of ";
const STRUCTURE_PART: &str = " bytes is shown in part";
const STILL_RUNNING: &str = "still running, later output is added";
const RUNNING_NOT_STORED: &str = "still running, later output is not stored";

fn write_shown(formatter: &mut Formatter<'_>, shown: Amount, total: Amount) -> fmt::Result {
    let sizes = Sizes { part: shown.bytes, total: total.bytes };
    match total.lines {
        0 | 1 => write!(formatter, "{sizes} shown"),
        lines => write!(formatter, "{} of {lines} lines shown ({sizes})", shown.lines),
    }
}

/// `8 of 61 kB`: two sizes in the unit that suits the larger one.
struct Sizes {
    part: u64,
    total: u64,
}

/// A unit in which sizes are written.
#[derive(Clone, Copy)]
struct SizeUnit {
    name: &'static str,
    bytes: u64,
}

const BYTES: SizeUnit = SizeUnit { name: "bytes", bytes: 1 };
const UNITS: [SizeUnit; 4] = [
    SizeUnit { name: "GB", bytes: 1_000_000_000 },
    SizeUnit { name: "MB", bytes: 1_000_000 },
    SizeUnit { name: "kB", bytes: 1000 },
    BYTES,
];

impl SizeUnit {
    /// The largest unit of which `bytes` has at least `least`.
    fn of(bytes: u64, least: u64) -> SizeUnit {
        UNITS.into_iter().find(|unit| bytes / unit.bytes >= least).unwrap_or(BYTES)
    }
}

impl Display for Sizes {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let unit = SizeUnit::of(self.total, 10);
        let total = (self.total + unit.bytes / 2) / unit.bytes;
        // A part that would be less than a tenth has its own unit.
        let own =
            if self.part > 0 && self.part < unit.bytes / 10 { SizeUnit::of(self.part, 1) } else { unit };
        let tenths = self.part.saturating_mul(10) / own.bytes;
        match (own.bytes, tenths) {
            (2.., 1..100) if !tenths.is_multiple_of(10) => {
                write!(formatter, "{}.{}", tenths / 10, tenths % 10)?
            }
            _ => write!(formatter, "{}", self.part / own.bytes)?,
        }
        if own.bytes != unit.bytes {
            write!(formatter, " {}", own.name)?;
        }
        write!(formatter, " of {total} {}", unit.name)
    }
}

impl Display for Count {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Count::Lines(1) => formatter.write_str("1 line"),
            Count::Lines(lines) => write!(formatter, "{lines} lines"),
            Count::Bytes(bytes) => write!(formatter, "{bytes} bytes"),
        }
    }
}

const STORED: &str = "nothing is lost: ";
const GROWING: &str = "stored so far: ";
const LOCAL_ONLY: &str = ", only on this machine so far";
const BEGINNING: &str = "only the first ";
const NOT_STORED: &str = "the rest was not stored";

impl Display for Place {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Stored(location) => write!(formatter, "{STORED}{location}"),
            Place::Growing(location) => write!(formatter, "{GROWING}{location}"),
            Place::LocalOnly { location, reason } => {
                write!(formatter, "{STORED}{location}{LOCAL_ONLY}{}", Because(reason))
            }
            Place::Beginning { bytes, reason } => {
                write!(formatter, "{BEGINNING}{bytes} bytes were stored{}", Because(reason))
            }
            Place::NotStored { reason } => write!(formatter, "{NOT_STORED}{}", Because(reason)),
        }
    }
}

impl Display for Access {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Access::By(access) => write!(formatter, ": {access}"),
            Access::NotStored { reason } => write!(formatter, " and not stored{}", Because(reason)),
        }
    }
}

/// `: reason`, or nothing.
struct Because<'a>(&'a str);

impl Display for Because<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.0) }
    }
}
