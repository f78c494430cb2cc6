#!/usr/bin/env python3
"""Draw docs/picture.svg: what Claude Code sends to its model of a failing test suite, without and with offcut.

    picture.py [--offcut PROGRAM] [--packages DIR]

The suite, the agent and its results are real; only the model is a script. Of what is sent, the picture shows the first and
last lines and those about the failure, and says how many lines it leaves out.
"""

import re
import shutil
from html import escape

from agents import AGENTS, WITH, WITHOUT
from run import ROOT, arguments
from session import Session

# Node's test runner reports each test where it ran, so a failure is not at the end.
SUITE = """import test from "node:test";
import assert from "node:assert";
for (let order = 1; order <= 595; order++) {
  test(`order ${order} has a total`, () => {
    const total = order === 361 ? -17 : order * 3;
    assert.ok(total >= 0, `order ${order} has the total ${total}`);
  });
}
"""
REASON = "order 361 has the total -17"
LINE = "node --test --test-reporter=tap suite.test.mjs"
FAILURE = re.compile(r"not ok|order 361|-17|error:|failureType|^# fail ")
NOTICE = re.compile(r"^\[offcut|truncated")
COLUMNS, LINE_HEIGHT, LETTER = 100, 16, 7.25
WIDTH = round(COLUMNS * LETTER) + 24


class Suite(Session):
    """One turn in which the agent runs the suite."""

    def result(self):
        with self:
            (self.work / "suite.test.mjs").write_text(SUITE)
            self.set_up([{"cmd": LINE}], {})
            self.turn()
            return next(iter(self.model.results.values())).replace(str(self.home), "~")

    def path(self):
        return f"{super().path()}:{shutil.which('node').rsplit('/', 1)[0]}"


def rows(text):
    """Return the rows of a panel: pairs of a class and a line."""
    lines = text.rstrip("\n").split("\n")
    wanted = {0, 1, 2, 3, 4, 5, len(lines) - 2, len(lines) - 1}
    wanted |= {number for number, line in enumerate(lines) if FAILURE.search(line) or NOTICE.search(line)}
    chosen, left_out = [], 0
    for number, line in enumerate(lines):
        if number not in wanted:
            left_out += 1
            continue
        if left_out:
            chosen.append(("quiet", f"⋮ {left_out} more lines"))
            left_out = 0
        kind = "notice" if NOTICE.search(line) else "failure" if FAILURE.search(line) else "line"
        chosen.append((kind, line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"))
    return chosen


def panel(y, title, text):
    """Return the SVG of one terminal, and where it ends."""
    lines = rows(text)
    height = len(lines) * LINE_HEIGHT + 16
    verdict = f"{len(text):,} characters, {'with the reason' if REASON in text else 'without the failure'}"
    parts = [
        f'<text x="0" y="{y + 16}" class="title">{escape(title)}</text>',
        f'<text x="{WIDTH}" y="{y + 16}" text-anchor="end" class="verdict">{escape(verdict)}</text>',
        f'<rect x="0" y="{y + 26}" width="{WIDTH}" height="{height}" rx="6" class="terminal"/>',
    ]
    for number, (kind, line) in enumerate(lines):
        baseline = y + 46 + number * LINE_HEIGHT
        parts.append(f'<text x="12" y="{baseline}" class="{kind}" xml:space="preserve">{escape(line)}</text>')
    return parts, y + 26 + height


def main():
    options = arguments()
    claude = next(agent for agent in AGENTS if agent.name == "claude")
    if problem := claude.install(options.packages):
        raise SystemExit(f"cannot install Claude Code: {problem}")
    alone, with_offcut = (Suite(claude, way, options).result() for way in (WITHOUT, WITH))
    upper, end = panel(0, "Claude Code: what the model sees of 3,000 lines of tests", alone)
    lower, height = panel(end + 20, "The same with offcut", with_offcut)
    style = (
        "text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }"
        " .title, .verdict { font-family: system-ui, sans-serif; fill: #24292f } .title { font-size: 15px; font-weight: 600 }"
        " .terminal { fill: #161b22 } .line { fill: #c9d1d9 } .quiet { fill: #6e7681 } .failure { fill: #ff7b72 }"
        " .notice { fill: #79c0ff } @media (prefers-color-scheme: dark) { .title, .verdict { fill: #e6edf3 } }"
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' aria-label="What Claude Code sends to its model of a failing test suite, without and with offcut">',
        f"<style>{style}</style>",
        *upper, *lower,
        "</svg>",
    ]
    (ROOT / "docs/picture.svg").write_text("\n".join(parts) + "\n")
    print(f"docs/picture.svg: {len(alone):,} characters without offcut, {len(with_offcut):,} with it")


if __name__ == "__main__":
    main()
