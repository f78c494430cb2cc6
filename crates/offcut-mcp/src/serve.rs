//! An MCP server for stored outputs.

use crate::hub::Client;
use crate::library::{Library, SCHEME};
use crate::line::{Direction, Line, Lines};
use crate::message::{Fault, Message, Packet, RequestId, answer_line, code, text_in};
use crate::tools::{self, Tool};
use offcut::json::Node;
use serde_json::{Value, json};
use std::io::{self, Read, Write};

/// The supported versions of the protocol that begin with `initialize`. Their answers are the same.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

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
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => answers(library, &Packet::parse(line)),
            Line::Unended(line) => match Packet::parse(line) {
                packet if packet.is_json() => answers(library, &packet),
                _ => continue,
            },
            Line::TooLong(long) => match (long.id, long.direction) {
                (Some(id), Direction::Request) => {
                    let fault = Fault::new(code::SERVER, format!("a message has at most {largest} bytes"));
                    vec![answer_line(id.json(), &Err(fault))]
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
        return vec![answer_line("null", &Err(Fault::new(code::PARSE, "this is not JSON")))];
    }
    let answers = packet.messages.iter().filter_map(|message| match message {
        Message::Request { id, method, params } => {
            Some(answer_line(id.json(), &respond(library, method, *params)))
        }
        Message::Other { id } => {
            let fault = Fault::new(code::INVALID_REQUEST, "this is not a request");
            Some(answer_line(id.as_ref().map_or("null", RequestId::json), &Err(fault)))
        }
        Message::Notification { .. } | Message::Response { .. } => None,
    });
    answers.collect()
}

fn respond(library: &Library, method: &str, params: Option<Node<'_>>) -> Result<String, Fault> {
    match method {
        "initialize" => {
            let requested = text_in(params, "protocolVersion").unwrap_or_default();
            let version = VERSIONS.into_iter().find(|known| *known == requested).unwrap_or(VERSIONS[0]);
            let result = json!({
                "protocolVersion": version,
                "capabilities": {"tools": {}, "resources": {}},
                "serverInfo": {"name": "offcut", "version": env!("CARGO_PKG_VERSION")},
                "instructions": INSTRUCTIONS,
            });
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
