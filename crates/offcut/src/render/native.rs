//! The notices of the native profile: which ones a preview has, where they are, and what they cost.
//!
//! [`plan`] chooses the level before anything is cut and reserves the widest text that can occur at it, so that
//! [`render`] stays within the budget whatever numbers the notices turn out to contain.

use crate::cut::{Gap, GapReason, LinePosition, Piece, PieceKind, Size};
use crate::limits::Limits;
use crate::notice::{Access, Amount, CONTROL_NOT_SHOWN, Count, Message, Notice, Place, Running, Tag};
use crate::outcome::{Saved, StoredPart};
use crate::profile::TaskTool;
use crate::recorder::{Outlook, OutputState};
use crate::render::content::Content;
use crate::render::next::{
    NEXT_PAGE_LINES, Next, longest_command, next, printable, read_command, search_command,
};
use crate::render::{Control, Facts, Forecast, Plan, Reach, Trailer};
use crate::store::{Id, UploadState};
use crate::strategy::Cost;
use std::time::UNIX_EPOCH;

/// How much the notices say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoticeLevel {
    /// A header, a marker for each gap, a footer.
    Full,
    /// One line in the first gap, for a small budget.
    Compact,
}

impl NoticeLevel {
    /// A longer reason is shortened.
    fn longest_reason(self) -> usize {
        match self {
            NoticeLevel::Full => 160,
            NoticeLevel::Compact => 40,
        }
    }
}

/// The widest tag of a line that does not name the entry.
const WIDEST_TAG: Tag = Tag::Variant('z');

/// A piece that ends inside a line needs a line feed before the notice, and the notice one after it.
const LINE_FEEDS: Cost = Cost { bytes: 2, chars: 2, tokens: 2, lines: 0 };

/// What became of the whole output.
#[derive(Clone, Debug)]
enum Stored {
    Entry { id: Id, path: Option<String>, upload_state: UploadState },
    Beginning { id: Id, bytes: u64, reason: String },
    Nothing { reason: String },
}

/// Writes the notices of one preview.
struct Notices<'a> {
    level: NoticeLevel,
    tag: Tag,
    stored: Stored,
    longest_reason: usize,
    longest_command: u64,
    reach: &'a Reach,
    task: TaskTool,
    original: Size,
    trailer: Trailer<'a>,
    control: Control,
    detail: &'a str,
}

/// A preview is never larger than the original, unless that is smaller than this.
pub(crate) const MIN_PREVIEW_BYTES: u64 = 512;

/// Chooses the richest notices that fit beside a text of this cost, all of which is shown.
pub(super) fn plan_whole(forecast: &Forecast<'_>, limits: &Limits, text: Cost) -> Option<Plan> {
    [NoticeLevel::Full, NoticeLevel::Compact].into_iter().find_map(|level| {
        let notices = Notices::expected(forecast, level, Control::LeftOut);
        let line = |notice: Notice| (forecast.cost)(notice.to_string().as_bytes()) + LINE_FEEDS;
        let footer = if forecast.trailer.is_silent() { None } else { notices.footer(&Next::Start) };
        let headers = notices.shown_sizes().map(|shown| line(notices.all_shown(shown)));
        let fixed = widest(headers) + footer.map_or_else(Cost::default, line);
        let plan = Plan { fixed, level, ..Plan::free() };
        let is_smaller = (fixed + text).bytes <= notices.original.bytes.max(MIN_PREVIEW_BYTES);
        (is_smaller && limits.afford(fixed + text)).then_some(plan)
    })
}

/// Chooses the richest notices that leave most of the budget to the output.
pub(super) fn plan(forecast: &Forecast<'_>, control: Control) -> Plan {
    let full = Notices::expected(forecast, NoticeLevel::Full, control).plan(forecast);
    // Full notices may take a quarter of the budget.
    match forecast.keep.afford((full.fixed + full.marker).times(4)) {
        true => full,
        false => {
            let compact = Notices::expected(forecast, NoticeLevel::Compact, control).plan(forecast);
            Plan { more: full.more, ..compact }
        }
    }
}

