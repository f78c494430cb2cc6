//! The metadata of an entry: one JSON object, described in docs/entry-format.md.
//!
//! Other programs read these files, so the format has its own types. Version 1 is read too: it has fewer fields and
//! other words for the states.

use crate::context::{Context, Origin};
use crate::cut::{Gap, GapReason, LinePosition, Size};
use crate::store::{Entry, EntryState, Id, Pin, Reading, Retention, StoreError, Summary, UploadState};
use crate::timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version that is written, and the newest that is read.
const VERSION: u32 = 2;

/// Version 1 called an abandoned entry partial, for this reason.
const ABANDONED_IN_VERSION_1: &str = "its writer ended early";

#[derive(Serialize, Deserialize)]
struct Metadata {
    version: u32,
    id: String,
    /// The name of the file with the bytes, in the directory above.
    file: String,
    created: String,
    profile: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention: Option<Retention>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<String>,
    #[serde(default, skip_serializing_if = "is_plain")]
    reading: Reading,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Output>,
}

/// What every version has.
#[derive(Deserialize)]
struct Preamble {
    version: u32,
    id: String,
    file: Option<String>,
}

/// What is known since all bytes were written.
#[derive(Serialize, Deserialize)]
struct Output {
    /// The bytes stored.
    bytes: u64,
    #[serde(with = "Amount")]
    original: Size,
    lines: u64,
    digest: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    block_digests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(with = "Amount")]
    shown: Size,
    gaps: Vec<Missing>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Size")]
struct Amount {
    bytes: u64,
    lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    chars: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Missing {
    start: u64,
    end: u64,
    first_line: u64,
    last_line: u64,
    #[serde(default)]
    inside: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ends_inside: bool,
    why: String,
}

/// The metadata of an entry whose bytes are in `file`, as one line.
pub(super) fn encode(entry: &Entry, file: &str) -> Vec<u8> {
    let Context { tool, call_id, message_id, session, agent, started, origin } = entry.context.clone();
    let metadata = Metadata {
        version: if let EntryState::Unsupported { version } = entry.state { version } else { VERSION },
        id: entry.id.to_string(),
        file: file.to_owned(),
        created: timestamp::format(entry.created),
        profile: entry.profile.clone(),
        strategy: entry.strategy.clone(),
        retention: entry.retention,
        tool,
        call_id,
        message_id,
        session,
        agent,
        host: entry.host.clone(),
        user: origin.user,
        command: origin.command,
        directory: origin.directory,
        started: started.map(timestamp::format),
        reading: entry.reading,
        state: entry.state.as_str().to_owned(),
        reason: entry.state.reason().map(str::to_owned),
        output: entry.summary.as_ref().map(|summary| Output::new(entry.bytes, summary)),
    };
    // Serializing cannot fail: there are no maps and no foreign types.
    let mut text = serde_json::to_vec(&metadata).unwrap_or_default();
    text.push(b'\n');
    text
}

/// The entry that [`encode`] wrote, with the state as recorded, and the name of the file with its bytes.
pub(super) fn decode(id: &Id, text: &[u8]) -> Result<(Entry, String), StoreError> {
    let damaged = |reason: String| StoreError::Damaged { id: *id, reason };
    let check_id = |found: &str| match found == id.as_str() {
        true => Ok(()),
        false => Err(damaged("it belongs to another entry".to_owned())),
    };
    let parsed = serde_json::from_slice::<Metadata>(text);
    if !parsed.as_ref().is_ok_and(|metadata| metadata.version <= VERSION)
        && let Ok(Preamble { version, id: found, file }) = serde_json::from_slice(text)
        && version > VERSION
    {
        check_id(&found)?;
        let entry = Entry::unknown(*id, EntryState::Unsupported { version });
        return Ok((entry, file.unwrap_or_else(|| format!("{id}.txt"))));
    }
    let metadata = parsed.map_err(|error| damaged(error.to_string()))?;
    check_id(&metadata.id)?;
    if metadata.version == 0 {
        return Err(damaged("version 0 of the entry format does not exist".to_owned()));
    }
    let state = state(&metadata.state, metadata.reason)
        .ok_or_else(|| damaged(format!("{:?} is not a state", metadata.state)))?;
    let time = |text: &str| timestamp::parse(text).ok_or_else(|| damaged(format!("{text:?} is not a time")));
    let created = time(&metadata.created)?;
    let started = metadata.started.as_deref().map(time).transpose()?;
    let Metadata { tool, call_id, message_id, session, agent, user, command, directory, .. } = metadata;
    let origin = Origin { command, directory, user };
    let entry = Entry {
        id: *id,
        path: None,
        created,
        context: Context { tool, call_id, message_id, session, agent, started, origin },
        profile: metadata.profile,
        strategy: metadata.strategy,
        retention: metadata.retention,
        reading: metadata.reading,
        host: metadata.host,
        bytes: metadata.output.as_ref().map_or(0, |output| output.bytes),
        lines: None,
        state: EntryState::Running,
        pin: Pin::Loose,
        upload_state: UploadState::Uploaded,
        summary: metadata.output.map(Summary::from),
    };
    Ok((entry.with_state(state), metadata.file))
}

/// The state that a word of any version stands for.
fn state(word: &str, reason: Option<String>) -> Option<EntryState> {
    let reason = reason.unwrap_or_else(|| "unknown".to_owned());
    Some(match word {
        "running" | "writing" => EntryState::Running,
        "complete" => EntryState::Complete,
        "abandoned" => EntryState::Abandoned,
        "partial" if reason == ABANDONED_IN_VERSION_1 => EntryState::Abandoned,
        "capped" | "partial" => EntryState::Capped { reason },
        "damaged" => EntryState::Damaged { reason },
        _ => return None,
    })
}

fn is_plain(reading: &Reading) -> bool {
    *reading == Reading::Plain
}

impl Output {
    fn new(bytes: u64, summary: &Summary) -> Output {
        let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Output {
            bytes,
            original: summary.original,
            lines: summary.lines,
            digest: summary.digest.clone(),
            block_digests: summary.block_digests.clone(),
            exit_code: summary.exit_code,
            signal: summary.signal,
            duration_ms: summary.duration.map(milliseconds),
            shown: summary.shown,
            gaps: summary.gaps.iter().map(Missing::from).collect(),
        }
    }
}

impl From<Output> for Summary {
    fn from(output: Output) -> Summary {
        Summary {
            original: output.original,
            lines: output.lines,
            digest: output.digest,
            block_digests: output.block_digests,
            exit_code: output.exit_code,
            signal: output.signal,
            duration: output.duration_ms.map(Duration::from_millis),
            shown: output.shown,
            gaps: output.gaps.iter().map(Gap::from).collect(),
        }
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
            ends_inside: gap.to == LinePosition::Inside,
            why: gap.why.as_str().to_owned(),
        }
    }
}

impl From<&Missing> for Gap {
    fn from(missing: &Missing) -> Self {
        let position = |inside| if inside { LinePosition::Inside } else { LinePosition::Start };
        Gap {
            start: missing.start,
            end: missing.end.max(missing.start),
            first_line: missing.first_line,
            last_line: missing.last_line,
            from: position(missing.inside),
            to: position(missing.ends_inside),
            // A reason that a later version added is at least an omission.
            why: GapReason::from_word(&missing.why).unwrap_or(GapReason::Omitted),
        }
    }
}
