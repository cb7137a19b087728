#!/usr/bin/env bash
# Prints how long the language server takes: diagnostics after a keystroke and completion in a file of 1,000 tests,
# next to `evalrig validate` of the same file, all measured in this run.
# Usage: bench/lsp.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig -p evalrig-bench
mkdir -p "$target/bench/lsp"
"$target/release/generate" yaml 1000 "$target/bench/lsp/EVAL.yaml"
"$target/release/lsp" "$target/release/evalrig" "$target/bench/lsp/EVAL.yaml" "$@"
