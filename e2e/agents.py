"""Install each real agent, point it at the scripted model and start it for one turn."""

import json
import os
import subprocess
import tempfile
import threading
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
    # Variables for its installation.
    installer = {}
    # Whether offcut adds its own tool to the agent.
    has_tool = False
    # Whether the settings written by `configure` deny the command `touch`.
    denies_touch = True
    has_mcp = True
    # Whether `offcut init` supports the agent. Otherwise only the MCP proxy is tested.
    has_init = True
    # The most characters of a result that the agent passes to the model, if a page has more by default.
    most_chars = None
    # How many times the agent repeats the text of an MCP error.
    copies_of_error = 1
    # The ways to test.
    ways = [WITH, REWRITE, REMOVED]
    # Whether the agent passes results of more than about 10 kB to the model.
    takes_long_results = True
    # The longest preview, in bytes. Text around it is extra.
    most_bytes = 50_000
    # Whether offcut gets the bytes that commands print if it is installed as `WITH`. Otherwise it gets a text that the agent
    # has made of them, without colours and with the two streams in the order in which the agent read them.
    passes_bytes = True
    # Whether the agent calls a hook for MCP results, and for MCP errors.
    bounds_mcp_results = True
    bounds_mcp_errors = False
    # How the names of files start in which the agent stores outputs, if they are outside the home directory.
    spill = None

    # Whether the user has allowed nothing: the agent asks, which in these runs means that it refuses.
    asks = False

    def folder(self, packages):
        return Path(packages) / self.name

    def program(self, packages):
        return self.folder(packages) / "node_modules/.bin" / self.name

    def is_present(self, folder):
        """Return whether the tested version is installed."""
        found = folder / "node_modules" / self.package / "package.json"
        return found.is_file() and json.loads(found.read_text()).get("version") == self.version

    def installation(self, folder):
        """Return the commands that install the tested version."""
        write(folder / "package.json", json.dumps({"private": True}))
        return [["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", f"{self.package}@{self.version}"]]

    def install(self, packages):
        """Install the tested version if necessary; return the reason if that fails."""
        folder = self.folder(packages)
        if self.is_present(folder):
            return None
        # Some packages start their program while they are installed, which writes to the home directory.
        own = {"HOME": str(Path(packages) / "home"), "npm_config_cache": str(Path(packages) / "npm-cache")}
        environment = {**os.environ, **own, "PIP_NO_CACHE_DIR": "1", **self.installer}
        for command in self.installation(folder):
            try:
                ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
            except (OSError, subprocess.TimeoutExpired) as problem:
                return str(problem)
            if ran.returncode != 0:
                return (ran.stderr.strip().splitlines() or [f"{command[0]} failed"])[0]
        return None if os.access(self.program(packages), os.X_OK) else "the package has no program for this machine"

    def configure(self, home, url, servers):
        """Write the settings of a user with these MCP servers."""
        raise NotImplementedError

    def command(self, home, way):
        raise NotImplementedError

    def start(self, program, home, way):
        """Return the command line of one turn."""
        return [str(program), *self.command(home, way)]

    def environment(self, home, url, path):
        kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TERM") if key in os.environ}
        own = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PATH": path, "SHELL": "/bin/bash"}
        return {**kept, **NO_NETWORK, **own, **self.variables}

    def problem(self, way, packages):
        """Return why this way cannot be tested on this machine, or None."""
        return None

    def turn(self, home, work, url, path, program, way, timeout=180):
        """Run the agent for one turn, in `work`."""
        environment = self.environment(home, url, path)
        return subprocess.run(
            self.start(program, home, way), cwd=work, env=environment, stdin=subprocess.DEVNULL,
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
        settings = {"includeCoAuthoredBy": False}
        if not self.asks:
            allowed = ["Bash", *(f"mcp__{name}" for name in servers)]
            settings["permissions"] = {"allow": allowed, "deny": ["Bash(touch:*)"]}
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
            "autoupdate": False, "share": "disabled",
            "permission": {} if self.asks else {"bash": {"*": "allow", "touch *": "deny"}},
            "mcp": {
                name: {"type": "local", "command": [server["command"], *server["args"]]}
                for name, server in servers.items()
            },
        }
        write(home / ".config/opencode/opencode.json", json.dumps(settings, indent=2) + "\n")
        # It downloads ripgrep if it finds none; its skill tool lists the files of a skill with it.
        write(home / "bin/rg", "#!/bin/sh\nexec find . -type f\n")
        (home / "bin/rg").chmod(0o755)

    def environment(self, home, url, path):
        return super().environment(home, url, f"{home}/bin:{path}")

    def command(self, home, way):
        return ["run", "go"]


