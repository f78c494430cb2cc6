//! Writes notices: every wording is here.

use super::{Access, Amount, Count, Message, Notice, Place, Running, Tag};
use crate::store::EntryState;
use std::fmt::{self, Display, Formatter};

/// How every tag begins.
pub(super) const NAME: &str = "offcut";

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
            Message::Lines { first, last, contents } => {
                let contents = Because(contents);
                match first == last {
                    true => write!(formatter, "line {first} not shown{contents}"),
                    false => write!(formatter, "lines {first}:{last} not shown{contents}"),
                }
            }
            Message::Similar { first, last, contents } => {
                let (count, contents) = ((last + 1).saturating_sub(*first), Because(contents));
                write!(formatter, "{count} similar lines {first}:{last} not shown{contents}")
            }
            Message::Bytes { start, end, line, contents } => {
                let line = line.map_or_else(String::new, |line| format!(" of line {line}"));
                write!(formatter, "bytes {start}:{end}{line} not shown{}", Because(contents))
            }
            Message::ChosenFrom { first, last } => write!(formatter, "chosen from lines {first}:{last}"),
            Message::Binary { media_type, bytes, place } => {
                formatter.write_str("binary output")?;
                if let Some(media_type) = media_type {
                    write!(formatter, " ({media_type})")?;
                }
                write!(formatter, ", {bytes} bytes, not shown; {place}")
            }
            Message::Structure { bytes, not_shown, access } => {
                write!(formatter, "{STRUCTURE}{bytes}{STRUCTURE_PART}")?;
                if !not_shown.is_empty() {
                    write!(formatter, " ({not_shown} not shown)")?;
                }
                write!(formatter, "{access}")
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
            Message::Progress { seconds, lines, last } => {
                write!(formatter, "{seconds}{SECONDS}{lines}{LINES_SO_FAR}")?;
                if last.is_empty() { Ok(()) } else { write!(formatter, "{LAST}{last}") }
            }
            Message::Page { end, total, more } => {
                write!(formatter, "page ends at byte {end} of {total}; {MORE}{more}")
            }
            Message::Incomplete { state: EntryState::Running, bytes } => {
                write!(formatter, "{BEING_WRITTEN}{bytes}{SO_FAR}")
            }
            Message::Incomplete { state, bytes } => {
                let because = Because(state.reason().unwrap_or_default());
                write!(formatter, "{} after {bytes} bytes{because}", state.as_str())
            }
            Message::Modified { start, end } => write!(formatter, "{MODIFIED}{start}:{end}{MODIFIED_LATER}"),
            Message::Searched { bytes, reason } => {
                write!(formatter, "{SEARCHED}{bytes}{BYTES_SEARCHED}{reason}")
            }
            Message::SearchedInPart { outputs: 1 } => formatter.write_str(ONE_SEARCHED_IN_PART),
            Message::SearchedInPart { outputs } => write!(formatter, "{outputs}{SEARCHED_IN_PART}"),
            Message::Matches { total: 0, .. } => formatter.write_str(NO_MATCH),
            Message::Matches { shown: 1, total: 1 } => formatter.write_str(ONE_MATCH),
            Message::Matches { shown, total } if shown == total => write!(formatter, "{total}{MATCHES}"),
            Message::Matches { shown, total } => {
                write!(formatter, "{shown} of {total}{MATCHES}{MORE_MATCHES}")
            }
            Message::Listing { shown, total } => write!(formatter, "{shown} of {total}{LISTING}"),
        }
    }
}

pub(super) const MORE: &str = "more: ";
pub(crate) const CONTROL_NOT_SHOWN: &str = "terminal control not shown";
pub(super) const STRUCTURE: &str = "structuredContent of ";
pub(super) const STRUCTURE_PART: &str = " bytes is shown in part";
pub(super) const STILL_RUNNING: &str = "still running, later output is added";
pub(super) const RUNNING_NOT_STORED: &str = "still running, later output is not stored";
pub(super) const SECONDS: &str = " s, ";
pub(super) const LINES_SO_FAR: &str = " lines so far";
pub(super) const LAST: &str = "; last: ";
pub(super) const BEING_WRITTEN: &str = "still being written; ";
pub(super) const SO_FAR: &str = " bytes so far";
pub(super) const MODIFIED: &str = "checksum mismatch in bytes ";
pub(super) const MODIFIED_LATER: &str = ": the file was modified after it was stored";
pub(super) const SEARCHED: &str = "only ";
pub(super) const BYTES_SEARCHED: &str = " bytes searched: ";
pub(super) const ONE_SEARCHED_IN_PART: &str = "1 output was not searched as a whole";
pub(super) const SEARCHED_IN_PART: &str = " outputs were not searched as a whole";
pub(super) const NO_MATCH: &str = "no line matches";
pub(super) const ONE_MATCH: &str = "1 matching line";
pub(super) const MATCHES: &str = " matching lines";
pub(super) const MORE_MATCHES: &str = " shown; narrow the pattern, or read around a line";
pub(super) const LISTING: &str = " stored outputs, newest first";

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
pub(super) struct SizeUnit {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
}

const BYTES: SizeUnit = SizeUnit { name: "bytes", bytes: 1 };
pub(super) const UNITS: [SizeUnit; 4] = [
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

pub(super) const STORED: &str = "nothing is lost: ";
pub(super) const GROWING: &str = "stored so far: ";
pub(super) const INCOMPLETE: &str = "stored as received: ";
pub(super) const LOCAL_ONLY: &str = ", only on this machine so far";
pub(super) const BEGINNING: &str = "only the first ";
pub(super) const NOT_STORED: &str = "the rest was not stored";

impl Display for Place {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Place::Stored(location) => write!(formatter, "{STORED}{location}"),
            Place::Growing(location) => write!(formatter, "{GROWING}{location}"),
            Place::Incomplete(location) => write!(formatter, "{INCOMPLETE}{location}"),
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
