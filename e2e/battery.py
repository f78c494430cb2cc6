"""The calls that the scripted model makes, and the expectations about what the agent sends back."""

import json
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from agents import READ_ONLY, REWRITE, SANDBOX, WITH, WITHOUT
from mcp_server import report
from session import Session

HERE = Path(__file__).resolve().parent
NOTICE = re.compile(r"\[offcut ([0-9a-z]{10}): ")

# Name, command line, text that the preview must contain, exit code.
LINES = [
    ("seq 1 100000", "seq 1 100000", "\n100000\n", 0),
    (
        "error in the middle, exit 3",
        "seq 1 50000; echo 'error: NEEDLE_IN_THE_MIDDLE' >&2; seq 50001 100000; exit 3",
        "error: NEEDLE_IN_THE_MIDDLE", 3,
    ),
    ("one line of 1 MB", "head -c 1000000 /dev/zero | tr '\\0' a", "aaaaaaaa", 0),
    ("wide characters", "seq 20000 | sed 's/.*/日本語🚀 ok/'", "日本語🚀 ok", 0),
    ("binary, 100 kB", "cat noise.bin", "binary", 0),
    ("5,000 coloured lines", "awk 'BEGIN { for (i = 1; i <= 5000; i++) printf \"\\033[31mred %d\\033[0m\\n\", i }'", "red 5000", 0),
]
PRINTED = [name for name, *_ in LINES]
BINARY = LINES[4][0]
FAILING, FAILING_LINE = LINES[1][0], LINES[1][1]
RESULT, ERROR = "MCP result of 476 kB", "MCP error of 476 kB"
PROXIED, PROXIED_ERROR = "MCP result through the proxy", "MCP error through the proxy"
# A line of the MCP server's report that a preview does not show.
SEARCHED_LINE = 4000


@dataclass
class Step:
    """One call by the model, and the check of its result. A call can depend on earlier results."""

    name: str
    call: dict | Callable
    judge: Callable


def size(text):
    """Return the size in bytes, also of text with half a surrogate pair at a cut."""
    return len(text.encode("utf-8", "surrogatepass"))


def id_in(text):
    found = NOTICE.search(text or "")
    return found.group(1) if found else "none"


