// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry. FUZZ_TARGET says what is fuzzed; the rest are libFuzzer's own arguments.
#include "fuzz/fuzz_target.h"

namespace {
const compassdb_test::FuzzTarget* target = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = getenv("FUZZ_TARGET");
  target = name == nullptr ? nullptr : compassdb_test::FindFuzzTarget(name);
  if (target != nullptr) return 0;
  fprintf(stderr, "FUZZ_TARGET must be one of:");
  for (const auto& known : compassdb_test::FuzzTargets()) fprintf(stderr, " %s", known.name);
  fprintf(stderr, "\n");
  exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  RunFuzzTarget(*target, rocksdb::Slice(reinterpret_cast<const char*>(data), size));
  return 0;
}
