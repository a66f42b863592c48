# SPDX-License-Identifier: Apache-2.0
# The short way to everything. CMake does the work; see CONTRIBUTING.md.
#
#   make demo          build, then work on real data and compare with RocksDB
#   make test          build, then all tests
#   make test-checked  unit, model, crash and stress tests with assertions (build type Checked); LONG=1: not only their short forms
#   make test-crash    power cuts and kill -9 (docs/reliability.md); LONG=1: the long form
#   make test-corruption   damaged files; LONG=1: the long form
#   make bench         the long comparison; RECORDS, OPERATIONS, VALUE_SIZE,
#                      THREADS, CACHE_MB, REPEATS, SUITE, PEER, FLAGS to choose
#   make install       into PREFIX (/usr/local), below DESTDIR; with AS_ROCKSDB=1 as librocksdb, too
#   make deb           Debian packages in build-deb
#   make test-faults   every call of the file system fails; LONG=1: a larger sample, of all layouts
#   make test-limits   a full disk, few descriptors, little memory, forks; LONG=1: with 1 GB of data
#   make test-stress   several threads against what they expect, over the whole API; LONG=1: 20 million operations
#   make test-rivals   the same faults for CompassDB, RocksDB and LevelDB; LONG=1: the table of docs/reliability.md
#   make test-clients  the tests of other people's clients of RocksDB (test/clients/README.md)
#   make soak          a steady load for SOAK_MINUTES (1440) on SOAK_MB (10240) in SOAK_DIR: memory, descriptors, space
#   make coverage      which lines and branches of the log, the manifest, recovery and the readers the tests take
#   make test-mutants  seeded defects, each of which some test must catch (hours)
#   make docs          the site of the documents in build/site, and its test in a browser
#   make fuzz          libFuzzer on every parser, FUZZ_SECONDS (10; LONG=1: 120) each, or on TARGET alone (clang)
#   make test-asan     all tests under AddressSanitizer and UBSan (clang); LONG=1: and stress for twenty minutes
#   make test-tsan     all tests under ThreadSanitizer (clang)
#   make test-asan-short, test-tsan-short   the part of them that CI runs: units and short forms; of TSan's what has threads

BUILD ?= build
# ON: a whole build takes half the time; OFF: what changes is compiled file by file (cmake/unity.cmake).
UNITY ?= ON
JOBS ?= $(shell nproc)
RECORDS ?= 5000000
OPERATIONS ?= $(RECORDS)
VALUE_SIZE ?= 1000
THREADS ?= 2
CACHE_MB ?= 512
REPEATS ?= 3
SUITE ?= standard
PEER ?= tuned
DEMO_RECORDS ?= 200000
PREFIX ?= /usr/local
DESTDIR ?=
AS_ROCKSDB ?= 0
LONG ?= 0
FUZZ_SECONDS ?= $(if $(filter 0,$(LONG)),10,120)
TARGET ?=
SOAK_MB ?= 10240
SOAK_MINUTES ?= 1440
SOAK_DIR ?= $(BUILD)
SOAK_LAYOUT ?= default
CTEST := $(CURDIR)/scripts/run-ctest -j $(JOBS)
# $(1): a label of the tests. Their figures and seeds are printed.
ifeq ($(LONG),1)
label-tests = cd $(BUILD) && ctest -C Long -V -j $(JOBS) -L "^$(1)$$" -R _long | grep -v "^test\|^    Start\|^$$"
else
label-tests = cd $(BUILD) && ctest -V -j $(JOBS) -L "^$(1)$$" -LE "short|peer" | grep -v "^test\|^    Start\|^$$"
endif

run-cmake = cmake --preset release -B $(BUILD) -DCOMPASSDB_UNITY=$(UNITY) >$(BUILD)-configure.log 2>&1 \
	|| { cat $(BUILD)-configure.log; exit 1; }; rm -f $(BUILD)-configure.log

.PHONY: all deps deps-demo configure build demo test test-crash test-corruption bench install deb test-asan test-tsan test-asan-short test-tsan-short \
	test-checked test-clients test-faults test-limits test-rivals test-stress test-mutants soak coverage fuzz docs clean

