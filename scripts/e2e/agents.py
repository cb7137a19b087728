"""The agents: how they are installed and configured, and what their tools are called."""

from dataclasses import dataclass, field, replace

# Long enough to count as a secret, so that it must not show up in any record.
KEY = "e2e-loopback-key"
# What is in the login files of the user; it must not show up either.
LOGIN = "e2e-login-token"
# What is in the memory and the skills of the user; it must not reach a model.
PRIVATE = "PRIVATE-MEMORY-OF-THE-USER"

# Variables of the user that lead to memory, skills and settings, by `{home}` and by a directory `{private}`
# of which nothing may reach a model. Those that name a directory of settings also lead to the login.
MISLEADING = {
    "CLAUDE_CONFIG_DIR": "{home}/.claude",
    "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1",
    "CLAUDE_CODE_PLUGIN_DIRS": "{private}",
    "CODEX_HOME": "{home}/.codex",
    "GEMINI_CLI_HOME": "{home}",
    "GEMINI_SYSTEM_MD": "{private}/private.md",
    "COPILOT_HOME": "{home}/.copilot",
    "COPILOT_CUSTOM_INSTRUCTIONS_DIRS": "{private}",
    "OPENCODE_CONFIG": "{private}/opencode.json",
    "OPENCODE_CONFIG_DIR": "{private}",
    "XDG_CONFIG_HOME": "{home}/.config",
    "XDG_DATA_HOME": "{home}/.local/share",
    "PI_CODING_AGENT_DIR": "{home}/.pi/agent",
    "PI_PACKAGE_DIR": "{private}",
}


@dataclass(frozen=True)
class Agent:
    name: str
    provider: str
    title: str
    package: str
    version: str
    # Below node_modules.
    executable: str
    # Of the target, beside name and provider.
    target: dict
    # Arguments with which it speaks the Agent Client Protocol. Such an agent has the home of its user.
    acp: tuple = field(default=(), kw_only=True)
    # Where the login is, below the home, and a file with it.
    login: str
    login_file: dict
    # Files of the user that must not take part.
    private: tuple
    # Kinds of calls: name of the tool, and its arguments.
    run: object
    write: object
    skill: object
    # How a sub-agent is started; None for agents without.
    delegate: object = None
    # The call with which a sub-agent ends, if it needs one.
    report: tuple | None = None
    # Whether it says how many tokens it used.
    counts_tokens: bool = True
    # Whether requests carry the user's login. The model accepts no others then.
    login_on_wire: bool = False
    # Whether system messages go to an option of their own.
    takes_system: bool = False
    # Files of the user that go with the login.
    settings: dict = field(default_factory=dict)
    # Files of the home that the target starts from.
    home: dict = field(default_factory=dict)
    # How it says that `max_turns` was reached; None if it cannot limit turns.
    turn_limit: str | None = None
    # Whether it says which commands it runs. After one that it hides, the use of skills is unknown.
    shows_commands: bool = True
    # Whether running a script of a skill is a use of it.
    runs_scripts: bool = False
    # Arguments that bring a plugin, which is in `{plugin}`; None if plugins cannot be named.
    plugin: tuple | None = None
    # Situations with another result than that of situations.py: {id: (outcome, kind of the error)}.
    differs: dict = field(default_factory=dict)


def skill_file(name):
    return f".agents/skills/{name}/SKILL.md"


