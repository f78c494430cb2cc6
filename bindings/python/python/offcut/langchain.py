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
        """Bounds what a tool returned."""
        result = handler(request)
        messages = _messages(result)
        for message in messages:
            if isinstance(message.content, str):
                message.content = self.truncator.bound(message.content, **_call(request, message))
            else:
                told = self.truncator.result(_as_chat(message), **_call(request, message))
                message.content = told["content"]
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for asynchronous agents."""
        result = await handler(request)
        for message in _messages(result):
            if isinstance(message.content, str):
                message.content = await self.truncator.abound(message.content, **_call(request, message))
            else:
                told = await self.truncator.aresult(_as_chat(message), **_call(request, message))
                message.content = told["content"]
        return result


def _messages(result: Any) -> list[ToolMessage]:
    """The tool messages in what a handler returned: one, or those in a command's update."""
    if isinstance(result, ToolMessage):
        return [result]
    update = getattr(result, "update", None)
    messages = update.get("messages", []) if isinstance(update, dict) else []
    return [message for message in messages if isinstance(message, ToolMessage)]


def _call(request: Any, message: ToolMessage) -> dict[str, Any]:
    call = request.tool_call
    return {"tool": call.get("name") or message.name, "call_id": message.tool_call_id}


def _as_chat(message: ToolMessage) -> dict[str, Any]:
    return {"role": "tool", "content": message.content}
