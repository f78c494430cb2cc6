//! The tools and resource templates that clients see.

use offcut::retrieve::ReadTool;
use serde_json::{Map, Value, json};

/// The name of the read tool, unless the server has a tool with that name.
pub const READ_TOOL: &str = "offcut_read";

/// Asks the host not to truncate an answer below this many characters: the most that Claude Code accepts.
pub(crate) const ASKED_SIZE: &str = "{\"anthropic/maxResultSizeChars\":500000}";

/// A list of resources that the proxy answers if the server has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceList {
    Resources,
    Templates,
}

impl ResourceList {
    /// The list that a method asks for.
    pub(crate) fn of(method: &str) -> Option<ResourceList> {
        match method {
            "resources/list" => Some(ResourceList::Resources),
            "resources/templates/list" => Some(ResourceList::Templates),
            _ => None,
        }
    }

    /// The result. A proxy lists no resources: notices name them.
    pub(crate) fn result(self) -> String {
        match self {
            ResourceList::Resources => "{\"resources\":[]}".to_owned(),
            ResourceList::Templates => templates(),
        }
    }
}

/// The result of `resources/templates/list`.
pub(crate) fn templates() -> String {
    let template = json!({
        "uriTemplate": "offcut://{id}{?lines,bytes}",
        "name": "offcut",
        "title": "A stored tool output, or a part of it",
        "description": "lines=FIRST:LAST counts from 1; bytes=START:END counts from 0 and excludes END",
    });
    json!({"resourceTemplates": [template]}).to_string()
}

/// The tools that read stored outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Read,
    Search,
    List,
}

impl Tool {
    pub(crate) const ALL: [(Tool, &'static str); 3] =
        [(Tool::Read, READ_TOOL), (Tool::Search, "offcut_search"), (Tool::List, "offcut_list")];

    /// Its entry in `tools/list`, under this name.
    pub(crate) fn definition(self, name: &str) -> Value {
        let (title, about, schema) = match self {
            Tool::Read => ("Read a stored output", ReadTool::DESCRIPTION, ReadTool::schema()),
            Tool::Search => {
                let all = ReadTool::schema();
                let properties: Map<String, Value> = ["pattern", "id", "context", "ignore_case"]
                    .map(|name| (name.to_owned(), all["properties"][name].clone()))
                    .into_iter()
                    .collect();
                (
                    "Search stored outputs",
                    "Search the stored tool outputs: all of them, or the one with the given id.",
                    json!({"type": "object", "properties": properties, "required": ["pattern"]}),
                )
            }
            Tool::List => {
                let limit =
                    json!({"type": "integer", "minimum": 0, "description": "how many to list; default 20"});
                (
                    "List stored outputs",
                    "List the stored tool outputs, newest first.",
                    json!({"type": "object", "properties": {"limit": limit}, "required": []}),
                )
            }
        };
        json!({
            "name": name,
            "title": title,
            "description": about,
            "inputSchema": schema,
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
            "_meta": {"anthropic/maxResultSizeChars": 500_000},
        })
    }
}
