# SPDX-License-Identifier: Apache-2.0
# The short way to everything. CMake does the work; see CONTRIBUTING.md.
#
#   make demo          build, then work on real data and compare with RocksDB
#   make test          build, then all tests
#   make bench         the long comparison; RECORDS, OPERATIONS, VALUE_SIZE,
#                      THREADS, CACHE_MB, REPEATS, SUITE, PEER, FLAGS to choose
#   make install       into PREFIX (/usr/local), below DESTDIR; with AS_ROCKSDB=1 as librocksdb, too
#   make deb           Debian packages in build-deb
#   make test-asan     all tests under AddressSanitizer and UBSan (clang)
#   make test-tsan     all tests under ThreadSanitizer (clang)
#   make test-asan-short, test-tsan-short   the part of them that CI runs

BUILD ?= build
JOBS ?= $(shell nproc)
RECORDS ?= 5000000
OPERATIONS ?= $(RECORDS)
VALUE_SIZE ?= 1000
THREADS ?= 2
CACHE_MB ?= 512
REPEATS ?= 3
SUITE ?= standard
PEER ?= tuned
DEMO_RECORDS ?= 1000000
PREFIX ?= /usr/local
DESTDIR ?=
AS_ROCKSDB ?= 0
CTEST := ctest --output-on-failure -j $(JOBS)

.PHONY: all deps configure build demo test bench install deb test-asan test-tsan test-asan-short test-tsan-short \
	clean

all: build

deps:
	@scripts/install-deps

configure: deps
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release >$(BUILD)-configure.log 2>&1 \
		|| { cat $(BUILD)-configure.log; exit 1; }
	@rm -f $(BUILD)-configure.log

build: configure
	@cmake --build $(BUILD) -j $(JOBS)

# Only what the demonstration needs, so that it starts soon.
demo: configure
	@cmake --build $(BUILD) -j $(JOBS) --target compassdb compassdb-cli package-demo \
		$$(cmake --build $(BUILD) --target help | grep -oE 'kvbench-[a-z]+|compassdb-rocksdb-reader' | sort -u)
	@RECORDS=$(DEMO_RECORDS) scripts/demo $(BUILD)

test: build
	@cd $(BUILD) && $(CTEST)

bench: configure
	@cmake --build $(BUILD) -j $(JOBS) --target kvbench-compassdb kvbench-rocksdb
	@bench/compare --suite $(SUITE) --peer $(PEER) --records $(RECORDS) --operations $(OPERATIONS) \
		--value-size $(VALUE_SIZE) --threads $(THREADS) --cache-mb $(CACHE_MB) --repeats $(REPEATS) \
		--bin $(BUILD)/bin --work-dir $(BUILD)/bench-data --out $(BUILD)/bench $(FLAGS)

# A build of its own: without tests, and in the state in which it is installed.
install: deps
	@cmake -S . -B build-install -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
		-DCOMPASSDB_TESTS=OFF -DCOMPASSDB_BENCH=OFF -DCOMPASSDB_AS_ROCKSDB=$(AS_ROCKSDB) >/dev/null
	@cmake --build build-install -j $(JOBS)
	@DESTDIR="$(DESTDIR)" cmake --install build-install

deb: deps
	@cmake -S . -B build-deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
		-DCOMPASSDB_TESTS=OFF -DCOMPASSDB_BENCH=OFF -DCOMPASSDB_AS_ROCKSDB=1 >/dev/null
	@cmake --build build-deb -j $(JOBS)
	@cd build-deb && cpack -G DEB >cpack.log 2>&1 || { cat cpack.log; exit 1; }
	@ls build-deb/*.deb

# $(1): directory, $(2): sanitizers
define sanitized-build
	@scripts/install-deps --sanitizers
	@CC=clang CXX=clang++ cmake -S . -B $(1) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
		-DCOMPASSDB_SANITIZE=$(2) -DCOMPASSDB_TOOLS=OFF >$(1)-configure.log 2>&1 \
		|| { cat $(1)-configure.log; exit 1; }
	@rm -f $(1)-configure.log
	@cmake --build $(1) -j $(JOBS)
endef

build-asan/.built: FORCE
	$(call sanitized-build,build-asan,address$(COMMA)undefined)

build-tsan/.built: FORCE
	$(call sanitized-build,build-tsan,thread)

FORCE:
COMMA := ,

test-asan: build-asan/.built
	@cd build-asan && UBSAN_OPTIONS=print_stacktrace=1 $(CTEST)

test-tsan: build-tsan/.built
	@cd build-tsan && TSAN_OPTIONS=second_deadlock_stack=1 $(CTEST)

# Unit tests, which have no label, and the quick forms of the long tests.
test-asan-short: build-asan/.built
	@cd build-asan && export UBSAN_OPTIONS=print_stacktrace=1 && $(CTEST) -LE . && $(CTEST) -L short

test-tsan-short: build-tsan/.built
	@cd build-tsan && export TSAN_OPTIONS=second_deadlock_stack=1 && $(CTEST) -LE . && $(CTEST) -L short

clean:
	@rm -rf $(BUILD) build-asan build-tsan build-install build-deb
