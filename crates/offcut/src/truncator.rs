//! The data path. Read this first.
//!
//! ```text
//! bytes ─▶ measure ─▶ fits? ──yes──▶ the same bytes, borrowed
//!                      │no
//!                      ▼
//!                    Recording ─▶ Observed ─▶ Decided ─▶ Committed ─▶ a preview that fits
//!                    (store,      (all bytes  (which     (the store
//!                     render)      seen)       are shown) has them)
//! ```
//!
//! A string ([`Truncator::apply`]) is a stream ([`Truncator::spool`]) of one chunk: both feed what is over a limit to a
//! [`Recording`], and its `finish` runs the other stages, which are in [`crate::stages`].

use crate::builder::Storage;
use crate::context::Context;
use crate::event::{Event, EventSink};
use crate::limits::Limits;
use crate::measure::{self, CountTokens};
use crate::outcome::{Outcome, Preview, Saved};
use crate::precedence::CallerRules;
use crate::profile::{Profile, Rule, Settings};
use crate::recorder::CommandEnd;
use crate::render::Reach;
use crate::retention::Cleaning;
use crate::retrieve::readable;
use crate::spool::Spool;
use crate::stages::Recording;
use crate::store::{NewEntry, Reading};
use crate::strategy::{CutDecision, Strategy};
use std::borrow::Cow;
use std::ops::{ControlFlow, Deref};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bounds tool outputs. Cheap to share; every output is independent of the others.
///
/// ```
/// use offcut::{Context, Limits, Profile, Rule, Truncator};
///
/// # fn main() -> Result<(), offcut::limits::LimitError> {
/// let limits = Limits { lines: Some(40), ..Limits::default() };
/// let truncator = Truncator::new(Profile::native()).rule(Rule { limits, ..Rule::default() })?;
/// let output = "a line\n".repeat(1000);
/// let shown = truncator.apply(&output, &Context::tool("bash"));
/// assert!(shown.text().lines().count() <= 40);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Truncator {
    pub(crate) profile: Arc<Profile>,
    pub(crate) rules: CallerRules,
    pub(crate) storage: Storage,
    pub(crate) reach: Reach,
    pub(crate) strategy: Option<Arc<dyn Strategy>>,
    pub(crate) tokens: Arc<dyn CountTokens>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) cap: u64,
    pub(crate) host: Option<String>,
    pub(crate) project_root: Option<PathBuf>,
    pub(crate) cleaning: Cleaning,
}

/// The truncator of an output that is being read.
#[derive(Clone)]
pub(crate) enum TruncatorRef<'a> {
    Borrowed(&'a Truncator),
    Shared(Arc<Truncator>),
}

impl Deref for TruncatorRef<'_> {
    type Target = Truncator;

    fn deref(&self) -> &Truncator {
        match self {
            TruncatorRef::Borrowed(truncator) => truncator,
            TruncatorRef::Shared(truncator) => truncator,
        }
    }
}

impl Truncator {
    /// Keeps in the store what the reader gets instead of an output. This is called for every preview; a caller that shows
    /// another text calls it again.
    ///
    /// The stored output is whole without it, so an error is ignored.
    pub fn save_preview(&self, preview: &Preview, shown: &[u8]) {
        let id = match &preview.saved {
            Saved::Complete(entry) | Saved::Running(entry) => entry.id,
            Saved::Failed { part: Some(part), .. } => part.id,
            Saved::Failed { part: None, .. } | Saved::Disabled => return,
        };
        if let Storage::To(store) = &self.storage {
            let _ = store.save_preview(&id, shown);
        }
    }

