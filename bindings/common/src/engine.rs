//! A truncator as both languages use it.

use crate::fault::Fault;
use crate::foreign::{self, Given, Wanted, lock};
use crate::options::{CallOptions, EngineOptions};
use crate::place::Place;
use crate::report::{Report, StrategyRequest, without_nulls};
use crate::tally::Tally;
use offcut::measure::EstimatedTokens;
use offcut::results::{Decision, Middleware, ResultOutcome};
use offcut::store::{MemoryStore, Store};
use offcut::{Context, JsonLinesSink, Preview, Profile, Rule, Settings, Shown, Storage, Truncator};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// Bounds outputs and results as its options say.
pub struct Engine {
    middleware: Middleware,
    pub(crate) profile: Profile,
    pub(crate) storage: Storage,
    /// A truncator for each tool that has options of its own.
    by_tool: BTreeMap<String, Truncator>,
    tools: Arc<BTreeMap<String, Rule>>,
    skipped: Vec<String>,
    total: Option<u64>,
    foreign_store: bool,
    foreign_strategy: bool,
    pub(crate) events: bool,
}

/// What became of an output.
#[derive(Debug)]
pub enum Answer {
    /// It fits.
    Whole,
    /// It was cut.
    Cut(Box<Preview>),
    /// It will be, as soon as the caller has done this.
    Ask(Asked),
}

/// What the caller's own store and strategy have to do.
#[derive(Debug, Default)]
pub struct Asked {
    /// To be saved.
    pub save: Vec<Vec<u8>>,
}

/// An answer, and what there is to tell about it.
#[derive(Debug)]
pub struct Told<T> {
    /// The answer.
    pub answer: T,
    /// What is known of it.
    pub report: Report,
}

/// A result that was bounded.
#[derive(Debug)]
pub enum BoundedResult {
    /// It is as it was.
    Same,
    /// It changed.
    Changed(String),
    /// It will, as soon as the caller has done this.
    Ask(Asked),
}

