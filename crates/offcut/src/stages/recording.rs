//! The first stage: stores an output as it comes, and lets the strategy see it.

use super::{Observed, Seen};
use crate::binary;
use crate::context::Context;
use crate::cut::{Segment, Size};
use crate::live::{Announcement, EarlyOutput, Live, Progress};
use crate::measure::{self, LineConvention, LineCounter, TokenCounter};
use crate::outcome::{Outcome, Saved};
use crate::profile::Settings;
use crate::recorder::{CommandEnd, Outlook, OutputState, Recorder};
use crate::render::{self, Trailer};
use crate::store::{NewEntry, Reading};
use crate::strategy::{self, Ends, Selector};
use crate::terminal::{Screen, Terminal};
use crate::truncator::{Truncator, TruncatorRef};
use std::borrow::Cow;
use std::fs::File;
use std::time::Duration;

/// An output that is stored, while it is read.
pub(crate) struct Recording<'a> {
    truncator: TruncatorRef<'a>,
    settings: Settings,
    context: Context,
    recorder: Recorder,
    /// Renders the text as a terminal would, unless the raw bytes are shown.
    screen: Option<Screen>,
    /// Set once the output is known not to be text: it is described, so it need not be rendered.
    binary: Option<binary::Kind>,
    selector: Box<dyn Selector>,
    ends: Ends,
    bytes: u64,
    /// The first bytes as they came. They show which limit was exceeded first and whether this is text.
    opening: Vec<u8>,
    /// Only for conventions in which other characters than line feeds end a line.
    lines: Option<LineCounter>,
    chars: Option<u64>,
    tokens: Option<TokenCounter>,
    /// Set once some of the output may be printed while the command runs.
    live: Option<Live>,
}

