// SPDX-License-Identifier: Apache-2.0
// Which records a benchmark database holds. It makes the live user bytes known
// exactly (space amplification), lets reads be checked, and is stored next to the
// database, in <db>.kvbench, so that the next run can continue with --reuse-db.
//
// Thread safety: Contains, Mark, ReserveInsert, AcknowledgeInsert and limit()
// from any thread; the rest before and after the clients run.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "keys.h"

namespace kvbench {

class KeySet {
 public:
  // An empty set of records numbered from 0 to `records` - 1.
  KeySet(uint64_t records, uint64_t key_size, ValueSizes value_sizes, KeyOrder order);

  // Makes room for `extra` inserts behind the numbers in use.
  void ReserveRoom(uint64_t extra);

  bool Contains(uint64_t number) const {
    return number < complete_ || IsMarked(number);
  }
  // Record `number` was written. Marking twice counts once.
  void Mark(uint64_t number);

  // Numbers are handed out in order, and may be read once all before them are
  // acknowledged: limit() never runs ahead of a write still in flight.
  uint64_t ReserveInsert() { return next_.fetch_add(1, std::memory_order_relaxed); }
  void AcknowledgeInsert(uint64_t number);

  // Workloads draw numbers below this.
  uint64_t limit() const { return limit_.load(std::memory_order_acquire); }
  uint64_t live_keys() const { return live_.load(); }
  uint64_t live_bytes() const { return live_bytes_.load(); }
  uint64_t key_size() const { return key_size_; }
  const ValueSizes& value_sizes() const { return value_sizes_; }
  KeyOrder order() const { return order_; }

  // A load inserts from nothing: limit() starts at 0.
  void StartEmpty();

  // False with a message in *error.
  bool Save(const std::string& db, std::string* error) const;
  static std::unique_ptr<KeySet> Load(const std::string& db, std::string* error);
  static std::string StatePath(const std::string& db);

 private:
  const uint64_t key_size_;
  const ValueSizes value_sizes_;
  const KeyOrder order_;
  bool IsMarked(uint64_t number) const {
    return (words_[number / 64].load(std::memory_order_relaxed) >> (number % 64)) & 1;
  }
  void Grow(uint64_t wanted);

  uint64_t capacity_ = 0;
  uint64_t complete_ = 0;  // all below were marked before the clients ran: a read need not look
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> limit_;
  std::atomic<uint64_t> live_{0};
  std::atomic<uint64_t> live_bytes_{0};
  std::mutex insert_mutex_;  // serialises the advance of limit_
};

}  // namespace kvbench
