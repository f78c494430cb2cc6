//! Builds a truncator.

use crate::event::{DiscardEvents, EventSink};
use crate::limits::LimitError;
use crate::measure::{CountTokens, EstimatedTokens};
use crate::precedence::CallerRules;
use crate::profile::{Profile, Rule};
use crate::render::Reach;
use crate::retention::Cleaning;
use crate::store::{Clock, DEFAULT_CAP, FsStore, Retention, Store};
use crate::strategy::Strategy;
use crate::truncator::Truncator;
use std::sync::Arc;

/// Where whole outputs are stored.
///
/// ```
/// use offcut::{Context, Profile, Storage, Truncator, store::{MemoryStore, Store}};
/// use std::{sync::Arc, time::SystemTime};
///
/// let store = Arc::new(MemoryStore::new(SystemTime::now));
/// let truncator = Truncator::new(Profile::native()).storage(Storage::To(store.clone()));
/// // Only what does not fit is stored.
/// assert_eq!(truncator.apply("short", &Context::default()).text(), "short");
/// assert!(store.ids().unwrap().is_empty());
/// ```
#[derive(Clone)]
pub enum Storage {
    /// Nowhere, by choice.
    Off,
    /// In a store.
    To(Arc<dyn Store>),
    /// Nowhere, because no store is available, and why.
    Unavailable(String),
}

impl Truncator {
    /// A truncator with the native profile that stores whole outputs in `directory`.
    ///
    /// The clock is usually `SystemTime::now`: the library reads no clock of its own.
    pub fn in_directory(directory: impl Into<std::path::PathBuf>, clock: Clock) -> Truncator {
        let store = FsStore::new(directory, clock);
        Truncator::new(Profile::native()).storage(Storage::To(Arc::new(store)))
    }

    /// A truncator with this profile that stores nothing.
    pub fn new(profile: Profile) -> Truncator {
        Truncator {
            profile: Arc::new(profile),
            rules: CallerRules::default(),
            storage: Storage::Off,
            reach: Reach::default(),
            strategy: None,
            tokens: Arc::new(EstimatedTokens),
            sink: Arc::new(DiscardEvents),
            cap: DEFAULT_CAP,
            host: None,
            project_root: None,
            cleaning: Cleaning::Automatic,
        }
    }

    /// Stores whole outputs in `storage`.
    #[must_use]
    pub fn storage(self, storage: Storage) -> Truncator {
        Truncator { storage, ..self }
    }

    /// Overrides the profile for every tool. See [`Rule`] for the order of precedence.
    pub fn rule(mut self, rule: Rule) -> Result<Truncator, LimitError> {
        self.update(rule)?;
        Ok(self)
    }

    /// Overrides the profile for one tool.
    pub fn tool_rule(mut self, tool: &str, rule: Rule) -> Result<Truncator, LimitError> {
        self.update_tool(tool, rule)?;
        Ok(self)
    }

    /// This truncator with options for one call, which take precedence over everything else.
    ///
    /// ```
    /// use offcut::{Context, Limits, Profile, Rule, Truncator};
    ///
    /// let truncator = Truncator::new(Profile::named("opencode")?);
    /// let options = Rule { limits: Limits { lines: Some(10), ..Limits::default() }, ..Rule::default() };
    /// let output = "line\n".repeat(50);
    /// assert!(truncator.apply(&output, &Context::tool("bash")).preview().is_none());
    /// assert!(truncator.with_options(options)?.apply(&output, &Context::tool("bash")).preview().is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(&self, options: Rule) -> Result<Truncator, LimitError> {
        let mut truncator = self.clone();
        truncator.rules.set_call(self.profile.check(options)?);
        Ok(truncator)
    }

    /// Changes the rule for every tool from now on; what `rule` leaves unset stays as it was.
    pub fn update(&mut self, rule: Rule) -> Result<(), LimitError> {
        self.rules.update(self.profile.check(rule)?);
        Ok(())
    }

    /// Changes the rule for one tool from now on; what `rule` leaves unset stays as it was.
    pub fn update_tool(&mut self, tool: &str, rule: Rule) -> Result<(), LimitError> {
        self.rules.update_tool(tool, self.profile.check(rule)?);
        Ok(())
    }

    /// Replaces the rule for one tool from now on.
    #[cfg(feature = "profiles")]
    pub(crate) fn replace_tool(&mut self, tool: &str, rule: Rule) -> Result<(), LimitError> {
        self.rules.replace_tool(tool, self.profile.check(rule)?);
        Ok(())
    }

    /// Sets how the reader of a preview can read the rest.
    #[must_use]
    pub fn reach(self, reach: Reach) -> Truncator {
        Truncator { reach, ..self }
    }

    /// Selects with a custom strategy instead of the profile's.
    #[must_use]
    pub fn strategy(self, strategy: impl Strategy + 'static) -> Truncator {
        Truncator { strategy: Some(Arc::new(strategy)), ..self }
    }

    /// Counts tokens with a tokenizer instead of the estimate.
    #[must_use]
    pub fn tokens(self, tokens: impl CountTokens + 'static) -> Truncator {
        Truncator { tokens: Arc::new(tokens), ..self }
    }

    /// Reports events to `sink`.
    #[must_use]
    pub fn sink(self, sink: impl EventSink + 'static) -> Truncator {
        Truncator { sink: Arc::new(sink), ..self }
    }

    /// Sets the root of the project. A profile with relative paths, such as `unified`, shows paths below it relative to it.
    #[must_use]
    pub fn project_root(self, root: impl Into<std::path::PathBuf>) -> Truncator {
        Truncator { project_root: Some(root.into()), ..self }
    }

    /// Stores at most this many bytes of one output; the notice says so if there were more.
    #[must_use]
    pub fn cap(self, cap: u64) -> Truncator {
        Truncator { cap, ..self }
    }

    /// Records the name of this machine with every output.
    #[must_use]
    pub fn host(self, name: impl Into<String>) -> Truncator {
        Truncator { host: Some(name.into()), ..self }
    }

    /// Keeps the next outputs this long, instead of as long as the profile says.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Truncator {
        Arc::make_mut(&mut self.profile).set_retention(retention);
        self
    }

    /// Chooses whether expired outputs are removed automatically. They are by default; see [`Cleaning`].
    #[must_use]
    pub fn cleaning(self, cleaning: Cleaning) -> Truncator {
        Truncator { cleaning, ..self }
    }
}
