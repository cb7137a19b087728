#!/usr/bin/env bash
# Prints what a comparison with four baseline runs takes next to one with a single one: 10,000 tests with
# 10 trials each, 100,000 rows per file.
# Usage: bench/compare.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
programs=$target/release
files=$target/bench/compare

cargo build --quiet --release -p evalrig -p evalrig-bench

mkdir -p "$files"
"$programs/compare_runs" --generate "$files"
"$programs/compare_runs" "$@" "$programs/evalrig" "$files"
