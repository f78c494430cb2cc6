//! What a message is, told without changing a byte of it.

use offcut::json::{Node, quoted};

/// One JSON-RPC message, where it stands.
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
    Result {
        id: RequestId,
        result: Node<'a>,
    },
    Error {
        id: RequestId,
        error: Node<'a>,
    },
    /// Nothing that we know of; it passes.
    Other,
}

impl<'a> Message<'a> {
    pub(crate) fn of(node: Node<'a>) -> Message<'a> {
        let members = node.members();
        // Of several the last one counts, as for everybody who reads such a text.
        let get = |key: &str| members.iter().rfind(|(name, _)| name == key.as_bytes()).map(|&(_, node)| node);
        let id = get("id").and_then(|node| RequestId::of(node.json()));
        let method = get("method").and_then(text);
        match (id, method, get("result"), get("error")) {
            (Some(id), Some(method), ..) => Message::Request { id, method, params: get("params") },
            (None, Some(method), ..) => Message::Notification { method, params: get("params") },
            (Some(id), None, Some(result), _) => Message::Result { id, result },
            (Some(id), None, None, Some(error)) => Message::Error { id, error },
            _ => Message::Other,
        }
    }

    /// The messages of a line: one, or those of a batch.
    pub(crate) fn nodes(document: Node<'a>) -> Vec<Node<'a>> {
        if document.is_array() { document.elements() } else { vec![document] }
    }
}

/// The text of a string.
pub(crate) fn text(node: Node<'_>) -> Option<String> {
    String::from_utf8(node.text()?).ok()
}

/// A text inside an object.
pub(crate) fn text_in(node: Option<Node<'_>>, key: &str) -> Option<String> {
    node?.get(key).and_then(text)
}

/// The id of a request: a string, or a number of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    /// As it came, for the answer.
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

    /// What is compared. A peer may write an id in another way: `"\u0061"` comes back as `"a"`, `1e2` as `100`.
    pub(crate) fn key(&self) -> String {
        if self.json.starts_with('"') {
            return serde_json::from_str::<String>(&self.json)
                .map_or_else(|_| self.json.clone(), |text| quoted(text.as_bytes()));
        }
        match (self.json.parse::<i128>(), self.json.parse::<f64>()) {
            (Ok(number), _) => number.to_string(),
            // Whole numbers that a double holds exactly.
            (_, Ok(number)) if number.fract() == 0.0 && number.abs() < 9.0e15 => (number as i128).to_string(),
            _ => self.json.clone(),
        }
    }
}

/// The codes that we answer with.
pub(crate) mod code {
    pub(crate) const INVALID_PARAMS: i64 = -32602;
    pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const INVALID_REQUEST: i64 = -32600;
    /// The server cannot answer: it ended, its answer is too large, it cannot be reached.
    pub(crate) const SERVER: i64 = -32000;
    pub(crate) const RESOURCE_NOT_FOUND: i64 = -32002;
}

/// An answer that is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: i64,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into() }
    }
}

/// The line that answers a request.
pub(crate) fn answer(id: &str, answer: &Result<String, Fault>) -> String {
    match answer {
        Ok(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        Err(Fault { code, message }) => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}",
            quoted(message.as_bytes())
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_same_however_they_are_written() {
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
