//! The truncation service of the coding agent (document 000, “Coding Agent 截断系统实现设计”), under its names.
//!
//! | section | here |
//! |---|---|
//! | §3.1 types | [`TruncationConfig`], [`TruncationOptions`], [`TruncationContext`], [`TruncationResult`], [`TruncationEvent`] |
//! | §3.1, §5 strategies | [`TruncationStrategy`], [`DefaultTruncationStrategy`], [`count_lines`], [`count_bytes`] |
//! | §3.1, §6 storage | [`TruncationStorage`], [`FileStorage`] |
//! | §4 service | [`TruncationService`] |
//! | §7 middleware | [`truncation_middleware`] |
//! | §8 registry | `ToolRegistry` (feature `registry`) |
//! | §9 constants | [`DEFAULT_TRUNCATION_CONFIG`], [`TOOL_TRUNCATION_CONFIGS`] |
//!
//! ```
//! use offcut::systems::coding_agent::*;
//! use std::time::SystemTime;
//!
//! # let directory = tempfile::tempdir()?;
//! let global = PartialConfig { storage_dir: Some(directory.path().join("truncation")), ..PartialConfig::default() };
//! let config = TruncationServiceConfig { global, ..TruncationServiceConfig::default() };
//! let service = TruncationService::new(config, SystemTime::now)?;
//!
//! let content = (1..=3000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
//! match service.output(&content, &TruncationContext::tool("bash")) {
//!     TruncationResult::Truncated { content: shown, output_path: Some(path), removed_lines, .. } => {
//!         assert!(shown.starts_with("...2500 lines truncated...\n\nThe tool call succeeded"));
//!         assert_eq!(removed_lines, Some(2500));
//!         assert_eq!(std::fs::read_to_string(path)?, content);
//!     }
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod middleware;
mod storage;
mod strategy;

#[cfg(feature = "registry")]
pub use crate::results::registry::Registry as ToolRegistry;
pub use middleware::{ShouldTruncate, truncation_middleware};
pub use storage::{DEFAULT_STORAGE_DIR, FileStorage, TruncationStorage};
pub use strategy::{
    DefaultTruncationStrategy, Truncated, TruncationStrategy, count_bytes, count_lines, truncate_head,
    truncate_tail,
};

use crate::builder::Storage;
use crate::context::Context;
use crate::event::Event;
use crate::limits::{LimitError, Limits};
use crate::profile::{Profile, Rule, Settings};
use crate::store::{Clock, Entry, Retention, StoreError};
use crate::strategy::StrategyName;
use crate::truncator::Truncator;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// §3.1: which end of an output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationDirection {
    /// The beginning.
    Head,
    /// The end.
    Tail,
}

/// §3.1: all settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncationConfig {
    /// The most lines.
    pub max_lines: u64,
    /// The most bytes.
    pub max_bytes: u64,
    /// Which end is shown.
    pub direction: TruncationDirection,
    /// Whether outputs are truncated at all.
    pub enabled: bool,
    /// How many days files are kept.
    pub retention_days: u32,
    /// The directory of the files; [`DEFAULT_STORAGE_DIR`] if unset.
    pub storage_dir: Option<PathBuf>,
}

/// §9.1: the defaults.
pub const DEFAULT_TRUNCATION_CONFIG: TruncationConfig = TruncationConfig {
    max_lines: 2000,
    max_bytes: 50 * 1024,
    direction: TruncationDirection::Head,
    enabled: true,
    retention_days: 7,
    storage_dir: None,
};

/// §9.1: the defaults of some tools.
pub const TOOL_TRUNCATION_CONFIGS: [(&str, PartialConfig); 3] = [
    (
        "bash",
        PartialConfig {
            direction: Some(TruncationDirection::Tail),
            max_lines: Some(500),
            ..PartialConfig::NONE
        },
    ),
    ("grep", PartialConfig { max_lines: Some(3000), ..PartialConfig::NONE }),
    ("read", PartialConfig { enabled: Some(false), ..PartialConfig::NONE }),
];

/// `Partial<TruncationConfig>`: some settings, over others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialConfig {
    /// The most lines.
    pub max_lines: Option<u64>,
    /// The most bytes.
    pub max_bytes: Option<u64>,
    /// Which end is shown.
    pub direction: Option<TruncationDirection>,
    /// Whether outputs are truncated at all.
    pub enabled: Option<bool>,
    /// How many days files are kept. It applies to all tools.
    pub retention_days: Option<u32>,
    /// The directory of the files. It applies to all tools.
    pub storage_dir: Option<PathBuf>,
}

impl PartialConfig {
    const NONE: PartialConfig = PartialConfig {
        max_lines: None,
        max_bytes: None,
        direction: None,
        enabled: None,
        retention_days: None,
        storage_dir: None,
    };

    fn rule(&self) -> Rule {
        rule(self.max_lines, self.max_bytes, self.direction, self.enabled)
    }
}

