// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace compassdb {

uint64_t Hash64(const Slice& data, uint64_t seed) {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

uint32_t Checksum32(const Slice& data, uint64_t context) {
  return static_cast<uint32_t>(XXH3_64bits_withSeed(data.data(), data.size(), context));
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
