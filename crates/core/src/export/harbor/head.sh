#!/bin/bash
# Written by `evalrig export harbor`. The reward is the weighted mean of the checks, or 0 if a required one fails.
shopt -s globstar nullglob dotglob
results=$(mktemp)
mkdir -p /logs/verifier

record() { printf '%s %s %s\n' "$1" "$2" "$3" >>"$results"; }

# Every command runs in a copy of its own.
start_check() {
  EVALRIG_WORKSPACE=$(mktemp -d)
  export EVALRIG_WORKSPACE
  cp -a /app/. "$EVALRIG_WORKSPACE"
}

start_files() { held=0 patterns=0; }

look_for() {
  local found
  found=$(cd /app && set -- $2 && for path in "$@"; do [ -f "$path" ] && echo yes && break; done)
  patterns=$((patterns + 1))
  case $1:$found in exists:yes | absent:) held=$((held + 1)) ;; esac
}

end_files() { score=$(awk "BEGIN { print $held / $patterns }"); }
