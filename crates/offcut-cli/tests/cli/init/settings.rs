//! Settings of users, in all forms that agents accept.

/// Agent, file, and its content; tests of later changes by the user replace `MINE`.
pub(super) const SETTINGS: &[(&str, &str, &str)] = &[
    ("claude", ".claude/settings.json", "{}\n"),
    ("claude", ".claude/settings.json", "{}"),
    ("claude", ".claude/settings.json", ""),
    ("claude", ".claude/settings.json", "\u{feff}{\"model\": \"MINE\"}\n"),
    (
        "claude",
        ".claude/settings.json",
        "{\"env\": {\"A\": \"MINE\"}, \"env\": {\"B\": \"2\"}, \"hooks\": {\"PreToolUse\": []}}",
    ),
    ("claude", ".claude/settings.json", "{\n  \"model\": \"MINE\"\n}\n"),
    (
        "claude",
        ".claude/settings.json",
        "{\"model\":\"MINE\",\"env\":{\"A\":\"1\"},\"permissions\":{\"deny\":[\"Read(.env)\"]}}",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(npm run test:*)\",\n\t\t\t\"MINE\"\n\t\t]\n\t},\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{ \"matcher\": \"Edit|Write\", \"hooks\": [{ \"type\": \"command\", \"command\": \"prettier --write\" }] }\n\t\t],\n\t\t\"Stop\": []\n\t}\n}\n",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\r\n  \"env\": {\r\n    \"CLAUDE_CODE_ENABLE_TELEMETRY\": \"0\"\r\n  },\r\n  \"statusLine\": { \"type\": \"command\", \"command\": \"MINE\" }\r\n}\r\n",
    ),
    (
        "claude",
        ".claude/settings.json",
        "{\n  \"env\": {\n    \"MAX_MCP_OUTPUT_TOKENS\": \"50000\", \"B\": \"MINE\"\n  }\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"theme\": \"MINE\"\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // what I like\n  \"theme\": \"MINE\", // dark\n  /* tools */\n  \"permission\": {\n    \"edit\": \"ask\",\n    \"external_directory\": { \"~/notes/*\": \"allow\", },\n  },\n}\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{ \"permission\": { \"external_directory\": \"ask\" }, \"username\": \"MINE\" }\n",
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\n    \"mcp\": {\n        \"x\": { \"type\": \"local\", \"command\": [\"MINE\"] }\n    }\n}",
    ),
    ("opencode", ".config/opencode/opencode.json", "{ \"shell\": \"/usr/bin/fish\", \"theme\": \"MINE\" }\n"),
    ("opencode", ".config/opencode/.npmrc", "//registry.example/:_authToken=MINE\n"),
    ("opencode", ".config/opencode/.npmrc", "fetch-retry-mintimeout = 1000\nregistry=MINE"),
    ("opencode", ".config/opencode/package.json", "{ \"dependencies\": { \"MINE\": \"1\" } }\n"),
    ("codex", ".codex/config.toml", ""),
    (
        "codex",
        ".codex/config.toml",
        "# my settings\nmodel = \"MINE\" # the good one\napproval_policy = \"on-request\"\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "model = \"MINE\"\n\n[shell_environment_policy]\ninherit = \"core\" # not everything\nset = { EDITOR = \"true\" }\n\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = [\n  \"--stdio\", # yes\n]\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "[profiles.fast]\nmodel = \"MINE\"\n\n[shell_environment_policy.set]\nCI = \"1\"\n\n[[hooks.PostToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"notify\"\n\n[projects.\"/home/you/x\"]\ntrust_level = \"trusted\"\n",
    ),
    ("codex", ".codex/config.toml", "model = \"MINE\"\n\n\n# the end"),
    ("codex", ".codex/config.toml", "hooks = { Stop = [], PreToolUse = [] } # MINE\n"),
    (
        "codex",
        ".codex/config.toml",
        "shell_environment_policy.set.FOO = \"MINE\"\r\nshell_environment_policy.inherit = \"core\"\r\n[hooks]\r\nStop = []\r\n",
    ),
    ("codex", ".codex/config.toml", "[shell_environment_policy]\nset = \"MINE\"\n"),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"theme\": \"MINE\",\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "// Gemini\n{\n  \"hooks\": {\n    \"AfterTool\": [ { \"matcher\": \"write_file\", \"hooks\": [ { \"type\": \"command\", \"command\": \"MINE\" } ] } ], // tidy\n    \"BeforeTool\": []\n  }\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{ \"tools\": { \"shell\": { \"enableInteractiveShell\": true, \"pager\": \"MINE\" } } }\n",
    ),
    ("gemini", ".gemini/.env", "GEMINI_API_KEY=abc\nexport OTHER=\"MINE\"\n"),
    ("gemini", ".gemini/.env", "# keys\nGEMINI_API_KEY=MINE"),
    (
        "pi",
        ".pi/agent/settings.json",
        "{\n  \"theme\": \"MINE\",\n  \"compaction\": { \"enabled\": false }\n}\n",
    ),
    ("gemini", ".gemini/.env", "BASH_ENV=/home/you/env.sh\nA=MINE\n"),
    ("gemini", ".gemini/.env", "A=\"MINE\nB\"\r\nexport BASH_ENV = '/x y'\r\n"),
    ("klaude", ".profile", "# ~/.profile\nPATH=\"$HOME/MINE:$PATH\"\n"),
    ("klaude", ".bash_profile", "export EDITOR=MINE"),
    ("goose", ".bashrc", "case $- in *i*) ;; *) return ;; esac\nexport EDITOR=MINE"),
    ("copilot", ".copilot/settings.json", "{\n  \"theme\": \"MINE\"\n}\n"),
    (
        "copilot",
        ".copilot/settings.json",
        "{\"hooks\": {\"postToolUse\": [{\"type\": \"command\", \"bash\": \"MINE\"}], \"preToolUse\": []}}\n",
    ),
];

/// Agents whose settings cannot change command lines.
pub(super) const WITHOUT_REWRITE: &[&str] = &["klaude", "goose"];
