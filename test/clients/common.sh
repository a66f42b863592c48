# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of test/clients: their arguments, and where what they fetch is kept.
#   --library compassdb PREFIX   an installation under RocksDB's names (default ../../build/drop-in)
#   --library rocksdb            the distribution's librocksdb: how the suite itself is tried
# Sets: library, include, lib, cache (kept between runs, by suite), work (this run's, removed at its end).
set -euo pipefail
suite=$(basename "$(dirname "$(realpath "$0")")")
here=$(cd "$(dirname "$0")" && pwd)
library=compassdb
prefix=$here/../../../build/drop-in
while [ $# -gt 0 ]; do
  case "$1" in
    --library) library=$2; shift ;;
    --prefix) prefix=$2; shift ;;
    *) echo "usage: $0 [--library compassdb|rocksdb] [--prefix DIR]" >&2; exit 2 ;;
  esac
  shift
done
if [ "$library" = rocksdb ]; then
  include=/usr/include
  lib=$(pkg-config --variable=libdir rocksdb)
else
  prefix=$(realpath "$prefix")
  include=$prefix/include
  lib=$(dirname "$(find "$prefix" -name librocksdb.so)")
fi
[ -e "$include/rocksdb/db.h" ] || { echo "$suite: no $include/rocksdb/db.h" >&2; exit 1; }
cache=${COMPASSDB_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/compassdb/clients}/$suite
mkdir -p "$cache" "$(dirname "$cache")/crates"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$lib TMPDIR=$work

need() { # COMMAND...
  local command
  for command in "$@"; do
    command -v "$command" >/dev/null || { echo "$suite: $command is not installed (scripts/install-deps)" >&2; exit 1; }
  done
}

# fetch_crates [DIRECTORY]: the crates of its Cargo.toml (default: ../crates), at $crates/NAME, as they are in the registry.
fetch_crates() {
  need cargo
  local manifest=${1:-$here/../crates} root
  root=$(dirname "$cache")/crates
  [ $# -eq 0 ] || root=$cache/crates
  crates=$root/vendor
  mkdir -p "$root"
  (
    flock 9
    if ! cmp -s "$manifest/Cargo.lock" "$root/Cargo.lock"; then
      rm -rf "$crates" "$root/Cargo.lock"
      cargo vendor --locked --manifest-path "$manifest/Cargo.toml" "$crates" >"$work/cargo.log" 2>&1 \
        || { cat "$work/cargo.log" >&2; exit 1; }
      cp "$manifest/Cargo.lock" "$root/Cargo.lock"
    fi
  ) 9>"$root.lock" || exit 1
}
