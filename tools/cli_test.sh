#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the command line tool: cli_test.sh PATH-OF-COMPASSDB
# Each command, pipes, the way from and to RocksDB's ldb, and failures.
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

test_put_get_delete() {
  expect 0 "" c put --db a k1 v1
  expect 0 "v1" c get --db a k1
  expect 0 "0x7631" c get --db a k1 --value_hex
  expect 0 "0x7631" c get --db a --hex 0x6B31
  expect 0 "" c put --db a --hex 0x00ff 0x0a00
  expect 0 "0x0A00" c --db a --hex get 0x00FF
  expect 0 "" c put --db a empty ""
  expect 0 "" c get --db a empty
  printf 'long\nvalue' >value.txt
  expect 0 "" c put --db a file --value-file value.txt
  expect 0 "$(cat value.txt)" c get --db a file
  expect 0 "" sh -c "printf piped | '$compassdb' put --db a pipe --value-file -"
  expect 0 "piped" c get --db a pipe
  expect 0 "" c put --db a get "a key named like a command"
  expect 0 "a key named like a command" c get --db a get
  expect 0 "" c delete --db a k1
  refuse 1 "not found: k1" c get --db a k1
  expect 0 "" c delete --db a k1
  refuse 1 "not found" c get --db a nosuchkey
}

test_presets() {
  expect 0 "" c put --db presets --preset read-mostly k1 v1
  grep -q 'one_level=true' presets/OPTIONS-* || fail "the preset is not in the options"
  expect 0 "v1" c get --db presets k1
  expect 0 "" c put --db presets k2 v2
  grep -q 'one_level=true' "$(ls -t presets/OPTIONS-* | head -1)" || fail "the preset did not last"
  expect 0 "" c compact --db presets --preset update-heavy
  newest=$(ls -t presets/OPTIONS-* | head -1)
  grep -q 'one_level=false' "$newest" || fail "the preset was not replaced"
  grep -q 'max_pieces=2$' "$newest" || fail "the preset was not applied"
  expect 0 "v2" c get --db presets k2
  refuse 2 "read-mostly" c put --db presets --preset fastest k v
  refuse 2 "preset" c get --db presets --preset default k1
  refuse 2 "read-mostly" c put --db nopresets --preset fastest k v
  [ ! -e nopresets ] || fail "a database was made for an unknown preset"
}

test_usage_errors() {
  refuse 2 "" c
  refuse 2 "" c nosuchcommand --db a
  refuse 2 "--db" c get k1
  refuse 2 "KEY" c get --db a
  refuse 2 "nosuchflag" c get --db a k1 --nosuchflag
  refuse 2 "hex" c get --db a --hex k1
  refuse 2 "hex" c get --db a --hex 0x123
  refuse 2 "hex" c get --db a --hex 0xzz
  # Before anything is opened.
  for command in "get k1" "delete k1" "scan --from k1" "compact --to k1"; do
    # shellcheck disable=SC2086
    refuse 2 "hex" c --db nowhere --hex $command
  done
  refuse 2 "VALUE" c put --db a k1
  refuse 2 "VALUE" c put --db a k1 v1 --value-file value.txt
  refuse 2 "format" c scan --db a --format nosuchformat
  refuse 2 "limit" c scan --db a --limit many
  refuse 2 "topic" c help nosuchtopic
  expect 0 "" sh -c "'$compassdb' --help | grep -q import || echo no"
  expect 0 "" sh -c "'$compassdb' help exit-codes | grep -q '4  corruption' || echo no"
  expect 0 "" sh -c "'$compassdb' help load | grep -q -- --escaped || echo no"
  expect 0 "" sh -c "'$compassdb' --version | grep -Eq '^compassdb [0-9]+\.[0-9]+\.[0-9]+ ' || echo no"
}

test_missing_database() {
  : >file
  for command in "get k" verify repair "put k v" "load data.tsv"; do
    # shellcheck disable=SC2086
    refuse 3 "file is a file, not the directory of a database" c --db file $command
  done
  ln -s nowhere dangling
  refuse 3 "dangling: is a symbolic link to a directory that does not exist" c put --db dangling k v
  refuse 2 "--wal-dir is of an existing database" c put --db notyet --wal-dir logs k v
  [ ! -e notyet ] && [ ! -e logs ] || fail "a refused put made something"
  for command in "get k" "delete k" scan dump stats verify compact; do
    # shellcheck disable=SC2086
    refuse 3 "no database in missing" c --db missing $command
  done
  [ ! -e missing ] || fail "a command that reads made a database"
  refuse 3 "" c put --db /proc/nosuch/db k v
  refuse 3 "no column family 'nosuch'" c get --db a --cf nosuch k
  refuse 3 "nosuchfile" c load --db never nosuchfile
  [ ! -e never ] || fail "load of a missing file made a database"
}

