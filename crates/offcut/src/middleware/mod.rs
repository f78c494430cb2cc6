//! Tool results: the text in them bounded, everything else as it was.
//!
//! ```text
//! json ─▶ recognise the shape ─▶ find the texts ─▶ passed? ──yes──▶ the same json
//!                                                    │no
//!                                                    ▼
//!                                     bound them together ─▶ divide ─▶ edit the json in place
//! ```
//!
//! The texts of a result are measured together and bounded by the engine ([`Truncator`]); images and other parts stay
//! where they are. Only the texts that were cut and the fields that tell of it change.
//!
//! ```
//! use offcut::middleware::{Middleware, ShapeChoice};
//! use offcut::{Context, Profile, Truncator};
//!
//! let middleware = Middleware::new(Truncator::new(Profile::native()));
//! let text = "a line of output\\n".repeat(10_000);
//! let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"big":18446744073709551616}}"#);
//! let bounded = middleware.result(&result, ShapeChoice::Auto, &Context::tool("search")).unwrap();
//! assert!(bounded.json.len() < 11_000);
//! assert!(bounded.json.contains("18446744073709551616"));
//! ```

mod batch;
mod divide;
mod job;
mod json;
#[cfg(feature = "layer")]
pub mod layer;
mod ours;
mod output;
mod panel;
#[cfg(feature = "registry")]
pub mod registry;
mod shape;
mod verdict;
mod write;

pub use batch::shares;
pub use output::{Outcome, ToolOutput};
pub use panel::panel;
pub use shape::Shape;
pub use verdict::{Bounded, Call, Decision, Judged, NotJson, Reason, ShapeChoice, Verdict};

use crate::builder::Storage;
use crate::context::Context;
use crate::limits::Limits;
use crate::profile::{Marking, Rule, Settings, TrailingLines, Treatment};
use crate::retrieve;
use crate::shown::Shown;
use crate::spool::Spool;
use crate::truncator::Truncator;
use divide::{Joined, Notices};
use job::Job;
use json::{Edits, Node};
use shape::{Adapter, Cut, Ended, Found, Handled, NoticePlace, Text, Texts};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The least that one result of a batch may have, so that there is room to say what is missing.
const LEAST_SHARE: u64 = 512;

/// Bounds tool results of every shape.
pub struct Middleware {
    truncator: Truncator,
    skipped: BTreeSet<String>,
    decide: Option<Box<Decide>>,
    total: Option<u64>,
}

