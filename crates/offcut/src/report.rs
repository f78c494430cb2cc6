//! JSON reports on previews, entries, pages, search results and cleaning: one vocabulary for the command
//! line's `--format json`, Python and Node.
//!
//! Field names are stable: scripts rely on them. Fields are added, and never renamed or removed.

mod hidden_tokens;

pub use hidden_tokens::hidden_tokens;

use crate::cut::{Gap, Size};
use crate::limits::Unit;
use crate::measure::{self, LineConvention};
use crate::outcome::{Outcome, Preview, Saved, StoredPart};
use crate::retention::{Candidate, CleaningPlan};
use crate::retrieve::{Page, Range, RetrieveError};
use crate::store::{Entry, EntryState, Pin, UploadState};
use crate::timestamp;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// An output, as far as it is shown.
#[derive(Clone, Debug, Serialize)]
pub struct OutputReport<'a> {
    /// The text to show.
    pub content: Cow<'a, str>,
    /// Whether something is not shown.
    pub truncated: bool,
    /// The entry that contains the whole output.
    pub saved: Option<SavedReport>,
    /// More output may come: a descendant of the command has not closed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub still_open: bool,
    /// Why the whole output is not stored.
    pub save_error: Option<String>,
    /// How much is shown.
    #[serde(flatten)]
    pub cut: CutReport,
}

/// The entry that contains a whole output.
#[derive(Clone, Debug, Serialize)]
pub struct SavedReport {
    /// Its id.
    pub id: String,
    /// Its file, if it is one.
    pub path: Option<String>,
    /// `offcut://ID`.
    pub uri: String,
    /// Its size.
    pub bytes: u64,
    /// The blake3 digest of its bytes.
    pub digest: String,
    /// Why it is not uploaded to a shared store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_local: Option<String>,
}

/// How much of an output is shown; sizes are missing where nobody counted them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CutReport {
    /// The size of the output.
    pub original: Option<Size>,
    /// How much of it is shown.
    pub shown: Option<Size>,
    /// How much of it is not.
    pub removed: Option<Size>,
    /// The limit that was exceeded first.
    #[serde(serialize_with = "as_word")]
    pub limited_by: Option<Unit>,
    /// What is not shown.
    pub gaps: Vec<Gap>,
}

fn as_word<S: Serializer>(unit: &Option<Unit>, serializer: S) -> Result<S::Ok, S::Error> {
    unit.map(|unit| unit.to_string()).serialize(serializer)
}

impl<'a> OutputReport<'a> {
    /// The report on an output.
    pub fn new(shown: &'a Outcome<'_>) -> OutputReport<'a> {
        let content = measure::as_text(shown.content());
        let Some(preview) = shown.preview() else {
            let bytes = shown.content();
            let lines = measure::lines(bytes, LineConvention::Terminated);
            let size = Size { bytes: bytes.len() as u64, lines, chars: None, tokens: None };
            let removed = Some(Size::default());
            let cut = CutReport { original: Some(size), shown: Some(size), removed, ..CutReport::default() };
            return OutputReport {
                content,
                truncated: false,
                saved: None,
                still_open: false,
                save_error: None,
                cut,
            };
        };
        let (saved, save_error) = match &preview.saved {
            Saved::Complete(entry) | Saved::Running(entry) => (Some(SavedReport::new(entry)), None),
            Saved::Failed { error, part: None } => (None, Some(error.clone())),
            Saved::Failed { error, part: Some(StoredPart { id, bytes }) } => {
                (None, Some(format!("{error}; only the first {bytes} bytes are stored, in {id}")))
            }
            Saved::Disabled => (None, None),
        };
        let still_open = matches!(preview.saved, Saved::Running(_));
        let truncated = !preview.gaps.is_empty();
        OutputReport { content, truncated, saved, still_open, save_error, cut: CutReport::new(preview) }
    }
}

impl CutReport {
    /// The report on a preview.
    pub fn new(preview: &Preview) -> CutReport {
        CutReport {
            original: Some(preview.original),
            shown: Some(preview.shown),
            removed: Some(preview.removed()),
            limited_by: (!preview.gaps.is_empty()).then_some(preview.limited_by),
            gaps: preview.gaps.clone(),
        }
    }
}

impl SavedReport {
    fn new(entry: &Entry) -> SavedReport {
        SavedReport {
            id: entry.id.to_string(),
            path: path(entry),
            uri: entry.uri(),
            bytes: entry.bytes,
            digest: entry.summary.as_ref().map(|summary| summary.digest.clone()).unwrap_or_default(),
            only_local: only_local(entry).map(str::to_owned),
        }
    }
}

