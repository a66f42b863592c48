// SPDX-License-Identifier: Apache-2.0
// The fuzzed functions of arbitrary bytes, one for each parser. They must return, without access to
// memory that is not theirs, and without allocating much more than the input's size.
// The same targets are run by libFuzzer (fuzz_main.cc) and over the corpus alone (replay_main.cc).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace compassdb_test {

using rocksdb::Slice;

struct FuzzTarget {
  const char* name;  // of the corpus, too
  void (*run)(const Slice& input);
  // What the target may allocate beyond four times its input, at any one time.
  size_t constant_bytes;
};

std::vector<FuzzTarget>& FuzzTargets();
const FuzzTarget* FindFuzzTarget(const std::string& name);

// One run, with checksums ignored and allocations counted. Ends the process if there are too many. Whether the
// target took the input for what it should be: a seed that is refused no longer tests what it should.
bool RunFuzzTarget(const FuzzTarget& target, const Slice& input);

// By a target: the input was good.
void AcceptFuzzInput();

struct RegisterFuzzTarget {
  explicit RegisterFuzzTarget(const FuzzTarget& target) { FuzzTargets().push_back(target); }
};

#define FUZZ_TARGET(name, constant_bytes)                                                    \
  void Fuzz_##name(const Slice& input);                                                      \
  const RegisterFuzzTarget register_##name({#name, &Fuzz_##name, constant_bytes});           \
  void Fuzz_##name(const Slice& input)

// What a parser promises of any input that it accepted.
#define FUZZ_CHECK(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
      abort();                                                                               \
    }                                                                                        \
  } while (0)

// Takes numbers and strings off the front of an input; zeros and nothing where it has ended.
class FuzzInput {
 public:
  explicit FuzzInput(const Slice& input) : rest_(input) {}
  uint64_t Number(size_t bytes) {
    uint64_t v = 0;
    for (size_t i = 0; i < bytes && !rest_.empty(); ++i) {
      v |= uint64_t{static_cast<unsigned char>(rest_[0])} << (8 * i);
      rest_.remove_prefix(1);
    }
    return v;
  }
  Slice Bytes(size_t n) {
    const Slice out(rest_.data(), n < rest_.size() ? n : rest_.size());
    rest_.remove_prefix(out.size());
    return out;
  }
  Slice Rest() const { return rest_; }

 private:
  Slice rest_;
};

}  // namespace compassdb_test
