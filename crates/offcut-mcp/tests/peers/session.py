"""One session of the official Python client: everything that a plan names, printed one answer a line.

Usage: session.py PLAN DIR direct|proxied COMMAND ARGS...
"""
import asyncio, json, re, sys
from mcp import ClientSession, StdioServerParameters, stdio_client, types

plan_file, directory, mode, command, *arguments = sys.argv[1:]
plan = json.loads(open(plan_file).read().replace("DIR", directory))
LIMIT = 9500


def tell(what, value):
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    line = f"{what} {json.dumps(value, sort_keys=True, default=str)}"
    # Times differ from run to run.
    line = re.sub(r"\d+:\d\d:\d\d( [AP]M)?", "TIME", line)
    line = re.sub(r"\d{4}-\d\d-\d\dT[\d:.A-Z]+", "TIME", line)
    line = re.sub(r"IGNyZWF0ZWQgYXQg[\w+/=]*", "TIME", line)  # " created at ", in base64
    print(re.sub(r"(accessed|modified|created): [^\\]*", r"\1: TIME", line))


def dump(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def texts(result):
    return [part["text"] for part in result["content"] if part["type"] == "text"]


async def main():
    asked = []

    async def sample(_context, params):
        asked.append("sampling")
        content = types.TextContent(type="text", text="said")
        return types.CreateMessageResult(model="m", role="assistant", content=content)

    async def elicit(_context, _params):
        asked.append("elicitation")
        return types.ElicitResult(action="decline")

    async def roots(_context):
        return types.ListRootsResult(roots=[types.Root(uri="file:///tmp", name="tmp")])

    server = StdioServerParameters(command=command, args=arguments, env=None)
    async with stdio_client(server, errlog=open("/dev/null", "w")) as (read, write), ClientSession(
        read, write, sampling_callback=sample, elicitation_callback=elicit, list_roots_callback=roots
    ) as session:

        async def attempt(what, action):
            try:
                tell(what, await action)
            except Exception as error:
                tell(what, {"error": str(error)})

        async def whole(id):
            text, following = "", {"id": id}
            while following:
                page = texts(dump(await session.call_tool("offcut_read", following)))
                text += page[0]
                hint = re.search(r"more: offcut_read (\{.*\})\]", page[1]) if len(page) > 1 else None
                following = hint and json.loads(hint[1])
            resource = dump(await session.read_resource(f"offcut://{id}"))
            assert resource["contents"][0]["text"] == text, "the tool and the resource differ"
            return text

        async def call(name, given):
            result = dump(await session.call_tool(name, given))
            cut = result.get("_meta", {}).get("offcut.dev/cut")
            if cut:
                assert len(json.dumps(result)) < 2.5 * LIMIT, "a bounded result is too large"
                return {"large": await whole(cut["id"]), "isError": result.get("isError")}
            parts = texts(result)
            # Each text is on lines of its own when several are kept together.
            parts = [text + "\n" if text and not text.endswith("\n") else text for text in parts[:-1]] + parts[-1:]
            joined = "".join(parts)
            large = len(joined.encode()) > LIMIT
            return {"large": joined, "isError": result.get("isError")} if large else result

        announced = dump(await session.initialize())
        capabilities = announced["capabilities"]
        if not capabilities.get("resources"):
            capabilities.pop("resources", None)
        tell("initialize", announced)
        listed = dump(await session.list_tools())["tools"]
        tools = [tool for tool in listed if tool["name"] != "offcut_read"]
        assert (mode == "proxied") == (len(listed) > len(tools)), "offcut_read is there without a proxy, or missing"
        tell("tools", tools)
        for name, given in plan["calls"]:
            await attempt(f"call {name}", call(name, given))
        if "prompts" in capabilities:
            tell("prompts", await session.list_prompts())
            for name, given in plan["prompts"]:
                await attempt(f"prompt {name}", session.get_prompt(name, given))
        if "resources" in capabilities:
            resources = dump(await session.list_resources())["resources"]
            tell("resources", resources)
            tell("templates", await session.list_resource_templates())
            for uri in [resource["uri"] for resource in resources] + plan["reads"]:
                await attempt(f"read {uri}", session.read_resource(uri))
        tell("asked", asked)


asyncio.run(main())
