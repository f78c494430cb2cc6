#!/usr/bin/env python3
"""A stdio MCP server with two tools, named by its arguments. Both return 500 KB of text with one key line: the first as
a result, the second as an error."""

import json
import sys

NAMES = sys.argv[1:3]


def report():
    lines = [f"{number:06d} the service answered in {number % 97} ms, nothing to see" for number in range(1, 9001)]
    lines[4500] = "error: NEEDLE_OF_THE_REPORT: the service did not answer"
    return "\n".join(lines) + "\n"


def answer(method, parameters):
    if method == "initialize":
        version = parameters.get("protocolVersion", "2025-06-18")
        info = {"name": "long", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        return {"tools": [{"name": name, "description": "a long report", "inputSchema": schema} for name in NAMES]}
    if method == "tools/call":
        is_error = NAMES.index(parameters["name"]) == 1
        return {"content": [{"type": "text", "text": report()}], "isError": is_error}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
