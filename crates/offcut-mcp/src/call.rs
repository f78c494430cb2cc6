//! A call of one of the server's tools, as far as it is stored with its output.

use crate::message::text_in;
use offcut::Context;
use offcut::json::Node;
use offcut::store::Origin;
use std::time::SystemTime;

/// How much of the arguments of a call is remembered: more than a store keeps, so that it marks that they are cut.
const MAX_INPUT: usize = 10_000;

#[derive(Clone, Default)]
pub(crate) struct ToolCall {
    pub(crate) tool: Option<String>,
    /// The arguments as JSON.
    input: Option<String>,
    started: Option<SystemTime>,
}

impl ToolCall {
    /// The call in the parameters of a request that was just received.
    pub(crate) fn of(params: Option<Node<'_>>) -> ToolCall {
        let arguments = params.and_then(|params| params.get("arguments"));
        ToolCall {
            tool: text_in(params, "name"),
            input: arguments.map(|arguments| arguments.json().chars().take(MAX_INPUT).collect()),
            started: Some(SystemTime::now()),
        }
    }

    /// The context of the call's answer. `base` is what all calls have in common; it may name the agent too.
    pub(crate) fn context(
        &self,
        base: &Context,
        tool: Option<String>,
        call_id: Option<String>,
        agent: Option<String>,
    ) -> Context {
        let base = base.clone();
        Context {
            tool,
            call_id,
            agent: base.agent.or(agent),
            started: self.started,
            origin: Origin { command: self.input.clone(), ..base.origin },
            ..base
        }
    }
}
