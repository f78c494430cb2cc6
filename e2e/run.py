#!/usr/bin/env python3
"""Real agents, a scripted model, and commands that print too much: with offcut and without.

    run.py [--without] [--offcut PROGRAM] [--packages DIR] [--keep DIR] [AGENT...]

With offcut every expectation is checked; without it the same battery is only measured. What the agent sent to the
model is printed as one row for each command, the rows that stand in docs/agents.md.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agents import AGENTS
from mcp_server import report
from model import Model

ROOT = Path(__file__).resolve().parent.parent
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NOTICE = re.compile(r"\[offcut ([0-9a-z]{16}): ")
MOST_BYTES = 9500

# Name, line, what must be shown, exit code.
LINES = [
    ("seq 1 100000", "seq 1 100000", "\n100000\n", 0),
    (
        "error in the middle, exit 3",
        "seq 1 50000; echo 'error: NEEDLE_IN_THE_MIDDLE' >&2; seq 50001 100000; exit 3",
        "error: NEEDLE_IN_THE_MIDDLE", 3,
    ),
    ("one line of 1 MB", "head -c 1000000 /dev/zero | tr '\\0' a", "aaaaaaaa", 0),
    ("wide characters", "yes '日本語🚀 ok' | head -n 20000", "日本語🚀 ok", 0),
    ("binary, 100 kB", "cat noise.bin", "binary", 0),
    ("5,000 coloured lines", "awk 'BEGIN { for (i = 1; i <= 5000; i++) printf \"\\033[31mred %d\\033[0m\\n\", i }'", "red 5000", 0),
]
MCP = "MCP result of 476 kB"
FAILING = 1


def hint(results):
    """The command that the notice of the failing line offers."""
    found = re.search(r"next: (.*? read [^\]\n]*)\]", results[FAILING])
    return {"cmd": found.group(1) if found else "echo no hint"}


def search(results):
    """The tool that the plugin brings along, asked for the line that matters."""
    found = NOTICE.search(results[FAILING])
    return {"tool": "offcut", "args": {"id": found.group(1) if found else "", "lines": "", "pattern": "NEEDLE"}}


def size(text):
    """Bytes, also of text in which an agent has cut a character in two."""
    return len(text.encode("utf-8", "surrogatepass"))


class Battery:
    """One agent, with offcut or without, in a home of its own."""

    def __init__(self, agent, options):
        self.agent, self.options = agent, options
        self.problems = []
        self.rows = []

    def run(self):
        folder = Path(tempfile.mkdtemp(prefix=f"offcut-{self.agent.name}-"))
        try:
            self.home, self.work = folder / "home", folder / "work"
            self.home.mkdir()
            self.work.mkdir()
            (self.work / "noise.bin").write_bytes(random.Random(1).randbytes(100_000))
            self.turn()
        finally:
            if self.options.keep:
                shutil.copytree(folder, Path(self.options.keep) / self.agent.name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
        return self

    def turn(self):
        script = [{"cmd": line} for _, line, _, _ in LINES] + [{"tool": "report", "args": {}}]
        if not self.options.without:
            script.append(hint)
            script += [search] if self.agent.has_tool else []
            script += [{"cmd": "touch forbidden.txt"}] if self.agent.denies_touch else []
        model = Model(script)
        self.agent.configure(self.home, model.url)
        path = f"{Path(self.options.offcut).parent}:{SYSTEM}"
        if not self.options.without:
            # A login shell starts with the system's path: offcut is found as a user's own programs are.
            (self.home / ".profile").write_text(f'PATH="{Path(self.options.offcut).parent}:$PATH"\n')
            self.offcut("init", self.agent.name)
        program = Path(self.options.packages) / "node_modules/.bin" / self.agent.binary
        started = time.time()
        try:
            ran = self.agent.turn(self.home, self.work, model.url, path, program)
            self.check(ran.returncode == 0, f"ended with {ran.returncode}: {ran.stdout[-500:]}{ran.stderr[-500:]}")
        except subprocess.TimeoutExpired:
            self.check(False, "did not end in time")
        self.seconds = time.time() - started
        model.close()
        self.results = model.results
        for number, (name, line, needle, code) in enumerate(LINES):
            self.judge(number, name, self.printed(line), needle, code)
        self.judge(len(LINES), MCP, report().encode(), "NEEDLE_OF_THE_REPORT", None)
        if self.agent.denies_touch and not self.options.without:
            self.check_rules()
        if not self.options.without:
            self.follow_hint(len(LINES) + 1)
            if self.agent.has_tool:
                found = self.results.get(len(LINES) + 2, "")
                self.check("50001:error: NEEDLE_IN_THE_MIDDLE" in found, f"the tool did not find the line: {found[:300]!r}")
                self.rows.append(("the plugin's tool", f"{size(found):,}", "yes", "-", "-"))

    def check_rules(self):
        """The user's rules see the line as the model wrote it, and still hold."""
        text = self.results.get(max(self.results), "")
        is_made = (self.work / "forbidden.txt").exists()
        self.check(not is_made and re.search("(?i)denied|permission|prevents", text), f"a rule did not hold: {text[:300]!r}")
        self.rows.append(("a line that a rule denies", f"{size(text):,}", "**no**" if is_made else "denied", "-", "-"))

    def offcut(self, *arguments):
        environment = {"HOME": str(self.home), "PATH": SYSTEM, "SHELL": "/bin/bash"}
        return subprocess.run(
            [self.options.offcut, *arguments], env=environment, cwd=self.work, capture_output=True, check=True,
        ).stdout

    def printed(self, line):
        """What the line really prints."""
        return subprocess.run(
            ["bash", "-c", line], cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ).stdout

    def check(self, holds, problem):
        if not holds:
            self.problems.append(problem)

    def judge(self, number, name, original, needle, code):
        text = self.results.get(number)
        if text is None:
            self.rows.append((name, "nothing", "-", "-", "-"))
            return self.check(False, f"{name}: no result was sent")
        is_told = code and re.search(rf"(?i)code:? {code}\b", text)
        status = "-" if not code else "told" if is_told else "**lost**"
        shown = "yes" if needle in text else "**no**"
        kept = self.kept(text, original)
        self.rows.append((name, f"{size(text):,}", shown, kept, status))
        if self.options.without:
            return
        notice = NOTICE.search(text)
        self.check(notice, f"{name}: no notice of ours: {text[:200]!r}")
        # What the agent puts around the result is not ours.
        self.check(size(text) <= MOST_BYTES + 500, f"{name}: {size(text)} bytes were sent")
        self.check(shown == "yes", f"{name}: {needle!r} is not shown")
        self.check(kept == "yes", f"{name}: what is kept is not what was printed")
        self.check(status != "**lost**", f"{name}: the exit status is not told")

    def kept(self, text, original):
        """Whether all that was printed lies where the result says."""
        notice = NOTICE.search(text)
        if notice and not self.options.without:
            return "yes" if self.offcut("cat", notice.group(1)) == original else "**no**"
        for path in re.findall(r"/[^\s\"'<>:]+", text):
            if str(self.home) in path and len(path) < 1000 and Path(path).is_file():
                saved = Path(path).read_bytes()
                return "yes" if original.rstrip() in saved else f"**{len(saved):,} of {len(original):,} bytes**"
        return "**no**" if size(text) < len(original) else "all sent"

    def follow_hint(self, number):
        """The command of the hint, run by the same agent, brings the lines that it names."""
        text = self.results.get(number, "")
        wanted = re.search(r"--lines (\d+):(\d+)", hint(self.results)["cmd"])
        self.check(wanted, f"the hint names no lines: {hint(self.results)}")
        if wanted:
            lines = self.printed(LINES[FAILING][1]).decode().splitlines()[int(wanted[1]) - 1:int(wanted[2])]
            self.check("\n".join(lines) in text, f"the hint did not bring lines {wanted[1]}:{wanted[2]}: {text[:300]!r}")
        self.rows.append(("the hint's command", f"{size(text):,}", "yes" if not self.problems else "-", "-", "-"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("agents", nargs="*")
    parser.add_argument("--without", action="store_true")
    parser.add_argument("--offcut", default=str(ROOT / "target/release/offcut"))
    parser.add_argument("--packages", default=str(ROOT / ".deps/agents"))
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.offcut = str(Path(options.offcut).resolve())
    chosen = [agent for agent in AGENTS if not options.agents or agent.name in options.agents]
    present, missing = [], []
    for agent in chosen:
        installed = os.access(Path(options.packages) / "node_modules/.bin" / agent.binary, os.X_OK)
        (present if installed else missing).append(agent)
    with ThreadPoolExecutor(2) as pool:
        batteries = list(pool.map(lambda agent: Battery(agent, options).run(), present))
    for battery in batteries:
        print(f"\n{battery.agent.name} ({'without' if options.without else 'with'} offcut, {battery.seconds:.0f} s)\n")
        print("| | bytes sent to the model | what matters is shown | kept whole | exit status |\n|---|---|---|---|---|")
        for row in battery.rows:
            print("| " + " | ".join(row) + " |")
        for problem in battery.problems if not options.without else []:
            print(f"FAILED {battery.agent.name}: {problem}")
    for agent in missing:
        print(f"SKIPPED {agent.name}: {agent.package} is not installed")
    return 1 if not options.without and any(battery.problems for battery in batteries) else 0


if __name__ == "__main__":
    sys.exit(main())
