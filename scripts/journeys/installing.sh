# Shared by the journeys that begin with installing evalrig. Without EVALRIG_PACKAGES, programs that put the evalrig of
# PATH in place stand in for the installers, so that nothing is downloaded; with it, the real ones install the packages
# in that directory.
evalrig=$(command -v evalrig || true)

# Writes a program that is found first.
stand_in() {
  cat >"$here/bin/$1"
  chmod +x "$here/bin/$1"
}

# From now on `evalrig` is only what the newcomer has installed.
without_evalrig() {
  rest=
  old=$IFS
  IFS=:
  for directory in $PATH; do
    [ -x "$directory/evalrig" ] || rest=$rest:$directory
  done
  IFS=$old
  PATH=${rest#:}
  if command -v evalrig >/dev/null; then
    echo "evalrig is installed already" >&2
    exit 1
  fi
}
