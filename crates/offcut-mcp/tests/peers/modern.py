"""The official Python client at version 2026-07-28: what the server answers, one line each.

Usage: modern.py direct|proxied|serve COMMAND ARGS...
With `serve` the server is offcut's own, which has one output: the numbers to 20000.
"""
import asyncio, json, re, sys
from mcp import Client, StdioServerParameters

mode, command, *arguments = sys.argv[1:]
LIMIT = 9500


def dump(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def texts(result):
    return [part["text"] for part in result["content"] if part["type"] == "text"]


async def whole(client, id):
    """All of a stored output, by the tool, page after page, and once more by the resource."""
    text, following = "", {"id": id}
    while following:
        page = texts(dump(await client.call_tool("offcut_read", following)))
        text += page[0]
        hint = re.search(r"more: offcut_read (\{.*\})\]", page[1]) if len(page) > 1 else None
        following = hint and json.loads(hint[1])
    resource = dump(await client.read_resource(f"offcut://{id}"))
    assert resource["contents"][0]["text"] == text, "the tool and the resource differ"
    return text


async def compare(client):
    listed = [tool["name"] for tool in dump(await client.list_tools())["tools"]]
    assert ("offcut_read" in listed) == (mode == "proxied"), listed
    print([name for name in listed if name != "offcut_read"])
    for name, given in [("echo", {"message": "hello \u00e9"}), ("large_text", {}), ("large_error", {}), ("nothing", {})]:
        result = dump(await client.call_tool(name, given))
        cut = result.get("_meta", {}).get("offcut.dev/cut")
        assert not cut or len(json.dumps(result)) < 2.5 * LIMIT, "a bounded result is too large"
        shown = await whole(client, cut["id"]) if cut else "".join(texts(result))
        print(name, result["isError"], '"large"' if len(shown) > LIMIT else "", json.dumps(shown))
    result = dump(await client.call_tool("large_structure", {}))
    structure = result["structuredContent"]["lines"]
    assert mode == "direct" or len(json.dumps(structure)) < 2 * LIMIT, "a bounded structure is too large"
    print("large_structure", structure[:10])
    print("resources", dump(await client.list_resources())["resources"])
    await client.list_resource_templates()


async def serve(client):
    listed = [tool["name"] for tool in dump(await client.list_tools())["tools"]]
    assert listed == ["offcut_read", "offcut_search", "offcut_list"], listed
    assert texts(dump(await client.call_tool("offcut_read", {"id": "last", "lines": "2:3"})))[0] == "2\n3\n"
    assert texts(dump(await client.call_tool("offcut_search", {"pattern": "^19999$"})))[0] == "19999:19999\n"
    uri = dump(await client.list_resources())["resources"][0]["uri"]
    numbers = "".join(f"{number}\n" for number in range(1, 20_001))
    assert dump(await client.read_resource(uri))["contents"][0]["text"] == numbers
    assert len(dump(await client.list_resource_templates())["resourceTemplates"]) == 1


async def main():
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        await (serve if mode == "serve" else compare)(client)


asyncio.run(main())
