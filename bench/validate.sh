#!/usr/bin/env bash
# Prints the cost of `evalrig validate` next to its baselines, all measured in this run.
# Usage: bench/validate.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
programs=$target/release
files=$target/bench

cargo build --quiet --release -p evalrig -p evalrig-bench

for count in 1000 10000 30000; do
  mkdir -p "$files/$count"
  "$programs/generate" yaml "$count" "$files/$count/EVAL.yaml"
done
"$programs/generate" jsonl 100000 "$files/few.jsonl"
"$programs/generate" jsonl 1000000 "$files/many.jsonl"
# With a sidecar there is nothing to warn about.
for name in few many; do
  echo "name: generated-$name" >"$files/$name.yaml"
done

"$programs/measure" "$@" "$programs" "$files"
