//! How a truncator is set up.

use crate::event::{DiscardEvents, EventSink};
use crate::limits::LimitError;
use crate::measure::{CountTokens, EstimatedTokens};
use crate::profile::{CheckedRule, Profile, Rule};
use crate::render::Reach;
use crate::store::Store;
use crate::strategy::Strategy;
use crate::truncator::Truncator;
use std::sync::Arc;

/// What is kept of one output at the most, unless the caller says otherwise: room for any log, not for a runaway.
pub const DEFAULT_CAP: u64 = 4 << 30;

/// Where whole outputs go.
#[derive(Clone)]
pub enum Storage {
    /// Nowhere, and that is what the caller wants.
    Off,
    /// Into a store.
    To(Arc<dyn Store>),
    /// Nowhere, because there is no store to be had.
    Unavailable(String),
}

impl Truncator {
    /// A truncator with this profile that keeps nothing.
    pub fn new(profile: Profile) -> Truncator {
        Truncator {
            profile,
            rule: CheckedRule::default(),
            storage: Storage::Off,
            reach: Reach::default(),
            strategy: None,
            tokens: Arc::new(EstimatedTokens),
            sink: Arc::new(DiscardEvents),
            cap: DEFAULT_CAP,
        }
    }

    /// Keeps whole outputs in `storage`.
    pub fn storage(self, storage: Storage) -> Truncator {
        Truncator { storage, ..self }
    }

    /// Lets `rule` override the profile.
    pub fn rule(self, rule: Rule) -> Result<Truncator, LimitError> {
        Ok(Truncator { rule: self.profile.check(rule)?, ..self })
    }

    /// Lets `rule` override what is in force, from the next output on; what it leaves unset stays as it was.
    pub fn update(&mut self, rule: Rule) -> Result<(), LimitError> {
        self.rule = self.profile.check(rule)?.or(self.rule);
        Ok(())
    }

    /// Lets `rule` override what is in force for one tool, from the next output on.
    pub fn update_tool(&mut self, tool: &str, rule: Rule) -> Result<(), LimitError> {
        self.profile.set_tool(tool, rule)
    }

    /// Says how the reader of a preview gets the rest back.
    pub fn reach(self, reach: Reach) -> Truncator {
        Truncator { reach, ..self }
    }

    /// Cuts by a strategy of the caller's own instead of the profile's.
    pub fn strategy(self, strategy: impl Strategy + 'static) -> Truncator {
        Truncator { strategy: Some(Arc::new(strategy)), ..self }
    }

    /// Counts tokens by a real tokenizer instead of the estimate.
    pub fn tokens(self, tokens: impl CountTokens + 'static) -> Truncator {
        Truncator { tokens: Arc::new(tokens), ..self }
    }

    /// Tells `sink` what happens.
    pub fn sink(self, sink: impl EventSink + 'static) -> Truncator {
        Truncator { sink: Arc::new(sink), ..self }
    }

    /// Keeps at most this many bytes of one output; the notice says so when there were more.
    pub fn cap(self, cap: u64) -> Truncator {
        Truncator { cap, ..self }
    }
}
