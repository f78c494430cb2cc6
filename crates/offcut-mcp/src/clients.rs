//! Clients that cut a result again if it has more characters than offcut's default limits allow.
//!
//! A preview that a client cuts loses its middle, or all of it. For these clients, results and pages are smaller, unless the
//! user has set other limits.

use crate::message::text_in;
use offcut::json::{Edits, Node};
use offcut::{Context, Limits, Profile, Truncator};

/// The name of a client in `clientInfo`, and the most characters of a result that it passes to the model.
const CLIENTS: &[(&str, u64)] = &[
    // The result as JSON; the middle of a longer one is dropped.
    ("@cline/core", 8_000),
    // A longer result is written to a file, and the model gets only its name.
    ("Visual Studio Code", 8_192),
    ("Visual Studio Code - Insiders", 8_192),
];

/// The member of `_meta` that describes the client.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The characters of JSON around the texts of a preview: parts, notices and `_meta`.
const AROUND: u64 = 700;

/// The name of the client, if its request has it: in `initialize`; since 2026-07-28, in every request.
pub(crate) fn client_name(params: Option<Node<'_>>) -> Option<String> {
    let params = params?;
    let info = params.get("clientInfo").or_else(|| params.get("_meta")?.get(CLIENT_INFO));
    text_in(info, "name")
}

/// A client that cuts results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrictClient {
    most_chars: u64,
}

impl StrictClient {
    /// The client with this name, if it cuts results.
    pub(crate) fn named(name: &str) -> Option<StrictClient> {
        let found = CLIENTS.iter().find(|(known, _)| *known == name);
        found.map(|(_, most_chars)| StrictClient { most_chars: *most_chars })
    }

    /// The most characters of text that may be shown of a result; nothing if the client takes all of it, or if the user
    /// has set limits.
    pub(crate) fn most_text(self, result: Node<'_>, limits: &Limits) -> Option<u64> {
        let (chars, escapes) = json_size(result.json());
        if *limits != default_limits() || chars + escapes <= self.most_chars {
            return None;
        }
        // The client escapes the preview like the result, and counts its data too.
        let parts = if result.get("structuredContent").is_some() { 2 } else { 1 };
        Some((self.most_chars - AROUND) * chars / (chars + escapes) / parts)
    }

    /// The arguments of a call of the read tool, with the size of a page that the client takes.
    pub(crate) fn page_arguments(self, arguments: Option<Node<'_>>) -> String {
        let most = self.most_chars / 4 * 3;
        let Some(arguments) = arguments.filter(Node::is_object) else {
            return format!("{{\"max_bytes\":{most}}}");
        };
        let asked = arguments.get("max_bytes").and_then(|size| size.json().trim_matches('"').parse().ok());
        let mut edits = Edits::default();
        if asked.is_none_or(|asked: u64| asked == 0 || asked > most) {
            edits.set(arguments, &[("max_bytes", most.to_string())]);
        }
        edits.apply_within(arguments)
    }
}

fn default_limits() -> Limits {
    Truncator::new(Profile::native()).settings(&Context::default()).limits
}

/// The number of characters in JSON, with an escape counted as one, and the number of escapes that the client will write
/// again. It writes other characters (`\u00e9`) without an escape.
fn json_size(json: &str) -> (u64, u64) {
    let (mut chars, mut escapes) = (0, 0);
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        chars += 1;
        if letter == '\\' {
            match letters.next() {
                Some('u') => drop(letters.nth(3)),
                _ => escapes += 1,
            }
        }
    }
    (chars, escapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_in_the_first_request_or_in_every_request() {
        let name = |params: &str| client_name(Some(Node::parse(params).unwrap()));
        assert_eq!(name(r#"{"clientInfo":{"name":"a","version":"1"}}"#).as_deref(), Some("a"));
        assert_eq!(name(&format!(r#"{{"_meta":{{"{CLIENT_INFO}":{{"name":"b"}}}}}}"#)).as_deref(), Some("b"));
        assert_eq!((name("{}"), client_name(None)), (None, None));
    }

    #[test]
    fn only_known_clients_are_strict() {
        assert!(StrictClient::named("@cline/core").is_some());
        assert!(StrictClient::named("Visual Studio Code").is_some());
        assert!(StrictClient::named("claude-code").is_none());
    }

    #[test]
    fn result_that_the_client_takes_has_no_other_limit() {
        let (cline, limits) = (StrictClient::named("@cline/core").unwrap(), default_limits());
        let most = |text: &str, limits: &Limits| {
            let json = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
            cline.most_text(Node::parse(&json).unwrap(), limits)
        };
        assert_eq!(most(&"a".repeat(7_900), &limits), None);
        assert_eq!(most(&"a".repeat(9_000), &limits), Some(7_300));
        // Half of the characters need an escape.
        assert!(most(&"a\\n".repeat(4_500), &limits).unwrap() < 5_000);
        assert_eq!(most(&"\\u00e9".repeat(7_900), &limits), None);
        // The user has set other limits.
        assert_eq!(most(&"a".repeat(9_000), &Limits { bytes: Some(50_000), ..limits }), None);
    }
}
