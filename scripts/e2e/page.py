"""The table of results, for the terminal and for the docs."""

from dataclasses import dataclass

from agents import AGENTS
from sequences import SEQUENCES
from situations import SITUATIONS, kinds, reason

PAGE = "docs/reference/tested-agents.md"

INTRODUCTION = """\
<!-- Written by `scripts/e2e-agents --write`. -->
# Tested agents

What evalrig makes of six real agents. `scripts/e2e-agents` installs them from npm in the versions below, starts a model on
loopback that answers from a script, and runs one suite with each of them. No service is called. It says nothing about
how well models do: it shows that evalrig starts these versions correctly and reads what they print.

Every cell is checked: the outcome, which skills were used and which calls were refused, tokens, and the number of
requests to the model. In every run it is also checked that no key and no login is in the results or on the terminal,
that neither memory nor skills of the user reached the model, although variables of the user lead there, and that system
messages went where they belong. For Claude Code, Codex, opencode and Pi the model refuses requests that do not carry the
user's login; for Gemini CLI and Copilot CLI the agent looks for the file. Over the Agent Client Protocol (ACP) an agent has
the home of the user, here one without memory and skills. There Gemini CLI does not say which commands it runs, so that the
use of skills is not measured after one.

"""

LEGEND = """
A cell with – was not tried. A case that is *failed* has to fail: the skill was used although it should be left alone, or
was not used although it should be. The situations:

| situation | what happens |
|---|---|
"""

MEANING = {
    "answer": "an answer without a tool call",
    "edit": "a file is created",
    "used": "the skill is used by the first call, as it should be",
    "used-unwanted": "the skill is used by the first call, and should not be",
    "left-alone": "another file is read, and the skill is not used, as it should be",
    "script": "a script of the skill is run without reading the skill, as it should be. With the other agents this is "
    "not a use",
    "script-unwanted": "a script of the skill is run, and should not be",
    "missed": "the skill is not used, and should be",
    "late": "the skill is used by the second call, as it should be (`detection: any-call`)",
    "late-unwanted": "the skill is used by the second call, and should not be",
    "refused": "a skill that does not exist is called, which is not a use; it should not be used",
    "refused-wanted": "a skill that does not exist is called, which is not a use; it should be used",
    "longer-name": "`csv-analyzer-pro` is used, and `csv-analyzer` should not be",
    "sub-agent": "a sub-agent uses the skill, which should not be used. Where the agent does not show "
    "what a sub-agent does, the use of skills is not measured. Pi has no sub-agents, and Gemini CLI "
    "refuses to start one over the protocol",
    "timeout": "the model does not answer",
    "unauthorized": "the model answers every request with status 401",
    "rate-limit": "the model answers every request with status 429. Gemini CLI tries again for longer "
    "than the timeout of the test",
    "login": "the login of the user is in the clean home",
    "system": "a system message reaches the model",
    "first-turn": "the first test of a conversation",
    "second-turn": "the second test of it: the agent knows what was said and finds the file it made, "
    "and the figures are those of this turn",
}


ALL = [*SITUATIONS, *SEQUENCES]


@dataclass(frozen=True)
class Result:
    """What became of an agent."""

    # By situation.
    rows: dict
    # What is wrong, by situation.
    wrong: dict
    # The situations that were tried.
    tried: set


def cell(situation, result):
    """None if it was not tried."""
    if situation.id not in result.tried:
        return None
    if situation.id in result.wrong:
        return "WRONG"
    row = result.rows.get(situation.id)
    if row and row["outcome"] == "errored":
        return f"errored: {kinds(row)[0]}"
    return row["outcome"] if row else "passed"


def terminal(agents, results):
    lines = [["situation", *(agent.name for agent in agents)]]
    for situation in ALL:
        cells = [cell(situation, results[agent.name]) for agent in agents]
        if any(cells):
            lines.append([situation.title, *(one or "–" for one in cells)])
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    shown = ["  ".join(word.ljust(width) for word, width in zip(line, widths)) for line in lines]
    for agent in agents:
        result = results[agent.name]
        for situation, found in result.wrong.items():
            shown += [f"{agent.name}/{situation}: {fault}" for fault in found]
        for name, row in result.rows.items():
            if row["outcome"] == "errored" and name not in result.wrong:
                shown.append(f"{agent.name}/{name}: {reason(row).splitlines()[0][:160]}")
    return "\n".join(line.rstrip() for line in shown)


def earlier_cells(text):
    """The cells of a page by the titles of agent and situation."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    table = [[word.strip() for word in line.strip("|").split("|")] for line in lines]
    heads = next((line for line in table if line[0] == "situation" and len(line) > 2), [])
    body = [line for line in table if len(line) == len(heads)]
    return {(head, line[0]): word for line in body for head, word in zip(heads[1:], line[1:])}


def page(results, earlier):
    known = earlier_cells(earlier)

    def shown(agent, situation):
        result = results.get(agent.name)
        found = cell(situation, result) if result else None
        is_same = known.get((agent.title, "version")) == agent.version
        return found or (known.get((agent.title, situation.title)) if is_same else None) or "–"

    agents = [one for one in AGENTS if any(shown(one, situation) != "–" for situation in ALL)]
    text = INTRODUCTION
    text += "| situation | " + " | ".join(agent.title for agent in agents) + " |\n"
    text += "|---|" + "---|" * len(agents) + "\n"
    text += "| version | " + " | ".join(agent.version for agent in agents) + " |\n"
    for situation in ALL:
        cells = " | ".join(shown(agent, situation) for agent in agents)
        text += f"| {situation.title} | {cells} |\n"
    text += LEGEND
    for situation in SITUATIONS:
        text += f"| {situation.title} | {MEANING[situation.id]} |\n"
    for sequence in SEQUENCES:
        text += f"| {sequence.title} | {sequence.meaning} |\n"
    return text