pub(super) fn render(reach: &Reach, plan: &Plan, facts: &Facts<'_>) -> Content {
    let mut notices = Notices { detail: &plan.detail, ..Notices::known(reach, plan.level, facts) };
    if facts.cut.gaps().is_empty() {
        let mut text = Content::default();
        facts.cut.pieces().iter().for_each(|piece| text.place(piece));
        notices.fit_reason(plan.more.len(), |notices| {
            notices.footer(&Next::Start).map_or(0, |footer| footer.to_string().len() + 2)
        });
        text.add_line(notices.footer(&Next::Start));
        return text;
    }
    let reserved = plan.fixed.bytes + plan.line_marker.bytes + plan.detail.len() as u64;
    let next = next(facts.ends, facts.cut);
    notices.fit_reason(usize::try_from(reserved).unwrap_or(usize::MAX), |notices| {
        notices.fixed_lines(facts, &next).iter().map(|line| line.to_string().len() + 2).sum()
    });
    notices.write(facts, &next)
}

/// What is not shown. Where a part of a line is missing, the number of whole lines would not tell all of it.
fn removed(facts: &Facts<'_>) -> Size {
    let removed = facts.removed_size();
    match facts.cut.missing().all(Gap::is_of_whole_lines) {
        true => removed,
        false => Size { lines: 0, ..removed },
    }
}

/// The footer alone.
pub(super) fn append_footer(reach: &Reach, facts: &Facts<'_>, text: &mut Content) {
    text.add_line(Notices::known(reach, NoticeLevel::Full, facts).footer(&next(facts.ends, facts.cut)));
}

/// The footer of a description.
pub(super) fn footer_of_binary(level: NoticeLevel, reach: &Reach, facts: &Facts<'_>) -> Option<Notice> {
    Notices::known(reach, level, facts).footer(&Next::Kind)
}

/// Where the whole output is, for the description of a binary one.
pub(super) fn place(facts: &Facts<'_>) -> Place {
    Notices::known(&Reach::Nothing, NoticeLevel::Full, facts).place()
}

/// The same in few words.
pub(super) fn short_place(facts: &Facts<'_>) -> Place {
    match facts.saved {
        Saved::Complete(entry) => Place::Stored(format!("offcut://{}", entry.id.short())),
        Saved::Running(entry) => Place::Growing(format!("offcut://{}", entry.id.short())),
        Saved::Failed { .. } | Saved::Disabled => Place::NotStored { reason: String::new() },
    }
}

impl<'a> Notices<'a> {
    /// The notices as far as they are known before the cut, with the widest numbers and names.
    fn expected(forecast: &Forecast<'a>, level: NoticeLevel, control: Control) -> Notices<'a> {
        let Forecast { reach, task, original, trailer, .. } = *forecast;
        // `0 lines` is wider than `1 line`.
        let original = Size { lines: original.lines.max(2), ..original };
        let stored = match &forecast.outlook {
            Outlook::Keeping { id, path, upload_state } => Stored::Entry {
                id: *id,
                path: path.as_deref().and_then(printable),
                upload_state: upload_state.clone(),
            },
            // Whether the beginning was stored is known at the end; to say so takes more room.
            Outlook::Losing { error } => {
                Stored::Beginning { id: Id::new(UNIX_EPOCH, 0), bytes: original.bytes, reason: error.clone() }
            }
            Outlook::Off => Stored::Nothing { reason: String::new() },
        };
        Notices {
            level,
            tag: WIDEST_TAG,
            stored,
            longest_reason: level.longest_reason(),
            longest_command: longest_command(forecast.keep, original),
            reach,
            task,
            original,
            trailer,
            control,
            detail: "",
        }
    }

    /// The notices when everything is known.
    fn known(reach: &'a Reach, level: NoticeLevel, facts: &Facts<'a>) -> Notices<'a> {
        let Facts { settings, original, trailer, .. } = *facts;
        let stored = match facts.saved {
            Saved::Complete(entry) | Saved::Running(entry) => Stored::Entry {
                id: entry.id,
                path: entry.path.as_deref().and_then(printable),
                upload_state: entry.upload_state.clone(),
            },
            Saved::Failed { error, part: Some(StoredPart { id, bytes }) } => {
                Stored::Beginning { id: *id, bytes: *bytes, reason: error.clone() }
            }
            Saved::Failed { error, part: None } => Stored::Nothing { reason: error.clone() },
            Saved::Disabled => Stored::Nothing { reason: String::new() },
        };
        Notices {
            level,
            tag: Tag::unused_in(facts.cut.pieces().iter().map(|piece| &*piece.text)),
            stored,
            longest_reason: level.longest_reason(),
            longest_command: longest_command(&settings.keep, original),
            reach,
            task: settings.task,
            original,
            trailer,
            control: facts.ends.control(),
            detail: "",
        }
    }

