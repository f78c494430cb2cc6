//! Decides what happens to each message. A message passes byte for byte unless the table says otherwise.
//!
//! | message | change |
//! |---|---|
//! | the answer to `tools/call`, a result or an error | bounded, if it is over the limits |
//! | the same inside a task: the answer to `tasks/get`, or a notification | bounded, if it is over the limits |
//! | the answer to `tools/list` | the read tool is added to the last page |
//! | the answer to `initialize` or `server/discover` | `resources` is added, if the server has tools and no resources |
//! | a call of the read tool, a read of `offcut://…` | answered by the proxy; the server does not receive it |
//! | a list of resources, if the server has none | answered by the proxy |

#[cfg(test)]
mod tests;

use crate::bound::Bounds;
use crate::call::ToolCall;
use crate::clients::{StrictClient, client_name};
use crate::library::SCHEME;
use crate::message::{
    Answer, Fault, Message, Packet, RequestId, Versioning, answer_line, code, text, text_in,
};
use crate::tools::{READ_TOOL, ResourceList, Tool};
use offcut::json::{Edits, Node};
use offcut::results::Middleware;
use offcut::{Context, Reach};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most requests that may wait for an answer at once.
const MOST_PENDING: usize = 1 << 16;

/// The most tasks whose calls are remembered.
const MOST_TASKS: usize = 1 << 12;

/// Makes the middleware for results of one kind.
pub type MakeMiddleware = dyn Fn(&ResultKind<'_>) -> Middleware + Send + Sync;

/// What a middleware depends on.
#[derive(Clone, Copy, Debug)]
pub struct ResultKind<'a> {
    /// The tool whose answers are bounded, by its name in the configuration.
    pub tool: Option<&'a str>,
    /// The tool that reads stored outputs, for hints.
    pub read_tool: &'a str,
    /// The name of the client in `clientInfo`.
    pub client: Option<&'a str>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether the result has data beside its texts.
    pub has_data: bool,
}

/// The parts of a [`ResultKind`] that differ between the results of a session.
#[derive(PartialEq, Eq, Hash)]
struct MiddlewareKey {
    tool: Option<String>,
    is_error: bool,
    has_data: bool,
}

/// What the proxy remembers between messages.
pub(crate) struct Relay {
    make_middleware: Box<MakeMiddleware>,
    server_name: Option<String>,
    /// What is stored with every output.
    context: Context,
    /// The name of the agent that has a client of this name.
    agent_of: fn(&str) -> Option<&'static str>,
    state: Mutex<State>,
}

struct State {
    /// The client's requests without an answer, by the key of their id.
    pending: HashMap<String, PendingRequest>,
    tools: Tools,
    /// The call that each task was made from, by the id of the task.
    tasks: HashMap<String, ToolCall>,
    resources: Resources,
    middlewares: HashMap<MiddlewareKey, Arc<Middleware>>,
    /// The name of the client, once it is known.
    client: Option<String>,
}

struct PendingRequest {
    id: RequestId,
    method: PendingMethod,
}

/// The methods whose answers may change.
enum PendingMethod {
    CallTool(ToolCall),
    /// The state of a task; when it is complete, with the result of the call.
    GetTask(ToolCall),
    ListTools {
        first_page: bool,
    },
    Initialize,
    /// A list of resources from a server that may have none.
    List {
        list: ResourceList,
        versioning: Versioning,
    },
    Other,
}

/// Who answers requests for resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resources {
    /// The server, unless it has no such method. The client may have asked for its capabilities in another process.
    Unknown,
    Server,
    Proxy,
}

/// The tools that the server has listed.
struct Tools {
    names: BTreeSet<String>,
    /// The schema of each tool's `structuredContent`.
    schemas: BTreeMap<String, Arc<str>>,
    /// The name of the read tool, which differs from all of these.
    read_tool: Arc<str>,
}

/// A request that the proxy answers itself.
#[derive(Debug)]
pub(crate) struct LocalRequest {
    pub(crate) id: RequestId,
    pub(crate) versioning: Versioning,
    pub(crate) method: LocalMethod,
}

