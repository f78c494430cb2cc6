"""Measure how much later the result of `echo` arrives with offcut."""

from statistics import median

from agents import WITH, WITHOUT
from session import Session

ROUNDS, CALLS = 5, 10


class Echo(Session):
    """One turn with a few calls; the first one is not counted, because agents prepare their shell then."""

    def run(self):
        with self:
            self.set_up([{"cmd": f"echo {number}"} for number in range(CALLS + 1)], {})
            self.turn()
        return list(self.model.seconds.values())[1:]


def latency(agents, options):
    """Return one row per agent: the medians in milliseconds. Turns without and with offcut alternate."""
    lines = ["| `echo`, median of 50 | without | with offcut | added |", "|---|---|---|---|"]
    for agent in agents:
        seconds = {WITHOUT: [], WITH: []}
        for way in [WITHOUT, WITH] * ROUNDS:
            seconds[way] += Echo(agent, way, options).run()
        old, new = (1000 * median(seconds[way]) for way in (WITHOUT, WITH))
        lines.append(f"| {agent.name} | {old:.0f} ms | {new:.0f} ms | {new - old:.0f} ms |")
    return lines
