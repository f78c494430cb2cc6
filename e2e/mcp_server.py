#!/usr/bin/env python3
"""A stdio MCP server with tools that are named by its arguments. The first two return 500 KB of text with one key line: one as
a result, one as an error. The third counts the lines that a command line of its own prints."""

import json
import subprocess
import sys

NAMES = sys.argv[1:4]


def report():
    lines = [f"{number:06d} the service answered in {number % 97} ms, nothing to see" for number in range(1, 9001)]
    lines[4500] = "error: NEEDLE_OF_THE_REPORT: the service did not answer"
    return "\n".join(lines) + "\n"


def counted():
    printed = subprocess.check_output(["bash", "-c", "seq 1 100000"], stdin=subprocess.DEVNULL)
    return f"{len(printed.splitlines())} lines"


def answer(method, parameters):
    if method == "initialize":
        version = parameters.get("protocolVersion", "2025-06-18")
        info = {"name": "long", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        schema = {"type": "object", "properties": {}}
        return {"tools": [{"name": name, "description": "a long report", "inputSchema": schema} for name in NAMES]}
    if method == "tools/call":
        number = NAMES.index(parameters["name"])
        text = counted() if number == 2 else report()
        return {"content": [{"type": "text", "text": text}], "isError": number == 1}
    return {} if method == "ping" else None


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            error = {"error": {"code": -32601, "message": "Method not found"}}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **(error if result is None else {"result": result})}), flush=True)


if __name__ == "__main__":
    main()