/// What became of each result, beside its text.
#[derive(Serialize)]
struct Judged {
    shape: &'static str,
    tool: Option<String>,
    verdict: &'static str,
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
        let storage = place.storage();
        let truncator = Truncator::new(profile.clone())
            .storage(storage.clone())
            .reach(place.reach(options.reach.as_deref())?)
            .cap(options.max_output.map_or(offcut::DEFAULT_CAP, |amount| amount.0))
            .rule(rule)?;
        let mut tools = BTreeMap::new();
        let mut by_tool = BTreeMap::new();
        for (name, options) in options.tools {
            let rule = options.rule()?;
            let mut for_tool = truncator.clone();
            for_tool.update(rule)?;
            by_tool.insert(name.clone(), for_tool);
            tools.insert(name, rule);
        }
        Ok(Engine {
            middleware: Middleware::new(truncator),
            profile,
            storage,
            by_tool,
            tools: Arc::new(tools),
            skipped: options.skip_tools,
            total: options.total.map(|amount| amount.0),
            foreign_store: options.foreign_store,
            foreign_strategy: options.foreign_strategy,
            events: options.events,
        })
    }

    /// The profile's name.
    pub fn profile(&self) -> &str {
        &self.profile.name
    }

    /// Whether an output would pass as it is.
    pub fn fits(&self, text: &[u8], context: &Context, call: &CallOptions) -> Result<bool, Fault> {
        let settings = self.truncator(context, Some(call))?.settings(context);
        Ok(!settings.enabled || settings.limits.fit(text, settings.conventions, &EstimatedTokens))
    }

    /// Bounds an output.
    pub fn cut(
        &self,
        text: &[u8],
        context: &Context,
        call: Option<&CallOptions>,
    ) -> Result<Told<Answer>, Fault> {
        if self.skipped.iter().any(|tool| Some(tool) == context.tool.as_ref()) {
            return Ok(Told { answer: Answer::Whole, report: Report::whole(Vec::new()) });
        }
        if call.is_none() && !self.events && !self.is_foreign() {
            let truncator = self.for_tool(context);
            let shown = truncator.apply(text, context);
            return Ok(told(shown, Vec::new(), || truncator.settings(context)));
        }
        let round = self.round(context, call)?;
        let shown = round.truncator.apply(text, context);
        Ok(round.answer(shown, context))
    }

    /// The text that is shown of an output, without a word of ours.
    pub fn cut_bare(
        &self,
        text: &[u8],
        context: &Context,
        call: &CallOptions,
    ) -> Result<Told<Vec<u8>>, Fault> {
        let truncator = self.truncator(context, Some(call))?.storage(Storage::Off);
        match truncator.apply(text, context) {
            Shown::Whole(whole) => Ok(Told { answer: whole.into_owned(), report: Report::whole(Vec::new()) }),
            Shown::Cut(preview) => {
                let part = |placed: &offcut::Placed| {
                    preview.content.get(placed.at..placed.at + placed.length).unwrap_or_default()
                };
                let answer = preview.placed.iter().flat_map(part).copied().collect();
                Ok(Told { answer, report: Report::new(&preview, &truncator.settings(context)) })
            }
        }
    }

    /// Bounds a tool result, or an array of them. The second text is JSON: what became of each.
    pub fn result(
        &self,
        json: &str,
        context: &Context,
        call: &CallOptions,
    ) -> Result<(Told<BoundedResult>, String), Fault> {
        let round = self.round(context, Some(call))?;
        let (tools, rule) = (Arc::clone(&self.tools), call.rule);
        let decide = move |result: &offcut::results::ResultCall<'_>| {
            let of_tool = result.context.tool.as_ref().and_then(|tool| tools.get(tool)).copied();
            match rule.or(of_tool.unwrap_or_default()) {
                Rule { enabled: Some(false), .. } => Decision::Skip,
                rule if rule == Rule::default() => Decision::Bound,
                rule => Decision::BoundWith(rule),
            }
        };
        let mut middleware = Middleware::new((*round.truncator).clone())
            .skip_tools(self.skipped.iter().cloned())
            .decide(decide);
        if let Some(total) = self.total {
            middleware = middleware.total(total);
        }
        let bounded = middleware.bound_json(json, call.shape()?, context)?;
        let is_cut =
            bounded.results.iter().any(|result| matches!(result.outcome, ResultOutcome::Truncated(_)));
        if round.probes && is_cut {
            let asked = Told { answer: BoundedResult::Ask(round.asked()), report: round.wanted() };
            return Ok((asked, "[]".to_owned()));
        }
        let judge = |judged: &offcut::results::ResultReport| {
            let report = match &judged.outcome {
                ResultOutcome::Truncated(preview) => {
                    Some(Report::new(preview, &round.truncator.settings(&judged.context)))
                }
                ResultOutcome::Fits | ResultOutcome::Skipped(_) => None,
            };
            let verdict = match &judged.outcome {
                ResultOutcome::Truncated(_) => "cut",
                ResultOutcome::Fits => "fits",
                ResultOutcome::Skipped(_) => "passed",
            };
            Judged { shape: judged.shape.name(), tool: judged.context.tool.clone(), verdict, report }
        };
        let results: Vec<Value> =
            bounded.results.iter().map(|result| without_nulls(&judge(result))).collect();
        let answer = match bounded.json {
            std::borrow::Cow::Borrowed(_) => BoundedResult::Same,
            std::borrow::Cow::Owned(json) => BoundedResult::Changed(json),
        };
        let results = serde_json::to_string(&results)?;
        Ok((Told { answer, report: Report::whole(round.events()) }, results))
    }

    fn is_foreign(&self) -> bool {
        self.foreign_store || self.foreign_strategy
    }

    fn for_tool(&self, context: &Context) -> &Truncator {
        let known = context.tool.as_ref().and_then(|tool| self.by_tool.get(tool));
        known.unwrap_or_else(|| self.middleware.truncator())
    }

    /// The truncator for one call.
    pub(crate) fn truncator(
        &self,
        context: &Context,
        call: Option<&CallOptions>,
    ) -> Result<Truncator, Fault> {
        let mut truncator = self.for_tool(context).clone();
        if let Some(call) = call {
            truncator.update(call.rule)?;
        }
        Ok(truncator)
    }

    /// A truncator for one call that asks foreign parts nothing, or knows what they gave.
    pub(crate) fn round(&self, context: &Context, call: Option<&CallOptions>) -> Result<Round, Fault> {
        let mut truncator = self.truncator(context, call)?;
        let saved = call.and_then(|call| call.saved.as_deref());
        let made = call.and_then(|call| call.made.as_deref());
        let probes = (self.foreign_store && saved.is_none()) || (self.foreign_strategy && made.is_none());
        let (wanted, memory, tally) =
            (Wanted::default(), MemoryStore::new(SystemTime::now), Tally::default());
        match (self.foreign_store, saved) {
            (true, Some(saved)) => truncator = truncator.storage(Storage::To(Arc::new(Given::new(saved)))),
            (true, None) => truncator = truncator.storage(Storage::To(Arc::new(memory.clone()))),
            (false, _) if probes => truncator = truncator.storage(Storage::Off),
            (false, _) => {}
        }
        match (self.foreign_strategy, made) {
            (true, Some(made)) => truncator = truncator.strategy(foreign::given(made)),
            (true, None) => truncator = truncator.strategy(foreign::noting(&wanted)),
            (false, _) => {}
        }
        if self.events {
            truncator = truncator.sink(JsonLinesSink::new(tally.clone(), SystemTime::now));
        }
        Ok(Round { truncator: Arc::new(truncator), probes, wanted, memory, tally })
    }
}

