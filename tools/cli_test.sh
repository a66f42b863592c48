#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the command line tool: cli_test.sh PATH-OF-COMPASSDB
# What a case of testdata/ cannot say: random data, pipes, signals, limits, and the way from and to
# RocksDB with its ldb.
set -u -o pipefail

compassdb=$(realpath "${1:?usage: cli_test.sh PATH-OF-COMPASSDB}")
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
checks=0

fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

# expect CODE STDOUT-TEXT command...: exit code and whole standard output.
expect() {
  local code=$1 want=$2 got status
  shift 2
  checks=$((checks + 1))
  got=$("$@" 2>stderr)
  status=$?
  [ "$status" = "$code" ] || fail "exit code $status instead of $code: $* ($(head -c 300 stderr))"
  [ "$got" = "$want" ] || fail "output [$(echo "$got" | head -c 300)] instead of [$want]: $*"
}

# refuse CODE PATTERN command...: exit code, one line on stderr that matches.
refuse() {
  local code=$1 pattern=$2 status
  shift 2
  checks=$((checks + 1))
  "$@" >stdout 2>stderr
  status=$?
  [ "$status" = "$code" ] || fail "exit code $status instead of $code: $* ($(head -c 300 stderr))"
  grep -q -- "$pattern" stderr || fail "stderr [$(head -c 300 stderr)] does not say [$pattern]: $*"
  [ "$(grep -c '^compassdb: ' stderr)" -ge 1 ] || fail "no line 'compassdb: ...' on stderr: $*"
}

c() { "$compassdb" "$@"; }

# Every format that scan and dump write is read back to the same records.
test_round_trips() {
  python3 - <<'PY' >binary.hex
import random
random.seed(7)
for i in range(3000):
    key = bytes(random.choice((0, 9, 10, 13, 34, 58, 61, 62, 92, 97, 128, 195, 255)) for _ in range(random.randrange(1, 12)))
    value = bytes(random.randrange(256) for _ in range(random.randrange(0, 60)))
    print("0x%s ==> 0x%s" % (key.hex(), value.hex()))
PY
  expect 0 "" c load -q --db bin binary.hex
  c dump -q --db bin >want.hex
  [ "$(wc -l <want.hex)" -gt 1500 ] || fail "too few records in the round trip"
  for format in hex json text; do
    rm -rf copy
    flag=""
    [ $format = text ] && flag="--escaped --format tsv"
    # shellcheck disable=SC2086
    c dump -q --db bin --format $format | c load -q --db copy $flag
    c dump -q --db copy | cmp -s - want.hex || fail "round trip by $format changes records"
    checks=$((checks + 1))
  done
}

# No room for the log: reported once, and earlier writes exist.
test_no_room() {
  seq 1 200000 | sed 's/.*/key&\tvalue&/' >many.tsv
  refuse 3 "large" sh -c "trap '' XFSZ; ulimit -f 4000; exec '$compassdb' load --db noroom many.tsv"
  [ "$(grep -c '^compassdb: ' stderr)" = 1 ] || fail "a failed load says more than one line: $(cat stderr)"
  expect 0 "value1" c get --db noroom key1
}

# What reads once: named pipes, and what a signal ends while it waits.
test_pipes() {
  mkfifo pipe
  printf 'a\t1\n' >pipe &
  expect 0 "" timeout 60 "$compassdb" load -q --db piped pipe
  expect 0 "a	1" c scan --db piped
  local pid holder signal
  for signal in INT TERM HUP; do
    rm -rf ended
    # As a shell's background job it would ignore INT.
    { printf 'a\t1\n'; sleep 60; } >pipe &
    holder=$!
    env --default-signal=INT "$compassdb" load --db ended pipe 2>said &
    pid=$!
    for _ in $(seq 300); do [ -e ended.unfinished/db/CURRENT ] && break; sleep 0.1; done
    sleep 1
    kill -s $signal $pid
    checks=$((checks + 1))
    wait $pid 2>/dev/null && fail "load went on after $signal"
    kill $holder
    grep -q "interrupted by signal .* (1 records before it were loaded)" said || fail "load after $signal says: $(cat said)"
    [ ! -e ended.unfinished ] || fail "$signal left what load built"
    expect 0 "a	1" c scan --db ended
    expect 0 "" c put --db ended b 2
  done
}