#[derive(Debug)]
pub(crate) enum LocalMethod {
    CallTool {
        name: String,
        arguments: Option<String>,
    },
    ReadResource {
        uri: String,
    },
    List(ResourceList),
    /// The request is answered with an error.
    Refuse(Fault),
}

/// A packet of the client, divided between the server and the proxy.
pub(crate) struct ClientPacket<'a> {
    pub(crate) forward: Option<Packet<'a>>,
    pub(crate) local: Vec<LocalRequest>,
}

impl Relay {
    pub(crate) fn new(
        make_middleware: Box<MakeMiddleware>,
        server_name: Option<String>,
        context: Context,
        agent_of: fn(&str) -> Option<&'static str>,
    ) -> Relay {
        let tools = Tools { names: BTreeSet::new(), schemas: BTreeMap::new(), read_tool: READ_TOOL.into() };
        let state = State {
            pending: HashMap::new(),
            tools,
            tasks: HashMap::new(),
            resources: Resources::Unknown,
            middlewares: HashMap::new(),
            client: None,
        };
        Relay { make_middleware, server_name, context, agent_of, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a packet of the client. A line that is not JSON is passed on.
    pub(crate) fn client_packet<'a>(&self, packet: Packet<'a>) -> ClientPacket<'a> {
        let mut state = self.state();
        let mut local = Vec::new();
        let is_kept: Vec<bool> = packet
            .messages
            .iter()
            .map(|message| {
                let request = state.note(message);
                let is_kept = request.is_none();
                local.extend(request);
                is_kept
            })
            .collect();
        ClientPacket { forward: packet.retain(&is_kept), local }
    }

    /// Handles a packet of the server and returns the changed line; nothing if it passes unchanged.
    pub(crate) fn server_packet(&self, packet: &Packet<'_>) -> Option<String> {
        let mut edits = Edits::default();
        for message in &packet.messages {
            match message {
                Message::Response { id, answer, node } => self.change_answer(id, *answer, *node, &mut edits),
                Message::Notification { method, params: Some(task) }
                    if method.starts_with("notifications/tasks") =>
                {
                    let call = self.state().call_of_task(Some(*task));
                    self.bound_task(*task, &call, None, &mut edits);
                }
                _ => {}
            }
        }
        packet.changed(edits)
    }

    fn change_answer(&self, id: &RequestId, answer: Answer<'_>, message: Node<'_>, edits: &mut Edits) {
        let mut state = self.state();
        let Some(request) = state.pending.remove(&id.key()) else { return };
        match (request.method, answer) {
            (PendingMethod::CallTool(call), answer) => {
                state.note_task(answer, &call);
                // Bounding takes time; other messages do not wait for it.
                drop(state);
                self.bound(answer, &call, Some(id), edits);
            }
            (PendingMethod::GetTask(call), Answer::Result(task)) => {
                drop(state);
                self.bound_task(task, &call, Some(id), edits);
            }
            (PendingMethod::ListTools { first_page }, Answer::Result(result)) => {
                state.add_read_tool(result, first_page, edits);
            }
            (PendingMethod::Initialize, Answer::Result(result)) => state.add_resources(result, edits),
            (PendingMethod::List { list, versioning }, Answer::Error(error))
                if error.get("code").is_some_and(|code| code.json() == METHOD_NOT_FOUND) =>
            {
                edits.replace(message, answer_line(id.json(), versioning, &Ok(list.result())));
            }
            _ => {}
        }
    }

    /// Bounds the result or the error in the state of a task.
    fn bound_task(&self, task: Node<'_>, call: &ToolCall, id: Option<&RequestId>, edits: &mut Edits) {
        let result = task.get("result").map(Answer::Result);
        let error = task.get("error").map(Answer::Error);
        for answer in result.into_iter().chain(error) {
            self.bound(answer, call, id, edits);
        }
    }

