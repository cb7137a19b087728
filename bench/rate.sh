#!/usr/bin/env bash
# Prints how well several processes keep to one limit on requests, and how much of it they use.
# Usage: bench/rate.sh [--gate]     (--gate: exit 1 when a figure is over its limit)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig -p evalrig-bench
"$target/release/rate" "$target/bench/rate" "$target/release/evalrig" "$@"
