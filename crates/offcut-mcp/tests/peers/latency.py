"""The time of a small call, without the proxy and through it, taken in turns. Usage: latency.py OFFCUT CALLS"""
import json, statistics, subprocess, sys, time

offcut, calls = sys.argv[1], int(sys.argv[2])
SERVER = """
import sys
for number, line in enumerate(sys.stdin):
    sys.stdout.write(ANSWER % number)
    sys.stdout.flush()
"""
text = "a small answer of some words\n" * 10
ANSWER = '{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": ' + json.dumps(text) + "}]}}\n"
CALL = '{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "x", "arguments": {"a": 1}}}\n'
server = [sys.executable, "-c", f"ANSWER = {ANSWER!r}\n{SERVER}"]


def start(command):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def ask(process, number):
    call, answer = (CALL % number).encode(), (ANSWER % number).encode()
    begun = time.perf_counter()
    process.stdin.write(call)
    process.stdin.flush()
    got = process.stdout.readline()
    taken = (time.perf_counter() - begun) * 1000
    assert got == answer, got
    return taken


direct, proxied = start(server), start([offcut, "mcp", "proxy", "--", *server])
times = {"direct": [], "proxied": []}
for index in range(calls + 100):
    for name, process in (("direct", direct), ("proxied", proxied)):
        taken = ask(process, index)
        if index >= 100:
            times[name].append(taken)
for process in (direct, proxied):
    process.stdin.close()
    process.wait()
medians = {name: statistics.median(taken) for name, taken in times.items()}
added = medians["proxied"] - medians["direct"]
print(f"{calls} calls each, medians: direct {medians['direct']:.3f} ms, proxied {medians['proxied']:.3f} ms: {added:.3f} ms added (at most 0.3)")
