//! The agents that call us, told by what they put into the environment of their tools.

use offcut::Context;
use std::time::Duration;

/// What is known of an agent.
pub(crate) struct Agent {
    /// The variable that only this agent sets for what it starts.
    sign: &'static str,
    session: Option<&'static str>,
    call: Option<&'static str>,
    /// How long to stay after the last byte: some agents lose what is printed just before the end.
    pub(crate) linger: Duration,
}

const AT_ONCE: Duration = Duration::ZERO;

const AGENTS: &[Agent] = &[
    Agent { sign: "CLAUDECODE", session: Some("CLAUDE_CODE_SESSION_ID"), call: None, linger: AT_ONCE },
    Agent { sign: "OPENCODE", session: None, call: None, linger: Duration::from_millis(50) },
    Agent {
        sign: "CODEX_THREAD_ID",
        session: Some("CODEX_THREAD_ID"),
        call: Some("CODEX_TOOL_CALL_ID"),
        linger: AT_ONCE,
    },
    Agent { sign: "GEMINI_CLI", session: None, call: None, linger: AT_ONCE },
    Agent { sign: "PI_CODING_AGENT", session: None, call: None, linger: AT_ONCE },
];

/// The agent that started us. An agent that runs in another's tool has the variables of both: no one can tell then.
pub(crate) fn caller() -> Option<&'static Agent> {
    let mut signs = AGENTS.iter().filter(|agent| std::env::var_os(agent.sign).is_some());
    signs.next().filter(|_| signs.next().is_none())
}

/// The call of an agent's shell tool that we run.
pub(crate) fn shell_call(agent: Option<&Agent>) -> Context {
    let variable = |name: Option<&'static str>| {
        name.and_then(std::env::var_os).map(|value| value.to_string_lossy().into_owned())
    };
    Context {
        tool: Some("bash".to_owned()),
        call_id: agent.and_then(|agent| variable(agent.call)),
        session: agent.and_then(|agent| variable(agent.session)),
    }
}
