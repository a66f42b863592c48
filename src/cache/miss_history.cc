// SPDX-License-Identifier: Apache-2.0
#include "cache/miss_history.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace compassdb {

namespace {

constexpr size_t kBytesPerBlock = 8192;
constexpr size_t kBytesPerRecord = 128;
constexpr uint32_t kLeastBits = 6;
constexpr uint32_t kMostBits = 22;

}  // namespace

void MissHistory::Tags::Free::operator()(uint16_t* tags) const { free(tags); }

void MissHistory::Tags::Resize(size_t slots) {
  const auto bits = std::clamp(static_cast<uint32_t>(std::bit_width(slots | 1)) - 1, kLeastBits,
                               kMostBits);
  MutexLock lock(&mu_);
  if (bits > most_bits_) {
    // Zeroed pages that are never written take no memory.
    auto* const tags = static_cast<uint16_t*>(calloc(size_t{1} << bits, sizeof(uint16_t)));
    if (tags == nullptr) return;  // the old ones continue
    arrays_.emplace_back(tags);
    most_bits_ = bits;
    tags_.store(tags, std::memory_order_release);
  }
  bits_.store(bits, std::memory_order_release);
}

bool MissHistory::Tags::Note(uint64_t hash) {
  const uint32_t bits = bits_.load(std::memory_order_acquire);
  if (bits == 0) return false;
  uint16_t* const tags = tags_.load(std::memory_order_acquire);
  // From bits that select neither the slot nor the cache's shard.
  const auto tag = static_cast<uint16_t>(hash >> 20 | 1);
  const std::atomic_ref<uint16_t> slot(tags[hash >> (64 - bits)]);
  if (slot.load(std::memory_order_relaxed) == tag) return true;
  slot.store(tag, std::memory_order_relaxed);
  return false;
}

void MissHistory::Resize(size_t capacity) {
  blocks_.Resize(capacity / kBytesPerBlock);
  records_.Resize(capacity / kBytesPerRecord);
}

}  // namespace compassdb