/// A decision of the caller's own.
type Decide = dyn Fn(&Call<'_>) -> Decision + Send + Sync;

impl Middleware {
    /// A middleware around this truncator: its profile, its store.
    pub fn new(truncator: Truncator) -> Middleware {
        Middleware { truncator, skipped: BTreeSet::new(), decide: None, total: None }
    }

    /// Passes the results of these tools as they are.
    pub fn skip_tools<N: Into<String>>(self, tools: impl IntoIterator<Item = N>) -> Middleware {
        Middleware { skipped: tools.into_iter().map(Into::into).collect(), ..self }
    }

    /// Asks `decide` what to do with each result that no other rule passes.
    pub fn decide(self, decide: impl Fn(&Call<'_>) -> Decision + Send + Sync + 'static) -> Middleware {
        Middleware { decide: Some(Box::new(decide)), ..self }
    }

    /// Lets the results of one batch have at most this many bytes together; the largest are cut first.
    pub fn total(self, bytes: u64) -> Middleware {
        Middleware { total: Some(bytes), ..self }
    }

    /// The truncator inside.
    pub fn truncator(&self) -> &Truncator {
        &self.truncator
    }

    /// Bounds a result, or an array of them, which then share the total.
    ///
    /// What is not recognised passes as it is.
    pub fn result<'a>(
        &self,
        json: &'a str,
        shape: ShapeChoice,
        context: &Context,
    ) -> Result<Bounded<'a>, NotJson> {
        let document = Node::parse(json).map_err(|error| NotJson::new(&error))?;
        let found = match shape {
            ShapeChoice::Auto => job::recognise(document),
            ShapeChoice::Is(shape) => {
                let each = if document.is_array() { document.elements() } else { vec![document] };
                each.into_iter().filter(Node::is_object).map(|node| (shape, node)).collect()
            }
        };
        let mut jobs: Vec<Job<'a>> =
            found.into_iter().map(|(shape, node)| Job::new(shape, node, context)).collect();
        if let Some(total) = self.total {
            let size = |job: &Job<'_>| job.size().min(self.most(&job.context));
            let sizes: Vec<u64> = jobs.iter().map(size).collect();
            let shares = shares(&sizes, total, LEAST_SHARE);
            jobs.iter_mut().zip(shares).for_each(|(job, share)| job.share = Some(share));
        }
        let mut edits = Edits::default();
        let results = jobs.into_iter().map(|job| self.judge(job, &mut edits)).collect();
        let json = if edits.is_empty() { Cow::Borrowed(json) } else { Cow::Owned(edits.apply(json)) };
        Ok(Bounded { json, results })
    }

    /// One result: passed, whole or cut.
    fn judge(&self, job: Job<'_>, edits: &mut Edits) -> Judged {
        let Job { shape, found, context, share } = job;
        let adapter = shape.adapter();
        let verdict = match self
            .call_rule((found.handled, found.ended), &context, &|| Cow::Borrowed(found.node.json()))
        {
            Err(reason) => Verdict::Passed(reason),
            Ok(call) => {
                let settings = self.settings(&context, call, share);
                match &found.texts {
                    Texts::Parts { texts, elements } => {
                        self.parts(adapter, &found, (texts, elements), &context, settings, edits)
                    }
                    Texts::Readable => self.readable(adapter, &found, &context, settings, edits),
                }
            }
        };
        let results = self.truncator.profile.results;
        if let (Verdict::Fits, Marking::Marked) = (&verdict, results.whole) {
            adapter.mark_whole(&found, edits);
        }
        Judged { shape, context, verdict }
    }

    /// The options of this call, or why it passes.
    fn call_rule<'a>(
        &self,
        (handled, ended): (Handled, Ended),
        context: &Context,
        json: &dyn Fn() -> Cow<'a, str>,
    ) -> Result<Rule, Reason> {
        let results = self.truncator.profile.results;
        if handled == Handled::ByTool && results.handled == Treatment::Passed {
            return Err(Reason::Handled);
        }
        if ended == Ended::Failed && results.errors == Treatment::Passed {
            return Err(Reason::Failed);
        }
        if self.skips(context) {
            return Err(Reason::SkippedTool);
        }
        let Some(decide) = &self.decide else { return Ok(Rule::default()) };
        match decide(&Call { context, json: &json() }) {
            Decision::Bound => Ok(Rule::default()),
            Decision::BoundBy(rule) => Ok(rule),
            Decision::Pass => Err(Reason::Decided),
        }
    }

    /// Bounds the strings of a result together.
    fn parts(
        &self,
        adapter: &dyn Adapter,
        found: &Found<'_>,
        (texts, elements): (&[Text<'_>], &[Node<'_>]),
        context: &Context,
        settings: Settings,
        edits: &mut Edits,
    ) -> Verdict {
        let joined = Joined::new(texts.iter().map(|text| text.node.text().unwrap_or_default()).collect());
        if self.is_ours(&joined.text, &settings) {
            return Verdict::Passed(Reason::Ours);
        }
        let mut spool = Spool::new(&self.truncator, settings, context.clone());
        spool.observe(&joined.text);
        let Shown::Cut(preview) = spool.finish() else { return Verdict::Fits };
        let has_own_parts = adapter.notice() == NoticePlace::OwnParts && !elements.is_empty();
        let divided = if has_own_parts {
            let Notices { before, body, .. } = Notices::of(&preview);
            joined.divide(&preview, body, before.len())
        } else {
            joined.divide(&preview, &preview.content, 0)
        };
        write::texts(texts, elements, &divided, edits);
        if has_own_parts {
            write::own_parts(texts, elements, &divided, &preview, edits);
        }
        adapter.mark_cut(found, &Cut { preview: &preview, settings: &settings }, edits);
        Verdict::Cut(preview)
    }

    /// Bounds the readable form of a whole result.
    fn readable(
        &self,
        adapter: &dyn Adapter,
        found: &Found<'_>,
        context: &Context,
        settings: Settings,
        edits: &mut Edits,
    ) -> Verdict {
        let stored = found.node.json().as_bytes();
        let readable = retrieve::readable(stored);
        if self.is_ours(&readable, &settings) {
            return Verdict::Passed(Reason::Ours);
        }
        match self.truncator.apply_readable(stored, &readable, context, settings) {
            Shown::Whole(_) => Verdict::Fits,
            Shown::Cut(preview) => {
                adapter.mark_cut(found, &Cut { preview: &preview, settings: &settings }, edits);
                Verdict::Cut(preview)
            }
        }
    }

    fn skips(&self, context: &Context) -> bool {
        context.tool.as_ref().is_some_and(|tool| self.skipped.contains(tool))
    }

    /// The most bytes that a result of this call may have, whatever the total.
    fn most(&self, context: &Context) -> u64 {
        self.settings(context, Rule::default(), None).limits.bytes.unwrap_or(u64::MAX)
    }

    /// What applies to a result: the call's options over all others, and no more than its share of the total.
    fn settings(&self, context: &Context, call: Rule, share: Option<u64>) -> Settings {
        let settings = self.truncator.settings_with(context, call);
        let settings = match share {
            Some(share) if settings.limits.bytes.is_none_or(|most| share < most) => {
                let limits = Limits { bytes: Some(share), ..call.limits };
                self.truncator.settings_with(context, Rule { limits, ..call })
            }
            _ => settings,
        };
        // The documents cut where they cut; under our own notice the end of a result is never lost.
        let trailer = match self.truncator.profile.wording {
            Some(_) => TrailingLines::AsChosen,
            None => TrailingLines::Kept,
        };
        Settings { trailer, ..settings }
    }

    /// Whether a text that would be cut is one of ours. What fits is not looked at.
    fn is_ours(&self, text: &[u8], settings: &Settings) -> bool {
        match &self.truncator.storage {
            Storage::To(store) if settings.enabled && !self.truncator.fits(text, settings) => {
                let by_path = self.truncator.profile.wording.is_some();
                ours::is_ours(text, &**store) || (by_path && ours::is_ours_by_path(text, &**store))
            }
            _ => false,
        }
    }
}