/// §3.1: settings for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TruncationOptions {
    /// The most lines. 0 counts as 1.
    pub max_lines: Option<u64>,
    /// The most bytes. 0 counts as 1.
    pub max_bytes: Option<u64>,
    /// Which end is shown.
    pub direction: Option<TruncationDirection>,
    /// Whether this call is exempt.
    pub skip: Option<bool>,
}

impl TruncationOptions {
    fn rule(self) -> Rule {
        let at_least_one = |limit: Option<u64>| limit.map(|most| most.max(1));
        let (lines, bytes) = (at_least_one(self.max_lines), at_least_one(self.max_bytes));
        rule(lines, bytes, self.direction, self.skip.map(|skip| !skip))
    }
}

fn rule(
    lines: Option<u64>,
    bytes: Option<u64>,
    direction: Option<TruncationDirection>,
    enabled: Option<bool>,
) -> Rule {
    let strategy = direction.map(|direction| match direction {
        TruncationDirection::Head => StrategyName::Head,
        TruncationDirection::Tail => StrategyName::Tail,
    });
    Rule { enabled, strategy, limits: Limits { lines, bytes, ..Limits::default() }, ..Rule::default() }
}

/// §3.1: the call whose output is truncated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TruncationContext {
    /// The tool.
    pub tool_name: String,
    /// The session.
    pub session_id: Option<String>,
    /// The message.
    pub message_id: Option<String>,
    /// Settings for this call.
    pub options: TruncationOptions,
}

impl TruncationContext {
    /// The context of a call of this tool.
    pub fn tool(name: impl Into<String>) -> TruncationContext {
        TruncationContext { tool_name: name.into(), ..TruncationContext::default() }
    }

    fn context(&self) -> Context {
        Context {
            session: self.session_id.clone(),
            message_id: self.message_id.clone(),
            ..Context::tool(&self.tool_name)
        }
    }

    fn from_context(context: &Context) -> TruncationContext {
        TruncationContext {
            tool_name: context.tool.clone().unwrap_or_default(),
            session_id: context.session.clone(),
            message_id: context.message_id.clone(),
            options: TruncationOptions::default(),
        }
    }
}

/// §3.1: what became of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TruncationResult {
    /// It was not truncated.
    Whole {
        /// The output.
        content: String,
    },
    /// It was truncated.
    Truncated {
        /// What is shown of it, and the hint.
        content: String,
        /// Where all of it is; `None` if saving failed, which the hint says.
        output_path: Option<String>,
        /// How many lines are not shown.
        removed_lines: Option<u64>,
        /// How many bytes are not shown.
        removed_bytes: Option<u64>,
    },
}

impl TruncationResult {
    /// What is shown.
    pub fn content(&self) -> &str {
        match self {
            TruncationResult::Whole { content } | TruncationResult::Truncated { content, .. } => content,
        }
    }

    /// Whether it was truncated.
    pub fn truncated(&self) -> bool {
        matches!(self, TruncationResult::Truncated { .. })
    }
}

/// §3.1: what an event reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruncationEventType {
    /// An output was truncated and saved.
    Truncated,
    /// An output was within the limits, or exempt.
    Skipped,
    /// An output was truncated, but could not be saved.
    Error,
}

/// §3.1: one decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncationEvent {
    /// What happened.
    pub kind: TruncationEventType,
    /// The tool.
    pub tool_name: String,
    /// The size of the output in bytes.
    pub original_size: u64,
    /// The size of what is shown in bytes.
    pub truncated_size: u64,
    /// Where all of it is.
    pub output_path: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
    /// Milliseconds since 1970.
    pub timestamp: u64,
}

/// Receives events.
pub type TruncationEventCallback = Arc<dyn Fn(TruncationEvent) + Send + Sync>;

/// §4.1: the parts of a service.
#[derive(Clone, Default)]
pub struct TruncationServiceConfig {
    /// Settings for every tool.
    pub global: PartialConfig,
    /// Settings for some tools.
    pub tools: BTreeMap<String, PartialConfig>,
    /// Receives events.
    pub on_event: Option<TruncationEventCallback>,
    /// Where outputs are saved; files in a directory if unset.
    pub storage: Option<Arc<dyn TruncationStorage>>,
    /// Chooses what is shown; whole lines of one end if unset.
    pub strategy: Option<Arc<dyn TruncationStrategy>>,
}

/// §4.1: truncates outputs and saves them.
pub struct TruncationService {
    truncator: Truncator,
    storage: Arc<dyn TruncationStorage>,
    /// Whether the caller's storage is used, which gets the options of each call.
    has_own_storage: bool,
    strategy: Option<Arc<dyn TruncationStrategy>>,
    base: TruncationConfig,
    clock: Clock,
}

