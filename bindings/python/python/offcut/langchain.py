"""LangChain and deepagents: a middleware that bounds what tools return.

    agent = create_agent(model, tools, middleware=[OffcutMiddleware()])
    agent = create_deep_agent(model=model, tools=tools, middleware=[OffcutMiddleware()])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import ToolMessage

from ._truncator import Truncator


class OffcutMiddleware(AgentMiddleware):
    """Bounds the text of every tool message; the options are a `Truncator`'s."""

    def __init__(self, truncator: Truncator | None = None, **options: Any) -> None:
        super().__init__()
        self.truncator = truncator or Truncator(**options)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Bound what a tool returned."""
        result = handler(request)
        for message in _messages(result):
            _put(message, self.truncator.bound(_value(message), **_call(request, message)))
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for asynchronous agents."""
        result = await handler(request)
        for message in _messages(result):
            _put(message, await self.truncator.abound(_value(message), **_call(request, message)))
        return result


def _messages(result: Any) -> list[ToolMessage]:
    """Return the tool messages in a handler's result: one message, or those in a command's update."""
    if isinstance(result, ToolMessage):
        return [result]
    update = getattr(result, "update", None)
    messages = update.get("messages", []) if isinstance(update, dict) else []
    return [message for message in messages if isinstance(message, ToolMessage)]


def _call(request: Any, message: ToolMessage) -> dict[str, Any]:
    call = request.tool_call
    return {"tool": call.get("name") or message.name, "call_id": message.tool_call_id}


def _value(message: ToolMessage) -> str | dict[str, Any]:
    """Return text, or blocks as a result of a known shape."""
    content = message.content
    return content if isinstance(content, str) else {"role": "tool", "content": content}


def _put(message: ToolMessage, bounded: str | dict[str, Any]) -> None:
    message.content = bounded if isinstance(bounded, str) else bounded["content"]