/// A stored output.
#[derive(Clone, Debug, Serialize)]
pub struct EntryReport {
    /// Its id.
    pub id: String,
    /// When it was created, as RFC 3339 in UTC.
    pub created: String,
    /// The tool that produced it.
    pub tool: Option<String>,
    /// The id of the call.
    pub call_id: Option<String>,
    /// The id of the message that contains the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The session of the call.
    pub session: Option<String>,
    /// The agent that made the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command line, or the tool's input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The user's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// When the tool was started, as RFC 3339 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// How long the command ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The profile that cut it.
    pub profile: String,
    /// The number of bytes stored.
    pub bytes: u64,
    /// The number of lines, if it is complete.
    pub lines: Option<u64>,
    /// Whether it contains the whole output.
    pub complete: bool,
    /// `running`, `complete`, `capped`, `abandoned` or `damaged`.
    pub state: &'static str,
    /// Why it is not complete.
    pub reason: Option<String>,
    /// The exit code of the command.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The blake3 digest of its bytes.
    pub digest: Option<String>,
    /// Its file, if it is one.
    pub path: Option<String>,
    /// `offcut://ID`.
    pub uri: String,
    /// Whether it is pinned.
    pub pinned: bool,
    /// The machine that produced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Why it is not uploaded to a shared store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_local: Option<String>,
}

impl EntryReport {
    /// The report on an entry.
    pub fn new(entry: &Entry) -> EntryReport {
        let summary = entry.summary.as_ref();
        EntryReport {
            id: entry.id.to_string(),
            created: timestamp::format(entry.created),
            tool: entry.context.tool.clone(),
            call_id: entry.context.call_id.clone(),
            message_id: entry.context.message_id.clone(),
            session: entry.context.session.clone(),
            agent: entry.context.agent.clone(),
            command: entry.context.origin.command.clone(),
            directory: entry.context.origin.directory.clone(),
            user: entry.context.origin.user.clone(),
            started: entry.context.started.map(timestamp::format),
            duration_ms: summary
                .and_then(|summary| summary.duration)
                .map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)),
            profile: entry.profile.clone(),
            bytes: entry.bytes,
            lines: entry.lines,
            complete: entry.state == EntryState::Complete,
            state: entry.state.as_str(),
            reason: entry.state.reason().map(str::to_owned),
            exit_code: summary.and_then(|summary| summary.exit_code),
            signal: summary.and_then(|summary| summary.signal),
            digest: summary.map(|summary| summary.digest.clone()),
            path: path(entry),
            uri: entry.uri(),
            pinned: entry.pin == Pin::Pinned,
            host: entry.host.clone(),
            only_local: only_local(entry).map(str::to_owned),
        }
    }
}

/// Why an entry is not uploaded to a shared store, if it is not.
pub fn only_local(entry: &Entry) -> Option<&str> {
    match &entry.upload_state {
        UploadState::LocalOnly { reason } => Some(reason),
        UploadState::Uploaded | UploadState::Uploading => None,
    }
}

fn path(entry: &Entry) -> Option<String> {
    entry.path.as_ref().map(|path| path.display().to_string())
}

/// A page of a stored output.
#[derive(Clone, Debug, Serialize)]
pub struct PageReport<'a> {
    /// The entry's id.
    pub id: String,
    /// The text of the page.
    pub content: Cow<'a, str>,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// The first line, if known.
    pub first_line: Option<u64>,
    /// The last line, if known.
    pub last_line: Option<u64>,
    /// Whether the page contains the whole requested range.
    pub satisfied: bool,
    /// How to request the next page.
    pub next: Option<String>,
    /// Whether the entry contains the whole output.
    pub complete: bool,
    /// Parts of the page that are not as they were stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
}

