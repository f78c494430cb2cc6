//! Turns a cut into the text that the model reads.
//!
//! [`plan`] says, before anything is cut, what our own text will cost at the most; [`render`] writes it.

mod frames;
mod native;

use crate::cut::{Cut, Size};
use crate::limits::Limits;
use crate::profile::{Profile, Settings, TaskTool};
use crate::recorder::Outlook;
use crate::strategy::{Cost, Ends};
use crate::truncator::Kept;

pub(crate) use native::NEXT_PAGE_BYTES;

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
    rung: native::Rung,
}

/// All that is known when the text is written.
pub(crate) struct Facts<'a> {
    pub(crate) ends: &'a Ends,
    pub(crate) cut: &'a Cut<'a>,
    pub(crate) original: Size,
    pub(crate) shown: Size,
    pub(crate) kept: &'a Kept,
    pub(crate) settings: &'a Settings,
}

/// Reserves what our text will cost. A document's frames are not counted in its limits.
pub(crate) fn plan(
    profile: &Profile,
    reach: &Reach,
    task: TaskTool,
    outlook: Outlook,
    original: Size,
    keep: &Limits,
    cost: &dyn Fn(&str) -> Cost,
) -> Plan {
    match profile.wording {
        Some(_) => Plan { fixed: Cost::default(), marker: Cost::default(), rung: native::Rung::Full },
        None => native::plan(reach, task, outlook, original, keep, cost),
    }
}

/// Writes the preview.
pub(crate) fn render(profile: &Profile, reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Vec<u8> {
    match &profile.wording {
        Some(frames) => frames::render(frames, facts),
        None => native::render(reach, plan, facts),
    }
}
