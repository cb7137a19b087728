"""Reads every file of a store as strictly as PyYAML does, and says what it found."""

import json
import pathlib
import re

import yaml

TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")


def text(value):
    assert isinstance(value, str), value
    return value


def entry(data):
    assert isinstance(data["run"], int)
    for key in ("output", "expected", "evaluation"):
        text(data[key])
    for call in data["tools_called"]:
        text(call)
    meta = json.loads(data["meta"])
    assert list(meta) == ["tokens", "cost", "duration_ms", "ts"]
    assert TIME.fullmatch(meta["ts"])
    return data["output"]


outputs = []
for path in sorted(pathlib.Path(".co/evals").glob("*.yaml")):
    record = yaml.safe_load(path.read_bytes())
    assert list(record) == ["name", "created", "updated", "runs", "model", "turns"]
    assert text(record["name"]) == path.stem
    assert TIME.fullmatch(text(record["created"])) and TIME.fullmatch(text(record["updated"]))
    for turn in record["turns"]:
        text(turn["input"])
        outputs += [entry(one) for one in [turn, *turn["history"]]]
    for run in sorted((path.parent / path.stem).glob("run_*.yaml")):
        data = yaml.safe_load(run.read_bytes())
        for key in ("system_prompt", "model", "cwd", "timestamp"):
            text(data[key])
        assert json.loads(data["messages"])[0]["role"]
print(json.dumps(outputs))
