//! What becomes of each message. It passes as the bytes it came in unless something in it is ours to change.
//!
//! | message | what is done |
//! |---|---|
//! | the answer to `tools/call` | bounded, if it is over the limits |
//! | the answer to `tools/list` | our tool is added to its last page |
//! | the answer to `initialize` | `resources` is added, if there are tools and no resources |
//! | a call of our tool, a read of `offcut://…` | answered here; the server never sees it |

use crate::bound::{Bounds, with_room_for_structure};
use crate::library::SCHEME;
use crate::message::{Fault, Message, RequestId, code, text, text_in};
use crate::tools::{READ_TOOL, Tool};
use offcut::Context;
use offcut::json::{Edits, Node};
use offcut::results::Middleware;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More requests than this cannot wait for an answer at once.
const MOST_WAITING: usize = 1 << 16;

/// Makes the middleware for a tool; our own tool, by which the rest can be had, is named to it.
pub type Bounding = dyn Fn(&Call<'_>) -> Middleware + Send + Sync;

/// Whose answer is to be bounded.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool, by the name under which it is configured.
    pub tool: Option<&'a str>,
    /// The name of our own tool.
    pub read_tool: &'a str,
}

/// What is remembered between messages.
pub(crate) struct Relay {
    bounding: Box<Bounding>,
    server_name: Option<String>,
    session: Option<String>,
    state: Mutex<State>,
}

struct State {
    /// The requests of the client that are not answered, by the key of their id.
    waiting: HashMap<String, Asked>,
    tools: Tools,
    /// Whether we told the client that there are resources where the server has none.
    resources: Resources,
    middlewares: HashMap<Option<String>, Arc<Middleware>>,
}

struct Asked {
    id: RequestId,
    what: What,
}

/// What a request asks for, as far as we look at the answer.
enum What {
    Call { tool: Option<String> },
    Tools { first_page: bool },
    Capabilities,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resources {
    TheServers,
    Ours,
}

/// The tools that the server has told of.
struct Tools {
    names: BTreeSet<String>,
    /// What each says of its `structuredContent`.
    schemas: BTreeMap<String, Arc<str>>,
    /// The name of ours.
    own: Arc<str>,
}

/// A request that we answer.
#[derive(Debug)]
pub(crate) struct Own {
    pub(crate) id: RequestId,
    pub(crate) request: OwnRequest,
}

#[derive(Debug)]
pub(crate) enum OwnRequest {
    Call {
        name: String,
        arguments: Option<String>,
    },
    Read {
        uri: String,
    },
    Resources,
    Templates,
    /// It cannot be passed on.
    Refuse(Fault),
}

/// What becomes of a line of the client.
pub(crate) struct ClientLine<'a> {
    /// What the server gets.
    pub(crate) forward: Option<Cow<'a, [u8]>>,
    /// What we answer.
    pub(crate) own: Vec<Own>,
}

impl Relay {
    pub(crate) fn new(
        bounding: Box<Bounding>,
        server_name: Option<String>,
        session: Option<String>,
    ) -> Relay {
        let tools = Tools { names: BTreeSet::new(), schemas: BTreeMap::new(), own: READ_TOOL.into() };
        let resources = Resources::TheServers;
        let state = State { waiting: HashMap::new(), tools, resources, middlewares: HashMap::new() };
        Relay { bounding, server_name, session, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line on its way to the server. What is not JSON is for the server to judge.
    pub(crate) fn client_line<'a>(&self, line: &'a [u8]) -> ClientLine<'a> {
        let whole = ClientLine { forward: Some(Cow::Borrowed(line)), own: Vec::new() };
        let Some(document) = parse(line) else { return whole };
        let nodes = Message::nodes(document);
        let mut state = self.state();
        let own: Vec<(usize, Own)> = nodes
            .iter()
            .enumerate()
            .filter_map(|(index, node)| Some((index, state.asked(Message::of(*node))?)))
            .collect();
        if own.is_empty() {
            return whole;
        }
        let is_own = |index: usize| own.iter().any(|(at, _)| *at == index);
        let forward = (own.len() < nodes.len()).then(|| {
            let mut edits = Edits::default();
            edits.remove(&nodes, &is_own);
            Cow::Owned(edits.apply_within(document).into_bytes())
        });
        ClientLine { forward, own: own.into_iter().map(|(_, own)| own).collect() }
    }

