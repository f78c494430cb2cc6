//! The data path. Read this first.
//!
//! ```text
//! bytes ─▶ measure ─▶ fits? ──yes──▶ the same bytes, borrowed
//!                      │no
//!                      ▼
//!                    record + draw ─▶ select ─▶ cut ─▶ commit ─▶ render ─▶ a preview that fits
//! ```
//!
//! A string ([`Truncator::apply`]) and a stream ([`Truncator::spool`]) take the same way: [`Overflow`] is fed whatever
//! is over the limits, in one chunk or in many, and its `finish` is everything that happens then.

use crate::binary;
use crate::builder::Storage;
use crate::context::Context;
use crate::cut::{Cut, LinePosition, Piece, PieceKind, Segment, Size};
use crate::event::{Event, EventSink};
use crate::limits::Limits;
use crate::measure::{self, CountTokens, LineConvention, LineCounter};
use crate::profile::{CheckedRule, Profile, Rule, Settings, TrailingLines};
use crate::recorder::{Ending, Flow, Recorder};
use crate::render::{self, Budget, Content, Description, Facts, Reach, Trailer};
use crate::shown::{Kept, Preview, Shown};
use crate::spool::Spool;
use crate::store::{NewEntry, Reading};
use crate::strategy::{
    Auto, BothEnds, Cost, Ends, Json, Room, Selection, Selector, Smart, Strategy, StrategyName,
    WithToolStatus,
};
use crate::terminal::{Screen, Terminal};
use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

/// Bounds tool outputs. Cheap to share; every output is independent of the others.
#[derive(Clone)]
pub struct Truncator {
    pub(crate) profile: Profile,
    pub(crate) rule: CheckedRule,
    pub(crate) storage: Storage,
    pub(crate) reach: Reach,
    pub(crate) strategy: Option<Arc<dyn Strategy>>,
    pub(crate) tokens: Arc<dyn CountTokens>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) cap: u64,
}

impl Truncator {
    /// What applies to an output of this call.
    pub fn settings(&self, context: &Context) -> Settings {
        self.settings_with(context, Rule::default())
    }

    /// The same with options for this one call. Options that the profile rejects are ignored.
    pub(crate) fn settings_with(&self, context: &Context, call: Rule) -> Settings {
        let call = self.profile.check(call).unwrap_or_default();
        self.profile.resolve(context.tool.as_deref(), call.or(self.rule))
    }

    /// Bounds a whole output.
    pub fn apply<'a>(&self, text: &'a [u8], context: &Context) -> Shown<'a> {
        let settings = self.settings(context);
        if !settings.enabled || self.fits(text, &settings) {
            self.passed(context, text.len() as u64);
            return Shown::Whole(Cow::Borrowed(text));
        }
        let mut overflow = Overflow::open(self, settings, context);
        overflow.observe(text);
        match overflow.finish(Ending::default()) {
            Shown::Whole(_) => Shown::Whole(Cow::Borrowed(text)),
            cut => cut,
        }
    }

    /// Bounds an output that arrives in pieces.
    pub fn spool(&self, context: Context) -> Spool<'_> {
        let settings = self.settings(&context);
        Spool::new(self, settings, context)
    }

    /// Bounds a JSON text: its readable form is what is measured and shown, and the text as it came is what is stored.
    pub fn apply_json(&self, json: &[u8], context: &Context) -> Shown<'static> {
        self.apply_readable(json, &crate::retrieve::readable(json), context, self.settings(context))
    }

    /// Bounds `readable`, which is how `stored` is read; what is kept is `stored`.
    pub(crate) fn apply_readable(
        &self,
        stored: &[u8],
        readable: &[u8],
        context: &Context,
        settings: Settings,
    ) -> Shown<'static> {
        if !settings.enabled || self.fits(readable, &settings) {
            self.passed(context, stored.len() as u64);
            return Shown::Whole(Cow::Owned(readable.to_vec()));
        }
        let mut overflow = Overflow::open_as(self, settings, context, Reading::Readable);
        overflow.record(stored);
        overflow.look_at(readable);
        overflow.finish(Ending::default())
    }

    pub(crate) fn fits(&self, text: &[u8], settings: &Settings) -> bool {
        settings.limits.fit(text, settings.conventions, &*self.tokens)
    }

    pub(crate) fn passed(&self, context: &Context, bytes: u64) {
        self.sink.emit(&Event::Passed { context, bytes });
    }

    fn start(&self, settings: &Settings) -> Box<dyn Selector> {
        let selector = self.start_strategy(settings);
        match settings.trailer {
            TrailingLines::Kept => Box::new(WithToolStatus(selector)),
            TrailingLines::AsChosen => selector,
        }
    }

    fn start_strategy(&self, settings: &Settings) -> Box<dyn Selector> {
        let most_bytes = settings.keep.ceiling();
        match (&self.strategy, settings.strategy) {
            (Some(custom), _) => custom.start(most_bytes),
            (None, StrategyName::Head) => BothEnds::HEAD.start(most_bytes),
            (None, StrategyName::Tail) => BothEnds::TAIL.start(most_bytes),
            (None, StrategyName::Smart) => Smart::default().start(most_bytes),
            (None, StrategyName::Auto) => Auto { split: settings.split }.start(most_bytes),
            (None, StrategyName::Json) => Json { split: settings.split }.start(most_bytes),
            (None, StrategyName::HeadTail) => BothEnds(settings.split).start(most_bytes),
        }
    }
}