# Inputs without an end, and large ones: what a command takes of memory follows from the size of one record.
test_large_values() {
  refuse 3 "zero: no end after 1073741824 bytes" sh -c "ulimit -v 4000000; exec '$compassdb' put --db large k --value-file /dev/zero"
  [ ! -e large ] || fail "a refused put made a database"
  for format in tsv json hex; do
    refuse 3 "standard input: line 1 has no end after 1073741824 bytes" \
      sh -c "ulimit -v 4000000; exec '$compassdb' load --db large --format $format </dev/zero"
    refuse 3 "standard input: no memory for line 1, of more than [0-9]* bytes" \
      sh -c "ulimit -v 600000; exec '$compassdb' load --db large --format $format </dev/zero"
  done
  [ ! -e large ] || fail "a refused load made a database"
  truncate -s 5G sparse
  refuse 3 "sparse: 5368709120 bytes are too large for a value; 4293918719 are the most" \
    sh -c "ulimit -v 1000000; exec '$compassdb' put --db large k --value-file sparse"
  rm sparse
}

test_tune_separation() {
  checks=$((checks + 1))
  c tune-separation --db tuned --data-mb 2 --sizes 64,2048 --json -q >tune.json || fail "tune-separation"
  python3 - <<'PY' || fail "tune-separation --json: $(cat tune.json)"
import json
tuned = json.load(open("tune.json"))
assert [p["value_size"] for p in tuned["curve"]] == [40, 2024], tuned
for kind in "", "_equal_space", "_separated":
    assert all(p["updates_per_second" + kind] > 0 for p in tuned["curve"]), tuned
    assert all(p["space" + kind] > 0.3 and p["written" + kind] > 0 for p in tuned["curve"]), tuned
for kind in "", "_equal_space":
    gains = {p["value_size"]: p["updates_per_second_separated"] > p["updates_per_second" + kind] for p in tuned["curve"]}
    assert tuned["min_blob_size" + kind] == (None if not gains[2024] else 40 if gains[40] else 2024), tuned
PY
  [ ! -e tuned ] || fail "tune-separation left its directory: $(ls tuned)"
  "$compassdb" tune-separation --db tuned --data-mb 200 -q >stdout 2>stderr &
  sleep 1
  kill -TERM $! && wait $! && fail "tune-separation went on: $(cat stdout)"
  [ ! -e tuned ] || fail "tune-separation left its directory when it was interrupted: $(ls tuned)"
  refuse 3 "exists" c tune-separation --db bin --data-mb 1
  c dump -q --db bin | cmp -s - want.hex || fail "tune-separation changes a database"
  refuse 2 "sizes" c tune-separation --db tuned --sizes 8
  refuse 2 "--preset" c tune-separation --db tuned --data-mb 1 --sizes 64 --preset hash-kv
  printf '%064d' 9 >tune.key
  refuse 2 "--key-file" c tune-separation --db tuned --data-mb 1 --sizes 64 --key-file tune.key
}

test_ldb() {
  command -v ldb >/dev/null || { echo "ldb is not installed: its round trip is skipped"; return; }
  [ -z "${ON_ROCKSDB:-}" ] || return
  # There and back: ldb's dump is loaded, our dump feeds ldb load.
  ldb --db=rocks load --hex --create_if_missing <want.hex >/dev/null || fail "ldb load of our dump"
  checks=$((checks + 3))
  ldb --db=rocks dump --hex >rocks.hex
  grep -v '^Keys in range' rocks.hex | cmp -s - want.hex || fail "ldb has other records than our dump"
  c load -q --db fromrocks rocks.hex || fail "load of ldb dump --hex"
  c dump -q --db fromrocks | cmp -s - want.hex || fail "records from ldb are changed"
  ldb --db=rocks scan --hex | c load -q --db fromscan || fail "load of ldb scan --hex"

  # DB::Open refuses a RocksDB directory and changes nothing.
  find rocks -type f -exec sha256sum {} + | sort >before
  refuse 3 "compassdb import" c get --db rocks k
  refuse 3 "compassdb import" c put --db rocks k v
  find rocks -type f -exec sha256sum {} + | sort >after
  cmp -s before after || fail "a refused open changed the RocksDB directory: $(diff before after)"
}

