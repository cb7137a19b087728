#!/bin/sh
# Three tests with different ids, and the three kinds of checks.
evalrig list broken/suite.yaml --format json >listed.json || exit 1
python3 - <<'END'
import json
suites = json.load(open("listed.json"))["suites"]
tests = [test for suite in suites for test in suite["tests"]]
kinds = sorted(kind for test in tests for kind in test["assertions"])
assert len({test["id"] for test in tests}) == 3, tests
assert {"is-json", "regex"} <= set(kinds) and any("contains" in kind for kind in kinds), kinds
END
