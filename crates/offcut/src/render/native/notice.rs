//! The words of the notice, and where each line of it stands.

use super::Rung;
use crate::cut::{Gap, Size};
use crate::profile::TaskTool;
use crate::recorder::Flow;
use crate::render::content::Content;
use crate::render::next::{NEXT_PAGE_LINES, Next, command, entry};
use crate::render::words::{clip, count, marker, stands_before};
use crate::render::{Control, Facts, Plan, Reach, Trailer};
use crate::shown::Part;
use crate::store::{Id, UploadState};
use std::fmt::Write as _;

/// What is said of an output that a store elsewhere could not take in.
pub(in crate::render) const ONLY_LOCAL: &str = ", only on this machine so far";

/// Where the rest is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Kept { id: Id, path: Option<String>, upload_state: UploadState },
    Lost { reason: String, part: Option<Part> },
}

/// What stands in each line of ours, and the words for it.
pub(super) struct Notice<'a> {
    pub(super) rung: Rung,
    pub(super) tag: String,
    /// A reason longer than this is cut.
    pub(super) longest_reason: usize,
    pub(super) place: Place,
    pub(super) reach: &'a Reach,
    pub(super) task: TaskTool,
    pub(super) original: Size,
    pub(super) trailer: Trailer<'a>,
    pub(super) control: Control,
    pub(super) remark: &'a str,
}

impl Rung {
    /// A reason longer than this is cut.
    pub(super) fn longest_reason(self) -> usize {
        match self {
            Rung::Full => 160,
            Rung::Line | Rung::Least => 40,
            Rung::Name => 0,
        }
    }
}

