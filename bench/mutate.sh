#!/usr/bin/env bash
# Prints what a damaged answer costs with deterministic checks, and how often the time of grading the
# stored answers once it takes to damage and grade all of them.
# Usage: bench/mutate.sh [--gate]     (--gate: exit 1 when a mutant costs 1 ms or more)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig-bench
"$target/release/mutate" "$@"
