"""Run the scenarios without offcut and with it, and print what became worse."""

import copy
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import scenarios
from agents import WITH, WITHOUT
from scenarios import Cell, Turn
from session import Session

# What is worse with offcut today, for which agents. What passes must leave this list.
KNOWN_WORSE = {}
TITLES = {"claude": "Claude Code", "opencode": "opencode", "codex": "Codex", "gemini": "Gemini CLI", "pi": "pi"}


def variant(agent, **changes):
    """Return the agent with other settings."""
    other = copy.copy(agent)
    vars(other).update(changes)
    return other


class Interrupted(Session):
    """The user stops the agent while a server is running."""

    def __init__(self, agent, way, options, name, number, to_group):
        super().__init__(agent, way, options)
        self.name, self.number, self.to_group = name, number, to_group

    def run(self):
        with self:
            (self.work / "server.sh").write_text(scenarios.FILES["server.sh"])
            self.set_up([{"cmd": "bash server.sh"}], {})
            self.cells = {self.name: self.interrupt()}
            self.model.close()
        return self

    def interrupt(self):
        process, found = self.start(), self.work / "server.pid"
        wait_until(lambda: found.exists() and found.read_text().strip(), 60)
        if not found.exists():
            os.killpg(process.pid, signal.SIGKILL)
            self.check(False, f"{self.name}: the server did not start")
            return Cell(False, "no result")
        time.sleep(1.5)
        send = os.killpg if self.to_group else os.kill
        send(process.pid, self.number)
        server = int(found.read_text())
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        is_gone = wait_until(lambda: not self.is_running(server), 4)
        if not is_gone:
            os.kill(server, signal.SIGKILL)
        return Cell(is_gone, "gone" if is_gone else "alive")

    def is_running(self, process):
        """Another process may have the same number by now, so compare the directory."""
        try:
            return os.readlink(f"/proc/{process}/cwd") == str(self.work)
        except OSError:
            return False


def wait_until(is_true, seconds):
    end = time.time() + seconds
    while not is_true() and time.time() < end:
        time.sleep(0.1)
    return is_true()


def turns(agent, way, options):
    """Return the turns of one agent. Codex runs with a model that it knows."""
    usual = variant(agent, model="gpt-5.5")
    yield Turn(usual, way, options, scenarios.LONG)
    yield Turn(variant(usual, most_silence=4), way, options, scenarios.STOPPED)
    yield Turn(usual, way, options, scenarios.SHORT_COMMANDS)
    yield Turn(variant(usual, asks=True), way, options, {"following the hint, default permissions": scenarios.hint})
    if agent.name == "codex":
        newest = variant(agent, model="gpt-6.1-sol")
        yield Turn(newest, way, options, {"310 kB of JSON in a script": scenarios.script_output})
    yield Interrupted(usual, way, options, "server, the user presses Ctrl-C", signal.SIGINT, to_group=True)
    yield Interrupted(usual, way, options, "server, the agent gets SIGTERM", signal.SIGTERM, to_group=False)


def compare(agents, options):
    """Run everything; return the lines of the table, and the problems."""
    tasks = [turn for agent in agents for way in (WITHOUT, WITH) for turn in turns(agent, way, options)]
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda turn: turn.run(), tasks))
    problems = [f"{turn.agent.name} {turn.way} offcut: {problem}" for turn in done for problem in turn.problems]
    rows = {}
    for agent in agents:
        old, new = ([turn for turn in done if (turn.agent.name, turn.way) == (agent.name, way)] for way in (WITHOUT, WITH))
        for name, words, is_worse in pairs(old, new):
            rows.setdefault(name, {})[agent.name] = f"**{words}**" if is_worse else words
            if is_worse != (agent.name in KNOWN_WORSE.get(name, [])):
                problems.append(f"{agent.name}: {name}: {words}" + ("" if is_worse else " (remove it from KNOWN_WORSE)"))
    heads = ["without → with offcut", *(TITLES[agent.name] for agent in agents)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, row in rows.items():
        lines.append("| " + " | ".join([name, *(row.get(agent.name, "-") for agent in agents)]) + " |")
    return lines, problems


def pairs(old_turns, new_turns):
    """Yield for each scenario what happened without and with offcut, and whether the user has less than before."""
    old, new = ({name: cell for turn in turns for name, cell in turn.cells.items()} for turns in (old_turns, new_turns))
    new[scenarios.EVERYDAY] = same_words(old_turns, new_turns)
    for name, cell in new.items():
        before = old.get(name)
        if cell.is_good is None:
            yield name, f"- ({cell.words})", False
        elif before is None:
            yield name, cell.words, not cell.is_good
        else:
            is_stopped = before.words == "alive" and cell.words == "gone"
            yield name, f"{before.words} → {cell.words}", is_stopped or before.is_good and not cell.is_good


def same_words(old_turns, new_turns):
    """Compare the results of the everyday command lines. An agent that reads two pipes mixes them in any order."""
    old, new = (next(turn.texts for turn in turns if hasattr(turn, "texts")) for turns in (old_turns, new_turns))
    different = [line for line, text in old.items() if sorted(new.get(line, "").split()) != sorted(text.split())]
    for line in different:
        print(f"DIFFERENT {new_turns[0].agent.name}: {line}\n  {old[line]!r}\n  {new.get(line)!r}")
    return Cell(not different, f"{len(old) - len(different)} the same")
