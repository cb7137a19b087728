"""The table of results, for the terminal and for the docs."""

from situations import SITUATIONS, kinds, reason

INTRODUCTION = """\
<!-- Written by `scripts/e2e-agents --write`. -->
# Tested agents

What evalrig makes of six real agents. `scripts/e2e-agents` installs them from npm in the versions below, starts a model on
loopback that answers from a script, and runs one suite with each of them. No service is called. It says nothing about
how well models do: it shows that evalrig starts these versions correctly and reads what they print.

Every cell is checked: the outcome, which skills were used and which calls were refused, tokens, and the number of
requests to the model. In every run it is also checked that no key and no login is in the results or on the terminal,
that neither memory nor skills of the user reached the model, and that system messages went where they belong. For Claude
Code, Codex, opencode and Pi the model refuses requests that do not carry the user's login; for Gemini CLI and Copilot CLI
the agent looks for the file.

"""

LEGEND = """
A case that is *failed* has to fail: the skill was used although it should be left alone, or was not used although it
should be. The situations:

| situation | what happens |
|---|---|
"""

MEANING = {
    "answer": "an answer without a tool call",
    "edit": "a file is created",
    "used": "the skill is used by the first call, as it should be",
    "used-unwanted": "the skill is used by the first call, and should not be",
    "left-alone": "another file is read, and the skill is not used, as it should be",
    "missed": "the skill is not used, and should be",
    "late": "the skill is used by the second call, as it should be (`detection: any-call`)",
    "late-unwanted": "the skill is used by the second call, and should not be",
    "refused": "a skill that does not exist is called, which is not a use; it should not be used",
    "refused-wanted": "a skill that does not exist is called, which is not a use; it should be used",
    "longer-name": "`csv-analyzer-pro` is used, and `csv-analyzer` should not be",
    "sub-agent": "a sub-agent uses the skill, which should not be used. Where the agent does not show "
    "what a sub-agent does, the use of skills is not measured. Pi has no sub-agents",
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


def cell(agent, situation, results):
    rows, wrong = results[agent.name]
    if situation.id == "sub-agent" and not agent.delegate:
        return "–"
    row = rows.get(situation.id)
    if situation.id in wrong or not row:
        return "WRONG"
    if row["outcome"] == "errored":
        return f"errored: {kinds(row)[0]}"
    return row["outcome"]


def terminal(agents, results):
    lines = [["situation", *(agent.name for agent in agents)]]
    for situation in SITUATIONS:
        lines.append([situation.title, *(cell(agent, situation, results) for agent in agents)])
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    shown = ["  ".join(word.ljust(width) for word, width in zip(line, widths)) for line in lines]
    for agent in agents:
        rows, wrong = results[agent.name]
        for situation, found in wrong.items():
            shown += [f"{agent.name}/{situation}: {fault}" for fault in found]
        for name, row in rows.items():
            if row["outcome"] == "errored" and name not in wrong:
                shown.append(f"{agent.name}/{name}: {reason(row).splitlines()[0][:160]}")
    return "\n".join(line.rstrip() for line in shown)


def page(agents, results):
    text = INTRODUCTION
    text += "| situation | " + " | ".join(agent.title for agent in agents) + " |\n"
    text += "|---|" + "---|" * len(agents) + "\n"
    text += "| version | " + " | ".join(agent.version for agent in agents) + " |\n"
    for situation in SITUATIONS:
        cells = " | ".join(cell(agent, situation, results) for agent in agents)
        text += f"| {situation.title} | {cells} |\n"
    text += LEGEND
    for situation in SITUATIONS:
        text += f"| {situation.title} | {MEANING[situation.id]} |\n"
    return text
