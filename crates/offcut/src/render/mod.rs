//! Turns a cut into the text that the model reads.
//!
//! [`plan`] says, before anything is cut, what our own text will cost at the most; [`render`] writes it.

mod content;
mod description;
mod frames;
mod native;
mod next;
mod words;

use crate::cut::{Cut, Size};
use crate::limits::Limits;
use crate::profile::{Profile, Settings, TaskTool};
use crate::recorder::{Flow, Outlook};
use crate::shown::Kept;
use crate::strategy::{Cost, Ends};

pub(crate) use content::Content;
pub use content::Placed;
pub(crate) use description::{Description, describe};
pub(crate) use next::NEXT_PAGE_BYTES;

/// What the reader of a preview can use to get the rest back. Only what exists is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A shell: the command that runs offcut there, with whatever it needs to find the store.
    Shell {
        /// For example `offcut`, or `offcut --store DIR`.
        program: String,
    },
    /// The retrieval tool of an MCP server.
    Tool {
        /// Its name.
        name: String,
    },
    /// Its own tools on the file.
    Files,
    /// Nothing.
    Nothing,
}

impl Default for Reach {
    fn default() -> Self {
        Reach::Shell { program: "offcut".to_owned() }
    }
}

/// What our own text costs at the most.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Once, wherever the gaps are.
    pub(crate) fixed: Cost,
    /// For each gap.
    pub(crate) marker: Cost,
    /// The same for a gap of whole lines.
    pub(crate) line_marker: Cost,
    /// The line under an output that is shown whole and goes on.
    pub(crate) more: String,
    /// What the strategy says of the text, which pays for it.
    remark: String,
    rung: native::Rung,
}

impl Plan {
    /// The plan for words that are not counted in the limits.
    fn free() -> Plan {
        Plan {
            fixed: Cost::default(),
            marker: Cost::default(),
            line_marker: Cost::default(),
            more: String::new(),
            remark: String::new(),
            rung: native::Rung::Full,
        }
    }

    /// The plan with what the strategy says of the text.
    pub(crate) fn with_remark(self, remark: String) -> Plan {
        Plan { remark, ..self }
    }

    /// The plan for an output that is shown whole, with all we have to say under it.
    pub(crate) fn for_whole(self) -> Plan {
        Plan { rung: native::Rung::Full, ..self }
    }
}

/// What the last line says about the command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trailer<'a> {
    /// How it ended; nothing if empty.
    pub(crate) remark: &'a str,
    /// Whether its output is over.
    pub(crate) flow: Flow,
}

impl Trailer<'_> {
    /// Whether there is nothing to say.
    fn is_silent(&self) -> bool {
        self.remark.is_empty() && self.flow == Flow::Ended
    }
}

/// All that is known when the text is written.
pub(crate) struct Facts<'a> {
    pub(crate) ends: &'a Ends,
    pub(crate) cut: &'a Cut<'a>,
    pub(crate) original: Size,
    pub(crate) shown: Size,
    pub(crate) kept: &'a Kept,
    pub(crate) trailer: Trailer<'a>,
    pub(crate) settings: &'a Settings,
}

/// Whether something of the output is terminal control, which is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// All of it is text.
    Absent,
    /// Some of it is control.
    LeftOut,
}

/// What is known before the cut: where the rest will be, how much there is, and how much may be shown.
pub(crate) struct Budget<'a> {
    pub(crate) reach: &'a Reach,
    pub(crate) task: TaskTool,
    pub(crate) outlook: Outlook,
    pub(crate) original: Size,
    pub(crate) trailer: Trailer<'a>,
    pub(crate) keep: &'a Limits,
    pub(crate) cost: &'a dyn Fn(&[u8]) -> Cost,
}

/// Reserves what our text will cost. A document's frames are not counted in its limits.
pub(crate) fn plan(profile: &Profile, budget: &Budget<'_>, control: Control) -> Plan {
    match profile.wording {
        Some(_) => Plan::free(),
        None => native::plan(budget, control),
    }
}

/// Reserves what our text will cost beside all of `text`, if both fit.
pub(crate) fn plan_whole(profile: &Profile, budget: &Budget<'_>, text: &[u8]) -> Option<Plan> {
    let cost = (budget.cost)(text);
    match profile.wording {
        Some(_) if budget.keep.afford(cost) => Some(Plan::free()),
        Some(_) => None,
        None => native::plan_whole(budget, cost),
    }
}

/// The last line alone, for an output that is only described.
pub(crate) fn trailer(reach: &Reach, facts: &Facts<'_>) -> String {
    let mut text = Content::default();
    native::append_trailer(reach, facts, &mut text);
    String::from_utf8_lossy(&text.text).into_owned()
}

/// Writes the preview.
pub(crate) fn render(profile: &Profile, reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Content {
    match &profile.wording {
        Some(frames) if !facts.cut.gaps.is_empty() => {
            let mut text = frames::render(frames, &plan.remark, facts);
            native::append_trailer(reach, facts, &mut text);
            text
        }
        _ => native::render(reach, plan, facts),
    }
}
