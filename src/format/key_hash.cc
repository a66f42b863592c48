// SPDX-License-Identifier: Apache-2.0
#include "format/key_hash.h"

#include <atomic>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace compassdb {

namespace {
// All ones outside of tests: one predictable load and AND per hash.
std::atomic<uint64_t> test_mask{UINT64_MAX};
}  // namespace

KeyHash KeyHasher::operator()(const rocksdb::Slice& user_key) const {
  const XXH128_hash_t h = XXH3_128bits_withSeed(user_key.data(), user_key.size(), seed_);
  return KeyHash{h.low64 & test_mask.load(std::memory_order_relaxed),
                 h.high64 >> 32 << 32, static_cast<uint32_t>(h.high64)};
}

void TEST_SetKeyHashMask(uint64_t mask) { test_mask.store(mask, std::memory_order_relaxed); }

}  // namespace compassdb
