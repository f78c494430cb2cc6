//! The call whose output is bounded.

use std::time::SystemTime;

/// The tool call that produced an output. Every field is optional, and none is trusted.
///
/// ```
/// use offcut::Context;
///
/// let context = Context { call_id: Some("call_7".to_owned()), ..Context::tool("bash") };
/// assert_eq!(context.tool.as_deref(), Some("bash"));
/// assert_eq!(context.session, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The tool's name.
    pub tool: Option<String>,
    /// The id of this call.
    pub call_id: Option<String>,
    /// The id of the message that contains the call.
    pub message_id: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// The agent that made the call.
    pub agent: Option<String>,
    /// When the tool was started.
    pub started: Option<SystemTime>,
    /// What was run, where and by whom.
    pub origin: Origin,
}

/// What was run, where and by whom.
///
/// This may contain secrets. It is stored in files that only their owner can read, and it is not uploaded to a shared
/// store unless the user configures that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The command line, or the tool's input. Stores keep its first 8192 characters.
    pub command: Option<String>,
    /// The working directory.
    pub directory: Option<String>,
    /// The user's name.
    pub user: Option<String>,
}

impl Context {
    /// A context that names only the tool.
    pub fn tool(name: impl Into<String>) -> Context {
        Context { tool: Some(name.into()), ..Context::default() }
    }
}
