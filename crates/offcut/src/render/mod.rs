//! Turns a cut into the text that the model reads.
//!
//! [`plan`] says, before anything is cut, what our own text will cost at the most; [`render`] writes it.

mod frames;
mod native;

use crate::cut::{Cut, Size};
use crate::limits::Limits;
use crate::profile::{Profile, Settings, TaskTool};
use crate::recorder::{Flow, Outlook};
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
    /// The line under an output that is shown whole and goes on.
    pub(crate) more: String,
    rung: native::Rung,
}

impl Plan {
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

/// What is known before anything is cut.
pub(crate) struct Prospect<'a> {
    pub(crate) outlook: Outlook,
    pub(crate) original: Size,
    pub(crate) trailer: Trailer<'a>,
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

/// Reserves what our text will cost. A document's frames are not counted in its limits.
pub(crate) fn plan(
    profile: &Profile,
    reach: &Reach,
    task: TaskTool,
    prospect: Prospect<'_>,
    keep: &Limits,
    cost: &dyn Fn(&str) -> Cost,
) -> Plan {
    match profile.wording {
        Some(_) => Plan {
            fixed: Cost::default(),
            marker: Cost::default(),
            more: String::new(),
            rung: native::Rung::Full,
        },
        None => native::plan(reach, task, prospect, keep, cost),
    }
}

/// Writes the preview.
pub(crate) fn render(profile: &Profile, reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Vec<u8> {
    match &profile.wording {
        Some(frames) if !facts.cut.gaps.is_empty() => {
            let mut text = frames::render(frames, facts);
            native::append_trailer(reach, facts, &mut text);
            text
        }
        _ => native::render(reach, plan, facts),
    }
}
