#!/usr/bin/env bash
# Prints the cost of workspaces next to a bare copy and a bare walk of the same files, and what they add to a run.
# Usage: bench/workspace.sh [--gate] [--short]
#   --gate   exit 1 when a figure is over its limit
#   --short  without the tree of 100,000 files, which takes minutes to create
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig -p evalrig-bench
"$target/release/workspace" "$target/bench/workspace" "$@"
