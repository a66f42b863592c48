// SPDX-License-Identifier: Apache-2.0
// Estimates how often keys were updated recently: which values are hot. (HashKV 3.4 has one bit: the key
// was updated since its insertion. A count distinguishes keys that are updated often from keys that
// were updated once.)
//
// A byte per slot of hashes, at least half as many slots as keys; keys with one slot share it. After as many updates
// as there are slots, all counts are halved, and the count from which on a slot is hot is computed again, so that
// about one in kHotShare is. Nothing is kept over a close.
//
// Thread safety: all methods.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/cache_charge.h"
#include "util/epoch.h"
#include "util/mutex.h"

namespace compassdb {

class UpdateCounts {
 public:
  // Null: its memory is charged to nothing.
  explicit UpdateCounts(std::shared_ptr<CacheCharge> charge = nullptr) : charge_(std::move(charge)) {}
  ~UpdateCounts();
  UpdateCounts(const UpdateCounts&) = delete;
  UpdateCounts& operator=(const UpdateCounts&) = delete;

  // Resizes for about this many keys. Counts stay.
  void Reserve(uint64_t keys);
  // An update of a key with this hash (KeyHash::h1). Nothing happens before Reserve.
  void Add(uint64_t h1);
  bool Hot(uint64_t h1) const;
  size_t MemoryBytes() const;

  static constexpr uint64_t kHotShare = 20;
  static constexpr uint64_t kMinSlots = 1 << 12;
  static constexpr uint64_t kMaxSlots = 1 << 26;

 private:
  struct Table {
    explicit Table(uint32_t b) : bits(b), counts(size_t{1} << b) {}
    const uint32_t bits;
    std::vector<std::atomic<uint8_t>> counts;
    std::atomic<uint64_t> updates{0};  // since the last halving
    std::atomic<uint32_t> hot_from{2};
  };
  void Halve(Table* table);
  static std::unique_ptr<Table> Grown(const Table* old, uint64_t slots);

  const std::shared_ptr<CacheCharge> charge_;
  std::atomic<Table*> current_{nullptr};  // owned; readers use it under an EpochGuard
  mutable Mutex mu_;                      // for changes of it
  RetireList retired_ GUARDED_BY(mu_);
};

}  // namespace compassdb
