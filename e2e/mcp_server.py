#!/usr/bin/env python3
"""A stdio MCP server with one tool, `report`, whose result has 500 KB of text and one line that matters."""

import json
import sys

TOOL = {"name": "report", "description": "a long report", "inputSchema": {"type": "object", "properties": {}}}


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
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": report()}]}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
