# Written by `evalrig convert`: runs Python checks of another tool as a judge script of evalrig.
#
# It reads the test and the answer from standard input and prints `{"score": …}`. `config` says what to
# check: `type`, `value`, and sometimes `threshold`, `negate` and `function`. Every check is decided as in
# promptfoo. With `score: value` the score of the check is printed, otherwise 1 or 0.

import contextlib
import importlib.util
import inspect
import json
import os
import re
import sys

payload = json.load(sys.stdin)
check = payload["config"]
variables = (payload.get("metadata") or {}).get("vars") or {}
context = {
    "prompt": payload["question"],
    "vars": variables,
    "test": {"vars": variables, "metadata": payload.get("metadata") or {}},
    "config": check.get("config") or {},
    "metadata": {},
    "providerResponse": {"output": payload["answer"]},
}


def run_code(code, output):
    """One line is an expression; several lines are the body of a function."""
    if "\n" not in code:
        body = "    return " + code
    else:
        indent = next((line[: len(line) - len(line.lstrip())] for line in code.split("\n")
                       if line.strip() and line[:1] in " \t"), "    ")
        body = "\n".join(indent + line for line in code.split("\n"))
    scope = {}
    exec("import json\n\ndef main(output, context):\n" + body + "\n", scope)
    return scope["main"](output, context)


def run_file(path, name, output):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("converted_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = getattr(module, name or "get_assert")(output, context)
    if inspect.iscoroutine(result):
        import asyncio
        result = asyncio.run(result)
    return result


def outcome(result):
    """What a function returned, as (pass, score, reason); without a score it is 1 or 0."""
    threshold = check.get("threshold")
    if isinstance(result, str) and result.lower() in ("true", "false"):
        result = result.lower() == "true"
    if isinstance(result, bool):
        return result, None, None
    if isinstance(result, str) and result.startswith("{"):
        result = json.loads(result)
    if isinstance(result, dict):
        passed, score, reason = result.get("pass", result.get("pass_")), result.get("score"), result.get("reason")
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if not isinstance(passed, bool) or not is_number or not isinstance(reason, str):
            raise ValueError("the function returned " + json.dumps(result, default=str))
        if threshold is not None and score < threshold:
            passed = False
        return passed, score, reason
    number = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", str(result))
    if not number:
        raise ValueError("the function returned " + repr(result))
    score = float(number.group())
    return (score > 0 if threshold is None else score >= threshold), score, None


def grade(output):
    """A grader of the OpenAI Evals API."""
    try:
        parsed = json.loads(output)
    except ValueError:
        parsed = None
    calls = [call for message in payload["outputMessages"] for call in message.get("tool_calls") or []]
    sample = {
        "output_text": output,
        "output_json": parsed,
        "output_tools": calls,
        "choices": [{"message": {"role": "assistant", "content": output, "tool_calls": calls}}],
    }
    scope = {}
    exec(check["value"], scope)
    score = float(scope["grade"](sample, check["item"]))
    return score >= check["threshold"], score, f"grade returned {score:g}"


def judge(output):
    if check["type"] == "expressions":
        calls = [call for message in payload["outputMessages"] for call in message.get("tool_calls") or []]
        scope = {
            "output": output,
            "tool_calls": [{"name": call["function"]["name"], "args": call["function"]["arguments"]}
                           for call in calls],
            "duration_ms": payload.get("duration_ms"),
            "re": re,
        }
        failed = [code for code in check["value"] if not eval(code, dict(scope))]
        return not failed, 1 - len(failed) / len(check["value"]), "; ".join(failed)
    if check["type"] == "grade":
        return grade(output)
    if len(sys.argv) > 1:
        return outcome(run_file(sys.argv[1], check.get("function"), output))
    return outcome(run_code(check["value"], output))


# Whatever the check prints must not be mistaken for the result.
with contextlib.redirect_stdout(sys.stderr):
    try:
        passed, score, reason = judge(payload["answer"])
        passed = passed != bool(check.get("negate"))
    except Exception as error:
        passed, score, reason = False, None, f"{type(error).__name__}: {error}"

holds = 1 if passed else 0
score = holds if score is None else score
told = [reason] if reason else []
print(json.dumps({
    "score": min(1, max(0, score)) if check.get("score") == "value" else holds,
    "hits": told if passed else [],
    "misses": [] if passed else told or [check["type"] + " does not hold"],
    "details": {"pass": passed, "score": score},
}))
