//! The JSON that programs read. Field names are stable.

use crate::process::Fate;
use jiff::Timestamp;
use offcut::store::{Entry, EntryState, UploadState};
use offcut::{Gap, Kept, Part, Preview, Shown, Size};
use serde::Serialize;
use std::time::Duration;

/// `cut --format json`.
#[derive(Serialize)]
pub(crate) struct CutResult<'a> {
    content: String,
    truncated: bool,
    saved: Option<Saved<'a>>,
    /// More may come: what holds the output open has not ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    still_open: bool,
    save_error: Option<String>,
    original: Amount,
    shown: Amount,
    removed: Removed,
    limited_by: Option<String>,
    gaps: Vec<GapRow>,
}

#[derive(Serialize)]
struct Saved<'a> {
    id: String,
    path: Option<String>,
    uri: String,
    bytes: u64,
    digest: &'a str,
    /// Why only this machine has it, where others should.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_local: Option<&'a str>,
}

#[derive(Serialize)]
struct Amount {
    bytes: u64,
    lines: Option<u64>,
    chars: Option<u64>,
    tokens: Option<u64>,
}

#[derive(Serialize)]
struct Removed {
    bytes: u64,
    lines: u64,
}

#[derive(Serialize)]
struct GapRow {
    start: u64,
    end: u64,
    first_line: u64,
    last_line: u64,
    why: &'static str,
}

impl<'a> CutResult<'a> {
    pub(crate) fn new(shown: &'a Shown<'_>) -> CutResult<'a> {
        let content = offcut::measure::as_text(shown.content()).into_owned();
        match shown {
            Shown::Whole(bytes) => {
                let lines = offcut::measure::lines(bytes, offcut::measure::LineConvention::Terminated);
                let size = Size { bytes: bytes.len() as u64, lines, chars: None, tokens: None };
                CutResult {
                    content,
                    truncated: false,
                    saved: None,
                    still_open: false,
                    save_error: None,
                    original: size.into(),
                    shown: size.into(),
                    removed: Removed { bytes: 0, lines: 0 },
                    limited_by: None,
                    gaps: Vec::new(),
                }
            }
            Shown::Cut(preview) => CutResult::of_preview(content, preview),
        }
    }

    fn of_preview(content: String, preview: &'a Preview) -> CutResult<'a> {
        let (saved, save_error) = match &preview.kept {
            Kept::Whole(entry) | Kept::Open(entry) => (Some(Saved::new(entry)), None),
            Kept::NotWhole { error, part: None } => (None, Some(error.clone())),
            Kept::NotWhole { error, part: Some(Part { id, bytes }) } => {
                (None, Some(format!("{error}; only the first {bytes} bytes are kept, in {id}")))
            }
            Kept::Off => (None, None),
        };
        let Size { bytes, lines, .. } = preview.removed();
        CutResult {
            content,
            truncated: !preview.gaps.is_empty(),
            saved,
            still_open: matches!(preview.kept, Kept::Open(_)),
            save_error,
            original: preview.original.into(),
            shown: preview.shown.into(),
            removed: Removed { bytes, lines },
            limited_by: (!preview.gaps.is_empty()).then(|| preview.limited_by.to_string()),
            gaps: preview.gaps.iter().map(GapRow::from).collect(),
        }
    }
}

impl<'a> Saved<'a> {
    fn new(entry: &'a Entry) -> Saved<'a> {
        Saved {
            id: entry.id.to_string(),
            path: entry.path.as_ref().map(|path| path.display().to_string()),
            uri: entry.uri(),
            bytes: entry.bytes,
            digest: entry.summary.as_ref().map_or("", |summary| summary.digest.as_str()),
            only_local: only_local(&entry.upload_state),
        }
    }
}

impl From<Size> for Amount {
    fn from(Size { bytes, lines, chars, tokens }: Size) -> Self {
        Amount { bytes, lines: Some(lines), chars, tokens }
    }
}

impl From<&Gap> for GapRow {
    fn from(gap: &Gap) -> Self {
        GapRow {
            start: gap.start,
            end: gap.end,
            first_line: gap.first_line,
            last_line: gap.last_line,
            why: gap.why.as_str(),
        }
    }
}

/// `run --format json`: the fields of `cut`, or one object for each output, and how the command ended.
#[derive(Serialize)]
pub(crate) struct RunResult<'a> {
    #[serde(flatten)]
    output: Option<CutResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<CutResult<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<CutResult<'a>>,
    exit_code: i32,
    signal: Option<i32>,
    timed_out: bool,
    duration_ms: u64,
}