class Battery(Session):
    """One turn with all calls."""

    def __init__(self, agent, way, options):
        super().__init__(agent, way, options)
        self.rows = {}
        self.results = {}
        self.gets_text_only = way == WITH and not agent.passes_bytes

    def run(self):
        with self:
            (self.work / "noise.bin").write_bytes(random.Random(1).randbytes(100_000))
            self.play()
        return self

    def steps(self):
        if self.way != WITHOUT and not self.agent.has_init:
            yield from self.proxy_steps()
            return
        for name, line, needle, code in LINES:
            # As text, bytes are lost, and nobody can see that there were some.
            judge = self.measures if self.gets_text_only and name == BINARY else self.expects_preview
            yield Step(name, {"cmd": line}, judge(lambda line=line: self.printed(line), needle, code))
        if self.way == READ_ONLY:
            return
        if self.way in (REWRITE, SANDBOX) or not self.agent.has_mcp:
            yield from self.last_steps() if self.way != WITHOUT else []
            return
        measures_report = self.measures(lambda: report().encode(), "NEEDLE_OF_THE_REPORT")
        judge = self.expects_report() if self.agent.bounds_mcp_results else measures_report
        yield Step(RESULT, {"tool": "report"}, judge)
        judge = self.expects_report() if self.agent.bounds_mcp_errors else measures_report
        yield Step(ERROR, {"tool": "failure"}, judge)
        if self.way == WITHOUT:
            return
        yield Step("`bash -c` in an MCP server", {"tool": "count"}, self.expects_full_output)
        yield from self.proxy_steps()
        yield from self.last_steps()

    def proxy_steps(self):
        yield Step(PROXIED, {"tool": "audit"}, self.expects_report())
        yield Step(PROXIED_ERROR, {"tool": "fault"}, self.expects_report())
        yield Step("command in the proxy's notice", self.read_by_tool, self.expects_lines(self.read_by_tool))
        if self.agent.takes_long_results:
            yield Step("larger page with `offcut_read`", self.read_more, self.expects_lines(self.read_more))

    def last_steps(self):
        yield Step("command in the notice", self.read_by_hint, self.expects_lines(self.read_by_hint))
        if self.agent.has_tool:
            yield Step("the plugin's `offcut` tool", self.search, self.expects_match)
        if self.agent.denies_touch:
            yield Step("command that a rule denies", {"cmd": "touch forbidden.txt"}, self.expects_denial)

    def play(self):
        steps = list(self.steps())
        names = [step.name for step in steps]

        def bind(call):
            return lambda results: call(dict(zip(names, results)))

        self.set_up([bind(step.call) if callable(step.call) else step.call for step in steps], self.servers())
        self.turn()
        self.results = {step.name: self.model.results.get(number) for number, step in enumerate(steps)}
        for step in steps:
            text = self.results[step.name]
            if text is None:
                self.rows[step.name] = ("nothing", "-", "-", "-")
                self.check(False, f"{step.name}: no result was sent to the model")
            else:
                self.rows[step.name] = (f"{size(text):,}", *step.judge(step.name, text))
        if self.way == SANDBOX:
            self.expect_moved()

    def servers(self):
        """Return the same server twice: direct, and through the proxy."""
        script = [sys.executable, str(HERE / "mcp_server.py")]
        direct = {"command": script[0], "args": [script[1], "report", "failure", "count"]}
        proxied = {"command": self.options.offcut, "args": ["mcp", "proxy", "--", *script, "audit", "fault"]}
        return {"long": direct} if self.way == WITHOUT else {"long": direct, "behind": proxied}

    def printed(self, line):
        """Return what the command line prints without an agent."""
        return subprocess.run(
            ["bash", "-c", line], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ).stdout

    # Calls by the model.

    def read_by_hint(self, results):
        """Run the command that the notice of the failed command suggests."""
        found = re.search(r"more: (.*? read [^\],\n]*)[\],]", results.get(FAILING) or "")
        return {"cmd": found.group(1) if found else "echo no hint"}

    def read_by_tool(self, results):
        """Make the call that the notice of the proxy's result suggests. The notice may be inside JSON."""
        text = (results.get(PROXIED) or "").replace('\\"', '"')
        found = re.search(r"more: (offcut_read) (\{.*?\})", text)
        arguments = json.loads(found.group(2)) if found else {}
        # If only repetitions are missing, a search is suggested.
        if arguments.get("pattern") == "PATTERN":
            arguments["pattern"] = f"{SEARCHED_LINE:06d} "
        return {"tool": "offcut_read", "args": arguments}

    def read_more(self, results):
        """Request more than the limits allow: a requested page must not be shortened."""
        arguments = {"id": id_in(results.get(PROXIED)), "lines": "4401:4700", "max_bytes": 40000}
        return {"tool": "offcut_read", "args": arguments}

    def search(self, results):
        """Search for the key line with the plugin's tool."""
        return {"tool": "offcut", "args": {"id": id_in(results.get(FAILING)), "lines": "", "pattern": "NEEDLE"}}

    # Expectations about the results.

    def measures(self, original, needle, code=0):
        def judge(name, text):
            return "yes" if needle in text else "**no**", self.kept(text, original()), "-"

        return judge

    def expects_preview(self, original, needle, code):
        def judge(name, text):
            is_reported = re.search(rf"(?i)code:? {code}\b|: exit {code} after", text)
            status = "-" if not code else "reported" if is_reported else "**lost**"
            shown, kept, _ = self.measures(original, needle)(name, text)
            if self.way == WITHOUT:
                return shown, kept, status
            if self.way == READ_ONLY:
                self.check("[offcut: " in text and "not stored: " in text, f"{name}: no offcut notice: {text[:400]!r}")
                kept = "says no"
            else:
                self.check(id_in(text) != "none", f"{name}: no offcut notice: {text[:200]!r}")
                is_exact = kept == "yes" or (self.gets_text_only and name in PRINTED)
                self.check(is_exact, f"{name}: the stored output differs from what was printed")
            self.check(len(set(NOTICE.findall(text))) <= 1, f"{name}: shortened twice: {NOTICE.findall(text)}")
            # 600 bytes for the text that the agent adds around the result. Gemini CLI quotes the result of a failed tool as
            # JSON in JSON; the backslashes are its own.
            most = self.agent.most_bytes * (self.agent.copies_of_error if name == PROXIED_ERROR else 1) + 600
            self.check(size(text.replace("\\", "")) <= most, f"{name}: {size(text)} bytes were sent")
            self.check(len(text) < (self.agent.most_chars or len(text) + 1), f"{name}: the agent cut {len(text)} characters")
            self.check(shown == "yes", f"{name}: {needle!r} is not shown")
            self.check(status != "**lost**", f"{name}: the exit code is not reported")
            return shown, kept, status

        return judge

    def expects_report(self):
        """Expect a preview of the MCP server's report."""
        return self.expects_preview(lambda: report().encode(), "NEEDLE_OF_THE_REPORT", 0)

    def kept(self, text, original):
        """Return whether the file named in the result contains everything that was printed."""
        if self.way != WITHOUT and id_in(text) != "none":
            return "yes" if self.offcut("cat", id_in(text)) == original else "**no**"
        places = [place for place in (str(self.home), self.agent.spill) if place]
        for path in re.findall(r"/[^\s\"'<>:]+", text):
            if any(place in path for place in places) and len(path) < 1000 and Path(path.rstrip(".]")).is_file():
                saved = Path(path.rstrip(".]")).read_bytes()
                return "yes" if original.rstrip() in saved else f"**{len(saved):,} of {len(original):,} bytes**"
        return "**no**" if size(text) < len(original) else "all sent"

    def expect_moved(self):
        """Expect that the calls outside the sandbox have moved every output to the store."""
        metadata = self.home / ".local/share/offcut/.offcut"
        ids = [id_in(self.results[name]) for name, *_ in LINES]
        deadline = time.time() + 20
        while missing := [id for id in ids if not list(metadata.glob(f"{id}*.json"))]:
            if time.time() > deadline:
                return self.check(False, f"not moved to the store: {missing}")
            time.sleep(0.05)
        for name, line, *_ in LINES:
            kept = self.kept(self.results[name], self.printed(line))
            self.check(kept == "yes", f"{name}: the moved output differs from what was printed")

    def expects_lines(self, call):
        """Expect the requested lines in the result."""

        def judge(name, text):
            asked = json.dumps(call(self.results))
            wanted = re.search(r"(?:--lines |\"lines\": \")(\d+):(\d+)", asked)
            first, last = (int(wanted[1]), int(wanted[2])) if wanted else (SEARCHED_LINE, SEARCHED_LINE)
            self.check(wanted or "pattern" in asked, f"{name}: requests no lines: {asked}")
            whole = report() if "offcut_read" in asked else self.printed(FAILING_LINE).decode()
            lines = whole.splitlines()[first - 1:last]
            if self.agent.most_chars:
                # The page is smaller than the range, and the agent must not cut it.
                lines = lines[:self.agent.most_chars // 2 // len(lines[0])]
                self.check(len(text) < self.agent.most_chars, f"{name}: the agent cut {len(text)} characters")
            is_whole = "\n".join(lines) in text or json.dumps("\n".join(lines))[1:-1] in text
            self.check(is_whole, f"{name}: {asked} returned other lines: {text[:300]!r}")
            return "yes" if is_whole else "**no**", "-", "-"

        return judge

    def expects_match(self, name, text):
        is_found = "50001:error: NEEDLE_IN_THE_MIDDLE" in text
        self.check(is_found, f"{name}: the line was not found: {text[:300]!r}")
        return "yes" if is_found else "**no**", "-", "-"

    def expects_full_output(self, name, text):
        """Expect that a program beside the agent's command lines gets what its own command line prints."""
        is_whole = "100000 lines" in text
        self.check(is_whole, f"{name}: {text[:300]!r}")
        return "yes" if is_whole else "**no**", "-", "-"

    def expects_denial(self, name, text):
        """Expect that the user's deny rule still applies."""
        is_denied = not (self.work / "forbidden.txt").exists() and re.search("(?i)denied|permission|prevents|rejected", text)
        self.check(is_denied, f"{name}: the deny rule did not apply: {text[:300]!r}")
        return "denied" if is_denied else "**no**", "-", "-"
