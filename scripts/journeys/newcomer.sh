# Shared by the journeys: a repository of its own, and a count of what the newcomer types. `evalrig` is found in PATH.

here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
mkdir "$here/bin" "$here/repository"
PATH="$here/bin:$PATH"
export PATH
# A person's terminal, without keys and without settings of the machine.
unset CI OPENAI_API_KEY ANTHROPIC_API_KEY
cd "$here/repository"
mkdir .git
typed=0

# Runs what the newcomer types. The exit code is in `code`.
types() {
  typed=$((typed + 1))
  printf '$ %s\n' "$*"
  code=0
  "$@" >"$here/shown" 2>&1 || code=$?
  cat "$here/shown"
}

shows() {
  if ! grep -qF -- "$1" "$here/shown"; then
    printf 'the last command should show: %s\n' "$1" >&2
    exit 1
  fi
}

exits() {
  if [ "$code" -ne "$1" ]; then
    printf 'the last command exits with %s, not %s\n' "$code" "$1" >&2
    exit 1
  fi
}

ends_after() {
  if [ "$typed" -ne "$1" ]; then
    printf 'the journey takes %s commands, not %s\n' "$typed" "$1" >&2
    exit 1
  fi
  printf 'commands: %s\n' "$typed"
}
