"""MCP: bounds the results of tool calls, in a client or in a server.

    session = bound_session(session)             # every call_tool from now on
    bound_result(result, tool="search")          # one result

On a server, `@offcut.tool` under `@server.tool()` bounds what the function returns.
"""

from __future__ import annotations

import functools
from typing import Any

from ._truncator import Truncator

#: Names of the field for structured content; they depend on the version of the SDK.
STRUCTURES = ("structuredContent", "structured_content")


def bound_result(result: Any, tool: str | None = None, truncator: Truncator | None = None) -> Any:
    """Bound the text and the structured content of a `CallToolResult`."""
    used = truncator or Truncator()
    bounded = used.result(result, tool, shape="mcp")
    return _with_structure(bounded, used.bound(_structure(bounded), tool))


def bound_session(session: Any, truncator: Truncator | None = None) -> Any:
    """Bound the tool results of a session or client, and return it."""
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


def _with_structure(result: Any, bounded: Any) -> Any:
    """Put the bounded structure back; one that became text is wrapped in an object.

    Structured content often repeats the text, so it has to be bounded too.
    """
    if bounded is _structure(result):
        return result
    field = next(field for field in STRUCTURES if hasattr(result, field))
    return result.model_copy(update={field: bounded if isinstance(bounded, dict) else {"offcut": bounded}})