/// An output that is over the limits, on its way.
pub(crate) struct Overflow<'a> {
    truncator: &'a Truncator,
    settings: Settings,
    context: Context,
    recorder: Recorder,
    /// Draws the text, unless it is shown as it came.
    screen: Option<Screen>,
    /// What nobody can read is described: there is no need to draw it.
    described: Option<binary::Kind>,
    selector: Box<dyn Selector>,
    ends: Ends,
    bytes: u64,
    /// The first bytes as they came, which tell the limit that was crossed and what kind of output this is.
    opening: Vec<u8>,
    /// Only for conventions under which lines are not simply line feeds.
    lines: Option<LineCounter>,
    chars: Option<u64>,
    tokens: Option<u64>,
}

impl<'a> Overflow<'a> {
    pub(crate) fn open(truncator: &'a Truncator, settings: Settings, context: &Context) -> Overflow<'a> {
        Overflow::open_as(truncator, settings, context, Reading::Plain)
    }

    fn open_as(
        truncator: &'a Truncator,
        settings: Settings,
        context: &Context,
        reading: Reading,
    ) -> Overflow<'a> {
        let most = settings.limits.ceiling().max(settings.keep.ceiling());
        let most = usize::try_from(most).unwrap_or(usize::MAX / 4);
        let Truncator { profile, storage, cap, .. } = truncator;
        let strategy = truncator.strategy.as_ref().map_or(settings.strategy.as_str(), |_| "custom");
        let new = NewEntry {
            strategy: Some(strategy),
            retention: Some(profile.retention_days.into()),
            file_name: &profile.file_name,
            reading,
            ..NewEntry::new(context, &profile.name)
        };
        Overflow {
            recorder: Recorder::open(storage, &new, *cap),
            screen: (settings.terminal == Terminal::Rendered).then(Screen::new),
            described: None,
            selector: truncator.start(&settings),
            bytes: 0,
            opening: Vec::new(),
            // Behind what is shown first, enough for the next page that the notice offers.
            ends: Ends::new(most + render::NEXT_PAGE_BYTES, most),
            lines: (settings.conventions.lines == LineConvention::Universal)
                .then(|| LineCounter::new(LineConvention::Universal)),
            chars: settings.limits.chars.map(|_| 0),
            tokens: settings.limits.tokens.map(|_| 0),
            context: context.clone(),
            truncator,
            settings,
        }
    }

    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        self.record(chunk);
        self.look_at(chunk);
    }

    fn record(&mut self, chunk: &[u8]) {
        self.recorder.write(chunk);
    }

    fn look_at(&mut self, chunk: &[u8]) {
        self.open_with(chunk);
        let Overflow { screen, selector, ends, described, .. } = self;
        let mut take = |run: Segment<'_>| {
            ends.observe(run);
            selector.observe(run);
        };
        match screen {
            Some(_) if described.is_some() => ends.observe(Segment::verbatim(chunk, self.bytes)),
            Some(screen) => screen.observe(chunk, &mut take),
            None => take(Segment::verbatim(chunk, self.bytes)),
        }
        self.bytes += chunk.len() as u64;
        if let Some(lines) = &mut self.lines {
            lines.observe(chunk);
        }
        if let Some(chars) = &mut self.chars {
            *chars += measure::chars(chunk, self.settings.conventions.chars);
        }
        if let Some(tokens) = &mut self.tokens {
            *tokens += self.truncator.tokens.count(chunk);
        }
    }

    /// Takes the first bytes as they come.
    fn open_with(&mut self, chunk: &[u8]) {
        let ceiling = usize::try_from(self.settings.limits.ceiling()).unwrap_or(usize::MAX);
        let before = self.opening.len();
        let wanted = ceiling.max(binary::OPENING).saturating_sub(before).min(chunk.len());
        self.opening.extend_from_slice(&chunk[..wanted]);
        if before < binary::OPENING && self.opening.len() >= binary::OPENING && self.screen.is_some() {
            self.described = binary::kind(&self.opening);
        }
    }

    /// Cuts, commits and renders.
    pub(crate) fn finish(self, ending: Ending) -> Shown<'static> {
        self.close(&ending, Flow::Ended).0
    }

    /// The same, also for an output that goes on; the file is for the rest of it.
    pub(crate) fn close(mut self, ending: &Ending, flow: Flow) -> (Shown<'static>, Option<File>) {
        self.recorder.catch_up(flow);
        if let Some(screen) = &mut self.screen {
            if self.described.is_none() {
                screen.finish(&mut |run| {
                    self.ends.observe(run);
                    self.selector.observe(run);
                });
            }
            // An output that goes on may be within the limits so far; then it is shown as it came.
            if let Some(kind) = self.described.or_else(|| binary::kind(&self.opening))
                && !self.fits_so_far()
            {
                return self.describe(kind, ending, flow);
            }
        }
        let original = self.original();
        let Overflow { truncator, settings, context, recorder, mut selector, ends, opening, .. } = self;
        let Truncator { profile, reach, sink, tokens, .. } = truncator;
        let (sink, tokens, conventions) = (&**sink, &**tokens, settings.conventions);
        let limited_by = settings.limits.first_exceeded(&opening, conventions, tokens);

        let keep = budget(settings.keep, original);
        let cost = |text: &[u8]| Cost::of(text, &keep, conventions, tokens);
        let trailer = Trailer { remark: &ending.remark, flow };
        let (task, outlook) = (settings.task, recorder.outlook());
        let budget = Budget { reach, task, outlook, original, trailer, keep: &keep, cost: &cost };
        let so_far = match flow {
            Flow::Ended => None,
            Flow::GoesOn => {
                let plan = render::plan(profile, &budget, ends.control());
                whole_so_far(truncator, &settings, &opening, &ends, &plan)
                    .map(|piece| (plan.for_whole(), Cut::new(vec![piece], ends.bytes(), ends.lines())))
            }
        };
        let whole = so_far.or_else(|| {
            let cut = Cut::new(ends.rendered_whole()?, ends.bytes(), ends.lines());
            Some((render::plan_whole(profile, &budget, &cut.text())?, cut))
        });
        let (plan, cut) = whole.unwrap_or_else(|| {
            let plan = render::plan(profile, &budget, ends.control());
            let room = Room {
                limits: keep.less(plan.fixed),
                marker: plan.marker,
                line_marker: plan.line_marker,
                conventions,
                edges: settings.edges,
                tokens,
            };
            let Selection { pieces, remark, repeats } = selector.finish(&ends, &room);
            let cut = Cut::new(pieces, ends.bytes(), ends.lines()).folded(&repeats);
            let cut = match truncator.strategy {
                Some(_) => bounded(cut, &ends, &room.less_remark(&remark)),
                None => cut,
            };
            (plan.with_remark(remark), cut)
        });
        if cut.gaps.is_empty() && flow == Flow::Ended {
            recorder.discard();
            sink.emit(&Event::Passed { context: &context, bytes: original.bytes });
            return (Shown::Whole(Cow::Owned(cut.text())), None);
        }

        let shown = shown(&cut, &settings, tokens, original);
        let (kept, file) = recorder.commit(original, ends.lines(), shown, &cut.gaps, ending, flow);
        let facts =
            Facts { ends: &ends, cut: &cut, original, shown, kept: &kept, trailer, settings: &settings };
        let Content { text: content, placed } = render::render(profile, reach, &plan, &facts);
        let preview = Preview { content, placed, original, shown, gaps: cut.gaps, limited_by, kept };
        announce(sink, &context, &preview);
        (Shown::Cut(Box::new(preview)), file)
    }

    /// Says what kind of bytes these are, instead of showing what no reader can read.
    fn describe(self, kind: binary::Kind, ending: &Ending, flow: Flow) -> (Shown<'static>, Option<File>) {
        let original = self.original();
        let Overflow { truncator, settings, context, recorder, ends, opening, .. } = self;
        let (tokens, conventions, reach) = (&*truncator.tokens, settings.conventions, &truncator.reach);
        let limited_by = settings.limits.first_exceeded(&opening, conventions, tokens);
        let shown =
            Size { chars: original.chars.map(|_| 0), tokens: original.tokens.map(|_| 0), ..Size::default() };
        let cut = Cut::new(Vec::new(), ends.bytes(), ends.lines());
        let (kept, file) = recorder.commit(original, ends.lines(), shown, &cut.gaps, ending, flow);
        let trailer = Trailer { remark: &ending.remark, flow };
        let facts =
            Facts { ends: &ends, cut: &cut, original, shown, kept: &kept, trailer, settings: &settings };
        let trailer = render::trailer(reach, &facts);
        let keep = budget(settings.keep, original);
        let fits = |text: &str| keep.fit(text.as_bytes(), conventions, tokens);
        let description = Description { kind, opening: &opening, original, kept: &kept, trailer };
        let content = render::describe(reach, &description, &fits).into_bytes();
        let placed = Vec::new();
        let preview = Preview { content, placed, original, shown, gaps: cut.gaps, limited_by, kept };
        announce(&*truncator.sink, &context, &preview);
        (Shown::Cut(Box::new(preview)), file)
    }

    fn fits_so_far(&self) -> bool {
        self.opening.len() as u64 == self.bytes && self.truncator.fits(&self.opening, &self.settings)
    }

    fn original(&self) -> Size {
        let lines = match (&self.lines, self.settings.conventions.lines) {
            (Some(counter), _) => counter.lines(),
            (None, LineConvention::Separated) => self.ends.newlines() + 1,
            (None, _) => self.ends.lines(),
        };
        Size { bytes: self.ends.bytes(), lines, chars: self.chars, tokens: self.tokens }
    }
}

