// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.h"

#include <cstring>

#include "fuzz/heap_limit.h"
#include "util/hash.h"

namespace compassdb_test {
namespace {
bool accepted = false;
}

void AcceptFuzzInput() { accepted = true; }

std::vector<FuzzTarget>& FuzzTargets() {
  static auto* const targets = new std::vector<FuzzTarget>;
  return *targets;
}

const FuzzTarget* FindFuzzTarget(const std::string& name) {
  for (const FuzzTarget& target : FuzzTargets()) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

bool RunFuzzTarget(const FuzzTarget& target, const Slice& input) {
  compassdb::TEST_IgnoreChecksums(true);
  const HeapLimit limit(target.name, 4 * input.size() + target.constant_bytes);
  accepted = false;
  target.run(input);
  return accepted;
}

}  // namespace compassdb_test
