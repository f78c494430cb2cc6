"""MCP: results of tool calls bounded, on the side of the client or of the server.

    session = bound_session(session)             # every call_tool from now on
    bound_result(result, tool="search")          # one result

On a server, `@offcut.tool` under `@server.tool()` bounds what the function returns.
"""

from __future__ import annotations

import functools
from typing import Any

from ._truncator import Truncator

#: The field of a result's structure: its name depends on the version.
STRUCTURES = ("structuredContent", "structured_content")


def bound_result(result: Any, tool: str | None = None, truncator: Truncator | None = None) -> Any:
    """A `CallToolResult` with its text and its structure bounded."""
    used = truncator or Truncator()
    bounded = used.result(result, tool, shape="mcp")
    return _with_structure(bounded, used.bound(_structure(bounded), tool))


def bound_session(session: Any, truncator: Truncator | None = None) -> Any:
    """The same session, or client, whose tool results are bounded."""
    used = truncator or Truncator()
    call_tool = session.call_tool

    @functools.wraps(call_tool)
    async def bounded(name: str, *arguments: Any, **keywords: Any) -> Any:
        result = await call_tool(name, *arguments, **keywords)
        # Other answers, such as a request for input, have no content.
        if not hasattr(result, "content"):
            return result
        bounded = await used.aresult(result, name, shape="mcp")
        return _with_structure(bounded, await used.abound(_structure(bounded), name))

    session.call_tool = bounded
    return session


def _structure(result: Any) -> Any:
    return next((getattr(result, field) for field in STRUCTURES if hasattr(result, field)), None)


def _with_structure(result: Any, told: Any) -> Any:
    """Often a structure says again what the text says; one that is too long is text, in a structure of our own."""
    if told is _structure(result):
        return result
    field = next(field for field in STRUCTURES if hasattr(result, field))
    return result.model_copy(update={field: told if isinstance(told, dict) else {"offcut": told}})
