"""What only Gemini CLI has: an interactive shell with its own terminal, and one .env file for everything."""

import json

from agents import INTERACTIVE, OWN_ENV, TERMINAL
from battery import FAILING, FAILING_LINE, RESULT, Battery, Step, id_in
from mcp_server import report

LONG, LONG_LINE = "seq 1 30000", "seq 1 30000"
FITTING, FITTING_LINE = "9 kB, which fit", "seq -f 'line %05g of an output that fits' 1 270"


class GeminiBattery(Battery):
    def steps(self):
        expects_long = self.expects_preview(lambda: self.printed(LONG_LINE), "\n30000\n", 0)
        if self.way == INTERACTIVE:
            yield Step(LONG, {"cmd": LONG_LINE}, self.succeeds(self.expects_doubt))
            return
        yield Step(LONG, {"cmd": LONG_LINE}, self.succeeds(expects_long))
        yield Step(FITTING, {"cmd": FITTING_LINE}, self.succeeds(self.expects_fitting))
        if self.way == TERMINAL:
            return
        expects_error = self.expects_preview(lambda: self.printed(FAILING_LINE), "error: NEEDLE_IN_THE_MIDDLE", 3)
        yield Step(FAILING, {"cmd": FAILING_LINE}, self.succeeds(expects_error))
        expects_report = self.expects_preview(lambda: report().encode(), "NEEDLE_OF_THE_REPORT", 0)
        yield Step(RESULT, {"tool": "report"}, self.succeeds(expects_report))

    def install(self):
        if self.way == OWN_ENV:
            (self.work / ".env").write_text("PROJECT=1\n")
        if self.way == INTERACTIVE:
            file = self.home / ".gemini/settings.json"
            file.write_text(json.dumps({**json.loads(file.read_text()), "tools": {"shell": {"enableInteractiveShell": True}}}))
        super().install()

    def kept(self, text, original):
        # Gemini CLI passes an output on without the empty lines at its end, and with standard error at any place.
        stored = self.offcut("cat", id_in(text)) if id_in(text) != "none" else b""
        same = [output.replace(b"error: NEEDLE_IN_THE_MIDDLE\n", b"").rstrip() for output in (stored, original)]
        return "yes" if same[0] == same[1] and len(stored.rstrip()) == len(original.rstrip()) else "**no**"

    def succeeds(self, judge):
        def judge_success(name, text):
            self.check(not text.startswith('{"error"'), f"{name}: the result is an error: {text[:200]!r}")
            return judge(name, text)

        return judge_success

    def expects_fitting(self, name, text):
        is_whole = self.printed(FITTING_LINE).decode().rstrip() in text.replace("\r", "") and "[offcut" not in text
        self.check(is_whole, f"{name}: the result was changed: {text[:300]!r}")
        return "yes" if is_whole else "**no**", "-", "-"

    def expects_doubt(self, name, text):
        """Expect no claim that is not true: in its terminal, Gemini CLI loses the end of an output."""
        kept = self.kept(text, self.printed(LONG_LINE))
        self.check(id_in(text) != "none", f"{name}: no offcut notice: {text[:200]!r}")
        self.check("nothing is lost" not in text, f"{name}: claims too much: {text[:300]!r}")
        return "-", kept, "-"