test_load_and_scan() {
  printf 'k2\tv2\nk1\tv1\twith tab\n\tempty key\nk3\t\n' >data.tsv
  expect 0 "" c load --db t data.tsv
  grep -q 'loaded 4 records' stderr || fail "load does not report what it did: $(cat stderr)"
  expect 0 "$(printf '\tempty key\nk1\tv1\\twith tab\nk2\tv2\nk3\t')" c scan --db t
  expect 0 "$(printf 'k1\tv1\\twith tab\nk2\tv2')" c scan --db t --from k1 --to k3
  expect 0 "$(printf 'k2\tv2')" c scan --db t --from k2 --limit 1
  expect 0 "$(printf 'k3\t\nk2\tv2')" c scan --db t --reverse --limit 2
  expect 0 "$(printf 'k2\nk1')" c scan --db t --reverse --keys-only --prefix k --to k3
  expect 0 "" c scan --db t --prefix x
  expect 0 "0x6B32 ==> 0x7632" c scan --db t --prefix k2 --format hex
  expect 0 "0x6B32 ==> 0x7632" c scan --db t --prefix 0x6B32 --hex
  expect 0 '{"key":"k2","value":"v2"}' c scan --db t --prefix k2 --format json

  printf '%s\n' '{"key":"ä","value":"ü\n"}' '{"key_hex":"00ff","value_hex":"0xfe"}' \
    '{"key":"obj","value":{"x": [1, 2]}}' >data.json
  expect 0 "" sh -c "'$compassdb' load --db j <data.json"
  expect 0 '{"x":[1,2]}' c get --db j obj
  expect 0 '0xFE' c get --db j --hex 0x00ff
  expect 0 "$(printf '%s\n' '{"key":"\u0000\u0001","value":"b"}')" sh -c \
    "printf '%s\n' '{\"key\":\"\\u0000\\u0001\",\"value\":\"b\"}' | '$compassdb' load -q --db j2 &&
     '$compassdb' scan --db j2 --format json"
  # Values that are no strings are stored as they are spelt, however large or deep.
  printf '%s\n' '{"key":"big","value":123456789012345678901234567890}' '{ "key": 5, "value": [1.10, -1, {"z":"\u0041", "a":null}, [], {}]}' \
    '{"other":[{"key":"no"}],"value":"first","key":"twice","value":"second"}' | c load -q --db j3
  expect 0 "$(printf '5\t[1.10,-1,{"z":"A","a":null},[],{}]\nbig\t123456789012345678901234567890\ntwice\tsecond')" c scan --db j3
  python3 -c 'print("{\"key\":\"deep\",\"value\":" + "[" * 500000 + "]" * 500000 + "}")' | c load -q --db j3 || fail "deep JSON"
  checks=$((checks + 1))
  [ "$(c get --db j3 deep | wc -c)" = 1000001 ] || fail "deep JSON is stored otherwise"
  # The dump of a key that looks like something else.
  for key in 'Keys in range: a' '{"a' '0x6B ==> 0x'; do
    rm -rf likely copied
    c put --db likely "$key" v
    expect 0 "" sh -c "'$compassdb' scan --db likely | '$compassdb' load -q --db copied --escaped"
    expect 0 "v" c get --db copied "$key"
  done
  printf 'Keys in range: a\tv\n' | c load -q --db ranges
  expect 0 "v" c get --db ranges "Keys in range: a"
  expect 0 "" c load -q --db nothing /dev/null
  expect 0 "" c scan --db nothing
}

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

test_bad_input() {
  printf 'a\t1\nno tab here\nb\t2\n' >bad.tsv
  refuse 5 "bad.tsv:2:" c load --db bad bad.tsv
  expect 0 "$(printf 'a\t1')" c scan --db bad
  printf '0x00 ==> 0x01\n0x0 ==> 0x01\n' >bad.hex
  refuse 5 "bad.hex:2:" c load --db bad bad.hex
  printf '{"key":"a","value":"b"}\n{"key":"a"\n' >bad.json
  refuse 5 "bad.json:2:" c load --db bad bad.json
  for line in '[]' '5' '"text"' '{"key":"a","value":"b"} x' '{"key":"a","value":"b"' '{"key":"a","value":[}' '{"key":"a","value":1' \
    '{"key_hex":5,"value":""}' '{"key":"a","value_hex":"0"}' '{"key":{"key":"a","value":"b"}}'; do
    echo "$line" >bad.json
    refuse 5 "bad.json:1:" c load --db bad --format json bad.json
  done
  printf '{"value":"b"}\n' >bad.json
  refuse 5 "bad.json:1:" c load --db bad bad.json
  printf 'a\\q\tb\n' >bad.tsv
  refuse 5 "escape" c load --db bad --escaped bad.tsv
  printf 'what is this\n' >bad.txt
  refuse 5 "give --format" c load --db bad bad.txt
  refuse 3 "cannot read .: Is a directory" c load --db bad .
  # A directory with files that look like a database's.
  mkdir remains && echo old >remains/LOG
  refuse 5 "give --format" c load --db remains bad.txt
  [ -d remains ] && [ ! -e remains/CURRENT ] || fail "a failed load left a database"
  refuse 5 "give --format" c load --db notmade/below bad.txt
  [ ! -e notmade ] || fail "a failed load left directories: $(ls notmade)"
  # No room for the log: reported once, and earlier writes exist.
  seq 1 200000 | sed 's/.*/key&\tvalue&/' >many.tsv
  refuse 3 "large" sh -c "trap '' XFSZ; ulimit -f 4000; exec '$compassdb' load --db noroom many.tsv"
  [ "$(grep -c '^compassdb: ' stderr)" = 1 ] || fail "a failed load says more than one line: $(cat stderr)"
  expect 0 "value1" c get --db noroom key1
}