test_import() {
  local reader
  reader=$(dirname "$compassdb")/compassdb-rocksdb-reader
  command -v ldb >/dev/null && [ -x "$reader" ] || { echo "no ldb or no reader: import is skipped"; return; }
  rm -rf rocks
  ldb --db=rocks load --hex --create_if_missing <want.hex >/dev/null
  ldb --db=rocks create_column_family second >/dev/null
  ldb --db=rocks --column_family=second put k second >/dev/null
  find rocks -type f -exec sha256sum {} + | sort >before
  expect 0 "" c import --db imported rocks
  grep -q 'column families: default second' stderr || fail "import does not name the families: $(cat stderr)"
  find rocks -type f -exec sha256sum {} + | sort >after
  cmp -s before after || fail "import changed its source: $(diff before after)"
  c dump -q --db imported | cmp -s - want.hex || fail "imported records differ"
  expect 0 "second" c get --db imported --cf second k
  refuse 3 "exists" c import --db imported rocks
  # A directory of the name in which it is built, and what a killed import and a killed load left of it.
  mkdir busy.unfinished && echo mine >busy.unfinished/notes
  refuse 3 "busy.unfinished.*exists, and is not what" c import --db busy rocks
  [ "$(cat busy.unfinished/notes)" = mine ] || fail "import deletes a directory of the user"
  rm -r busy.unfinished && mkdir -p busy.unfinished/db && : >busy.unfinished/made-by-load && : >busy.unfinished/db/CURRENT
  refuse 3 "busy.unfinished: is what .compassdb load. left" c import --db busy rocks
  mv busy.unfinished/made-by-load busy.unfinished/made-by-import
  expect 0 "" c import -q --db busy rocks
  [ ! -e busy.unfinished ] || fail "import left its directory: $(ls busy.unfinished)"
  refuse 3 "no RocksDB database in nowhere" c import --db new nowhere
  refuse 3 "nosuchreader" c import --db new rocks --reader nosuchreader
  refuse 3 "too early" c import --db new rocks --reader /bin/true
  # What was said of options holds for what is made.
  expect 0 "" c import --db hashed rocks --preset hash-kv --memory-mb 64
  [ "$(grep -c 'value_hot_cold=true' "$(ls -t hashed/OPTIONS-* | head -1)")" = 2 ] || fail "import passes over --preset"
  grep -q 'memory_limit=67108864' hashed/OPTIONS-* || fail "import passes over --memory-mb"
  refuse 2 "read-mostly" c import --db new rocks --preset fastest
  refuse 2 "--cf" c import --db new rocks --cf second
  [ ! -e new ] || fail "an import that was refused made a database"

  # Names that OPTIONS has escaped; and families that it does not know, as it is written behind the manifest.
  "$(dirname "$compassdb")/compassdb-import-fixture" families families || fail "fixture families"
  for db in all rest; do
    expect 0 "" c import --db $db families
    expect 0 'user:1#\2' c get --db $db --cf 'user:1#\2' k
    expect 0 "last" c get --db $db --cf last k
    rm "$(ls families/OPTIONS-* | tail -1)"
  done

  cp -r rocks broken
  find broken -name '*.sst' -exec truncate -s 100 {} +
  find broken -name '*.log' -exec truncate -s 0 {} +
  refuse 3 "" c import --db new broken
  [ ! -e new ] || fail "a failed import left something behind: $(ls new)"
}

# Back to RocksDB, all families at once.
test_export() {
  local writer
  printf '#!/bin/sh\nkill -9 $$\n' >killed && chmod +x killed
  writer=$(dirname "$compassdb")/compassdb-rocksdb-writer
  command -v ldb >/dev/null && [ -x "$writer" ] || { echo "no ldb or no writer: export is skipped"; return; }
  rm -rf out back
  c load -q --db out want.hex && c put --db out --cf second --create-cf k second
  expect 0 "" c export --db out back
  grep -q "exported $(($(wc -l <want.hex) + 1)) records" stderr || fail "export does not report what it did: $(cat stderr)"
  ldb --db=back dump --hex | grep -v '^Keys in range' | cmp -s - want.hex || fail "exported records differ"
  expect 0 "second" ldb --db=back --column_family=second get k
  refuse 3 "back exists" c export --db out back
  refuse 2 "--cf" c export --db out new --cf second
  refuse 3 "no database in nowhere" c export --db nowhere new
  refuse 3 "nosuchwriter" c export --db out new --writer nosuchwriter
  refuse 3 "ended by signal 9; new was not made" c export --db out new --writer "$work/killed"
  refuse 3 "too early, with exit code 1; new was not made" c export --db out new --writer /bin/false
  refuse 3 "no/such/new" c export --db out no/such/new
  # RocksDB has begun with the directory when it runs out of descriptors.
  printf '#!/bin/sh\nulimit -n 7; exec "%s" "$@"\n' "$writer" >few
  chmod +x few
  refuse 3 "Too many open files" c export --db out new --writer "$work/few"
  [ ! -e new ] || fail "a failed export left something behind: $(ls new)"
}

