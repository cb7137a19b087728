#!/usr/bin/env bash
# Prints the cost of the `.co/evals` store: recording on a long history, listing many records.
# Usage: bench/runlog.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig -p evalrig-bench
"$target/release/runlog" "$target/bench/runlog" "$target/release/evalrig" "$@"
