"""What works without offcut must work with it: situations from the work with an agent.

A scenario is a generator. It yields calls for the model, gets their results, and returns a `Cell`. It gets the `Turn`, in
which several scenarios run one after the other.
"""

import json
import random
import re
from pathlib import Path
from typing import NamedTuple

from agents import WITHOUT, write
from session import Session

HERE = Path(__file__).resolve().parent


class Cell(NamedTuple):
    """Whether the user got what the scenario is about (None if the agent does not offer it), and what happened."""

    is_good: bool | None
    words: str


def prose(size, seed):
    """Return lines of words, in which no line resembles the one before."""
    source = random.Random(seed)
    words = ["".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(400)]
    lines = [" ".join(source.choices(words, k=source.randint(4, 12))) for _ in range(size // 20)]
    return "\n".join(lines)[:size - 1] + "\n"


TEXT, SHORT, LINES = prose(20_000, 1), prose(9_500, 2), "".join(f"{number}\n" for number in range(1, 1900))
SKILL = "---\nname: long-skill\ndescription: A long skill.\n---\n" + prose(27_000, 3)
SKILL_FOLDERS = {
    "claude": ".claude", "opencode": ".config/opencode", "codex": ".codex", "gemini": ".gemini", "pi": ".pi/agent",
}
# How the agent stops a command after three seconds. Gemini CLI stops it after a silence.
TIMEOUTS = {"claude": {"timeout": 3000}, "opencode": {"timeout": 3000}, "pi": {"timeout": 3}, "gemini": {}}
SECONDS = 24
EVERYDAY = "everyday command lines"
REPORT_PROMPT = "write the long report"
FILES = {
    "text.txt": TEXT, "short.txt": SHORT, "lines.txt": LINES, "big.txt": prose(400_000, 4), "SKILL.md": SKILL,
    "data.json": json.dumps([{"number": number, "name": f"item {number}"} for number in range(8000)]),
    # A build that prints more than any agent passes on, a little every second.
    "build.sh": f"""for step in {{1..{SECONDS}}}; do seq -f "compile %.0f of step $step" 1 300; sleep 1; done
        echo BUILD FINISHED
    """,
    "ticks.sh": "for step in {1..9}; do echo tick $step; sleep 1; done; echo tick end\n",
    "flood.sh": "for step in {1..9}; do echo tick $step; seq 1 5000; sleep 1; done; echo tick end\n",
    "stuck.sh": "echo $$ > server.pid; head -c 3500 short.txt; echo; echo LAST LINE; exec sleep 60\n",
    "server.sh": "echo $$ > server.pid; exec python3 -m http.server 0\n",
    "job.sh": "python3 -m http.server 0 & echo $! > server.pid; wait\n",
    # Claude Code leaves a command that it stops in the background. Another process may have the same number by now.
    "end.sh": 'pid=$(cat server.pid); [ /proc/$pid/cwd -ef . ] && kill $pid && echo ALIVE || echo GONE\n',
}


def words_of(text, wanted):
    """Describe how much of the wanted text arrived."""
    is_whole = wanted.strip() in text or json.dumps(wanted.strip(), ensure_ascii=False)[1:-1] in text
    return Cell(is_whole, "whole" if is_whole else f"{len(text.encode('utf-8', 'surrogatepass')):,} bytes")


class Turn(Session):
    """One turn of an agent, with a few scenarios."""

    def __init__(self, agent, way, options, scenarios):
        super().__init__(agent, way, options)
        self.scenarios, self.cells, self.calls = scenarios, {}, []

    def run(self):
        with self:
            for name, text in FILES.items():
                (self.work / name).write_text(text)
            self.waiting = [(name, scenario(self)) for name, scenario in self.scenarios.items()]
            self.set_up(self.next_call, {})
            write(self.home / SKILL_FOLDERS[self.agent.name] / "skills/long-skill/SKILL.md", SKILL)
            self.turn(timeout=240)
            for name, _ in self.waiting:
                self.cells[name] = Cell(False, "no result")
                self.check(False, f"{name}: no result was sent to the model")
        return self

    def next_call(self, results):
        """Return the call that follows these results, or None. The model may ask for the same call again."""
        while len(self.calls) <= len(results):
            self.calls.append(self.advance(results[len(self.calls) - 1] if self.calls else None))
        return self.calls[len(results)]

    def advance(self, text):
        while self.waiting:
            name, scenario = self.waiting[0]
            try:
                return scenario.send(text)
            except StopIteration as end:
                self.cells[name] = end.value
            except Exception as problem:
                self.cells[name] = Cell(False, repr(problem))
            self.waiting.pop(0)
            text = None
        return None


# Outputs within the agent's own limits.


def whole_file(command, wanted):
    def scenario(turn):
        return words_of((yield {"cmd": command}), wanted)

    return scenario


def script_output(turn):
    """In its newer models, Codex runs scripts that work with the output of commands."""
    command = 'tools.exec_command({cmd: "cat data.json"})'
    text = yield {"script": f"const result = await {command}; text(`${{JSON.parse(result.output).length}} items`)"}
    return Cell("8000 items" in text, "parsed" if "8000 items" in text else "cannot parse it")


def skill(turn):
    """Skills that the agent loads with a tool of its own, or reads like any file."""
    path = turn.home / SKILL_FOLDERS[turn.agent.name] / "skills/long-skill/SKILL.md"
    yield {
        "claude": {"tool": "Skill", "args": {"skill": "long-skill"}},
        "opencode": {"tool": "skill", "args": {"name": "long-skill"}},
        "codex": {"cmd": f"cat {path}"},
        "gemini": {"tool": "activate_skill", "args": {"name": "long-skill"}},
        "pi": {"tool": "read", "args": {"path": str(path)}},
    }[turn.agent.name]
    # Claude Code sends the text of a skill as a message of its own.
    cell = words_of(json.dumps(turn.model.requests[-1][1], ensure_ascii=False), SKILL.split("---\n")[-1])
    return cell if cell.is_good else Cell(False, "cut")


def sub_agent(turn):
    """A sub-agent's report of 80 kB. In the background, it would arrive as a message, which no hook sees."""
    if turn.agent.name != "claude":
        return Cell(None, "not scripted")
    turn.model.answers[REPORT_PROMPT] = prose(80_000, 5) + "END OF REPORT"
    arguments = {"description": "report", "prompt": REPORT_PROMPT, "subagent_type": "general-purpose"}
    text = yield {"tool": "Agent", "args": {**arguments, "run_in_background": False}}
    is_shown = "END OF REPORT" in text
    turn.check(is_shown or turn.way == WITHOUT, f"the report of a sub-agent is cut: {text[:300]!r}")
    return Cell(is_shown, "end shown" if is_shown else "end not shown")


# Commands that take long.


def long_build(turn):
    text = yield {"cmd": "bash build.sh", "args": {"timeout": 120} if turn.agent.name == "pi" else {}}
    return Cell("BUILD FINISHED" in text, "end shown" if "BUILD FINISHED" in text else "end not shown")


def stopped(turn):
    """The agent stops a command after three seconds, or after a silence."""
    if turn.agent.name not in TIMEOUTS:
        return Cell(None, "has no timeout")
    text = yield {"cmd": "bash stuck.sh", "args": TIMEOUTS[turn.agent.name]}
    yield {"cmd": "bash end.sh"}
    shown = words_of(text, SHORT[:3500] + "\nLAST LINE")
    return Cell(True, "its end shown") if not shown.is_good and "LAST LINE" in text else shown


def polls(script):
    """The agent leaves a command in the background and looks at its output twice: after about 3 seconds and at its end."""

    def scenario(turn):
        if turn.agent.name not in BACKGROUND:
            return Cell(None, "has no background commands")
        first, last = yield from BACKGROUND[turn.agent.name](f"bash {script}")
        seen = [(re.findall(r"tick (\w+)", text) or ["none"])[-1] for text in (first, last)]
        hint = " and a hint" if "still running" in first else ""
        return Cell(seen[0] != "none" and seen[1] == "end", f"tick {seen[0]}{hint}, then {seen[1]}")

    return scenario


def background_in_claude(command):
    text = yield {"cmd": command, "args": {"run_in_background": True}}
    path = re.search(r"/\S+\.output", text)[0]
    yield {"cmd": "sleep 3"}
    first = yield {"tool": "Read", "args": {"file_path": path}}
    yield {"cmd": "sleep 9"}
    return first, (yield {"cmd": f"tail -n 40 {path}"})


def background_in_codex(command):
    first = yield {"cmd": command, "args": {"yield_time_ms": 3500}}
    session = int(re.search(r"session ID (\d+)", first)[1])
    return first, (yield {"tool": "write_stdin", "args": {"session_id": session, "yield_time_ms": 12000}})


def background_in_gemini(command):
    text = yield {"cmd": command, "args": {"is_background": True}}
    process = int(re.search(r"PID: (\d+)", text)[1])
    first = yield {"tool": "read_background_output", "args": {"pid": process, "delay_ms": 3000}}
    return first, (yield {"tool": "read_background_output", "args": {"pid": process, "delay_ms": 9000}})


BACKGROUND = {"claude": background_in_claude, "codex": background_in_codex, "gemini": background_in_gemini}


def server(script):
    """A server is running when the agent stops the command."""

    def scenario(turn):
        if turn.agent.name not in TIMEOUTS:
            return Cell(None, "has no timeout")
        yield {"cmd": f"bash {script}", "args": TIMEOUTS[turn.agent.name]}
        text = yield {"cmd": "sleep 1; bash end.sh"}
        return Cell("GONE" in text, "gone" if "GONE" in text else "alive" if "ALIVE" in text else text[:60])

    return scenario


# Reading the rest, and everyday command lines.

# The agent's tool for a part of a file, and the arguments for 100 lines of it.
READ_TOOLS = {
    "claude": ("Read", "file_path", {"offset": 2000, "limit": 100}),
    "opencode": ("read", "filePath", {"offset": 2000, "limit": 100}),
    "gemini": ("read_file", "file_path", {"start_line": 2000, "end_line": 2100}),
    "pi": ("read", "path", {"offset": 2000, "limit": 100}),
}


def hint(turn):
    """Follow the hint in a shortened result, with the agent's default permissions: a command, or else the path of a file."""
    text = yield {"cmd": "cat big.txt"}
    command, path = re.search(r"more: ([^\],\n]+)", text), re.search(r"/[^\s\"'<>:\]]+", text)
    if command:
        text = yield {"cmd": command[1]}
    elif path and turn.agent.name in READ_TOOLS:
        tool, key, lines = READ_TOOLS[turn.agent.name]
        text = yield {"tool": tool, "args": {key: path[0].rstrip("."), **lines}}
    else:
        return Cell(None, "gives no hint")
    is_read = sum(line in text for line in FILES["big.txt"].splitlines()) >= 50
    return Cell(is_read, "followed" if is_read else "refused")


def everyday(turn):
    paragraphs = (HERE / "everyday.txt").read_text().strip().split("\n\n")
    turn.texts = {}
    for line in paragraphs:
        if not line.startswith("#"):
            turn.texts[line] = plain((yield {"cmd": line}), turn)
    return Cell(True, f"{len(turn.texts)} lines")


def plain(text, turn):
    """Remove what differs from run to run."""
    text = text.replace(str(turn.folder), "FOLDER")
    text = re.sub(r"Chunk ID: \w+|Wall time: [\d.]+|PGID: \d+|Original token count: \d+|PIDs?: [\d, ]+", "", text)
    return re.sub(r"line \d+: +\d+ ", "line: ", text).replace("/usr/bin/bash: ", "/bin/bash: ")


LONG = {
    f"a build of {SECONDS} s": long_build,
    "polling a background command": polls("ticks.sh"),
    "polling one with long output": polls("flood.sh"),
}
STOPPED = {
    "command stopped by the agent": stopped,
    "server stopped by the agent": server("server.sh"),
    "server job stopped by the agent": server("job.sh"),
}
SHORT_COMMANDS = {
    "20 kB of text": whole_file("cat text.txt", TEXT),
    "9.5 kB of text, exit 1": whole_file("cat short.txt; exit 1", SHORT),
    "1,899 short lines": whole_file("cat lines.txt", LINES),
    "a skill of 27 kB": skill,
    "a sub-agent's report of 80 kB": sub_agent,
    EVERYDAY: everyday,
}
