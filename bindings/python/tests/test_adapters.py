"""The adapters with the real packages."""

import asyncio
import json

import offcut
import pytest


def langchain_call(log, create, run=lambda agent, state: agent.invoke(state)):
    """Return the message that the model gets for the agent's one tool call."""
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **_):
            return self

    @tool
    def search(query: str) -> str:
        """Searches."""
        return log

    call = {"name": "search", "args": {"query": "x"}, "id": "call_1", "type": "tool_call"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("done")]))
    messages = run(create(model, [search]), {"messages": [("user", "go")]})["messages"]
    return next(message for message in messages if message.type == "tool")


def test_langchain_bounds_and_stores_tool_messages(log):
    from langchain.agents import create_agent
    from offcut.langchain import OffcutMiddleware

    def create(model, tools):
        return create_agent(model, tools, middleware=[OffcutMiddleware()])

    for run in [
        lambda agent, state: agent.invoke(state),
        lambda agent, state: asyncio.run(agent.ainvoke(state)),
    ]:
        shown = langchain_call(log, create, run)
        assert len(shown.content) <= 9500 and shown.tool_call_id == "call_1"
        entry = offcut.Store().get()
        assert (entry.tool, entry.call_id) == ("search", "call_1") and offcut.Store().cat() == log.encode()


def test_deepagents_bounds_tool_messages(log):
    from deepagents import create_deep_agent
    from offcut.langchain import OffcutMiddleware

    def create(model, tools):
        return create_deep_agent(model=model, tools=tools, middleware=[OffcutMiddleware(store=None)])

    shown = langchain_call(log, create)
    assert len(shown.content) <= 9500 and "not stored" in shown.content


def test_langchain_bounds_text_blocks_and_keeps_images(log):
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command
    from offcut.langchain import OffcutMiddleware

    middleware = OffcutMiddleware(store=None)
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    message = ToolMessage([{"type": "text", "text": log}, image], tool_call_id="1")

    class Request:
        tool_call = {"name": "x", "args": {}, "id": "1"}

    result = middleware.wrap_tool_call(Request(), lambda request: Command(update={"messages": [message]}))
    content = result.update["messages"][0].content
    assert len(json.dumps(content)) < 15_000 and content[-1] == image
    # Blocks may be plain strings.
    bare = ToolMessage([log, "end"], tool_call_id="1")
    assert len(json.dumps(middleware.wrap_tool_call(Request(), lambda request: bare).content)) < 15_000


def test_openai_agents_bounds_function_tools(log):
    from agents import Agent, FunctionTool, ToolOutputText, function_tool
    from agents.tool_context import ToolContext
    from offcut.openai_agents import bound_tools

    @function_tool
    def search(query: str) -> str:
        """Searches."""
        return log

    @function_tool
    def rows() -> list[str]:
        """Lists."""
        return log.splitlines()

    @function_tool
    def parts() -> ToolOutputText:
        """Texts."""
        return ToolOutputText(text=log)

    @function_tool
    def small() -> int:
        """Counts."""
        return 5

    tools = bound_tools([search, rows, parts, small])
    agent = Agent(name="x", tools=tools)
    assert all(isinstance(tool, FunctionTool) for tool in agent.tools)

    def call(tool, arguments="{}"):
        context = ToolContext(context=None, tool_name=tool.name, tool_call_id="call_1", tool_arguments=arguments)
        return asyncio.run(tool.on_invoke_tool(context, arguments))

    assert len(call(tools[0], '{"query": "x"}')) <= 9500
    assert (offcut.Store().get().tool, offcut.Store().get().call_id) == ("search", "call_1")
    assert len(call(tools[1])) <= 9500
    assert len(call(tools[2]).text) <= 9500
    assert call(tools[3]) == 5
    assert len(asyncio.run(search.on_invoke_tool(
        ToolContext(context=None, tool_name="search", tool_call_id="1", tool_arguments='{"query": "x"}'), '{"query": "x"}'
    ))) == len(log)


def test_mcp_bounds_text_and_structured_content(log):
    from mcp import Client
    from mcp.server.mcpserver import MCPServer
    from offcut.mcp import bound_result, bound_session

    server = MCPServer("test")

    @server.tool()
    def search(query: str) -> str:
        """Searches."""
        return log

    @server.tool()
    @offcut.tool(store=None)
    def bounded(query: str) -> str:
        """Searches."""
        return log

    async def use():
        async with Client(server) as client:
            raw = await client.call_tool("search", {"query": "x"})
            own = await client.call_tool("bounded", {"query": "x"})
            bound_session(client)
            return raw, own, await client.call_tool("search", {"query": "x"})

    raw, own, shown = asyncio.run(use())
    assert len(raw.content[0].text) == len(log) and len(own.content[0].text) <= 9500
    assert type(shown) is type(raw)
    assert sum(len(part.text) for part in shown.content) <= 9600
    entries = offcut.Store().list()
    assert {entry.tool for entry in entries} == {"search"} and offcut.Store().cat(entries[-1].id) == log.encode()
    once = bound_result(raw, "search", offcut.Truncator(store=None))
    assert sum(len(part.text) for part in once.content) <= 9600
    # The server repeats the text in structured content.
    assert len(raw.model_dump_json()) > 400_000
    assert len(shown.model_dump_json()) < 25_000 and len(once.model_dump_json()) < 25_000


@pytest.mark.parametrize("module", ["langchain", "openai_agents", "mcp", "klaude"])
def test_adapters_are_not_imported_by_offcut(module):
    import subprocess
    import sys

    code = "import offcut, sys; assert not {'langchain', 'agents', 'mcp'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert __import__(f"offcut.{module}")
