//! Turns a cut into the text that the model reads.
//!
//! [`plan`] computes, before anything is cut, what the notices cost at most; [`render`] writes them.

mod content;
mod description;
mod frames;
mod native;
mod next;

use crate::cut::{Cut, Size};
use crate::limits::{Limits, PerUnit};
use crate::live::short_reason;
use crate::notice::{Message, Notice, Running, Tag};
use crate::outcome::Saved;
use crate::profile::{Profile, Settings, TaskTool};
use crate::recorder::{Outlook, OutputState};
use crate::retrieve::Range;
use crate::strategy::{Cost, Ends};
pub(crate) use native::MIN_PREVIEW_BYTES;
use native::NoticeLevel;
use std::path::Path;

pub(crate) use content::Content;
pub use content::Placed;
pub(crate) use description::describe;
pub(crate) use next::NEXT_PAGE_BYTES;
#[cfg(feature = "smart")]
pub(crate) use next::NEXT_PAGE_LINES;

/// What the reader of a preview can use to read the rest. A preview names nothing else.
///
/// ```
/// use offcut::{Context, Profile, Reach, Storage, Truncator, store::MemoryStore};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native())
///     .storage(Storage::To(store))
///     .reach(Reach::Shell { program: "offcut".to_owned() });
/// let output = "a line\n".repeat(100_000);
/// let outcome = truncator.apply(&output, &Context::default());
/// assert!(outcome.text().contains("more: offcut grep PATTERN "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// A shell, with the command that runs offcut there and finds the store.
    Shell {
        /// For example `offcut`, or `offcut --store DIR`.
        program: String,
    },
    /// A tool that reads stored outputs, such as [`ReadTool`](crate::retrieve::ReadTool).
    Tool {
        /// Its name.
        name: String,
    },
    /// The reader's own tools on the stored file.
    Files,
    /// Nothing.
    Nothing,
}

impl Reach {
    /// How this reader reads a part of the stored output with this id, or its beginning; nothing if it can only read files.
    ///
    /// ```
    /// use offcut::{Reach, retrieve::Range};
    ///
    /// let range = Range::lines("303:502").unwrap();
    /// let shell = Reach::Shell { program: "offcut".to_owned() };
    /// assert_eq!(shell.read_call("1q2hzv0gep", Some(&range)).unwrap(), "offcut read 1q2hzv0gep --lines 303:502");
    /// let tool = Reach::Tool { name: "offcut_read".to_owned() };
    /// assert_eq!(tool.read_call("1q2hzv0gep", None).unwrap(), r#"offcut_read {"id":"1q2hzv0gep"}"#);
    /// ```
    pub fn read_call(&self, id: &str, range: Option<&Range>) -> Option<String> {
        match self {
            Reach::Shell { program } => {
                let option = range.map_or_else(String::new, |range| format!(" {}", range.option()));
                Some(format!("{program} read {id}{option}"))
            }
            Reach::Tool { name } => {
                let range = range.map(Range::unit_and_value);
                let range =
                    range.map_or_else(String::new, |(unit, value)| format!(",\"{unit}\":\"{value}\""));
                Some(format!("{name} {{\"id\":\"{id}\"{range}}}"))
            }
            Reach::Files | Reach::Nothing => None,
        }
    }
}

impl Default for Reach {
    /// The stored file: the library does not know whether its reader has a shell with `offcut` in it.
    fn default() -> Self {
        Reach::Files
    }
}

/// What the notices cost at most.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Once, wherever the gaps are.
    pub(crate) fixed: Cost,
    /// For each gap.
    pub(crate) marker: Cost,
    /// For each gap of whole lines.
    pub(crate) line_marker: Cost,
    /// The line after an output that is shown whole and still running.
    pub(crate) more: String,
    /// What the strategy says about the text. The strategy pays for it.
    detail: String,
    level: NoticeLevel,
}

impl Plan {
    /// The plan for notices that do not count against the limits.
    fn free() -> Plan {
        Plan {
            fixed: Cost::default(),
            marker: Cost::default(),
            line_marker: Cost::default(),
            more: String::new(),
            detail: String::new(),
            level: NoticeLevel::Full,
        }
    }

    /// The plan with what the strategy says about the text.
    pub(crate) fn with_detail(self, detail: String) -> Plan {
        Plan { detail, ..self }
    }

    /// The plan for an output that is shown whole, with a full notice after it.
    pub(crate) fn for_whole(self) -> Plan {
        Plan { level: NoticeLevel::Full, ..self }
    }
}

/// What the footer says about the command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trailer<'a> {
    /// How it ended; nothing if empty.
    pub(crate) remark: &'a str,
    /// Whether its output is over.
    pub(crate) state: OutputState,
}