CLAUDE = Agent(
    name="claude",
    provider="claude-cli",
    title="Claude Code",
    package="@anthropic-ai/claude-code-linux-x64",
    version="2.1.325",
    executable="@anthropic-ai/claude-code-linux-x64/claude",
    target={
        "model": "claude-opus-5-5",
        "args": ["--allowedTools", "Bash,Write,Edit,Skill,Agent"],
        "env": {"ANTHROPIC_BASE_URL": "${{ E2E_URL }}", "CLAUDE_CODE_MAX_RETRIES": "1"},
    },
    login=".claude/.credentials.json",
    login_file={
        "claudeAiOauth": {
            "accessToken": LOGIN,
            "refreshToken": f"{LOGIN}-refresh",
            "expiresAt": 4102444800000,
            "scopes": ["user:inference"],
            "subscriptionType": "max",
        }
    },
    private=(".claude/CLAUDE.md", ".claude/skills/private/SKILL.md"),
    run=lambda command: ("Bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: ("Write", {"file_path": path, "content": text}),
    skill=lambda name: ("Skill", {"skill": name}),
    delegate=lambda prompt: (
        "Agent",
        {"description": "Add up", "prompt": prompt, "subagent_type": "general-purpose"},
    ),
    turn_limit="error_max_turns",
    plugin=("--plugin-dir", "{plugin}"),
    login_on_wire=True,
    takes_system=True,
)

CODEX = Agent(
    name="codex",
    provider="codex-cli",
    title="Codex",
    package="@openai/codex",
    version="0.166.0",
    executable="@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    target={
        "model": "gpt-5.1-codex",
        "args": [
            "--sandbox",
            "workspace-write",
            "-c",
            'model_provider="loopback"',
            "-c",
            'model_providers.loopback={name="loopback", base_url="${{ E2E_URL }}/v1", '
            'wire_api="responses", requires_openai_auth=true, request_max_retries=1, '
            "stream_max_retries=1}",
        ],
    },
    login=".codex/auth.json",
    login_file={"OPENAI_API_KEY": LOGIN},
    private=(".codex/AGENTS.md", ".codex/skills/private/SKILL.md", ".agents/skills/private/SKILL.md"),
    run=lambda command: ("exec_command", {"cmd": command}),
    write=lambda path, text: (
        "exec_command",
        {
            "cmd": "apply_patch <<'EOF'\n*** Begin Patch\n"
            f"*** Add File: {path}\n+{text}\n*** End Patch\nEOF"
        },
    ),
    skill=lambda name: ("exec_command", {"cmd": f"cat {skill_file(name)}"}),
    delegate=lambda prompt: ("spawn_agent", {"message": prompt}),
    runs_scripts=True,
    # Its events do not show what a sub-agent does.
    differs={"sub-agent": ("errored", "not-measured")},
    login_on_wire=True,
    takes_system=True,
)

