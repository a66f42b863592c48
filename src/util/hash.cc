// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <atomic>

#include "util/hash_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace compassdb {

namespace {

std::atomic<bool> checksums_ignored{false};

#ifdef COMPASSDB_HASH_AVX2
bool ProcessorHasAvx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0;
}

// Up to here XXH3 uses no vectors.
constexpr size_t kShort = 240;
const bool has_avx2 = ProcessorHasAvx2();
#endif

}  // namespace

uint64_t Hash64(const Slice& data, uint64_t seed) {
#ifdef COMPASSDB_HASH_AVX2
  if (data.size() > kShort && has_avx2) return Hash64Avx2(data.data(), data.size(), seed);
#endif
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

bool ChecksumsIgnored() { return checksums_ignored.load(std::memory_order_relaxed); }
void TEST_IgnoreChecksums(bool ignore) { checksums_ignored.store(ignore); }

uint32_t Checksum32(const Slice& data, uint64_t context) {
  return static_cast<uint32_t>(Hash64(data, context));
}

uint32_t Checksum32(const Slice& first, const Slice& second, uint64_t context) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, context);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, second.data(), second.size());
  return static_cast<uint32_t>(XXH3_64bits_digest(&state));
}

}  // namespace compassdb
