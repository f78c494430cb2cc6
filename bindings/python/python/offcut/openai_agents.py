"""OpenAI Agents SDK: function tools whose output is bounded.

agent = Agent(name="…", tools=bound_tools([my_tool, other_tool]))
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from agents import FunctionTool

from ._truncator import Truncator


def bound_tool(tool: FunctionTool, truncator: Truncator | None = None) -> FunctionTool:
    """Return a copy of the tool whose output is bounded."""
    used = truncator or Truncator()
    bounded = copy.copy(tool)

    async def on_invoke_tool(context: Any, arguments: str) -> Any:
        output = await tool.on_invoke_tool(context, arguments)
        return await _bound(used, output, tool.name, getattr(context, "tool_call_id", None))

    bounded.on_invoke_tool = on_invoke_tool
    return bounded


def bound_tools(tools: Iterable[Any], truncator: Truncator | None = None) -> list[Any]:
    """Return the tools with function tools bounded; other tools stay as they are."""
    used = truncator or Truncator()
    return [bound_tool(tool, used) if isinstance(tool, FunctionTool) else tool for tool in tools]


async def _bound(truncator: Truncator, output: Any, name: str, call_id: str | None) -> Any:
    # One output, or a list of parts; a text part has a field `text`.
    if isinstance(output, (list, tuple)) and any(_text_of(part) is not None for part in output):
        return [await _bound(truncator, part, name, call_id) for part in output]
    text = _text_of(output)
    if text is not None:
        content = (await truncator.acut(text, name, call_id=call_id)).content
        return output if content is text else _with_text(output, content)
    if isinstance(output, str):
        return (await truncator.acut(output, name, call_id=call_id)).content
    if output is None or hasattr(output, "type") or (isinstance(output, dict) and "type" in output):
        return output
    # For anything else, the SDK shows `str(output)` to the model.
    cut = await truncator.acut(str(output), name, call_id=call_id)
    return cut.content if cut.truncated else output


def _text_of(part: Any) -> str | None:
    if isinstance(part, dict):
        return part.get("text") if part.get("type") == "text" else None
    return getattr(part, "text", None) if getattr(part, "type", None) == "text" else None


def _with_text(part: Any, text: str) -> Any:
    return {**part, "text": text} if isinstance(part, dict) else part.model_copy(update={"text": text})
