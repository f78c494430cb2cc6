//! A server of its own: what was kept, for any client.

use crate::hub::{Client, is_json};
use crate::library::{Library, SCHEME};
use crate::line::{Direction, Line, Lines};
use crate::message::{Fault, Message, RequestId, answer, code, text_in};
use crate::tools::{TEMPLATES, Tool};
use offcut::json::{Node, quoted};
use std::io::{self, Read, Write};

/// The versions of the protocol that begin with `initialize`; we speak the same in all of them.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const CAPABILITIES: &str = "{\"tools\":{},\"resources\":{}}";

const INSTRUCTIONS: &str = "Tool outputs that were shown in part are kept whole here. A notice such as [offcut ID: ...] \
    names the id: offcut_read gets any part of it, offcut_search finds lines, offcut_list shows what there is.";

/// Answers a client until it leaves.
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
            Line::Whole(line) => answers(library, line),
            Line::Unended(line) if is_json(line) => answers(library, line),
            Line::Unended(_) => continue,
            Line::TooLong(long) => match (long.id, long.direction) {
                (Some(id), Direction::Asks) => {
                    let fault = Fault::new(code::SERVER, format!("a message has at most {largest} bytes"));
                    vec![answer(id.json(), &Err(fault))]
                }
                _ => continue,
            },
        };
        match client_sends(&client, &answers) {
            // Nobody listens any more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            sent => sent?,
        }
    }
    Ok(())
}

fn client_sends(client: &Client, answers: &[String]) -> io::Result<()> {
    answers.iter().try_for_each(|answer| client.send(answer.as_bytes()))
}

fn answers(library: &Library, line: &[u8]) -> Vec<String> {
    let document = std::str::from_utf8(line).ok().and_then(|text| Node::parse(text).ok());
    let Some(document) = document else {
        return vec![answer("null", &Err(Fault::new(code::PARSE, "this is not JSON")))];
    };
    let requests = Message::nodes(document).into_iter().filter_map(|node| match Message::of(node) {
        Message::Request { id, method, params } => {
            Some(answer(id.json(), &respond(library, &method, params)))
        }
        // It waits for an answer, and there is nothing in it that could be answered.
        Message::Other => {
            let id = node.get("id").and_then(|id| RequestId::of(id.json()));
            let fault = Fault::new(code::INVALID_REQUEST, "this is not a request");
            Some(answer(id.as_ref().map_or("null", RequestId::json), &Err(fault)))
        }
        _ => None,
    });
    requests.collect()
}

fn respond(library: &Library, method: &str, params: Option<Node<'_>>) -> Result<String, Fault> {
    match method {
        "initialize" => {
            let asked = text_in(params, "protocolVersion").unwrap_or_default();
            let version = VERSIONS.into_iter().find(|known| *known == asked).unwrap_or(VERSIONS[0]);
            Ok(format!(
                "{{\"protocolVersion\":\"{version}\",\"capabilities\":{CAPABILITIES},\
                 \"serverInfo\":{{\"name\":\"offcut\",\"version\":\"{}\"}},\"instructions\":{}}}",
                env!("CARGO_PKG_VERSION"),
                quoted(INSTRUCTIONS.as_bytes())
            ))
        }
        "ping" => Ok("{}".to_owned()),
        "tools/list" => {
            let tools = Tool::ALL.map(|(tool, name)| tool.definition(name));
            Ok(format!("{{\"tools\":[{}]}}", tools.join(",")))
        }
        "tools/call" => {
            let asked = text_in(params, "name").unwrap_or_default();
            let (tool, name) = Tool::ALL
                .into_iter()
                .find(|(_, name)| *name == asked)
                .ok_or_else(|| Fault::new(code::INVALID_PARAMS, format!("there is no tool {asked:?}")))?;
            let arguments = params.and_then(|params| params.get("arguments"));
            Ok(library.call(tool, name, arguments.map(|arguments| arguments.json())))
        }
        "resources/list" => library.resources(),
        "resources/templates/list" => Ok(TEMPLATES.to_owned()),
        "resources/read" => match text_in(params, "uri") {
            Some(uri) if uri.starts_with(SCHEME) => library.resource(&uri),
            _ => Err(Fault::new(code::RESOURCE_NOT_FOUND, "only offcut://ID can be read")),
        },
        _ => Err(Fault::new(code::METHOD_NOT_FOUND, format!("{method:?} is not known here"))),
    }
}
