#!/usr/bin/env python3
"""Run real agents with a scripted model and commands with long output, with and without offcut.

    run.py [--table] [--offcut PROGRAM] [--packages DIR] [--keep DIR] [AGENT...]

With offcut, every expectation is checked. With `--table`, the same commands also run without offcut, where the results
are only measured. Prints one row per command, with what the agent sent to the model.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agents import AGENTS, INTERACTIVE, OWN_ENV, REMOVED, TERMINAL, WITH, WITHOUT
from battery import Battery
from gemini import GeminiBattery
from removed import Removed

ROOT = Path(__file__).resolve().parent.parent
# The ways that have their own calls.
BATTERIES = {REMOVED: Removed, TERMINAL: GeminiBattery, INTERACTIVE: GeminiBattery, OWN_ENV: GeminiBattery}
COLUMNS = ["bytes", "key line shown", "stored in full", "exit code"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("agents", nargs="*", choices=[[], *(agent.name for agent in AGENTS)])
    parser.add_argument("--table", action="store_true")
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


def main():
    options = arguments()
    chosen = [agent for agent in AGENTS if not options.agents or agent.name in options.agents]
    missing = {agent.name: problem for agent in chosen if (problem := agent.install(options.packages))}
    present = [agent for agent in chosen if agent.name not in missing]
    tasks = []
    for agent in present:
        for way in [WITHOUT, WITH] if options.table else agent.ways:
            if problem := agent.problem(way, options.packages):
                missing[f"{agent.name} {way} offcut"] = problem
            else:
                tasks.append(BATTERIES.get(way, Battery)(agent, way, options))
    # Two at a time: agents are slow to start, and with more of them some run into their own timeouts.
    with ThreadPoolExecutor(2) as pool:
        batteries = list(pool.map(Battery.run, tasks))
    for agent in present:
        own = [battery for battery in batteries if battery.agent is agent]
        took = ", ".join(f"{battery.way} offcut {battery.seconds:.0f} s" for battery in own)
        print("\n".join([f"\n{agent.name} {agent.version} ({took})\n", *table(own)]))
    problems = [(battery, problem) for battery in batteries for problem in battery.problems]
    for battery, problem in problems:
        print(f"FAILED {battery.agent.name}: {problem}")
    for name, problem in missing.items():
        print(f"SKIPPED {name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
