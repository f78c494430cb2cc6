//! Tool results: bounds the text in them and leaves everything else unchanged.
//!
//! ```text
//! json ─▶ detect the shape ─▶ find the texts ─▶ skip? ──yes──▶ the same json
//!                                                 │no
//!                                                 ▼
//!                                     bound them together ─▶ divide ─▶ edit the json in place
//! ```
//!
//! The texts of a result are measured together and bounded by the engine ([`Truncator`]); images and other parts stay
//! in place. Only the texts that were cut and the fields that mark the cut change.
//!
//! ```
//! use offcut::results::{Middleware, ShapeChoice};
//! use offcut::{Context, Profile, Truncator};
//!
//! let middleware = Middleware::new(Truncator::new(Profile::native()));
//! let text = "a line of output\\n".repeat(10_000);
//! let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"big":18446744073709551616}}"#);
//! let bounded = middleware.bound_json(&result, ShapeChoice::Auto, &Context::tool("search")).unwrap();
//! assert!(bounded.json.len() < 11_000);
//! assert!(bounded.json.contains("18446744073709551616"));
//! ```

mod batch;
mod divide;
mod job;
#[cfg(feature = "layer")]
pub mod layer;
#[cfg(any(feature = "layer", feature = "registry"))]
mod off_thread;
mod outcome;
mod output;
mod own_preview;
mod panel;
#[cfg(feature = "registry")]
pub mod registry;
mod shape;
pub mod structured;
mod write;

pub use batch::shares;
pub use outcome::{
    BoundedJson, Decision, InvalidJson, ResultCall, ResultOutcome, ResultReport, ShapeChoice, SkipReason,
};
pub use output::{ToolOutput, ToolStatus};
pub use panel::{panel, truncation_panel};
pub use shape::Shape;

use crate::builder::Storage;
use crate::context::Context;
use crate::json::{Edits, Node, quoted};
use crate::limits::Limits;
use crate::outcome::{Outcome, Preview};
use crate::profile::{Marking, Rule, Settings, TrailingLines, Treatment};
use crate::retrieve::readable;
use crate::strategy::Cost;
use crate::truncator::Truncator;
use divide::Notices;
use job::{Job, Plan, Recognized};
use shape::{Beside, Cut, NoticePlace, Text, Texts, ToolReport};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The smallest share of a result in a batch: enough for its notice.
const LEAST_SHARE: u64 = 512;

/// Bounds tool results of every shape.
///
/// ```
/// use offcut::results::{Middleware, ResultOutcome, ToolOutput};
/// use offcut::{Context, Profile, Rule, Truncator};
///
/// let middleware = Middleware::new(Truncator::new(Profile::native())).skip_tools(["read_file"]);
/// let output = ToolOutput::succeeded("a line\n".repeat(100_000));
/// let (bounded, outcome) = middleware.bound_output(output, &Context::tool("bash"), Rule::default());
/// assert!(matches!(outcome, ResultOutcome::Truncated(_)));
/// assert!(bounded.output.len() <= 9500);
/// assert_eq!(bounded.metadata["truncated"], true);
/// ```
pub struct Middleware {
    truncator: Truncator,
    skipped: BTreeSet<String>,
    decide: Option<Box<Decide>>,
    total: Option<u64>,
}