# What an input is, and what is wrong with a line.
test_input_kinds() {
  local kind command
  printf '\xef\xbb\xbfa\t1\n' | c load -q --db kinds
  expect 0 "$(printf 'a\t1')" c scan --db kinds
  printf '\xef\xbb\xbf{"key":"b","value":"2"}\n' | c load -q --db kinds || fail "JSON with a byte order mark"
  expect 0 "2" c get --db kinds b
  # A key of that kind is written so that it is read back.
  for key in 0xEFBBBF61 0x1F8B0809 0x28B52FFD 0xFFFE61 0x425A6839314159265359; do
    rm -rf mark copied
    expect 0 "" c put --db mark --hex $key 0x31
    for format in "text --format=tsv --escaped" "json" "hex"; do
      rm -rf copied
      c scan --db mark --format ${format%% *} | c load -q --db copied $(echo "$format" | cut -s -d' ' -f2-)
      expect 0 "0x31" c get --db copied --hex $key
    done
  done
  for kind in gzip:gzip:zcat zstd:zstd:zstdcat bzip2:bzip2:bzcat xz:xz:xzcat lz4:lz4:lz4cat; do
    command=${kind%%:*}
    command -v "$command" >/dev/null || continue
    printf 'a\tb\nc\t\t\t\n' | $command -c >packed.tsv
    refuse 5 "packed.tsv: is $(echo $kind | cut -d: -f2)-compressed; $(echo $kind | cut -d: -f3) packed.tsv | compassdb load" \
      c load --db kinds packed.tsv
  done
  printf '\x1f\x8b\x08\t\x01\n' >packed.tsv  # a tab in the first line
  for format in auto tsv json hex; do refuse 5 "is gzip-compressed; zcat" c load --db kinds --format $format packed.tsv; done
  cp packed.tsv "it's packed.tsv"
  refuse 5 "zcat 'it'.''s packed.tsv' | compassdb load" c load --db kinds "it's packed.tsv"
  refuse 5 "standard input: is gzip-compressed; zcat | compassdb load" sh -c "'$compassdb' load --db kinds <packed.tsv"
  printf '\xff\xfea\0\t\0b\0\n\0' >packed.tsv
  refuse 5 "is UTF-16 text; iconv" c load --db kinds packed.tsv
  # Blank lines at the end of TSV.
  for end in '' '\n' '\n\n\n' '\r\n\n'; do
    printf "k\tv\n$end" >blank.tsv
    expect 0 "" c load -q --db blank blank.tsv
  done
  printf 'k\tv\n\n\nl\tw\n' >blank.tsv
  refuse 5 "blank.tsv:2: a blank line between records" c load -q --db blank blank.tsv
  # CR LF: bytes as they are, which is said; with --escaped the CR is no part of the value.
  printf 'k\tv\r\nl\tw\r\n' >crlf.tsv
  c load --db crlf crlf.tsv 2>stderr && grep -q 'crlf.tsv: the lines end with CR LF' stderr || fail "CR LF: $(cat stderr)"
  expect 0 "0x760D" c get --db crlf --value_hex k
  expect 0 "" c load -q --db crlf --escaped crlf.tsv
  expect 0 "0x76" c get --db crlf --value_hex k
  printf '{"key":"k","value":"v"}\r\n0' >crlf.json
  expect 0 "" sh -c "head -1 crlf.json | '$compassdb' load -q --db crlf"
  printf '0x6B ==> 0x78\r\n' | c load -q --db crlf && expect 0 "x" c get --db crlf k
  printf 'nul\0key\tnul\0value\n' | c load -q --db crlf
  expect 0 "0x6E756C0076616C7565" c get --db crlf --hex 0x6E756C006B6579
  # What is wrong with JSON, and where.
  bad_json() {
    printf '%s\n' '{"key":"a","value":"b"}' "$1" >bad.json
    refuse 5 "bad.json:2: bad JSON at column $2: .*$3" c load -q --db kinds --format json bad.json
  }
  bad_json '{"key":"a","value":"\ud800"}' 27 "surrogate"
  bad_json '{"key":"a","value":1e400}' 24 "number overflow parsing '1e400'"
  bad_json '{"key":"a"' 11 "unexpected end of input"
  bad_json "{\"key\":\"$(printf '\xff')\",\"value\":1}" 9 "UTF-8"
  bad_json "{\"key\":\"$(printf 'tab\there')\",\"value\":1}" 12 "control character"
  printf '["a"]\n' >bad.json
  refuse 5 "bad.json:1: JSON, but not an object" c load -q --db kinds --format json bad.json
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

test_column_families() {
  expect 0 "" c put --db f --cf one --create-cf k 1
  expect 0 "" c put --db f k default
  expect 0 "1" c get --db f --cf one k
  expect 0 "1" c get --db f --column_family one k
  expect 0 "default" c get --db f k
  expect 0 "" c load -q --db f --cf two --create-cf data.tsv
  expect 0 "v2" c get --db f --cf two k2
  refuse 3 "no column family 'three'" c load --db f --cf three data.tsv
  refuse 2 "--cf" c load --db f --create-cf data.tsv
  refuse 3 "no database in nofamily" c put --db nofamily --cf three k 3
  refuse 3 "no database in nofamily" c load --db nofamily --cf three data.tsv
  [ ! -e nofamily ] || fail "a database was made for a column family that is not in it"
  expect 0 "" c put --db onlydefault --cf default k 1
}

# A crash may leave an OPTIONS file from before a family was made or dropped; one that is damaged is corruption.
test_options_file() {
  expect 0 "" c put --db o k 1
  mkdir kept && cp o/OPTIONS-* kept
  expect 0 "" c put --db o --cf late --create-cf k 2
  rm o/OPTIONS-* && cp kept/OPTIONS-* o
  expect 0 "2" c get --db o --cf late k
  expect 0 "" c put --db o --cf late k 3
  expect 0 "3" c get --db o --cf late k
  sed -i 's/"late"/"gone"/' o/OPTIONS-*
  expect 0 "3" c get --db o --cf late k
  expect 0 "" c put --db o k 4
  sed -i 's/^  compression=k/  compression=j/' o/OPTIONS-*
  refuse 4 "OPTIONS-" c get --db o k
  refuse 4 "OPTIONS-" c verify --db o
  checks=$((checks + 1))
  c repair --db o >stdout 2>stderr || fail "repair with a damaged OPTIONS file: $(cat stderr)"
  expect 0 "4" c get --db o k
  expect 0 "3" c get --db o --cf late k
}

test_maintenance() {
  # A program's wish for a new database is none of the commands'.
  sed -i 's/error_if_exists=false/error_if_exists=true/' t/OPTIONS-*
  expect 0 "" c compact --db t
  expect 0 "" c compact --db t --from k1 --to k2
  expect 0 "" c verify --db t
  expect 0 "" c verify --db f
  expect 0 "" c verify --db t --checksums-only
  expect 0 "v2" c get --db t k2
  checks=$((checks + 1))
  c stats --db t --property rocksdb.levelstats | grep -q Level || fail "stats --property rocksdb.levelstats"
  refuse 3 "no such property: nosuch" c stats --db t --property nosuch
  if [ -z "${ON_ROCKSDB:-}" ]; then
    c stats --db t >stats.txt || fail "stats"
    for word in evel ieces ive ndex mplification; do
      grep -q "$word" stats.txt || fail "stats does not speak of $word: $(cat stats.txt)"
    done
    c stats --db t --json | python3 -c 'import json,sys; json.loads(sys.stdin.readline())' || fail "stats --json"
  fi
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
  refuse 3 "exists" c tune-separation --db t --data-mb 1
  expect 0 "v2" c get --db t k2
  refuse 2 "sizes" c tune-separation --db tuned --sizes 8
  refuse 2 "--preset" c tune-separation --db tuned --data-mb 1 --sizes 64 --preset hash-kv
  printf '%064d' 9 >tune.key
  refuse 2 "--key-file" c tune-separation --db tuned --data-mb 1 --sizes 64 --key-file tune.key
}

test_plan_tableless() {
  local known="--key-size 16 --value-size 384"  # ten records of 408 B to a page
  # shellcheck disable=SC2086
  {
    checks=$((checks + 2))
    c plan-tableless --pairs 1000000000 $known --pages 200000000 --compression-ratio 2 --json >plan.json || fail "plan-tableless"
    python3 - <<'PY' || fail "plan-tableless --json: $(cat plan.json)"
import json
plan = json.load(open("plan.json"))
near = lambda name, want: abs(plan[name] / want - 1) < 0.005
assert near("overflow_probability", 0.0137) and near("fill_factor", 0.5), plan
assert near("overflow_index_memory", 24 * plan["overflow_records"]) and near("overflow_bytes", 408 * plan["overflow_records"]), plan
assert near("physical_bytes", plan["used_bytes"] / 2) and plan["bytes_per_update"] == 8192, plan
PY
    c plan-tableless --pairs 1000000000 $known --max-overflow 0.0137 >plan.txt || fail "plan-tableless --max-overflow"
    grep -q "^pages that overflow  *1.37 %" plan.txt || fail "plan-tableless does not keep its bound: $(cat plan.txt)"
    c plan-tableless --pairs 12000 --key-size 16 --value-size 800 >plan.txt || fail "plan-tableless without a number of pages"
    grep -q "^overflow ratio  *1.5. % of the bytes" plan.txt && grep -q "^before they grow  *6480 pages" plan.txt ||
      fail "plan-tableless does not size as the store does: $(cat plan.txt)"
    [ "$(c plan-tableless --pairs 9000 $known --fill 0.9 --json)" != "$(c plan-tableless --pairs 9000 $known --json)" ] || fail "--fill"
    c plan-tableless --pairs 9000 $known --value-sigma 30 --max-overflow-ratio 0.1 >/dev/null || fail "plan-tableless --value-sigma"

    # As large as the store's pages may be; and without the key store.
    c plan-tableless --pairs 9000000 $known --page-size 1048576 >plan.txt || fail "plan-tableless --page-size 1048576"
    grep -q "^pages  *[0-9]* of 1048576 B" plan.txt || fail "plan-tableless of large pages: $(cat plan.txt)"
    c plan-tableless --pairs 9000 $known --key-store false --json | grep -q '"key_store":false,"key_store_bytes":0.0,"key_store_memory":0.0' || fail "plan-tableless --key-store false"
    c plan-tableless --pairs 9000 $known --json | grep -q '"key_store":true,"key_store_bytes":189' || fail "plan-tableless with key store"
    checks=$((checks + 3))

    # The paper's own rows, of values without keys and headers.
    local per_page
    for per_page in "5 1.37" "6 4.26" "7 9.85" "8 18.4"; do
      c plan-tableless --values-only --pairs 840000000 --value-size 400 --pages $((840000000 / ${per_page% *})) >plan.txt || fail "--values-only"
      grep -q "^pages that overflow  *${per_page#* } %$" plan.txt || fail "$per_page % of pages: $(cat plan.txt)"
      [ "$per_page" != "5 1.37" ] || grep -q "^overflow ratio .*, 0.378 % if records could be cut$" plan.txt || fail "its ratio: $(cat plan.txt)"
      grep -q "^key store  *not counted$" plan.txt || fail "--values-only: $(cat plan.txt)"
    done
    c plan-tableless --values-only --pairs 8000000 --value-size 800 --pages 4000000 | grep -q "^overflow ratio .*, 1.03 % if" || fail "2 of 800 B"
    [ -z "$(c plan-tableless --values-only --pairs 9 --value-size 4096 2>&1 >/dev/null)" ] || fail "a value of a page is not too large"
    checks=$((checks + 15))

    # Pairs that no page holds.
    c plan-tableless --pairs 9000 --key-size 16 --value-size 9000 2>&1 >/dev/null | grep -q "warning: 100 %" || fail "plan-tableless does not warn"
    c plan-tableless --pairs 9000 --key-size 16 --value-uniform 1:8112 2>&1 >/dev/null | grep -q "warning: 50 %" || fail "plan-tableless does not warn of half"
    [ -z "$(c plan-tableless --pairs 9000 $known 2>&1 >/dev/null)" ] || fail "plan-tableless warns of nothing"
    checks=$((checks + 3))

    # The same sizes from a file, and any number of pairs of them.
    printf 'abc\t1234567\nabc\t7654321\n' >sample.tsv
    printf '0x616263 ==> 0x31323334353637\n' | c plan-tableless --sample - --pairs 2 --json >piped.json || fail "--sample -"
    c plan-tableless --sample sample.tsv --json | cmp -s - piped.json || fail "--sample of a file and of a pipe differ"
    c plan-tableless --pairs 2 --key-size 3 --value-size 7 --json | cmp -s - piped.json || fail "--sample and sizes differ"
    c plan-tableless --pairs 2 --key-size 3 --value-uniform 7:7 --json | cmp -s - piped.json || fail "--value-uniform and sizes differ"
    checks=$((checks + 6))

    refuse 2 "pairs and --key-size are required" c plan-tableless --key-size 16 --value-size 400
    refuse 2 "one of --value-size" c plan-tableless --pairs 10 --key-size 16
    refuse 2 "pairs" c plan-tableless --pairs 0 $known
    refuse 2 "pairs" c plan-tableless --pairs many $known
    refuse 2 "excludes --value-uniform" c plan-tableless --pairs 10 $known --value-uniform 1:2
    for range in 1 1: :1 1:2:3 a:b 1:99999999999999999999 -1:2; do
      refuse 2 "'$range' is not LO:HI" c plan-tableless --pairs 10 --key-size 1 --value-uniform=$range
    done
    refuse 2 "value_low: 3 is above" c plan-tableless --pairs 10 --key-size 1 --value-uniform 3:2
    refuse 2 "value_sigma" c plan-tableless --pairs 10 $known --value-sigma 300
    refuse 2 "page_size: 5000" c plan-tableless --pairs 10 $known --page-size 5000
    refuse 2 "page_size: 1052672" c plan-tableless --pairs 10 $known --page-size 1052672
    refuse 2 "key-store" c plan-tableless --pairs 10 $known --key-store perhaps
    refuse 2 "excludes" c plan-tableless --pairs 10 $known --values-only
    refuse 2 "value_size: 0" c plan-tableless --pairs 10 --value-size 0 --values-only
    refuse 2 "excludes" c plan-tableless --pairs 10 $known --pages 3 --fill 0.5
    refuse 2 "at least 25" c plan-tableless --pairs 1000 $known --pages 24
    refuse 2 "fill: 1.5" c plan-tableless --pairs 10 $known --fill 1.5
    refuse 2 "fill" c plan-tableless --pairs 10 $known --fill 0
    refuse 2 "64 pages per pair" c plan-tableless --pairs 10 --key-size 16 --value-size 9000 --max-overflow-ratio 0.01
    refuse 2 "compression_ratio" c plan-tableless --pairs 10 $known --compression-ratio 0.5
    refuse 3 "nosuchfile" c plan-tableless --sample nosuchfile
    refuse 3 "cannot read" c plan-tableless --sample .
  }
  printf 'k\tv\nno tab\n' >bad.tsv
  refuse 5 "bad.tsv:2" c plan-tableless --sample bad.tsv
  : >nothing.tsv
  refuse 5 "no records" c plan-tableless --sample nothing.tsv
}

test_full_output() {
  refuse 3 "standard output" sh -c "'$compassdb' plan-tableless --pairs 1 --key-size 1 --value-size 1 >/dev/full"

  refuse 3 "standard output" sh -c "'$compassdb' scan --db bin >/dev/full"
  refuse 3 "standard output" sh -c "'$compassdb' get --db t k2 >/dev/full"
  checks=$((checks + 1))
  [ "$(c dump --db bin 2>/dev/null | head -n 1 | wc -l)" = 1 ] || fail "dump into head"
}

# Standard streams that are full or closed change no exit code but where output is lost, and
# what should be written there is written to no file of the database.
test_streams() {
  checks=$((checks + 10))
  local status command
  for command in "get nosuch" "get --hex zz" "scan --format nosuch" "load --format tsv no/such/file" "verify" "dump"; do
    # shellcheck disable=SC2086
    c $command --db t >stdout 2>stderr
    local want=$?
    # shellcheck disable=SC2086
    c $command --db t >stdout 2>/dev/full
    status=$?
    [ $status = $want ] || fail "$command: exit code $status instead of $want when standard error is full"
    # shellcheck disable=SC2086
    c $command --db t >stdout 2>&-
    status=$?
    [ $status = $want ] || fail "$command: exit code $status instead of $want when standard error is closed"
  done
  printf 'a\tb\n' | c load --db closed >&- 2>&- || fail "load without standard output and error"
  expect 0 "$(printf 'a\tb')" c scan --db closed
  grep -rl "loaded" closed && fail "a message was written into the database"
  c repair --db closed >&- 2>&-
  status=$?
  [ $status = 3 ] || fail "repair without standard output: exit code $status"
  expect 0 "" c verify --db closed
  refuse 3 "standard output" sh -c "'$compassdb' get --db closed a >&-"
  refuse 3 "standard output" sh -c "'$compassdb' repair --db closed >/dev/full"
  refuse 3 "standard output" sh -c "'$compassdb' --help >/dev/full"
  refuse 3 "standard output" sh -c "'$compassdb' help load >/dev/full"
  refuse 3 "cannot read" c put --db closed k --value-file .
  refuse 3 "cannot read" sh -c "'$compassdb' put --db closed k --value-file - <."
  refuse 3 "cannot read standard input: Is a directory" sh -c "'$compassdb' load --db closed <."
  refuse 3 "read error" sh -c "'$compassdb' load --db closed <&-"
  : >empty.value
  expect 0 "" c put --db closed k --value-file empty.value
  expect 0 "" c get --db closed k
}

# A flipped byte in the middle of the data: verify says so, with exit code 4.
test_corruption() {
  rm -rf torn
  c load -q --db torn want.hex && c compact --db torn
  local file
  file=$(find torn -type f -size +20k -printf '%s %p\n' | grep -v -e LOG -e OPTIONS -e MANIFEST | sort -n | tail -n 1 | cut -d' ' -f2)
  [ -n "$file" ] || { fail "no data file to damage"; return; }
  python3 - "$file" <<'PY'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(9000)
    byte = f.read(1)[0]
    f.seek(9000)
    f.write(bytes([byte ^ 0x40]))
PY
  refuse 4 "$(basename "${file%.*}")" c verify --db torn
  cp -r torn torn-compacted
  rm -rf torn
  c load -q --db torn want.hex
  : >torn/CURRENT
  checks=$((checks + 1))
  c get --db torn k >stdout 2>stderr
  status=$?
  [ $status = 4 ] || [ $status = 3 ] || fail "empty CURRENT: exit code $status"
  grep -q CURRENT stderr || fail "empty CURRENT is not named: $(cat stderr)"
}

# Records that are more than a value: what cannot be printed without a loss is refused. verify finds damaged ones.
test_odd_data() {
  local fixture file
  fixture=$(dirname "$compassdb")/compassdb-cli-fixture
  for kind in entity timestamps nokeys; do "$fixture" $kind of-$kind || fail "fixture $kind"; done
  refuse 3 "column family default: key 726F77 is a wide-column entity" c dump -q --db of-entity
  expect 0 "row" c scan --db of-entity --prefix row --keys-only
  expect 0 "" c verify --db of-entity
  expect 0 "" c verify --db of-timestamps
  grep -q 'verified 1600 records' stderr || fail "verify with timestamps: $(cat stderr)"
  refuse 3 "timestamp" c scan --db of-timestamps
  expect 0 "" c verify --db of-nokeys
  grep -q 'default: records are not looked up: .*key store' stderr || fail "verify without a key store: $(cat stderr)"
  expect 0 "" c verify -q --db of-nokeys
  [ ! -s stderr ] || fail "verify -q says: $(cat stderr)"
  for kind in timestamps nokeys; do
    # Of pages the journal, unless it has been applied already.
    file=$({ ls -S of-$kind/*.ph 2>ls.log || ls -S of-$kind/*.pages; } | head -1)
    printf '\377' | dd of="$file" bs=1 seek=8300 conv=notrunc 2>dd.log
    refuse 4 "$(basename "$file")" c verify -q --db of-$kind
  done
}

# What repair says, keeps and moves.
test_repair() {
  seq 1 3000 | sed 's/.*/key&\tvalue&/' | c load --db r >/dev/null 2>&1
  c compact --db r
  expect 0 "$(printf 'kept: 1 tables as they were, 0 rewritten\nlost: nothing')" c repair --db r --quiet
  refuse 2 "--db" c repair
  refuse 2 "--cf" c repair --db r --cf default
  refuse 4 "no files" c repair --db nothing-here
  # A block of a table: its records are gone, and no others.
  local table
  table=$(ls -S r/*.ph | head -1)
  printf '\377' | dd of="$table" bs=1 seek=5000 conv=notrunc 2>dd.log
  refuse 4 "$(basename "$table")" c verify --db r
  checks=$((checks + 1))
  c repair --db r >repaired 2>stderr || fail "repair: $(cat stderr)"
  grep -q '^kept: 0 tables as they were, 1 rewritten$' repaired || fail "repair: $(cat repaired)"
  grep -q "^lost: [0-9]* records, [0-9]* bytes of data blocks$" repaired || fail "repair: $(cat repaired)"
  grep -q "^moved: r/lost/$(basename "$table")$" repaired || fail "repair: $(cat repaired)"
  [ -f "r/lost/$(basename "$table")" ] || fail "the damaged table is not in lost"
  expect 0 "" c verify --db r
  local lost
  lost=$(sed -n 's/^lost: \([0-9]*\) records.*/\1/p' repaired)
  [ $(($(c scan --db r | wc -l) + lost)) = 3000 ] || fail "repair lost more than it says"
  # CURRENT is gone, a FIFO or a directory is in its place.
  mv r/CURRENT current.old
  refuse 4 "r/CURRENT: is missing" c scan --db r
  mkfifo r/CURRENT
  refuse 3 "it is a FIFO" timeout 20 "$compassdb" scan --db r
  rm r/CURRENT
  mkdir r/CURRENT
  refuse 3 "it is a directory" c scan --db r
  checks=$((checks + 1))
  c repair --db r | grep -q '^moved: r/lost/CURRENT$' || fail "the directory is not moved"
  expect 0 "" c verify --db r
  mv r/CURRENT current.old
  ln -s CURRENT r/CURRENT
  refuse 3 "r/CURRENT: Too many levels of symbolic links" c scan --db r
  mv current.old r/CURRENT
  # The footer of a table, which is read when its index is.
  table=$(ls -S r/*.ph | head -1)
  cp "$table" table.old
  sed -i 's/CmpsPie1/CmpsPie0/' "$table"
  refuse 4 "$(basename "$table")" c stats --db r
  mv table.old "$table"
  # A file that is missing is damage.
  rm r/*.ph
  refuse 4 "missing" c verify --db r
  refuse 4 "missing" c stats --db r
}

# Without a manifest the logs do not name the comparator. The OPTIONS file does, but the tool may not have it.
test_repair_of_logs() {
  c put --db young k v
  rm young/CURRENT young/MANIFEST-* young/MIRROR-*
  cp -r young guess
  cp -r young other
  rm guess/OPTIONS-*
  sed -i 's/^  comparator=.*/  comparator=TheirOwn/' other/OPTIONS-*
  for command in "get k" scan verify; do
    refuse 4 "RepairDB can bring the default column family back" c --db young $command
  done
  refuse 3 "names the comparator TheirOwn" c repair --db other
  [ ! -e other/CURRENT ] || fail "a repair that was refused has written CURRENT"
  checks=$((checks + 1))
  c repair --db guess --quiet >repaired 2>stderr || fail "repair: $(cat stderr)"
  grep -q '^uncertain: the comparator' repaired || fail "repair: $(cat repaired)"
  grep -q '^moved: guess/lost/.*\.log$' repaired || fail "repair: $(cat repaired)"
  expect 0 "$(printf 'kept: 0 tables as they were, 0 rewritten\nlost: nothing')" c repair --db young --quiet
  for db in guess young; do expect 0 v c get --db $db k; done
}

test_lock() {
  mkfifo hold
  c load -q --db locked --format tsv <hold &
  local pid=$!
  exec 9>hold
  printf 'a\t1\n' >&9
  for _ in $(seq 100); do [ -e locked/CURRENT ] && break; sleep 0.05; done
  sleep 0.2
  refuse 3 "locked" c put --db locked k v
  # While a process writes, what looks damaged may be what it has freed.
  rm -rf damaged && cp -r torn-compacted damaged
  (exec 8<>damaged/LOCK && python3 -c 'import fcntl, subprocess, sys
fcntl.lockf(8, fcntl.LOCK_EX)
sys.exit(subprocess.run(sys.argv[1:]).returncode)' "$compassdb" verify --db damaged) >stdout 2>stderr
  status=$?
  checks=$((checks + 1))
  [ $status = 3 ] || fail "verify next to a writer: exit code $status"
  grep -q "written by another process" stderr || fail "verify next to a writer: $(cat stderr)"
  refuse 4 "000" c verify --db damaged
  exec 9>&-
  wait $pid || fail "the holder of the lock"
  expect 0 "1" c get --db locked a
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

  # What cannot be carried over is refused by family and option.
  cp -r rocks odd
  sed -i 's/comparator=leveldb.BytewiseComparator/comparator=my.Comparator/' odd/OPTIONS-*
  refuse 3 "column family 'default': comparator 'my.Comparator'" c import --db new odd
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
while not (os.path.exists("half") and os.path.exists("new.unfinished/db/CURRENT")): time.sleep(0.02)
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
  printf '\377' | dd of="$(ls -S halfbad/*.ph | head -1)" bs=1 seek=1000000 conv=notrunc 2>dd.log
  refuse 4 "halfbad" c export --db halfbad new
  [ "$(wc -l <stderr)" = 1 ] || fail "a failed export says more than one line: $(cat stderr)"
  [ ! -e new ] || fail "an export of a damaged database left something behind: $(ls new)"
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

test_encrypted() {
  printf '%064d\n' 7 >key; printf '%064d' 8 >newer; printf 'short' >no-key
  expect 0 "" c put --db sealed --key-file key a secret-text
  expect 0 "secret-text" c get --db sealed --key-file key a
  grep -rq secret-text sealed && fail "an encrypted database holds plain text"
  refuse 3 "key that was not added" c get --db sealed --key-file newer a
  refuse 3 "is encrypted, and no key was given.*--key-file" c get --db sealed a
  refuse 3 "is encrypted, and no key was given" c repair -q --db sealed
  expect 0 "" c put --db plain a 1
  refuse 3 "is not encrypted, and was opened with a key" c get --db plain --key-file key a
  refuse 2 "no-key.*holds no key" c get --db sealed --key-file no-key a
  expect 0 "" c put --db sealed --key-file newer --key-file key b 2
  expect 0 "$(printf 'a\tsecret-text\nb\t2')" c scan --db sealed --key-file newer --key-file key
  c verify -q --db sealed --key-file newer --key-file key || fail "verify with keys"
  rm sealed/CURRENT
  c repair -q --db sealed --key-file newer --key-file key >/dev/null 2>stderr || fail "repair with keys: $(cat stderr)"
  expect 0 "2" c get --db sealed --key-file newer --key-file key b
}

for t in put_get_delete presets usage_errors missing_database load_and_scan round_trips bad_input input_kinds pipes large_values column_families options_file \
  maintenance tune_separation plan_tableless full_output streams corruption odd_data repair repair_of_logs encrypted lock ldb import export interrupted_copies import_odd_data; do
  "test_$t"
done
echo "$checks checks, $failures failures"
[ $failures = 0 ]