impl<'a> RunResult<'a> {
    pub(crate) fn new(
        outputs: Vec<CutResult<'a>>,
        fate: Fate,
        duration: Duration,
        exit_code: i32,
    ) -> RunResult<'a> {
        let mut outputs = outputs.into_iter();
        let (first, second) = (outputs.next(), outputs.next());
        let (output, stdout, stderr) = match second {
            None => (first, None, None),
            Some(second) => (None, first, Some(second)),
        };
        RunResult {
            output,
            stdout,
            stderr,
            exit_code,
            signal: match fate {
                Fate::Killed { signal } => Some(signal),
                Fate::Exited(_) | Fate::TimedOut => None,
            },
            timed_out: fate == Fate::TimedOut,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// One row of `ls --format json`.
#[derive(Serialize)]
pub(crate) struct EntryRow {
    id: String,
    created: Timestamp,
    tool: Option<String>,
    call_id: Option<String>,
    session: Option<String>,
    profile: String,
    bytes: u64,
    lines: Option<u64>,
    complete: bool,
    state: &'static str,
    reason: Option<String>,
    exit_code: Option<i32>,
    digest: Option<String>,
    path: Option<String>,
    uri: String,
    /// The machine that produced it, where a store has outputs of many.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Why only this machine has it, where others should.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_local: Option<String>,
}

impl EntryRow {
    pub(crate) fn new(entry: &Entry) -> EntryRow {
        let summary = entry.summary.as_ref();
        EntryRow {
            id: entry.id.to_string(),
            created: Timestamp::try_from(entry.created).unwrap_or(Timestamp::UNIX_EPOCH),
            tool: entry.context.tool.clone(),
            call_id: entry.context.call_id.clone(),
            session: entry.context.session.clone(),
            profile: entry.profile.clone(),
            bytes: entry.bytes,
            lines: entry.lines(),
            complete: entry.completeness == EntryState::Complete,
            state: state(&entry.completeness),
            reason: match &entry.completeness {
                EntryState::Partial { reason } => Some(reason.clone()),
                EntryState::Abandoned => Some("its writer ended early".to_owned()),
                _ => None,
            },
            exit_code: summary.and_then(|summary| summary.exit_code),
            digest: summary.map(|summary| summary.digest.clone()),
            path: entry.path.as_ref().map(|path| path.display().to_string()),
            uri: entry.uri(),
            host: entry.host.clone(),
            only_local: only_local(&entry.upload_state).map(str::to_owned),
        }
    }
}

/// Why only this machine has an entry, if that is so.
pub(crate) fn only_local(upload_state: &UploadState) -> Option<&str> {
    match upload_state {
        UploadState::LocalOnly { reason } => Some(reason),
        UploadState::Uploaded | UploadState::Uploading => None,
    }
}

/// The word for how complete an entry is.
pub(crate) fn state(completeness: &EntryState) -> &'static str {
    match completeness {
        EntryState::Complete => "complete",
        EntryState::Partial { .. } => "partial",
        EntryState::Writing => "writing",
        EntryState::Abandoned => "incomplete",
    }
}

/// `read --format json`.
#[derive(Serialize)]
pub(crate) struct PageResult {
    pub(crate) id: String,
    pub(crate) content: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first_line: Option<u64>,
    pub(crate) last_line: Option<u64>,
    pub(crate) satisfied: bool,
    pub(crate) next: Option<String>,
    pub(crate) complete: bool,
}
