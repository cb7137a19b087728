#!/usr/bin/env bash
# Shows what the `.co/evals` store costs: recording on a long history, listing many records.
# Usage: bench/runlog.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig -p evalrig-bench
"$target/release/runlog" "$target/bench/runlog" "$target/release/evalrig" "$@"