    /// Sizes of what may be shown whose texts are the widest: all of it, or so little that it has its own unit.
    fn shown_sizes(&self) -> impl Iterator<Item = Size> + use<> {
        let original = self.original;
        [original.bytes, 99, 99_000, 99_000_000]
            .into_iter()
            .filter(move |&bytes| bytes <= original.bytes)
            .map(move |bytes| Size { bytes, ..original })
    }

    /// Reserves the widest notices that can occur.
    fn plan(&self, forecast: &Forecast<'_>) -> Plan {
        let original = self.original;
        let cost = |notice: &Notice| (forecast.cost)(notice.to_string().as_bytes()) + LINE_FEEDS;
        let widest = |notices: &[Notice]| widest(notices.iter().map(cost));
        // The widest numbers: everything is shown, everything is left out, one gap covers all of it.
        let gap = |from, why| Gap {
            start: original.bytes,
            end: original.bytes * 2,
            first_line: original.lines,
            last_line: original.lines * 2,
            from,
            to: LinePosition::Start,
            why,
        };
        let line_marker = widest(
            &[GapReason::Omitted, GapReason::Repeated]
                .map(|why| self.marker(&gap(LinePosition::Start, why), "")),
        );
        let marker = widest(&[
            self.marker(&gap(LinePosition::Inside, GapReason::Omitted), ""),
            self.marker(&gap(LinePosition::Inside, GapReason::Line), ""),
            self.marker(&gap(LinePosition::Start, GapReason::Opaque), ""),
        ]);
        let marker = marker.beyond(line_marker) + line_marker;
        let pages = [
            Next::Lines(original.lines..=original.lines + NEXT_PAGE_LINES),
            Next::Bytes(original.bytes, original.bytes),
            Next::Search,
        ];
        let footers: Vec<Notice> = pages.iter().filter_map(|page| self.footer(page)).collect();
        let fixed = match self.level {
            NoticeLevel::Full => cost(&self.header(original)) + widest(&footers),
            NoticeLevel::Compact => {
                let removed = [original, Size { lines: 0, ..original }];
                let rest = pages.iter().flat_map(|page| removed.map(|removed| self.rest(removed, page)));
                // If everything turns out to be shown, the line says that instead.
                let all_shown = (self.control == Control::LeftOut).then(|| self.all_shown(original));
                let lines: Vec<Notice> = rest.chain(all_shown).collect();
                // The line takes the place of the first marker, so only what it costs beyond that is extra.
                widest(&lines).beyond(line_marker) + widest(&footers)
            }
        };
        let more = self.footer(&Next::Start).map_or_else(String::new, |footer| format!("\n{footer}\n"));
        Plan { fixed, marker, line_marker, more, detail: String::new(), level: self.level }
    }

    fn write(&self, facts: &Facts<'_>, next: &Next) -> Content {
        let mut text = Content::default();
        text.text.reserve(facts.shown.bytes as usize + 1024);
        let removed = removed(facts);
        let mut gaps = facts.cut.missing().enumerate().peekable();
        let shows_all = gaps.peek().is_none();
        let first_is_marked = gaps.peek().is_some_and(|(_, gap)| facts.cut.is_marked(gap));
        match self.level {
            _ if shows_all => text.add_line(Some(self.all_shown(facts.shown))),
            NoticeLevel::Full => text.add_line(Some(self.header(facts.shown))),
            // The strategy's own marker is in the gap where this line would be.
            NoticeLevel::Compact if first_is_marked => text.add_line(Some(self.rest(removed, next))),
            NoticeLevel::Compact => {}
        }
        let mut mark = |text: &mut Content, is_before: &dyn Fn(&Gap) -> bool| {
            while let Some((number, gap)) = gaps.next_if(|(_, gap)| is_before(gap)) {
                if facts.cut.is_marked(gap) {
                    continue;
                }
                text.add_line(Some(match (self.level, number) {
                    (NoticeLevel::Compact, 0) => self.rest(removed, next),
                    _ => self.marker(gap, facts.cut.contents(gap)),
                }));
            }
        };
        for piece in facts.cut.pieces() {
            mark(&mut text, &|gap| is_before(gap, piece));
            text.place(piece);
        }
        mark(&mut text, &|_| true);
        if !shows_all || !self.trailer.is_silent() {
            text.add_line(self.footer(next));
        }
        text
    }

