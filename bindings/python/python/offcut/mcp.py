"""MCP: results of tool calls bounded, on the side of the client or of the server.

    session = bound_session(session)             # every call_tool from now on
    bound_result(result, tool="search")          # one result

On a server, `@offcut.tool` under `@server.tool()` bounds what the function returns.
"""

from __future__ import annotations

import functools
from typing import Any

from ._truncator import Truncator


def bound_result(result: Any, tool: str | None = None, truncator: Truncator | None = None) -> Any:
    """A `CallToolResult` with its text bounded."""
    return (truncator or Truncator()).result(result, tool, shape="mcp")


def bound_session(session: Any, truncator: Truncator | None = None) -> Any:
    """The same session, or client, whose tool results are bounded."""
    used = truncator or Truncator()
    call_tool = session.call_tool

    @functools.wraps(call_tool)
    async def bounded(name: str, *arguments: Any, **keywords: Any) -> Any:
        result = await call_tool(name, *arguments, **keywords)
        # Other answers, such as a request for input, have no content.
        return await used.aresult(result, name, shape="mcp") if hasattr(result, "content") else result

    session.call_tool = bounded
    return session
