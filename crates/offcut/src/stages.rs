//! The stages of an output that is over a limit, or whose command takes long.
//!
//! ```text
//! Recording ─▶ Observed ─▶ Decided ─▶ Committed ─▶ Outcome
//! ```
//!
//! - [`Recording`], in a file of its own, stores the bytes as they come and lets the strategy see them.
//! - [`Observed`] has seen all bytes and knows how many there are.
//! - [`Decided`] knows which of them are shown.
//! - [`Committed`] knows whether the store has all of them.
//! - [`Outcome`] is the preview.
//!
//! Commit comes between the decision and the text: the metadata records what is shown, so it needs the cut, and the
//! notice says whether the output was stored, so it needs the commit.

mod recording;

pub(crate) use recording::Recording;

use crate::binary;
use crate::context::Context;
use crate::cut::{Cut, LinePosition, Piece, PieceKind, Size};
use crate::event::{Event, EventSink};
use crate::limits::{Limits, PerUnit};
use crate::live::{Announcement, EarlyOutput, LastLine};
use crate::measure::{Conventions, LineConvention};
use crate::outcome::{Outcome, Preview, Saved};
use crate::profile::Settings;
use crate::recorder::{CommandEnd, Outlook, OutputState, Recorder};
use crate::render::{self, Content, Facts, Forecast, Plan, Trailer};
use crate::strategy::{BothEnds, Cost, Ends, Room, Selection, Selector, Split, StrategyName};
use crate::truncator::{Truncator, TruncatorRef};
use std::borrow::Cow;
use std::fs::File;

/// What is known of an output when all of it was seen.
struct Seen<'a> {
    truncator: TruncatorRef<'a>,
    settings: Settings,
    context: Context,
    ends: Ends,
    opening: Vec<u8>,
    original: Size,
    trailer: Trailer<'a>,
    /// What was printed before the end.
    early: EarlyOutput,
}

/// An output over a limit, when all of it was seen.
struct Observed<'a> {
    selector: Box<dyn Selector>,
    binary: Option<binary::Kind>,
    seen: Seen<'a>,
}

impl Observed<'_> {
    /// Prepares the cut of an output that is not stored, if the profile has one for that.
    fn expect_loss(&mut self) {
        if let Some(split) = self.seen.split_of_loss() {
            self.seen.settings.keep = self.seen.settings.limits;
            self.selector = Box::new(BothEnds(split));
        }
    }

    /// Decides what is shown, in the room that the notices leave.
    fn decide(&mut self, outlook: Outlook) -> Decided<'_> {
        let Observed { selector, binary, seen } = self;
        if let Some(kind) = *binary {
            let cut = seen.cut(Vec::new());
            return Decided { seen, cut, removed: PerUnit::default(), form: Form::Described(kind) };
        }
        let Seen { truncator, settings, original, trailer, .. } = &*seen;
        let keep = seen.keep();
        let cost = |text: &[u8]| Cost::of(text, &keep, settings.conventions, &*truncator.tokens);
        let forecast = Forecast {
            reach: &truncator.reach,
            task: settings.task,
            outlook,
            original: *original,
            trailer: *trailer,
            keep: &keep,
            cost: &cost,
        };
        let Selected { cut, plan, removed } = seen
            .whole_so_far(&forecast)
            .or_else(|| seen.whole_as_rendered(&forecast))
            .unwrap_or_else(|| seen.select(&mut **selector, &forecast));
        let is_whole = cut.gaps().is_empty() && trailer.state == OutputState::Ended && seen.early.is_empty();
        let form = if is_whole { Form::Whole } else { Form::Preview(plan) };
        Decided { seen, cut, removed, form }
    }
}