/// All of an output that goes on, as it came, if it and the line that says so are within the limits.
fn whole_so_far<'t>(
    truncator: &Truncator,
    settings: &Settings,
    opening: &'t [u8],
    ends: &Ends,
    plan: &render::Plan,
) -> Option<Piece<'t>> {
    let with_line = [opening, plan.more.as_bytes()].concat();
    (ends.bytes() == opening.len() as u64 && truncator.fits(&with_line, settings)).then(|| Piece {
        start: 0,
        end: ends.bytes(),
        form: PieceKind::Verbatim,
        line: 1,
        part: LinePosition::Start,
        text: Cow::Borrowed(opening),
    })
}

/// What may be shown of this output: never more than the original, unless it is tiny.
fn budget(keep: Limits, original: Size) -> Limits {
    let most = keep.bytes.unwrap_or(keep.ceiling()).min(original.bytes.max(512));
    Limits { bytes: Some(most), ..keep }
}

/// The cut, less whatever a foreign strategy chose beyond the room.
fn bounded<'t>(cut: Cut<'t>, ends: &Ends, room: &Room<'_>) -> Cut<'t> {
    let markers = cut.missing().fold(Cost::default(), |sum, gap| sum + room.marker_of(gap));
    let cost = cut
        .pieces
        .iter()
        .fold(markers, |sum, piece| sum + Cost::of(&piece.text, &room.limits, room.conventions, room.tokens));
    if room.limits.afford(cost) {
        return cut;
    }
    let mut left = room.less_gaps(cut.pieces.len() as u64 + 1);
    let mut pieces = Vec::with_capacity(cut.pieces.len());
    for piece in cut.pieces {
        let length = left.head(&piece.text);
        left = left.less(&piece.text[..length]);
        pieces.push(piece.slice(0..length));
    }
    Cut::new(pieces, ends.bytes(), ends.lines())
}

