//! One stored output and what is known about it.

use crate::context::{Context, Origin};
use crate::cut::{Gap, GapReason, Size};
use crate::measure::{self, LineConvention};
use crate::store::{Digester, Id, StoreError, format};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The most characters of a command line that are stored. Listings read the metadata of every entry.
const MAX_COMMAND: usize = 8192;

/// What is known when an entry is opened.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// The call that produced the output.
    pub context: &'a Context,
    /// The profile that bounds it.
    pub profile: &'a str,
    /// The strategy that chooses what is shown.
    pub strategy: Option<&'a str>,
    /// How long cleaning leaves it alone.
    pub retention: Option<Retention>,
    /// How a store with plain files names them, for example `{id}.txt`.
    pub file_name: &'a str,
    /// How the bytes are read.
    pub reading: Reading,
    /// The machine that produces the output.
    pub host: Option<&'a str>,
}

impl<'a> NewEntry<'a> {
    /// An entry of plain text in a file that is named by its id.
    pub fn new(context: &'a Context, profile: &'a str) -> NewEntry<'a> {
        NewEntry {
            context,
            profile,
            strategy: None,
            retention: None,
            file_name: "{id}.txt",
            reading: Reading::Plain,
            host: None,
        }
    }
}

/// How the bytes of an entry are read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// As they are.
    #[default]
    Plain,
    /// They are JSON, and their readable form is paged ([`crate::retrieve::readable`]).
    Readable,
}

/// How long an entry is kept. In metadata: a number of days, or `"forever"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Retention {
    /// Cleaning may remove it after this many days; with 0, only because of a size limit.
    Days(u32),
    /// Cleaning removes it only when an age is given explicitly.
    #[serde(with = "forever")]
    Forever,
}

impl Retention {
    /// The age from which cleaning removes an entry; `None` if its age does not matter.
    pub fn max_age(self) -> Option<Duration> {
        match self {
            Retention::Days(0) | Retention::Forever => None,
            Retention::Days(days) => Some(Duration::from_secs(u64::from(days) * 24 * 60 * 60)),
        }
    }
}

/// The word for [`Retention::Forever`].
mod forever {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    const WORD: &str = "forever";

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(WORD)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            WORD => Ok(()),
            other => Err(D::Error::custom(format!("{other:?} is neither a number of days nor {WORD:?}"))),
        }
    }
}

impl From<Option<u32>> for Retention {
    /// A profile without a number of days keeps its outputs forever.
    fn from(days: Option<u32>) -> Retention {
        days.map_or(Retention::Forever, Retention::Days)
    }
}

/// What is known when all bytes have been written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The size of the output, including what was not stored.
    pub original: Size,
    /// The lines of the output as retrieval counts them: they end at `\n`, whatever the profile's convention is.
    pub lines: u64,
    /// The BLAKE3 digest, in hex, of the stored bytes.
    pub digest: String,
    /// One digest for each block of 1 MiB ([`crate::store::Digester`]); none for an entry of a single block.
    pub block_digests: Vec<String>,
    /// The exit code of the command, if it was one.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// How long the command ran.
    pub duration: Option<Duration>,
    /// How much of the output was shown.
    pub shown: Size,
    /// What was not shown.
    pub gaps: Vec<Gap>,
}

impl Summary {
    /// The summary of a whole output of which nothing is known to be shown.
    pub fn of_whole(output: &[u8]) -> Summary {
        let lines = measure::lines(output, LineConvention::Terminated);
        let original = Size { bytes: output.len() as u64, lines, chars: None, tokens: None };
        let mut digester = Digester::new();
        digester.update(output);
        let (digest, block_digests) = digester.finish();
        let gaps = vec![Gap::whole(original, GapReason::Opaque)];
        Summary { original, lines, digest, block_digests, gaps, ..Summary::default() }
    }

    /// Whether the output was stored and shown to nobody, so that it has no preview.
    pub fn is_unseen(&self) -> bool {
        self.gaps.iter().any(|gap| gap.why == GapReason::Unseen)
    }
}

/// Whether cleaning may remove an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// Only an explicit removal does.
    Pinned,
    /// It may, when the entry is old enough.
    #[default]
    Loose,
}

/// What an entry contains of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// The output is being written.
    Running,
    /// Every byte is stored.
    Complete,
    /// The first bytes are stored and intact. There was more: a limit was reached, or the store failed.
    Capped {
        /// Why the rest is not stored.
        reason: String,
    },
    /// The writing process ended without closing the entry. The bytes written until then are stored.
    Abandoned,
    /// The bytes are not those that were stored, or cannot be read.
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// Written by a newer version of offcut. This version lists the entry and leaves it alone.
    Unsupported {
        /// The version of its metadata.
        version: u32,
    },
}

