"""Compares the rows of a run with what the replies in model.json must lead to.

usage: check.py RUN ROWS
"""

import json
import math
import sys
from collections import namedtuple

Want = namedtuple("Want", "outcome answer calls turns trigger")
Call = namedtuple("Call", "tool argument result")

# What a reply of the model counts; the cached tokens are part of the input.
INPUT, CACHED, OUTPUT = 150, 30, 17
# What a reply costs: by Claude Code's own reckoning, and by the `price` of the targets file.
COST = {"claude": 0.000826, "codex": 0.00032375}
# Claude Code says when calls begin and end, Codex does not.
TIMES_CALLS = {"claude"}

PARIS = "The capital of France is Paris."
NOTES = "the magic word is xyzzy"
TOTAL = "The total is 42."
USED = "Skill 'csv-analyzer' triggered (first call: Skill)"
UNUSED = "Skill 'csv-analyzer' did not trigger (first call: {})"
# What trigger-judge makes of a test: its score and its sentence.
LEFT_ALONE = {tool: (1.0, UNUSED.format(tool)) for tool in ("none", "Bash", "command_execution")}
MISSED = (0.0, UNUSED.format("none"))

# By run and test. Of a call: the tool, an argument with a part of its text, a part of the result.
# Codex has no tool for skills, so that trigger-judge has no place in its skill test.
RUNS = {
    "claude": {
        "plain-answer": Want("passed", PARIS, [], 1, LEFT_ALONE["none"]),
        "tool-result": Want(
            "passed",
            f"The notes say: {NOTES}",
            [Call("Bash", ("command", "cat notes.txt"), NOTES)],
            2,
            LEFT_ALONE["Bash"],
        ),
        "skill": Want(
            "passed",
            TOTAL,
            [Call("Skill", ("skill", "csv-analyzer"), "Launching skill: csv-analyzer")],
            2,
            (1.0, USED),
        ),
    },
    "codex": {
        "plain-answer": Want("passed", PARIS, [], 1, LEFT_ALONE["none"]),
        "tool-result": Want(
            "passed",
            NOTES,
            [Call("command_execution", ("command", "cat notes.txt"), NOTES)],
            2,
            LEFT_ALONE["command_execution"],
        ),
        "skill": Want(
            "passed",
            TOTAL,
            [Call("command_execution", ("command", "csv-analyzer/SKILL.md"), "# CSV analyzer")],
            2,
            None,
        ),
    },
    "claude-without-skill": {"skill": Want("failed", "I do not know.", [], 1, MISSED)},
    "codex-without-skill": {"skill": Want("failed", "I do not know.", [], 1, None)},
}


def faults(row, want, agent):
    """Everything in which a row differs from what is wanted."""

    def differs(what, found, wanted):
        if found != wanted:
            yield f"{what}: found {found!r}, wanted {wanted!r}"

    yield from differs("error", row["error"], None)
    yield from differs("outcome", row["outcome"], want.outcome)
    yield from differs("target", row["target"], agent)
    if want.answer not in (row["candidateAnswer"] or ""):
        yield f"answer: found {row['candidateAnswer']!r}, wanted {want.answer!r} in it"
    if not row["durationMs"]:
        yield "duration: there is none"

    counts = {"input": INPUT, "output": OUTPUT, "total": INPUT + OUTPUT, "cached": CACHED}
    tokens = {name: count * want.turns for name, count in counts.items()}
    yield from differs("tokens", row["tokens"], tokens)
    cost = COST[agent] * want.turns
    if row["costUsd"] is None or not math.isclose(row["costUsd"], cost, rel_tol=1e-6):
        yield f"cost: found {row['costUsd']}, wanted {cost}"

    summary = row["traceSummary"]
    tools = sorted({call.tool for call in want.calls})
    yield from differs("names of tools", summary["toolNames"], tools)
    yield from differs("number of calls", summary["toolCallCount"], len(want.calls))
    yield from differs("number of model calls", summary["llmCallCount"], want.turns)

    judged = [
        (result["score"], (result["hits"] + result["misses"])[0])
        for result in row["evaluatorResults"]
        if result["type"] == "trigger-judge"
    ]
    yield from differs("trigger-judge", judged, [want.trigger] if want.trigger else [])
    yield from call_faults(row["outputMessages"], want, agent)


def call_faults(messages, want, agent):
    found = [call for message in messages for call in message.get("tool_calls", [])]
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    names = [call["function"]["name"] for call in found]
    if names != [call.tool for call in want.calls]:
        yield f"calls: found {names}, wanted {[call.tool for call in want.calls]}"
        return
    for call, wanted in zip(found, want.calls):
        name, part = wanted.argument
        arguments = json.loads(call["function"]["arguments"])
        if part not in arguments.get(name, ""):
            yield f"arguments of {wanted.tool}: found {arguments}, wanted {part!r} as {name}"
        result = results.get(call["id"]) or ""
        if wanted.result not in result:
            yield f"result of {wanted.tool}: found {result!r}, wanted {wanted.result!r} in it"
        if ("duration_ms" in call) != (agent in TIMES_CALLS):
            yield f"duration of {wanted.tool}: found {call.get('duration_ms')}"


def sentence(row):
    tokens, calls = row["tokens"], row["traceSummary"]["toolNames"]
    outcome = "passed" if row["outcome"] == "passed" else f"{row['outcome']} as it should"
    return (
        f"{outcome}, called {', '.join(calls) or 'nothing'}; "
        f"{tokens['input']} tokens in ({tokens['cached']} cached), {tokens['output']} out, "
        f"${row['costUsd']:.6f}"
    )


def main(run, path):
    wanted, agent = RUNS[run], run.split("-")[0]
    with open(path, encoding="utf-8") as lines:
        rows = {row["evalId"]: row for row in map(json.loads, lines) if "kind" not in row}
    if rows.keys() != wanted.keys():
        print(f"{run}: found rows of {sorted(rows)}, wanted {sorted(wanted)}", file=sys.stderr)
        return 1
    code = 0
    for test, want in wanted.items():
        found = list(faults(rows[test], want, agent))
        for fault in found:
            print(f"{run}/{test}: {fault}", file=sys.stderr)
        if found:
            code = 1
        else:
            print(f"{run}/{test}: {sentence(rows[test])}")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