all: build

deps:
	@scripts/install-deps

deps-demo:
	@scripts/install-deps --demo

configure: deps
	@$(run-cmake)

build: configure
	@cmake --build $(BUILD) -j $(JOBS)

# First what works on the package index, so that it starts soon; then what the rest needs.
demo: deps-demo
	@$(run-cmake)
	@cmake --build $(BUILD) -j $(JOBS) --target package-demo
	@scripts/demo $(BUILD) packages
	@cmake --build $(BUILD) -j $(JOBS) --target compassdb-cli \
		$$(cmake --build $(BUILD) --target help | grep -oE 'kvbench-(compassdb|rocksdb)' | sort -u)
	@scripts/demo $(BUILD) tool
	@RECORDS=$(DEMO_RECORDS) scripts/demo $(BUILD) ycsb

test: build
	@cd $(BUILD) && $(CTEST)

test-crash test-corruption test-faults test-rivals test-stress: SHELL := /bin/bash -o pipefail
test-crash: build
	@$(call label-tests,crash)

test-corruption: build
	@$(call label-tests,corruption)

test-rivals: build
	@$(call label-tests,rivals)

test-clients: build
	@cd $(BUILD) && $(CTEST) -C Long -L clients

test-faults: configure
	@cmake --build $(BUILD) -j $(JOBS) --target fault_test interrupted_test allocation_test
	@$(call label-tests,faults)

# A part that the machine does not allow says so, with exit code 77.
test-limits: configure
	@cmake --build $(BUILD) -j $(JOBS) --target limits_test fork_test
	@for part in disk descriptors "memory --mb=$(if $(filter 0,$(LONG)),100,1024)"; do \
		$(BUILD)/test/limits/limits_test --part=$$part || [ $$? = 77 ] || exit 1; done
	@$(BUILD)/test/processes/fork_test || [ $$? = 77 ]

test-stress: configure
	@cmake --build $(BUILD) -j $(JOBS) --target stress_test soak
	@$(call label-tests,stress)

soak: configure
	@cmake --build $(BUILD) -j $(JOBS) --target soak
	@$(BUILD)/test/stress/soak --mb=$(SOAK_MB) --minutes=$(SOAK_MINUTES) --dir=$(SOAK_DIR) --layout=$(SOAK_LAYOUT)

coverage:
	@scripts/install-deps --sanitizers
	@test/coverage/run --jobs $(JOBS)

test-mutants: deps
	@test/mutants/run

fuzz: build-fuzz/.built
	@test/fuzz/run --seconds $(FUZZ_SECONDS) $(TARGET)

bench: configure
	@cmake --build $(BUILD) -j $(JOBS) --target kvbench-compassdb kvbench-rocksdb
	@bench/compare --suite $(SUITE) --peer $(PEER) --records $(RECORDS) --operations $(OPERATIONS) \
		--value-size $(VALUE_SIZE) --threads $(THREADS) --cache-mb $(CACHE_MB) --repeats $(REPEATS) \
		--bin $(BUILD)/bin --work-dir $(BUILD)/bench-data --out $(BUILD)/bench $(FLAGS)

# From the objects of `make demo` and `make test`; the prefix decides the library folder (cmake/install.cmake).
PARTS := runtime development tools $(if $(filter 0,$(AS_ROCKSDB)),,rocksdb-runtime rocksdb-development)
install: configure
	@cmake $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target installed
	@for part in $(PARTS); do DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --component $$part || exit 1; done