fn shown(cut: &Cut<'_>, settings: &Settings, tokens: &dyn CountTokens, original: Size) -> Size {
    let sum = |measure: &dyn Fn(&[u8]) -> u64| cut.shown().map(|piece| measure(&piece.text)).sum::<u64>();
    Size {
        bytes: cut.bytes().min(original.bytes),
        lines: sum(&|text| measure::lines(text, settings.conventions.lines))
            .saturating_sub(continued(cut))
            .clamp(u64::from(cut.bytes() > 0).min(original.lines), original.lines),
        chars: original.chars.map(|_| sum(&|text| measure::chars(text, settings.conventions.chars))),
        tokens: original.tokens.map(|_| sum(&|text| tokens.count(text))),
    }
}

/// How many pieces go on in the line in which the one before them ended.
fn continued(cut: &Cut<'_>) -> u64 {
    let pieces: Vec<&Piece<'_>> = cut.shown().collect();
    let goes_on = |pair: &&[&Piece<'_>]| {
        pair[1].part == LinePosition::Inside
            && pair[1].line == pair[0].line + measure::newlines(&pair[0].text)
    };
    pieces.windows(2).filter(goes_on).count() as u64
}

fn announce(sink: &dyn EventSink, context: &Context, preview: &Preview) {
    let original = preview.original.bytes;
    match &preview.kept {
        Kept::Whole(entry) | Kept::Open(entry) => {
            let (id, path) = (&entry.id, entry.path.as_deref());
            sink.emit(&Event::Stored { context, id, path, bytes: entry.bytes });
        }
        Kept::NotWhole { error, .. } => sink.emit(&Event::Error { context, original, error }),
        Kept::Off => {}
    }
    let content = preview.content.len() as u64;
    sink.emit(&Event::Truncated { context, original, content, limited_by: preview.limited_by });
}