    /// A line on its way to the client.
    pub(crate) fn server_line<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(document) = parse(line) else { return Cow::Borrowed(line) };
        let mut edits = Edits::default();
        for node in Message::nodes(document) {
            match Message::of(node) {
                Message::Result { id, result } => {
                    if let Some(json) = self.answered(&id, Ok(result)) {
                        edits.replace(result, json);
                    }
                }
                Message::Error { id, error } => {
                    if let Some(json) = self.answered(&id, Err(error)) {
                        edits.replace(error, json);
                    }
                }
                Message::Request { .. } | Message::Notification { .. } | Message::Other => {}
            }
        }
        match (edits.is_empty(), std::str::from_utf8(line)) {
            (false, Ok(text)) => Cow::Owned(edits.apply(text).into_bytes()),
            _ => Cow::Borrowed(line),
        }
    }

    /// The answer to a request, changed; nothing if it passes as it is.
    fn answered(&self, id: &RequestId, answer: Result<Node<'_>, Node<'_>>) -> Option<String> {
        let mut state = self.state();
        let asked = state.waiting.remove(&id.key())?;
        match (asked.what, answer) {
            (What::Call { tool }, answer) => {
                let read_tool = state.tools.own.clone();
                let schema = tool.as_ref().and_then(|tool| state.tools.schemas.get(tool).cloned());
                let tool = tool.map(|tool| self.configured_name(tool));
                let middleware = state
                    .middlewares
                    .entry(tool.clone())
                    .or_insert_with(|| {
                        let middleware =
                            (self.bounding)(&Call { tool: tool.as_deref(), read_tool: &read_tool });
                        let context = Context { tool: tool.clone(), ..Context::default() };
                        Arc::new(with_room_for_structure(middleware, &context))
                    })
                    .clone();
                // Cutting takes a while; other messages need not wait for it.
                drop(state);
                let call_id = Some(text_of_id(id));
                let context = Context { tool, call_id, session: self.session.clone() };
                let (middleware, schema) = (&*middleware, schema.as_deref());
                let bounds = Bounds { middleware, context: &context, schema, read_tool: &read_tool };
                match answer {
                    Ok(result) => bounds.result(result),
                    Err(error) => bounds.error(error),
                }
            }
            (What::Tools { first_page }, Ok(result)) => state.list_tools(result, first_page),
            (What::Capabilities, Ok(result)) => state.announce(result),
            _ => None,
        }
    }

    /// The name by which a tool is configured, as the agents' own hooks write it.
    fn configured_name(&self, tool: String) -> String {
        match &self.server_name {
            Some(server) => format!("mcp__{server}__{tool}"),
            None => tool,
        }
    }

    /// Whether the answer to a request is still to come.
    pub(crate) fn is_waiting(&self, id: &RequestId) -> bool {
        self.state().waiting.contains_key(&id.key())
    }

    /// A request will not be answered by the server; whether it was still waiting.
    pub(crate) fn give_up(&self, id: &RequestId) -> bool {
        self.state().waiting.remove(&id.key()).is_some()
    }

    /// All requests that wait for an answer, which will not come.
    pub(crate) fn give_up_all(&self) -> Vec<RequestId> {
        self.state().waiting.drain().map(|(_, asked)| asked.id).collect()
    }
}

impl State {
    /// Remembers what the client asks for; returns what is ours to answer.
    fn asked(&mut self, message: Message<'_>) -> Option<Own> {
        match message {
            Message::Request { id, method, params } => {
                if let Some(request) = self.own(&method, params) {
                    return Some(Own { id, request });
                }
                if self.waiting.len() >= MOST_WAITING {
                    let fault =
                        Fault::new(code::SERVER, "too many requests wait for an answer of the server");
                    return Some(Own { id, request: OwnRequest::Refuse(fault) });
                }
                let what = match method.as_str() {
                    "tools/call" => What::Call { tool: text_in(params, "name") },
                    // The result of a call that was made a task.
                    "tasks/result" => What::Call { tool: None },
                    "tools/list" => What::Tools { first_page: text_in(params, "cursor").is_none() },
                    "initialize" | "server/discover" => What::Capabilities,
                    _ => What::Other,
                };
                self.waiting.insert(id.key(), Asked { id, what });
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                // Whoever cancels does not listen any more; an answer that comes all the same passes.
                let id = params.and_then(|params| params.get("requestId"));
                if let Some(id) = id.and_then(|id| RequestId::of(id.json())) {
                    self.waiting.remove(&id.key());
                }
            }
            _ => {}
        }
        None
    }

