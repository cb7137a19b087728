#!/usr/bin/env bash
# The steps of action.yml. Inputs arrive in variables, so that no input becomes part of a script.
#
# usage: steps.sh install | evaluate | comment | conclude
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$RUNNER_TEMP/evalrig-out
baseline=$RUNNER_TEMP/evalrig-baseline

# Puts the binary in the PATH of the following steps. Without a version, that of the action.
install() {
  local version=${INPUT_VERSION:-}
  if [ "$version" = none ]; then
    evalrig --version
    return
  fi
  if [ -z "$version" ]; then
    version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
  fi
  export EVALRIG_VERSION=$version EVALRIG_INSTALL_DIR=$RUNNER_TEMP/evalrig-bin
  sh "$root/packaging/install.sh"
  echo "$EVALRIG_INSTALL_DIR" >>"$GITHUB_PATH"
}

set_output() {
  printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# Splits at white space, without patterns of the shell: evalrig has its own.
split() {
  set -f
  # shellcheck disable=SC2206
  words=($1)
  set +f
}

is_default_branch() {
  [ "${GITHUB_EVENT_NAME:-}" = push ] && [ "${GITHUB_REF_NAME:-}" = "${DEFAULT_BRANCH:-main}" ]
}

# What takes the place of the report where there is none, so that the comment of an earlier run does not stay.
write_summary() {
  printf '## %s\n\n' "$1" >"$out/summary.md"
  # Indented, because no text of a suite ends such a block.
  head -n 100 | sed 's/^/    /' >>"$out/summary.md"
  cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
}

# Checks and runs the suites. Fails only if evalrig could not be called: `conclude` fails the job, after the reports
# have been shown.
evaluate() {
  # Of an earlier use of the action in the same job.
  rm -rf "$out"
  mkdir -p "$out"
  local code=0 paths options=()
  split "${INPUT_PATHS:-}"
  paths=("${words[@]+"${words[@]}"}")
  if [ "${INPUT_VALIDATE:-true}" = true ]; then
    [ "${INPUT_STRICT:-false}" != true ] || options+=(--strict)
    evalrig validate --format github "${options[@]+"${options[@]}"}" -- \
      "${paths[@]+"${paths[@]}"}" || code=$?
    set_output exit-code "$code"
    if [ "$code" -ne 0 ]; then
      options+=(--format concise)
      { evalrig validate "${options[@]}" -- "${paths[@]+"${paths[@]}"}" 2>&1 || true; } |
        write_summary "evalrig: the suites have errors"
      return 0
    fi
  fi
  [ "${INPUT_RUN:-true}" = true ] || return 0

  options=(
    --output "$out/results.jsonl"
    --report github
    --report "junit=$out/junit.xml"
    --report "html=$out/report.html"
    --report "markdown=$out/summary.md"
  )
  [ -z "${INPUT_TRIALS:-}" ] || options+=(--trials "$INPUT_TRIALS")
  [ -z "${INPUT_BUDGET:-}" ] || options+=(--budget-usd "$INPUT_BUDGET")
  if [ "${INPUT_BASELINE:-false}" = true ] && ! is_default_branch; then
    if [ -f "$baseline/results.jsonl" ]; then
      options+=(--baseline "$baseline/results.jsonl" --gate)
    else
      echo "::notice::There is no run of the default branch to compare with yet."
    fi
  fi
  split "${INPUT_ARGS:-}"
  evalrig run "${options[@]}" "${words[@]+"${words[@]}"}" -- "${paths[@]+"${paths[@]}"}" || code=$?
  # A later use of the action has a baseline of its own, or none.
  rm -rf "$baseline"

  # The log of the job has what a terminal would show; `github` prints annotations only.
  if [ -f "$out/results.jsonl" ]; then
    evalrig report "$out/results.jsonl" || true
  fi
  if [ -f "$out/summary.md" ]; then
    cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
  else
    echo "exit code $code; the log of the job says why" | write_summary "evalrig: the suites could not be run"
  fi
  if [ -f "$out/results.jsonl" ]; then
    set_output results "$out/results.jsonl"
  fi
  # A complete run of the default branch is a measurement, whatever it shows.
  if [ "${INPUT_BASELINE:-false}" = true ] && is_default_branch && [ "$code" -le 1 ]; then
    mkdir -p "$baseline"
    cp "$out/results.jsonl" "$baseline/results.jsonl"
    set_output is-baseline true
    code=0
  fi
  set_output exit-code "$code"
}

# Writes the comment. Tokens of forks and of Dependabot must not: the job goes on, and the summary has the report.
comment() {
  [ -f "$out/summary.md" ] || return 0
  replace_comment || echo "::warning::The report could not be written as a comment on the pull request, because its" \
    "token must not. The summary of the job has it."
}

# Replaces the comment of an earlier run, so that a pull request has one for every use of the action. Uses have
# artifacts of different names.
replace_comment() {
  local name=${INPUT_ARTIFACT:-evalrig} marker='<!-- evalrig -->' body=$RUNNER_TEMP/evalrig-comment.md id
  name=${name//[^A-Za-z0-9._ -]/}
  [ "$name" = evalrig ] || marker="<!-- evalrig: $name -->"
  local comments=repos/$GITHUB_REPOSITORY/issues found
  # GitHub accepts 65,536 characters.
  { echo "$marker" && awk '{ size += length($0) + 1 } size < 60000' "$out/summary.md"; } >"$body"
  found=$(gh api "$comments/$PULL_REQUEST/comments" --paginate \
    --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id") || return 1
  id=${found%%$'\n'*}
  if [ -n "$id" ]; then
    gh api --silent --method PATCH "$comments/comments/$id" --field "body=@$body"
  else
    gh api --silent --method POST "$comments/$PULL_REQUEST/comments" --field "body=@$body"
  fi
}

conclude() {
  exit "${EXIT_CODE:-2}"
}

case ${1:-} in
  install | evaluate | comment | conclude) "$1" ;;
  *)
    sed -n 's/^# usage: //p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
