# Runs the tests of the task in a copy of the workspace, where its absolute paths do not exist.
here=$PWD
logs=$here/.task-logs
mkdir -p "$logs/verifier" "$logs/agent" "$logs/artifacts"
as_replacement() { printf '%s' "$1" | sed 's/[&#\\]/\\&/g'; }
relocate() {
  find "$@" -type f | while IFS= read -r file; do
    LC_ALL=C grep -Iq . "$file" || continue
    sed -E -e ':again' \
      -e 's#(^|[^A-Za-z0-9_.@/-])(/logs|/tests|@WORKDIR@)($|[^A-Za-z0-9_.-])#\1@@\2\3#' -e 'tagain' \
      -e "s#@@/logs#$(as_replacement "$logs")#g" -e "s#@@/tests#$(as_replacement "$here/tests")#g" \
      -e "s#@@@WORKDIR@#$(as_replacement "$here")#g" "$file" >"$logs/relocated" || exit 1
    cat "$logs/relocated" >"$file"
  done
}
