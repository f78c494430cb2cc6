#!/usr/bin/env python3
"""Run real agents with a scripted model and commands with long output, with and without offcut.

    run.py [--table|--scenarios|--latency] [--offcut PROGRAM] [--packages DIR] [--keep DIR] [AGENT...]

First come commands with long output: with offcut, every expectation is checked. Prints one row per command, with what the
agent sent to the model. Then come scenarios, which are compared without and with offcut. With `--table`, only the commands
run, also without offcut, where the results are only measured; with `--scenarios`, only the scenarios. `--latency` measures
`echo`.
"""

import argparse
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agents import AGENTS, INTERACTIVE, OWN_ENV, REMOVED, TERMINAL, WITH, WITHOUT
from battery import Battery
from compare import TITLES, compare
from gemini import GeminiBattery
from latency import latency
from removed import Removed

ROOT = Path(__file__).resolve().parent.parent
# The ways that have their own calls.
BATTERIES = {REMOVED: Removed, TERMINAL: GeminiBattery, INTERACTIVE: GeminiBattery, OWN_ENV: GeminiBattery}
COLUMNS = ["bytes", "key line shown", "stored in full", "exit code"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("agents", nargs="*", choices=[[], *(agent.name for agent in AGENTS)])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--scenarios", action="store_true")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--offcut", default=str(ROOT / "target/release/offcut"))
    parser.add_argument("--packages", default=str(ROOT / ".deps/agents"))
    parser.add_argument("--keep")
    options = parser.parse_args()
    # Each agent runs in its own directory, so relative paths would not resolve.
    options.offcut = str(Path(options.offcut).resolve())
    options.packages = str(Path(options.packages).resolve())
    return options


def table(batteries):
    """Return the rows of one agent's batteries, side by side."""
    if not batteries:
        return []
    heads = [f"{battery.way}: {column}" if column == COLUMNS[0] else column for battery in batteries for column in COLUMNS]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in dict.fromkeys(name for battery in batteries for name in battery.rows):
        cells = [cell for battery in batteries for cell in battery.rows.get(name, [""] * len(COLUMNS))]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    return lines


def check_results(agents, options):
    """Print the tables of the commands with long output; return the problems, and what cannot be tested here."""
    tasks, missing = [], {}
    for agent in agents:
        for way in [WITHOUT, WITH] if options.table else agent.ways:
            if problem := agent.problem(way, options.packages):
                missing[f"{agent.name} {way} offcut"] = problem
            else:
                tasks.append(BATTERIES.get(way, Battery)(agent, way, options))
    # Two at a time: agents are slow to start, and with more of them some run into their own timeouts.
    with ThreadPoolExecutor(2) as pool:
        batteries = list(pool.map(Battery.run, tasks))
    for agent in agents:
        own = [battery for battery in batteries if battery.agent is agent]
        took = ", ".join(f"{battery.way} offcut {battery.seconds:.0f} s" for battery in own)
        print("\n".join([f"\n{agent.name} {agent.version} ({took})\n", *table(own)]))
    return [f"{battery.agent.name}: {problem}" for battery in batteries for problem in battery.problems], missing


def main():
    options = arguments()
    # Nothing here may write to the home directory of the user who runs this. npm needs the user's settings.
    caller, home = Path.home(), tempfile.mkdtemp(prefix="offcut-home-")
    os.environ.update({"HOME": home, "npm_config_userconfig": str(caller / ".npmrc")})
    chosen = [agent for agent in AGENTS if not options.agents or agent.name in options.agents]
    missing = {agent.name: problem for agent in chosen if (problem := agent.install(options.packages))}
    present = [agent for agent in chosen if agent.name not in missing]
    problems = []
    if options.latency:
        print("\n".join(latency(present, options)))
    else:
        if not options.scenarios:
            problems, untested = check_results(present, options)
            missing |= untested
        if not options.table:
            missing |= {f"scenarios of {agent.name}": "they are not described" for agent in present if agent.name not in TITLES}
            lines, worse = compare([agent for agent in present if agent.name in TITLES], options)
            print("\n".join(["", *lines]))
            problems += worse
    problems += [f"{path} was written to the home directory" for path in Path(home).rglob("*")]
    shutil.rmtree(home)
    for problem in problems:
        print(f"FAILED {problem}")
    for name, problem in missing.items():
        print(f"SKIPPED {name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