    /// Bounds the answer of a tool.
    fn bound(&self, answer: Answer<'_>, call: &ToolCall, id: Option<&RequestId>, edits: &mut Edits) {
        let mut state = self.state();
        let read_tool = state.tools.read_tool.clone();
        let schema = call.tool.as_ref().and_then(|tool| state.tools.schemas.get(tool).cloned());
        let tool = call.tool.as_deref().map(|tool| self.configured_name(tool));
        let (is_error, has_data) = (answer.is_error(), answer.data().is_some());
        let client = state.client.clone();
        let kind = ResultKind {
            tool: tool.as_deref(),
            read_tool: &read_tool,
            client: client.as_deref(),
            is_error,
            has_data,
        };
        let make = || Arc::new((self.make_middleware)(&kind));
        let key = MiddlewareKey { tool: tool.clone(), is_error, has_data };
        let middleware = state.middlewares.entry(key).or_insert_with(make).clone();
        drop(state);
        // The name of an unknown client is better than none.
        let agent = client.as_ref().map(|client| (self.agent_of)(client).unwrap_or(client).to_owned());
        let context = call.context(&self.context, tool, id.map(id_text), agent);
        let (middleware, schema) = (&*middleware, schema.as_deref());
        let limits = middleware.truncator().settings(&context).limits;
        let strict = client.as_deref().and_then(StrictClient::named);
        let most_chars = strict.and_then(|client| client.most_text(answer.node(), &limits));
        let reach = Reach::Tool { name: read_tool.to_string() };
        let bounds = Bounds { middleware, context: &context, schema, reach: &reach, share: None, most_chars };
        if let Some(json) = bounds.bound(answer) {
            edits.replace(answer.node(), json);
        }
    }

    /// The name of a tool in the configuration, in the form that agents use in hooks.
    fn configured_name(&self, tool: &str) -> String {
        let server = self.server_name.as_ref();
        server.map_or_else(|| tool.to_owned(), |server| format!("mcp__{server}__{tool}"))
    }

    /// Whether a request has no answer yet.
    pub(crate) fn is_pending(&self, id: &RequestId) -> bool {
        self.state().pending.contains_key(&id.key())
    }

    /// Forgets a request that the server will not answer; returns whether it was pending.
    pub(crate) fn forget(&self, id: &RequestId) -> bool {
        self.state().pending.remove(&id.key()).is_some()
    }

    /// Forgets all pending requests and returns their ids.
    pub(crate) fn forget_all(&self) -> Vec<RequestId> {
        self.state().pending.drain().map(|(_, request)| request.id).collect()
    }
}

impl State {
    /// Remembers a request of the client; returns it if the proxy answers it.
    fn note(&mut self, message: &Message<'_>) -> Option<LocalRequest> {
        match message {
            Message::Request { id, method, params } => {
                let full = || {
                    let fault =
                        Fault::new(code::SERVER, "too many requests wait for an answer of the server");
                    (self.pending.len() >= MOST_PENDING).then_some(LocalMethod::Refuse(fault))
                };
                let versioning = Versioning::of(*params);
                if let Some(name) = client_name(*params).filter(|name| self.client.as_ref() != Some(name)) {
                    self.client = Some(name);
                    self.middlewares.clear();
                }
                if let Some(method) = self.local_method(method, *params).or_else(full) {
                    return Some(LocalRequest { id: id.clone(), versioning, method });
                }
                let method = match (method.as_str(), ResourceList::of(method)) {
                    ("tools/call", _) => PendingMethod::CallTool(ToolCall::of(*params)),
                    // The result of a call that was turned into a task.
                    ("tasks/result", _) => PendingMethod::CallTool(self.call_of_task(*params)),
                    ("tasks/get", _) => PendingMethod::GetTask(self.call_of_task(*params)),
                    ("tools/list", _) => {
                        PendingMethod::ListTools { first_page: text_in(*params, "cursor").is_none() }
                    }
                    ("initialize" | "server/discover", _) => PendingMethod::Initialize,
                    (_, Some(list)) if self.resources == Resources::Unknown => {
                        PendingMethod::List { list, versioning }
                    }
                    _ => PendingMethod::Other,
                };
                self.pending.insert(id.key(), PendingRequest { id: id.clone(), method });
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                // The client ignores an answer to a cancelled request, so it may pass unchanged.
                let id = params.and_then(|params| params.get("requestId"));
                if let Some(id) = id.and_then(|id| RequestId::of(id.json())) {
                    self.pending.remove(&id.key());
                }
            }
            _ => {}
        }
        None
    }

