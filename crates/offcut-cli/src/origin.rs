//! What the environment says about a call: the agent that makes it, its session, the directory and the user.

use crate::agents::Agent;
use offcut::Context;
use offcut::store::Origin;

/// Adds what the context does not say yet.
pub(crate) fn describe(context: Context, agent: Option<&Agent>) -> Context {
    let Origin { command, directory, user } = context.origin;
    let working_directory = || Some(std::env::current_dir().ok()?.display().to_string());
    Context {
        call_id: context.call_id.or_else(|| agent?.call_id()),
        session: context.session.or_else(|| agent?.session()),
        agent: context.agent.or_else(|| Some(agent?.name.to_owned())),
        origin: Origin {
            command,
            directory: directory.or_else(working_directory),
            user: user.or_else(|| Some(user_name())),
        },
        ..context
    }
}

/// The user's name, or else the number of the user.
fn user_name() -> String {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    variable("USER")
        .or_else(|| variable("LOGNAME"))
        .unwrap_or_else(|| rustix::process::getuid().as_raw().to_string())
}
