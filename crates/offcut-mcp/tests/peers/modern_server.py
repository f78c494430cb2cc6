"""A server of version 2026-07-28 with small and large results, made with the official Python package."""
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


server.run("stdio")