    fn local_method(&self, method: &str, params: Option<Node<'_>>) -> Option<LocalMethod> {
        match method {
            "tools/call" => {
                let name = text_in(params, "name").filter(|name| **name == *self.tools.read_tool)?;
                let arguments = params?.get("arguments");
                let arguments = match self.client.as_deref().and_then(StrictClient::named) {
                    Some(client) => Some(client.page_arguments(arguments)),
                    None => arguments.map(|arguments| arguments.json().to_owned()),
                };
                Some(LocalMethod::CallTool { name, arguments })
            }
            "resources/read" => {
                let uri = text_in(params, "uri").filter(|uri| uri.starts_with(SCHEME))?;
                Some(LocalMethod::ReadResource { uri })
            }
            _ if self.resources == Resources::Proxy => ResourceList::of(method).map(LocalMethod::List),
            _ => None,
        }
    }

    /// Remembers a call that was turned into a task.
    fn note_task(&mut self, answer: Answer<'_>, call: &ToolCall) {
        let (Answer::Result(result), Some(_)) = (answer, &call.tool) else { return };
        // In 2025-11-25 the task is a member of the result; since 2026-07-28 it is the result.
        if let Some(id) = text_in(Some(result.get("task").unwrap_or(result)), "taskId") {
            if self.tasks.len() == MOST_TASKS {
                self.tasks.clear();
            }
            self.tasks.insert(id, call.clone());
        }
    }

    /// The call that the task which a message names was made from.
    fn call_of_task(&self, params: Option<Node<'_>>) -> ToolCall {
        text_in(params, "taskId").and_then(|id| self.tasks.get(&id).cloned()).unwrap_or_default()
    }

    /// Remembers the tools of a page, and adds the read tool to the last page.
    fn add_read_tool(&mut self, result: Node<'_>, first_page: bool, edits: &mut Edits) {
        let Some(listed) = result.get("tools").filter(Node::is_array) else { return };
        if first_page {
            self.tools.names.clear();
            self.tools.schemas.clear();
        }
        let elements = listed.elements();
        for tool in &elements {
            let Some(name) = tool.get("name").and_then(text) else { continue };
            if let Some(schema) = tool.get("outputSchema").filter(|schema| !schema.is_null()) {
                self.tools.schemas.insert(name.clone(), schema.json().into());
            }
            self.tools.names.insert(name);
        }
        // All names are known only after the last page.
        if result.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            return;
        }
        let read_tool = self.tools.free_name();
        if read_tool != self.tools.read_tool {
            // The hints contain the name.
            self.tools.read_tool = read_tool;
            self.middlewares.clear();
        }
        let definition = Tool::Read.definition(&self.tools.read_tool).to_string();
        match elements.last() {
            Some(last) => edits.insert_after(*last, &definition),
            None => edits.replace(listed, format!("[{definition}]")),
        }
    }

    /// Announces resources, if the server has tools and no resources.
    fn add_resources(&mut self, result: Node<'_>, edits: &mut Edits) {
        let Some(capabilities) = result.get("capabilities").filter(Node::is_object) else { return };
        let has = |key: &str| capabilities.get(key).is_some_and(|found| !found.is_null());
        if has("resources") || !has("tools") {
            self.resources = Resources::Server;
            return;
        }
        self.resources = Resources::Proxy;
        edits.set(capabilities, &[("resources", "{}".to_owned())]);
    }
}

impl Tools {
    /// `offcut_read`, or the first of `offcut_read_2`, `offcut_read_3`, … that the server does not have.
    fn free_name(&self) -> Arc<str> {
        let numbered = (2_u64..).map(|number| format!("{READ_TOOL}_{number}"));
        let mut names = std::iter::once(READ_TOOL.to_owned()).chain(numbered);
        names.find(|name| !self.names.contains(name)).unwrap_or_default().into()
    }
}

/// The code of the error for a method that the server does not have, as JSON.
const METHOD_NOT_FOUND: &str = "-32601";

/// An id without the quotes and escapes of JSON.
fn id_text(id: &RequestId) -> String {
    serde_json::from_str(id.json()).unwrap_or_else(|_| id.json().to_owned())
}