GEMINI = Agent(
    name="gemini",
    provider="gemini-cli",
    title="Gemini CLI",
    package="@google/gemini-cli",
    version="0.61.0",
    executable=".bin/gemini",
    target={
        "model": "gemini-2.5-pro",
        "env": {"GOOGLE_GEMINI_BASE_URL": "${{ E2E_URL }}", "GEMINI_API_KEY": "${{ E2E_KEY }}"},
    },
    login=".gemini/oauth_creds.json",
    login_file={"access_token": LOGIN},
    settings={".gemini/settings.json": {"security": {"auth": {"selectedType": "gemini-api-key"}}}},
    private=(".gemini/GEMINI.md", ".agents/skills/private/SKILL.md"),
    run=lambda command: ("run_shell_command", {"command": command, "description": "Run it"}),
    write=lambda path, text: ("write_file", {"file_path": path, "content": text}),
    skill=lambda name: ("activate_skill", {"name": name}),
    delegate=lambda prompt: ("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),
    report=("complete_task", {"result": {"response": "The total is 42."}}),
    turn_limit="max_turns",
    # Its events do not show what a sub-agent does.
    differs={"sub-agent": ("errored", "not-measured")},
)

COPILOT = Agent(
    name="copilot",
    provider="copilot-cli",
    title="Copilot CLI",
    package="@github/copilot",
    version="1.0.102",
    executable=".bin/copilot",
    target={
        "model": "gpt-5.1",
        # It refuses to look at the login, which is outside of the workspace.
        "args": ["--allow-all-paths"],
        "env": {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "${{ E2E_URL }}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "${{ E2E_KEY }}",
            "COPILOT_PROVIDER_WIRE_API": "completions",
        },
    },
    login=".copilot/config.json",
    login_file={"loggedInUsers": [{"host": "https://github.com", "login": LOGIN}]},
    private=(".copilot/copilot-instructions.md", ".copilot/skills/private/SKILL.md"),
    run=lambda command: ("bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: ("create", {"path": path, "file_text": text}),
    skill=lambda name: ("skill", {"skill": name}),
    delegate=lambda prompt: (
        "task",
        {"name": "adder", "description": "Add up", "prompt": prompt, "agent_type": "general-purpose"},
    ),
)

OPENCODE = Agent(
    name="opencode",
    provider="opencode",
    title="opencode",
    package="opencode-ai",
    version="1.18.33",
    executable=".bin/opencode",
    target={
        "model": "loopback/m1",
        "bypass_permissions": True,
        "env": {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            # Over the Agent Client Protocol nothing else names the model.
            "OPENCODE_CONFIG_CONTENT": '{"model":"loopback/m1","provider":{"loopback":{"npm":"@ai-sdk/openai-compatible",'
            '"options":{"baseURL":"${{ E2E_URL }}/v1"},"models":{"m1":{"name":"m1","tool_call":true,'
            '"limit":{"context":200000,"output":8000}}}}}}',
        },
    },
    login=".local/share/opencode/auth.json",
    login_file={"loopback": {"type": "api", "key": LOGIN}},
    private=(".config/opencode/AGENTS.md", ".agents/skills/private/SKILL.md"),
    run=lambda command: ("bash", {"command": command, "description": "Run it"}),
    write=lambda path, text: ("write", {"filePath": path, "content": text}),
    skill=lambda name: ("skill", {"name": name}),
    delegate=lambda prompt: (
        "task",
        {"description": "Add up", "prompt": prompt, "subagent_type": "general"},
    ),
    login_on_wire=True,
    # Its events do not show what a sub-agent does.
    differs={"sub-agent": ("errored", "not-measured")},
)

PI = Agent(
    name="pi",
    provider="pi",
    title="Pi",
    package="@mariozechner/pi-coding-agent",
    version="0.73.1",
    executable=".bin/pi",
    target={"model": "loopback/m1", "home": "home", "env": {"PI_OFFLINE": "1"}},
    login=".pi/agent/auth.json",
    login_file={"loopback": {"type": "api_key", "key": LOGIN}},
    private=(".pi/agent/AGENTS.md", ".agents/skills/private/SKILL.md"),
    run=lambda command: ("bash", {"command": command}),
    write=lambda path, text: ("write", {"path": path, "content": text}),
    skill=lambda name: ("read", {"path": skill_file(name)}),
    runs_scripts=True,
    login_on_wire=True,
    takes_system=True,
    home={
        ".pi/agent/models.json": {
            "providers": {
                "loopback": {
                    "baseUrl": "{url}/v1",
                    "api": "openai-completions",
                    "apiKey": "unused",
                    "models": [{"id": "m1", "contextWindow": 200000, "maxTokens": 8000}],
                }
            }
        }
    },
)


def over_acp(agent, arguments, **more):
    """The same agent, started as a server of the Agent Client Protocol."""
    target = {key: value for key, value in agent.target.items() if key == "env"}
    return replace(
        agent,
        name=f"{agent.name}-acp",
        provider="acp",
        title=f"{agent.title} (ACP)",
        target=target,
        acp=arguments,
        private=(),
        takes_system=False,
        counts_tokens=False,
        **more,
    )


AGENTS = [CLAUDE, CODEX, GEMINI, COPILOT, OPENCODE, PI]
# Over the protocol Gemini CLI refuses to start sub-agents, and does not say which commands it runs.
UNKNOWN = ("errored", "not-measured")
AGENTS += [
    over_acp(
        GEMINI,
        ("--acp", "--skip-trust"),
        delegate=None,
        shows_commands=False,
        differs={"left-alone": UNKNOWN, "late": UNKNOWN, "late-unwanted": UNKNOWN},
    ),
    over_acp(OPENCODE, ("acp",), runs_scripts=True),
    over_acp(COPILOT, ("--acp", "--model", "gpt-5.1"), runs_scripts=True),
]