    fn own(&self, method: &str, params: Option<Node<'_>>) -> Option<OwnRequest> {
        match method {
            "tools/call" => {
                let name = text_in(params, "name").filter(|name| **name == *self.tools.own)?;
                let arguments = params?.get("arguments").map(|arguments| arguments.json().to_owned());
                Some(OwnRequest::Call { name, arguments })
            }
            "resources/read" => {
                let uri = text_in(params, "uri").filter(|uri| uri.starts_with(SCHEME))?;
                Some(OwnRequest::Read { uri })
            }
            "resources/list" if self.resources == Resources::Ours => Some(OwnRequest::Resources),
            "resources/templates/list" if self.resources == Resources::Ours => Some(OwnRequest::Templates),
            _ => None,
        }
    }

    /// Notes the tools of a page, and adds ours behind the last one.
    fn list_tools(&mut self, result: Node<'_>, first_page: bool) -> Option<String> {
        let listed = result.get("tools").filter(Node::is_array)?;
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
        // Only behind the last page are all names known.
        if result.get("nextCursor").is_some_and(|cursor| !cursor.is_null()) {
            return None;
        }
        let own = self.tools.free_name();
        if own != self.tools.own {
            // The hints name our tool.
            self.tools.own = own;
            self.middlewares.clear();
        }
        let definition = Tool::Read.definition(&self.tools.own);
        let mut edits = Edits::default();
        match elements.last() {
            Some(last) => edits.insert_after(*last, &definition),
            None => edits.replace(listed, format!("[{definition}]")),
        }
        Some(edits.apply_within(result))
    }

    /// Tells the client that there are resources: ours, if the server has tools and no resources.
    fn announce(&mut self, result: Node<'_>) -> Option<String> {
        let capabilities = result.get("capabilities").filter(Node::is_object)?;
        let has = |key: &str| capabilities.get(key).is_some_and(|found| !found.is_null());
        if has("resources") || !has("tools") {
            self.resources = Resources::TheServers;
            return None;
        }
        self.resources = Resources::Ours;
        let mut edits = Edits::default();
        edits.set(capabilities, &[("resources", "{}".to_owned())]);
        Some(edits.apply_within(result))
    }
}

impl Tools {
    /// `offcut_read`, or the first of `offcut_read_2`, … that the server has not.
    fn free_name(&self) -> Arc<str> {
        let numbered = (2_u64..).map(|number| format!("{READ_TOOL}_{number}"));
        let mut names = std::iter::once(READ_TOOL.to_owned()).chain(numbered);
        names.find(|name| !self.names.contains(name)).unwrap_or_default().into()
    }
}

fn parse(line: &[u8]) -> Option<Node<'_>> {
    Node::parse(std::str::from_utf8(line).ok()?).ok()
}

/// An id as text: what a person would look for.
fn text_of_id(id: &RequestId) -> String {
    serde_json::from_str(id.json()).unwrap_or_else(|_| id.json().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use offcut::{Profile, Truncator};
    use proptest::prelude::*;

    fn relay() -> Relay {
        Relay::new(Box::new(|_| Middleware::new(Truncator::new(Profile::native()))), None, None)
    }

    proptest! {
        #[test]
        fn whatever_is_not_ours_passes(
            line in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "[\\[{ ]*\"(id|method|result|params|jsonrpc)\" ?: ?[\\[{\"0-9ae\\\\,:}\\]]{0,40}[}\\] ]*".prop_map(String::into_bytes),
            ]
        ) {
            let relay = relay();
            prop_assert_eq!(&relay.server_line(&line)[..], &line[..]);
            let ClientLine { forward, own } = relay.client_line(&line);
            prop_assert!(own.is_empty());
            prop_assert_eq!(forward.as_deref(), Some(&line[..]));
            prop_assert_eq!(&relay.server_line(&line)[..], &line[..]);
        }
    }

    #[test]
    fn a_request_that_was_cancelled_is_not_waited_for() {
        let relay = relay();
        relay.client_line(br#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}"#);
        relay.client_line(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
        relay.client_line(
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#,
        );
        // A request of the server may have the id of one of the client's.
        relay.server_line(br#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}"#);
        assert_eq!(relay.give_up_all(), [RequestId::of("7").unwrap()]);
    }
}
