"""Stands in for a coding agent: takes the examples of the skill if it was given the skill."""

import pathlib
import re
import sys

SKILL = pathlib.Path(".agents/skills/evalrig/SKILL.md")

FROM_MEMORY = """\
name: bot
tests:
  - prompt: Can I return it?
    expected: 30 days
    asserts: [{type: contains, value: 30 days}]
"""

MENDED = """\
name: support-bot
tests:
  - id: refund-window
    criteria: Says that refunds are possible for 30 days
    input: "Can I return a lamp after three weeks?"
    expected_output: "30 days"
    assert:
      - type: contains
        value: 30 days
  - id: no-invented-price
    criteria: Does not name a price
    input: "What does the blue lamp cost?"
    assert:
      - type: regex
        value: '[$€£]\\s?\\d'
        negate: true
  - id: order-as-json
    criteria: Answers with nothing but JSON
    input: "Order 17 as JSON with the keys id and status"
    assert:
      - type: is-json
"""


def write(path, text):
    place = pathlib.Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def main():
    question = sys.stdin.read()
    has_skill = SKILL.is_file()
    if "Mend it" in question:
        # What the table of wrong names in the skill leads to.
        if has_skill:
            write("broken/suite.yaml", MENDED)
    elif has_skill:
        suite, targets = re.findall(r"```yaml\n(.*?)```", SKILL.read_text(), re.S)[:2]
        write("evals/EVAL.yaml", suite)
        write(".evalrig/targets.yaml", targets)
    else:
        write("evals/EVAL.yaml", FROM_MEMORY)
        write(".evalrig/targets.yaml", "targets:\n  - {name: default, provider: cli, command: [python3, bot.py]}\n")
    print("Done.")


main()
