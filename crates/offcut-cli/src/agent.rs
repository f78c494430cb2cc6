//! Detects the agent that started offcut, by the environment variables that it sets for its tools.

use offcut::Context;
use std::time::Duration;

/// An agent that can start offcut as its shell.
pub(crate) struct CallingAgent {
    /// The name in stored entries, as `offcut init` takes it.
    pub(crate) name: &'static str,
    /// The variable that only this agent sets.
    variable: &'static str,
    /// The variables with the ids of the session and of the tool call.
    session: Option<&'static str>,
    call: Option<&'static str>,
    /// How long to wait before exiting: some agents lose output that is printed just before the end.
    pub(crate) exit_delay: Duration,
}

const NO_DELAY: Duration = Duration::ZERO;

const AGENTS: &[CallingAgent] = &[
    CallingAgent {
        name: "claude",
        variable: "CLAUDECODE",
        session: Some("CLAUDE_CODE_SESSION_ID"),
        call: None,
        exit_delay: NO_DELAY,
    },
    CallingAgent {
        name: "opencode",
        variable: "OPENCODE",
        session: None,
        call: None,
        exit_delay: Duration::from_millis(50),
    },
    CallingAgent {
        name: "codex",
        variable: "CODEX_THREAD_ID",
        session: Some("CODEX_THREAD_ID"),
        call: Some("CODEX_TOOL_CALL_ID"),
        exit_delay: NO_DELAY,
    },
    CallingAgent { name: "gemini", variable: "GEMINI_CLI", session: None, call: None, exit_delay: NO_DELAY },
    CallingAgent { name: "pi", variable: "PI_CODING_AGENT", session: None, call: None, exit_delay: NO_DELAY },
];

/// Returns the agent that started this process. In an agent that was started by another agent, the variables of both are
/// set, and the result is `None`.
pub(crate) fn caller() -> Option<&'static CallingAgent> {
    let mut found = AGENTS.iter().filter(|agent| std::env::var_os(agent.variable).is_some());
    found.next().filter(|_| found.next().is_none())
}

/// The context of a call of the agent's shell tool.
pub(crate) fn shell_call(agent: Option<&CallingAgent>) -> Context {
    let variable = |name: Option<&'static str>| {
        name.and_then(std::env::var_os).map(|value| value.to_string_lossy().into_owned())
    };
    Context {
        tool: Some("bash".to_owned()),
        call_id: agent.and_then(|agent| variable(agent.call)),
        session: agent.and_then(|agent| variable(agent.session)),
        ..Context::default()
    }
}