impl Seen<'_> {
    /// Which ends the profile shows of an output that is not stored. A custom strategy chooses for every output.
    fn split_of_loss(&self) -> Option<Split> {
        let Truncator { profile, strategy, .. } = &*self.truncator;
        let not_saved = profile.wording.as_ref()?.not_saved.as_ref().filter(|_| strategy.is_none())?;
        Some(not_saved.split)
    }

    /// How much may be shown of this output: never more than the original, unless that is tiny.
    fn keep(&self) -> Limits {
        let keep = self.settings.keep;
        let left = Limits { bytes: Some(keep.bytes.unwrap_or(keep.ceiling())), ..keep }.less(self.early.cost);
        let original = self.original.bytes - self.early.beginning as u64;
        Limits { bytes: left.bytes.map(|left| left.min(original.max(render::MIN_PREVIEW_BYTES))), ..left }
    }

    fn fits_so_far(&self) -> bool {
        self.opening.len() as u64 == self.original.bytes && self.truncator.fits(&self.opening, &self.settings)
    }

    /// All of an output as it came, if it and the footer are within the limits: one that is still running, or of which a
    /// notice has said that output is withheld.
    fn whole_so_far(&self, forecast: &Forecast<'_>) -> Option<Selected<'_>> {
        let Seen { truncator, settings, opening, early, .. } = self;
        let has_footer =
            self.trailer.state == OutputState::StillRunning || early.announcement == Announcement::Printed;
        if !has_footer || self.ends.bytes() != opening.len() as u64 {
            return None;
        }
        let plan = render::plan(&truncator.profile, forecast, self.ends.control());
        let with_footer = [&opening[early.beginning..], plan.more.as_bytes()].concat();
        let limits = settings.limits.less(early.cost);
        if !limits.fit(&with_footer, settings.conventions, &*truncator.tokens) {
            return None;
        }
        let piece = Piece {
            start: 0,
            end: self.ends.bytes(),
            form: PieceKind::Verbatim,
            line: 1,
            part: LinePosition::Start,
            text: Cow::Borrowed(&*self.opening),
        };
        Some(Selected::new(self.cut(vec![piece]), plan.for_whole()))
    }

    /// All of an output as a terminal shows it, if that and the notices are within the limits. A custom strategy that
    /// decided to cut an output is asked what to show.
    fn whole_as_rendered(&self, forecast: &Forecast<'_>) -> Option<Selected<'_>> {
        if self.truncator.strategy.is_some() || !self.early.is_empty() {
            return None;
        }
        let cut = self.cut(self.ends.rendered_whole()?);
        let plan = render::plan_whole(&self.truncator.profile, forecast, &self.settings.limits, &cut.text())?;
        Some(Selected::new(cut, plan))
    }

    /// What the strategy selects.
    fn select<'s>(&'s self, selector: &'s mut dyn Selector, forecast: &Forecast<'_>) -> Selected<'s> {
        let Truncator { profile, strategy, tokens, .. } = &*self.truncator;
        let plan = render::plan(profile, forecast, self.ends.control());
        // The documents in which line feeds separate lines show one end of a text: in the middle, a line ends with its line
        // feed. It is not shown before a gap, where it would begin an empty line.
        let is_one_end =
            strategy.is_none() && matches!(self.settings.strategy, StrategyName::Head | StrategyName::Tail);
        let Conventions { lines, chars } = self.settings.conventions;
        let is_separated = lines == LineConvention::Separated && !is_one_end;
        let lines = if is_separated { LineConvention::Terminated } else { lines };
        let room = Room {
            limits: forecast.keep.less(plan.fixed),
            start: self.early.beginning as u64,
            marker: plan.marker,
            line_marker: plan.line_marker,
            conventions: Conventions { lines, chars },
            edges: self.settings.edges,
            tokens: &**tokens,
        };
        let Selection { pieces, remark, repeats, notes, removed } = selector.finish(&self.ends, &room);
        let is_own_text = pieces.iter().any(|piece| piece.form == PieceKind::Opaque);
        let cut = self.cut(pieces).folded(&repeats).with_notes(notes);
        let room = match (strategy, &profile.wording) {
            (Some(_), Some(_)) if is_own_text => Some(room.for_own_lines()),
            (Some(_), _) => Some(room),
            (None, _) => None,
        };
        let bounded = |room: Room<'_>, cut| {
            room.less_remark(&remark).bounded(cut, self.ends.bytes(), self.ends.lines())
        };
        let cut = match room {
            Some(room) => bounded(room, cut),
            None => cut,
        };
        let cut = match is_separated {
            true => cut.without_last_line_feeds(self.ends.bytes(), self.ends.lines()),
            false => cut,
        };
        Selected { cut, plan: plan.with_detail(remark), removed }
    }

    /// The cut that shows these pieces after what was printed before the end.
    fn cut<'t>(&'t self, mut pieces: Vec<Piece<'t>>) -> Cut<'t> {
        let beginning = self.early.beginning;
        if beginning > 0 {
            pieces.insert(
                0,
                Piece {
                    start: 0,
                    end: beginning as u64,
                    form: PieceKind::PrintedEarlier,
                    line: 1,
                    part: LinePosition::Start,
                    text: Cow::Borrowed(&self.opening[..beginning]),
                },
            );
        }
        Cut::new(pieces, self.ends.bytes(), self.ends.lines())
    }
}

/// What is chosen to be shown of an output.
struct Selected<'s> {
    cut: Cut<'s>,
    plan: Plan,
    /// A strategy's own counts of what is not shown.
    removed: PerUnit<Option<u64>>,
}

