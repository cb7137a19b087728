"""The situations: what the model replies in each, and what evalrig must make of it."""

from dataclasses import dataclass

from agents import KEY, LOGIN

SKILL, LONGER, MISSING = "csv-analyzer", "csv-analyzer-pro", "csv-missing"
SCRIPT = f".agents/skills/{SKILL}/scripts/sum.sh"
FOREVER = 3_600_000
# Of every reply; the cached tokens are part of the input.
INPUT, CACHED, OUTPUT = 150, 30, 17


@dataclass(frozen=True)
class Situation:
    id: str
    # Heading of the column of the table.
    title: str
    outcome: str
    # Skills that were used, as (name, by a sub-agent).
    used: tuple = ()
    # Skills that were called in vain. An agent may also leave such calls out.
    refused: tuple = ()
    # Replies of the model; None if tokens are unknown.
    replies: int | None = None
    # Kind of the error.
    kind: str | None = None


SITUATIONS = [
    Situation("answer", "answer", "passed", replies=1),
    Situation("edit", "edit", "passed", replies=2),
    Situation("used", "skill used", "passed", ((SKILL, False),), replies=2),
    Situation("used-unwanted", "used, unwanted", "failed", ((SKILL, False),), replies=2),
    Situation("left-alone", "left alone", "passed", replies=2),
    Situation("script", "script of the skill", "passed", ((SKILL, False),), replies=2),
    Situation("script-unwanted", "script, unwanted", "failed", ((SKILL, False),), replies=2),
    Situation("missed", "missed", "failed", replies=1),
    Situation("late", "second call", "passed", ((SKILL, False),), replies=3),
    Situation("late-unwanted", "second call, unwanted", "failed", ((SKILL, False),), replies=3),
    Situation("refused", "refused", "passed", refused=(MISSING,), replies=2),
    Situation("refused-wanted", "refused, wanted", "failed", refused=(MISSING,), replies=2),
    Situation("longer-name", "longer name", "passed", ((LONGER, False),), replies=2),
    Situation("sub-agent", "sub-agent, unwanted", "failed", ((SKILL, True),)),
    Situation("timeout", "timeout", "errored", kind="timeout"),
    Situation("unauthorized", "status 401", "errored"),
    Situation("rate-limit", "rate limit", "errored"),
    Situation("login", "login", "passed", replies=2),
    Situation("system", "system message", "passed", replies=1),
    Situation("first-turn", "first turn", "passed", replies=2),
    Situation("second-turn", "second turn", "passed", replies=1),
]


SYSTEM = next(one for one in SITUATIONS if one.id == "system")


def text(words):
    return {"text": words}


def call(tool):
    name, arguments = tool
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def script(agent):
    """The replies of the model to one agent. The first rule that fits is taken."""
    # Agents ask for titles and the like without offering tools.
    rules = [{"with_tools": False, "reply": text("A title")}]

    def rule(when, reply, **more):
        rules.append({"when": when, **more, "reply": reply})

    def one_call(when, tool, answer):
        rule(when, text(answer), after_tool=True)
        rule(when, call(tool))

    def late(when):
        rule(when, call(agent.skill(SKILL)), when_tool="xyzzy")
        one_call(when, agent.run("cat notes.txt"), "The total is 42.")

    rule("capital of France", text("The capital of France is Paris."))
    one_call("into hello.txt", agent.write("hello.txt", "xyzzy"), "It is there.")
    rule("Carelessly", text("The total is 41."))
    late("Needlessly, first read")
    late("First read notes.txt")
    one_call("Run the script", agent.run(f"sh {SCRIPT} sales.csv"), "The total is 42.")
    one_call("ake a table", agent.skill("tables:table-maker"), "Here it is.")
    one_call("What is the mood", agent.run('echo "the mood is ${E2E_MOOD:-calm}"'), "So {tool_result}")
    # Also "Needlessly, …".
    one_call("do the monthly sales", agent.skill(SKILL), "The total is 42.")
    one_call("What is in notes.txt", agent.run("cat notes.txt"), "The notes say: {tool_result}")
    one_call("skill csv-missing", agent.skill(MISSING), "There is no such skill.")
    one_call("sales be next year", agent.skill(LONGER), "They will be 43.")
    if agent.delegate:
        answer = call(agent.report) if agent.report else text("The total is 42.")
        rule("Sub-task", answer, after_tool=True)
        rule("Sub-task", call(agent.skill(SKILL)))
        # How Claude Code says that a sub-agent in the background has ended.
        rule("somebody else", text("It is 42."), when_body="SYSTEM NOTIFICATION")
        one_call("somebody else", agent.delegate("Sub-task: add up sales.csv."), "It is 42.")
    rule("for an hour", {"text": "never", "delay_ms": FOREVER})
    rule("bad key", {"status": 401})
    rule("too often", {"status": 429, "headers": {"retry-after": "1"}})
    there = f'grep -q e2e-login "$HOME/{agent.login}" && echo the login is there'
    one_call("Is the login there", agent.run(there), "I see: {tool_result}")
    rule("other magic word", text("plugh"), when_body="Always answer with the word plugh.")
    one_call("My number is 42", agent.write("number.txt", "42"), "I will.")
    rule("Which number", text("It was 42."), when_body="My number is 42")
    key = LOGIN if agent.login_on_wire else KEY
    return {"rules": rules, "default": text("I do not know."), "key": key}


def faults(agent, situation, row):
    """Everything in which a row differs from what is right."""
    outcome, kind = agent.differs.get(situation.id, (situation.outcome, situation.kind))
    if row["outcome"] != outcome:
        yield f"the outcome is {row['outcome']}, not {outcome}: {reason(row)}"
        return
    if outcome == "errored":
        if not reason(row):
            yield "there is no reason"
        if kind and kind not in kinds(row):
            yield f"the kinds of errors are {kinds(row)}, not {kind}"
    if situation.outcome == "errored" or "not-measured" in kinds(row):
        return
    yield from skill_faults(agent, situation, row)
    calls = row["traceSummary"]["llmCallCount"]
    if situation.replies and calls not in (None, situation.replies):
        yield f"there were {calls} requests, not {situation.replies}"
    if situation.replies and (agent.counts_tokens or row["tokens"]):
        wanted = {"input": INPUT, "output": OUTPUT, "cached": CACHED, "total": INPUT + OUTPUT}
        wanted = {name: count * situation.replies for name, count in wanted.items()}
        if row["tokens"] != wanted:
            yield f"the tokens are {row['tokens']}, not {wanted}"


def skill_faults(agent, situation, row):
    uses = (row.get("skills") or {}).get("used")
    if uses is None:
        if agent.shows_commands:
            yield "it is not known which skills were used"
        return
    used = sorted((use["name"], use["subagent"]) for use in uses if use["ok"])
    if used != sorted(situation.used):
        yield f"used {used}, not {sorted(situation.used)}"
    refused = {use["name"] for use in uses if not use["ok"]}
    if not refused <= set(situation.refused):
        yield f"refused {sorted(refused)}"


def kinds(row):
    """Of the errors of the case and of its assertions."""
    found = [row["error"]] + [result.get("error") for result in row["evaluatorResults"] or []]
    return [error["kind"] for error in found if error]


def reason(row):
    """Why a case is errored."""
    found = [row["error"]] + [result.get("error") for result in row["evaluatorResults"] or []]
    said = [error["message"] for error in found if error]
    misses = [miss for result in row["evaluatorResults"] or [] for miss in result["misses"]]
    return "; ".join(said or misses)
