//! Who asks: the call whose output is cut.

/// The tool call that produced an output. Everything is optional and nothing is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The tool's name.
    pub tool: Option<String>,
    /// The id of this call.
    pub call_id: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
}

impl Context {
    /// A context that names only the tool.
    pub fn tool(name: impl Into<String>) -> Context {
        Context { tool: Some(name.into()), ..Context::default() }
    }
}
