//! `offcut mcp`.

use super::Cut;
use clap::{ArgGroup, Args, Subcommand};
use offcut::limits::parse_size;
use std::ffi::OsString;

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Stand between an MCP client and a server, and bound what its tools return
    ///
    /// The client starts this instead of the server and speaks to it on standard input and output. Every message passes
    /// as the bytes it came in, but a result over the limits: that is kept whole and shown as a preview. One tool more,
    /// `offcut_read`, gets any part of it back, and so does the resource `offcut://ID`.
    #[command(after_help = "Examples:
  offcut mcp proxy -- npx -y @modelcontextprotocol/server-filesystem .
  offcut mcp proxy --name github --max-bytes 20k -- github-mcp-server stdio
  offcut mcp proxy --url https://example.com/mcp --header 'Authorization: Bearer ...'")]
    Proxy(Box<Proxy>),
    /// Be an MCP server that reads, searches and lists what was kept
    #[command(after_help = "Example:
  claude mcp add offcut -- offcut mcp serve")]
    Serve(Serve),
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("server").required(true).args(["url", "command"]))]
pub(crate) struct Proxy {
    #[command(flatten)]
    pub(crate) cut: Cut,
    /// The server's name in the configuration: `[tools.mcp__NAME]` and `[tools.mcp__NAME__TOOL]`
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub(crate) name: Option<String>,
    /// The address of a Streamable HTTP server, instead of a command
    #[arg(long, value_name = "URL", help_heading = "Server")]
    pub(crate) url: Option<String>,
    /// A header for every request to it, `Name: value`; may be given several times
    #[arg(long, value_name = "HEADER", requires = "url", help_heading = "Server")]
    pub(crate) header: Vec<String>,
    /// The largest message that is held
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256MiB", help_heading = "Server")]
    pub(crate) largest_message: u64,
    /// The command that starts the server
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Show only what was kept under this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}