class Codex(Agent):
    name, package, version = "codex", "@openai/codex", "0.166.0"
    # The scripted model is not known to Codex.
    most_bytes = 9500
    takes_long_results = False
    ways = [WITH, REWRITE, SANDBOX, READ_ONLY, REMOVED]
    variables = {"MOCK_KEY": "none"}
    model = "mock-model"

    def configure(self, home, url, servers):
        tables = "".join(
            f"\n[mcp_servers.{name}]\ncommand = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
            for name, server in servers.items()
        )
        write(home / ".codex/config.toml", f"""# A user's own file.
model = "{self.model}"
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
        with tempfile.TemporaryDirectory() as home:
            ran = subprocess.run(
                [self.program(packages), "sandbox", "--", "true"], env={**os.environ, "HOME": home},
                capture_output=True, text=True, stdin=subprocess.DEVNULL,
            )
        return None if ran.returncode == 0 else ran.stderr.strip().splitlines()[-1]

    def command(self, home, way):
        sandbox = {SANDBOX: "workspace-write", READ_ONLY: "read-only"}.get(way, "danger-full-access")
        command = ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        return [*command, *([] if self.asks else ["--sandbox", sandbox]), "go"]


class Gemini(Agent):
    name, package, version = "gemini", "@google/gemini-cli", "0.61.0"
    bounds_mcp_errors = True
    # Seconds without output after which the shell tool stops a command; the default is 300.
    most_silence = 18
    ways = [WITH, REWRITE, REMOVED, TERMINAL, INTERACTIVE, OWN_ENV]
    variables = {"GEMINI_API_KEY": "none", "GEMINI_TELEMETRY_ENABLED": "false", "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def configure(self, home, url, servers):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "tools": {"shell": {"inactivityTimeout": self.most_silence}},
            "mcpServers": servers,
        }
        write(home / ".gemini/settings.json", json.dumps(settings, indent=2) + "\n")
        # Without a rule that allows something, Gemini CLI has no shell tool in a run in which nobody can answer a prompt.
        decisions = {"touch": "deny", **({"cat": "allow"} if self.asks else {})}
        rules = (
            f'[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "{name}"\ndecision = "{decision}"\npriority = 999\n'
            for name, decision in decisions.items()
        )
        write(home / ".gemini/policies/rules.toml", "\n".join(rules))

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "GOOGLE_GEMINI_BASE_URL": url}

    def command(self, home, way):
        asking = [] if self.asks else ["--yolo"]
        return ["-m", "gemini-2.5-pro", *asking, "-i" if way in (TERMINAL, INTERACTIVE) else "-p", "go"]

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


class Klaude(Agent):
    name, package, version = "klaude", "klaude-code", "2.43.0"
    # pyenv starts only the selected versions.
    installer = {"PYENV_VERSION": "3.13"}
    # It has no permission rules and no hooks.
    denies_touch = False
    has_mcp = False
    ways = [WITH, REMOVED]
    spill = "/tmp/klaude-"
    # Two servers that start at the same time choose the same port.
    one_server = threading.Lock()

    def program(self, packages):
        return self.folder(packages) / "bin" / self.name

    def is_present(self, folder):
        return any(folder.glob(f"lib/python*/site-packages/klaude_code-{self.version}.dist-info"))

    def installation(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        return [["python3.13", "-m", "venv", "."], ["bin/pip", "install", "--quiet", f"{self.package}=={self.version}"]]

    def configure(self, home, url, servers):
        model = {"model_name": "mock", "model_id": "mock-model", "context_limit": 200000}
        provider = {
            "provider_name": "mock", "protocol": "openai", "base_url": f"{url}/v1", "api_key": "none",
            "model_list": [model],
        }
        # JSON is also YAML.
        settings = {"provider_list": [provider], "main_model": "mock"}
        write(home / ".klaude/klaude-config.yaml", json.dumps(settings, indent=2) + "\n")

    def command(self, home, way):
        return ["run", "--wait", "--approval", "auto", "-m", "mock", "go"]

    def turn(self, home, work, url, path, program, way, timeout=180):
        with self.one_server:
            try:
                return super().turn(home, work, url, path, program, way, timeout)
            finally:
                # It leaves its server running.
                stop = [str(program), "server", "stop"]
                subprocess.run(stop, env=self.environment(home, url, path), capture_output=True, timeout=60)


class Copilot(Agent):
    name, package, version = "copilot", "@github/copilot", "1.0.102"
    passes_bytes = False
    variables = {
        "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": "mock-model", "COPILOT_PROVIDER_API_KEY": "none",
    }

    def configure(self, home, url, servers):
        write(home / ".copilot/settings.json", json.dumps({"banner": "never"}, indent=2) + "\n")
        settings = {name: {"type": "local", "tools": ["*"], **server} for name, server in servers.items()}
        write(home / ".copilot/mcp-config.json", json.dumps({"mcpServers": settings}, indent=2) + "\n")

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "COPILOT_PROVIDER_BASE_URL": f"{url}/v1"}

    def command(self, home, way):
        # Without all paths, it denies /dev/zero, and the prefix of a rewritten line.
        return ["-p", "go", "--allow-all-tools", "--allow-all-paths", "--deny-tool", "shell(touch)"]


class Goose(Agent):
    name, package, version = "goose", "@aaif/goose-binary-linux-x64", "1.52.0"
    variables = {
        "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "mock-model", "OPENAI_API_KEY": "none", "GOOSE_MODE": "auto",
        "GOOSE_DISABLE_KEYRING": "1",
    }
    # Its permissions apply to tools, not to commands.
    denies_touch = False
    bounds_mcp_results = False
    ways = [WITH, REMOVED]

    def program(self, packages):
        return self.folder(packages) / "node_modules" / self.package / "bin" / self.name

    def configure(self, home, url, servers):
        extensions = {
            name: {
                "type": "stdio", "name": name, "description": name, "cmd": server["command"], "args": server["args"],
                "enabled": True, "timeout": 60, "envs": {},
            }
            for name, server in servers.items()
        }
        # JSON is also YAML.
        write(home / ".config/goose/config.yaml", json.dumps({"extensions": extensions}, indent=2) + "\n")
        write(home / ".bashrc", "# A user's own file.\n")

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "OPENAI_HOST": url}

    def command(self, home, way):
        return ["run", "--no-session", "--with-builtin", "developer", "-t", "go"]

    def start(self, program, home, way):
        # A terminal reads this file before the user starts goose.
        return ["bash", "-c", '. ~/.bashrc; exec "$0" "$@"', *super().start(program, home, way)]


class Cline(Agent):
    name, package, version = "cline", "cline", "3.0.65"
    has_init = False
    takes_long_results = False
    most_chars = 8000
    ways = [WITH]

    def configure(self, home, url, servers):
        settings = {"provider": "openai-compatible", "apiKey": "none", "model": "mock-model", "baseUrl": f"{url}/v1"}
        provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        providers = {
            "version": 1, "lastUsedProvider": "openai-compatible", "modes": {},
            "providers": {"openai-compatible": provider},
        }
        folder = home / ".cline/data/settings"
        write(folder / "providers.json", json.dumps(providers))
        write(folder / "cline_mcp_settings.json", json.dumps({"mcpServers": servers}))

    def command(self, home, way):
        return ["--auto-approve", "true", "go on"]


class Qwen(Agent):
    name, package, version = "qwen", "@qwen-code/qwen-code", "0.24.4"
    has_init = False
    copies_of_error = 2
    ways = [WITH]
    # It uses a proxy for local addresses too.
    variables = {"OPENAI_API_KEY": "none", "OPENAI_MODEL": "mock-model", "HTTPS_PROXY": ""}

    def installation(self, folder):
        # It needs Node 22.
        return [[*command, "node@22"] for command in super().installation(folder)]

    def start(self, program, home, way):
        return [str(program.with_name("node")), *super().start(program, home, way)]

    def configure(self, home, url, servers):
        settings = {
            "security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False},
            "mcpServers": {name: {**server, "alwaysLoadTools": True} for name, server in servers.items()},
        }
        write(home / ".qwen/settings.json", json.dumps(settings, indent=2) + "\n")

    def environment(self, home, url, path):
        return {**super().environment(home, url, path), "OPENAI_BASE_URL": f"{url}/v1"}

    def command(self, home, way):
        return ["--yolo", "-p", "go"]


AGENTS = [
    Claude(), Opencode(), Codex(), Gemini(), Pi(), Copilot(), Klaude(), Goose(), Cline(), Qwen(),
]
