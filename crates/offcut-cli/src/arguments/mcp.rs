//! Arguments of `offcut mcp`.

use super::Cut;
use clap::{ArgGroup, Args, Subcommand};
use offcut::limits::parse_size;
use std::ffi::OsString;

#[derive(Debug, Subcommand)]
pub(crate) enum Mcp {
    /// Forward messages between an MCP client and a server, and shorten long tool results
    ///
    /// The client starts this command instead of the server and talks to it on standard input and output. Messages
    /// pass through unchanged, except for tool results over the limits: these are stored, and the client gets a
    /// preview. The tool `offcut_read` and the resource `offcut://ID` return any part of the full result.
    #[command(after_help = "Examples:
  offcut mcp proxy npx -y @modelcontextprotocol/server-filesystem .
  offcut mcp proxy --name github --max-bytes 20k github-mcp-server stdio
  offcut mcp proxy --url https://example.com/mcp --header @headers.txt
  offcut mcp proxy --url https://example.com/mcp --header-env Authorization=MCP_AUTHORIZATION")]
    Proxy(Box<Proxy>),
    /// Start an MCP server that reads, searches and lists stored outputs
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
    /// Connect to a Streamable HTTP server at this URL instead of starting a command
    #[arg(long, value_name = "URL", help_heading = "Server")]
    pub(crate) url: Option<String>,
    /// Send this header with every request, as `Name: value`; can be given more than once
    ///
    /// Other users can see the arguments of a process. `@FILE` reads headers from a file, one per line.
    #[arg(long, value_name = "HEADER|@FILE", requires = "url", help_heading = "Server")]
    pub(crate) header: Vec<String>,
    /// Send this header with the value of an environment variable, for example `Bearer ...`
    #[arg(long, value_name = "NAME=VARIABLE", requires = "url", help_heading = "Server")]
    pub(crate) header_env: Vec<String>,
    /// Answer messages larger than this with an error
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256MiB", help_heading = "Server")]
    pub(crate) largest_message: u64,
    /// The server command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Give access to the outputs of this session only
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}