impl<'a> Recording<'a> {
    pub(crate) fn start(
        truncator: TruncatorRef<'a>,
        settings: Settings,
        context: &Context,
        reading: Reading,
    ) -> Recording<'a> {
        let most = usize::try_from(ceiling(&settings)).unwrap_or(usize::MAX / 4);
        let limited = settings.for_any_outcome().limits;
        let strategy = truncator.strategy.as_ref().map_or(settings.strategy.as_str(), |own| own.name());
        let new = NewEntry { strategy: Some(strategy), reading, ..truncator.new_entry(context) };
        Recording {
            recorder: Recorder::open(&truncator.storage, &new, truncator.cap),
            screen: (settings.terminal == Terminal::Rendered).then(Screen::new),
            binary: None,
            selector: strategy::start(truncator.strategy.as_deref(), &settings),
            bytes: 0,
            opening: Vec::new(),
            // After what is shown first, enough for the next page that the footer offers.
            ends: Ends::new(most + render::NEXT_PAGE_BYTES, most),
            lines: (settings.conventions.lines == LineConvention::Universal)
                .then(|| LineCounter::new(LineConvention::Universal)),
            chars: limited.chars.map(|_| 0),
            tokens: limited.tokens.map(|_| TokenCounter::default()),
            live: None,
            context: context.clone(),
            truncator,
            settings,
        }
    }

    /// Takes the next bytes of an output that is stored as it is shown.
    pub(crate) fn observe(&mut self, chunk: &[u8]) {
        self.store(chunk);
        self.examine(chunk);
    }

    /// Stores bytes.
    pub(crate) fn store(&mut self, chunk: &[u8]) {
        self.recorder.write(chunk);
    }

    /// The rest of the output is not known because of this error.
    pub(crate) fn fail(&mut self, error: &str) {
        self.recorder.give_up(error.to_owned());
    }

    /// Lets the strategy see bytes.
    pub(crate) fn examine(&mut self, chunk: &[u8]) {
        self.keep_opening(chunk);
        let Recording { screen, selector, ends, binary, .. } = self;
        let mut take = |segment: Segment<'_>| {
            ends.observe(segment);
            selector.observe(segment);
        };
        match screen {
            Some(_) if binary.is_some() => ends.observe(Segment::verbatim(chunk, self.bytes)),
            Some(screen) => screen.observe(chunk, &mut take),
            None => take(Segment::verbatim(chunk, self.bytes)),
        }
        self.bytes += chunk.len() as u64;
        if let Some(lines) = &mut self.lines {
            lines.observe(chunk);
        }
        if let Some(chars) = &mut self.chars {
            *chars += measure::char_starts(chunk, self.settings.conventions.chars);
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.observe(chunk, &*self.truncator.tokens);
        }
        if let Some(live) = &mut self.live {
            live.observe(chunk);
        }
    }

    /// What to print of the output now, `elapsed` after the start of its command.
    pub(crate) fn tick(&mut self, elapsed: Duration) -> Vec<u8> {
        if binary::kind(&self.opening).is_some() {
            return Vec::new();
        }
        let live = self
            .live
            .get_or_insert_with(|| Live::start(&self.opening, self.bytes, &self.settings.for_any_outcome()));
        let Truncator { reach, tokens, .. } = &*self.truncator;
        let outlook = self.recorder.outlook();
        live.tick(&Progress {
            elapsed,
            bytes: self.bytes,
            lines: self.ends.lines(),
            is_within_limits: self.opening.len() as u64 == self.bytes
                && self.truncator.fits(&self.opening, &self.settings),
            tokens: &**tokens,
            notice: &|message| render::live_notice(&outlook, &self.opening, message),
            announcement: &|| render::withheld(reach, &outlook),
        })
    }

    fn keep_opening(&mut self, chunk: &[u8]) {
        let ceiling = usize::try_from(ceiling(&self.settings)).unwrap_or(usize::MAX);
        let before = self.opening.len();
        let wanted = ceiling.max(binary::OPENING).saturating_sub(before).min(chunk.len());
        self.opening.extend_from_slice(&chunk[..wanted]);
        if before < binary::OPENING && self.opening.len() >= binary::OPENING && self.screen.is_some() {
            self.binary = binary::kind(&self.opening);
        }
    }

    /// Ends the output and makes its preview.
    pub(crate) fn finish(self, ending: &CommandEnd) -> Outcome<'static> {
        self.close(ending, OutputState::Ended).0
    }

    /// The same for an output that may still grow. The file, if any, is for the bytes to come.
    pub(crate) fn close(
        mut self,
        ending: &CommandEnd,
        state: OutputState,
    ) -> (Outcome<'static>, Option<File>) {
        self.settings = self.settings.for_outcome(ending);
        let early = self.live.take().map(Live::end).unwrap_or_default();
        if state == OutputState::Ended && early.announcement != Announcement::Printed && self.passes() {
            self.recorder.discard();
            self.truncator.report_passed(&self.context, &self.settings, self.bytes);
            return (Outcome::Passed(Cow::Owned(self.opening.split_off(early.beginning))), None);
        }
        let (mut observed, recorder) = self.end(Trailer { remark: &ending.status, state }, early);
        let outlook = recorder.outlook();
        if !matches!(outlook, Outlook::Keeping { .. }) {
            observed.expect_loss();
        }
        let committed = observed.decide(outlook).commit(recorder, ending);
        match committed.saved {
            // The cut was chosen for an output that is stored.
            Saved::Failed { .. } if committed.decided.seen.split_of_loss().is_some() => {
                let saved = committed.saved;
                observed.expect_loss();
                observed.decide(Outlook::Off).unsaved(saved).show()
            }
            _ => committed.show(),
        }
    }

    /// Whether the output, which was stored because its command took long, is within the limits.
    fn passes(&self) -> bool {
        // A custom strategy has decided before, and is not asked twice.
        self.truncator.strategy.is_none()
            && self.opening.len() as u64 == self.bytes
            && self.truncator.passes(&self.opening, &self.settings)
    }

    fn end<'b>(mut self, trailer: Trailer<'b>, early: EarlyOutput) -> (Observed<'b>, Recorder)
    where
        'a: 'b,
    {
        self.recorder.wait_until_written(trailer.state);
        if let (Some(screen), None) = (&mut self.screen, self.binary) {
            screen.finish(&mut |segment| {
                self.ends.observe(segment);
                self.selector.observe(segment);
            });
            if self.opening.len() < binary::OPENING {
                self.binary = binary::kind(&self.opening);
            }
        }
        let original = self.original();
        let Recording { truncator, settings, context, recorder, binary, selector, ends, opening, .. } = self;
        let seen = Seen { truncator, settings, context, ends, opening, original, trailer, early };
        // An output that is still running may be within the limits so far; then it is shown as it came.
        let binary = binary.filter(|_| !seen.fits_so_far());
        (Observed { selector, binary, seen }, recorder)
    }

    fn original(&self) -> Size {
        let lines = match (&self.lines, self.settings.conventions.lines) {
            (Some(counter), _) => counter.lines(),
            (None, LineConvention::Separated) => self.ends.newlines() + 1,
            (None, _) => self.ends.lines(),
        };
        let tokens = self.tokens.as_ref().map(|counter| counter.tokens(&*self.truncator.tokens));
        Size { bytes: self.ends.bytes(), lines, chars: self.chars, tokens }
    }
}

/// The largest size in bytes of a text within the limits, with either outcome.
fn ceiling(settings: &Settings) -> u64 {
    let Settings { limits, failure_limits, keep, .. } = settings;
    limits.ceiling().max(failure_limits.ceiling()).max(keep.ceiling())
}