/// One call on its way.
pub(crate) struct Round {
    pub(crate) truncator: Arc<Truncator>,
    /// Something is still to be asked for.
    pub(crate) probes: bool,
    wanted: Wanted,
    memory: MemoryStore,
    tally: Tally,
}

impl Round {
    pub(crate) fn answer(&self, shown: Shown<'_>, context: &Context) -> Told<Answer> {
        match shown {
            Shown::Cut(_) if self.probes => Told { answer: Answer::Ask(self.asked()), report: self.wanted() },
            shown => told(shown, self.events(), || self.truncator.settings(context)),
        }
    }

    fn events(&self) -> Vec<Value> {
        self.tally.events()
    }

    fn wanted(&self) -> Report {
        let wanted = lock(&self.wanted);
        let wanted = wanted.iter().map(|(text, limits)| StrategyRequest {
            text: String::from_utf8_lossy(text).into_owned(),
            limits: (*limits).into(),
        });
        Report { wanted: wanted.collect(), ..Report::default() }
    }

    fn asked(&self) -> Asked {
        let ids = self.memory.ids().unwrap_or_default();
        let read = |id: &offcut::store::Id| {
            let bytes = self.memory.entry(id).map_or(0, |entry| entry.bytes);
            let mut content = vec![0; usize::try_from(bytes).unwrap_or_default()];
            let count = self.memory.read(id, 0, &mut content).unwrap_or_default();
            content.truncate(count);
            content
        };
        Asked { save: ids.iter().map(read).collect() }
    }
}

fn told(shown: Shown<'_>, events: Vec<Value>, settings: impl Fn() -> Settings) -> Told<Answer> {
    match shown {
        Shown::Whole(_) => Told { answer: Answer::Whole, report: Report::whole(events) },
        Shown::Cut(preview) => {
            let report = Report { events, ..Report::new(&preview, &settings()) };
            Told { answer: Answer::Cut(preview), report }
        }
    }
}
