#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packaging_test.sh BUILD LIBDIR COMPILER: installs BUILD into new directories and uses it from there
# the ways users do: pkg-config, CMake, plain -lrocksdb, and a program that was linked with RocksDB.
set -u -o pipefail
build=$(realpath "$1") libdir=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
failures=0
checks=0

fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

# expect WHAT WANTED command...: the output of the command.
expect() {
  local what=$1 wanted=$2 got
  shift 2
  checks=$((checks + 1))
  got=$("$@" 2>stderr) || fail "$what: exit code $?: $* ($(head -c 2000 stderr))"
  [ "$got" = "$wanted" ] || fail "$what: [$got] instead of [$wanted] ($(head -c 500 stderr))"
}

# works WHAT command...: exit code 0.
works() {
  local what=$1
  shift
  checks=$((checks + 1))
  "$@" >output 2>&1 || fail "$what: $* ($(tail -c 2000 output))"
}

needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | { grep -E 'compassdb|rocksdb' || true; } | xargs; }
soname() { readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'; }
listing() { find "$1" \( -type f -o -type l \) -printf '%P\n' | sort; }
tour() { # PROGRAM LIBRARIES
  rm -rf "$work/data"
  LD_LIBRARY_PATH=$2 "$1" "$work/data"
}
install_into() { # PREFIX COMPONENT...
  local prefix=$1
  shift
  cmake -DBUILD="$build" -DPREFIX="$prefix" "-DCOMPONENTS=$(IFS=\; ; echo "$*")" -P "$here/install.cmake"
}

plain=$work/plain drop=$work/drop
works "install" install_into "$plain" runtime development
works "install as librocksdb" install_into "$drop" runtime development rocksdb-runtime rocksdb-development

# Without the switch nothing is in the way of RocksDB's own packages.
expect "no name of RocksDB's is taken" "" \
  sh -c "find '$plain' -name '*rocksdb*' ! -path '$plain/include/compassdb/rocksdb*'"
abi=$(soname "$plain/$libdir/libcompassdb.so")
expect "the names of the library" "libcompassdb.so libcompassdb.so.${abi#libcompassdb.so.}" \
  sh -c "cd '$plain/$libdir' && ls -d libcompassdb.so '$abi' | xargs"
for name in librocksdb.so.7 librocksdb.so.7.8; do
  expect "SONAME of $name" "$name" soname "$drop/$libdir/$name"
  expect "one engine behind $name" "$abi" needed "$drop/$libdir/$name"
done

# pkg-config, for each name: shared, static, and the version of the interface.
by_pkg_config() { # NAME PREFIX VERSION
  export PKG_CONFIG_PATH=$2/$libdir/pkgconfig
  expect "version of $1.pc" "$3" pkg-config --modversion "$1"
  # shellcheck disable=SC2046
  works "pkg-config $1" "$cxx" -std=c++17 "$here/tour.cc" -o "$1-shared" $(pkg-config --cflags --libs "$1")
  expect "what it is linked with" "$abi" needed "$1-shared"
  expect "pkg-config $1" compassdb tour "./$1-shared" "$2/$libdir"
  local flags
  flags=$(pkg-config --static --cflags --libs "$1" | sed "s| -l$1 | -l:lib$1.a |")
  # shellcheck disable=SC2086
  works "pkg-config --static $1" "$cxx" -std=c++17 "$here/tour.cc" -o "$1-static" $flags
  expect "nothing of ours is left to load" "" needed "$1-static"
  expect "pkg-config --static $1" compassdb tour "./$1-static" ""
  unset PKG_CONFIG_PATH
}
version=$(sed -n 's/^#define COMPASSDB_VERSION "\(.*\)"/\1/p' "$plain/include/compassdb/rocksdb/version.h")
by_pkg_config compassdb "$plain" "$version"
by_pkg_config rocksdb "$drop" 7.8.3

# find_package, with the targets that RocksDB's own has.
by_cmake() { # PACKAGE PREFIX VERSION STATIC SHARED
  works "find_package($1)" cmake -S "$here/project" -B "$1" -DCMAKE_PREFIX_PATH="$2" -DCMAKE_CXX_COMPILER="$cxx" \
    -DPACKAGE="$1" -DVERSION="$3" "-DLIBRARIES=$4;$5" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF
  works "build with $1" cmake --build "$1"
  local static=tour_${4//[:-]/_} shared=tour_${5//[:-]/_}
  expect "$4 needs no library of ours" "" needed "$1/$static"
  expect "$5 is linked with" "$abi" needed "$1/$shared"
  expect "$4" compassdb tour "$1/$static" ""
  expect "$5" compassdb tour "$1/$shared" ""
}
by_cmake compassdb "$plain" "${version%.*}" compassdb::compassdb_static compassdb::compassdb
by_cmake RocksDB "$drop" 7.8 RocksDB::rocksdb RocksDB::rocksdb-shared

# What build scripts of other languages do.
works "-lrocksdb" "$cxx" -std=c++17 "$here/tour.cc" -o plain-l -I "$drop/include" -L "$drop/$libdir" -lrocksdb
expect "-lrocksdb" compassdb tour ./plain-l "$drop/$libdir"
expect "dlopen(librocksdb.so.7.8)" "7.8.3" env LD_LIBRARY_PATH="$drop/$libdir" python3 -c "
import ctypes
print('7.8.3' if hasattr(ctypes.CDLL('librocksdb.so.7.8'), '_ZN7rocksdb2DB4OpenERKNS_7OptionsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPPS0_') else 'no DB::Open')"

works "a client without RTTI" "$cxx" -std=c++17 -fno-rtti "$here/without_rtti.cc" -o without_rtti -I "$drop/include" \
  -L "$drop/$libdir" -lrocksdb
mkdir -p own
expect "objects of a client without RTTI" done env LD_LIBRARY_PATH="$drop/$libdir" ./without_rtti own

# A program built with the distribution's RocksDB, started with ours in its place; and the same
# program asking for the name that RocksDB's own build gives.
if [ -e /usr/include/rocksdb/db.h ]; then
  works "build with RocksDB" "$cxx" -std=c++17 "$here/tour.cc" -o theirs -lrocksdb
  expect "RocksDB itself" rocksdb tour ./theirs ""
  theirs=$(needed theirs)
  expect "the program asks for RocksDB" yes sh -c "case '$theirs' in librocksdb.so.7*) echo yes;; esac"
  expect "a program built with RocksDB" compassdb tour ./theirs "$drop/$libdir"
  python3 - <<'PY'
program = open("theirs", "rb").read()
assert program.count(b"librocksdb.so.7.8\0") == 1
open("theirs7", "wb").write(program.replace(b"librocksdb.so.7.8\0", b"librocksdb.so.7\0\0\0"))
PY
  chmod +x theirs7
  expect "it asks for" librocksdb.so.7 needed theirs7
  expect "a program that asks for librocksdb.so.7" compassdb tour ./theirs7 "$drop/$libdir"
fi

# DESTDIR stages without changing what the files say.
works "DESTDIR" env DESTDIR="$work/stage" cmake --install "$build" --prefix /opt/compassdb --component development
expect "the prefix in compassdb.pc" "prefix=/opt/compassdb" \
  grep '^prefix=' "$work/stage/opt/compassdb/$libdir/pkgconfig/compassdb.pc"

[ "$failures" = 0 ] || listing "$drop" | grep -v '\.h$' >&2
echo "packaging: $checks checks, $failures failures"
[ "$failures" = 0 ]
