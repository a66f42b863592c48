# SPDX-License-Identifier: Apache-2.0
# For scripts of suites that have tests which cannot pass; source it after common.sh.

# run_crate_tests LEVEL PASSED: the tests of the crate rocksdb in crates/, which is written for RocksDB LEVEL. PASSED of
# them must pass, and those of expected_failures.txt must fail: lines of a program, a test, and why after a #. Left out:
# the tests that compare what another compiler says of programs that must not compile.
run_crate_tests() {
  local level=$1 wanted=$2 passed
  fetch_crates "$here/crates"
  rm -rf "$cache/crate"
  cp -r "$crates/rocksdb" "$cache/crate"
  cd "$work"
  export ROCKSDB_LIB_DIR=$lib ROCKSDB_INCLUDE_DIR=$include CARGO_TARGET_DIR=$cache/target-$library
  export BINDGEN_EXTRA_CLANG_ARGS=-DCOMPASSDB_ROCKSDB_LEVEL=$level
  # Compressors from the system rather than built from what their crates carry.
  export ZSTD_SYS_USE_PKG_CONFIG=1 SNAPPY_LIB_DIR=/usr/lib/$(gcc -dumpmachine)
  export CARGO_PROFILE_TEST_DEBUG=0 CARGO_PROFILE_DEV_DEBUG=0
  # Bindings are made from c.h, which cargo does not watch.
  local header
  header=$(sha256sum <"$include/rocksdb/c.h")
  if [ "$(cat "$CARGO_TARGET_DIR/c.h.sha256" 2>/dev/null)" != "$header" ]; then
    cargo clean --manifest-path "$cache/crate/Cargo.toml" -p librocksdb-sys >clean.log 2>&1 || { cat clean.log >&2; exit 1; }
    mkdir -p "$CARGO_TARGET_DIR"
    echo "$header" >"$CARGO_TARGET_DIR/c.h.sha256"
  fi
  cargo test --locked --no-fail-fast --manifest-path "$cache/crate/Cargo.toml" --tests -- \
    --skip _outlive_ --skip test_open_with_multiple_refs_as_single_threaded >tests.log 2>&1 || true

  # Programs may have tests of the same name.
  awk '/^ *Running / {split($0, part, "/"); program = part[length(part)]; sub(/-[0-9a-f]*\)$/, "", program)}
       /^test .* \.\.\. / {print program, $2, $NF}' tests.log | sort -u >results
  passed=$(grep -c ' ok$' results || true)
  awk '$3 == "FAILED" {print $1, $2}' results >failed
  sed 's/#.*//; /^ *$/d' "$here/expected_failures.txt" | awk '{print $1, $2}' | sort >expected
  echo "$suite: $passed passed, wanted $wanted; $(wc -l <failed) failed, expected $(wc -l <expected)"
  if ! diff expected failed >&2 || [ "$passed" != "$wanted" ]; then
    grep -E '^error|panicked|^  (left|right)' -A3 tests.log | head -200 >&2 || true
    tail -40 tests.log >&2
    exit 1
  fi
}
