//! The tools and resource templates that clients see.

use serde_json::{Value, json};

/// The name of the read tool, unless the server has a tool with that name.
pub const READ_TOOL: &str = "offcut_read";

/// Asks the host not to truncate an answer below this many characters: the most that Claude Code accepts.
pub(crate) const ASKED_SIZE: &str = "{\"anthropic/maxResultSizeChars\":500000}";

/// The answer to `resources/templates/list`.
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
        let text = |about: &str| json!({"type": "string", "description": about});
        let number = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
        let id = text("the id in the notice, a unique prefix of it, or last");
        let pattern = text("a regular expression; returns the matching lines with their numbers");
        let context = number("the number of lines before and after each match, or around a single line");
        let ignore_case =
            json!({"type": "boolean", "description": "ignore the difference between upper and lower case"});
        let (title, about, properties, required) = match self {
            Tool::Read => (
                "Read a stored output",
                "Print any part of a tool output that was shown only in part: a range of lines or bytes, or the lines that \
                 match a pattern. The default is the beginning. Returns one page; its notice names the next one.",
                json!({
                    "id": id,
                    "lines": text("FIRST:LAST, counted from 1, both included; also 100: (from line 100) or -20: (the last 20)"),
                    "bytes": text("START:END, counted from 0, END excluded; works inside a long line, too"),
                    "pattern": pattern,
                    "context": context,
                    "ignore_case": ignore_case,
                    "max_bytes": number("the size of the page in bytes; default 9500"),
                }),
                json!(["id"]),
            ),
            Tool::Search => (
                "Search stored outputs",
                "Search the stored tool outputs: all of them, or the one with the given id.",
                json!({"pattern": pattern, "id": id, "context": context, "ignore_case": ignore_case}),
                json!(["pattern"]),
            ),
            Tool::List => (
                "List stored outputs",
                "List the stored tool outputs, newest first.",
                json!({"limit": number("how many to list; default 20")}),
                json!([]),
            ),
        };
        json!({
            "name": name,
            "title": title,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": true, "idempotentHint": true, "openWorldHint": false},
            "_meta": {"anthropic/maxResultSizeChars": 500_000},
        })
    }
}
