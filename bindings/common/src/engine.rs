//! A truncator as both packages use it.

use crate::event_log::EventLog;
use crate::fault::Fault;
use crate::foreign::{self, RecordingStrategy, StrategyKind, StrategyOfResults, lock};
use crate::options::{CallOptions, EngineOptions};
use crate::place::Place;
use crate::report::{Report, StrategyRequest, without_nulls};
use offcut::event::JsonLinesSink;
use offcut::results::{Decision, Middleware, ResultOutcome};
use offcut::retention::Cleaning;
use offcut::store::{MemoryStore, Retention, Store};
use offcut::{Context, Outcome, Preview, Profile, Storage, Truncator};
use serde::Serialize;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

/// Bounds outputs and tool results according to its options.
pub struct Engine {
    truncator: Truncator,
    skipped: Vec<String>,
    total: Option<u64>,
    foreign_store: bool,
    foreign_strategy: Option<StrategyKind>,
    events: bool,
}

/// The answer for an output.
#[derive(Debug)]
pub enum Answer {
    /// It fits.
    Whole,
    /// It is too large: a preview.
    Cut(Box<Preview>),
    /// It is too large: the caller's store or strategy must act first.
    Ask(CallerRequest),
}

/// What the caller's store has to do; the report lists what the strategy has to do.
#[derive(Debug, Default)]
pub struct CallerRequest {
    /// The outputs to save.
    pub save: Vec<Vec<u8>>,
}

/// An answer with its report.
#[derive(Debug)]
pub struct Reported<T> {
    /// The answer.
    pub answer: T,
    /// What is known about it.
    pub report: Report,
}

/// The answer for a tool result.
#[derive(Debug)]
pub enum BoundedResult {
    /// It is unchanged.
    Same,
    /// It changed; the new JSON.
    Changed(String),
    /// It is too large: the caller's store or strategy must act first.
    Ask(CallerRequest),
}

/// The report on one tool result.
#[derive(Serialize)]
struct ResultRow {
    shape: &'static str,
    tool: Option<String>,
    verdict: &'static str,
    /// A summary of a result that was cut, for a terminal.
    panel: Option<String>,
    #[serde(flatten)]
    report: Option<Report>,
}

