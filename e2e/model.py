"""A scripted model on loopback, for tests that drive real agents.

It speaks OpenAI Chat Completions and Responses, Anthropic Messages and Gemini generateContent. The script is a list of
steps: `{"cmd": LINE, "args": {...}}` for the agent's shell tool, `{"tool": NAME, "args": {...}}` for any other tool,
`{"script": TEXT}` for Codex's tool that runs JavaScript, or a function that returns a step, given the results so far. The
whole script can be such a function, too; it returns None at the end. The number of tool results in a request decides which
step is next; after the last one, the model answers DONE.
"""

import gzip
import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHELL_TOOLS = ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_commands"]


class Model:
    """Answer requests on a free port until closed."""

    def __init__(self, script):
        self.script = script
        # What the model answers to a prompt, for example as a sub-agent, instead of following the script.
        self.answers = {}
        self.lock = threading.Lock()
        # The first text that the agent sent for each step.
        self.results = {}
        self.requests = []
        # When each step was sent, and how many seconds later its result came.
        self.sent = {}
        self.seconds = {}
        handler = type("Handler", (Handler,), {"model": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def next_call(self, tools, results):
        """Return the name and arguments of the next call, or None at the end of the script."""
        with self.lock:
            for number, text in enumerate(results):
                self.results.setdefault(number, text)
                self.seconds.setdefault(number, time.time() - self.sent.get(number, 0))
            step = self.step([self.results[number] for number in range(len(results))]) if tools else None
            self.sent.setdefault(len(results), time.time())
        if step is None:
            return None
        if "cmd" in step:
            name = next((name for name in SHELL_TOOLS if name in tools), None)
            return name and (name, {**shell_arguments(step["cmd"], tools[name] or {}), **step.get("args", {})})
        if "script" in step:
            return "exec", step["script"]
        # Agents prefix the name of the tool with that of the server.
        wanted = step["tool"]
        names = [name for name in tools if name == wanted or name.endswith(("_" + wanted, "-" + wanted))]
        return (names[0] if names else wanted), step.get("args", {})

    def step(self, results):
        if callable(self.script):
            return self.script(results)
        step = self.script[len(results)] if len(results) < len(self.script) else None
        return step(results) if callable(step) else step


def shell_arguments(line, schema):
    properties = schema.get("properties") or {}
    if "commands" in properties:
        return {"commands": [line]}
    arguments = {"cmd" if "cmd" in properties else "command": line}
    if "yield_time_ms" in properties:
        arguments["yield_time_ms"] = 30000
    fillers = {"string": "runs a command", "boolean": False, "integer": 60000, "number": 60000}
    for key in schema.get("required") or []:
        kind = (properties.get(key) or {}).get("type")
        arguments.setdefault(key, fillers.get(kind, "runs a command"))
    return arguments


def text_of(content):
    """Return the text of a tool result, however the agent wrapped it."""
    if isinstance(content, list):
        return "".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return content["text"] if isinstance(content.get("text"), str) else json.dumps(content, ensure_ascii=False)
    return content or ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply({"object": "list", "data": [], "models": []})

    def do_HEAD(self):
        self.reply({})

    def do_POST(self):
        raw = self.body()
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        with self.model.lock:
            self.model.requests.append((path, body))
        if path.endswith("/chat/completions"):
            self.answer_chat(body)
        elif path.endswith("/responses"):
            self.answer_responses(body)
        elif path.endswith("/messages"):
            self.answer_messages(body)
        elif "enerateContent" in path:
            self.answer_gemini(body, streams="stream" in path)
        elif "ount" in path and "okens" in path:
            self.reply({"input_tokens": 1000, "totalTokens": 1000})
        else:
            self.reply({})

    def body(self):
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        encoding = self.headers.get("content-encoding", "")
        if encoding == "gzip":
            return gzip.decompress(raw)
        if encoding == "zstd":
            return subprocess.run(["zstd", "-dc"], input=raw, capture_output=True).stdout
        return raw

    def reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        """Send server-sent events; an event is a value, or a name and a value."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            name, value = event if isinstance(event, tuple) else (None, event)
            data = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(((f"event: {name}\n" if name else "") + f"data: {data}\n\n").encode())
        self.wfile.flush()

    # OpenAI Chat Completions

    def answer_chat(self, body):
        functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
        tools = {function["name"]: function.get("parameters") for function in functions}
        results = [text_of(m.get("content")) for m in body.get("messages", []) if m.get("role") == "tool"]
        call = self.model.next_call(tools, results)
        message = {"role": "assistant", "content": None if call else "DONE"}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message["tool_calls"] = [
                {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}
            ]
        finish = "tool_calls" if call else "stop"
        base = {"id": "c", "created": 0, "model": body.get("model", "mock")}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.reply({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        base["object"] = "chat.completion.chunk"
        self.stream([
            {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**base, "choices": [], "usage": usage},
            "[DONE]",
        ])

    # OpenAI Responses

    def answer_responses(self, body):
        tools, namespaces = {}, {}
        items = body.get("input") if isinstance(body.get("input"), list) else []
        # Newer models get their tools as an item of the input.
        offered = [tool for item in items if item.get("type") == "additional_tools" for tool in item["tools"]]
        for tool in [*(body.get("tools") or []), *offered]:
            if tool.get("type") == "function":
                tools[tool["name"]] = tool.get("parameters")
            for inner in tool.get("tools") or [] if tool.get("type") == "namespace" else []:
                tools[inner["name"]] = inner.get("parameters")
                namespaces[inner["name"]] = tool["name"]
        outputs = [item for item in items if str(item.get("type")).endswith("_call_output")]
        call = self.model.next_call(tools, [text_of(item.get("output")) for item in outputs])
        if call:
            item = {
                "type": "function_call", "id": f"fc_{len(outputs)}", "call_id": f"call_{len(outputs)}",
                "name": call[0], "arguments": json.dumps(call[1]), "status": "completed",
            }
            if isinstance(call[1], str):
                item = {**item, "type": "custom_tool_call", "input": call[1]}
            if call[0] in namespaces:
                item["namespace"] = namespaces[call[0]]
        else:
            text = {"type": "output_text", "text": "DONE", "annotations": []}
            item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
        usage = {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110,
        }
        response = {
            "id": "r", "object": "response", "created_at": 0, "status": "completed",
            "model": body.get("model", "mock"), "output": [item], "usage": usage,
        }
        if not body.get("stream"):
            return self.reply(response)
        kinds = [
            ("response.created", {"response": {**response, "status": "in_progress", "output": [], "usage": None}}),
            ("response.output_item.added", {"output_index": 0, "item": {**item, "status": "in_progress"}}),
            ("response.output_item.done", {"output_index": 0, "item": item}),
            ("response.completed", {"response": response}),
        ]
        self.stream([(kind, {"type": kind, **rest}) for kind, rest in kinds])

    # Anthropic Messages

    def answer_messages(self, body):
        tools = {tool["name"]: tool.get("input_schema") for tool in body.get("tools") or [] if "name" in tool}
        parts = [part for m in body.get("messages", []) if isinstance(m["content"], list) for part in m["content"]]
        results = [text_of(part.get("content")) for part in parts if part.get("type") == "tool_result"]
        prompt = json.dumps(body.get("messages", [])[:1])
        answer = next((answer for asked, answer in self.model.answers.items() if asked in prompt), None)
        call = None if answer else self.model.next_call(tools, results)
        if call:
            block = {"type": "tool_use", "id": f"toolu_{len(results):04d}", "name": call[0], "input": call[1]}
            start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        else:
            text = answer or "DONE"
            block = {"type": "text", "text": text}
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": text}
        stop = "tool_use" if call else "end_turn"
        usage = {
            "input_tokens": 100, "output_tokens": 10,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        }
        message = {
            "id": f"msg_{len(results):04d}", "type": "message", "role": "assistant", "model": body.get("model"),
            "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage,
        }
        if not body.get("stream"):
            return self.reply(message)
        kinds = [
            ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
            ("content_block_start", {"index": 0, "content_block": start}),
            ("content_block_delta", {"index": 0, "delta": delta}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
            ("message_stop", {}),
        ]
        self.stream([(kind, {"type": kind, **rest}) for kind, rest in kinds])

    # Gemini

    def answer_gemini(self, body, streams):
        tools = {
            function["name"]: function.get("parametersJsonSchema") or function.get("parameters")
            for tool in body.get("tools") or []
            for function in tool.get("functionDeclarations") or []
        }
        parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
        responses = [part["functionResponse"].get("response", {}) for part in parts if "functionResponse" in part]
        results = [r["output"] if isinstance(r.get("output"), str) else json.dumps(r, ensure_ascii=False) for r in responses]
        call = self.model.next_call(tools, results)
        if call:
            part = {
                "functionCall": {"name": call[0], "args": call[1], "id": f"call_{len(results)}"},
                "thoughtSignature": "c2lnCg==",
            }
        elif (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "scripted", "next_speaker": "user", "model_choice": "pro"})}
        else:
            part = {"text": "DONE"}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock"}
        self.stream([answer]) if streams else self.reply(answer)
