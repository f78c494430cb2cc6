"""An agent whose settings name offcut after the program was removed: everything works as without offcut."""

import re
import subprocess

from battery import Battery, Step


class Removed(Battery):
    def steps(self):
        yield Step("echo", {"cmd": "echo hi"}, self.expects(r"(?m)(^|: )hi$"))
        if self.agent.has_mcp:
            yield Step("MCP result", {"tool": "report"}, self.expects("000001 the service answered|is stored in the file"))
        yield Step("failing command", {"cmd": "echo lo; exit 3"}, self.expects(r"(?m)(^|: )lo$"))

    def install(self):
        """Install offcut with a copy of the program, and remove the copy."""
        self.program = self.home / "bin/offcut"
        self.program.parent.mkdir(exist_ok=True)
        # Another process copies it: a file that this one has open for writing may be inherited by a child of another thread,
        # and cannot be started then.
        subprocess.run(["cp", self.options.offcut, self.program], check=True)
        self.offcut("init", self.agent.name)
        self.program.unlink()

    def servers(self):
        return {"long": super().servers()["long"]}

    def expects(self, pattern):
        def judge(name, text):
            is_shown = re.search(pattern, text)
            self.check(is_shown, f"{name}: {text[:300]!r}")
            problem = re.search(r"(?i).*(no such file|hook.*fail|bin/offcut).*", text[:1000] + self.printed_by_agent)
            self.check(not problem, f"{name}: the agent reports {problem and problem[0]!r}")
            return "yes" if is_shown else "**no**", "-", "-"

        return judge