impl Engine {
    /// An engine with these options, a JSON object.
    pub fn new(options: &str) -> Result<Engine, Fault> {
        let (options, rule) = EngineOptions::parse(options)?;
        let profile = match options.profile.as_deref() {
            None => Profile::native(),
            Some(path) if path.ends_with(".toml") => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Fault::Invalid(format!("the profile {path} cannot be read: {error}")))?;
                Profile::parse(&text)?
            }
            Some(name) => Profile::named(name)?,
        };
        let place =
            if options.foreign_store { Place::Nowhere } else { Place::named(options.store.as_deref())? };
        let retention = options.retention_days.map_or(profile.retention(), Retention::Days);
        let cleaning = match options.automatic_cleaning {
            Some(false) => Cleaning::Manual,
            _ => Cleaning::Automatic,
        };
        let truncator = Truncator::new(profile)
            .storage(place.storage())
            .retention(retention)
            .cleaning(cleaning)
            .reach(place.reach(options.reach.as_deref())?)
            .cap(options.max_output.map_or(offcut::store::DEFAULT_CAP, |amount| amount.0))
            .rule(rule)?;
        let mut truncator = match options.project_root {
            Some(root) => truncator.project_root(root),
            None => truncator,
        };
        for (name, options) in options.tools {
            truncator.update_tool(&name, options.rule()?)?;
        }
        Ok(Engine {
            truncator,
            skipped: options.skip_tools,
            total: options.total.map(|amount| amount.0),
            foreign_store: options.foreign_store,
            foreign_strategy: options.foreign_strategy,
            events: options.events,
        })
    }

    /// The profile's name.
    pub fn profile(&self) -> &str {
        self.truncator.profile().name()
    }

    /// Removes the outputs whose retention has ended, and returns how many it removed.
    pub fn cleanup(&self) -> Result<u64, Fault> {
        Ok(self.truncator.cleanup(SystemTime::now())?)
    }

    /// Bounds an output.
    pub fn cut(
        &self,
        text: &[u8],
        context: &Context,
        call: Option<&CallOptions>,
    ) -> Result<Reported<Answer>, Fault> {
        let is_plain = !self.events && !self.foreign_store && self.foreign_strategy.is_none();
        if call.is_none() && is_plain && !self.skips(context) {
            return Ok(reported(self.truncator.apply(text, context), Vec::new()));
        }
        let attempt = self.attempt(context, call)?;
        Ok(attempt.answer(attempt.truncator.apply(text, context)))
    }

    /// Bounds a tool result, or an array of them. The second text is JSON: the report on each.
    pub fn result(
        &self,
        json: &str,
        context: &Context,
        call: &CallOptions,
    ) -> Result<(Reported<BoundedResult>, String), Fault> {
        let attempt = self.attempt(context, Some(call))?;
        // A result that the caller exempts is not even marked.
        let decision = if call.rule.enabled == Some(false) { Decision::Skip } else { Decision::Bound };
        let mut middleware = Middleware::new((*attempt.truncator).clone())
            .skip_tools(self.skipped.iter().cloned())
            .decide(move |_| decision);
        if let Some(total) = self.total {
            middleware = middleware.total(total);
        }
        let bounded = middleware.bound_json(json, call.shape()?, context)?;
        let is_cut =
            bounded.results.iter().any(|result| matches!(result.outcome, ResultOutcome::Truncated(_)));
        if attempt.needs_caller && is_cut {
            let asked = Reported { answer: BoundedResult::Ask(attempt.request()), report: attempt.wanted() };
            return Ok((asked, "[]".to_owned()));
        }
        let judge = |judged: &offcut::results::ResultReport| {
            let report = match &judged.outcome {
                ResultOutcome::Truncated(preview) => Some(Report::new(preview)),
                ResultOutcome::Fits | ResultOutcome::Skipped(_) => None,
            };
            let verdict = match &judged.outcome {
                ResultOutcome::Truncated(_) => "cut",
                ResultOutcome::Fits => "fits",
                ResultOutcome::Skipped(_) => "passed",
            };
            let panel = match &judged.outcome {
                ResultOutcome::Truncated(preview) => Some(offcut::results::panel(&judged.context, preview)),
                ResultOutcome::Fits | ResultOutcome::Skipped(_) => None,
            };
            let tool = judged.context.tool.clone();
            ResultRow { shape: judged.shape.name(), tool, verdict, panel, report }
        };
        let results: Vec<Value> =
            bounded.results.iter().map(|result| without_nulls(&judge(result))).collect();
        let answer = match bounded.json {
            std::borrow::Cow::Borrowed(_) => BoundedResult::Same,
            std::borrow::Cow::Owned(json) => BoundedResult::Changed(json),
        };
        let results = serde_json::to_string(&results)?;
        Ok((Reported { answer, report: Report::whole(attempt.events()) }, results))
    }

    fn skips(&self, context: &Context) -> bool {
        context.tool.as_ref().is_some_and(|tool| self.skipped.contains(tool))
    }

    /// A truncator for one call. The caller's store and strategy are replaced by their results, or, before they have acted,
    /// by recorders.
    pub(crate) fn attempt(&self, context: &Context, call: Option<&CallOptions>) -> Result<Attempt, Fault> {
        let mut rule = call.map(|call| call.rule).unwrap_or_default();
        if self.skips(context) {
            rule.enabled = Some(false);
        }
        let mut truncator = self.truncator.with_options(rule)?;
        let saved = call.and_then(|call| call.saved.as_deref());
        let made = call.and_then(|call| call.made.as_deref());
        let needs_caller =
            (self.foreign_store && saved.is_none()) || (self.foreign_strategy.is_some() && made.is_none());
        let (requests, memory, log) =
            (Arc::default(), MemoryStore::new(SystemTime::now), EventLog::default());
        match (self.foreign_store, saved) {
            (true, Some(saved)) => {
                truncator = truncator.storage(Storage::To(Arc::new(foreign::store_of_results(saved))))
            }
            (true, None) => truncator = truncator.storage(Storage::To(Arc::new(memory.clone()))),
            (false, _) if needs_caller => truncator = truncator.storage(Storage::Off),
            (false, _) => {}
        }
        match (self.foreign_strategy, made) {
            (Some(kind), Some(made)) => truncator = truncator.strategy(StrategyOfResults::new(kind, made)),
            (Some(kind), None) => {
                truncator = truncator.strategy(RecordingStrategy { kind, requests: Arc::clone(&requests) });
            }
            (None, _) => {}
        }
        if self.events {
            truncator = truncator.sink(JsonLinesSink::new(log.clone(), SystemTime::now));
        }
        Ok(Attempt { truncator: Arc::new(truncator), needs_caller, requests, memory, log })
    }
}

/// One attempt at a call.
pub(crate) struct Attempt {
    pub(crate) truncator: Arc<Truncator>,
    /// The caller's store or strategy must act before there is an answer.
    pub(crate) needs_caller: bool,
    requests: Arc<Mutex<Vec<StrategyRequest>>>,
    memory: MemoryStore,
    log: EventLog,
}

impl Attempt {
    pub(crate) fn answer(&self, shown: Outcome<'_>) -> Reported<Answer> {
        match shown {
            Outcome::Truncated(_) | Outcome::Described(_) | Outcome::StillRunning(_) if self.needs_caller => {
                Reported { answer: Answer::Ask(self.request()), report: self.wanted() }
            }
            shown => reported(shown, self.events()),
        }
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        self.log.events()
    }

    pub(crate) fn wanted(&self) -> Report {
        Report { wanted: Some(lock(&self.requests).clone()), ..Report::default() }
    }

    pub(crate) fn request(&self) -> CallerRequest {
        let ids = self.memory.ids().unwrap_or_default();
        let read = |id: &offcut::store::Id| {
            let bytes = self.memory.entry(id).map_or(0, |entry| entry.bytes);
            let mut content = vec![0; usize::try_from(bytes).unwrap_or_default()];
            let count = self.memory.read(id, 0, &mut content).unwrap_or_default();
            content.truncate(count);
            content
        };
        CallerRequest { save: ids.iter().map(read).collect() }
    }
}

fn reported(shown: Outcome<'_>, events: Vec<Value>) -> Reported<Answer> {
    match shown {
        Outcome::Passed(_) => Reported { answer: Answer::Whole, report: Report::whole(events) },
        Outcome::Truncated(preview) | Outcome::Described(preview) | Outcome::StillRunning(preview) => {
            let report = Report { events, ..Report::new(&preview) };
            Reported { answer: Answer::Cut(preview), report }
        }
    }
}
