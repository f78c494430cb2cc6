"""One agent in its own home directory, with or without offcut."""

import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from agents import REWRITE, SANDBOX, WITHOUT
from model import Model

SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Session:
    """A directory with a home, the project in which the agent works, and the agent's process during a turn."""

    def __init__(self, agent, way, options):
        self.agent, self.way, self.options = agent, way, options
        self.program = Path(options.offcut)
        self.problems = []
        self.printed_by_agent = ""
        self.seconds = 0

    def __enter__(self):
        # A sandbox may write to the usual temporary directory, but not to the home directory.
        parent = "/var/tmp" if self.way == SANDBOX else None
        self.folder = Path(tempfile.mkdtemp(prefix=f"offcut-{self.agent.name}-", dir=parent))
        self.home, self.work = self.folder / "home", self.folder / "work"
        (self.home / "tmp").mkdir(parents=True)
        self.work.mkdir()
        return self

    def __exit__(self, *_):
        if self.options.keep:
            results = json.dumps(list(self.model.results.values()), indent=1, ensure_ascii=False)
            (self.folder / "results.json").write_text(results, errors="surrogatepass")
            kept = Path(self.options.keep) / self.agent.name / self.folder.name
            shutil.copytree(self.folder, kept, symlinks=True, ignore_dangling_symlinks=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def check(self, is_true, problem):
        if not is_true:
            self.problems.append(problem)

    def path(self):
        return f"{self.program.parent}:{SYSTEM}"

    def offcut(self, *arguments):
        environment = {"HOME": str(self.home), "PATH": self.path(), "SHELL": "/bin/bash"}
        return subprocess.run(
            [self.program, *arguments], env=environment, cwd=self.work, capture_output=True, check=True,
        ).stdout

    def set_up(self, script, servers):
        """Start the model and write the agent's settings."""
        self.model = Model(script)
        self.agent.configure(self.home, self.model.url, servers)
        if self.way != WITHOUT and self.agent.has_init:
            self.install()

    def install(self):
        """Install offcut in the agent."""
        # A login shell resets PATH: add offcut as users add their own programs.
        (self.home / ".profile").write_text(f'PATH="{self.program.parent}:$PATH"\n')
        self.offcut("init", self.agent.name, *(["--rewrite"] if self.way == REWRITE else []))

    def start(self):
        """Start the agent for one turn."""
        program = self.agent.program(self.options.packages)
        return subprocess.Popen(
            self.agent.start(program, self.home, self.way), cwd=self.work,
            env=self.agent.environment(self.home, self.model.url, self.path()), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )

    def turn(self, timeout=180):
        """Run the agent for one turn, until it ends."""
        started = time.time()
        program = self.agent.program(self.options.packages)
        try:
            ran = self.agent.turn(self.home, self.work, self.model.url, self.path(), program, self.way, timeout)
            self.printed_by_agent = ran.stdout + ran.stderr
            self.check(ran.returncode == 0, f"ended with {ran.returncode}: {self.printed_by_agent[-1000:]}")
        except subprocess.TimeoutExpired:
            self.check(False, "timed out")
        self.seconds = time.time() - started
        self.model.close()