/// The caller's decision about a result.
type Decide = dyn Fn(&ResultCall<'_>) -> Decision + Send + Sync;

impl Middleware {
    /// A middleware with the profile and the store of this truncator.
    pub fn new(truncator: Truncator) -> Middleware {
        Middleware { truncator, skipped: BTreeSet::new(), decide: None, total: None }
    }

    /// Leaves the results of these tools unchanged.
    #[must_use]
    pub fn skip_tools<N: Into<String>>(self, tools: impl IntoIterator<Item = N>) -> Middleware {
        Middleware { skipped: tools.into_iter().map(Into::into).collect(), ..self }
    }

    /// Calls `decide` for each result that is not skipped for another reason.
    #[must_use]
    pub fn decide(self, decide: impl Fn(&ResultCall<'_>) -> Decision + Send + Sync + 'static) -> Middleware {
        Middleware { decide: Some(Box::new(decide)), ..self }
    }

    /// Limits the results of one batch to this many bytes together; the largest are cut first.
    #[must_use]
    pub fn total(self, bytes: u64) -> Middleware {
        Middleware { total: Some(bytes), ..self }
    }

    /// The truncator inside.
    pub fn truncator(&self) -> &Truncator {
        &self.truncator
    }

    /// Bounds a result, or an array of results that share the total. Values of unknown shape stay unchanged.
    pub fn bound_json<'a>(
        &self,
        json: &'a str,
        shape: ShapeChoice,
        context: &Context,
    ) -> Result<BoundedJson<'a>, InvalidJson> {
        let document = Node::parse(json).map_err(|error| InvalidJson::new(&error))?;
        let bounded = self.bound_node(document, shape, context, Rule::default());
        let (before, after) = (&json[..document.span().start], &json[document.span().end..]);
        Ok(BoundedJson {
            json: match bounded.json {
                Cow::Borrowed(_) => Cow::Borrowed(json),
                Cow::Owned(text) => Cow::Owned([before, &text, after].concat()),
            },
            ..bounded
        })
    }

    /// Like [`bound_json`](Middleware::bound_json) for a value that is already parsed, with options that take precedence
    /// over the profile's.
    pub fn bound_node<'a>(
        &self,
        node: Node<'a>,
        shape: ShapeChoice,
        context: &Context,
        rule: Rule,
    ) -> BoundedJson<'a> {
        let Recognized { results, unknown } = match shape {
            ShapeChoice::Auto => job::recognize(node),
            ShapeChoice::Is(shape) => job::take_as(shape, node),
        };
        let mut jobs: Vec<Job<'a>> =
            results.into_iter().map(|result| self.plan(Job::new(result, context), rule)).collect();
        self.share(&mut jobs);
        let mut edits = Edits::default();
        let results: Vec<ResultReport> = jobs.into_iter().map(|job| self.bound(job, &mut edits)).collect();
        let json =
            if edits.is_empty() { Cow::Borrowed(node.json()) } else { Cow::Owned(edits.apply_within(node)) };
        let shown: u64 = results.iter().map(|report| report.bytes).sum();
        let excess = self.total.map_or(0, |total| shown.saturating_sub(total));
        BoundedJson { json, results, unknown, excess }
    }

    /// Decides what to do with a result.
    fn plan<'a>(&self, mut job: Job<'a>, given: Rule) -> Job<'a> {
        let (report, json) = (job.found.report, job.found.node.json());
        job.plan = match self.call_rule(report, &job.context, &|| Cow::Borrowed(json)) {
            Err(reason) => Plan::Skip(reason),
            Ok(_) if matches!(job.found.texts, Texts::Missing) => Plan::Skip(SkipReason::NoText),
            Ok(rule) => {
                let rule = rule.or(given);
                let settings = self.settings(&job.context, rule, None);
                if !settings.enabled && self.truncator.profile.results.disabled == Treatment::Passed {
                    job.plan = Plan::Skip(SkipReason::Disabled);
                    return job;
                }
                // Under a total, a result within its limits may be cut, too.
                let fits = match job.found.texts {
                    Texts::Readable(node) => self.truncator.fits_readable(node.json().as_bytes(), &settings),
                    _ => self.truncator.fits(&job.text.text, &settings),
                };
                let may_be_cut = self.total.is_some() || !fits;
                let longest = own_preview::longest(&settings.limits);
                let is_own = |text: Cow<'_, [u8]>| self.is_own_preview(&text, &settings);
                match settings.enabled && may_be_cut && job.preview_text(longest).is_some_and(is_own) {
                    true => Plan::Skip(SkipReason::OwnPreview),
                    false => Plan::Bound(rule),
                }
            }
        };
        job
    }

    /// Divides the total among the results that can be cut.
    fn share(&self, jobs: &mut [Job<'_>]) {
        let Some(total) = self.total else { return };
        let size = |job: &Job<'_>| match job.plan {
            Plan::Skip(_) => (job.bytes(), 0),
            Plan::Bound(rule) => {
                let most = self.settings(&job.context, rule, None).limits.bytes.unwrap_or(u64::MAX);
                (0, job.bytes().min(most))
            }
        };
        let (passing, sizes): (Vec<u64>, Vec<u64>) = jobs.iter().map(size).unzip();
        let left = total.saturating_sub(passing.iter().sum());
        let shares = shares(&sizes, left, LEAST_SHARE);
        jobs.iter_mut().zip(shares).for_each(|(job, share)| job.share = Some(share));
    }

    /// Bounds one result.
    fn bound(&self, job: Job<'_>, edits: &mut Edits) -> ResultReport {
        // The size of what is shown beside the preview.
        let mut beside = 0;
        let outcome = match job.plan {
            Plan::Skip(reason) => ResultOutcome::Skipped(reason),
            Plan::Bound(rule) => {
                let settings = self.settings(&job.context, rule, job.share);
                match &job.found.texts {
                    Texts::Missing => ResultOutcome::Skipped(SkipReason::NoText),
                    Texts::Parts { texts, elements } => {
                        self.bound_parts(&job, (texts, elements), settings, edits)
                    }
                    Texts::Two(nodes) => self.bound_two(&job, *nodes, settings, &mut beside, edits),
                    Texts::Readable(node) => self.bound_readable(&job, *node, settings, edits),
                }
            }
        };
        if let (ResultOutcome::Fits, Marking::Marked) = (&outcome, self.truncator.profile.results.whole) {
            job.shape.mark_whole(&job.found, edits);
        }
        let bytes = match &outcome {
            ResultOutcome::Truncated(preview) => preview.content.len() as u64 + beside,
            ResultOutcome::Fits | ResultOutcome::Skipped(_) => job.bytes(),
        };
        if let ResultOutcome::Skipped(_) = outcome {
            self.truncator.report_skipped(&job.context, bytes);
        }
        ResultReport { shape: job.shape, index: job.index, context: job.context, outcome, bytes }
    }

    /// The options for this call, or why its result is skipped.
    fn call_rule<'a>(
        &self,
        report: ToolReport,
        context: &Context,
        json: &dyn Fn() -> Cow<'a, str>,
    ) -> Result<Rule, SkipReason> {
        let results = &self.truncator.profile.results;
        if report.is_truncated && results.handled == Treatment::Passed {
            return Err(SkipReason::TruncatedByTool);
        }
        if report.is_error && results.errors == Treatment::Passed {
            return Err(SkipReason::ErrorResult);
        }
        if self.skips(context) {
            return Err(SkipReason::ToolExcluded);
        }
        let Some(decide) = &self.decide else { return Ok(Rule::default()) };
        match decide(&ResultCall { context, json: &json() }) {
            Decision::Bound => Ok(Rule::default()),
            Decision::BoundWith(rule) => Ok(rule),
            Decision::Skip => Err(SkipReason::CallerDecision),
        }
    }

    /// Bounds the strings of a result together.
    fn bound_parts(
        &self,
        job: &Job<'_>,
        (texts, elements): (&[Text<'_>], &[Node<'_>]),
        settings: Settings,
        edits: &mut Edits,
    ) -> ResultOutcome {
        let outcome = self.truncator.apply_with(&job.text.text, &job.context, settings);
        let Some(preview) = outcome.into_preview() else { return ResultOutcome::Fits };
        let has_own_parts = job.shape.notice() == NoticePlace::OwnParts && !elements.is_empty();
        let divided = if has_own_parts {
            let Notices { before, body, .. } = Notices::of(&preview);
            job.text.divide(&preview, body, before.len())
        } else {
            job.text.divide(&preview, &preview.content, 0)
        };
        write::texts(texts, elements, &divided, edits);
        if has_own_parts {
            write::own_parts(texts, elements, &divided, &preview, edits);
        }
        let cut = Cut::new(&preview, &settings, &job.text.text, self.truncator.base_of_paths());
        job.shape.mark_cut(&job.found, &cut, edits);
        ResultOutcome::Truncated(preview)
    }

    /// Bounds two strings that share the limits: each has half of them, and what the other does not need.
    fn bound_two(
        &self,
        job: &Job<'_>,
        nodes: [Node<'_>; 2],
        settings: Settings,
        beside: &mut u64,
        edits: &mut Edits,
    ) -> ResultOutcome {
        if self.truncator.passes(&job.text.text, &settings) {
            self.truncator.report_passed(&job.context, &settings, job.bytes());
            return ResultOutcome::Fits;
        }
        let texts = nodes.map(|node| node.text().unwrap_or_default());
        let share = |limits: Limits, other: &[u8]| {
            let other = Cost::of(other, &limits, settings.conventions, &*self.truncator.tokens);
            limits.zip_with(other, |most, other| Some(most?.saturating_sub(other).max(most? / 2).max(1)))
        };
        let mut shown: Option<Box<Preview>> = None;
        for (index, (text, node)) in texts.iter().zip(nodes).enumerate() {
            let other = &texts[1 - index];
            let (limits, keep) = (share(settings.limits, other), share(settings.keep, other));
            let settings = Settings { limits, failure_limits: limits, keep, ..settings };
            let fits = self.truncator.fits(text, &settings);
            let outcome = || self.truncator.apply_with(text, &job.context, settings).into_preview();
            match (!fits).then(outcome).flatten() {
                None => *beside += text.len() as u64,
                Some(preview) => {
                    edits.replace(node, quoted(&preview.content));
                    match shown {
                        None => shown = Some(preview),
                        Some(_) => *beside += preview.content.len() as u64,
                    }
                }
            }
        }
        let Some(preview) = shown else { return ResultOutcome::Fits };
        let cut = Cut::new(&preview, &settings, &job.text.text, self.truncator.base_of_paths());
        job.shape.mark_cut(&job.found, &cut, edits);
        ResultOutcome::Truncated(preview)
    }

    /// Bounds a response of a tool that follows the unified document, but is not JSON.
    #[cfg(feature = "profiles")]
    pub(crate) fn bound_plain_response<'a>(&self, response: &'a str, context: &Context) -> Cow<'a, str> {
        let (_, outcome) = self.bound_output(ToolOutput::succeeded(response), context, Rule::default());
        let ResultOutcome::Truncated(preview) = outcome else { return Cow::Borrowed(response) };
        let settings = self.settings(context, Rule::default(), None);
        let cut = Cut::new(&preview, &settings, &[], self.truncator.base_of_paths());
        Cow::Owned(shape::unified::envelope(&cut, response.len()))
    }

    /// Bounds the readable form of a value.
    fn bound_readable(
        &self,
        job: &Job<'_>,
        node: Node<'_>,
        mut settings: Settings,
        edits: &mut Edits,
    ) -> ResultOutcome {
        let beside =
            settings.keep.bytes.map_or_else(Beside::default, |most| job.shape.beside(&job.found, most));
        // Profiles with their own wording count only the text, and keep what is beside it unless that alone exceeds the limit.
        let is_counted = self.truncator.profile.wording.is_none();
        let is_shortened = is_counted || settings.limits.bytes.is_some_and(|most| beside.original > most);
        if is_counted {
            settings.keep.bytes =
                settings.keep.bytes.map(|most| (most - most.min(beside.bytes)).max(LEAST_SHARE));
        }
        let json = node.json().as_bytes();
        let mut limited = settings;
        // The unified document measures the response as it is serialized, and shows the readable form.
        if job.shape == Shape::Unified && !is_counted && settings.enabled {
            if self.truncator.fits_serialized(json, &settings) {
                self.truncator.report_passed(&job.context, &settings, readable::size(json));
                return ResultOutcome::Fits;
            }
            if self.truncator.fits_readable(json, &settings) {
                limited.limits.bytes = Some(readable::size(json).saturating_sub(1));
                limited.keep.bytes = limited.limits.bytes;
            }
        }
        match self.truncator.apply_readable(json, &job.context, limited) {
            Outcome::Passed(_) => ResultOutcome::Fits,
            Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
                if is_shortened {
                    beside.shortened.into_iter().for_each(|(node, json)| edits.replace(node, json));
                }
                let cut = Cut::new(&preview, &settings, &[], self.truncator.base_of_paths());
                job.shape.mark_cut(&job.found, &cut, edits);
                ResultOutcome::Truncated(preview)
            }
        }
    }

    fn skips(&self, context: &Context) -> bool {
        context.tool.as_ref().is_some_and(|tool| self.skipped.contains(tool))
    }

    /// The settings for a result: the call's options over all others, and at most its share of the total.
    fn settings(&self, context: &Context, call: Rule, share: Option<u64>) -> Settings {
        let settings = self.truncator.settings_with(context, call);
        let settings = match share {
            Some(share) if settings.limits.bytes.is_none_or(|most| share < most) => {
                let limits = Limits { bytes: Some(share), ..call.limits };
                self.truncator.settings_with(context, Rule { limits, ..call })
            }
            _ => settings,
        };
        // The native profile always shows the last lines of a result; the other profiles cut as their documents say.
        let trailer = match self.truncator.profile.wording {
            Some(_) => TrailingLines::AsChosen,
            None => TrailingLines::Kept,
        };
        Settings { trailer, ..settings }
    }

    /// Whether a text is a preview or a page that offcut wrote.
    fn is_own_preview(&self, text: &[u8], settings: &Settings) -> bool {
        match &self.truncator.storage {
            Storage::To(store) => own_preview::is_own_preview(text, store, &settings.limits),
            Storage::Off | Storage::Unavailable(_) => false,
        }
    }
}
