//! JSON-RPC messages. Each line is parsed once, into a [`Packet`], and passed along without changing its bytes.

use offcut::json::{Edits, Node, quoted};
use serde_json::{Value, json};
use std::borrow::Cow;

/// The member of a request's `_meta` with the protocol version, in versions without `initialize`.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// One line of a peer: a message, a batch of them, or something that is not JSON.
pub(crate) struct Packet<'a> {
    /// The bytes to pass on.
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) messages: Vec<Message<'a>>,
    text: &'a str,
    /// The value of the line, if it is JSON.
    document: Option<Node<'a>>,
}

impl<'a> Packet<'a> {
    /// Parses a line. Its `text` has replacement characters for invalid UTF-8, so that one wrong byte does not hide the
    /// messages in it.
    pub(crate) fn parse(line: &'a [u8], text: &'a str) -> Packet<'a> {
        let document = Node::parse(text).ok();
        let messages = match document {
            Some(batch) if batch.is_array() => batch.elements().into_iter().map(Message::of).collect(),
            Some(message) => vec![Message::of(message)],
            None => Vec::new(),
        };
        Packet { bytes: Cow::Borrowed(line), messages, text, document }
    }

    /// The line with these changes; nothing if there are none.
    pub(crate) fn changed(&self, edits: Edits) -> Option<String> {
        (!edits.is_empty()).then(|| edits.apply(self.text))
    }

    pub(crate) fn is_json(&self) -> bool {
        self.document.is_some()
    }

    /// The ids of the requests in it.
    pub(crate) fn requests(&self) -> Vec<RequestId> {
        let id = |message: &Message<'_>| match message {
            Message::Request { id, .. } => Some(id.clone()),
            _ => None,
        };
        self.messages.iter().filter_map(id).collect()
    }

    /// The answers in it, with the ids of their requests.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (&RequestId, Answer<'a>)> {
        self.messages.iter().filter_map(|message| match message {
            Message::Response { id, answer, .. } => Some((id, *answer)),
            _ => None,
        })
    }

    /// The packet without the messages for which `is_kept` is false; nothing if none remains.
    pub(crate) fn retain(mut self, is_kept: &[bool]) -> Option<Packet<'a>> {
        let removed = is_kept.iter().filter(|kept| !**kept).count();
        if removed > 0 && removed == self.messages.len() {
            return None;
        }
        if let (true, Some(document)) = (removed > 0, self.document) {
            let mut edits = Edits::default();
            edits.remove(&document.elements(), &|index| !is_kept[index]);
            self.bytes = Cow::Owned(edits.apply_within(document).into_bytes());
            let mut kept = is_kept.iter();
            self.messages.retain(|_| kept.next() == Some(&true));
        }
        Some(self)
    }
}

/// One JSON-RPC message.
pub(crate) enum Message<'a> {
    Request {
        id: RequestId,
        method: String,
        params: Option<Node<'a>>,
    },
    Notification {
        method: String,
        params: Option<Node<'a>>,
    },
    Response {
        id: RequestId,
        answer: Answer<'a>,
        /// The whole message.
        node: Node<'a>,
    },
    /// Not a message of the protocol; it is passed on.
    Other {
        id: Option<RequestId>,
    },
}

/// The answer to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    Result(Node<'a>),
    Error(Node<'a>),
}

impl<'a> Answer<'a> {
    pub(crate) fn node(self) -> Node<'a> {
        match self {
            Answer::Result(node) | Answer::Error(node) => node,
        }
    }

    /// The data beside the texts.
    pub(crate) fn data(self) -> Option<Node<'a>> {
        match self {
            Answer::Result(result) => result.get("structuredContent"),
            Answer::Error(error) => error.get("data"),
        }
    }

    /// Whether the call failed.
    pub(crate) fn is_error(self) -> bool {
        match self {
            Answer::Result(result) => result.get("isError").is_some_and(|flag| flag.json() == "true"),
            Answer::Error(_) => true,
        }
    }

    /// The same kind of answer, with other content.
    pub(crate) fn with_node(self, node: Node<'_>) -> Answer<'_> {
        match self {
            Answer::Result(_) => Answer::Result(node),
            Answer::Error(_) => Answer::Error(node),
        }
    }
}

