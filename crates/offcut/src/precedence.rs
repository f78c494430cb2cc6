//! What the caller sets over a profile, key by key: for one call, for a tool, for every tool.

use crate::profile::CheckedRule;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The caller's rules. Those for a call come before those for its tool, and those before the ones for every tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerRules {
    call: CheckedRule,
    tools: Arc<BTreeMap<String, CheckedRule>>,
    every_tool: CheckedRule,
}

impl CallerRules {
    /// Sets the options of one call.
    pub(crate) fn set_call(&mut self, options: CheckedRule) {
        self.call = options;
    }

    /// Changes what applies to every tool.
    pub(crate) fn update(&mut self, rule: CheckedRule) {
        self.every_tool = rule.or(self.every_tool);
    }

    /// Changes what applies to one tool.
    pub(crate) fn update_tool(&mut self, tool: &str, rule: CheckedRule) {
        let of_tool = Arc::make_mut(&mut self.tools).entry(tool.to_owned()).or_default();
        *of_tool = rule.or(*of_tool);
    }

    /// Replaces what applies to one tool.
    #[cfg(feature = "profiles")]
    pub(crate) fn replace_tool(&mut self, tool: &str, rule: CheckedRule) {
        Arc::make_mut(&mut self.tools).insert(tool.to_owned(), rule);
    }

    /// The rule for an output of this tool.
    pub(crate) fn for_tool(&self, tool: Option<&str>) -> CheckedRule {
        let of_tool = tool.and_then(|tool| self.tools.get(tool)).copied().unwrap_or_default();
        self.call.or(of_tool).or(self.every_tool)
    }
}