# An import or export that is cut off leaves nothing behind, either.
test_interrupted_copies() {
  local bin signal
  bin=$(dirname "$compassdb")
  [ -x "$bin/compassdb-rocksdb-reader" ] && [ -d back ] || { echo "no helpers: cut off copies are skipped"; return; }
  # A helper that stops half way, and says so.
  printf '#!/bin/sh\n"%s" "$1" | head -c 60000\n: >half\nexec sleep 60\n' "$bin/compassdb-rocksdb-reader" >slowreader
  chmod +x slowreader
  for signal in INT TERM HUP; do
    python3 - "$signal" "$compassdb" --db new import back --reader ./slowreader <<'PY' || fail "import and SIG$signal"
import os, signal, subprocess, sys, time
if os.path.exists("half"): os.remove("half")
number = getattr(signal, "SIG" + sys.argv[1])
signal.signal(number, signal.SIG_DFL)
child = subprocess.Popen(sys.argv[2:], stderr=subprocess.PIPE)
while not (os.path.exists("half") and os.path.exists("new.unfinished/db/CURRENT")):
    assert child.poll() is None, child.stderr.read()
    time.sleep(0.02)
child.send_signal(number)
said = child.stderr.read().decode()
assert child.wait() == -number, child.returncode
assert "interrupted by signal %d" % number in said, said
assert not os.path.exists("new") and not os.path.exists("new.unfinished"), os.listdir(".")
PY
    checks=$((checks + 1))
  done
  # The source ends with an error in the middle of the stream.
  rm -rf halfbad new
  python3 -c 'import os
for i in range(20000): print("key%06d\t%s" % (i, os.urandom(50).hex()))' | c load -q --db halfbad && c compact --db halfbad
  printf '\377\377\377\377' | dd of="$(ls -S halfbad/*.ph | head -1)" bs=1 seek=1000000 conv=notrunc 2>dd.log
  refuse 4 "halfbad" c export --db halfbad new
  [ "$(wc -l <stderr)" = 1 ] || fail "a failed export says more than one line: $(cat stderr)"
  [ ! -e new ] || fail "an export of a damaged database left something behind: $(ls new)"
}

# On a terminal an import says twice a second how much of the source it has read.
test_import_progress() {
  checks=$((checks + 1))
  python3 - "$compassdb" <<'PY' || fail "the progress of an import"
import os, pty, struct, sys
number = lambda n: struct.pack("<Q", n)
text = lambda s: number(len(s)) + s
frame = lambda kind, payload: kind + number(len(payload)) + payload
comparator = b"leveldb.BytewiseComparator"
with open("half.stream", "wb") as half:
    half.write(frame(b"H", b"compassdb-import 3") + frame(b"L", text(b"default") + text(comparator)) +
               frame(b"F", text(b"default")) + frame(b"R", text(b"a") + b"1") + frame(b"P", number(430) + number(1000)))
with open("rest.stream", "wb") as rest:
    rest.write(frame(b"R", text(b"b") + b"2") + frame(b"E", number(2)) + frame(b"Z", b""))
with open("streamreader", "w") as reader:
    reader.write("#!/bin/sh\ncat half.stream; sleep 1; cat rest.stream\n")
os.chmod("streamreader", 0o755)
os.mkdir("streamed")
with open("streamed/CURRENT", "w") as current: current.write("MANIFEST-000001\n")
with open("streamed/MANIFEST-000001", "w"): pass
said = b""
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], [sys.argv[1], "--db", "progress", "import", "streamed", "--reader", "./streamreader"])
try:
    while data := os.read(terminal, 1024): said += data
except OSError: pass  # the terminal ends with the program
assert os.waitpid(pid, 0)[1] == 0, said
assert b", 43 % of the source" in said, said
PY
}

# Data that is more than plain records: kept where it can be, refused by family
# and option where it cannot.
test_import_odd_data() {
  local fixture
  fixture=$(dirname "$compassdb")/compassdb-import-fixture
  [ -x "$fixture" ] || { echo "no fixture maker: import of odd data is skipped"; return; }
  for kind in merge stringappend entity deleted comparator reverse; do
    "$fixture" $kind odd-$kind || fail "fixture $kind"
  done
  refuse 3 "'default'.*merge_operator 'OwnMerge'" c import --db refused odd-merge
  refuse 3 "'default'.*wide-column" c import --db refused odd-entity
  refuse 3 "'default': comparator 'OwnComparator'" c import --db refused odd-comparator
  [ ! -e refused ] || fail "a refused import left a database"
  expect 0 "" c import --db folded odd-stringappend
  expect 0 "$(printf 'a\t1\nm\tx,y')" c scan --db folded
  expect 0 "" c import --db deleted odd-deleted
  expect 0 "$(printf 'c\t3')" c scan --db deleted
  expect 0 "" c import --db reverse odd-reverse
  expect 0 "$(printf 'b\t2\na\t1')" c scan --db reverse
}

for t in round_trips no_room pipes large_values tune_separation ldb import export interrupted_copies import_progress import_odd_data; do
  "test_$t"
done
echo "$checks checks, $failures failures"
[ $failures = 0 ]