    /// Bounds a whole output: text or bytes.
    pub fn apply<'a>(&self, output: &'a (impl AsRef<[u8]> + ?Sized), context: &Context) -> Outcome<'a> {
        self.apply_with(output.as_ref(), context, self.settings(context))
    }

    /// The same with these settings.
    pub(crate) fn apply_with<'a>(
        &self,
        text: &'a [u8],
        context: &Context,
        settings: Settings,
    ) -> Outcome<'a> {
        if self.passes(text, &settings) {
            self.report_passed(context, &settings, text.len() as u64);
            return Outcome::Passed(Cow::Borrowed(text));
        }
        let mut recording = Recording::start(TruncatorRef::Borrowed(self), settings, context, Reading::Plain);
        recording.observe(text);
        match recording.finish(&CommandEnd::default()) {
            Outcome::Passed(_) => Outcome::Passed(Cow::Borrowed(text)),
            cut => cut,
        }
    }

    /// Bounds an output that arrives in chunks.
    pub fn spool(&self, context: Context) -> Spool<'_> {
        let settings = self.settings(&context);
        Spool::new(TruncatorRef::Borrowed(self), settings, context)
    }

    /// Like [`spool`](Truncator::spool), for a spool that moves to another thread or task.
    ///
    /// ```
    /// use offcut::{Context, Profile, Truncator};
    /// use std::sync::Arc;
    ///
    /// let truncator = Arc::new(Truncator::new(Profile::native()));
    /// let mut spool = Arc::clone(&truncator).into_spool(Context::tool("bash"));
    /// let thread = std::thread::spawn(move || {
    ///     spool.observe(b"a line\n");
    ///     spool.finish()
    /// });
    /// assert_eq!(thread.join().unwrap().text(), "a line\n");
    /// ```
    pub fn into_spool(self: Arc<Self>, context: Context) -> Spool<'static> {
        let settings = self.settings(&context);
        Spool::new(TruncatorRef::Shared(self), settings, context)
    }

    /// Bounds a JSON text: its readable form is measured and shown, and the text as it came is stored.
    pub fn apply_json(&self, json: &[u8], context: &Context) -> Outcome<'static> {
        self.apply_readable(json, context, self.settings(context))
    }

    /// The same with these settings.
    pub(crate) fn apply_readable(
        &self,
        json: &[u8],
        context: &Context,
        settings: Settings,
    ) -> Outcome<'static> {
        // Only a custom strategy may pass what is over the limits.
        let is_measured = settings.enabled && self.strategy.is_none();
        let most = if is_measured { settings.limits.ceiling() } else { u64::MAX };
        let text = readable::up_to(json, most).filter(|text| self.passes(text, &settings));
        if let Some(text) = text {
            self.report_passed(context, &settings, text.len() as u64);
            return Outcome::Passed(Cow::Owned(text));
        }
        let mut recording =
            Recording::start(TruncatorRef::Borrowed(self), settings, context, Reading::Readable);
        json.chunks(readable::CHUNK).for_each(|chunk| recording.store(chunk));
        readable::in_chunks(json, |text| {
            recording.examine(text);
            ControlFlow::Continue(())
        });
        recording.finish(&CommandEnd::default())
    }

    /// Whether the readable form of a JSON text is within the limits.
    pub(crate) fn fits_readable(&self, json: &[u8], settings: &Settings) -> bool {
        readable::up_to(json, settings.limits.ceiling()).is_some_and(|text| self.fits(&text, settings))
    }

    /// Whether a JSON text as it is serialized is within the limits. Line breaks in its strings count as lines.
    pub(crate) fn fits_serialized(&self, json: &[u8], settings: &Settings) -> bool {
        let lines = measure::lines(json, settings.conventions.lines) + readable::escaped_line_breaks(json);
        self.fits(json, settings) && settings.limits.lines.is_none_or(|most| lines <= most)
    }

    /// The profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The settings for an output of this call.
    pub fn settings(&self, context: &Context) -> Settings {
        self.settings_with(context, Rule::default())
    }

    /// The same with options for this one call. Limits that the profile rejects are ignored.
    pub(crate) fn settings_with(&self, context: &Context, call: Rule) -> Settings {
        let without_limits = Rule { limits: Limits::default(), keep: Limits::default(), ..call };
        let checked = self.profile.check(call).or_else(|_| self.profile.check(without_limits));
        let (tool, call) = (context.tool.as_deref(), checked.unwrap_or_default());
        self.profile.resolve(tool, call.or(self.rules.for_tool(tool)))
    }

    /// Whether an output passes as it is.
    pub(crate) fn passes(&self, text: &[u8], settings: &Settings) -> bool {
        let decide = |strategy: &Arc<dyn Strategy>| strategy.decide(text, settings);
        !settings.enabled
            || match self.strategy.as_ref().map(decide).unwrap_or_default() {
                CutDecision::ByLimits => self.fits(text, settings),
                CutDecision::Cut => false,
                CutDecision::Pass => true,
            }
    }

    pub(crate) fn fits(&self, text: &[u8], settings: &Settings) -> bool {
        settings.limits.fit(text, settings.conventions, &*self.tokens)
    }

    /// The directory to which the paths of stored outputs are relative, if the profile shows them so.
    pub(crate) fn base_of_paths(&self) -> Option<&Path> {
        self.project_root.as_deref().filter(|_| self.profile.has_relative_paths())
    }

    /// What is known about an output when its entry is opened.
    pub(crate) fn new_entry<'a>(&'a self, context: &'a Context) -> NewEntry<'a> {
        NewEntry {
            retention: Some(self.profile.retention()),
            file_name: &self.profile.file_name,
            host: self.host.as_deref(),
            ..NewEntry::new(context, &self.profile.name)
        }
    }

    pub(crate) fn report_passed(&self, context: &Context, settings: &Settings, bytes: u64) {
        match settings.enabled {
            true => self.sink.emit(&Event::Passed { context, bytes }),
            false => self.report_skipped(context, bytes),
        }
    }

    pub(crate) fn report_skipped(&self, context: &Context, bytes: u64) {
        self.sink.emit(&Event::Skipped { context, bytes });
    }
}
