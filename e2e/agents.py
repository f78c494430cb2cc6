"""Install each real agent, point it at the scripted model and start it for one turn."""

import json
import os
import subprocess
from pathlib import Path

from terminal import run_in_terminal

# Ways to run an agent: without offcut, offcut as its shell, a hook that rewrites command lines, offcut as its shell in the
# agent's sandbox, which may write to the project and to temporary directories, or to nothing, and with settings that name a
# program which no longer exists.
WITHOUT, WITH, REWRITE, REMOVED = "without", "with", "rewriting", "after removing"
SANDBOX, READ_ONLY = "in its sandbox, with", "in its read-only sandbox, with"
# Gemini CLI in a terminal, also with the interactive shell that `offcut init` switches off, and in a project with an .env file.
TERMINAL, INTERACTIVE, OWN_ENV = "in a terminal, with", "in its interactive shell, with", "with .env and"

# Nothing leaves the machine: programs that honour these variables connect to a closed port.
NO_NETWORK = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}


class Agent:
    """One agent. `configure` writes the settings of a typical user, `command` runs one turn."""

    name = package = version = ""
    variables = {}
    # Whether offcut adds its own tool to the agent.
    has_tool = False
    # Whether the settings written by `configure` deny the command `touch`.
    denies_touch = True
    has_mcp = True
    # The ways to test.
    ways = [WITH, REWRITE, REMOVED]
    # Whether the agent passes results of more than about 10 kB to the model.
    takes_long_results = True
    # The longest preview, in bytes. Text around it is extra.
    most_bytes = 50_000
    # Whether the agent calls the hook for MCP errors.
    bounds_mcp_errors = False

    def folder(self, packages):
        return Path(packages) / self.name

    def program(self, packages):
        return self.folder(packages) / "node_modules/.bin" / self.name

    def install(self, packages):
        """Install the tested version if necessary; return the reason if that fails."""
        folder = self.folder(packages)
        found = folder / "node_modules" / self.package / "package.json"
        if found.is_file() and json.loads(found.read_text()).get("version") == self.version:
            return None
        write(folder / "package.json", json.dumps({"private": True}))
        command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", f"{self.package}@{self.version}"]
        try:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired) as problem:
            return str(problem)
        if ran.returncode != 0:
            return (ran.stderr.strip().splitlines() or ["npm failed"])[0]
        return None if os.access(self.program(packages), os.X_OK) else "the package has no program for this machine"

    def configure(self, home, url, servers):
        """Write the settings of a user with these MCP servers."""
        raise NotImplementedError

    def command(self, home, way):
        raise NotImplementedError

    def environment(self, home, url, path):
        kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TERM") if key in os.environ}
        own = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PATH": path, "SHELL": "/bin/bash"}
        return {**kept, **NO_NETWORK, **own, **self.variables}

    def problem(self, way, packages):
        """Return why this way cannot be tested on this machine, or None."""
        return None

    def turn(self, home, work, url, path, program, way, timeout=180):
        """Run the agent for one turn, in `work`."""
        command = [str(program), *self.command(home, way)]
        environment = self.environment(home, url, path)
        return subprocess.run(
            command, cwd=work, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=timeout,
        )


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Claude(Agent):
    name, package, version = "claude", "@anthropic-ai/claude-code", "2.1.325"
    most_bytes = 10_800
    variables = {
        "ANTHROPIC_API_KEY": "none", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
    }

    def configure(self, home, url, servers):
        settings = {
            "permissions": {"allow": ["Bash", *(f"mcp__{name}" for name in servers)], "deny": ["Bash(touch:*)"]},
            "includeCoAuthoredBy": False,
        }
        write(home / ".claude/settings.json", json.dumps(settings, indent=2) + "\n")
        write(home / "mcp.json", json.dumps({"mcpServers": servers}))

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "ANTHROPIC_BASE_URL": url}

    def command(self, home, way):
        return ["-p", "go", "--mcp-config", str(home / "mcp.json"), "--strict-mcp-config"]


