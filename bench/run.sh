#!/usr/bin/env bash
# Prints the cost of `evalrig run` next to its ideals and floors, all measured in this run.
# Usage: bench/run.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
programs=$target/release
files=$target/bench/run

cargo build --quiet --release -p evalrig -p evalrig-bench

rm -rf "$files"
mkdir -p "$files"
"$programs/generate" small-yaml 1000 "$files/EVAL.yaml"
for count in 1000 10000 100000; do
  "$programs/generate" small-jsonl "$count" "$files/$count.jsonl"
  # With a sidecar there is nothing to warn about.
  echo "name: small-$count" >"$files/$count.yaml"
done

"$programs/measure_run" "$@" "$programs" "$files"
