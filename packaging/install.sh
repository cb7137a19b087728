#!/bin/sh
# Installs the evalrig binary of a release: downloads the archive for this machine, checks its SHA-256 checksum, and
# puts `evalrig` into a directory. Needs curl or wget, and tar.
#
#   EVALRIG_VERSION      the release, such as 0.1.0 [default: the latest]
#   EVALRIG_INSTALL_DIR  where to install [default: ~/.local/bin]
#   EVALRIG_DOWNLOAD     address of a directory with the archives and SHA256SUMS, for mirrors
set -eu

releases=https://github.com/evalrig/evalrig/releases

fail() {
  printf 'evalrig: %s\n' "$1" >&2
  exit 1
}

# The name that Rust gives this machine.
target() {
  case $(uname -m) in
    x86_64 | amd64) architecture=x86_64 ;;
    aarch64 | arm64) architecture=aarch64 ;;
    *) fail "there is no binary for $(uname -m); install with cargo instead" ;;
  esac
  case $(uname -s) in
    Linux) echo "$architecture-unknown-linux-musl" ;;
    Darwin) echo "$architecture-apple-darwin" ;;
    *) fail "there is no installer for $(uname -s); install with npm, pip or cargo instead" ;;
  esac
}

download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1" || fail "cannot download $1"
  else
    fail "curl or wget is needed"
  fi
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d' ' -f1
  else
    shasum -a 256 "$1" | cut -d' ' -f1
  fi
}

# In a function, so that nothing runs before the whole script has arrived.
install_evalrig() {
  version=${EVALRIG_VERSION:-latest}
  directory=${EVALRIG_INSTALL_DIR:-$HOME/.local/bin}
  case $version in
    latest) from=$releases/latest/download ;;
    *) from=$releases/download/v${version#v} ;;
  esac
  from=${EVALRIG_DOWNLOAD:-$from}
  target=$(target)
  archive=evalrig-$target.tar.gz

  temporary=$(mktemp -d)
  trap 'rm -rf "$temporary"' EXIT
  download "$from/SHA256SUMS" "$temporary/SHA256SUMS"
  download "$from/$archive" "$temporary/$archive"
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$temporary/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS has no line for $archive"
  [ "$(sha256 "$temporary/$archive")" = "$expected" ] ||
    fail "the checksum of $archive is wrong; nothing was installed"

  tar -xzf "$temporary/$archive" -C "$temporary"
  mkdir -p "$directory"
  # Renamed into place, so that a running evalrig is not overwritten.
  cp "$temporary/evalrig-$target/evalrig" "$directory/.evalrig.new"
  chmod 755 "$directory/.evalrig.new"
  mv -f "$directory/.evalrig.new" "$directory/evalrig"
  printf 'installed %s as %s\n' "$("$directory/evalrig" --version)" "$directory/evalrig"
  case :$PATH: in
    *:"$directory":*) ;;
    *) printf 'add %s to your PATH\n' "$directory" ;;
  esac
}

install_evalrig