impl Notice<'_> {
    pub(super) fn write(&self, facts: &Facts<'_>, removed: Size, next: &Next) -> Content {
        let mut text = Content::default();
        text.text.reserve(facts.shown.bytes as usize + 1024);
        let mut gaps = facts.cut.missing().enumerate().peekable();
        let is_whole = gaps.peek().is_none();
        if is_whole || self.rung == Rung::Full {
            let first = if is_whole { self.whole() } else { self.header(facts.shown, removed) };
            text.add(first);
            text.add(b"\n");
        } else if gaps.peek().is_some_and(|(_, gap)| facts.cut.is_marked(gap)) {
            // The strategy's own words stand in the gap where this line would be.
            text.add(self.line(removed, next));
            text.add(b"\n");
        }
        let mut mark = |text: &mut Content, before: &dyn Fn(&Gap) -> bool| {
            while let Some((number, gap)) = gaps.next_if(|(_, gap)| before(gap)) {
                if facts.cut.is_marked(gap) {
                    continue;
                }
                text.end_line();
                let marker = match (self.rung, number) {
                    (Rung::Full, _) | (_, 1..) => self.marker(gap),
                    (Rung::Line | Rung::Least | Rung::Name, 0) => self.line(removed, next),
                };
                text.add(marker);
                text.add(b"\n");
            }
        };
        for piece in &facts.cut.pieces {
            mark(&mut text, &|gap| stands_before(gap, piece));
            text.place(piece);
        }
        mark(&mut text, &|_| true);
        if !is_whole || !self.trailer.is_silent() {
            self.append_last_line(&mut text, next);
        }
        text
    }

    pub(super) fn header(&self, shown: Size, removed: Size) -> String {
        let Size { bytes, lines, .. } = self.original;
        let mut text = format!(
            "[{}: {}, {bytes} bytes; shown {}, {} bytes; missing {}, {} bytes; ",
            self.tag,
            count(lines),
            count(shown.lines),
            shown.bytes,
            count(removed.lines),
            removed.bytes
        );
        if self.control == Control::LeftOut {
            text.push_str("terminal control left out; ");
        }
        text.push_str(&self.remark());
        text.push_str(&self.whereabouts());
        text
    }

    fn remark(&self) -> String {
        if self.remark.is_empty() { String::new() } else { format!("{}; ", self.remark) }
    }

    fn whereabouts(&self) -> String {
        let reason = self.reason();
        match &self.place {
            Place::Kept { path: Some(path), .. } => {
                format!("{}: {path}{}]", self.what_is_kept(), self.caveat())
            }
            Place::Kept { id, path: None, .. } => {
                format!("{}: offcut://{id}{}]", self.what_is_kept(), self.caveat())
            }
            Place::Lost { part: None, .. } => format!("the rest was not kept{reason}]"),
            Place::Lost { part: Some(Part { bytes, .. }), .. } => {
                format!("only the first {bytes} bytes were kept, the rest was not kept{reason}]")
            }
        }
    }

    /// That only this machine has it, and why. Room for the words is also reserved while that may still come.
    fn caveat(&self) -> String {
        match &self.place {
            Place::Kept { upload_state: UploadState::Uploading, .. } => ONLY_LOCAL.to_owned(),
            Place::Kept { upload_state: UploadState::LocalOnly { .. }, .. } => {
                format!("{ONLY_LOCAL}{}", self.reason())
            }
            _ => String::new(),
        }
    }

    /// What is said in few words of an output that the store did not take in.
    fn unkept(&self) -> &'static str {
        match &self.place {
            Place::Lost { part: Some(_), .. } => "not kept whole",
            Place::Lost { part: None, .. } | Place::Kept { .. } => "not kept",
        }
    }

    fn what_is_kept(&self) -> &'static str {
        match self.trailer.flow {
            Flow::Ended => "full output",
            Flow::GoesOn => "output so far",
        }
    }

    /// The line under an output of which only the control is not shown, if there is something to say.
    pub(super) fn trailer_line(&self) -> Option<String> {
        if self.trailer.is_silent() { None } else { self.last_line(&Next::Start) }
    }

    /// The one line over an output of which only the control is not shown.
    pub(super) fn whole(&self) -> String {
        let (Size { bytes, lines, .. }, tag) = (self.original, &self.tag);
        match (&self.place, self.rung) {
            (Place::Kept { .. }, Rung::Full) => format!(
                "[{tag}: {}, {bytes} bytes; all shown, terminal control left out; {}",
                count(lines),
                self.whereabouts()
            ),
            (Place::Lost { .. }, Rung::Full) => format!(
                "[{tag}: {}, {bytes} bytes; all shown, terminal control left out; {}{}]",
                count(lines),
                self.unkept(),
                self.reason()
            ),
            (Place::Kept { id, .. }, Rung::Line) => {
                format!("[terminal control left out of {bytes} bytes: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Least) => {
                format!("[terminal control left out: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Name) => format!("[terminal control left out: offcut://{id}]"),
            (Place::Lost { .. }, _) => {
                format!("[{tag}: terminal control left out, {}{}]", self.unkept(), self.reason())
            }
        }
    }

    pub(super) fn marker(&self, gap: &Gap) -> String {
        marker(&self.tag, self.rung, gap)
    }

    /// The pointer, and what there is to say about the command; on a lower rung only that.
    pub(super) fn last_line(&self, next: &Next) -> Option<String> {
        let Trailer { remark, flow } = self.trailer;
        let mut parts: Vec<String> = Vec::new();
        if !remark.is_empty() {
            parts.push(remark.to_owned());
        }
        if !remark.is_empty() && self.rung == Rung::Full {
            parts.push(format!("{}, {} bytes", count(self.original.lines), self.original.bytes));
        }
        parts.extend(match (flow, &self.place) {
            (Flow::Ended, _) => None,
            (Flow::GoesOn, Place::Kept { .. }) => Some("more is still being captured".to_owned()),
            (Flow::GoesOn, Place::Lost { .. }) => {
                let reason = if self.rung == Rung::Full { self.reason() } else { String::new() };
                Some(format!("more comes and is not kept{reason}"))
            }
        });
        if self.rung == Rung::Full {
            parts.extend(self.pointer(next));
        }
        (!parts.is_empty()).then(|| format!("[{}: {}]", self.tag, parts.join("; ")))
    }

    fn pointer(&self, next: &Next) -> Option<String> {
        let path = match (&self.place, next) {
            (Place::Kept { path, .. }, _) => path,
            (Place::Lost { .. }, Next::Start) => return None,
            (Place::Lost { part: None, .. }, _) => {
                return Some("end; the missing part cannot be read back".to_owned());
            }
            (Place::Lost { part: Some(Part { id, .. }), .. }, _) => {
                return Some(format!("what was kept: {}", entry(self.reach, id)));
            }
        };
        let mut text =
            self.command(next).map_or_else(|| "end".to_owned(), |command| format!("next: {command}"));
        if let (TaskTool::Available, Some(path)) = (self.task, path) {
            let _ = write!(text, "; or let a sub-agent process {path}");
        }
        Some(text)
    }

    pub(super) fn append_last_line(&self, text: &mut Content, next: &Next) {
        let Some(line) = self.last_line(next) else { return };
        text.end_line();
        text.add(line);
        text.add(b"\n");
    }

    /// The one line of the lower rungs.
    pub(super) fn line(&self, removed: Size, next: &Next) -> String {
        let Size { bytes, lines, .. } = removed;
        let missing = if lines > 0 { count(lines) } else { format!("{bytes} bytes") };
        let remark = if self.remark.is_empty() { String::new() } else { format!(" ({})", self.remark) };
        match (&self.place, self.rung) {
            (Place::Kept { id, .. }, Rung::Full | Rung::Line) => {
                let total = self.original.bytes;
                let command = self.command(next).unwrap_or_else(|| format!("offcut://{id}"));
                match lines {
                    0 => format!("[+{bytes} of {total} bytes{remark}: {command}]"),
                    _ => format!("[+{missing}, {bytes} of {total} bytes{remark}: {command}]"),
                }
            }
            (Place::Kept { id, .. }, Rung::Least) => {
                format!("[+{missing}{remark}: {}]", entry(self.reach, id))
            }
            (Place::Kept { id, .. }, Rung::Name) => format!("[+{missing}{remark}: offcut://{id}]"),
            (Place::Lost { .. }, Rung::Full | Rung::Line) => {
                let unkept = self.unkept();
                format!("[{}: +{missing}, {bytes} bytes{remark}, {unkept}{}]", self.tag, self.reason())
            }
            (Place::Lost { .. }, _) => {
                format!("[{}: +{missing}{remark}, {}{}]", self.tag, self.unkept(), self.reason())
            }
        }
    }

    fn command(&self, next: &Next) -> Option<String> {
        let Place::Kept { id, path, .. } = &self.place else { return None };
        command(self.reach, id, path.as_deref(), next)
    }

    /// A store that fails at the very last moment must not break the budget: the room was reserved for success.
    pub(super) fn shorten_reason(&mut self, plan: &Plan, facts: &Facts<'_>, removed: Size) {
        let (Place::Lost { reason, .. }
        | Place::Kept { upload_state: UploadState::LocalOnly { reason }, .. }) = &self.place
        else {
            return;
        };
        let reserved = plan.fixed.bytes + plan.line_marker.bytes + self.remark.len() as u64;
        // As wide as when the room was reserved.
        let Size { bytes, lines, .. } = self.original;
        let last_line = [Next::Bytes(bytes, bytes), Next::Lines(lines..=lines + NEXT_PAGE_LINES)]
            .iter()
            .filter_map(|next| self.last_line(next))
            .map(|line| line.len())
            .max()
            .unwrap_or(0);
        let ours = match self.rung {
            _ if facts.cut.missing().next().is_none() => {
                self.whole().len() + 1 + self.trailer_line().map_or(0, |line| line.len() + 2)
            }
            Rung::Full => {
                self.header(facts.shown, removed).len() + last_line + 4 + plan.line_marker.bytes as usize
            }
            Rung::Line | Rung::Least | Rung::Name => {
                self.line(removed, &Next::Bytes(0, 0)).len()
                    + 2
                    + self.last_line(&Next::Start).map_or(0, |line| line.len() + 2)
            }
        };
        let over = (ours as u64).saturating_sub(reserved) as usize;
        self.longest_reason = self.longest_reason.min(reason.len()).saturating_sub(over);
    }

    /// The same for a last line that stands alone, with a line feed before and behind it.
    pub(super) fn shorten_reason_to(&mut self, most: usize) {
        let Place::Lost { reason, .. } = &self.place else { return };
        let ours = self.last_line(&Next::Start).map_or(0, |line| line.len() + 2);
        self.longest_reason = self.longest_reason.min(reason.len()).saturating_sub(ours.saturating_sub(most));
    }

    /// Why it was not kept, as far as there is room.
    fn reason(&self) -> String {
        match &self.place {
            Place::Lost { reason, .. }
            | Place::Kept { upload_state: UploadState::LocalOnly { reason }, .. } => {
                match clip(reason, self.longest_reason) {
                    clipped if clipped.is_empty() => String::new(),
                    clipped => format!(": {clipped}"),
                }
            }
            Place::Kept { .. } => String::new(),
        }
    }
}
