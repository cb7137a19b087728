#!/usr/bin/env bash
# Prints what reading a long stream of Claude Code costs next to parsing its lines with serde_json, and the
# peak of memory besides the transcript that is kept.
# Usage: bench/agent-stream.sh [MEGABYTES]     (exits with 1 above the limits)
set -euo pipefail

cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build --quiet --release -p evalrig-bench --bin agent_stream

"$target/release/agent_stream" "$@"
