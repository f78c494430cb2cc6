"""A server of version 2026-07-28 with small and large results, made with the official Python package.

Usage: modern_server.py [PORT]
With a port it is on Streamable HTTP, otherwise on standard input and output.
"""
import sys
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("modern")
LINES = [f"line {number} of a large result" for number in range(20_000)]


@server.tool()
def echo(message: str) -> str:
    return message


@server.tool(structured_output=False)
def large_text() -> str:
    return "\n".join(LINES)


@server.tool()
def large_structure() -> dict[str, list[str]]:
    return {"lines": LINES}


@server.tool()
def large_error() -> str:
    raise ToolError("\n".join(LINES))


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
