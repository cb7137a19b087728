#!/bin/sh
# The suite must notice a bot that is wrong about everything. Exit code 1 of a run is "a test failed".
cat >bot.py <<'END'
print("It costs $12, and you can never return it.")
END
evalrig run evals/EVAL.yaml --no-record --report json=broken-run.json
[ $? -eq 1 ]