class Opencode(Agent):
    name, package, version = "opencode", "opencode-ai", "1.18.33"
    has_tool = True
    variables = {
        f"OPENCODE_DISABLE_{what}": "1"
        for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "SHARE", "DEFAULT_PLUGINS")
    }

    def configure(self, home, url, servers):
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "mock",
            "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
            "models": {"mock-model": {"name": "mock", "limit": {"context": 200000, "output": 8000}}},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "provider": {"mock": provider}, "model": "mock/mock-model", "small_model": "mock/mock-model",
            "autoupdate": False, "share": "disabled", "permission": {"bash": {"*": "allow", "touch *": "deny"}},
            "mcp": {
                name: {"type": "local", "command": [server["command"], *server["args"]]}
                for name, server in servers.items()
            },
        }
        write(home / ".config/opencode/opencode.json", json.dumps(settings, indent=2) + "\n")

    def command(self, home, way):
        return ["run", "go"]


class Codex(Agent):
    name, package, version = "codex", "@openai/codex", "0.166.0"
    # The scripted model is not known to Codex.
    most_bytes = 9500
    takes_long_results = False
    ways = [WITH, REWRITE, SANDBOX, READ_ONLY, REMOVED]
    variables = {"MOCK_KEY": "none"}

    def configure(self, home, url, servers):
        tables = "".join(
            f"\n[mcp_servers.{name}]\ncommand = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
            for name, server in servers.items()
        )
        write(home / ".codex/config.toml", f"""# A user's own file.
model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
supports_websockets = false

[analytics]
enabled = false

[feedback]
enabled = false
{tables}""")
        # Nobody can answer a prompt in this run, so Codex refuses what would need one.
        write(home / ".codex/rules/default.rules", 'prefix_rule(pattern=["touch"], decision="prompt")\n')

    def problem(self, way, packages):
        if way not in (SANDBOX, READ_ONLY):
            return None
        ran = subprocess.run(
            [self.program(packages), "sandbox", "--", "true"], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )
        return None if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1]

    def command(self, home, way):
        sandbox = {SANDBOX: "workspace-write", READ_ONLY: "read-only"}.get(way, "danger-full-access")
        return ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", sandbox, "go"]


class Gemini(Agent):
    name, package, version = "gemini", "@google/gemini-cli", "0.61.0"
    bounds_mcp_errors = True
    ways = [WITH, REWRITE, REMOVED, TERMINAL, INTERACTIVE, OWN_ENV]
    variables = {"GEMINI_API_KEY": "none", "GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def configure(self, home, url, servers):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "mcpServers": servers,
        }
        write(home / ".gemini/settings.json", json.dumps(settings, indent=2) + "\n")
        rule = 'toolName = "run_shell_command"\ncommandPrefix = "touch"\ndecision = "deny"\npriority = 999\n'
        write(home / ".gemini/policies/rules.toml", "[[rule]]\n" + rule)

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "GOOGLE_GEMINI_BASE_URL": url}

    def command(self, home, way):
        return ["-m", "gemini-2.5-pro", "--yolo", "-i" if way in (TERMINAL, INTERACTIVE) else "-p", "go"]

    def turn(self, home, work, url, path, program, way, timeout=180):
        if way not in (TERMINAL, INTERACTIVE):
            return super().turn(home, work, url, path, program, way, timeout)
        command = [str(program), *self.command(home, way)]
        environment = {**self.environment(home, url, path), "TERM": "xterm-256color"}
        return run_in_terminal(command, work, environment, "DONE", timeout)


class Pi(Agent):
    name, package, version = "pi", "@mariozechner/pi-coding-agent", "0.73.1"
    variables = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    # It has no permission rules.
    denies_touch = False
    has_mcp = False

    def configure(self, home, url, servers):
        model = {"id": "mock-model", "contextWindow": 200000, "maxTokens": 8000}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [model]}
        write(home / ".pi/agent/models.json", json.dumps({"providers": {"mock": provider}}))
        write(home / ".pi/agent/settings.json", json.dumps({"theme": "dark"}, indent=2) + "\n")

    def command(self, home, way):
        return ["-p", "--provider", "mock", "--model", "mock-model", "--no-session", "go"]


AGENTS = [Claude(), Opencode(), Codex(), Gemini(), Pi()]
