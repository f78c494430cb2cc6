//! OpenCode's truncation (document 001, “OpenCode 输出截断机制”), under its names.
//!
//! | section | here |
//! |---|---|
//! | §3.1 result | [`Output`] |
//! | §3.2, §8.2 options | [`Options`], [`Direction`] |
//! | §3.3, §8.1 constants | [`Truncate::MAX_LINES`], [`Truncate::MAX_BYTES`], [`Truncate::RETENTION`], [`Truncate::dir`], [`Truncate::glob`] |
//! | §4, §6.2, §6.4 `output` | [`Truncate::output`] |
//! | §5.2 `cleanup` | [`Truncate::cleanup`] |
//! | §5.3 `init` | the first output that is saved starts the removal of expired outputs: [`Cleaning::Automatic`](crate::retention::Cleaning) |
//! | §6.1 `hasTaskTool` | [`has_task_tool`], [`Agent`], [`Permissions`] |
//! | §7 `Tool.define` | [`define_tool`], [`Tool`], [`ToolContext`], [`ToolResult`] |
//! | §10.2 `PRESETS` | [`PRESETS`] |
//!
//! ```
//! use offcut::systems::opencode::{Options, Output, PRESETS, Truncate};
//! use std::time::SystemTime;
//!
//! # let directory = tempfile::tempdir()?;
//! # let data = directory.path();
//! let truncate = Truncate::new(data.join("tool-output"), SystemTime::now);
//! let log = (1..=3000).map(|number| number.to_string()).collect::<Vec<_>>().join("\n");
//! match truncate.output(&log, Options { max_lines: Some(100), ..PRESETS.log }, None) {
//!     Output::Truncated { content, output_path: Some(path) } => {
//!         assert!(content.starts_with("...2900 lines truncated...\n\nThe tool call succeeded"));
//!         assert!(content.ends_with("\n2999\n3000"));
//!         assert_eq!(std::fs::read_to_string(path)?, log);
//!     }
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod tool;

pub use crate::permission::Permissions;
pub use tool::{InvalidArguments, Tool, ToolContext, ToolResult, define_tool};

use crate::builder::Storage;
use crate::context::Context;
use crate::limits::Limits;
use crate::outcome::Preview;
use crate::profile::{Rule, TaskTool};
use crate::store::{Clock, Entry, FsStore, StoreError};
use crate::strategy::StrategyName;
use crate::truncator::Truncator;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// §3.2: which end of an output is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The beginning.
    Head,
    /// The end.
    Tail,
}

/// §3.2: settings for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The most lines; [`Truncate::MAX_LINES`] if unset. 0 counts as 1.
    pub max_lines: Option<u64>,
    /// The most bytes; [`Truncate::MAX_BYTES`] if unset. 0 counts as 1.
    pub max_bytes: Option<u64>,
    /// Which end is shown; the beginning if unset.
    pub direction: Option<Direction>,
}

impl Options {
    fn rule(self) -> Rule {
        let at_least_one = |limit: Option<u64>| limit.map(|most| most.max(1));
        let (lines, bytes) = (at_least_one(self.max_lines), at_least_one(self.max_bytes));
        let strategy = self.direction.map(|direction| match direction {
            Direction::Head => StrategyName::Head,
            Direction::Tail => StrategyName::Tail,
        });
        Rule { strategy, limits: Limits { lines, bytes, ..Limits::default() }, ..Rule::default() }
    }
}

/// §10.2: options for kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presets {
    /// Sources and other text that is read from the beginning.
    pub code: Options,
    /// Logs.
    pub log: Options,
    /// Error messages and stack traces.
    pub error: Options,
}

/// §10.2: the options that the document recommends.
pub const PRESETS: Presets = Presets {
    code: Options { max_lines: Some(2000), max_bytes: Some(50 * 1024), direction: None },
    log: Options { max_lines: Some(500), max_bytes: Some(20 * 1024), direction: Some(Direction::Tail) },
    error: Options { max_lines: Some(100), max_bytes: Some(10 * 1024), direction: Some(Direction::Tail) },
};

/// §3.1: what became of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
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
    },
}

impl Output {
    /// What is shown.
    pub fn content(&self) -> &str {
        match self {
            Output::Whole { content } | Output::Truncated { content, .. } => content,
        }
    }

    /// Whether it was truncated.
    pub fn truncated(&self) -> bool {
        matches!(self, Output::Truncated { .. })
    }

    /// Where all of it is, if it was truncated and saved.
    pub fn output_path(&self) -> Option<&str> {
        match self {
            Output::Whole { .. } => None,
            Output::Truncated { output_path, .. } => output_path.as_deref(),
        }
    }
}

/// §6.1: what is known about the agent that reads an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its permission rules.
    pub permission: Option<Permissions>,
}

/// §6.1: whether the agent may start a sub-agent. Without a permission rule that matches `task` it may not.
pub fn has_task_tool(agent: Option<&Agent>) -> bool {
    agent.and_then(|agent| agent.permission.as_ref()).is_some_and(Permissions::has_task_tool)
}

/// The document's namespace as a value, because the library does not read the data directory and the clock itself.
#[derive(Clone)]
pub struct Truncate {
    truncator: Truncator,
    store: Arc<FsStore>,
    clock: Clock,
}

impl Truncate {
    /// §3.3: the most lines.
    pub const MAX_LINES: u64 = 2000;
    /// §3.3: the most bytes.
    pub const MAX_BYTES: u64 = 50 * 1024;
    /// §3.3: how long files are kept, the document's `RETENTION_MS`.
    pub const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

    /// Saves to `dir`, in the document `tool-output` in the data directory. The clock is usually `SystemTime::now`.
    ///
    /// What is known about each file is in the folder `.offcut` of the directory.
    pub fn new(dir: impl Into<PathBuf>, clock: Clock) -> Truncate {
        let store = Arc::new(FsStore::new(dir, clock));
        let storage = Storage::To(Arc::clone(&store) as _);
        Truncate { truncator: Truncator::new(super::profile("opencode")).storage(storage), store, clock }
    }

    /// §3.3 `DIR`: the directory of the files.
    pub fn dir(&self) -> &Path {
        self.store.directory()
    }

    /// §3.3 `GLOB`: the pattern that matches the files.
    pub fn glob(&self) -> PathBuf {
        self.dir().join("*")
    }

    /// §4.1: truncates an output that is too large, and saves all of it. The hint depends on what the agent may do.
    pub fn output(&self, text: &str, options: Options, agent: Option<&Agent>) -> Output {
        let task = if has_task_tool(agent) { TaskTool::Available } else { TaskTool::Absent };
        let with_options = self.truncator.with_options(Rule { task: Some(task), ..options.rule() });
        let outcome = with_options.as_ref().unwrap_or(&self.truncator).apply(text, &Context::default());
        let content = outcome.text().into_owned();
        match outcome.preview().map(Preview::entry) {
            None => Output::Whole { content },
            Some(entry) => Output::Truncated { content, output_path: entry.map(Entry::location) },
        }
    }

    /// §5.2: removes expired files and returns how many, including those that OpenCode itself left in the directory, which
    /// automatic cleaning leaves alone.
    pub fn cleanup(&self) -> Result<u64, StoreError> {
        let now = (self.clock)();
        let removed = self.truncator.cleanup(now)?;
        let Some(leftovers) = self.truncator.profile().leftovers() else { return Ok(removed) };
        let files = self.store.leftovers(leftovers, Truncate::RETENTION, now)?;
        Ok(removed + files.iter().filter(|file| file.remove().is_ok()).count() as u64)
    }
}
