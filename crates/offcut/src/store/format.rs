//! The metadata file of an entry: one JSON object, version 1.
//!
//! Other programs read these files, so the format has its own types and changes only by adding fields.

use crate::context::Context;
use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::store::{Entry, EntryState, Id, NewEntry, Pin, Reading, StoreError, Summary, UploadState};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// What is written when an entry is opened, and again when it is committed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metadata {
    version: u32,
    id: String,
    /// The name of the file with the bytes, in the folder above.
    pub(crate) file: String,
    created: Timestamp,
    profile: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(default, skip_serializing_if = "Reading::is_plain")]
    reading: Reading,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Writing,
    Complete,
    Partial,
}

/// What is known when all bytes have been written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Output {
    /// The bytes kept.
    pub(crate) bytes: u64,
    original: Amount,
    lines: u64,
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    shown: Amount,
    gaps: Vec<Missing>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Amount {
    bytes: u64,
    lines: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chars: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Missing {
    start: u64,
    end: u64,
    first_line: u64,
    last_line: u64,
    #[serde(default)]
    inside: bool,
    why: String,
}

/// Why an entry is partial whose writer died.
pub(crate) const WRITER_ENDED: &str = "its writer ended early";

/// What a file holds.
pub(crate) struct Found {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    pub(crate) digest: String,
    /// What came after the preview.
    pub(crate) unseen: Option<Gap>,
}

impl Metadata {
    pub(crate) fn opened(id: &Id, file: String, created: SystemTime, draft: &NewEntry<'_>) -> Metadata {
        let NewEntry { context, profile, reading, .. } = *draft;
        Metadata {
            version: 1,
            id: id.to_string(),
            file,
            created: Timestamp::try_from(created).unwrap_or(Timestamp::UNIX_EPOCH),
            profile: profile.to_owned(),
            tool: context.tool.clone(),
            call_id: context.call_id.clone(),
            session: context.session.clone(),
            reading,
            host: None,
            state: State::Writing,
            reason: None,
            output: None,
        }
    }

    pub(crate) fn committed(mut self, bytes: u64, summary: &Summary) -> Metadata {
        (self.state, self.reason) = match &summary.completeness {
            EntryState::Complete => (State::Complete, None),
            EntryState::Partial { reason } => (State::Partial, Some(reason.clone())),
            EntryState::Writing | EntryState::Abandoned => (State::Writing, None),
        };
        self.output = Some(Output {
            bytes,
            original: summary.original.into(),
            lines: summary.lines,
            digest: summary.digest.clone(),
            exit_code: summary.exit_code,
            shown: summary.shown.into(),
            gaps: summary.gaps.iter().map(Missing::from).collect(),
        });
        self
    }

    /// What a file turned out to hold, for an entry that another process went on with, or whose writer died.
    pub(crate) fn settled(mut self, found: Found, completeness: &EntryState) -> Metadata {
        (self.state, self.reason) = match completeness {
            EntryState::Complete => (State::Complete, None),
            EntryState::Partial { reason } => (State::Partial, Some(reason.clone())),
            EntryState::Abandoned => (State::Partial, Some(WRITER_ENDED.to_owned())),
            EntryState::Writing => (State::Writing, None),
        };
        let Found { bytes, lines, digest, unseen } = found;
        let held = Amount { bytes, lines, chars: None, tokens: None };
        let nothing = Amount { bytes: 0, lines: 0, chars: None, tokens: None };
        let mut output = self.output.take().unwrap_or(Output {
            bytes,
            original: held,
            lines,
            digest: String::new(),
            exit_code: None,
            shown: nothing,
            gaps: Vec::new(),
        });
        if bytes > output.original.bytes {
            output.original = held;
        }
        (output.bytes, output.lines, output.digest) = (bytes, lines, digest);
        output.gaps.extend(unseen.as_ref().map(Missing::from));
        self.output = Some(output);
        self
    }

    /// How many bytes there were when a preview was made, if one was.
    pub(crate) fn previewed(&self) -> Option<u64> {
        self.output.as_ref().map(|output| output.original.bytes)
    }

    pub(crate) fn created(&self) -> SystemTime {
        self.created.into()
    }

    pub(crate) fn reading(&self) -> Reading {
        self.reading
    }

    pub(crate) fn profile(&self) -> &str {
        &self.profile
    }

    pub(crate) fn context(&self) -> Context {
        Context { tool: self.tool.clone(), call_id: self.call_id.clone(), session: self.session.clone() }
    }

    /// `None` while the writer has not said how it ended.
    pub(crate) fn completeness(&self) -> Option<EntryState> {
        match self.state {
            State::Writing => None,
            State::Complete => Some(EntryState::Complete),
            State::Partial if self.reason.as_deref() == Some(WRITER_ENDED) => Some(EntryState::Abandoned),
            State::Partial => Some(EntryState::Partial {
                reason: self.reason.clone().unwrap_or_else(|| "unknown".to_owned()),
            }),
        }
    }

    pub(crate) fn summary(&self, completeness: &EntryState) -> Option<Summary> {
        self.output.as_ref().map(|output| Summary {
            original: output.original.into(),
            lines: output.lines,
            digest: output.digest.clone(),
            completeness: completeness.clone(),
            exit_code: output.exit_code,
            shown: output.shown.into(),
            gaps: output.gaps.iter().map(Gap::from).collect(),
        })
    }
}

/// An entry as one line of JSON.
pub(crate) fn encode(entry: &Entry) -> Vec<u8> {
    let Entry { id, created, context, profile, reading, .. } = entry;
    let draft = NewEntry { context, profile, file_name: "", reading: *reading };
    let opened = Metadata::opened(id, format!("{id}.txt"), *created, &draft);
    let mut metadata = Metadata { host: entry.host.clone(), ..opened };
    if let Some(summary) = &entry.summary {
        metadata = metadata.committed(entry.bytes, summary);
    }
    (metadata.state, metadata.reason) = match &entry.completeness {
        EntryState::Complete => (State::Complete, None),
        EntryState::Partial { reason } => (State::Partial, Some(reason.clone())),
        EntryState::Abandoned => (State::Partial, Some(WRITER_ENDED.to_owned())),
        EntryState::Writing => (State::Writing, None),
    };
    // Nothing in it can fail to be text: there are no maps and no foreign types.
    let mut text = serde_json::to_vec(&metadata).unwrap_or_default();
    text.push(b'\n');
    text
}

/// The entry that [`encode`] wrote.
pub(crate) fn decode(id: &Id, text: &[u8]) -> Result<Entry, StoreError> {
    let damaged = |reason: String| StoreError::Damaged { id: *id, reason };
    let metadata: Metadata = serde_json::from_slice(text).map_err(|error| damaged(error.to_string()))?;
    if metadata.id != id.as_str() {
        return Err(damaged("it is that of another output".to_owned()));
    }
    let completeness = metadata.completeness().unwrap_or(EntryState::Abandoned);
    Ok(Entry {
        id: *id,
        path: None,
        created: metadata.created(),
        context: metadata.context(),
        profile: metadata.profile().to_owned(),
        reading: metadata.reading(),
        host: metadata.host.clone(),
        bytes: metadata.output.as_ref().map_or(0, |output| output.bytes),
        summary: metadata.summary(&completeness),
        completeness,
        pin: Pin::Loose,
        upload_state: UploadState::Uploaded,
    })
}

impl From<Size> for Amount {
    fn from(Size { bytes, lines, chars, tokens }: Size) -> Self {
        Amount { bytes, lines, chars, tokens }
    }
}

impl From<Amount> for Size {
    fn from(Amount { bytes, lines, chars, tokens }: Amount) -> Self {
        Size { bytes, lines, chars, tokens }
    }
}

impl From<&Gap> for Missing {
    fn from(gap: &Gap) -> Self {
        Missing {
            start: gap.start,
            end: gap.end,
            first_line: gap.first_line,
            last_line: gap.last_line,
            inside: gap.from == LinePosition::Inside,
            why: gap.why.as_str().to_owned(),
        }
    }
}

impl From<&Missing> for Gap {
    fn from(missing: &Missing) -> Self {
        Gap {
            start: missing.start,
            end: missing.end.max(missing.start),
            first_line: missing.first_line,
            last_line: missing.last_line,
            from: if missing.inside { LinePosition::Inside } else { LinePosition::Start },
            // A reason that a later version added is at least an omission.
            why: GapReason::from_word(&missing.why).unwrap_or(GapReason::Omitted),
        }
    }
}