    /// The lines that a preview has besides the markers.
    fn fixed_lines(&self, facts: &Facts<'_>, next: &Next) -> Vec<Notice> {
        let shows_all = facts.cut.missing().next().is_none();
        let first = match self.level {
            _ if shows_all => self.all_shown(facts.shown),
            NoticeLevel::Full => self.header(facts.shown),
            NoticeLevel::Compact => self.rest(removed(facts), next),
        };
        // As wide as when the room was reserved.
        let Size { bytes, lines, .. } = self.original;
        let pages = [Next::Bytes(bytes, bytes), Next::Lines(lines..=lines + NEXT_PAGE_LINES), Next::Search];
        let footer =
            pages.iter().filter_map(|page| self.footer(page)).max_by_key(|line| line.to_string().len());
        std::iter::once(first).chain(footer.filter(|_| !shows_all || !self.trailer.is_silent())).collect()
    }

    /// Shortens the reason so that the lines, whose length `length` computes, stay within `most` bytes.
    ///
    /// A store that fails at the last moment must not break the budget: the room was reserved for success.
    fn fit_reason(&mut self, most: usize, length: impl Fn(&Notices<'_>) -> usize) {
        let over = length(self).saturating_sub(most);
        self.longest_reason = self.longest_reason.min(self.reason().len()).saturating_sub(over);
    }

    fn notice(&self, message: Message) -> Notice {
        Notice { tag: self.tag.clone(), message }
    }

    /// The footer names the entry, so that a reader sees the id next to the command.
    fn notice_of_entry(&self, message: Message) -> Notice {
        match &self.stored {
            Stored::Entry { id, .. } => Notice::of_entry(id, message),
            Stored::Beginning { .. } | Stored::Nothing { .. } => self.notice(message),
        }
    }

    fn header(&self, shown: Size) -> Notice {
        let mut details = Vec::new();
        if self.control == Control::LeftOut {
            details.push(CONTROL_NOT_SHOWN.to_owned());
        }
        if !self.detail.is_empty() {
            details.push(self.detail.to_owned());
        }
        let amount = |Size { lines, bytes, .. }| Amount { lines, bytes };
        let (shown, total) = (amount(shown), amount(self.original));
        self.notice(Message::Header { shown, total, details, place: self.place() })
    }

    /// The line above an output of which only terminal control is not shown.
    fn all_shown(&self, shown: Size) -> Notice {
        match self.level {
            NoticeLevel::Full => self.header(shown),
            NoticeLevel::Compact => self.notice(Message::Control(self.access(&Next::Start))),
        }
    }

    fn rest(&self, removed: Size, next: &Next) -> Notice {
        let count = match removed.lines {
            0 => Count::Bytes(removed.bytes),
            lines => Count::Lines(lines),
        };
        let (detail, access) = (self.detail.to_owned(), self.access(next));
        self.notice(Message::Rest { count, detail, access })
    }

    /// The marker of a gap whose lines have these contents.
    fn marker(&self, gap: &Gap, contents: &str) -> Notice {
        let Gap { start, end, first_line: first, last_line: last, .. } = *gap;
        self.notice(match (self.level, gap.why) {
            (NoticeLevel::Compact, _) if gap.is_of_whole_lines() => {
                Message::Count(Count::Lines(last + 1 - first))
            }
            (NoticeLevel::Compact, _) => Message::Count(Count::Bytes(end - start)),
            (NoticeLevel::Full, _) => match Message::gap(gap) {
                Message::Similar { first, last, .. } => {
                    Message::Similar { first, last, contents: contents.to_owned() }
                }
                message => message,
            },
        })
    }

    /// How the command ended and how to read more; in a small preview only the former.
    fn footer(&self, next: &Next) -> Option<Notice> {
        let status = Some(self.trailer.remark.to_owned()).filter(|status| !status.is_empty());
        let running = match (self.trailer.state, &self.stored) {
            (OutputState::Ended, _) => None,
            (OutputState::StillRunning, Stored::Entry { .. }) => Some(Running::Stored),
            (OutputState::StillRunning, _) => Some(Running::NotStored { reason: self.footer_reason() }),
        };
        let more = match self.level {
            NoticeLevel::Full => self.more(next),
            NoticeLevel::Compact => None,
        };
        let is_empty = status.is_none() && running.is_none() && more.is_none();
        (!is_empty).then(|| self.notice_of_entry(Message::Footer { status, running, more }))
    }

    fn more(&self, next: &Next) -> Option<String> {
        match &self.stored {
            Stored::Entry { id, path, .. } => {
                let read = read_command(self.reach, id, path.as_deref(), next)?;
                let search = match next {
                    Next::Search | Next::Kind => None,
                    Next::Start | Next::Lines(_) | Next::Bytes(..) | Next::Last => {
                        search_command(self.reach, id)
                    }
                };
                let search = search.map_or_else(String::new, |line| format!(", or {line}"));
                let task = match (self.task, path) {
                    (TaskTool::Available, Some(path)) => format!("; or let a sub-agent process {path}"),
                    _ => String::new(),
                };
                Some(format!("{read}{search}{task}"))
            }
            Stored::Beginning { id, .. } if !matches!(next, Next::Start | Next::Kind) => {
                read_command(self.reach, id, None, &Next::Start)
            }
            Stored::Beginning { .. } | Stored::Nothing { .. } => None,
        }
    }

    fn place(&self) -> Place {
        match &self.stored {
            Stored::Entry { id, path, upload_state } => {
                let location = path.clone().unwrap_or_else(|| format!("offcut://{id}"));
                match (self.trailer.state, upload_state) {
                    (OutputState::StillRunning, _) => Place::Growing(location),
                    (OutputState::Ended, UploadState::Uploaded) => Place::Stored(location),
                    // Room is reserved while the upload may still fail.
                    (OutputState::Ended, UploadState::Uploading | UploadState::LocalOnly { .. }) => {
                        Place::LocalOnly { location, reason: self.clipped_reason() }
                    }
                }
            }
            Stored::Beginning { bytes, .. } => {
                Place::Beginning { bytes: *bytes, reason: self.clipped_reason() }
            }
            Stored::Nothing { .. } => Place::NotStored { reason: self.clipped_reason() },
        }
    }

    fn access(&self, next: &Next) -> Access {
        match &self.stored {
            Stored::Entry { id, path, .. } => {
                let command = read_command(self.reach, id, path.as_deref(), next)
                    .filter(|command| command.len() as u64 <= self.longest_command);
                Access::By(command.unwrap_or_else(|| format!("offcut://{}", id.short())))
            }
            Stored::Beginning { .. } | Stored::Nothing { .. } => {
                Access::NotStored { reason: self.clipped_reason() }
            }
        }
    }

    /// Why the output is not stored, or only here.
    fn reason(&self) -> &str {
        match &self.stored {
            Stored::Entry { upload_state: UploadState::LocalOnly { reason }, .. }
            | Stored::Beginning { reason, .. }
            | Stored::Nothing { reason } => reason,
            Stored::Entry { .. } => "",
        }
    }

    /// The reason, where the first line has none: in a full preview the header has it.
    fn footer_reason(&self) -> String {
        match self.level {
            NoticeLevel::Full => self.clipped_reason(),
            NoticeLevel::Compact => String::new(),
        }
    }

    fn clipped_reason(&self) -> String {
        clip(self.reason(), self.longest_reason)
    }
}

/// The cost of the widest of several texts, in each unit.
fn widest(costs: impl Iterator<Item = Cost>) -> Cost {
    costs.fold(Cost::default(), |most, one| one.beyond(most) + most)
}

/// Whether the marker of a gap comes before a piece. The end of a drawn line follows the gap that contains the line.
pub(super) fn is_before(gap: &Gap, piece: &Piece<'_>) -> bool {
    gap.start < piece.start || (gap.start == piece.start && piece.form == PieceKind::RenderedEnd)
}

/// The beginning of a text that is too long.
fn clip(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    if most < 3 {
        return String::new();
    }
    let end = (0..=most - 3).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    format!("{}...", &text[..end])
}