impl<'a> Message<'a> {
    fn of(node: Node<'a>) -> Message<'a> {
        let members = node.members();
        // The last of several members with one name counts, as in most parsers.
        let get = |key: &str| members.iter().rfind(|(name, _)| name == key.as_bytes()).map(|&(_, node)| node);
        let id = get("id").and_then(|node| RequestId::of(node.json()));
        let method = get("method").and_then(text);
        let answer = get("result").map(Answer::Result).or_else(|| get("error").map(Answer::Error));
        match (id, method, answer) {
            (Some(id), Some(method), _) => Message::Request { id, method, params: get("params") },
            (None, Some(method), _) => Message::Notification { method, params: get("params") },
            (Some(id), None, Some(answer)) => Message::Response { id, answer, node },
            (id, ..) => Message::Other { id },
        }
    }
}

/// The text of a string.
pub(crate) fn text(node: Node<'_>) -> Option<String> {
    String::from_utf8(node.text()?).ok()
}

/// The text of a member.
pub(crate) fn text_in(node: Option<Node<'_>>, key: &str) -> Option<String> {
    node?.get(key).and_then(text)
}

/// The protocol version that a request names; nothing in versions that begin with `initialize`.
pub(crate) fn named_version(params: Option<Node<'_>>) -> Option<String> {
    text_in(params?.get("_meta"), VERSION)
}

/// How a client names the version of the protocol, which decides what an answer must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versioning {
    /// Once, with `initialize`: versions up to 2025-11-25.
    Session,
    /// In each request: versions from 2026-07-28 on.
    PerRequest,
}

impl Versioning {
    pub(crate) fn of(params: Option<Node<'_>>) -> Versioning {
        match named_version(params) {
            Some(_) => Versioning::PerRequest,
            None => Versioning::Session,
        }
    }
}

/// The id of a request: a string, or a number of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    /// The id as the peer wrote it, for the answer.
    json: String,
}

impl RequestId {
    pub(crate) fn of(json: &str) -> Option<RequestId> {
        let is_id = json.starts_with(|sign: char| sign == '"' || sign == '-' || sign.is_ascii_digit());
        is_id.then(|| RequestId { json: json.to_owned() })
    }

    pub(crate) fn json(&self) -> &str {
        &self.json
    }

    /// A form that is equal for equal ids. A peer may write an id differently: `"\u0061"` returns as `"a"`, `1e2` as
    /// `100`.
    pub(crate) fn key(&self) -> String {
        if self.json.starts_with('"') {
            return serde_json::from_str::<String>(&self.json)
                .map_or_else(|_| self.json.clone(), |text| quoted(text.as_bytes()));
        }
        match (self.json.parse::<i128>(), self.json.parse::<f64>()) {
            (Ok(number), _) => number.to_string(),
            // Integers that a double represents exactly.
            (_, Ok(number)) if number.fract() == 0.0 && number.abs() < 9.0e15 => (number as i128).to_string(),
            _ => self.json.clone(),
        }
    }
}

/// The JSON-RPC error codes that offcut answers with.
pub(crate) mod code {
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// The server cannot answer: it ended, it is unreachable, or its answer is too large.
    pub(crate) const SERVER: i64 = -32000;
    /// [`INVALID_PARAMS`] in versions that name the version in each request.
    pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
    pub(crate) const UNSUPPORTED_VERSION: i64 = -32022;
}

/// The longest message of an error in characters.
const LONGEST_MESSAGE: usize = 4000;

/// A JSON-RPC error that offcut answers with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Fault {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Fault {
        Fault { code, message: limited(message.into()), data: None }
    }
}

/// The beginning of an error's message, which may quote what the peer sent.
pub(crate) fn limited(message: String) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}

/// The line that answers a request. The id is written as the peer wrote it; a result is an object.
pub(crate) fn answer_line(id: &str, versioning: Versioning, answer: &Result<String, Fault>) -> String {
    let (key, value) = match (answer, versioning) {
        (Ok(result), Versioning::Session) => ("result", result.clone()),
        (Ok(result), Versioning::PerRequest) => ("result", complete(result)),
        (Err(fault), versioning) => ("error", error(fault, versioning)),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{key}\":{value}}}")
}

/// Adds what a result must have from 2026-07-28 on: its kind, and for how long it may be cached.
fn complete(result: &str) -> String {
    let members = result.strip_prefix('{').unwrap_or(result);
    let comma = if members == "}" { "" } else { "," };
    format!("{{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\"{comma}{members}")
}

fn error(fault: &Fault, versioning: Versioning) -> String {
    let code = match (fault.code, versioning) {
        (code::RESOURCE_NOT_FOUND, Versioning::PerRequest) => code::INVALID_PARAMS,
        (code, _) => code,
    };
    let mut error = json!({"code": code, "message": fault.message});
    if let Some(data) = &fault.data {
        error["data"] = data.clone();
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_written_differently_have_the_same_key() {
        let check = |left: &str, right: &str, same: bool| {
            let key = |json| RequestId::of(json).unwrap().key();
            assert_eq!(key(left) == key(right), same, "{left} {right}");
        };
        check("1", "1", true);
        check("1e2", "100", true);
        check("1.0", "1", true);
        check("1", "\"1\"", false);
        check(r#""a\u0062""#, r#""ab""#, true);
        check("9223372036854775809", "9223372036854775808", false);
        check("-9223372036854775809", "-9223372036854775809", true);
        check("1.5", "1", false);
        assert_eq!(RequestId::of("null"), None);
        assert_eq!(RequestId::of("{}"), None);
    }
}