impl EntryState {
    /// The state's name, in metadata and reports.
    pub fn as_str(&self) -> &'static str {
        match self {
            EntryState::Running => "running",
            EntryState::Complete => "complete",
            EntryState::Capped { .. } => "capped",
            EntryState::Abandoned => "abandoned",
            EntryState::Damaged { .. } => "damaged",
            EntryState::Unsupported { .. } => "unsupported",
        }
    }

    /// Why the entry is not complete, unless it is still being written.
    pub fn reason(&self) -> Option<&str> {
        match self {
            EntryState::Running | EntryState::Complete => None,
            EntryState::Capped { reason } | EntryState::Damaged { reason } => Some(reason),
            EntryState::Abandoned => Some("the writing process ended early"),
            EntryState::Unsupported { .. } => Some("written by a newer version of offcut"),
        }
    }
}

/// Where the bytes of an entry are, in a store that is not on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UploadState {
    /// In the store.
    #[default]
    Uploaded,
    /// The bytes are in the store, the metadata is not yet: the entry may still become [`UploadState::LocalOnly`].
    Uploading,
    /// On this machine only, because the store did not accept them. They are uploaded later.
    LocalOnly {
        /// Why.
        reason: String,
    },
}

/// One stored output.
///
/// What a listing returns may have no [`Entry::summary`] although the entry was committed: [`crate::store::Store::entry`]
/// returns everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The id.
    pub id: Id,
    /// The plain file with the bytes, if there is one.
    pub path: Option<PathBuf>,
    /// When it was opened.
    pub created: SystemTime,
    /// The call that produced the output.
    pub context: Context,
    /// The profile that bounded it.
    pub profile: String,
    /// The strategy that chose what was shown.
    pub strategy: Option<String>,
    /// How long cleaning leaves it alone, as set when it was stored; unknown for an entry of version 1.
    pub retention: Option<Retention>,
    /// How the bytes are read.
    pub reading: Reading,
    /// The machine that produced the output.
    pub host: Option<String>,
    /// The number of bytes stored.
    pub bytes: u64,
    /// The number of lines that end at `\n`, an open last line included; known for a complete entry.
    pub lines: Option<u64>,
    /// What the entry contains of the output.
    pub state: EntryState,
    /// Whether cleaning may remove it.
    pub pin: Pin,
    /// Whether it is in the store or still on this machine only.
    pub upload_state: UploadState,
    /// What is known since the entry was committed.
    pub summary: Option<Summary>,
}

impl Entry {
    /// An entry that has just been opened.
    pub fn new(id: Id, created: SystemTime, new: &NewEntry<'_>) -> Entry {
        let mut context = new.context.clone();
        if let Some(command) = &mut context.origin.command
            && let Some((end, _)) = command.char_indices().nth(MAX_COMMAND)
        {
            command.truncate(end);
            command.push('…');
        }
        Entry {
            id,
            path: None,
            created,
            context,
            profile: new.profile.to_owned(),
            strategy: new.strategy.map(str::to_owned),
            retention: new.retention,
            reading: new.reading,
            host: new.host.map(str::to_owned),
            bytes: 0,
            lines: None,
            state: EntryState::Running,
            pin: Pin::Loose,
            upload_state: UploadState::Uploaded,
            summary: None,
        }
    }

    /// An entry of which only the id and the state are known.
    pub fn unknown(id: Id, state: EntryState) -> Entry {
        Entry { state, ..Entry::new(id, id.time(), &NewEntry::new(&Context::default(), "")) }
    }

    /// The entry after `bytes` bytes were written and committed.
    pub fn committed(self, bytes: u64, state: EntryState, summary: Summary) -> Entry {
        Entry { bytes, summary: Some(summary), ..self }.with_state(state)
    }

    /// The entry in this state: only a complete one has a known number of lines.
    pub fn with_state(self, state: EntryState) -> Entry {
        let summary = self.summary.as_ref().filter(|_| state == EntryState::Complete);
        Entry { lines: summary.map(|summary| summary.lines), state, ..self }
    }

    /// The entry without what may contain secrets: the command line or tool input, the directory and the user.
    pub fn without_origin(self) -> Entry {
        Entry { context: Context { origin: Origin::default(), ..self.context }, ..self }
    }

    /// The metadata as one line of JSON, version 2 of the format that docs/entry-format.md describes.
    pub fn to_json(&self) -> Vec<u8> {
        format::encode(self, &format!("{}.txt", self.id))
    }

    /// Reads what [`Entry::to_json`] wrote, in this version or in version 1. The entry has no path and no pin.
    ///
    /// What was still running when its metadata was written is abandoned: nobody can be writing it here.
    pub fn from_json(id: &Id, text: &[u8]) -> Result<Entry, StoreError> {
        let (entry, _) = format::decode(id, text)?;
        Ok(match entry.state {
            EntryState::Running => entry.with_state(EntryState::Abandoned),
            _ => entry,
        })
    }

    /// The name by which any client can request the entry.
    pub fn uri(&self) -> String {
        format!("offcut://{}", self.id)
    }

    /// Where a reader finds the whole output: the path of its file, or else its URI.
    pub fn location(&self) -> String {
        self.location_from(None)
    }

    /// The same, with a path below `base` relative to it.
    pub(crate) fn location_from(&self, base: Option<&Path>) -> String {
        let Some(path) = &self.path else { return self.uri() };
        let relative = base.and_then(|base| path.strip_prefix(base).ok());
        relative.unwrap_or(path).display().to_string()
    }
}
