//! An MCP server for stored outputs.

use crate::hub::Client;
use crate::library::{Library, SCHEME};
use crate::line::{Direction, Line, Lines};
use crate::message::{
    Fault, Message, Packet, RequestId, Versioning, answer_line, code, limited, named_version, text_in,
};
use crate::tools::{self, Tool};
use offcut::json::Node;
use serde_json::{Value, json};
use std::io::{self, Read, Write};

/// The supported versions of the protocol that begin with `initialize`. Their answers are the same.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The supported version of the protocol that each request names.
const STATELESS_VERSION: &str = "2026-07-28";

const INSTRUCTIONS: &str = "Tool outputs that were shown only in part are stored here in full. A notice such as [offcut ID: ...] \
    contains the id: offcut_read prints any part of it, offcut_search finds lines, offcut_list lists the outputs.";

/// Answers a client until it closes its end.
pub fn serve(
    library: &Library,
    largest: usize,
    input: impl Read,
    output: Box<dyn Write + Send>,
) -> io::Result<()> {
    let client = Client::new(output);
    let mut lines = Lines::new(input, largest);
    while let Some(line) = lines.next()? {
        let answers = match line {
            Line::Whole(bytes) | Line::Unended(bytes) if bytes.trim_ascii().is_empty() => continue,
            Line::Whole(bytes) | Line::Unended(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                match Packet::parse(bytes, &text) {
                    packet if !packet.is_json() && matches!(line, Line::Unended(_)) => continue,
                    packet => answers(library, &packet),
                }
            }
            Line::TooLong(long) => match (long.id, long.direction) {
                (Some(id), Direction::Request) => {
                    let fault = Fault::new(code::SERVER, format!("a message has at most {largest} bytes"));
                    vec![answer_line(id.json(), Versioning::Session, &Err(fault))]
                }
                _ => continue,
            },
        };
        match answers.iter().try_for_each(|answer| client.send(answer.as_bytes())) {
            // The client no longer reads.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            sent => sent?,
        }
    }
    Ok(())
}

fn answers(library: &Library, packet: &Packet<'_>) -> Vec<String> {
    if !packet.is_json() {
        let fault = Fault::new(code::PARSE, "this is not JSON");
        return vec![answer_line("null", Versioning::Session, &Err(fault))];
    }
    let answers = packet.messages.iter().filter_map(|message| match message {
        Message::Request { id, method, params } => {
            let answer = check_version(*params).and_then(|()| respond(library, method, *params));
            Some(answer_line(id.json(), Versioning::of(*params), &answer))
        }
        Message::Other { id } => {
            let fault = Fault::new(code::INVALID_REQUEST, "this is not a request");
            let id = id.as_ref().map_or("null", RequestId::json);
            Some(answer_line(id, Versioning::Session, &Err(fault)))
        }
        Message::Notification { .. } | Message::Response { .. } => None,
    });
    answers.collect()
}

/// Refuses a request that names an unknown version.
fn check_version(params: Option<Node<'_>>) -> Result<(), Fault> {
    match named_version(params) {
        Some(requested) if requested != STATELESS_VERSION => {
            let mut fault = Fault::new(code::UNSUPPORTED_VERSION, "unsupported protocol version");
            fault.data = Some(json!({"supported": supported_versions(), "requested": limited(requested)}));
            Err(fault)
        }
        _ => Ok(()),
    }
}

/// What `initialize` and `server/discover` say about this server.
fn description() -> Value {
    json!({"capabilities": {"tools": {}, "resources": {}}, "instructions": INSTRUCTIONS})
}

fn supported_versions() -> Value {
    [STATELESS_VERSION].into_iter().chain(VERSIONS).collect()
}

fn server_info() -> Value {
    json!({"name": "offcut", "version": env!("CARGO_PKG_VERSION")})
}

fn respond(library: &Library, method: &str, params: Option<Node<'_>>) -> Result<String, Fault> {
    match method {
        "initialize" => {
            let requested = text_in(params, "protocolVersion").unwrap_or_default();
            let version = VERSIONS.into_iter().find(|known| *known == requested).unwrap_or(VERSIONS[0]);
            let mut result = description();
            result["protocolVersion"] = version.into();
            result["serverInfo"] = server_info();
            Ok(result.to_string())
        }
        "server/discover" => {
            let mut result = description();
            result["supportedVersions"] = supported_versions();
            result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": server_info()});
            Ok(result.to_string())
        }
        "ping" => Ok("{}".to_owned()),
        "tools/list" => {
            let tools: Vec<Value> = Tool::ALL.iter().map(|(tool, name)| tool.definition(name)).collect();
            Ok(json!({"tools": tools}).to_string())
        }
        "tools/call" => {
            let requested = text_in(params, "name").unwrap_or_default();
            let (tool, name) = Tool::ALL
                .into_iter()
                .find(|(_, name)| *name == requested)
                .ok_or_else(|| Fault::new(code::INVALID_PARAMS, format!("there is no tool {requested:?}")))?;
            let arguments = params.and_then(|params| params.get("arguments"));
            Ok(library.call(tool, name, arguments.map(|arguments| arguments.json())))
        }
        "resources/list" => library.resources(),
        "resources/templates/list" => Ok(tools::templates()),
        "resources/read" => match text_in(params, "uri") {
            Some(uri) if uri.starts_with(SCHEME) => library.resource(&uri),
            _ => Err(Fault::new(code::RESOURCE_NOT_FOUND, "only offcut://ID can be read")),
        },
        _ => Err(Fault::new(code::METHOD_NOT_FOUND, format!("unknown method {method:?}"))),
    }
}
