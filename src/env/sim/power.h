// SPDX-License-Identifier: Apache-2.0
// The power of a simulated machine, which cuts switch off.
#pragma once

#include <atomic>
#include <cstdint>
#include <shared_mutex>

namespace compassdb {

class Power {
 public:
  // The number of cuts so far.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  // With the mutex held.
  void Cut() { epoch_.fetch_add(1, std::memory_order_acq_rel); }
  // Held shared by a call on an open file, so that no cut falls between its
  // check and its effect: acknowledged changes are really there.
  std::shared_mutex* mutex() const { return &mutex_; }

 private:
  std::atomic<uint64_t> epoch_{0};
  mutable std::shared_mutex mutex_;
};

}  // namespace compassdb