impl<'s> Selected<'s> {
    fn new(cut: Cut<'s>, plan: Plan) -> Selected<'s> {
        Selected { cut, plan, removed: PerUnit::default() }
    }
}

/// In which form an output is shown.
enum Form {
    /// All of it, as it came.
    Whole,
    /// Parts of it, and notices as planned.
    Preview(Plan),
    /// What it is, because it is not text.
    Described(binary::Kind),
}

/// What is shown of an output.
struct Decided<'o> {
    seen: &'o Seen<'o>,
    cut: Cut<'o>,
    removed: PerUnit<Option<u64>>,
    form: Form,
}

impl<'o> Decided<'o> {
    /// Closes the entry, or removes it if the output turned out to be shown whole.
    fn commit(self, recorder: Recorder, ending: &CommandEnd) -> Committed<'o> {
        let Seen { truncator, ends, original, trailer, .. } = self.seen;
        if let Form::Whole = self.form {
            recorder.discard();
            return Committed { shown: *original, decided: self, saved: Saved::Disabled, file: None };
        }
        let shown = self.shown();
        let (saved, file) =
            recorder.commit(*original, ends.lines(), shown, self.cut.gaps(), ending, trailer.state);
        truncator.clean_after(&saved);
        Committed { decided: self, shown, saved, file }
    }

    /// The cut of an output whose entry could not be closed.
    fn unsaved(self, saved: Saved) -> Committed<'o> {
        Committed { shown: self.shown(), decided: self, saved, file: None }
    }

    fn shown(&self) -> Size {
        let Seen { truncator, settings, original, .. } = self.seen;
        self.cut.size(&settings.conventions, &*truncator.tokens, *original)
    }
}

/// An output whose entry is closed.
struct Committed<'o> {
    decided: Decided<'o>,
    shown: Size,
    saved: Saved,
    /// The file of an entry that may still grow.
    file: Option<File>,
}

impl Committed<'_> {
    /// Writes the preview and reports what happened.
    fn show(self) -> (Outcome<'static>, Option<File>) {
        let Committed { decided: Decided { seen, cut, removed, form }, shown, saved, file } = self;
        let Seen { truncator, settings, context, ends, opening, original, trailer, early } = seen;
        let Truncator { profile, reach, sink, tokens, .. } = &**truncator;
        let base = truncator.base_of_paths();
        let mut facts = Facts {
            ends,
            cut: &cut,
            original: *original,
            shown,
            removed,
            saved: &saved,
            trailer: *trailer,
            settings,
            base,
        };
        if facts.removed == PerUnit::default() {
            facts.removed = render::count_removed(profile, &facts);
        }
        let removed = facts.removed;
        let text = match &form {
            Form::Whole => {
                truncator.report_passed(context, settings, original.bytes);
                return (Outcome::Passed(Cow::Owned(cut.text())), None);
            }
            Form::Preview(plan) => render::render(profile, reach, plan, &facts),
            Form::Described(kind) => {
                let keep = seen.keep();
                let fits = |text: &[u8]| keep.fit(text, settings.conventions, &**tokens);
                render::describe(reach, *kind, opening, &facts, &fits)
            }
        };
        let Content { text: content, placed } = match early.last_line {
            LastLine::Open => text.continued(early.beginning),
            LastLine::Ended => text,
        };
        let limited_by = settings.limits.first_exceeded(opening, settings.conventions, &**tokens);
        let preview = Preview {
            content,
            placed,
            original: *original,
            shown,
            removed,
            gaps: cut.into_gaps(),
            limited_by,
            saved,
        };
        truncator.save_preview(&preview, &[&early.printed[..], &preview.content].concat());
        announce(&**sink, context, &preview, early);
        let preview = Box::new(preview);
        let outcome = match (form, trailer.state) {
            (_, OutputState::StillRunning) => Outcome::StillRunning(preview),
            (Form::Described(_), OutputState::Ended) => Outcome::Described(preview),
            (Form::Preview(_) | Form::Whole, OutputState::Ended) => Outcome::Truncated(preview),
        };
        (outcome, file)
    }
}

/// Reports what happened to an output of which not everything is shown.
fn announce(sink: &dyn EventSink, context: &Context, preview: &Preview, early: &EarlyOutput) {
    let (original, content) = (preview.original.bytes, early.cost.bytes + preview.content.len() as u64);
    let limited_by = preview.limited_by;
    sink.emit(&match &preview.saved {
        Saved::Failed { error, .. } => Event::Error { context, original, content, error },
        Saved::Complete(_) | Saved::Running(_) | Saved::Disabled => {
            Event::Truncated { context, original, content, limited_by, entry: preview.entry() }
        }
    });
}