impl<'a> PageReport<'a> {
    /// The report on a page; `next` writes how to request a range.
    pub fn new(entry: &Entry, page: &'a Page, next: impl FnOnce(&Range) -> String) -> PageReport<'a> {
        PageReport {
            id: entry.id.to_string(),
            content: measure::as_text(&page.content),
            start: page.start,
            end: page.end,
            first_line: page.lines.as_ref().map(|lines| *lines.start()),
            last_line: page.lines.as_ref().map(|lines| *lines.end()),
            satisfied: page.progress.is_satisfied(),
            next: page.progress.next().map(next),
            complete: entry.state == EntryState::Complete,
            errors: RetrieveError::damage(entry, page.mismatches.clone())
                .iter()
                .map(ToString::to_string)
                .collect(),
        }
    }
}

/// The result of a search.
#[cfg(feature = "search")]
#[derive(Clone, Debug, Serialize)]
pub struct SearchReport<'a> {
    /// The number of lines that match, shown or not.
    pub matches: u64,
    /// The number of matching lines among the hits.
    pub shown: u64,
    /// The outputs that were searched, with the number of lines that match in each.
    pub outputs: Vec<OutputMatchesReport<'a>>,
    /// The lines that fit a page.
    pub hits: Vec<HitReport<'a>>,
    /// Notices about outputs of which only a part could be searched: the first 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
    /// Outputs that could not be searched, and bytes that are not as they were stored: the first 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// The number of outputs that were not searched as a whole and are not in the two lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<usize>,
}

/// How many lines of one output match.
#[cfg(feature = "search")]
#[derive(Clone, Debug, Serialize)]
pub struct OutputMatchesReport<'a> {
    /// The entry's id.
    pub id: &'a str,
    /// The number of lines that match.
    pub matches: u64,
    /// The number of lines, if it is known.
    pub lines: Option<u64>,
}

/// A line that matches, or that is near a match.
#[cfg(feature = "search")]
#[derive(Clone, Debug, Serialize)]
pub struct HitReport<'a> {
    /// The entry's id.
    pub id: &'a str,
    /// The line's number.
    pub line: u64,
    /// The offset of the line.
    pub offset: u64,
    /// The line, or the part around the match.
    pub text: Cow<'a, str>,
    /// Whether it matches.
    pub is_match: bool,
}

#[cfg(feature = "search")]
impl<'a> SearchReport<'a> {
    /// The report on a search.
    pub fn new(result: &'a crate::retrieve::SearchResult) -> SearchReport<'a> {
        use crate::retrieve::HitKind;
        let lines = result.hits.iter().filter(|hit| hit.kind != HitKind::Break);
        let hits = lines.map(|hit| HitReport {
            id: hit.id.as_str(),
            line: hit.line,
            offset: hit.offset,
            text: measure::as_text(&hit.text),
            is_match: hit.kind == HitKind::Match,
        });
        let outputs = result.outputs.iter().map(|output| OutputMatchesReport {
            id: output.id.as_str(),
            matches: output.matches,
            lines: output.lines,
        });
        SearchReport {
            matches: result.matches,
            shown: result.shown,
            outputs: outputs.collect(),
            hits: hits.collect(),
            incomplete: result.incomplete.iter().map(ToString::to_string).collect(),
            errors: result.errors.iter().map(ToString::to_string).collect(),
            unlisted: (result.unlisted > 0).then_some(result.unlisted),
        }
    }
}

/// What cleaning removed, or would remove.
#[derive(Clone, Debug, Serialize)]
pub struct CleaningReport<'a> {
    /// The number of entries removed.
    pub removed: u64,
    /// Their size.
    pub removed_bytes: u64,
    /// The number of entries that stay.
    pub left: u64,
    /// Their size.
    pub left_bytes: u64,
    /// The number of entries that exceed the quota and stay because they are young, pinned or in use.
    pub over_quota: u64,
    /// Nothing was removed: these entries would be.
    pub dry_run: bool,
    /// The removed entries; in JSON, their ids.
    #[serde(serialize_with = "write_ids")]
    pub ids: &'a [Candidate],
    /// The removed files that the original tool of the profile had left, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftovers: Option<Vec<String>>,
    /// Their size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leftover_bytes: Option<u64>,
    /// The number of entries that were uploaded to a shared store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<u64>,
    /// The number of entries that still wait to be uploaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_local: Option<u64>,
    /// Their size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_local_bytes: Option<u64>,
}

fn write_ids<S: Serializer>(removed: &[Candidate], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(removed.iter().map(|candidate| candidate.id.as_str()))
}

impl<'a> CleaningReport<'a> {
    /// The report on a cleaning.
    pub fn new(plan: &'a CleaningPlan, dry_run: bool) -> CleaningReport<'a> {
        CleaningReport {
            removed: plan.remove.len() as u64,
            removed_bytes: plan.bytes_removed(),
            left: plan.entries_left,
            left_bytes: plan.bytes_left,
            over_quota: plan.over_quota,
            dry_run,
            ids: &plan.remove,
            leftovers: None,
            leftover_bytes: None,
            moved: None,
            only_local: None,
            only_local_bytes: None,
        }
    }
}
