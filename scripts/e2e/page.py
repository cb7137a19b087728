"""The table of results, for the terminal and for the docs."""

from situations import SITUATIONS, kinds, reason

SYMBOLS = {"passed": "passed", "failed": "failed", "errored": "errored"}


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
        for situation, found in results[agent.name][1].items():
            shown += [f"{agent.name}/{situation}: {fault}" for fault in found]
    for agent in agents:
        rows, wrong = results[agent.name]
        for name, row in rows.items():
            if row["outcome"] == "errored" and name not in wrong:
                shown.append(f"{agent.name}/{name}: {reason(row).splitlines()[0][:160]}")
    return "\n".join(line.rstrip() for line in shown)


def page(agents, results):
    return ""