impl Trailer<'_> {
    /// Whether there is nothing to say.
    fn is_silent(&self) -> bool {
        self.remark.is_empty() && self.state == OutputState::Ended
    }
}

/// What is known when the text is written.
pub(crate) struct Facts<'a> {
    pub(crate) ends: &'a Ends,
    pub(crate) cut: &'a Cut<'a>,
    pub(crate) original: Size,
    pub(crate) shown: Size,
    /// How much is not shown, in the units in which the notice counts.
    pub(crate) removed: PerUnit<Option<u64>>,
    pub(crate) saved: &'a Saved,
    pub(crate) trailer: Trailer<'a>,
    pub(crate) settings: &'a Settings,
    /// The directory to which paths are relative.
    pub(crate) base: Option<&'a Path>,
}

impl Facts<'_> {
    /// The size of what is not shown. A line that is shown in part counts as shown.
    fn removed_size(&self) -> Size {
        Size {
            bytes: self.original.bytes - self.shown.bytes,
            lines: self.original.lines.saturating_sub(self.shown.lines),
            ..Size::default()
        }
    }
}

/// Whether some of the output is terminal control, which is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// All of it is text.
    Absent,
    /// Some of it is control.
    LeftOut,
}

/// What is known before the cut: where the rest will be, how much there is, and how much may be shown.
pub(crate) struct Forecast<'a> {
    pub(crate) reach: &'a Reach,
    pub(crate) task: TaskTool,
    pub(crate) outlook: Outlook,
    pub(crate) original: Size,
    pub(crate) trailer: Trailer<'a>,
    pub(crate) keep: &'a Limits,
    pub(crate) cost: &'a dyn Fn(&[u8]) -> Cost,
}

/// Reserves what the notices will cost. The frames of a profile with its own wording do not count against its limits.
pub(crate) fn plan(profile: &Profile, forecast: &Forecast<'_>, control: Control) -> Plan {
    match profile.wording {
        Some(_) => Plan::free(),
        None => native::plan(forecast, control),
    }
}

/// Reserves what the notices will cost beside all of `text`, if both fit.
pub(crate) fn plan_whole(
    profile: &Profile,
    forecast: &Forecast<'_>,
    limits: &Limits,
    text: &[u8],
) -> Option<Plan> {
    let cost = (forecast.cost)(text);
    match profile.wording {
        Some(_) if limits.afford(cost) => Some(Plan::free()),
        Some(_) => None,
        None => native::plan_whole(forecast, limits, cost),
    }
}

/// How much is not shown, in the unit in which the profile's notice counts: bytes in the native profile if there were too
/// many of them, lines if not.
pub(crate) fn count_removed(profile: &Profile, facts: &Facts<'_>) -> PerUnit<Option<u64>> {
    match &profile.wording {
        Some(frames) => frames::count_removed(frames.removed, facts),
        None => {
            let Size { bytes, lines, .. } = facts.removed_size();
            match facts.settings.limits.bytes.is_some_and(|most| facts.original.bytes > most) {
                true => PerUnit { bytes: Some(bytes), ..PerUnit::default() },
                false => PerUnit { lines: Some(lines), ..PerUnit::default() },
            }
        }
    }
}

/// Says that output of a running command is withheld, and how to read it.
pub(crate) fn withheld(reach: &Reach, outlook: &Outlook) -> Message {
    let (running, more) = match outlook {
        Outlook::Keeping { id, path, .. } => {
            let path = path.as_deref().and_then(next::printable);
            (Running::Stored, next::read_command(reach, id, path.as_deref(), &next::Next::Last))
        }
        Outlook::Losing { error } => (Running::NotStored { reason: short_reason(error) }, None),
        Outlook::Off => (Running::NotStored { reason: String::new() }, None),
    };
    Message::Footer { status: None, running: Some(running), more }
}

/// A notice among the output of a running command, of which `opening` is the beginning.
pub(crate) fn live_notice(outlook: &Outlook, opening: &[u8], message: Message) -> Notice {
    match outlook {
        Outlook::Keeping { id, .. } => Notice::of_entry(id, message),
        Outlook::Losing { .. } | Outlook::Off => {
            Notice { tag: Tag::unused_in(std::iter::once(opening)), message }
        }
    }
}

/// Writes the preview.
pub(crate) fn render(profile: &Profile, reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Content {
    match &profile.wording {
        Some(frames) if !facts.cut.gaps().is_empty() => {
            let mut text = frames::render(frames, &plan.detail, facts);
            if !facts.trailer.is_silent() {
                native::append_footer(reach, facts, &mut text);
            }
            text
        }
        _ => native::render(reach, plan, facts),
    }
}