impl TruncationService {
    /// A service. The clock is usually `SystemTime::now`: the library reads no clock of its own.
    pub fn new(config: TruncationServiceConfig, clock: Clock) -> Result<TruncationService, LimitError> {
        let TruncationServiceConfig { global, tools, on_event, storage, strategy } = config;
        let base = TruncationConfig {
            retention_days: global.retention_days.unwrap_or(DEFAULT_TRUNCATION_CONFIG.retention_days),
            storage_dir: global.storage_dir.clone(),
            ..DEFAULT_TRUNCATION_CONFIG
        };
        let retention = Retention::Days(base.retention_days);
        let mut truncator = Truncator::new(profile()).retention(retention).rule(global.rule())?;
        for (tool, settings) in &tools {
            truncator.update_tool(tool, settings.rule())?;
        }
        let has_own_storage = storage.is_some();
        let storage: Arc<dyn TruncationStorage> = match storage {
            Some(storage) => {
                let store = storage::store(Arc::clone(&storage), TruncationOptions::default(), clock);
                truncator = truncator.storage(Storage::To(store));
                storage
            }
            None => {
                let files = FileStorage::new(global.storage_dir, clock);
                truncator = truncator.storage(Storage::To(files.store()));
                Arc::new(files)
            }
        };
        if let Some(on_event) = on_event {
            truncator = truncator.sink(move |event: &Event<'_>| {
                event_of(event, clock()).into_iter().for_each(|event| on_event(event));
            });
        }
        let mut service = TruncationService { truncator, storage, has_own_storage, strategy, base, clock };
        service.adapt_strategy();
        Ok(service)
    }

    /// Makes the strategy see the present settings.
    fn adapt_strategy(&mut self) {
        if let Some(strategy) = self.strategy.clone() {
            let adapter = strategy::Adapter { strategy, base: self.base.clone() };
            self.truncator = self.truncator.clone().strategy(adapter);
        }
    }

    /// Truncates an output that is too large, and saves all of it. Options that cannot be used are ignored.
    pub fn output(&self, content: &str, context: &TruncationContext) -> TruncationResult {
        let with_options = self.truncator.with_options(context.options.rule());
        let mut truncator = with_options.unwrap_or_else(|_| self.truncator.clone());
        if self.has_own_storage && context.options != TruncationOptions::default() {
            let store = storage::store(Arc::clone(&self.storage), context.options, self.clock);
            truncator = truncator.storage(Storage::To(store));
        }
        let outcome = truncator.apply(content, &context.context());
        let text = outcome.text().into_owned();
        let Some(preview) = outcome.preview() else { return TruncationResult::Whole { content: text } };
        let removed = preview.reported_removed();
        TruncationResult::Truncated {
            content: text,
            output_path: preview.entry().map(Entry::location),
            removed_lines: removed.lines,
            removed_bytes: removed.bytes,
        }
    }

    /// Removes expired files and returns how many.
    pub fn cleanup(&self) -> Result<u64, StoreError> {
        self.storage.cleanup(self.base.retention_days)
    }

    /// Changes the settings for every tool from now on. The directory stays.
    pub fn update_config(&mut self, config: &PartialConfig) -> Result<(), LimitError> {
        self.truncator.update(config.rule())?;
        if let Some(days) = config.retention_days {
            self.base.retention_days = days;
            self.truncator = self.truncator.clone().retention(Retention::Days(days));
            self.adapt_strategy();
        }
        Ok(())
    }

    /// Replaces the settings for one tool from now on.
    pub fn set_tool_config(&mut self, tool_name: &str, config: &PartialConfig) -> Result<(), LimitError> {
        self.truncator.replace_tool(tool_name, config.rule())
    }
}

fn profile() -> Profile {
    super::profile("coding-agent")
}

/// The settings of one call as the document has them.
fn effective(settings: &Settings, base: &TruncationConfig) -> TruncationConfig {
    TruncationConfig {
        max_lines: settings.limits.lines.unwrap_or(u64::MAX),
        max_bytes: settings.limits.bytes.unwrap_or(u64::MAX),
        direction: match settings.strategy {
            StrategyName::Tail => TruncationDirection::Tail,
            _ => TruncationDirection::Head,
        },
        enabled: settings.enabled,
        ..base.clone()
    }
}

fn event_of(event: &Event<'_>, now: SystemTime) -> Option<TruncationEvent> {
    let of = |kind, context: &Context, original_size, truncated_size| TruncationEvent {
        kind,
        tool_name: context.tool.clone().unwrap_or_default(),
        original_size,
        truncated_size,
        output_path: None,
        error: None,
        timestamp: now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
    };
    match *event {
        Event::Passed { context, bytes } | Event::Skipped { context, bytes } => {
            Some(of(TruncationEventType::Skipped, context, bytes, bytes))
        }
        Event::Truncated { context, original, content, entry, .. } => Some(TruncationEvent {
            output_path: entry.map(Entry::location),
            ..of(TruncationEventType::Truncated, context, original, content)
        }),
        Event::Error { context, original, content, error } => Some(TruncationEvent {
            error: Some(error.to_owned()),
            ..of(TruncationEventType::Error, context, original, content)
        }),
        Event::Retrieved { .. } => None,
    }
}