deb: deps
	@cmake -S . -B build-deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
		-DCOMPASSDB_TESTS=OFF -DCOMPASSDB_BENCH=OFF -DCOMPASSDB_AS_ROCKSDB=1 >/dev/null
	@cmake --build build-deb -j $(JOBS)
	@cd build-deb && cpack -G DEB >cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build-deb/*.deb

# $(1): preset (CMakePresets.json), $(2): targets, where not all
define preset-build
	@scripts/install-deps $(if $(filter checked,$(1)),,--sanitizers)
	@cmake --preset $(1) $(if $(filter fuzz,$(1)),,-DCOMPASSDB_UNITY=$(UNITY)) >build-$(1)-configure.log 2>&1 \
		|| { cat build-$(1)-configure.log; exit 1; }
	@rm -f build-$(1)-configure.log
	@cmake --build build-$(1) -j $(JOBS) $(if $(2),--target $(2))
endef

build-asan/.built: FORCE
	$(call preset-build,asan)

build-tsan/.built: FORCE
	$(call preset-build,tsan)

# Of this one only the fuzzer.
build-fuzz/.built: FORCE
	$(call preset-build,fuzz,fuzz)

FORCE:

# The build takes longer than the tests: of the programs only these.
CHECKED_PROGRAMS := model_test concurrent_test crash_test kill9_test stress_test soak

test-checked: FORCE
	$(call preset-build,checked,unit_tests $(CHECKED_PROGRAMS))
	@cd build-checked && $(CTEST) -LE . && $(CTEST) -L "^(model|crash|stress)$$" -LE peer $(if $(filter 0,$(LONG)),-L short)

# With LONG=1 twenty minutes of the stress test on top.
LONG-STRESS := $(if $(filter 0,$(LONG)),,&& $(CTEST) -C Long -R stress_sanitized)

test-asan: build-asan/.built
	@cd build-asan && export UBSAN_OPTIONS=print_stacktrace=1 && $(CTEST) $(LONG-STRESS)

test-tsan: build-tsan/.built
	@cd build-tsan && export TSAN_OPTIONS=second_deadlock_stack=1 && $(CTEST) $(LONG-STRESS)

empty :=

# What the short parts leave out, as it takes sanitizers long: most mixes and seeds of random tests, what the short forms
# try too (cuts, damage, failing calls), and tests of how much values and sections take on the disk and in memory.
LEFT_OUT := *LsmRandomTest*/*_* Seeds/*ModelTest* *.MatchesAMap *CrashTest* *.Crashes* Seeds/CutTest* \
	Layouts/RepairTablesTest* RepairValuesTest* OpenTest.EveryCallFailsOnce *DeadSpace* *EndOfLife* *ValueBound* \
	*StoreBound* *.HashRangeTablesAreSplitInTurns \
	*.Overflow* BlobOptionsTest* MemoryLimitTest* TablelessPlanTest* KeyStore/TablelessRangesTest* \
	Indexes/LeveledTest* ValueReadAheadTest* Trees/RangeDeletionTest*
SHORT_FILTER := -$(subst $(empty) ,:,$(strip $(LEFT_OUT)))

# Unit tests, which have no label, and the quick forms of the long tests.
test-asan-short: build-asan/.built
	@cd build-asan && export UBSAN_OPTIONS=print_stacktrace=1 GTEST_FILTER='$(SHORT_FILTER)' && $(CTEST) -LE . \
		&& $(CTEST) -L short

# Of ThreadSanitizer's what has threads.
TSAN_UNITS := util api env log cache services family memtable wal value_store lsm tableless db transactions copies utilities ttl
TSAN_SHORTS := concurrent_short kill9_short stress_short soak_short
TSAN_TESTS := $(subst $(empty) ,|,$(strip $(TSAN_UNITS:db=db_[01]) $(TSAN_SHORTS)))

test-tsan-short: FORCE
	$(call preset-build,tsan,$(TSAN_UNITS:=_test) concurrent_test kill9_test stress_test soak)
	@cd build-tsan && export TSAN_OPTIONS=second_deadlock_stack=1 GTEST_FILTER='$(SHORT_FILTER)' \
		&& $(CTEST) --no-tests=error -R "^($(TSAN_TESTS))$$"

docs:
	@scripts/install-deps --docs
	@mkdir -p $(BUILD)
	@[ -x $(BUILD)/docs-venv/bin/python ] || python3 -m venv $(BUILD)/docs-venv
	@$(BUILD)/docs-venv/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt
	@$(BUILD)/docs-venv/bin/python scripts/build-docs $(BUILD)
	@$(BUILD)/docs-venv/bin/python test/docs/site_test.py $(BUILD)/site

clean:
	@rm -rf $(BUILD) build-asan build-tsan build-fuzz build-coverage build-mutants build-deb build-checked
