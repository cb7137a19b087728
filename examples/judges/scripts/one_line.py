"""Grades a commit message: JSON with the answer on standard input, JSON with a score on standard
output. Anything else that should be said goes to standard error."""

import json
import sys


def main() -> None:
    payload = json.load(sys.stdin)
    answer = payload["answer"].strip()
    longest = payload["config"].get("longest", 72)
    checks = [
        ("The message is one line", "\n" not in answer and answer != ""),
        (f"The message has at most {longest} characters", len(answer) <= longest),
        ("The message does not end with a full stop", not answer.endswith(".")),
    ]
    json.dump({"assertions": [{"text": text, "passed": passed} for text, passed in checks]}, sys.stdout)


if __name__ == "__main__":
    main()
