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


def test_mcp_server_returns_typed_results_that_match_their_schema(log):
    from dataclasses import dataclass
    from typing import Annotated, TypedDict

    import pydantic
    from mcp import Client
    from mcp.server.mcpserver import MCPServer

    class Row(pydantic.BaseModel):
        name: str
        number: int

    class Table(pydantic.BaseModel):
        title: str
        rows: Annotated[list[Row], pydantic.Field(min_length=1)]

    class Pair(TypedDict):
        text: str
        more: list[str]

    @dataclass
    class Note:
        text: str

    lines = log.splitlines()
    rows = [Row(name=line, number=number) for number, line in enumerate(lines)]
    server = MCPServer("test")
    bound = offcut.Truncator().tool

    @server.tool()
    @bound
    def strings() -> list[str]:
        return lines

    @server.tool()
    @bound
    async def table() -> Table:
        return Table(title=log, rows=rows)

    @server.tool()
    @bound
    def models() -> list[Row]:
        return rows

    @server.tool()
    @bound
    def mapping() -> dict[str, str]:
        return {"a": log, "b": "small"}

    @server.tool()
    @bound
    def typed() -> Pair:
        return {"text": log, "more": lines}

    @server.tool()
    @bound
    def note() -> Note:
        return Note(log)

    @server.tool()
    @bound
    def small() -> Table:
        return Table(title="x", rows=rows[:1])

    async def use():
        async with Client(server) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            return tools, {name: await client.call_tool(name, {}) for name in tools}

    tools, results = asyncio.run(use())
    for name, result in results.items():
        assert not result.is_error, result.content[0].text[:500]
        shown = sum(len(part.text) for part in result.content)
        assert tools[name].output_schema and shown <= 9500, (name, shown)
        assert len(json.dumps(result.structured_content)) <= 9500
    assert results["small"].structured_content == {"title": "x", "rows": [{"name": "line 0", "number": 0}]}
    # The end of a list of strings says where all of it is; so do strings that are cut.
    stored = {entry.tool: offcut.Store().cat(entry.id).decode() for entry in offcut.Store().list()}
    assert set(stored) == set(results) - {"small"} and "line 19999" in stored["strings"]
    assert results["strings"].structured_content["result"][-1].startswith("[offcut ")
    assert "bytes not shown]" in results["table"].structured_content["title"]


def test_mcp_server_bounds_the_message_of_an_exception(log):
    from mcp import Client
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError

    server = MCPServer("test")

    @server.tool()
    @offcut.tool
    def failing() -> list[str]:
        raise ToolError(log)

    async def use():
        async with Client(server) as client:
            return await client.call_tool("failing", {})

    result = asyncio.run(use())
    assert result.is_error and len(result.content[0].text) < 10_000 and "line 19999" in result.content[0].text
    assert offcut.Store().cat() == log.encode()


@pytest.mark.parametrize("module", ["langchain", "openai_agents", "mcp", "klaude"])
def test_adapters_are_not_imported_by_offcut(module):
    import subprocess
    import sys

    code = "import offcut, sys; assert not {'langchain', 'agents', 'mcp'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert __import__(f"offcut.{module}")
