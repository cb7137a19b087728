"""Situations that take several commands: two arms, rows that are taken over, a conversation that was
interrupted, and a limit on turns."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass

from situations import LONGER, SKILL, reason


@dataclass(frozen=True)
class Sequence:
    id: str
    title: str
    meaning: str
    # Gives everything that is wrong.
    faults: Callable


def used(row):
    """The skills that were used; None if that is not known."""
    uses = (row.get("skills") or {}).get("used")
    return None if uses is None else sorted(use["name"] for use in uses if use["ok"])


ARMS = "arms.jsonl"
BOTH_ARMS = ["--arm", "with", "--arm", "without", "--filter", "used", "--filter", "longer-name"]


def arms(agent, project):
    report = project.place / "arms.json"
    rows = project.run(ARMS, [*BOTH_ARMS, "--report", f"json={report}"])
    wanted = {"used": SKILL, "longer-name": LONGER}
    for test, skill in wanted.items():
        with_skill, without = ([row for row in rows if (row["evalId"], row["arm"]) == (test, arm)]
                               for arm in ("with", "without"))
        if len(with_skill) != 1 or len(without) != 1:
            yield f"{test}: there are {len(with_skill)} rows with and {len(without)} without skills"
            return
        if with_skill[0]["outcome"] != "passed" or used(with_skill[0]) != [skill]:
            yield f"{test} with skills: {with_skill[0]['outcome']}, used {used(with_skill[0])}"
        # A test of nothing but a skill that the arm lacks is skipped.
        if without[0]["outcome"] != "skipped" and used(without[0]) != []:
            yield f"{test} without skills: used {used(without[0])}: {reason(without[0])}"
    found = {arm["arm"]: arm for arm in json.loads(report.read_text())["arms"]}
    matrix = found["with"].get("skillMatrix") or {"used": [], "rows": [], "steals": None}
    counts = {row["wanted"]: dict(zip(matrix["used"], row["counts"])) for row in matrix["rows"]}
    right = {SKILL: {SKILL: 1, LONGER: 0, None: 0}, LONGER: {SKILL: 0, LONGER: 1, None: 0}}
    if counts != right or matrix["steals"]:
        yield f"the matrix is {matrix}"


def reused(agent, project):
    if not (project.place / ARMS).exists():
        yield "there are no rows to take over"
        return
    before = len(project.requests())
    rows = project.run("again.jsonl", [*BOTH_ARMS, "--reuse-arm", project.place / ARMS])
    kept = [row for row in rows if row["outcome"] != "skipped"]
    again = sorted(f"{row['evalId']}/{row['arm']}" for row in kept if not row.get("reused"))
    if again or not kept:
        yield f"not taken over: {again}"
    if len(project.requests()) != before:
        yield f"the model was asked {len(project.requests()) - before} times"


def resumed(agent, project):
    turns = ["--filter", "first-turn", "--filter", "second-turn"]
    project.interrupt("turns.jsonl", turns, '"evalId":"first-turn"')
    rows = {row["evalId"]: row for row in project.resume("turns.jsonl")}
    for turn in ("first-turn", "second-turn"):
        row = rows.get(turn)
        if not row:
            yield f"{turn}: there is no row"
        elif row["outcome"] != "passed":
            yield f"{turn}: {row['outcome']}: {reason(row)}"


def turn_limit(agent, project):
    project.add_target("limited", {"max_turns": 1})
    rows = project.run("limited.jsonl", ["--filter", "left-alone"], target="limited")
    for row in rows:
        stop = (row.get("agent") or {}).get("stopReason")
        calls = row["traceSummary"]["toolCallCount"]
        if row["outcome"] == "errored" or calls != 1 or stop != agent.turn_limit:
            yield f"{row['outcome']}, {calls} calls, stopped by {stop}: {reason(row)}"
    if not rows:
        yield "there is no row"


def plugin_skill(agent, project):
    words = [word.replace("{plugin}", str(project.suite / "plugin")) for word in agent.plugin]
    project.add_target("plugin", {"args": [*agent.target["args"], *words]})
    rows = {row["evalId"]: row for row in project.run("plugin.jsonl", [], "plugin", "PLUGIN.yaml")}
    for test, outcome in (("plugin-skill", "passed"), ("plugin-skill-unwanted", "failed")):
        row = rows.get(test)
        if not row:
            yield f"{test}: there is no row"
        elif row["outcome"] != outcome or used(row) != ["table-maker"]:
            yield f"{test}: {row['outcome']}, used {used(row)}: {reason(row)}"


def arm_environment(agent, project):
    rows = project.run("env.jsonl", [], suite="ENV.yaml")
    found = {row["arm"]: row["candidateAnswer"] for row in rows}
    for arm, mood in (("plain", "the mood is calm"), ("loud", "the mood is loud")):
        if mood not in (found.get(arm) or ""):
            yield f"{arm}: {found.get(arm)}"


def not_loading(agent, project):
    own = project.target()["command"]
    program = project.suite / "without_loading.py"
    project.add_target("forgetful", {"command": [sys.executable, str(program), *own]})
    turns = ["--filter", "first-turn", "--filter", "second-turn"]
    before = len(project.requests())
    rows = {row["evalId"]: row for row in project.run("forgetful.jsonl", turns, "forgetful")}
    for turn, outcome, why in (("first-turn", "passed", ""), ("second-turn", "errored", "no `loadSession`")):
        row = rows.get(turn)
        if not row:
            yield f"{turn}: there is no row"
        elif row["outcome"] != outcome or why not in reason(row):
            yield f"{turn}: {row['outcome']}: {reason(row)}"
    asked = sum("Which number" in request for request in project.requests()[before:])
    if asked:
        yield "the second turn was asked in a session of its own"


SEQUENCES = [
    Sequence("arms", "two arms", "the skills are used in the arm `with` and not in the arm `without`, "
             "and the matrix of skills shows it", arms),
    Sequence("reused", "arms again", "the rows of both arms are taken over with `--reuse-arm`, and the "
             "model is not asked", reused),
    Sequence("resumed", "resumed", "a run is killed in the second turn of a conversation; after "
             "`--resume` both turns are right", resumed),
    Sequence("turn-limit", "turn limit", "`max_turns: 1` ends the agent after its first call, and what "
             "it did is graded. The other agents have no such limit", turn_limit),
    Sequence("plugin-skill", "skill of a plugin", "a skill of a plugin is used, called `plugin:skill` by the agent, once as "
             "it should be and once not. The suite names the skill alone", plugin_skill),
    Sequence("arm-environment", "variable of an arm", "a variable of `env` of an arm reaches the commands of the agent in this "
             "arm, and not in the other", arm_environment),
    Sequence("not-loading", "turns without loading", "a conversation with an agent that says over the protocol that it "
             "cannot load sessions: the first turn passes, and the second one is errored and not asked", not_loading),
]


def is_for(sequence, agent):
    """Whether an agent has what is tried. Over the Agent Client Protocol turns cannot be limited."""
    return {
        "turn-limit": agent.turn_limit is not None and not agent.acp,
        "plugin-skill": agent.plugin is not None,
        "not-loading": bool(agent.acp),
    }.get(sequence.id, True)
