//! Our own tools and resources as clients see them listed.

use offcut::json::quoted;

/// The name of the retrieval tool, unless a server has one of that name.
pub const READ_TOOL: &str = "offcut_read";

/// What the host is asked not to cut, in characters. It is the most that Claude Code accepts.
pub(crate) const ASKED_SIZE: &str = "{\"anthropic/maxResultSizeChars\":500000}";

/// `resources/templates/list`.
pub(crate) const TEMPLATES: &str = "{\"resourceTemplates\":[{\"uriTemplate\":\"offcut://{id}{?lines,bytes}\",\
    \"name\":\"offcut\",\"title\":\"A kept tool output, or a part of it\",\
    \"description\":\"lines=FIRST:LAST counts from 1, bytes=START:END from 0 without END\"}]}";

/// The tools of ours.
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
    pub(crate) fn definition(self, name: &str) -> String {
        let text =
            |about: &str| format!("{{\"type\":\"string\",\"description\":{}}}", quoted(about.as_bytes()));
        let number = |about: &str| {
            format!("{{\"type\":\"integer\",\"minimum\":0,\"description\":{}}}", quoted(about.as_bytes()))
        };
        let id = ("id", text("the id that the notice names, the beginning of one, or last"));
        let pattern = ("pattern", text("a regular expression: the matching lines, with their numbers"));
        let context =
            ("context", number("lines before and after each match, or around the line that is asked for"));
        let ignore_case = (
            "ignore_case",
            "{\"type\":\"boolean\",\"description\":\"upper and lower case are the same\"}".to_owned(),
        );
        let (title, about, properties, required) = match self {
            Tool::Read => (
                "Read a kept output",
                "Gets back any part of a tool output that was shown in part: lines, bytes, or the lines that match a \
                 pattern. Without a part: from the beginning. One page at a time; its notice says what comes next.",
                vec![
                    id,
                    (
                        "lines",
                        text("FIRST:LAST, counted from 1, both included; also 100:, or -20: for the last 20"),
                    ),
                    (
                        "bytes",
                        text("START:END, counted from 0, END not included; also inside one giant line"),
                    ),
                    pattern,
                    context,
                    ignore_case,
                    ("max_bytes", number("the most that a page may have; 9500 unless told")),
                ],
                "[\"id\"]",
            ),
            Tool::Search => (
                "Search kept outputs",
                "Searches tool outputs that were kept whole; all of them unless an id is given.",
                vec![pattern, id, context, ignore_case],
                "[\"pattern\"]",
            ),
            Tool::List => (
                "List kept outputs",
                "Lists the tool outputs that were kept whole, newest first.",
                vec![("limit", number("how many; 20 unless told"))],
                "[]",
            ),
        };
        let properties: Vec<String> =
            properties.iter().map(|(name, schema)| format!("\"{name}\":{schema}")).collect();
        format!(
            "{{\"name\":{},\"title\":\"{title}\",\"description\":{},\
             \"inputSchema\":{{\"type\":\"object\",\"properties\":{{{}}},\"required\":{required}}},\
             \"annotations\":{{\"readOnlyHint\":true,\"idempotentHint\":true,\"openWorldHint\":false}},\
             \"_meta\":{ASKED_SIZE}}}",
            quoted(name.as_bytes()),
            quoted(about.as_bytes()),
            properties.join(",")
        )
    }
}
